package search

import (
	"fmt"
	"maps"
	"math"
	"slices"
)

// RateOptions of a search for the highest rate, in requests per second. Min and Max must be given.
type RateOptions struct {
	Common
	Min, Max float64

	// Start is where it begins; 0 means Min.
	Start float64

	// Growth is the factor between probes until one passes and one breaks; 0 means 2.
	Growth float64

	// Resolution is the relative distance between the result and a rate that breaks, at most; 0 means 0.02.
	Resolution float64
}

// Rate searches the highest rate of an open loop that keeps the promise. It first doubles (or halves) until the edge lies
// between two rates, then halves the ratio of the two. A failure that two passing probes come close to is tried again, since
// one hiccup of a machine must not decide a search; so is the failure that bounds the result. The result then has to pass its
// confirmation; if it does not, the search goes on below it.
type Rate struct {
	Path[float64]
	o      RateOptions
	best   float64 // once it is found
	result RateResult
}

// RateResult is what the outcomes so far show.
type RateResult struct {
	Status Status          `json:"status"`
	Best   *Tally[float64] `json:"best,omitempty"`  // the highest rate that passes
	Below  *Tally[float64] `json:"below,omitempty"` // the next rate below that was probed
	Above  *Tally[float64] `json:"above,omitempty"` // the lowest rate that breaks

	// ByClient tells that Above was never tried in truth: its probes were invalid.
	ByClient bool `json:"by_client,omitempty"`

	// Points are all rates that were probed, upwards.
	Points []Tally[float64] `json:"points,omitempty"`
}

// NewRate begins a search.
func NewRate(o RateOptions) (*Rate, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	defaultTo(&o.Growth, 2)
	defaultTo(&o.Resolution, 0.02)
	defaultTo(&o.Start, o.Min)
	if !(o.Min > 0 && o.Min <= o.Start && o.Start <= o.Max) || math.IsInf(o.Max, 0) {
		return nil, fmt.Errorf("search: rates from %v by way of %v to %v: must rise, above 0", o.Min, o.Start, o.Max)
	}
	if !(o.Growth > 1) || !(o.Resolution >= 1e-4 && o.Resolution < 1) {
		return nil, fmt.Errorf("search: growth %v must be above 1, resolution %v between 0.0001 and 1", o.Growth, o.Resolution)
	}
	s := &Rate{o: o}
	s.probes = o.Probes
	s.plan = s.walk
	return s, nil
}

// Result of the outcomes so far.
func (s *Rate) Result() RateResult {
	s.run()
	return s.result
}

// round to five digits, so that rates can be read.
func round(x float64) float64 {
	unit := math.Pow(10, math.Floor(math.Log10(x))-4)
	if unit < 1 {
		return math.Round(x*(1/unit)) / (1 / unit)
	}
	return math.Round(x/unit) * unit
}

func (s *Rate) walk(w *walk[float64]) {
	j := newJudge(w, s.o.Common)
	s.best = 0
	s.report(j, s.find(j))
}

// bounds are the lowest rate that breaks and the highest below it that passes; 0 if there is none.
func bounds(j *judge[float64]) (lo, hi float64) {
	for r, p := range j.points {
		if p.judged && !p.pass && (hi == 0 || r < hi) {
			hi = r
		}
	}
	for r, p := range j.points {
		if p.pass && r > lo && (hi == 0 || r < hi) {
			lo = r
		}
	}
	return lo, hi
}

func (s *Rate) find(j *judge[float64]) Status {
	o, since, steps := s.o, 0, 0 // since: passes since the bound above was found
	if _, ok := j.settle(o.Start, "start", false); !ok {
		return j.status()
	}
	for {
		lo, hi := bounds(j)
		switch {
		case hi == 0 && lo >= o.Max:
			if pass, ok := j.confirm(lo); !ok {
				return j.status()
			} else if pass {
				s.best = lo
				return Unbroken
			}
		case hi == 0:
			next, reason := min(round(lo*o.Growth), o.Max), "upwards: nothing has broken yet"
			if steps > 0 { // the edge was thought to be here already
				next, reason = min(round(lo*(1+o.Resolution*math.Pow(2, float64(steps)))), o.Max), "upwards: what broke does not break again"
				steps++
			}
			if _, ok := j.settle(next, reason, false); !ok {
				return j.status()
			}
			since = 0
		case lo == 0 && hi <= o.Min:
			if p := j.point(hi); !p.firm {
				if _, ok := j.doubt(hi, "the lowest allowed rate breaks: once more"); !ok {
					return j.status()
				}
				continue
			}
			return Nothing
		case lo == 0:
			if _, ok := j.settle(max(round(hi/o.Growth), o.Min), "downwards: nothing has passed yet", false); !ok {
				return j.status()
			}
		case hi/lo-1 > o.Resolution*1.0001 && round(math.Sqrt(lo*hi)) > lo && round(math.Sqrt(lo*hi)) < hi:
			if since >= 2 && !j.point(hi).firm {
				if pass, ok := j.doubt(hi, "two probes below it passed: the failure once more"); !ok {
					return j.status()
				} else if pass {
					since, steps = 0, max(steps, 2)
				}
				continue
			}
			close := hi/lo < 1+2*o.Resolution
			pass, ok := j.settle(round(math.Sqrt(lo*hi)), fmt.Sprintf("between %v, which passes, and %v, which breaks", lo, hi), close)
			if !ok {
				return j.status()
			}
			if since++; !pass {
				since = 0
			}
		case !j.point(hi).firm:
			if pass, ok := j.doubt(hi, "the bound above the result once more"); !ok {
				return j.status()
			} else if pass {
				steps = max(steps, 1)
			}
		default:
			if pass, ok := j.confirm(lo); !ok {
				return j.status()
			} else if pass {
				s.best = lo
				return s.neighbour(j)
			}
			since = 0
		}
	}
}

// neighbour makes sure that the rate below the result is known too: that shows whether the latency rises slowly or at once.
// What it says does not undo the result.
func (s *Rate) neighbour(j *judge[float64]) Status {
	near, next := s.best/(1+4*s.o.Resolution), round(s.best/(1+s.o.Resolution))
	for r := range j.points {
		if r < s.best && r >= near {
			return Confirmed
		}
	}
	if next >= s.o.Min && next < s.best {
		if _, ok := j.once(next, "the neighbour below the result"); !ok {
			return j.status()
		}
	}
	return Confirmed
}

func (s *Rate) report(j *judge[float64], status Status) {
	s.result = RateResult{Status: status}
	best := s.best
	if best == 0 {
		best, _ = bounds(j)
	}
	for _, r := range slices.Sorted(maps.Keys(j.points)) {
		t := j.tally(r)
		s.result.Points = append(s.result.Points, t)
		switch p := j.points[r]; {
		case r < best:
			s.result.Below = &t
		case r == best:
			s.result.Best = &t
		case s.result.Above == nil && p.judged && !p.pass:
			s.result.Above = &t
			s.result.ByClient = t.Invalid > 0 && t.Invalid == attempts*t.Fails
		}
	}
}
