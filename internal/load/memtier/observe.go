package memtier

import (
	"context"
	"encoding/json"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/console"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
)

// lookPatience is how long a server may take to tell its counters. A load is not to wait for that for long.
const lookPatience = 2 * time.Second

// look reads the counters of the servers before or after a run; nil: they do not tell, or are not to be asked.
func (f *face) look(ctx context.Context, targets []*load.Target) (all []*probe.Counters) {
	if f.o.NoServerStats || f.blindToServer {
		return nil
	}
	ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), lookPatience)
	defer cancel()
	for _, t := range targets {
		c, err := probe.Take(ctx, t, string(f.o.Protocol))
		if err != nil {
			f.blindToServer = true
			f.say("%s: warning: the counters of %s are not compared with those of the load: %v", f.prog, t.Address, err)
			return nil
		}
		all = append(all, c)
	}
	return all
}

// compare holds what the servers counted during a run against what the run measured.
func (f *face) compare(before, after []*probe.Counters, r *result.Run) {
	if before == nil || after == nil {
		return
	}
	d := probe.Diff(before[0], after[0])
	for i := range before[1:] {
		d.Add(probe.Diff(before[i+1], after[i+1]))
	}
	d.Warmup = f.o.Warmup > 0
	found := probe.Reconcile(d, r)
	for _, x := range found {
		if x.Level != probe.Note {
			f.say("%s: warning: %s", f.prog, x.Text)
		}
	}
	text, err := json.Marshal(struct {
		Counters *probe.Delta    `json:"counters"`
		Findings []probe.Finding `json:"findings"`
	}{d, found})
	if err == nil {
		f.report.Servers = append(f.report.Servers, text)
	}
}

// openTop shows the runs on a screen of their own (--top).
func (f *face) openTop(ctx context.Context, stop func()) {
	if !f.o.Top {
		return
	}
	o := console.Options{Out: f.stderr, Quiet: f.o.Quiet, Stop: stop}
	if len(f.o.Agents) == 0 && !f.o.NoServerStats {
		if p, err := probe.Open(ctx, f.planner.target, string(f.o.Protocol)); err == nil {
			f.probe, o.Server = p, p.Used
		}
	}
	f.top = console.NewTop(o)
}

// closeTop gives the terminal back.
func (f *face) closeTop() {
	if f.top != nil {
		f.top.End()
		f.top = nil
	}
	if f.probe != nil {
		f.probe.Close()
		f.probe = nil
	}
}
