package stat

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// laws of noise: factors around 1 by which a run differs from what the machine does on average.
var laws = []struct {
	name string
	draw func(*rand.Rand) float64
}{
	{"normal, 3 %", func(r *rand.Rand) float64 { return 1 + .03*r.NormFloat64() }},
	{"log-normal, 4 %", func(r *rand.Rand) float64 { return math.Exp(.04 * r.NormFloat64()) }},
	{"heavy tail: Student's t of 2 degrees, 2 %", func(r *rand.Rand) float64 {
		t := r.NormFloat64() / math.Sqrt((square(r.NormFloat64())+square(r.NormFloat64()))/2)
		return math.Exp(-.02 * math.Abs(t))
	}},
	{"one run in eight half as fast", func(r *rand.Rand) float64 {
		x := 1 + .02*r.NormFloat64()
		if r.IntN(8) == 0 {
			x /= 2
		}
		return x
	}},
	{"two states, 4 % apart", func(r *rand.Rand) float64 { return 1 + .04*float64(r.IntN(2)) + .01*r.NormFloat64() }},
}

func square(x float64) float64 { return x * x }

// runs measures a machine that does a million operations a second, one that is by factor faster, and in turns: with pairs
// both drift by a fifth during the study.
func runs(order Order, draw func(*rand.Rand) float64, factor float64, rounds int, paired bool, seed uint64) (a, b []float64) {
	rnd := rand.New(rand.NewPCG(seed, 99))
	turns, _ := Schedule(order, 2, rounds, seed)
	values := make([]float64, len(turns))
	for i, turn := range turns {
		values[i] = 1e6 * draw(rnd)
		if turn.Subject == 1 {
			values[i] *= factor
		}
		if paired {
			values[i] *= 1 - .2*float64(i)/float64(len(turns))
		}
	}
	out, _ := Collect(turns, values)
	return out[0], out[1]
}

// Of 20 studies of a machine with itself at most two may find a difference, and of 20 studies of one that is a tenth slower
// at most two may not. At alpha .05 a right method breaks the first rule for one set of seeds in 13, so that these seeds are
// of those which do not; TestFalseAlarms looks at the rate itself.
func TestFindsWhatIsThere(t *testing.T) {
	const rounds, groups, want = 20, 20, 18
	for _, law := range laws {
		for _, paired := range []bool{false, true} {
			same, slower := 0, 0
			for seed := range uint64(groups) {
				o := Options{Paired: paired, Resamples: 1000, Seed: seed}
				order := Order(seed % 2)
				a, b := runs(order, law.draw, 1, rounds, paired, 3000+seed)
				c, err := Compare(a, b, o)
				if err != nil {
					t.Fatal(err)
				}
				if c.Verdict == NoDifference {
					same++
				}
				a, b = runs(order, law.draw, .9, rounds, paired, 1000+seed)
				if c, err = Compare(a, b, o); err != nil {
					t.Fatal(err)
				}
				if c.Verdict == Slower {
					slower++
				}
			}
			t.Logf("%s, paired %v: %d same, %d slower", law.name, paired, same, slower)
			if same < want || slower < want {
				t.Errorf("%s, paired %v: %d of %d A/A are without difference, %d of %d slow-downs are found; want %d",
					law.name, paired, same, groups, slower, groups, want)
			}
		}
	}
}

// Differences are seen where there are none about as often as alpha says, or less.
func TestFalseAlarms(t *testing.T) {
	if testing.Short() {
		t.Skip("20000 studies")
	}
	const studies = 2000
	for _, law := range laws {
		for _, paired := range []bool{false, true} {
			seen := 0
			for seed := range uint64(studies) {
				a, b := runs(Order(seed%2), law.draw, 1, 20, paired, 10000+seed)
				c, err := Compare(a, b, Options{Paired: paired, Resamples: 100, Seed: seed})
				if err != nil {
					t.Fatal(err)
				}
				if c.Verdict != NoDifference {
					seen++
				}
			}
			if share := float64(seen) / studies; share > .06 { // two deviations above .05
				t.Errorf("%s, paired %v: %v of the studies see a difference", law.name, paired, share)
			}
		}
	}
}

// The interval covers the true ratio about as often as it says.
func TestCoverage(t *testing.T) {
	for _, paired := range []bool{false, true} {
		const studies = 400
		covered := 0
		for seed := range uint64(studies) {
			a, b := runs(ABBA, laws[1].draw, 1.25, 16, paired, 5000+seed)
			c, err := Compare(a, b, Options{Paired: paired, Resamples: 500, Seed: seed})
			if err != nil {
				t.Fatal(err)
			}
			if c.Interval.Contains(1.25) {
				covered++
			}
		}
		if share := float64(covered) / studies; share < .92 {
			t.Errorf("paired %v: %v of the intervals hold the true ratio, want .95", paired, share)
		}
	}
}

func TestTooFew(t *testing.T) {
	for _, c := range []struct {
		n    int
		o    Options
		want Verdict
	}{
		{1, Options{}, TooFew}, {3, Options{}, TooFew}, {4, Options{}, Faster}, {4, Options{Alpha: .01}, TooFew},
		{1, Options{Paired: true}, TooFew}, {5, Options{Paired: true}, TooFew}, {6, Options{Paired: true}, Faster},
		{1, Options{Paired: true, Normal: true}, TooFew}, {2, Options{Paired: true, Normal: true}, TooFew},
		{3, Options{Paired: true, Normal: true}, Faster},
		{6, Options{Paired: true, LowerIsBetter: true}, Slower}, {4, Options{LowerIsBetter: true}, Slower},
	} {
		a, b := make([]float64, c.n), make([]float64, c.n)
		for i := range a {
			a[i], b[i] = 100+float64(i), 174+float64(i)
		}
		got, err := Compare(a, b, c.o)
		if err != nil || got.Verdict != c.want {
			t.Errorf("%d runs, %+v: %v, %v, want %v", c.n, c.o, got.Verdict, err, c.want)
		}
		if (got.Verdict == TooFew) != (len(got.Warnings) > 0) {
			t.Errorf("%d runs, %+v: %v warns %q", c.n, c.o, got.Verdict, got.Warnings)
		}
	}
}

// Tables of Wilcoxon's signed-rank test: critical values for two sides and 5 %.
func TestSignedRanks(t *testing.T) {
	for n, want := range map[int]int{6: 0, 7: 2, 8: 3, 10: 8, 15: 25, 20: 52, 25: 89} {
		d := signedRanks(n)
		if d.below(want) > .025 || d.below(want+1) <= .025 {
			t.Errorf("n = %d: %v to %d, %v to %d", n, d.below(want), want, d.below(want+1), want+1)
		}
		if k := d.quantile(.025); k != want+1 {
			t.Errorf("n = %d: quantile %d, want %d", n, k, want+1)
		}
	}
	exact, normal := signedRanks(exactRanks), rankDist{n: exactRanks}
	for _, w := range []int{350, 434, 500, 637} {
		near(t, "the normal approximation", normal.below(w), exact.below(w), 2e-3)
	}
	near(t, "a sum in the middle", exact.p(637.5), 1, 1e-9)
}

// A worked example: 5 pairs would be too few, 8 have the 4th lowest mean of two logarithms as their bound.
func TestPairs(t *testing.T) {
	a := []float64{10, 10, 10, 10, 10, 10, 10, 10}
	b := []float64{11, 12, 13, 11, 12, 13, 11, 12}
	c, err := Compare(a, b, Options{Paired: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "P", c.P, 2.0/256, 1e-12)
	near(t, "low end", c.Interval.Lo, 1.1, 1e-9)
	near(t, "level", c.Interval.Level, 1-2*5.0/256, 1e-9)
	if c.Verdict != Faster || c.Ratio < 1.1 || c.Ratio > 1.3 {
		t.Errorf("%+v", c)
	}
	// By hand: logs -.1, 0, .1 and .2 have mean .05, deviation .1291, and t(3) is 3.1824.
	for i, x := range []float64{-.1, 0, .1, .2} {
		a[i], b[i] = 1, math.Exp(x)
	}
	c, err = Compare(a[:4], b[:4], Options{Paired: true, Normal: true})
	if err != nil {
		t.Fatal(err)
	}
	near(t, "Student's low end", math.Log(c.Interval.Lo), .05-3.1824*.1291/2, 1e-4)
	near(t, "Student's high end", math.Log(c.Interval.Hi), .05+3.1824*.1291/2, 1e-4)
	near(t, "Student's P", c.P, .495, 1e-3)
}

// Changing sides turns the ratio round and faster into slower.
func TestSides(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		value := rapid.Float64Range(1, 1000)
		n := rapid.IntRange(1, 60).Draw(t, "n")
		a := rapid.SliceOfN(value, n, n).Draw(t, "a")
		b := rapid.SliceOfN(value, n, n).Draw(t, "b")
		o := Options{Paired: rapid.Bool().Draw(t, "paired"), Resamples: 200}
		o.Normal = o.Paired && rapid.Bool().Draw(t, "normal")
		ab, err1 := Compare(a, b, o)
		o.LowerIsBetter = true
		ba, err2 := Compare(a, b, o)
		if err1 != nil || err2 != nil {
			t.Fatal(err1, err2)
		}
		if ab.Ratio != ba.Ratio || ab.P != ba.P || (ab.Verdict == Faster) != (ba.Verdict == Slower) {
			t.Fatalf("%+v\n%+v", ab, ba)
		}
		if o.Paired { // the bootstrap draws other numbers when sides change
			back, err := Compare(b, a, o)
			if err != nil || math.Abs(back.Ratio*ab.Ratio-1) > 1e-9 || math.Abs(back.P-ab.P) > 1e-9 || back.Verdict != ab.Verdict {
				t.Fatalf("%v: %+v\n%+v", err, ab, back)
			}
		}
		if ab.Interval != nil && o.Paired && !ab.Interval.Contains(ab.Ratio) {
			t.Fatalf("%v is not in %+v", ab.Ratio, ab.Interval)
		}
		text, err := json.Marshal(ab)
		var again Comparison
		if err != nil || json.Unmarshal(text, &again) != nil || again.Verdict != ab.Verdict {
			t.Fatalf("%v: %s", err, text)
		}
	})
}

func TestCompareRefuses(t *testing.T) {
	ok := []float64{1, 2, 3}
	for want, f := range map[string]func() (Comparison, error){
		"above 0":   func() (Comparison, error) { return Compare(ok, []float64{1, 0}, Options{}) },
		"no pairs":  func() (Comparison, error) { return Compare(ok, ok[:2], Options{Paired: true}) },
		"no values": func() (Comparison, error) { return Compare(nil, ok, Options{}) },
		"finite":    func() (Comparison, error) { return Compare(ok, []float64{math.NaN()}, Options{}) },
		"between 0": func() (Comparison, error) { return Compare(ok, ok, Options{Alpha: 5}) },
		"as normal": func() (Comparison, error) { return Compare(ok, ok, Options{Normal: true}) },
		"at least":  func() (Comparison, error) { return Compare(ok, ok, Options{Resamples: 10}) },
		"0 is +Inf": func() (Comparison, error) { return Compare([]float64{math.Inf(1)}, ok, Options{}) },
	} {
		if c, err := f(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want an error with %q: %v, %+v", want, err, c)
		}
	}
	var v Verdict
	if v.UnmarshalText([]byte("better")) == nil {
		t.Error("better is no verdict")
	}
}
