package config

import (
	"math"
	"strconv"
	"strings"
)

// Numbers the way the C library reads them, because command lines in the field rely on it: "-m 64mb" is 64, "-p x" is 0.

const spaces = " \t\n\v\f\r"

// strtol reads a decimal number at the start of s (after white space) and returns it with the rest behind it. Out of
// range it saturates and says so. Without any digit the rest is all of s.
func strtol(s string) (v int64, rest string, inRange bool) {
	t := strings.TrimLeft(s, spaces)
	n := 0
	if n < len(t) && (t[n] == '-' || t[n] == '+') {
		n++
	}
	first := n
	for n < len(t) && t[n] >= '0' && t[n] <= '9' {
		n++
	}
	if n == first {
		return 0, s, true
	}
	v, err := strconv.ParseInt(t[:n], 10, 64)
	return v, t[n:], err == nil
}

// atoi keeps the low 32 bits, as the C function does.
func atoi(s string) int {
	v, _, _ := strtol(s)
	return int(int32(v))
}

// clean says whether a number ended where it may end.
func clean(s, rest string) bool {
	return len(rest) < len(s) && (rest == "" || strings.IndexByte(spaces, rest[0]) >= 0)
}

// i32 is a number that must end at white space or the end; it keeps the low 32 bits.
func i32(s string) (int, bool) {
	v, rest, ok := strtol(s)
	return int(int32(v)), ok && clean(s, rest)
}

// u32 is the same without a sign. Numbers between 2^63 and 2^64 count (their low bits do), negative ones do not unless
// they are so small that they wrap to a positive long.
func u32(s string) (uint32, bool) {
	v, rest, ok := strtol(s)
	if !ok && v == math.MaxInt64 {
		t := strings.TrimPrefix(strings.TrimLeft(s[:len(s)-len(rest)], spaces), "+")
		if u, err := strconv.ParseUint(t, 10, 64); err == nil {
			return uint32(u), clean(s, rest)
		}
	}
	return uint32(v), ok && v >= 0 && clean(s, rest)
}

// strtod reads a floating point number at the start of s and returns it with the rest behind it.
func strtod(s string) (float64, string) {
	t := strings.TrimLeft(s, spaces)
	for n := min(len(t), 64); n > 0; n-- { // no number worth reading is longer
		if v, err := strconv.ParseFloat(t[:n], 64); err == nil {
			return v, t[n:]
		}
	}
	return 0, s
}

func atof(s string) float64 {
	v, _ := strtod(s)
	return v
}

// f64 is a number that must end at white space or the end.
func f64(s string) (float64, bool) {
	v, rest := strtod(s)
	return v, clean(s, rest)
}

// octal reads a file mode, ignoring what follows it.
func octal(s string) uint32 {
	t := strings.TrimLeft(s, spaces)
	n := 0
	for n < len(t) && n < 10 && t[n] >= '0' && t[n] <= '7' {
		n++
	}
	v, _ := strconv.ParseUint(t[:n], 8, 32)
	return uint32(v)
}
