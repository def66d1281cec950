// Package stat turns repeated measurements into statements: summaries with intervals, comparisons with a verdict, schedules
// that keep drift out of them, and the formulas that studies of servers and machines report. Everything is a pure function
// of its arguments; what is random has a seed. "Too few runs to tell" is a result like any other, never an error.
//
// Medians, their intervals and the Mann-Whitney test are those of golang.org/x/perf/benchmath, which benchstat uses.
// Package search beside it decides which setting to measure next.
package stat

import (
	"fmt"
	"math"
	"slices"

	"golang.org/x/perf/benchmath"
	gonum "gonum.org/v1/gonum/stat"
)

// DefaultConfidence is the level of intervals for which none is given.
const DefaultConfidence = 0.95

// Interval is a confidence interval. Level is what it covers, which is at least what was asked for.
type Interval struct {
	Lo    float64 `json:"lo"`
	Hi    float64 `json:"hi"`
	Level float64 `json:"level"`
}

// Contains tells whether x lies in the interval, its ends included.
func (i Interval) Contains(x float64) bool { return i.Lo <= x && x <= i.Hi }

// Summary describes repeated measurements of one thing, in their own unit.
type Summary struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	Mean   float64 `json:"mean"`
	Min    float64 `json:"min"`
	Max    float64 `json:"max"`

	// CV is the standard deviation (of a sample: n-1) over the mean. Absent below two values or with a mean of 0.
	CV *float64 `json:"cv,omitempty"`

	// Interval is that of the median, by order statistics: nothing is assumed about the distribution. Absent with too few
	// values, which Warnings then says.
	Interval *Interval `json:"interval,omitempty"`

	// Outliers are the places in the measurements of values that stand apart (see Outliers). They are counted in all
	// other fields: a value is thrown away by people who know why, not by a formula.
	Outliers []int `json:"outliers,omitempty"`

	Warnings []string `json:"warnings,omitempty"`
}

// Summarize values, which may be in any order and are not changed. Confidence is that of the interval; 0 means
// DefaultConfidence. Values that are no numbers, or infinite, are an error, as is their absence.
func Summarize(values []float64, confidence float64) (Summary, error) {
	if err := check(values); err != nil {
		return Summary{}, err
	}
	if confidence == 0 {
		confidence = DefaultConfidence
	}
	if !(confidence > 0 && confidence < 1) {
		return Summary{}, fmt.Errorf("stat: confidence %v: must lie between 0 and 1", confidence)
	}
	sample := benchmath.NewSample(slices.Clone(values), &benchmath.DefaultThresholds)
	sum := benchmath.AssumeNothing.Summary(sample, confidence)
	s := Summary{N: len(values), Median: sum.Center, Min: slices.Min(values), Max: slices.Max(values)}
	mean, dev := gonum.MeanStdDev(values, nil)
	s.Mean = mean
	if len(values) > 1 && mean != 0 {
		cv := dev / math.Abs(mean)
		s.CV = &cv
	}
	if !math.IsInf(sum.Lo, 0) && !math.IsInf(sum.Hi, 0) {
		s.Interval = &Interval{sum.Lo, sum.Hi, sum.Confidence}
	}
	for _, w := range sum.Warnings {
		s.Warnings = append(s.Warnings, w.Error())
	}
	if s.Outliers = Outliers(values); len(s.Outliers) > 0 {
		s.Warnings = append(s.Warnings, fmt.Sprintf("%d of %d values stand apart", len(s.Outliers), len(values)))
	}
	return s, nil
}

func check(values []float64) error {
	if len(values) == 0 {
		return fmt.Errorf("stat: no values")
	}
	for i, v := range values {
		if math.IsNaN(v) || math.IsInf(v, 0) {
			return fmt.Errorf("stat: value %d is %v: only finite numbers can be summed up", i, v)
		}
	}
	return nil
}

// apart is the modified z-score beyond which a value is an outlier, and fewest the number of values below which none is.
const (
	apart  = 3.5
	fewest = 5
)

// Outliers are the indexes of the values whose modified z-score, 0.6745 |x - median| / MAD, exceeds 3.5 (Iglewicz and
// Hoaglin, How to Detect and Handle Outliers, 1993). Where more than half of the values are equal, and the MAD so is 0, the
// mean absolute deviation takes its place, as they propose. Fewer than five values have no outliers.
func Outliers(values []float64) (out []int) {
	if len(values) < fewest {
		return nil
	}
	med := Median(values)
	dev := make([]float64, len(values))
	for i, v := range values {
		dev[i] = math.Abs(v - med)
	}
	scale := 1.4826 * Median(dev)
	if scale == 0 {
		scale = 1.2533 * gonum.Mean(dev, nil)
	}
	if scale == 0 {
		return nil
	}
	for i, d := range dev {
		if d/scale > apart {
			out = append(out, i)
		}
	}
	return out
}

// Median of values, which are not changed; of an even number the mean of the two in the middle. NaN if there are none.
func Median(values []float64) float64 {
	s := slices.Clone(values)
	slices.Sort(s)
	return medianSorted(s)
}

func medianSorted(s []float64) float64 {
	n := len(s)
	if n == 0 {
		return math.NaN()
	}
	return s[(n-1)/2] + (s[n/2]-s[(n-1)/2])/2
}
