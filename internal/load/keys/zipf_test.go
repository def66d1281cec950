package keys

import (
	"fmt"
	"math"
	"testing"
)

func TestZipfLaw(t *testing.T) {
	for _, exponent := range []float64{1e-9, 0.01, 0.25, 0.5, 0.99, 0.9995, 1, 1.0000001, 1.0005, 1.5, 2, 3, 4.9} {
		for _, n := range []int{2, 10, 1000} {
			what := fmt.Sprintf("zipf %v of %d", exponent, n)
			x := made(t)(Zipf(7, uint64(n)+6, exponent))
			chiSquare(t, what, count(t, what, 300_000, n, 7, x.Next), zipfWeights(n, 1, exponent))
			what = "memtier " + what
			x = made(t)(MemtierZipf(20, uint64(n)+19, exponent))
			chiSquare(t, what, count(t, what, 300_000, n, 20, x.Next), zipfWeights(n, 20, exponent))
		}
	}
}

// Narrow ranges far up must be as flat as their law, although float64 has few digits left for them.
func TestMemtierZipfFarUp(t *testing.T) {
	for _, low := range []uint64{1e6, 1e9, 1e12, 1e15, 1 << 60} {
		for _, exponent := range []float64{0.99, 1, 3} {
			x := made(t)(MemtierZipf(low, low+99, exponent))
			what := fmt.Sprintf("memtier zipf %v from %d", exponent, low)
			chiSquare(t, what, count(t, what, 100_000, 100, low, x.Next), zipfWeights(100, float64(low), exponent))
		}
	}
	for _, low := range []uint64{1e9, 1e12} { // wide enough to be computed, but hardly
		const n = 1e7
		x := made(t)(MemtierZipf(low, low+n-1, 0.99))
		tenths := count(t, "memtier zipf", 100_000, 10, 0, func() uint64 { return (x.Next() - low) / (n / 10) })
		chiSquare(t, fmt.Sprintf("memtier zipf of 10^7 from %d", low), tenths, zipfWeights(10, float64(low)/(n/10)+0.5, 0.99))
	}
}

// The slope of frequency over rank, both as logarithms, is minus the exponent; over ten million keys.
func TestZipfSlope(t *testing.T) {
	for _, exponent := range []float64{0.5, 0.99, 1, 1.2} {
		x := made(t)(Zipf(0, 9_999_999, exponent))
		counts := map[uint64]int{}
		for range 2_000_000 {
			v := x.Next()
			octave := uint64(math.Log2(float64(v + 1)))
			counts[octave]++
		}
		// frequency per index at the octaves' starts, fitted by least squares over the octaves that have draws enough
		var n, sx, sy, sxx, sxy float64
		for octave := uint64(4); octave < 23; octave++ {
			if counts[octave] < 1000 {
				continue
			}
			px := float64(octave)
			py := math.Log2(float64(counts[octave]) / float64(uint64(1)<<octave))
			n, sx, sy, sxx, sxy = n+1, sx+px, sy+py, sxx+px*px, sxy+px*py
		}
		slope := (n*sxy - sx*sy) / (n*sxx - sx*sx)
		if math.Abs(slope+exponent) > 0.01 {
			t.Errorf("exponent %v: slope %.4f", exponent, slope)
		}
	}
}

func TestZipfResize(t *testing.T) {
	a, err := newZipf(0.99, 1, 5)
	if err != nil {
		t.Fatal(err)
	}
	a.resize(1000)
	b, _ := newZipf(0.99, 1, 1000)
	if a != b {
		t.Errorf("resized %+v, made %+v", a, b)
	}
}
