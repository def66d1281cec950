package search

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"reflect"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// queue is a server with one line of waiting requests: p99 = ln 100 / (capacity - rate), as in M/M/1, times noise.
type queue struct {
	capacity float64 // requests per second
	limit    float64 // promised p99, seconds
	noise    func(*rand.Rand) float64
	rnd      *rand.Rand
}

// knee is the rate at which p99 without noise is what was promised.
func (q *queue) knee() float64 { return q.capacity - math.Log(100)/q.limit }

func (q *queue) probe(rate float64) Outcome {
	p99 := 60.0
	if rate < q.capacity {
		p99 = min(60, math.Log(100)/(q.capacity-rate))
	}
	p99 *= q.noise(q.rnd)
	return Outcome{Pass: p99 <= q.limit, Margin: p99 / q.limit, Value: min(rate, q.capacity)}
}

var noises = []struct {
	name        string
	near, cheap int // of 200 searches, within 3 % and with less than 20 probes, at least
	draw        func(*rand.Rand) float64
}{
	{"none", 200, 200, func(*rand.Rand) float64 { return 1 }},
	{"log-normal, 5 %", 194, 180, func(r *rand.Rand) float64 { return math.Exp(.05 * r.NormFloat64()) }},
	{"log-normal, 10 %", 180, 165, func(r *rand.Rand) float64 { return math.Exp(.1 * r.NormFloat64()) }},
	{"one probe in fifteen much worse", 188, 170, func(r *rand.Rand) float64 {
		x := math.Exp(.04 * r.NormFloat64())
		if r.IntN(15) == 0 {
			x *= 2 + 3*r.ExpFloat64()
		}
		return x
	}},
}

func solve[P comparable](t rapid.TB, s interface {
	Next() (P, string, bool)
	Answer(Outcome) error
}, probe func(P) Outcome) (probes int) {
	for {
		p, reason, ok := s.Next()
		if !ok {
			return probes
		}
		if reason == "" {
			t.Fatalf("probe %d, %v, has no reason", probes+1, p)
		}
		if err := s.Answer(probe(p)); err != nil {
			t.Fatal(err)
		}
		if probes++; probes > 1000 {
			t.Fatal("no end")
		}
	}
}

func TestRateFindsKnee(t *testing.T) {
	const searches = 200
	for _, noise := range noises {
		near, cheap, most, total := 0, 0, 0, 0
		for seed := range uint64(searches) {
			rnd := rand.New(rand.NewPCG(seed, 1))
			q := &queue{capacity: math.Exp(math.Log(2e4) + rnd.Float64()*5), limit: 1e-3, noise: noise.draw, rnd: rnd}
			s, err := NewRate(RateOptions{Min: 100, Start: q.knee() * math.Exp(3*rnd.Float64()-2.5), Max: 1e8})
			if err != nil {
				t.Fatal(err)
			}
			probes := solve(t, s, q.probe)
			r := s.Result()
			if r.Status != Confirmed || r.Best == nil || r.Above == nil || r.Below == nil {
				t.Fatalf("%s, seed %d: %+v", noise.name, seed, r)
			}
			if math.Abs(r.Best.Point/q.knee()-1) <= .03 {
				near++
			}
			if probes < 20 {
				cheap++
			}
			most, total = max(most, probes), total+probes
		}
		// Noise of 10 % in p99 moves the knee of the softest of these servers by 3 %.
		if near < noise.near || cheap < noise.cheap || total > 17*searches {
			t.Errorf("%s: %d of %d within 3 %%, %d with less than 20 probes, %.1f on average; want %d, %d, 17", noise.name, near, searches,
				cheap, float64(total)/searches, noise.near, noise.cheap)
		}
		t.Logf("%s: %d of %d within 3 %%, %d with less than 20 probes, %.1f on average, %d at most",
			noise.name, near, searches, cheap, float64(total)/searches, most)
	}
}

// A search knows nothing but its options and the outcomes so far.
func TestResume(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed := rapid.Uint64().Draw(t, "seed")
		q := &queue{capacity: 5e4, limit: 1e-3, noise: noises[3].draw, rnd: rand.New(rand.NewPCG(seed, 2))}
		o := RateOptions{Min: 10, Start: 1000, Max: 1e7}
		s, _ := NewRate(o)
		solve(t, s, q.probe)
		cut := rapid.IntRange(0, len(s.Steps())).Draw(t, "cut")
		text, err := json.Marshal(s.Steps()[:cut])
		if err != nil {
			t.Fatal(err)
		}
		var part []Step[float64]
		if err := json.Unmarshal(text, &part); err != nil {
			t.Fatal(err)
		}
		again, _ := NewRate(o)
		if err := again.Resume(part); err != nil {
			t.Fatal(err)
		}
		for _, step := range s.Steps()[cut:] {
			p, reason, ok := again.Next()
			if !ok || p != step.Point || reason != step.Reason {
				t.Fatalf("step %d is %v, %q, not %v, %q", step.Number, p, reason, step.Point, step.Reason)
			}
			if r := again.Result(); r.Status != Running {
				t.Fatalf("step %d: %v", step.Number, r.Status)
			}
			if again.Answer(step.Outcome) != nil {
				t.Fatal("no answer is wanted")
			}
		}
		if !reflect.DeepEqual(s.Result(), again.Result()) {
			t.Fatalf("%+v\n%+v", s.Result(), again.Result())
		}
		if cut > 0 {
			o.Start = 1234
			other, _ := NewRate(o)
			if other.Resume(part) == nil || len(other.Steps()) != 0 {
				t.Fatal("a path of other options is taken")
			}
		}
	})
}

// Against any server without noise the result is the highest rate that passes, to the resolution.
func TestRateExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		edge := rapid.Float64Range(1, 1e6).Draw(t, "edge")
		o := RateOptions{Min: rapid.Float64Range(1, 1e3).Draw(t, "min"), Max: rapid.Float64Range(1e3, 1e6).Draw(t, "max")}
		o.Start = rapid.Float64Range(o.Min, o.Max).Draw(t, "start")
		o.Growth = rapid.Float64Range(1.2, 10).Draw(t, "growth")
		o.Resolution = rapid.Float64Range(.001, .2).Draw(t, "resolution")
		margins := rapid.Bool().Draw(t, "margins")
		s, err := NewRate(o)
		if err != nil {
			t.Fatal(err)
		}
		solve(t, s, func(rate float64) Outcome {
			if rate < o.Min || rate > o.Max {
				t.Fatalf("%v is out of bounds", rate)
			}
			out := Outcome{Pass: rate <= edge}
			if margins {
				out.Margin = rate / edge
			}
			return out
		})
		r := s.Result()
		switch {
		case edge >= o.Max:
			if r.Status != Unbroken || r.Best.Point != o.Max {
				t.Fatalf("%+v", r)
			}
		case edge < o.Min:
			if r.Status != Nothing || r.Best != nil {
				t.Fatalf("%+v", r)
			}
		default:
			if r.Status != Confirmed || r.Best.Point > edge || r.Above.Point <= edge ||
				r.Above.Point/r.Best.Point-1 > o.Resolution+1e-3 || r.Above.Fails < 2 || r.Best.Passes < 4 {
				t.Fatalf("edge %v: %+v, best %+v, above %+v", edge, r, r.Best, r.Above)
			}
		}
	})
}

// One failure that is none, anywhere on the way, costs probes but not the result.
func TestRateOneHiccup(t *testing.T) {
	for at := 1; at < 12; at++ {
		s, _ := NewRate(RateOptions{Min: 100, Start: 100, Max: 1e6})
		n := 0
		probes := solve(t, s, func(rate float64) Outcome {
			n++
			return Outcome{Pass: rate <= 7000 && n != at, Margin: map[bool]float64{true: .5, false: 3}[rate <= 7000 && n != at]}
		})
		r := s.Result()
		if r.Status != Confirmed || math.Abs(r.Best.Point/7000-1) > .03 || probes > 30 {
			t.Errorf("hiccup in probe %d: %v at %+v after %d probes", at, r.Status, r.Best, probes)
		}
	}
}

// A generator that cannot send more ends the search, and the result says so.
func TestRateInvalid(t *testing.T) {
	s, _ := NewRate(RateOptions{Min: 100, Max: 1e6})
	solve(t, s, func(rate float64) Outcome { return Outcome{Pass: true, Invalid: rate > 5000} })
	r := s.Result()
	if r.Status != Confirmed || !r.ByClient || r.Best.Point > 5000 || r.Best.Point < 4900 {
		t.Errorf("%+v %+v", r, r.Best)
	}
	s, _ = NewRate(RateOptions{Min: 100, Max: 1e6})
	n := 0
	solve(t, s, func(rate float64) Outcome { n++; return Outcome{Pass: rate < 5000, Invalid: n%3 == 0} })
	if r := s.Result(); r.Status != Confirmed || r.ByClient || math.Abs(r.Best.Point/5000-1) > .02 {
		t.Errorf("%+v %+v", r, r.Best)
	}
}

func TestRateSpent(t *testing.T) {
	s, _ := NewRate(RateOptions{Common: Common{Probes: 7}, Min: 100, Max: 1e6})
	if n := solve(t, s, func(rate float64) Outcome { return Outcome{Pass: rate <= 7000} }); n != 7 {
		t.Errorf("%d probes", n)
	}
	if r := s.Result(); r.Status != Spent || r.Best.Point != 6400 || r.Above != nil {
		t.Errorf("%+v", r)
	}
	if s.Answer(Outcome{}) == nil {
		t.Error("an answer without a question is taken")
	}
}

func TestRatePath(t *testing.T) {
	s, _ := NewRate(RateOptions{Min: 1000, Max: 1e6, Resolution: .1})
	solve(t, s, func(rate float64) Outcome { return Outcome{Pass: rate <= 7000} })
	var got []string
	for i, step := range s.Steps() {
		if step.Number != i+1 {
			t.Errorf("step %d has number %d", i+1, step.Number)
		}
		got = append(got, strings.Split(step.Reason, ":")[0])
	}
	want := []string{"start", "upwards", "upwards", "upwards", "between 4000, which passes, and 8000, which breaks",
		"between 5656.9, which passes, and 8000, which breaks", "two probes below it passed",
		"between 6727.2, which passes, and 8000, which breaks", "near the edge",
		"confirmation 1 of 3", "confirmation 2 of 3", "confirmation 3 of 3"}
	if !slices.Equal(got, want) {
		t.Errorf("%q", got)
	}
}

func TestRateRefuses(t *testing.T) {
	for _, o := range []RateOptions{{}, {Min: 1}, {Min: 2, Max: 1}, {Min: 1, Max: math.Inf(1)}, {Min: 1, Start: 3, Max: 2},
		{Min: 1, Max: 2, Growth: 1}, {Min: 1, Max: 2, Resolution: -1}, {Min: 1, Max: 2, Common: Common{Share: 2}},
		{Min: math.NaN(), Max: 2}} {
		if _, err := NewRate(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}
