package bytesx

import "strconv"

// AppendUint appends v in decimal.
func AppendUint(b []byte, v uint64) []byte {
	if v < 10 {
		return append(b, byte('0'+v))
	}
	return strconv.AppendUint(b, v, 10)
}

// AppendInt appends v in decimal.
func AppendInt(b []byte, v int64) []byte { return strconv.AppendInt(b, v, 10) }

// Uint reads digits only: no sign, no space, at most 2^64-1.
func Uint(b []byte) (v uint64, ok bool) {
	if len(b) == 0 {
		return 0, false
	}
	for _, c := range b {
		d := uint64(c - '0')
		if d > 9 || v > (1<<64-1)/10 {
			return 0, false
		}
		v *= 10
		if v+d < v {
			return 0, false
		}
		v += d
	}
	return v, true
}

// Int32 reads an optional minus and digits.
func Int32(b []byte) (v int32, ok bool) {
	neg := len(b) > 0 && b[0] == '-'
	if neg {
		b = b[1:]
	}
	if len(b) == 0 {
		return 0, false
	}
	var n int64
	for _, c := range b {
		d := c - '0'
		if d > 9 {
			return 0, false
		}
		if n = n*10 + int64(d); n > 1<<31 {
			return 0, false
		}
	}
	if neg {
		n = -n
	}
	return int32(n), n == int64(int32(n))
}

// LooseUint reads a number as C's strtoull does: white space, an optional plus, digits; then the text must end (a zero
// byte ends it, too) or go on with white space. A minus counts only in front of zero.
func LooseUint(b []byte) (v uint64, ok bool) {
	neg, v, rest, ok := scan(b)
	if !ok || neg && v != 0 || !ended(rest) {
		return 0, false
	}
	return v, true
}

// LooseInt is LooseUint for C's strtoll.
func LooseInt(b []byte) (v int64, ok bool) {
	neg, u, rest, ok := scan(b)
	if !ok || !ended(rest) {
		return 0, false
	}
	if neg {
		return -int64(u), u <= 1<<63
	}
	return int64(u), u < 1<<63
}

// scan reads white space, a sign and digits. ok is false without digits and beyond 64 bits.
func scan(b []byte) (neg bool, v uint64, rest []byte, ok bool) {
	i := 0
	for i < len(b) && isSpace(b[i]) {
		i++
	}
	if i < len(b) && (b[i] == '+' || b[i] == '-') {
		neg = b[i] == '-'
		i++
	}
	start := i
	for i < len(b) && b[i]-'0' <= 9 {
		d := uint64(b[i] - '0')
		if v > (1<<64-1)/10 || v*10+d < d {
			return neg, 0, nil, false
		}
		v = v*10 + d
		i++
	}
	return neg, v, b[i:], i > start
}

// ended says whether a number may stop in front of rest.
func ended(rest []byte) bool { return len(rest) == 0 || rest[0] == 0 || isSpace(rest[0]) }

// isSpace is C's isspace.
func isSpace(c byte) bool { return c == ' ' || c-'\t' < 5 }
