package face

import (
	"context"
	"slices"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
)

// patience is how long the servers may take to tell their counters. A load is not to wait for that for long.
const patience = 2 * time.Second

// Server that a load goes to, and the protocol to ask it in, as codec.New has them.
type Server struct {
	Target   *load.Target
	Protocol string
}

// Observed is what the servers' counters say of a run.
type Observed struct {
	Problem  string          `json:"problem,omitempty"` // why they say nothing
	Counters *probe.Delta    `json:"counters,omitempty"`
	Findings []probe.Finding `json:"findings,omitempty"`
}

// look reads the counters of the servers.
func (l *Load) look(ctx context.Context) (all []*probe.Counters, err error) {
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), patience)
	defer cancel()
	for _, s := range l.Servers {
		c, err := probe.Take(ctx, s.Target, s.Protocol)
		if err != nil {
			return nil, err
		}
		all = append(all, c)
	}
	return all, nil
}

// observe holds what the servers counted against what the run measured. problem is that of the look before it.
func (l *Load) observe(ctx context.Context, before []*probe.Counters, problem error, r *result.Run) *Observed {
	var after []*probe.Counters
	if problem == nil {
		after, problem = l.look(ctx)
	}
	if problem != nil {
		return &Observed{Problem: problem.Error()}
	}
	d := probe.Diff(before[0], after[0])
	for i := range before[1:] {
		d.Add(probe.Diff(before[i+1], after[i+1]))
	}
	d.Warmup = l.Plan.Warmup > 0
	if l.Seen != nil {
		r = l.Seen(r)
	}
	return &Observed{Counters: d, Findings: probe.Reconcile(d, r)}
}

// Warnings are what somebody who reads the numbers of the run must know, but for findings that the face has words of its own
// for.
func (o *Observed) Warnings(but ...string) (list []string) {
	if o == nil {
		return nil
	}
	if o.Problem != "" {
		return []string{"the server's counters are not compared with those of the load: " + o.Problem}
	}
	for _, f := range o.Findings {
		if f.Level != probe.Note && !slices.Contains(but, f.Name) {
			list = append(list, f.Text)
		}
	}
	return list
}

// Notes are the rest.
func (o *Observed) Notes() (list []string) {
	if o == nil {
		return nil
	}
	for _, f := range o.Findings {
		if f.Level == probe.Note {
			list = append(list, f.Text)
		}
	}
	return list
}
