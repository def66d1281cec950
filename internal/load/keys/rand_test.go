package keys

import (
	"math"
	"math/rand/v2"
	"testing"
)

func TestStreamsDiffer(t *testing.T) {
	seen := map[uint64]bool{}
	for seed := range uint64(3) {
		for client := range 500 {
			for use := range Other + 1 {
				var r Rand
				r.Seed(seed, Stream(client, use))
				for range 4 {
					v := r.Uint64()
					if seen[v] {
						t.Fatalf("seed %d client %d use %d: %d was drawn before", seed, client, use, v)
					}
					seen[v] = true
				}
			}
		}
	}
}

func TestSeedRepeats(t *testing.T) {
	var a, b Rand
	a.Seed(7, 3)
	for range 5 {
		b.Uint64()
	}
	b.Seed(7, 3)
	for range 1000 {
		if a.Uint64() != b.Uint64() {
			t.Fatal("the same seed and stream gave different numbers")
		}
	}
}

func TestBelow(t *testing.T) {
	var r Rand
	r.Seed(1, 1)
	for _, n := range []uint64{1, 2, 3, 10, 1000} {
		chiSquare(t, "Below", count(t, "Below", 200_000, int(n), 0, func() uint64 { return r.Below(n) }), flat(int(n)))
	}
	const third = math.MaxUint64/3*2 + 1 // a third of all products is rejected
	thirds := count(t, "Below", 100_000, 2, 0, func() uint64 { return r.Below(third) / (third/2 + 1) })
	chiSquare(t, "Below", thirds, flat(2))
}

func TestBitsOfRand(t *testing.T) {
	var r Rand
	r.Seed(2, 1)
	var ones [64]int
	for range 100_000 {
		for v, i := r.Uint64(), 0; i < 64; i++ {
			ones[i] += int(v >> i & 1)
		}
	}
	for i, n := range ones {
		if math.Abs(float64(n)-50_000) > 5*158 {
			t.Errorf("bit %d: set %d times of 100000", i, n)
		}
	}
}

func TestFloat64(t *testing.T) {
	var r Rand
	r.Seed(3, 1)
	tenths := count(t, "Float64", 100_000, 10, 0, func() uint64 { return uint64(r.Float64() * 10) })
	chiSquare(t, "Float64", tenths, flat(10))
}

var sink uint64

func BenchmarkRand(b *testing.B) {
	b.Run("sfc64", func(b *testing.B) {
		var r Rand
		r.Seed(1, 1)
		for b.Loop() {
			sink += r.Uint64()
		}
	})
	b.Run("pcg", func(b *testing.B) {
		r := rand.NewPCG(1, 1)
		for b.Loop() {
			sink += r.Uint64()
		}
	})
}
