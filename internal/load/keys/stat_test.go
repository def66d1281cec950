package keys

import (
	"math"
	"testing"
)

// chiSquare fails if counts, of draws that should have the probabilities want, are further from them than the normal
// approximation of chi-square allows in 5 standard deviations. Seeds are fixed, so it fails always or never. Cells that
// expect fewer than 10 are put together.
func chiSquare(t *testing.T, what string, counts []int, want []float64) {
	t.Helper()
	total, weight := 0, 0.0
	for i := range counts {
		total += counts[i]
		weight += want[i]
	}
	sum, cells := 0.0, 0
	have, expect := 0.0, 0.0
	for i := range counts {
		have += float64(counts[i])
		expect += want[i] / weight * float64(total)
		if expect >= 10 {
			sum += (have - expect) * (have - expect) / expect
			cells++
			have, expect = 0, 0
		}
	}
	free := float64(cells - 1)
	if free < 1 {
		return
	}
	// Wilson and Hilferty: the cube root is nearly normal.
	z := (math.Cbrt(sum/free) - (1 - 2/(9*free))) / math.Sqrt(2/(9*free))
	if z > 5 {
		t.Errorf("%s: chi-square %.0f with %d cells: %.1f standard deviations too many", what, sum, cells, z)
	}
}

// count draws and counts by index above low; it fails when one is outside of n cells.
func count(t *testing.T, what string, draws, n int, low uint64, next func() uint64) []int {
	t.Helper()
	counts := make([]int, n)
	for range draws {
		i := next() - low
		if i >= uint64(n) {
			t.Fatalf("%s: drew %d, outside %d to %d", what, i+low, low, low+uint64(n)-1)
		}
		counts[i]++
	}
	return counts
}

// made is a seeded generator, or the end of the test.
func made(t testing.TB) func(x Indices, err error) *Indices {
	return func(x Indices, err error) *Indices {
		t.Helper()
		if err != nil {
			t.Fatal(err)
		}
		x.Seed(1, Stream(0, Reads))
		return &x
	}
}

func flat(n int) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = 1
	}
	return w
}

func zipfWeights(n int, first, exponent float64) []float64 {
	w := make([]float64, n)
	for i := range w {
		w[i] = math.Pow(first+float64(i), -exponent)
	}
	return w
}
