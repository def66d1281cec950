package keys

import (
	"math"
	"testing"
)

// FuzzIndices tries parameters of all laws: each is refused, or draws in its range without hanging. testdata/fuzz has
// ranges and numbers at their edges.
func FuzzIndices(f *testing.F) {
	f.Add(uint8(0), uint64(0), uint64(10_000_000), 0.99, 0.5, uint64(7), uint64(1))
	f.Fuzz(func(t *testing.T, which uint8, low, high uint64, a, b float64, c, seed uint64) {
		ins := NewInserts(c)
		var x Indices
		var err error
		switch which % 12 {
		case 0:
			x, err = Uniform(low, high)
		case 1:
			x, err = Gauss(low, high, a, b)
		case 2:
			x, err = Sequential(low, high, c)
		case 3:
			x, err = Partition(low, high, int(int16(c)), int(uint16(seed)))
		case 4:
			x, err = Zipf(low, high, a)
		case 5:
			x, err = MemtierZipf(low, high, a)
		case 6:
			x, err = Scrambled(low, high, a)
		case 7:
			x, err = ScrambledYCSB(low, high, a)
		case 8:
			x, err = Latest(low, ins, a)
			high = max(low, c-1)
		case 9:
			x, err = Hotspot(low, high, a, b)
		case 10:
			x, err = Exponential(low, ins, high, a, b)
			high = max(low, c-1)
		case 11:
			var cursor *Cursor
			if cursor, err = NewCursor(low, high, c); err == nil {
				x, err = Shared(cursor)
			}
		}
		if err != nil {
			if len(err.Error()) < 20 {
				t.Errorf("an error that does not say much: %v", err)
			}
			return
		}
		if c == 0 && (which%12 == 8 || which%12 == 10) {
			high = low
		}
		x.Seed(seed, 1)
		for range 200 {
			if v := x.Next(); v < low || v > high {
				t.Fatalf("drew %d, outside %d to %d", v, low, high)
			}
		}
		if ins.Acked() <= x.Min() {
			return
		}
		x.Within(ins)
		for range 20 {
			v := x.Next()
			walk := x.law == sequential || x.law == shared
			if v < low || v > high || v >= ins.Acked() && !walk {
				t.Fatalf("drew %d, outside %d to %d and below %d", v, low, high, ins.Acked())
			}
		}
	})
}

// FuzzSizes does the same for Sizes.
func FuzzSizes(f *testing.F) {
	f.Add(uint8(0), 1, 100, uint64(0), uint64(1000), 0.99, uint64(5))
	f.Fuzz(func(t *testing.T, which uint8, low, high int, from, to uint64, constant float64, index uint64) {
		var s Sizes
		var err error
		switch which % 4 {
		case 0:
			s, err = UniformSize(low, high)
		case 1:
			s, err = LinearSize(low, high, from, to)
		case 2:
			s, err = ZipfianSize(low, high, constant)
		case 3:
			s, err = RotatedSize([]Weighted{{low, from}, {high, to}})
			low, high = min(low, high), max(low, high)
		}
		if err != nil {
			return
		}
		s.Seed(from, to)
		for range 50 {
			if n := s.Next(index); n < low || n > high || n > s.Largest() {
				t.Fatalf("size %d, outside %d to %d", n, low, high)
			}
		}
	})
}

// FuzzVerifier flips a bit of a value.
func FuzzVerifier(f *testing.F) {
	f.Add(uint64(1), uint64(7), uint32(100), uint32(3))
	f.Fuzz(func(t *testing.T, seed, index uint64, size, at uint32) {
		v, value := NewVerifier(seed), make([]byte, size%300_000)
		v.Fill(value, index)
		if !v.Check(value, index) {
			t.Fatal("a value does not pass")
		}
		if len(value) > 0 {
			value[at%uint32(len(value))] ^= 1 << (at % 8)
			if v.Check(value, index) {
				t.Fatal("a damaged value passes")
			}
		}
	})
}

// edges are parameters that formulas may trip over.
var edges = []float64{0, 1, 0.99, 4.999999, 5, 1e-300, 5e-324, 1e300, -1, math.Inf(1), math.NaN()}

func TestEdges(t *testing.T) {
	for _, a := range edges {
		for _, b := range edges {
			for _, r := range [][2]uint64{{0, 0}, {0, 9}, {0, top}, {top, top}, {1 << 53, 1<<53 + 9}} {
				for _, make := range []func() (Indices, error){
					func() (Indices, error) { return Gauss(r[0], r[1], a, b) },
					func() (Indices, error) { return Hotspot(r[0], r[1], a, b) },
					func() (Indices, error) { return Zipf(r[0], r[1], a) },
					func() (Indices, error) { return MemtierZipf(r[0], r[1], b) },
					func() (Indices, error) { return ScrambledYCSB(r[0], r[1], a) },
				} {
					x, err := make()
					if err != nil {
						continue
					}
					for range 50 {
						if v := x.Next(); v < r[0] || v > r[1] {
							t.Fatalf("%v with %v, %v: drew %d", r, a, b, v)
						}
					}
				}
			}
		}
	}
}
