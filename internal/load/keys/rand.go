package keys

import (
	"math"
	"math/bits"
)

// Rand is Chris Doty-Humphrey's generator sfc64: 256 bits of state with a counter in them, so that no sequence is shorter
// than 2^64. Twice as fast as math/rand/v2's PCG here (BenchmarkRand). Not for secrets. Use Seed before anything else.
type Rand struct{ a, b, c, n uint64 }

// Use is what a client draws numbers for. Each use has its own stream, so that, say, sizes do not shift the keys.
type Use uint8

const (
	Reads    Use = iota // indices of keys that are read
	Writes              // indices of keys that are written
	Lengths             // sizes of values
	Contents            // bytes of values
	Choices             // which kind of request comes next
	Expiries            // expiry times
	Other               // and all numbers above it
)

// Stream numbers the stream of a client for a use. Different pairs have different numbers. client is not negative.
func Stream(client int, use Use) uint64 { return uint64(client)<<8 | uint64(use) }

// Seed starts the sequence of (seed, stream). Different pairs start from different states, and since a step is a
// bijection of states, they never are in the same state after the same number of steps.
func (r *Rand) Seed(seed, stream uint64) {
	r.a = mix(seed + 0x9e3779b97f4a7c15)
	r.b = mix(stream + 0xd1b54a32d192ed03)
	r.c = mix(r.a ^ bits.RotateLeft64(r.b, 32))
	r.n = 1
	for range 12 { // the author's number of steps until all bits depend on all
		r.Uint64()
	}
}

// Uint64 gives 64 random bits.
func (r *Rand) Uint64() uint64 {
	v := r.a + r.b + r.n
	r.n++
	r.a = r.b ^ r.b>>11
	r.b = r.c + r.c<<3
	r.c = bits.RotateLeft64(r.c, 24) + v
	return v
}

// Below gives a number less than n, all equally likely (Lemire's method). n must not be 0.
func (r *Rand) Below(n uint64) uint64 {
	hi, lo := bits.Mul64(r.Uint64(), n)
	if lo < n {
		for floor := -n % n; lo < floor; {
			hi, lo = bits.Mul64(r.Uint64(), n)
		}
	}
	return hi
}

// Float64 gives a number of [0, 1), a multiple of 2^-53.
func (r *Rand) Float64() float64 { return float64(r.Uint64()>>11) * 0x1p-53 }

// normals gives two independent numbers of the standard normal law.
func (r *Rand) normals() (x, y float64) {
	for {
		x, y = 2*r.Float64()-1, 2*r.Float64()-1
		if s := x*x + y*y; s < 1 && s > 0 {
			f := math.Sqrt(-2 * math.Log(s) / s)
			return x * f, y * f
		}
	}
}

// mix is the finalizer of splitmix64 (Stafford's variant 13): a bijection in which each bit depends on all.
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
