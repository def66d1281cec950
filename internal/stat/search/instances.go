package search

import "fmt"

// InstancesOptions of a search for a number of servers on one machine. Max must be given.
type InstancesOptions struct {
	Common
	Max int
}

// Instances is the second half of study S1: one server after the other is added, each with the same load, until one of them
// breaks the promise twice. The largest number at which all kept it has to pass its confirmation; if it does not, the search
// goes down. The Value of an Outcome is the sum over all servers, its Parts are what each of them did.
type Instances struct {
	Path[int]
	o      InstancesOptions
	result InstancesResult
}

// InstancesResult is what the outcomes so far show.
type InstancesResult struct {
	Status Status       `json:"status"`
	Best   *Tally[int]  `json:"best,omitempty"`   // the most servers that all keep the promise
	Above  *Tally[int]  `json:"above,omitempty"`  // the number at which one of them broke it
	Points []Tally[int] `json:"points,omitempty"` // all numbers that were probed, upwards
}

// NewInstances begins a search.
func NewInstances(o InstancesOptions) (*Instances, error) {
	if err := o.fill(); err != nil {
		return nil, err
	}
	if o.Max < 1 {
		return nil, fmt.Errorf("search: at most %d instances: none could be tried", o.Max)
	}
	s := &Instances{o: o}
	s.probes = o.Probes
	s.plan = s.walk
	return s, nil
}

// Result of the outcomes so far.
func (s *Instances) Result() InstancesResult {
	s.run()
	return s.result
}

func (s *Instances) walk(w *walk[int]) {
	j := newJudge(w, s.o.Common)
	r := InstancesResult{Status: s.find(j)}
	for n := 1; n <= s.o.Max; n++ {
		p := j.points[n]
		if p == nil {
			continue
		}
		t := j.tally(n)
		r.Points = append(r.Points, t)
		switch {
		case p.judged && p.pass && r.Above == nil:
			r.Best = &t
		case p.judged && !p.pass && r.Above == nil:
			r.Above = &t
		}
	}
	s.result = r
}

func (s *Instances) find(j *judge[int]) Status {
	n := 1
	for ; n <= s.o.Max; n++ {
		pass, ok := j.settle(n, fmt.Sprintf("%d at once", n), false)
		if ok && !pass {
			pass, ok = j.doubt(n, "one broke: once more")
		}
		if !ok {
			return j.status()
		}
		if !pass {
			break
		}
	}
	status := Confirmed
	if n > s.o.Max {
		status = Unbroken
	}
	for n--; n > 0; n-- {
		pass, ok := j.confirm(n)
		if !ok {
			return j.status()
		}
		if pass {
			return status
		}
		status = Confirmed
	}
	return Nothing
}
