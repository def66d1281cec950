package keys

import "math/bits"

// scatter is a bijection of 0 ... last without visible order: multiplications and shifts that permute the numbers of as
// many bits as last has, applied again while the result is above last (at most twice on average).
type scatter struct {
	last, mask uint64
	shift      uint8
}

func newScatter(last uint64) scatter {
	n := bits.Len64(last)
	return scatter{last: last, mask: 1<<n - 1, shift: uint8(max((n+1)/2, 1))}
}

func (s *scatter) place(x uint64) uint64 {
	for {
		x = (x + 0x9e3779b97f4a7c15) * 0xbf58476d1ce4e5b9 & s.mask
		x ^= x >> s.shift
		x = x * 0x94d049bb133111eb & s.mask
		x ^= x >> s.shift
		x = x * 0xd6e8feb86659fd93 & s.mask
		x ^= x >> s.shift
		if x <= s.last {
			return x
		}
	}
}

// FNV is YCSB's Utils.hash: FNV-1a, 64 bits, over the eight octets of v, lowest first, then the absolute value. (Java has
// none for -2^63 and leaves it; here it is 2^63.)
func FNV(v uint64) uint64 {
	h := uint64(0xcbf29ce484222325)
	for range 8 {
		h = (h ^ v&0xff) * 1099511628211
		v >>= 8
	}
	if int64(h) < 0 {
		return -h
	}
	return h
}
