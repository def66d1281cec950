package keys

import (
	"math"
	"slices"
	"strings"
	"testing"
)

func sizes(t testing.TB) func(s Sizes, err error) *Sizes {
	return func(s Sizes, err error) *Sizes {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		s.Seed(1, Stream(0, Lengths))
		return &s
	}
}

func TestFixedSize(t *testing.T) {
	s := sizes(t)(FixedSize(32))
	if s.Next(0) != 32 || s.Next(9) != 32 || s.Largest() != 32 {
		t.Error("32 is not 32")
	}
}

func TestUniformSize(t *testing.T) {
	s := sizes(t)(UniformSize(10, 29))
	counts := count(t, "size", 100_000, 20, 10, func() uint64 { return uint64(s.Next(0)) })
	chiSquare(t, "size", counts, flat(20))
	if s.Largest() != 29 {
		t.Error(s.Largest())
	}
}

func TestZipfianSize(t *testing.T) {
	s := sizes(t)(ZipfianSize(1, 100, 0.99))
	counts := count(t, "size", 200_000, 100, 1, func() uint64 { return uint64(s.Next(0)) })
	chiSquare(t, "size", counts, grayWeights(100, 0.99))
	s = sizes(t)(ZipfianSize(5, 5, 0.99))
	if s.Next(0) != 5 {
		t.Error("a range of one size has another")
	}
}

func TestLinearSize(t *testing.T) {
	s := sizes(t)(LinearSize(100, 200, 1000, 1010))
	for index, want := range map[uint64]int{0: 100, 1000: 100, 1001: 110, 1005: 150, 1009: 190, 1010: 200, top: 200} {
		if got := s.Next(index); got != want {
			t.Errorf("index %d: size %d, want %d", index, got, want)
		}
	}
	for _, s := range []*Sizes{sizes(t)(LinearSize(0, math.MaxInt32, 0, top)), sizes(t)(LinearSize(7, 9, 5, 5))} {
		for _, index := range []uint64{0, 5, top / 2, top - 1, top} {
			if got := s.Next(index); got < s.low || got > s.Largest() {
				t.Errorf("index %d: size %d, outside %d to %d", index, got, s.low, s.Largest())
			}
		}
	}
}

func TestRotatedSize(t *testing.T) {
	for _, c := range []struct {
		list []Weighted
		want []int
	}{
		{[]Weighted{{10, 2}, {20, 1}, {5, 3}}, []int{10, 10, 20, 5, 5, 5, 10, 10, 20}},
		{[]Weighted{{10, 0}, {20, 1}, {5, 0}}, []int{20, 20, 20}},
		{[]Weighted{{7, 1}}, []int{7, 7}},
	} {
		a := sizes(t)(RotatedSize(c.list))
		b := *a
		var got, other []int
		for range c.want {
			got, other = append(got, a.Next(0)), append(other, b.Next(0))
		}
		if !slices.Equal(got, c.want) || !slices.Equal(other, c.want) {
			t.Errorf("%v gives %v and %v, want %v", c.list, got, other, c.want)
		}
		if a.Largest() != slices.Max(c.want) {
			t.Errorf("%v: largest is %d", c.list, a.Largest())
		}
	}
}

func TestSizesRefused(t *testing.T) {
	for want, make := range map[string]func() (Sizes, error){
		"size -1: negative":           func() (Sizes, error) { return FixedSize(-1) },
		"minimum 3: above":            func() (Sizes, error) { return UniformSize(3, 2) },
		"no value is as long":         func() (Sizes, error) { return UniformSize(0, 1<<31) },
		"indices: minimum 9":          func() (Sizes, error) { return LinearSize(1, 2, 9, 8) },
		"size list: empty":            func() (Sizes, error) { return RotatedSize(nil) },
		"weights are 0":               func() (Sizes, error) { return RotatedSize([]Weighted{{1, 0}}) },
		"size list: size -5":          func() (Sizes, error) { return RotatedSize([]Weighted{{1, 1}, {-5, 1}}) },
		"zipfian constant 1.5: not":   func() (Sizes, error) { return ZipfianSize(1, 2, 1.5) },
		"zipfian constant NaN: not b": func() (Sizes, error) { return ZipfianSize(1, 2, math.NaN()) },
	} {
		if _, err := make(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q is not what it says: %v", want, err)
		}
	}
}

func TestSizesAllocateNothing(t *testing.T) {
	for _, s := range []*Sizes{
		sizes(t)(UniformSize(1, 9)), sizes(t)(LinearSize(1, 9, 0, 99)), sizes(t)(ZipfianSize(1, 9, 0.99)),
		sizes(t)(RotatedSize([]Weighted{{1, 1}, {2, 2}})),
	} {
		if a := testing.AllocsPerRun(100, func() { sink += uint64(s.Next(5)) }); a != 0 {
			t.Errorf("%v allocations", a)
		}
	}
}
