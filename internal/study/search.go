package study

import (
	"context"
	"encoding/json"
	"fmt"

	"godwit/internal/stat/search"
	"godwit/internal/study/raw"
)

// plan is a search over points of any kind.
type plan[P any] interface {
	Next() (point P, reason string, ok bool)
	Answer(o search.Outcome) error
}

// search the best setting of a server.
func (r *runner) search(ctx context.Context, s *subject) error {
	o := &r.file.Search
	common := search.Common{Confirm: 1, Probes: o.Probes}
	found := &raw.Found{Server: s.Name}
	keep := func(status search.Status, v any) {
		found.Status = string(status)
		found.Result, _ = json.Marshal(v)
	}
	switch o.By {
	case Rate:
		p, err := search.NewRate(search.RateOptions{Common: common, Min: o.Min, Max: o.Max, Start: o.Start, Resolution: o.Resolution})
		if err == nil {
			err = walk(ctx, r, s, p, func(v float64) raw.Point { return raw.Point{Rate: v} })
		}
		if err != nil {
			return err
		}
		res := p.Result()
		keep(res.Status, res)
		at := func(t *search.Tally[float64]) *raw.Point {
			if t == nil {
				return nil
			}
			return &raw.Point{Rate: t.Point}
		}
		found.Best, found.Below, found.Above = at(res.Best), at(res.Below), at(res.Above)
	case Concurrency:
		most := search.Load{Threads: o.MaxThreads, Clients: o.MaxClients, Pipeline: o.MaxPipeline}
		p, err := search.NewConcurrency(search.ConcurrencyOptions{Common: common, Max: most, Once: o.OneDirection})
		if err == nil {
			err = walk(ctx, r, s, p, func(l search.Load) raw.Point {
				return raw.Point{Threads: l.Threads, Clients: l.Clients, Pipeline: l.Pipeline}
			})
		}
		if err != nil {
			return err
		}
		res := p.Result()
		keep(res.Status, res)
		if b := res.Best; b != nil {
			found.Best = &raw.Point{Threads: b.Point.Threads, Clients: b.Point.Clients, Pipeline: b.Point.Pipeline}
		}
		for _, b := range res.Beyond {
			if b.Fails > 0 {
				found.Above = &raw.Point{Threads: b.Point.Threads, Clients: b.Point.Clients, Pipeline: b.Point.Pipeline}
				break
			}
		}
	case Instances:
		p, err := search.NewInstances(search.InstancesOptions{Common: common, Max: int(o.Max)})
		if err == nil {
			err = walk(ctx, r, s, p, func(n int) raw.Point { return raw.Point{Instances: n} })
		}
		if err != nil {
			return err
		}
		res := p.Result()
		keep(res.Status, res)
		at := func(t *search.Tally[int]) *raw.Point {
			if t == nil {
				return nil
			}
			return &raw.Point{Instances: t.Point}
		}
		found.Best, found.Above = at(res.Best), at(res.Above)
	}
	s.best = found.Best
	if s.best == nil {
		r.say("%s: %s", s.Name, found.Status)
	} else {
		r.say("%s: %v (%s)", s.Name, *s.best, found.Status)
	}
	return r.w.Append(raw.Event{Kind: raw.KindFound, Found: found})
}

// walk a search to its end. What the raw file has from before is answered from there.
func walk[P any](ctx context.Context, r *runner, s *subject, p plan[P], point func(P) raw.Point) error {
	var old []raw.Result
	for _, o := range r.old {
		if o.Phase == raw.PhaseSearch && o.Server == s.Name {
			old = append(old, o)
		}
	}
	for {
		v, reason, ok := p.Next()
		if !ok {
			return nil
		}
		at := point(v)
		var res *raw.Result
		if len(old) > 0 {
			if old[0].Point != at {
				return fmt.Errorf("study: the raw file has %s at %v where the search goes to %v: it is of another study; name a new file with --out", s.Name, old[0].Point, at)
			}
			res, old = &old[0], old[1:]
		} else {
			err := r.raise(ctx, s, max(at.Instances, 1))
			if err == nil {
				res, err = r.probe(ctx, s, raw.PhaseSearch, 0, at, reason)
			}
			if err != nil {
				return err
			}
		}
		if err := p.Answer(r.outcome(res)); err != nil {
			return err
		}
	}
}

// outcome of a result, for the search.
func (r *runner) outcome(res *raw.Result) search.Outcome {
	limit := r.file.Target.P99.seconds() * 1e3
	o := search.Outcome{Pass: res.Pass, Invalid: res.Invalid != "", Margin: res.P99 / limit, Value: res.Ops, Note: res.Note}
	if len(res.Parts) > 1 {
		for _, p := range res.Parts {
			o.Parts = append(o.Parts, search.Part{Pass: p.Pass, Margin: p.P99 / limit, Value: p.Ops})
		}
	}
	return o
}
