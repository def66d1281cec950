package mctext

import "godwit/internal/bytesx"

// memcached copies a number into a small buffer first: longer ones are refused, even if they only have leading zeros.
const (
	maxDigits32 = 11
	maxDigits64 = 22
)

// U64 reads a delta, a CAS id or an initial value.
func U64(b []byte) (uint64, bool) {
	if len(b) > maxDigits64 {
		return 0, false
	}
	return bytesx.Uint(b)
}

// U32 reads client flags of a meta command.
func U32(b []byte) (uint32, bool) {
	if len(b) > maxDigits32 {
		return 0, false
	}
	v, ok := bytesx.Uint(b)
	return uint32(v), ok && v <= 1<<32-1
}

// I32 reads an optional minus and digits: exptime of touch, sizes, levels. A lone minus is 0.
func I32(b []byte) (int32, bool) {
	if len(b) > maxDigits32 {
		return 0, false
	}
	if len(b) == 1 && b[0] == '-' {
		return 0, true
	}
	return bytesx.Int32(b)
}

// maxBytes is the largest size of a value: with its line end it must fit 31 bits.
const maxBytes = 1<<31 - 1 - 2

// Size reads the length of a value.
func Size(b []byte) (int, bool) {
	v, ok := I32(b)
	return int(v), ok && v >= 0 && v <= maxBytes
}

// Flags reads client flags of a classic command: any number of 64 bits, of which 32 are kept.
func Flags(b []byte) (uint32, bool) {
	if len(b) > 0 && b[0] == '-' {
		return 0, false
	}
	v, ok := bytesx.LooseUint(b)
	return uint32(v), ok
}

// Exptime reads the time of a classic storage command, cut to 32 bits.
func Exptime(b []byte) (int32, bool) {
	v, ok := bytesx.LooseInt(b)
	return int32(v), ok
}
