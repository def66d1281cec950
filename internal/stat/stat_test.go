package stat

import (
	"encoding/json"
	"math"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func near(t *testing.T, what string, got, want, tolerance float64) {
	t.Helper()
	if !(math.Abs(got-want) <= tolerance) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestSummarize(t *testing.T) {
	values := []float64{9, 1, 2, 3, 4, 5, 6, 7, 8, 10}
	s, err := Summarize(values, 0)
	if err != nil {
		t.Fatal(err)
	}
	if values[0] != 9 {
		t.Error("the values were sorted")
	}
	if s.N != 10 || s.Median != 5.5 || s.Mean != 5.5 || s.Min != 1 || s.Max != 10 {
		t.Errorf("%+v", s)
	}
	near(t, "CV", *s.CV, 3.0277/5.5, 1e-4)
	// Of ten values the 2nd and the 9th have the median between them with 97.9 % (binomial table).
	if s.Interval == nil || s.Interval.Lo != 2 || s.Interval.Hi != 9 {
		t.Fatalf("interval %+v", s.Interval)
	}
	near(t, "level", s.Interval.Level, 0.9785, 1e-4)
	if len(s.Warnings)+len(s.Outliers) != 0 {
		t.Errorf("%q %v", s.Warnings, s.Outliers)
	}
}

func TestSummarizeFew(t *testing.T) {
	for n := 1; n < 6; n++ {
		s, err := Summarize(make([]float64, n), 0.95)
		if err != nil || s.Interval != nil || len(s.Warnings) == 0 {
			t.Errorf("%d values: %+v, %v", n, s, err)
		}
		if _, err := json.Marshal(s); err != nil {
			t.Error(err)
		}
	}
	for _, bad := range [][]float64{nil, {1, math.NaN()}, {math.Inf(-1)}} {
		if s, err := Summarize(bad, 0); err == nil {
			t.Errorf("%v: %+v", bad, s)
		}
	}
	if _, err := Summarize([]float64{1}, 95); err == nil {
		t.Error("confidence in percent is taken")
	}
}

func TestOutliers(t *testing.T) {
	for _, c := range []struct {
		values []float64
		want   []int
	}{
		{[]float64{100, 101, 99, 100.5, 60, 99.5}, []int{4}},
		{[]float64{100, 101, 99, 60}, nil},            // too few to say
		{[]float64{5, 5, 5, 5, 5, 5, 5, 6}, []int{7}}, // a MAD of 0
		{[]float64{5, 5, 5, 5, 5}, nil},
		{[]float64{1, 2, 3, 4, 5, 6}, nil},
	} {
		if got := Outliers(c.values); !slices.Equal(got, c.want) {
			t.Errorf("%v: %v, want %v", c.values, got, c.want)
		}
	}
}

func TestSummaryHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		values := rapid.SliceOfN(rapid.Float64Range(-1e9, 1e9), 1, 40).Draw(t, "values")
		s, err := Summarize(values, 0.95)
		if err != nil {
			t.Fatal(err)
		}
		if s.Min > s.Median || s.Median > s.Max || s.Mean < s.Min-1e-3 || s.Mean > s.Max+1e-3 {
			t.Fatalf("%+v", s)
		}
		if s.Interval != nil && (!s.Interval.Contains(s.Median) || s.Interval.Level < 0.95) {
			t.Fatalf("interval %+v of median %v", s.Interval, s.Median)
		}
		if len(s.Outliers) > len(values)/2 {
			t.Fatalf("%d of %d values stand apart", len(s.Outliers), len(values))
		}
	})
}
