// Package search decides what to measure next when the best setting of a load is looked for: the highest rate (Rate), the
// number of threads, clients and requests in flight (Concurrency), the number of servers (Instances) that still keep a
// promised latency. It measures nothing, has no clock and starts nothing: the caller asks Next what to probe, runs it for
// however long it likes, and tells Answer what came out.
//
//	for {
//		rate, reason, ok := s.Next()
//		if !ok {
//			break
//		}
//		s.Answer(run(rate))
//	}
//
// Each probe is kept with its reason, so that a report can show the whole path. What comes next depends on the options and
// the outcomes so far alone: a search that was ended goes on after Resume with the path it had.
package search

import (
	"errors"
	"fmt"
	"slices"

	"godwit/internal/stat"
)

// Outcome of one probe.
type Outcome struct {
	// Pass tells whether the promise was kept: p99 at most what was promised, no errors.
	Pass bool `json:"pass"`

	// Invalid probes say nothing about the server: the client was saturated, the network was not there. They are repeated.
	Invalid bool `json:"invalid,omitempty"`

	// Margin is what was measured over what was promised: p99 / limit. Above 1 is a break. It shows how near the edge is;
	// 0 if unknown.
	Margin float64 `json:"margin,omitempty"`

	// Value is the throughput in operations per second. Concurrency looks for the highest, Rate and Instances report it.
	Value float64 `json:"value,omitempty"`

	Note  string `json:"note,omitempty"`  // for people: "p99 1.3 ms > 1 ms"
	Parts []Part `json:"parts,omitempty"` // by instance; one that does not pass breaks the whole
}

// Part of an Outcome: one of several servers.
type Part struct {
	Pass   bool    `json:"pass"`
	Margin float64 `json:"margin,omitempty"`
	Value  float64 `json:"value,omitempty"`
	Note   string  `json:"note,omitempty"`
}

func (o Outcome) passes() bool {
	return o.Pass && !o.Invalid && !slices.ContainsFunc(o.Parts, func(p Part) bool { return !p.Pass })
}

// Step is one probe of a path.
type Step[P any] struct {
	Number  int     `json:"number"` // from 1
	Point   P       `json:"point"`
	Reason  string  `json:"reason"`
	Outcome Outcome `json:"outcome"`
}

// Status of a search.
type Status string

// How searches stand.
const (
	Running   Status = "running"
	Confirmed Status = "confirmed"
	Unbroken  Status = "the largest allowed setting passes"
	Nothing   Status = "nothing passes"
	Spent     Status = "probes used up"
)

// Tally is what the probes of one point said.
type Tally[P any] struct {
	Point   P       `json:"point"`
	Passes  int     `json:"passes"`
	Fails   int     `json:"fails"`
	Invalid int     `json:"invalid,omitempty"` // thrice in a row counts as one failure
	Margin  float64 `json:"margin,omitempty"`  // median
	Value   float64 `json:"value,omitempty"`   // median
}

// Common are the options that all searches have. Zero values mean the defaults.
type Common struct {
	// Near is how close to 1 a Margin must be for its verdict to be doubted once the search is close to the edge: within
	// a factor of 1 + Near of it, two of up to three probes decide. 0 means 0.15.
	Near float64

	// Confirm is the number of runs of the winner once it is found; 0 means 3. Share of them must pass, all if 0.
	Confirm int
	Share   float64

	// Probes is the number after which the search gives up; 0 means 200.
	Probes int
}

func (c *Common) fill() error {
	defaultTo(&c.Near, 0.15)
	defaultTo(&c.Share, 1)
	defaultTo(&c.Confirm, 3)
	defaultTo(&c.Probes, 200)
	if c.Near < 0 || c.Share < 0 || c.Share > 1 || c.Confirm < 0 || c.Probes < 0 {
		return fmt.Errorf("search: near %v, share %v, %d confirmations, %d probes: none may be negative, nor share above 1",
			c.Near, c.Share, c.Confirm, c.Probes)
	}
	return nil
}

func defaultTo[T comparable](v *T, d T) {
	var zero T
	if *v == zero {
		*v = d
	}
}

// Path is the state of a search over points P: the outcomes so far and the probe that is under way.
//
// A plan is a straight piece of code that asks for one outcome after the other. Next runs it from the start against the
// outcomes that are there, and takes the first question that none answers. With paths of some dozen steps that costs nothing,
// and leaves a search no state to lose.
type Path[P comparable] struct {
	plan    func(*walk[P])
	probes  int
	steps   []Step[P]
	pending *Step[P]
}

// Next is the point to probe and why. Without ok the search is over. Until Answer it says the same again.
func (p *Path[P]) Next() (point P, reason string, ok bool) {
	if p.pending == nil {
		p.pending = p.run().want
	}
	if p.pending == nil {
		return point, "", false
	}
	return p.pending.Point, p.pending.Reason, true
}

// Answer is what the probe that Next asked for came to.
func (p *Path[P]) Answer(o Outcome) error {
	if _, _, ok := p.Next(); !ok {
		return errors.New("search: an answer, and nothing was asked")
	}
	s := *p.pending
	s.Outcome = o
	p.steps, p.pending = append(p.steps, s), nil
	return nil
}

// Steps are the probes so far. The caller must not change them.
func (p *Path[P]) Steps() []Step[P] { return p.steps }

// Resume continues a search of the same options from the steps it had.
func (p *Path[P]) Resume(steps []Step[P]) error {
	before := p.steps
	p.steps, p.pending = slices.Clone(steps), nil
	if w := p.run(); w.at < len(steps) {
		p.steps = before
		return fmt.Errorf("search: step %d, %v, is not what these options ask for", w.at+1, steps[w.at].Point)
	}
	return nil
}

func (p *Path[P]) run() *walk[P] {
	w := &walk[P]{steps: p.steps, probes: p.probes}
	p.plan(w)
	return w
}

// walk runs a plan along the steps that are there.
type walk[P comparable] struct {
	steps  []Step[P]
	at     int // the step that answers the next question
	probes int
	want   *Step[P]
	spent  bool
}

// ask for the outcome of a point. Without ok it is not there yet, and the plan must return.
func (w *walk[P]) ask(p P, reason string) (o Outcome, ok bool) {
	if w.at < len(w.steps) {
		if w.steps[w.at].Point != p { // Resume with a path of other options
			return o, false
		}
		w.at++
		return w.steps[w.at-1].Outcome, true
	}
	if w.spent = w.at >= w.probes; !w.spent {
		w.want = &Step[P]{Number: w.at + 1, Point: p, Reason: reason}
	}
	return o, false
}

// status of a plan that did not come to its end.
func (w *walk[P]) status() Status {
	if w.spent {
		return Spent
	}
	return Running
}

// judge comes to verdicts by as many probes as they need.
type judge[P comparable] struct {
	*walk[P]
	Common
	points map[P]*point
}

type point struct {
	passes, fails, invalid int
	margins, values        []float64
	judged                 bool // there is a verdict
	pass                   bool // it
	firm                   bool // it rests on more than one probe
}

func newJudge[P comparable](w *walk[P], c Common) *judge[P] {
	return &judge[P]{w, c, map[P]*point{}}
}

func (j *judge[P]) point(p P) *point {
	if j.points[p] == nil {
		j.points[p] = &point{}
	}
	return j.points[p]
}

// attempts is how often in a row a probe may be invalid before it counts as a failure.
const attempts = 3

// once probes p until that is valid.
func (j *judge[P]) once(p P, reason string) (o Outcome, ok bool) {
	pt := j.point(p)
	for try := 1; ; try++ {
		if o, ok = j.ask(p, reason); !ok {
			if len(pt.values)+pt.fails+pt.invalid == 0 {
				delete(j.points, p)
			}
			return o, false
		}
		if !o.Invalid {
			break
		}
		if pt.invalid++; try == attempts {
			pt.fails++
			return o, true
		}
		reason = "again: that probe was not valid"
	}
	if o.passes() {
		pt.passes++
	} else {
		pt.fails++
	}
	if o.Margin > 0 {
		pt.margins = append(pt.margins, o.Margin)
	}
	pt.values = append(pt.values, o.Value)
	return o, true
}

// settle comes to a verdict on p: by one probe or, if it is near the edge, by two of up to three that agree. Near are points
// that are close to others with the opposite verdict, as the caller knows, unless their Margin is clear.
func (j *judge[P]) settle(p P, reason string, close bool) (pass, ok bool) {
	o, ok := j.once(p, reason)
	if !ok {
		return false, false
	}
	pt := j.point(p)
	pt.judged, pt.pass = true, o.passes()
	if clear := o.Margin > 1+j.Near || o.Margin > 0 && o.Margin < 1/(1+j.Near); close && !clear {
		return j.doubt(p, "near the edge: once more")
	}
	return pt.pass, true
}

// doubt probes p until two more probes say one thing than the other, or three are there.
func (j *judge[P]) doubt(p P, reason string) (pass, ok bool) {
	pt := j.point(p)
	for {
		diff := pt.passes - pt.fails
		if n := pt.passes + pt.fails; n >= 2 && diff != 0 {
			pt.judged, pt.pass, pt.firm = true, diff > 0, true
			return pt.pass, true
		}
		if _, ok := j.once(p, reason); !ok {
			return false, false
		}
	}
}

// confirm runs p as often as Confirm says; earlier probes, which chose it, do not count.
func (j *judge[P]) confirm(p P) (pass, ok bool) {
	need, passes, pt := int(j.Share*float64(j.Confirm)+0.999999), 0, j.point(p)
	for run := 1; run <= j.Confirm; run++ {
		o, ok := j.once(p, fmt.Sprintf("confirmation %d of %d", run, j.Confirm))
		if !ok {
			return false, false
		}
		if o.passes() {
			passes++
		}
		if passes+j.Confirm-run < need {
			break
		}
	}
	pt.judged, pt.pass, pt.firm = true, passes >= need, true
	return pt.pass, true
}

func (j *judge[P]) tally(p P) Tally[P] {
	pt := j.point(p)
	t := Tally[P]{Point: p, Passes: pt.passes, Fails: pt.fails, Invalid: pt.invalid}
	if len(pt.margins) > 0 {
		t.Margin = stat.Median(pt.margins)
	}
	if len(pt.values) > 0 {
		t.Value = stat.Median(pt.values)
	}
	return t
}
