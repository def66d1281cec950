package ycsb

import (
	"encoding/binary"
	"encoding/json"
	"strconv"
)

// encoding is how the fields of a record make one value.
//
// JSON is an object of strings, {"field0":"...","field1":"..."}, as YCSB's memcached binding has it: each can read what the
// other wrote. Compact is for each field the length of its name, the name, the length of its value and the value; lengths
// are unsigned varints of 7 bits each, lowest first, as in protocol buffers.
type encoding uint8

const (
	jsonText encoding = iota
	compact
)

// begin and end a value of fields; add appends one. first is where the value begins in dst.
func (e encoding) begin(dst []byte) []byte {
	if e == jsonText {
		return append(dst, '{')
	}
	return dst
}

// name appends the name of a field whose value, of size bytes that need no escape, the caller appends.
func (e encoding) name(dst []byte, first int, name []byte, size int) []byte {
	if e == compact {
		dst = binary.AppendUvarint(dst, uint64(len(name)))
		dst = append(dst, name...)
		return binary.AppendUvarint(dst, uint64(size))
	}
	if len(dst) > first+1 {
		dst = append(dst, ',')
	}
	dst = append(dst, '"')
	dst = append(dst, name...)
	return append(dst, `":"`...)
}

// close ends the value of a field.
func (e encoding) close(dst []byte) []byte {
	if e == jsonText {
		return append(dst, '"')
	}
	return dst
}

func (e encoding) end(dst []byte) []byte {
	if e == jsonText {
		return append(dst, '}')
	}
	return dst
}

// fieldIter walks the fields of a value. bad is set when the value is none.
type fieldIter struct {
	e           encoding
	rest        []byte
	name, value []byte // of the present field, without escapes
	raw         []byte // value as it stands in the record
	started     bool
	bad         bool
}

func (e encoding) walk(value []byte) fieldIter { return fieldIter{e: e, rest: value} }

func (it *fieldIter) next() bool {
	if it.bad {
		return false
	}
	var more bool
	if it.e == compact {
		more = it.nextCompact()
	} else {
		more = it.nextJSON()
	}
	it.started = true
	return more
}

func (it *fieldIter) nextCompact() bool {
	if len(it.rest) == 0 {
		it.bad = !it.started
		return false
	}
	it.name = it.counted()
	it.value = it.counted()
	it.raw = it.value
	return !it.bad
}

func (it *fieldIter) counted() []byte {
	n, size := binary.Uvarint(it.rest)
	if size <= 0 || n > uint64(len(it.rest)-size) {
		it.bad = true
		return nil
	}
	b := it.rest[size : size+int(n)]
	it.rest = it.rest[size+int(n):]
	return b
}

func (it *fieldIter) nextJSON() bool {
	it.blanks()
	switch {
	case !it.started && !it.take('{'):
		it.bad = true
		return false
	}
	it.blanks()
	if it.take('}') {
		it.blanks()
		it.bad = len(it.rest) > 0
		return false
	}
	if it.started && !it.take(',') {
		it.bad = true
		return false
	}
	it.blanks()
	it.name, _ = it.quoted()
	it.blanks()
	if !it.take(':') {
		it.bad = true
	}
	it.blanks()
	it.value, it.raw = it.quoted()
	return !it.bad
}

func (it *fieldIter) blanks() {
	for len(it.rest) > 0 && (it.rest[0] == ' ' || it.rest[0] == '\n' || it.rest[0] == '\t' || it.rest[0] == '\r') {
		it.rest = it.rest[1:]
	}
}

func (it *fieldIter) take(c byte) bool {
	if len(it.rest) == 0 || it.rest[0] != c {
		return false
	}
	it.rest = it.rest[1:]
	return true
}

// quoted reads a string. It allocates only if that has escapes, which nothing written here has.
func (it *fieldIter) quoted() (value, raw []byte) {
	if !it.take('"') {
		it.bad = true
		return nil, nil
	}
	escaped := false
	for i := 0; i < len(it.rest); i++ {
		switch it.rest[i] {
		case '\\':
			escaped = true
			i++
		case '"':
			raw = it.rest[:i]
			it.rest = it.rest[i+1:]
			if !escaped {
				return raw, raw
			}
			var s string
			if json.Unmarshal([]byte(`"`+string(raw)+`"`), &s) != nil {
				it.bad = true
			}
			return []byte(s), raw
		}
	}
	it.bad = true
	return nil, nil
}

// fieldNames are prefix0, prefix1 and so on.
func fieldNames(prefix string, n int) [][]byte {
	out := make([][]byte, n)
	for i := range out {
		out[i] = strconv.AppendInt([]byte(prefix), int64(i), 10)
	}
	return out
}
