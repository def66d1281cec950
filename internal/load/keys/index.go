package keys

import (
	"fmt"
	"math"
)

// law says how Indices draws.
type law uint8

const (
	uniform law = iota
	gauss
	sequential
	shared
	zipfian
	scrambled
	scrambledYCSB
	latest
	hotspot
	exponential
)

// Indices draws indices of keys from min to max, both included. The zero value draws 0 only. A copy draws on its own from
// where the original was. One client uses it.
type Indices struct {
	law  law
	rand Rand
	min  uint64
	span uint64 // max - min

	next uint64 // sequential: the index that comes next

	mean, dev float64 // gauss: in indices above min
	spare     float64 // gauss: the second normal of a pair
	spared    bool

	hot    uint64  // hotspot: number of hot indices, from min on
	hotOps float64 // hotspot: fraction of draws that are hot
	gamma  float64 // exponential: 1/mean distance
	known  uint64  // latest, exponential: number of records that the state below is made for
	reach  float64 // exponential: 1 - e^(-gamma * known)

	zipf zipf    // zipfian, scrambled, latest
	gray gray    // scrambledYCSB
	perm scatter // scrambled

	cursor  *Cursor  // shared
	inserts *Inserts // latest, exponential: what is newest. Others: indices not acknowledged are redrawn, if not nil
}

// Uniform draws all indices from low to high, both included, equally often (memtier R, mc-crusher live_rand, YCSB uniform).
func Uniform(low, high uint64) (Indices, error) { return ranged(uniform, low, high) }

// Gauss draws by a normal law cut to the range (memtier G): the floor of a normal number, drawn again while outside.
// stddev is in indices; 0: a sixth of high-low, as in memtier. median is an index; 0: the middle, low + (high-low)/2 + 1/2,
// as in memtier.
func Gauss(low, high uint64, stddev, median float64) (Indices, error) {
	x, err := ranged(gauss, low, high)
	if err != nil {
		return x, err
	}
	if !(stddev >= 0) || math.IsInf(stddev, 0) {
		return x, fmt.Errorf("keys: gauss stddev %v: must be positive and finite (0 takes a sixth of the range)", stddev)
	}
	if median != 0 && !(median >= float64(low) && median <= float64(high)) {
		return x, fmt.Errorf("keys: gauss median %v: outside the range %d to %d (0 takes the middle)", median, low, high)
	}
	x.dev, x.mean = stddev, median-float64(low)
	if stddev == 0 {
		x.dev = float64(x.span) / 6
	}
	if median == 0 {
		x.mean = float64(x.span)/2 + 0.5
	}
	return x, nil
}

// Sequential walks from start to high and on from low (memtier S, where start is low). Each client has its own cursor.
func Sequential(low, high, start uint64) (Indices, error) {
	x, err := ranged(sequential, low, high)
	if err == nil && (start < low || start > high) {
		err = fmt.Errorf("keys: sequential start %d: outside the range %d to %d (start within it)", start, low, high)
	}
	x.next = start
	return x, err
}

// Shared walks with a cursor that others use, too (mc-crusher's default; YCSB sequential).
func Shared(c *Cursor) (Indices, error) {
	if c == nil {
		return Indices{}, fmt.Errorf("keys: shared cursor: there is none (make one with NewCursor)")
	}
	return Indices{law: shared, min: c.min, span: c.span, cursor: c}, nil
}

// Zipf draws index low+k-1 with a probability in proportion to k^-exponent, k = 1, 2, ...: the lowest index is the
// hottest. exponent lies between 0 and 5, both excluded.
func Zipf(low, high uint64, exponent float64) (Indices, error) {
	x, err := ranged(zipfian, low, high)
	if err == nil {
		x.zipf, err = newZipf(exponent, 1, x.span)
	}
	return x, err
}

// MemtierZipf draws index k with a probability in proportion to k^-exponent, k = max(low, 1) ... high (memtier Z): a range
// that begins high up is nearly flat, and index 0 is never drawn.
func MemtierZipf(low, high uint64, exponent float64) (Indices, error) {
	x, err := ranged(zipfian, max(low, 1), high)
	if high == 0 {
		err = fmt.Errorf("keys: zipf maximum 0: memtier's law has no index 0 (at least 1)")
	}
	if err != nil {
		return x, err
	}
	x.zipf, err = newZipf(exponent, float64(x.min), x.span)
	if exponent*float64(x.span) < 1e-6*float64(x.min) {
		x.law = uniform // to six digits, and float64 would round away what tells the indices apart
	}
	return x, err
}

// Scrambled draws by an exact zipf law with the hot indices strewn over the range. Each rank has an index of its own, so
// that the law of the keys is the law of the ranks; which rank goes where depends on the range alone and is the same for
// all clients and seeds. This is what users of YCSB's scrambled zipfian expect of it (YCSB issues 1305, 1495).
func Scrambled(low, high uint64, exponent float64) (Indices, error) {
	x, err := ranged(scrambled, low, high)
	if err == nil {
		x.zipf, err = newZipf(exponent, 1, x.span)
		x.perm = newScatter(x.span)
	}
	return x, err
}

// ScrambledYCSB draws as YCSB's ScrambledZipfianGenerator does: a rank below 10^10+1 by Gray's formula, then
// low + FNV(rank) mod (high-low+1). Ranks collide, so that it is flatter than Zipf over the range. constant is 0.99 in YCSB;
// here it may be any number between 0 and 1, both excluded. YCSB's high is
// insertstart + insertcount + trunc(2 * operationcount * insertproportion): one more than it has keys. See Within.
func ScrambledYCSB(low, high uint64, constant float64) (Indices, error) {
	x, err := ranged(scrambledYCSB, low, high)
	if err == nil {
		x.gray, err = newGrayYCSB(constant)
	}
	return x, err
}

// Latest draws the newest acknowledged index of ins minus a zipf rank, but none below low (YCSB latest; there the constant
// is 0.99, the formula Gray's, and index 0 never drawn). exponent as for Zipf. While nothing is acknowledged it gives low.
func Latest(low uint64, ins *Inserts, exponent float64) (Indices, error) {
	x := Indices{law: latest, min: low, span: math.MaxUint64 - low, inserts: ins}
	if ins == nil {
		return x, fmt.Errorf("keys: latest inserts: there are none (make them with NewInserts)")
	}
	var err error
	x.known = 1
	x.zipf, err = newZipf(exponent, 1, 0)
	return x, err
}

// Hotspot gives the fraction ops of the draws to the lowest fraction data of the range, the rest to the rest, uniformly in
// each (YCSB hotspot: data 0.2, ops 0.8). A data fraction above 0 has at least one index. While one of the parts is empty
// all draws go to the other.
func Hotspot(low, high uint64, data, ops float64) (Indices, error) {
	x, err := ranged(hotspot, low, high)
	if err != nil {
		return x, err
	}
	if !(data >= 0 && data <= 1) {
		return x, fmt.Errorf("keys: hotspot data fraction %v: not a fraction (0 to 1, such as 0.2)", data)
	}
	if !(ops >= 0 && ops <= 1) {
		return x, fmt.Errorf("keys: hotspot operation fraction %v: not a fraction (0 to 1, such as 0.8)", ops)
	}
	x.hotOps = ops
	switch {
	case data == 0:
		x.hotOps = 0
	case data == 1:
		x.law = uniform
	default:
		x.hot = max(uint64(data*(float64(x.span)+1)), 1)
		if x.hot > x.span {
			x.law = uniform
		}
	}
	return x, nil
}

// Exponential draws the newest acknowledged index of ins minus an exponentially distributed distance, cut at low (YCSB
// exponential, which draws again below 0). percentile percent of the distances are below fraction * records: in YCSB 95,
// 0.8571428571 and recordcount. While nothing is acknowledged it gives low.
func Exponential(low uint64, ins *Inserts, records uint64, percentile, fraction float64) (Indices, error) {
	x := Indices{law: exponential, min: low, span: math.MaxUint64 - low, inserts: ins}
	switch {
	case ins == nil:
		return x, fmt.Errorf("keys: exponential inserts: there are none (make them with NewInserts)")
	case records == 0:
		return x, fmt.Errorf("keys: exponential records 0: there is nothing to draw from (at least 1)")
	case !(percentile > 0 && percentile < 100):
		return x, fmt.Errorf("keys: exponential percentile %v: not between 0 and 100, both excluded (such as 95)", percentile)
	case !(fraction > 0) || math.IsInf(fraction, 0):
		return x, fmt.Errorf("keys: exponential fraction %v: must be positive and finite (such as 0.8571428571)", fraction)
	}
	x.gamma = -math.Log1p(-percentile/100) / (float64(records) * fraction)
	if x.gamma == 0 || math.IsInf(x.gamma, 0) {
		return x, fmt.Errorf("keys: exponential fraction %v: too extreme for percentile %v of %d records (such as 0.8571428571)",
			fraction, percentile, records)
	}
	return x, nil
}

// Within makes x draw again while the index is not yet acknowledged, as YCSB does for keys that are still to be inserted.
// It does nothing to walks, Latest and Exponential. After 64 draws in vain it takes one of the acknowledged indices of the
// range at random, and the lowest if there is none.
func (x *Indices) Within(ins *Inserts) {
	if x.law != latest && x.law != exponential {
		x.inserts = ins
	}
}

// Seed starts the sequence of (seed, stream). A walk goes on where it was: see Sequential for its start.
func (x *Indices) Seed(seed, stream uint64) {
	x.rand.Seed(seed, stream)
	x.spared = false
}

// Min is the lowest index that can be drawn.
func (x *Indices) Min() uint64 { return x.min }

// Max is the highest index that can be drawn; for Latest and Exponential the highest there can ever be.
func (x *Indices) Max() uint64 { return x.min + x.span }

// Next draws an index.
func (x *Indices) Next() uint64 {
	switch x.law {
	case uniform:
		if x.inserts == nil && x.span < math.MaxUint64 {
			return x.min + x.rand.Below(x.span+1)
		}
	case sequential:
		v := x.next
		if x.next++; v == x.min+x.span {
			x.next = x.min
		}
		return v
	case shared:
		return x.cursor.Next()
	case latest:
		return x.latest()
	case exponential:
		return x.exponential()
	}
	if x.inserts == nil {
		return x.draw()
	}
	newer := x.inserts.Acked()
	for range 64 {
		if v := x.draw(); v < newer {
			return v
		}
	}
	if newer <= x.min {
		return x.min
	}
	return x.min + x.among(min(newer-x.min-1, x.span))
}

// draw is Next of the laws whose range does not move.
func (x *Indices) draw() uint64 {
	switch x.law {
	case gauss:
		return x.min + x.gauss()
	case zipfian:
		return x.min + x.zipf.draw(&x.rand)
	case scrambled:
		return x.min + x.perm.place(x.zipf.draw(&x.rand))
	case scrambledYCSB:
		h := FNV(x.gray.draw(&x.rand))
		if x.span < math.MaxUint64 {
			h %= x.span + 1
		}
		return x.min + h
	case hotspot:
		if x.rand.Float64() < x.hotOps {
			return x.min + x.rand.Below(x.hot)
		}
		return x.min + x.hot + x.among(x.span-x.hot)
	}
	return x.min + x.among(x.span)
}

// among gives a number from 0 to last.
func (x *Indices) among(last uint64) uint64 {
	if last == math.MaxUint64 {
		return x.rand.Uint64()
	}
	return x.rand.Below(last + 1)
}

func (x *Indices) gauss() uint64 {
	width := float64(x.span) + 1
	if x.span == 0 {
		return 0
	}
	for {
		var v float64
		if x.dev < width {
			v = x.dev*x.normal() + x.mean
		} else {
			// A normal number would seldom fall into the range. The law is nearly flat there: take a uniform number and
			// keep it with a probability in proportion to the density, which is more than half.
			v = x.rand.Float64() * width
			if d := (v - x.mean) / x.dev; x.rand.Float64() >= math.Exp(-d*d/2) {
				continue
			}
		}
		if v >= 0 && v < width {
			if i := uint64(v); i <= x.span {
				return i
			}
		}
	}
}

func (x *Indices) normal() float64 {
	if x.spared {
		x.spared = false
		return x.spare
	}
	v, w := x.rand.normals()
	x.spare, x.spared = w, true
	return v
}

func (x *Indices) latest() uint64 {
	end := x.inserts.Acked()
	if end <= x.min {
		return x.min
	}
	if n := end - x.min; n != x.known {
		x.known = n
		x.zipf.resize(n - 1)
	}
	return end - 1 - x.zipf.draw(&x.rand)
}

func (x *Indices) exponential() uint64 {
	end := x.inserts.Acked()
	if end <= x.min {
		return x.min
	}
	n := end - x.min
	if n != x.known {
		x.known = n
		x.reach = -math.Expm1(-x.gamma * float64(n))
	}
	// The inverse of the law cut at n: the same as drawing again, but in one step.
	far := -math.Log1p(-x.rand.Float64()*x.reach) / x.gamma
	if far >= float64(n) {
		return x.min
	}
	return end - 1 - min(uint64(far), n-1)
}

// ranged is the beginning of the constructors.
func ranged(l law, low, high uint64) (Indices, error) {
	if low > high {
		return Indices{}, fmt.Errorf("keys: minimum %d: above the maximum %d (swap them)", low, high)
	}
	return Indices{law: l, min: low, span: high - low}, nil
}
