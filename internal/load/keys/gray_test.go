package keys

import (
	"math"
	"testing"
)

func TestZeta(t *testing.T) {
	// YCSB added up its constant term by term.
	if got := zeta(ycsbItems, ycsbConstant); math.Abs(got-ycsbZeta) > 1e-9 {
		t.Errorf("zeta of YCSB's items is %.14f, YCSB has %.14f", got, ycsbZeta)
	}
	for _, s := range []float64{0.01, 0.5, 0.99, 0.999} {
		sum := 0.0
		for i := 1; i <= 100_000; i++ {
			sum += math.Pow(float64(i), -s)
			switch i {
			case 1, 2, 999, 1000, 1001, 5000, 100_000:
				if got := zeta(uint64(i), s); math.Abs(got-sum) > 1e-11*sum {
					t.Errorf("zeta(%d, %v) is %v, added up %v", i, s, got, sum)
				}
			}
		}
	}
}

// grayWeights are the probabilities of YCSB's ZipfianGenerator: rank 0 and 1 from the first two terms, rank k from where
// its closed form crosses k.
func grayWeights(items int, constant float64) []float64 {
	z := zeta(uint64(items), constant)
	g, _ := newGray(uint64(items), constant, z)
	at := func(rank int) float64 { // the u at which the closed form reaches rank
		return (math.Pow(float64(rank)/float64(items), 1-constant) - 1 + g.eta) / g.eta
	}
	w := make([]float64, items)
	w[0], w[1] = 1/z, (g.two-1)/z
	begin := g.two / z
	for k := range items {
		end := 1.0
		if k+1 < items {
			end = at(k + 1)
		}
		if end > begin {
			w[k] += end - begin
			begin = end
		}
	}
	return w
}

func TestGray(t *testing.T) {
	var r Rand
	r.Seed(1, 1)
	for _, items := range []int{3, 10, 100, 1000} {
		g, err := newGray(uint64(items), 0.99, zeta(uint64(items), 0.99))
		if err != nil {
			t.Fatal(err)
		}
		got := count(t, "gray", 300_000, items, 0, func() uint64 { return g.draw(&r) })
		chiSquare(t, "gray", got, grayWeights(items, 0.99))
	}
	for _, items := range []int{1, 2} {
		g, _ := newGray(uint64(items), 0.99, zeta(uint64(items), 0.99))
		got := count(t, "gray", 100_000, items, 0, func() uint64 { return g.draw(&r) })
		chiSquare(t, "gray", got, zipfWeights(items, 1, 0.99))
	}
}

// Over 1000 keys YCSB's scrambled zipfian is flatter than a zipf law of them: the hottest has 1/zeta(10^10) of the draws
// and its share of all those that fall there by chance.
func TestScrambledYCSB(t *testing.T) {
	x := made(t)(ScrambledYCSB(0, 999, 0.99))
	const draws = 500_000
	counts := count(t, "scrambled", draws, 1000, 0, x.Next)
	hot := FNV(0) % 1000
	share := float64(counts[hot]) / draws
	if want := 1 / ycsbZeta; share < want || share > want+0.003 {
		t.Errorf("the hottest key has %.4f of the draws, not a little more than %.4f", share, want)
	}
	for i, n := range counts {
		if n > counts[hot] {
			t.Errorf("%d is hotter than %d, where rank 0 goes", i, hot)
		}
		if n < draws/1000/4 {
			t.Errorf("%d has only %d of %d draws", i, n, draws)
		}
	}
}
