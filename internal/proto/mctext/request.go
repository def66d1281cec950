package mctext

import "godwit/internal/bytesx"

// The client's half: requests as they go on the wire. Keys are taken as they are; callers keep to MaxKey and to bytes
// that a line can hold.

const (
	lineEnd     = "\r\n"
	noreplyEnd  = " noreply\r\n"
	trailingEnd = " \r\n"
)

func appendEnd(b []byte, noreply bool) []byte {
	if noreply {
		return append(b, noreplyEnd...)
	}
	return append(b, lineEnd...)
}

// AppendGet appends a get of one key.
func AppendGet(b, key []byte) []byte {
	b = append(b, "get "...)
	b = append(b, key...)
	return append(b, lineEnd...)
}

// AppendMGet appends a get of several keys.
func AppendMGet(b []byte, keys [][]byte) []byte {
	b = append(b, "get"...)
	for _, k := range keys {
		b = append(b, ' ')
		b = append(b, k...)
	}
	return append(b, lineEnd...)
}

// Spaced puts a space in front of the line end that b ends with, as mc-crusher has it in get and delete.
func Spaced(b []byte) []byte {
	return append(b[:len(b)-len(lineEnd)], trailingEnd...)
}

// AppendSet appends a set and its value.
func AppendSet(b, key []byte, flags, exptime uint32, value []byte, noreply bool) []byte {
	b = append(b, "set "...)
	b = append(b, key...)
	b = append(b, ' ')
	b = bytesx.AppendUint(b, uint64(flags))
	b = append(b, ' ')
	b = bytesx.AppendUint(b, uint64(exptime))
	b = append(b, ' ')
	b = bytesx.AppendUint(b, uint64(len(value)))
	b = appendEnd(b, noreply)
	b = append(b, value...)
	return append(b, lineEnd...)
}

// AppendTouch appends a touch.
func AppendTouch(b, key []byte, exptime uint32, noreply bool) []byte {
	return appendNumbered(b, "touch ", key, uint64(exptime), noreply)
}

// AppendIncr appends an incr.
func AppendIncr(b, key []byte, delta uint64, noreply bool) []byte {
	return appendNumbered(b, "incr ", key, delta, noreply)
}

// AppendDecr appends a decr.
func AppendDecr(b, key []byte, delta uint64, noreply bool) []byte {
	return appendNumbered(b, "decr ", key, delta, noreply)
}

func appendNumbered(b []byte, verb string, key []byte, v uint64, noreply bool) []byte {
	b = append(b, verb...)
	b = append(b, key...)
	b = append(b, ' ')
	b = bytesx.AppendUint(b, v)
	return appendEnd(b, noreply)
}

// AppendDelete appends a delete.
func AppendDelete(b, key []byte, noreply bool) []byte {
	b = append(b, "delete "...)
	b = append(b, key...)
	return appendEnd(b, noreply)
}

// A meta command is begun by AppendMeta or AppendMetaSet and goes on with flags (AppendWords, AppendFlag, AppendMark);
// AppendMetaEnd ends it. The value of an ms and another AppendMetaEnd follow.

// AppendMeta begins a meta command without data. verb is two letters.
func AppendMeta(b []byte, verb string, key []byte) []byte {
	b = append(b, verb...)
	b = append(b, ' ')
	return append(b, key...)
}

// AppendMetaSet begins an ms of a value of n bytes.
func AppendMetaSet(b, key []byte, n int) []byte {
	b = append(b, "ms "...)
	b = append(b, key...)
	b = append(b, ' ')
	return bytesx.AppendUint(b, uint64(n))
}

// AppendWords appends flags as they are, separated by spaces.
func AppendWords(b, flags []byte) []byte {
	if len(flags) == 0 {
		return b
	}
	b = append(b, ' ')
	return append(b, flags...)
}

// AppendMark appends a flag without argument.
func AppendMark(b []byte, c byte) []byte { return append(b, ' ', c) }

// AppendMetaEnd ends a line, or the value behind it.
func AppendMetaEnd(b []byte) []byte { return append(b, lineEnd...) }
