package keys

import (
	"fmt"
	"math"
)

// zipf draws k = first, first+1, ... last with a probability in proportion to k^-exponent, by rejection-inversion
// (Hörmann and Derflinger 1996): the area under the curve x^-exponent is inverted, and what lies between it and the steps
// of the law is rejected. Set-up takes the same time for any number of ranks; a draw takes less than 1.1 tries on average.
type zipf struct {
	exponent float64
	q, inv   float64 // 1-exponent, and 1/q
	first    float64
	last     uint64  // highest rank, counted from 0
	low      float64 // integral(first+1/2) - weight(first)
	width    float64 // integral(last+1/2) - low
	squeeze  float64 // draws this near below their rank need no test
}

// nearOne is how near to 1 the exponent must be for the integral to be computed in the way that has no pole there.
const nearOne = 1e-3

func newZipf(exponent, first float64, last uint64) (zipf, error) {
	if !(exponent > 0 && exponent < 5) {
		return zipf{}, fmt.Errorf("keys: zipf exponent %v: not between 0 and 5, both excluded (such as 0.99)", exponent)
	}
	z := zipf{exponent: exponent, q: 1 - exponent, inv: 1 / (1 - exponent), first: first}
	z.low = z.integral(first+0.5) - z.weight(first)
	z.squeeze = first + 1 - z.inverse(z.integral(first+1.5)-z.weight(first+1))
	z.resize(last)
	return z, nil
}

// resize sets the highest rank.
func (z *zipf) resize(last uint64) {
	z.last = last
	z.width = z.integral(z.first+float64(last)+0.5) - z.low
}

// draw gives a rank from 0 to last. 0 is the hottest.
func (z *zipf) draw(r *Rand) uint64 {
	for {
		u := z.low + r.Float64()*z.width
		x := z.inverse(u)
		k := math.Floor(x + 0.5)
		if !(k > z.first) { // by rounding, or not a number
			k = z.first
		}
		if k-x <= z.squeeze || u >= z.integral(k+0.5)-z.weight(k) {
			if rank := k - z.first; rank < float64(z.last) {
				return uint64(rank)
			}
			return z.last
		}
	}
}

func (z *zipf) weight(x float64) float64 { return math.Exp(-z.exponent * math.Log(x)) }

// integral is an integral of the weight. Away from exponent 1 it is x^q/q, whose tail loses no digits.
func (z *zipf) integral(x float64) float64 {
	l := math.Log(x)
	if math.Abs(z.q) >= nearOne {
		return math.Exp(z.q*l) * z.inv
	}
	if z.q == 0 {
		return l
	}
	return math.Expm1(z.q*l) / z.q
}

func (z *zipf) inverse(u float64) float64 {
	if math.Abs(z.q) >= nearOne {
		return math.Exp(math.Log(u*z.q) * z.inv)
	}
	if z.q == 0 {
		return math.Exp(u)
	}
	return math.Exp(math.Log1p(u*z.q) / z.q)
}
