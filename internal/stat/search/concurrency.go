package search

import (
	"cmp"
	"fmt"
	"slices"
)

// Load is a setting of a closed loop: threads, clients of each thread, requests in flight of each client.
type Load struct {
	Threads  int `json:"threads"`
	Clients  int `json:"clients"`
	Pipeline int `json:"pipeline"`
}

// InFlight is the number of requests that are under way at once.
func (l Load) InFlight() int { return l.Threads * l.Clients * l.Pipeline }

func (l Load) String() string { return fmt.Sprintf("t=%d c=%d p=%d", l.Threads, l.Clients, l.Pipeline) }

// Dimension of a Load.
type Dimension int

// The dimensions, in the order in which study S3 raised them.
const (
	Threads Dimension = iota
	Clients
	Pipeline
)

func (d Dimension) String() string { return [...]string{"threads", "clients", "pipeline"}[d] }

func (d Dimension) of(l Load) int { return [...]int{l.Threads, l.Clients, l.Pipeline}[d] }

func (d Dimension) with(l Load, v int) Load {
	*[...]*int{&l.Threads, &l.Clients, &l.Pipeline}[d] = v
	return l
}

// ConcurrencyOptions of a search for the Load with the highest throughput. Max must be given.
type ConcurrencyOptions struct {
	Common
	Start, Max Load // zero fields of Start mean 1

	// Order of the dimensions; nil means Threads, Clients, Pipeline.
	Order []Dimension

	// Best freezes a dimension at the value of the highest throughput that passed, where otherwise it is the last value
	// that passed, as in study S3.
	Best bool

	// Once leaves out the extra pass.
	Once bool
}

// Concurrency is the procedure of study S3. Dimension by dimension it doubles the value until the promise breaks, goes back
// to the last integer that keeps it by halving the distance, and freezes that. As the order of the dimensions decides much
// of the outcome, an extra pass then halves each dimension in turn and raises each other one instead, and keeps what has more
// throughput. The passing Load with the highest throughput has to pass its confirmation, or the next one, and so on.
type Concurrency struct {
	Path[Load]
	o      ConcurrencyOptions
	result ConcurrencyResult
}

// ConcurrencyResult is what the outcomes so far show.
type ConcurrencyResult struct {
	Status Status       `json:"status"`
	Best   *Tally[Load] `json:"best,omitempty"`

	// Frontier are the passing Loads that have more throughput than all with as many requests in flight or fewer.
	Frontier []Tally[Load] `json:"frontier,omitempty"`

	// Beyond are the Loads with one more of something than Best, as far as they were probed.
	Beyond []Tally[Load] `json:"beyond,omitempty"`

	Passed []Tally[Load] `json:"passed,omitempty"` // the fastest first
	Broken []Tally[Load] `json:"broken,omitempty"` // the fewest requests in flight first
}

// NewConcurrency begins a search.
func NewConcurrency(o ConcurrencyOptions) (*Concurrency, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if o.Order == nil {
		o.Order = []Dimension{Threads, Clients, Pipeline}
	}
	for i, d := range o.Order {
		if d < Threads || d > Pipeline || slices.Contains(o.Order[:i], d) {
			return nil, fmt.Errorf("search: order of dimensions: %d is none, or twice there", int(d))
		}
	}
	for _, d := range []Dimension{Threads, Clients, Pipeline} {
		if d.of(o.Start) == 0 {
			o.Start = d.with(o.Start, 1)
		}
		if lo, hi := d.of(o.Start), d.of(o.Max); lo < 1 || lo > hi {
			return nil, fmt.Errorf("search: %v from %d to %d: must rise, above 0", d, lo, hi)
		}
	}
	s := &Concurrency{o: o}
	s.probes = o.Probes
	s.plan = s.walk
	return s, nil
}

// Result of the outcomes so far.
func (s *Concurrency) Result() ConcurrencyResult {
	s.run()
	return s.result
}

func (s *Concurrency) walk(w *walk[Load]) {
	j := newJudge(w, s.o.Common)
	status := s.find(j)
	s.report(j, status)
}

func (s *Concurrency) find(j *judge[Load]) Status {
	at := s.o.Start
	pass, ok := j.settle(at, "start", false)
	if ok && !pass {
		pass, ok = j.doubt(at, "the start breaks: once more")
	}
	if !ok {
		return j.status()
	}
	if !pass {
		return Nothing
	}
	for _, d := range s.o.Order {
		if at, ok = s.raise(j, d, at); !ok {
			return j.status()
		}
	}
	if !s.o.Once {
		if ok := s.exchange(j, at); !ok {
			return j.status()
		}
	}
	for {
		best, found := fastest(j)
		if !found {
			return Nothing
		}
		if pass, ok := j.confirm(best); !ok {
			return j.status()
		} else if pass {
			if s.atMax(best) {
				return Unbroken
			}
			return Confirmed
		}
	}
}

func (s *Concurrency) atMax(l Load) bool {
	return !slices.ContainsFunc(s.o.Order, func(d Dimension) bool { return d.of(l) < d.of(s.o.Max) })
}

// verdict on a Load, by probes unless there is one.
func (s *Concurrency) verdict(j *judge[Load], l Load, reason string, close bool) (pass, ok bool) {
	if p := j.points[l]; p != nil && p.judged {
		return p.pass, true
	}
	return j.settle(l, reason, close)
}

// raise one dimension of a passing Load as far as it goes.
func (s *Concurrency) raise(j *judge[Load], d Dimension, from Load) (Load, bool) {
	lo, hi, most := d.of(from), 0, d.of(s.o.Max)
	best := from
	note := func(v int) {
		if l := d.with(from, v); !s.o.Best || j.tally(l).Value > j.tally(best).Value {
			best = l
		}
	}
	for {
		for lo < most && hi == 0 {
			v := min(2*lo, most)
			pass, ok := s.verdict(j, d.with(from, v), fmt.Sprintf("twice the %v, up from %d", d, lo), false)
			switch {
			case !ok:
				return from, false
			case pass:
				lo = v
				note(v)
			default:
				hi = v
			}
		}
		for hi > lo+1 {
			v := lo + (hi-lo)/2
			reason := fmt.Sprintf("%v between %d, which passes, and %d, which breaks", d, lo, hi)
			pass, ok := s.verdict(j, d.with(from, v), reason, hi-lo <= 4)
			switch {
			case !ok:
				return from, false
			case pass:
				lo = v
				note(v)
			default:
				hi = v
			}
		}
		if hi == 0 || j.points[d.with(from, hi)].firm {
			return best, true
		}
		pass, ok := j.doubt(d.with(from, hi), "the bound above once more")
		switch {
		case !ok:
			return from, false
		case !pass:
			return best, true
		}
		lo, hi = hi, 0
		note(lo)
	}
}

// exchange is the extra pass: less of one dimension for more of another.
func (s *Concurrency) exchange(j *judge[Load], at Load) bool {
	for _, less := range s.o.Order {
		for _, more := range s.o.Order {
			v := max(less.of(at)/2, less.of(s.o.Start))
			if more == less || v == less.of(at) || more.of(at) >= more.of(s.o.Max) {
				continue
			}
			from := less.with(at, v)
			pass, ok := s.verdict(j, from, fmt.Sprintf("extra pass: half the %v, to have more %v", less, more), false)
			if !ok {
				return false
			}
			if !pass {
				continue
			}
			to, ok := s.raise(j, more, from)
			if !ok {
				return false
			}
			if j.tally(to).Value > j.tally(at).Value {
				at = to
			}
		}
	}
	return true
}

// fastest of the Loads that pass; of equals the one with fewer requests in flight.
func fastest(j *judge[Load]) (best Load, found bool) {
	for _, t := range sorted(j) {
		if p := j.points[t.Point]; p.judged && p.pass {
			return t.Point, true
		}
	}
	return best, false
}

// sorted tallies, the fastest first, so that a map's order decides nothing.
func sorted(j *judge[Load]) []Tally[Load] {
	out := make([]Tally[Load], 0, len(j.points))
	for l := range j.points {
		out = append(out, j.tally(l))
	}
	slices.SortFunc(out, func(a, b Tally[Load]) int {
		return cmp.Or(cmp.Compare(b.Value, a.Value), byLoad(a, b))
	})
	return out
}

func byLoad(a, b Tally[Load]) int {
	return cmp.Or(cmp.Compare(a.Point.InFlight(), b.Point.InFlight()), cmp.Compare(a.Point.Threads, b.Point.Threads),
		cmp.Compare(a.Point.Clients, b.Point.Clients))
}

func (s *Concurrency) report(j *judge[Load], status Status) {
	r := ConcurrencyResult{Status: status}
	for _, t := range sorted(j) {
		switch p := j.points[t.Point]; {
		case !p.judged:
		case p.pass:
			r.Passed = append(r.Passed, t)
		default:
			r.Broken = append(r.Broken, t)
		}
	}
	slices.SortFunc(r.Broken, byLoad)
	if len(r.Passed) > 0 {
		r.Best = &r.Passed[0]
		for _, d := range s.o.Order {
			l := d.with(r.Best.Point, d.of(r.Best.Point)+1)
			if j.points[l] != nil {
				r.Beyond = append(r.Beyond, j.tally(l))
			}
		}
	}
	up, best := slices.Clone(r.Passed), 0.0
	slices.SortFunc(up, func(a, b Tally[Load]) int {
		return cmp.Or(cmp.Compare(a.Point.InFlight(), b.Point.InFlight()), cmp.Compare(b.Value, a.Value), byLoad(a, b))
	})
	for _, t := range up {
		if t.Value > best {
			best = t.Value
			r.Frontier = append(r.Frontier, t)
		}
	}
	s.result = r
}
