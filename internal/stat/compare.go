package stat

import (
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"golang.org/x/perf/benchmath"
	"gonum.org/v1/gonum/stat/combin"
	"gonum.org/v1/gonum/stat/distuv"
)

// Verdict is what a comparison says about B, seen from A.
type Verdict int

// The verdicts.
const (
	TooFew       Verdict = iota // even samples without any overlap would not reach alpha
	NoDifference                // none was seen, which the interval of the ratio puts into numbers
	Faster                      // B is better
	Slower                      // B is worse
)

var verdicts = []string{"too few runs to tell", "no difference", "faster", "slower"}

func (v Verdict) String() string {
	if v < 0 || int(v) >= len(verdicts) {
		return fmt.Sprintf("verdict %d", int(v))
	}
	return verdicts[v]
}

// MarshalText is the verdict in words.
func (v Verdict) MarshalText() ([]byte, error) { return []byte(v.String()), nil }

// UnmarshalText reads what MarshalText wrote.
func (v *Verdict) UnmarshalText(text []byte) error {
	i := slices.Index(verdicts, string(text))
	if i < 0 {
		return fmt.Errorf("stat: unknown verdict %q", text)
	}
	*v = Verdict(i)
	return nil
}

// Options of a comparison. The zero value is the usual one.
type Options struct {
	// Alpha is the chance that a difference is reported where there is none; 0 means 0.05. Intervals have 1 - Alpha.
	Alpha float64

	// LowerIsBetter is for times and costs. Otherwise values are rates.
	LowerIsBetter bool

	// Paired says that a[i] and b[i] were measured one after the other (see Schedule), so that what changed slowly
	// on the machine changed both.
	Paired bool

	// Normal says that the logarithms of the ratios of pairs can be taken as normal. Then two pairs have an interval and
	// three may show a difference, where without that assumption six are needed. Only with Paired.
	Normal bool

	// Resamples of the bootstrap, 0 means 10000, and their seed. Only without Paired.
	Resamples int
	Seed      uint64
}

// Comparison of two samples.
type Comparison struct {
	A Summary `json:"a"`
	B Summary `json:"b"`

	// Ratio is B / A: of the medians or, with pairs, the typical ratio within one. Delta is Ratio - 1.
	Ratio float64 `json:"ratio"`
	Delta float64 `json:"delta"`

	// Interval is that of Ratio. Absent if there are too few runs for one.
	Interval *Interval `json:"interval,omitempty"`

	P      float64 `json:"p"` // chance of what was seen, or more, if there is no difference
	Alpha  float64 `json:"alpha"`
	Method string  `json:"method"` // how P and Interval were computed

	Verdict  Verdict  `json:"verdict"`
	Warnings []string `json:"warnings,omitempty"`
}

// Compare b with a. All values must be above 0, as ratios are formed.
//
// Without pairs P is that of the Mann-Whitney test and the interval that of the ratio of medians, by a bootstrap
// (percentiles of resampled ratios; Efron and Tibshirani, An Introduction to the Bootstrap, 13). With pairs both come from
// the logarithms of b[i] / a[i]: Wilcoxon's signed ranks, exact up to 50 pairs, with the estimate and interval of Hodges and
// Lehmann; with Normal, Student's t. A difference is reported only if P is below alpha and the interval leaves out 1.
func Compare(a, b []float64, o Options) (Comparison, error) {
	if o.Alpha == 0 {
		o.Alpha = 0.05
	}
	if o.Resamples == 0 {
		o.Resamples = 10000
	}
	if !(o.Alpha > 0 && o.Alpha < 1) {
		return Comparison{}, fmt.Errorf("stat: alpha %v: must lie between 0 and 1", o.Alpha)
	}
	if o.Resamples < 100 {
		return Comparison{}, fmt.Errorf("stat: %d resamples: at least 100 are needed for an interval", o.Resamples)
	}
	if o.Normal && !o.Paired {
		return Comparison{}, errors.New("stat: only pairs can be taken as normal")
	}
	if o.Paired && len(a) != len(b) {
		return Comparison{}, fmt.Errorf("stat: %d runs of one and %d of the other are no pairs", len(a), len(b))
	}
	for _, s := range [][]float64{a, b} {
		for i, v := range s {
			if v <= 0 {
				return Comparison{}, fmt.Errorf("stat: value %d is %v: ratios need values above 0", i, v)
			}
		}
	}
	c := Comparison{Alpha: o.Alpha}
	var err error
	if c.A, err = Summarize(a, 1-o.Alpha); err != nil {
		return Comparison{}, err
	}
	if c.B, err = Summarize(b, 1-o.Alpha); err != nil {
		return Comparison{}, err
	}
	var enough bool
	if o.Paired {
		enough = c.pairs(a, b, o)
	} else {
		enough = c.apart(a, b, o)
	}
	c.Delta = c.Ratio - 1
	c.Verdict = c.judge(enough, o.LowerIsBetter)
	return c, nil
}

func (c *Comparison) judge(enough, lowerIsBetter bool) Verdict {
	if !enough {
		return TooFew
	}
	differs, excludes := c.P < c.Alpha, !c.Interval.Contains(1)
	if differs != excludes {
		c.warn("test and interval disagree: more runs would tell")
	}
	switch {
	case !differs || !excludes:
		return NoDifference
	case c.Ratio > 1 != lowerIsBetter:
		return Faster
	}
	return Slower
}

// apart compares samples that were measured independently of each other.
func (c *Comparison) apart(a, b []float64, o Options) (enough bool) {
	th := &benchmath.Thresholds{CompareAlpha: o.Alpha}
	test := benchmath.AssumeNothing.Compare(benchmath.NewSample(slices.Clone(a), th), benchmath.NewSample(slices.Clone(b), th))
	c.P = test.P
	c.Method = fmt.Sprintf("Mann-Whitney; bootstrap of the ratio of medians, %d resamples, seed %d", o.Resamples, o.Seed)
	c.Ratio = c.B.Median / c.A.Median
	for _, w := range test.Warnings {
		c.Warnings = append(c.Warnings, w.Error())
	}
	if len(a) > 1 && len(b) > 1 {
		c.Interval = bootstrap(a, b, o)
	}
	// 2 / C(n+m, n) is the P of samples that do not overlap.
	if 2*math.Exp(-combin.LogGeneralizedBinomial(float64(len(a)+len(b)), float64(len(a)))) >= o.Alpha {
		if len(test.Warnings) == 0 {
			c.warn("%d and %d runs cannot show a difference at alpha %v, whatever they measure", len(a), len(b), o.Alpha)
		}
		return false
	}
	return c.Interval != nil
}

func (c *Comparison) warn(format string, args ...any) {
	c.Warnings = append(c.Warnings, fmt.Sprintf(format, args...))
}

func bootstrap(a, b []float64, o Options) *Interval {
	rnd := rand.New(rand.NewPCG(o.Seed, 0x676f64776974))
	ra, rb := make([]float64, len(a)), make([]float64, len(b))
	draw := func(to, from []float64) float64 {
		for i := range to {
			to[i] = from[rnd.IntN(len(from))]
		}
		slices.Sort(to)
		return medianSorted(to)
	}
	ratios := make([]float64, o.Resamples)
	for i := range ratios {
		ratios[i] = draw(rb, b) / draw(ra, a)
	}
	slices.Sort(ratios)
	tail := int(o.Alpha / 2 * float64(o.Resamples))
	return &Interval{ratios[tail], ratios[o.Resamples-1-tail], 1 - o.Alpha}
}

// pairs compares by the ratios within pairs.
func (c *Comparison) pairs(a, b []float64, o Options) (enough bool) {
	logs := make([]float64, len(a))
	for i := range a {
		logs[i] = math.Log(b[i] / a[i])
	}
	if o.Normal {
		return c.student(logs)
	}
	return c.ranks(logs)
}

// student takes the logarithms as normal.
func (c *Comparison) student(logs []float64) bool {
	c.Method = "Student's t on the logarithms of the ratios of pairs"
	n := float64(len(logs))
	var mean, dev float64
	for _, x := range logs {
		mean += x / n
	}
	for _, x := range logs {
		dev += (x - mean) * (x - mean)
	}
	c.Ratio, c.P = math.Exp(mean), 1
	if n < 2 {
		c.warn("one pair has no interval")
		return false
	}
	se := math.Sqrt(dev / (n - 1) / n)
	t := distuv.StudentsT{Mu: 0, Sigma: 1, Nu: n - 1}
	half := t.Quantile(1-c.Alpha/2) * se
	c.Interval = &Interval{math.Exp(mean - half), math.Exp(mean + half), 1 - c.Alpha}
	switch {
	case se > 0:
		c.P = 2 * t.Survival(math.Abs(mean)/se)
	case mean != 0:
		c.P = 0
	}
	if n < 3 {
		c.warn("two pairs say little about how they vary: at least 3 are needed")
		return false
	}
	return true
}

// ranks assumes only that without a difference a ratio and its inverse are equally likely.
func (c *Comparison) ranks(logs []float64) bool {
	c.Method = "Wilcoxon's signed ranks and the interval of Hodges and Lehmann on the logarithms of the ratios of pairs"
	n := len(logs)
	var walsh []float64 // means of all pairs of logarithms, each with itself too
	for i, x := range logs {
		for _, y := range logs[i:] {
			walsh = append(walsh, (x+y)/2)
		}
	}
	slices.Sort(walsh)
	c.Ratio = math.Exp(medianSorted(walsh))
	// The number of Walsh averages above 0 is the sum of the ranks of the positive logarithms.
	w, ties := 0.0, false
	for _, x := range walsh {
		switch {
		case x > 0:
			w++
		case x == 0:
			w, ties = w+0.5, true
		}
	}
	dist := signedRanks(n)
	c.P = dist.p(w)
	if ties {
		c.warn("some pairs cancel out: P is approximate")
	}
	k := dist.quantile(c.Alpha / 2)
	if k < 1 {
		need := 1
		for math.Pow(2, 1-float64(need)) >= c.Alpha {
			need++
		}
		c.warn("need >= %d pairs to detect a difference at alpha level %v", need, c.Alpha)
		return false
	}
	c.Interval = &Interval{math.Exp(walsh[k-1]), math.Exp(walsh[len(walsh)-k]), 1 - 2*dist.below(k-1)}
	return true
}

// rankDist is the distribution of the sum of the positive ranks among n.
type rankDist struct {
	n   int
	cum []float64 // cum[w] is the chance of w or less; nil for large n, which is taken as normal
}

const exactRanks = 50

func signedRanks(n int) rankDist {
	if n > exactRanks {
		return rankDist{n: n}
	}
	total := n * (n + 1) / 2
	chance := make([]float64, total+1)
	chance[0] = 1
	for rank := 1; rank <= n; rank++ {
		for w := total; w >= 0; w-- {
			chance[w] /= 2
			if w >= rank {
				chance[w] += chance[w-rank] / 2
			}
		}
	}
	for w := 1; w <= total; w++ {
		chance[w] += chance[w-1]
	}
	return rankDist{n, chance}
}

func (d rankDist) normal() distuv.Normal {
	n := float64(d.n)
	return distuv.Normal{Mu: n * (n + 1) / 4, Sigma: math.Sqrt(n * (n + 1) * (2*n + 1) / 24)}
}

// below is the chance of a sum of w or less.
func (d rankDist) below(w int) float64 {
	if d.cum == nil {
		return d.normal().CDF(float64(w) + 0.5)
	}
	if w < 0 {
		return 0
	}
	return d.cum[min(w, len(d.cum)-1)]
}

// p of the sum w, two-sided.
func (d rankDist) p(w float64) float64 {
	total := float64(d.n*(d.n+1)) / 2
	return min(1, 2*d.below(int(math.Floor(min(w, total-w)))))
}

// quantile is the largest k such that a sum below k has a chance of at most tail.
func (d rankDist) quantile(tail float64) int {
	k := 0
	for k < d.n*(d.n+1)/4 && d.below(k) <= tail {
		k++
	}
	return k
}
