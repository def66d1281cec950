package keys

import "godwit/internal/bytesx"

// Names makes keys of indices: the prefix and a decimal number. Its fields do not change while it is used; it may be
// shared.
type Names struct {
	Prefix string
	Width  int  // pad the number with zeros on the left to this many digits (YCSB zeropadding)
	Hashed bool // the number is FNV(index) instead of index (YCSB insertorder=hashed)
}

// Append appends the key of index.
func (n *Names) Append(dst []byte, index uint64) []byte {
	dst = append(dst, n.Prefix...)
	if n.Hashed {
		index = FNV(index)
	}
	if n.Width > 1 {
		for have := digits(index); have < n.Width; have++ {
			dst = append(dst, '0')
		}
	}
	return bytesx.AppendUint(dst, index)
}

// Longest is the length in bytes of the longest key of the indices up to highest, to be held against the protocol's limit.
func (n *Names) Longest(highest uint64) int {
	d := digits(highest)
	if n.Hashed {
		d = digits(1 << 63) // the highest there is
	}
	return len(n.Prefix) + max(d, n.Width)
}

// digits counts the decimal digits of v.
func digits(v uint64) int {
	n := 1
	for ; v >= 10000; v /= 10000 {
		n += 4
	}
	for ; v >= 10; v /= 10 {
		n++
	}
	return n
}
