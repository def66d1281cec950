package resp

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
)

// Type of an element: its first byte.
type Type byte

const (
	Simple    Type = '+'
	Error     Type = '-'
	Integer   Type = ':'
	Bulk      Type = '$'
	Array     Type = '*'
	Null      Type = '_'
	Double    Type = ','
	Bool      Type = '#'
	BigNumber Type = '('
	BlobError Type = '!'
	Verbatim  Type = '='
	Map       Type = '%'
	Set       Type = '~'
	Attribute Type = '|'
	Push      Type = '>'
)

// Limits of what is taken for RESP.
const (
	MaxLine     = 64 << 10 // bytes of a line
	MaxBulk     = 1 << 48  // bytes of a string
	MaxElements = 1 << 40  // elements of an array, pairs of a map
	MaxDepth    = 32       // aggregates within one another
)

// class tells how an element goes on behind its first byte.
type class uint8

const (
	unknown class = iota
	line          // a line, and that is all
	number        // a line with an integer
	blob          // a line with a length, then bytes
	list          // a line with a number of elements
	pairs         // a line with a number of pairs
)

var classes = [256]class{
	Simple: line, Error: line, Null: line, Double: line, Bool: line, BigNumber: line,
	Integer: number,
	Bulk:    blob, BlobError: blob, Verbatim: blob,
	Array: list, Set: list, Push: list,
	Map: pairs, Attribute: pairs,
}

// In says whether version 2 or 3 of the protocol has t.
func (t Type) In(version int) bool {
	switch t {
	case Simple, Error, Integer, Bulk, Array:
		return true
	}
	return version >= 3 && classes[t] != unknown
}

// Value is an element of a reply.
type Value struct {
	Type Type  // Null for all nulls, whatever they are written as
	N    int64 // Integer, Bool (0 or 1): the value; aggregates: number of elements, two for each pair
	// Text of strings and errors; of numbers as they are written. Verbatim strings are without their format.
	Text []byte
	// Raw is the whole element with all that belongs to it. Next and Parse give it; Head does not.
	Raw []byte
}

// IsError says whether v is one of the two kinds of error.
func (v *Value) IsError() bool { return v.Type == Error || v.Type == BlobError }

// IsAggregate says whether v has elements, which Elements walks.
func (v *Value) IsAggregate() bool { return classes[v.Type] >= list }

// Float is the value of a Double, Integer or text that is a number.
func (v *Value) Float() (float64, error) { return strconv.ParseFloat(string(v.Text), 64) }

var (
	errLine     = errors.New("resp: a line does not end")
	errReturn   = errors.New("resp: a line has CR or LF in it")
	errNumber   = errors.New("resp: malformed number")
	errBulkEnd  = errors.New("resp: a string is longer or shorter than announced")
	errLength   = errors.New("resp: a length is out of range")
	errDepth    = errors.New("resp: too many aggregates within one another")
	errPush     = errors.New("resp: a push message within a reply")
	errStreamed = errors.New("resp: streamed replies are not supported")
	errWord     = errors.New("resp: malformed null, bool, double or verbatim string")
)

// integer reads a line with an integer from the start of in: its value and the length of the line. n is 0 while it is not
// complete.
func integer(in []byte) (v int64, n int, err error) {
	neg := false
	i := 0
	if len(in) > 0 && (in[0] == '-' || in[0] == '+') {
		neg = in[0] == '-'
		i = 1
	}
	start := i
	var u uint64 // of at most 19 digits: they fit
	for ; i < len(in); i++ {
		d := uint64(in[i] - '0')
		if d > 9 {
			break
		}
		if i-start == 19 {
			return 0, 0, errNumber
		}
		u = u*10 + d
	}
	if i < len(in) {
		if in[i] == '?' && i == start {
			return 0, 0, errStreamed
		}
		if i == start || in[i] != '\r' || i+1 < len(in) && in[i+1] != '\n' {
			return 0, 0, errNumber
		}
	}
	switch {
	case neg && u <= 1<<63:
		v = -int64(u)
	case !neg && u < 1<<63:
		v = int64(u)
	default:
		return 0, 0, errNumber
	}
	if i+2 > len(in) {
		return 0, 0, nil
	}
	return v, i + 2, nil
}

// textLine reads a line without its end from the start of in, and its length with it.
func textLine(in []byte) (text []byte, n int, err error) {
	long := len(in) > MaxLine
	if long {
		in = in[:MaxLine]
	}
	i := bytes.IndexByte(in, '\r')
	if i < 0 || i+1 == len(in) {
		if bytes.IndexByte(in, '\n') >= 0 {
			return nil, 0, errReturn
		}
		if long {
			return nil, 0, errLine
		}
		return nil, 0, nil
	}
	if in[i+1] != '\n' || bytes.IndexByte(in[:i], '\n') >= 0 {
		return nil, 0, errReturn
	}
	return in[:i], i + 2, nil
}

// Head reads the element at the start of in: strings and numbers whole, of aggregates the head only, which the elements
// follow. It returns how many bytes that are; 0 while in does not hold them all. The head of a string tells its length:
// waiting for a long one costs nothing.
func Head(in []byte, v *Value) (n int, err error) {
	if len(in) == 0 {
		return 0, nil
	}
	t := Type(in[0])
	v.Type, v.N, v.Text, v.Raw = t, 0, nil, nil
	c := classes[t]
	switch c {
	case blob, list, pairs, number:
		k, n, err := integer(in[1:])
		if n == 0 {
			return 0, err
		}
		n++
		switch {
		case c == number:
			v.N, v.Text = k, in[1:n-2]
			return n, nil
		case k < 0:
			if k != -1 || t != Bulk && t != Array {
				return 0, errLength
			}
			v.Type = Null
			return n, nil
		case c == blob:
			if k > MaxBulk {
				return 0, errLength
			}
			if int64(len(in)) < int64(n)+k+2 {
				if end := int64(n) + k; int64(len(in)) > end && in[end] != '\r' {
					return 0, errBulkEnd
				}
				return 0, nil
			}
			end := n + int(k)
			if in[end] != '\r' || in[end+1] != '\n' {
				return 0, errBulkEnd
			}
			v.Text = in[n:end]
			if t == Verbatim {
				if k < 4 || v.Text[3] != ':' {
					return 0, errWord
				}
				v.Text = v.Text[4:]
			}
			return end + 2, nil
		}
		if k > MaxElements {
			return 0, errLength
		}
		if c == pairs {
			k *= 2
		}
		v.N = k
		return n, nil
	case line:
		text, n, err := textLine(in[1:])
		if n == 0 {
			return 0, err
		}
		v.Text = text
		switch t {
		case Null:
			if len(text) != 0 {
				return 0, errWord
			}
		case Bool:
			if len(text) != 1 || text[0] != 't' && text[0] != 'f' {
				return 0, errWord
			}
			if text[0] == 't' {
				v.N = 1
			}
		case Double, BigNumber:
			if !numeric(text, t == Double) {
				return 0, errWord
			}
		}
		return n + 1, nil
	}
	if t == ';' || t == '.' {
		return 0, errStreamed
	}
	return 0, fmt.Errorf("resp: %.20q begins no reply", in)
}

// numeric says whether text could be a big number or a double.
func numeric(text []byte, double bool) bool {
	if len(text) > 0 && (text[0] == '-' || text[0] == '+') {
		text = text[1:]
	}
	if double && (string(text) == "inf" || string(text) == "nan") {
		return true
	}
	if len(text) == 0 || text[0]-'0' > 9 {
		return false
	}
	for _, c := range text {
		if c-'0' > 9 && (!double || bytes.IndexByte([]byte(".eE+-"), c) < 0) {
			return false
		}
	}
	return true
}
