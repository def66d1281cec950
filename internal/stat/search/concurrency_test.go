package search

import (
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

// closed is a server behind a network, and a client whose threads can send only so much: with n requests in flight
// throughput x solves x = n / (trip + 1/(capacity-x)), and p99 grows with the wait and with what is sent at once.
type closed struct {
	capacity, thread float64 // requests per second, of the server and of one client thread
	trip, limit      float64 // seconds
	noise            func(*rand.Rand) float64
	rnd              *rand.Rand
}

func (c *closed) exact(l Load) (p99, x float64) {
	n := float64(l.InFlight())
	// trip·x² - (trip·capacity + 1 + n)·x + n·capacity = 0
	b := c.trip*c.capacity + 1 + n
	x = (b - math.Sqrt(b*b-4*c.trip*n*c.capacity)) / (2 * c.trip)
	x = min(x, c.thread*float64(l.Threads))
	return c.trip + math.Log(100)/(c.capacity-x) + float64(l.Pipeline)*2e-6, x
}

func (c *closed) probe(l Load) Outcome {
	p99, x := c.exact(l)
	if c.noise != nil {
		p99 *= c.noise(c.rnd)
	}
	return Outcome{Pass: p99 <= c.limit, Margin: p99 / c.limit, Value: x}
}

// The search comes close to the best of all settings, with and without noise.
func TestConcurrencyNearBest(t *testing.T) {
	most := Load{16, 16, 32}
	for _, noise := range noises {
		worst, probes := 1.0, 0
		for seed := range uint64(40) {
			rnd := rand.New(rand.NewPCG(seed, 3))
			c := &closed{capacity: 1e5 * (1 + 9*rnd.Float64()), thread: 3e4 * (1 + 5*rnd.Float64()), trip: 1e-4 * (1 + rnd.Float64()),
				limit: 1e-3, noise: noise.draw, rnd: rnd}
			best := 0.0
			for threads := 1; threads <= most.Threads; threads++ {
				for clients := 1; clients <= most.Clients; clients++ {
					for pipeline := 1; pipeline <= most.Pipeline; pipeline++ {
						if p99, x := c.exact(Load{threads, clients, pipeline}); p99 <= c.limit {
							best = max(best, x)
						}
					}
				}
			}
			s, err := NewConcurrency(ConcurrencyOptions{Max: most})
			if err != nil {
				t.Fatal(err)
			}
			probes = max(probes, solve(t, s, c.probe))
			r := s.Result()
			if r.Status != Confirmed && r.Status != Unbroken {
				t.Fatalf("%s, seed %d: %v", noise.name, seed, r.Status)
			}
			worst = min(worst, r.Best.Value/best)
		}
		t.Logf("%s: at least %.3f of the best, at most %d probes", noise.name, worst, probes)
		if worst < .9 || probes > 120 {
			t.Errorf("%s: at least %.3f of the best, at most %d probes; want .9, 120", noise.name, worst, probes)
		}
	}
}

// Without noise all that S3's procedure promises holds, whatever the server: the winner passes, is as fast as any that was
// seen to pass, no setting out of bounds is probed, and none twice but to confirm.
func TestConcurrencyHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		dim := rapid.IntRange(1, 64)
		o := ConcurrencyOptions{Max: Load{dim.Draw(t, "threads"), dim.Draw(t, "clients"), dim.Draw(t, "pipeline")}}
		o.Best, o.Once = rapid.Bool().Draw(t, "best"), rapid.Bool().Draw(t, "once")
		o.Order = rapid.Permutation([]Dimension{Threads, Clients, Pipeline}).Draw(t, "order")
		a, b, c := rapid.Float64Range(0, 3).Draw(t, "a"), rapid.Float64Range(0, 3).Draw(t, "b"), rapid.Float64Range(0, 3).Draw(t, "c")
		load := func(l Load) float64 {
			return math.Pow(float64(l.Threads), a) * math.Pow(float64(l.Clients), b) * math.Pow(float64(l.Pipeline), c)
		}
		edge := rapid.Float64Range(.5, 1e4).Draw(t, "edge")
		s, err := NewConcurrency(o)
		if err != nil {
			t.Fatal(err)
		}
		solve(t, s, func(l Load) Outcome {
			for _, d := range o.Order {
				if d.of(l) < 1 || d.of(l) > d.of(o.Max) {
					t.Fatalf("%v is out of bounds", l)
				}
			}
			return Outcome{Pass: load(l) <= edge, Value: float64(l.InFlight())}
		})
		r := s.Result()
		if edge < 1 {
			if r.Status != Nothing || r.Best != nil {
				t.Fatalf("%+v", r)
			}
			return
		}
		if load(r.Best.Point) > edge || r.Best.Passes < 4 {
			t.Fatalf("%+v", r.Best)
		}
		for _, step := range s.Steps() {
			if step.Outcome.Pass && step.Outcome.Value > r.Best.Value {
				t.Fatalf("%v passed with more than %v", step.Point, r.Best.Point)
			}
		}
		for _, b := range r.Beyond {
			if b.Passes > 0 {
				t.Fatalf("%v passes beyond the best, %v", b, r.Best)
			}
		}
		for i, f := range r.Frontier {
			if i > 0 && (f.Value <= r.Frontier[i-1].Value || f.Point.InFlight() < r.Frontier[i-1].Point.InFlight()) {
				t.Fatalf("frontier %+v", r.Frontier)
			}
		}
		if o.Once && !o.Best { // the last dimension ends where one more breaks, or at its bound
			last := o.Order[2]
			if at := last.of(r.Best.Point); at < last.of(o.Max) && load(last.with(r.Best.Point, at+1)) <= edge {
				t.Fatalf("%v could have more %v", r.Best.Point, last)
			}
		}
	})
}

func TestConcurrencyPath(t *testing.T) {
	s, _ := NewConcurrency(ConcurrencyOptions{Max: Load{8, 4, 64}, Once: true})
	solve(t, s, func(l Load) Outcome {
		return Outcome{Pass: l.InFlight() <= 50, Margin: float64(l.InFlight()) / 50, Value: float64(l.InFlight())}
	})
	r := s.Result()
	if r.Status != Confirmed || r.Best.Point != (Load{8, 4, 1}) || len(r.Beyond) != 0 && r.Beyond[0].Passes > 0 {
		t.Errorf("%+v", r)
	}
	if got := s.Steps()[1]; got.Point != (Load{2, 1, 1}) || got.Reason != "twice the threads, up from 1" {
		t.Errorf("%+v", got)
	}
	for _, o := range []ConcurrencyOptions{{}, {Max: Load{1, 1, 0}}, {Max: Load{1, 1, 1}, Start: Load{Threads: 2}},
		{Max: Load{1, 1, 1}, Order: []Dimension{Clients, Clients}}, {Max: Load{1, 1, 1}, Order: []Dimension{7}}} {
		if _, err := NewConcurrency(o); err == nil {
			t.Errorf("%+v is taken", o)
		}
	}
}

func TestInstances(t *testing.T) {
	for edge := range 12 {
		s, err := NewInstances(InstancesOptions{Max: 10})
		if err != nil {
			t.Fatal(err)
		}
		n := 0
		probes := solve(t, s, func(k int) (o Outcome) {
			o.Pass = true
			for i := range k { // the last of too many breaks; the second probe of all has a hiccup
				n := Part{Pass: k <= edge || i < k-1, Value: 1e5}
				o.Parts, o.Value = append(o.Parts, n), o.Value+n.Value
			}
			if n++; n == 2 {
				o.Parts[0].Pass = false
			}
			return o
		})
		r := s.Result()
		switch {
		case edge == 0:
			if r.Status != Nothing || r.Best != nil || r.Above.Point != 1 {
				t.Errorf("%+v", r)
			}
		case edge >= 10:
			if r.Status != Unbroken || r.Best.Point != 10 || r.Above != nil {
				t.Errorf("%d: %+v", edge, r)
			}
		default:
			if r.Status != Confirmed || r.Best.Point != edge || r.Best.Value != float64(edge)*1e5 || r.Above.Point != edge+1 {
				t.Errorf("%d: %+v after %d", edge, r, probes)
			}
		}
	}
	if _, err := NewInstances(InstancesOptions{}); err == nil {
		t.Error("none is taken as most")
	}
}

// A number that does not pass its confirmation is given up for the one below.
func TestInstancesConfirm(t *testing.T) {
	s, _ := NewInstances(InstancesOptions{Max: 10})
	seen := map[int]int{}
	solve(t, s, func(k int) Outcome {
		seen[k]++
		return Outcome{Pass: k < 4 || k == 4 && seen[k] < 3}
	})
	if r := s.Result(); r.Status != Confirmed || r.Best.Point != 3 || r.Above.Point != 4 {
		t.Errorf("%+v %+v", r, r.Best)
	}
}
