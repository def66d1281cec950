package keys

import (
	"fmt"
	"math"
)

// What YCSB's ScrambledZipfianGenerator has built in.
const (
	ycsbItems    = 10_000_000_000
	ycsbZeta     = 26.46902820178302 // zeta(ycsbItems, ycsbConstant)
	ycsbConstant = 0.99
)

// gray draws ranks below items by the closed form of Gray and others, as YCSB's ZipfianGenerator does. The first two ranks
// are exact, the others approximate.
type gray struct {
	items       uint64
	alpha, zeta float64
	eta         float64
	two         float64 // 1 + 2^-constant
}

// newGray is YCSB's ZipfianGenerator(0, items-1, constant, zeta).
func newGray(items uint64, constant, zeta float64) (gray, error) {
	if !(constant > 0 && constant < 1) {
		return gray{}, fmt.Errorf("keys: zipfian constant %v: not between 0 and 1, both excluded, where YCSB's formula holds "+
			"(such as 0.99; or take an exact zipf, which goes up to 5)", constant)
	}
	g := gray{items: items, alpha: 1 / (1 - constant), zeta: zeta, two: 1 + math.Pow(0.5, constant)}
	g.eta = (1 - math.Pow(2/float64(items), 1-constant)) / (1 - g.two/zeta)
	return g, nil
}

// newGrayYCSB is the generator behind YCSB's ScrambledZipfianGenerator, which has one item more than its zeta is made for.
func newGrayYCSB(constant float64) (gray, error) {
	z := ycsbZeta
	if constant != ycsbConstant {
		z = zeta(ycsbItems, constant)
	}
	return newGray(ycsbItems+1, constant, z)
}

func (g *gray) draw(r *Rand) uint64 {
	u := r.Float64()
	switch uz := u * g.zeta; {
	case uz < 1:
		return 0
	case uz < g.two:
		return min(1, g.items-1)
	}
	rank := uint64(float64(g.items) * math.Pow(g.eta*u-g.eta+1, g.alpha))
	return min(rank, g.items-1)
}

// zeta is the sum of i^-s for i from 1 to n, s between 0 and 1, by the Euler-Maclaurin formula: YCSB adds up all terms.
func zeta(n uint64, s float64) float64 {
	const exact = 1000
	sum := 0.0
	for i := min(n, exact); i > 0; i-- { // small terms first
		sum += math.Pow(float64(i), -s)
	}
	if n <= exact {
		return sum
	}
	a, b := float64(exact), float64(n)
	pow := func(x, e float64) float64 { return math.Pow(x, e) }
	sum += (pow(b, 1-s) - pow(a, 1-s)) / (1 - s)
	sum += (pow(b, -s) - pow(a, -s)) / 2
	sum += s / 12 * (pow(a, -s-1) - pow(b, -s-1))
	sum -= s * (s + 1) * (s + 2) / 720 * (pow(a, -s-3) - pow(b, -s-3))
	return sum
}
