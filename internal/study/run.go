package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"godwit/internal/config"
	"godwit/internal/host"
	"godwit/internal/load/result"
	"godwit/internal/stat"
	"godwit/internal/study/raw"
)

// saturated is the share of its time that a loop of the client works from which a planned rate that was not kept says nothing
// about the server.
const saturated = 0.9

// runner runs a study and writes its raw file.
type runner struct {
	file    *File
	self    string // the binary of godwit
	w       *raw.Writer
	stderr  io.Writer
	servers []*subject
	dir     string // where servers run
	number  int    // of the last probe
	old     []raw.Result
	words   []string // of the load
	fill    []string
}

// subject is a server of the study that can be measured here.
type subject struct {
	*Server
	cores, client host.Set
	running       []*process
	best          *raw.Point
}

func (r *runner) say(format string, a ...any) { fmt.Fprintf(r.stderr, format+"\n", a...) }

// prepare finds out who can be measured, and on which cores.
func (r *runner) prepare(quick bool) (raw.Event, []raw.Event, error) {
	f := r.file
	var err error
	if r.words, err = words(f.Load.Args); err != nil {
		return raw.Event{}, nil, err
	}
	if r.fill, err = words(f.Load.Fill); err != nil {
		return raw.Event{}, nil, err
	}
	st := &raw.Study{
		Format: raw.Format, Program: config.Version, Name: f.Name, Question: f.Question, Chosen: f.Chosen, Quick: quick, Search: f.Search.By,
		P99: f.Target.P99.seconds() * 1e3, Warmup: f.Runs.Warmup.seconds(), Window: f.Runs.Window.seconds(), Repetitions: f.Runs.Repetitions,
		Baseline: f.Baseline, Load: r.words, Fill: r.fill, Text: f.text,
	}
	facts, err := host.Facts()
	if err != nil {
		return raw.Event{}, nil, err
	}
	events := []raw.Event{{Kind: raw.KindHost, Host: facts}}
	for i := range f.Server {
		sv := &f.Server[i]
		if why := sv.missing(r.self); why != "" {
			if !sv.Optional {
				return raw.Event{}, nil, fmt.Errorf("study: server %q: %s; install it, or leave it out with optional = true", sv.Name, why)
			}
			r.say("%s is left out: %s", sv.Name, why)
			events = append(events, raw.Event{Kind: raw.KindSkip, Skip: &raw.Skip{Server: sv.Name, Why: why}})
			continue
		}
		s := &subject{Server: sv}
		if sv.Cores > 0 {
			rest := f.Load.Cores
			if rest == 0 {
				rest = max(len(facts.Limits.Allowed)-sv.Cores, 1)
			}
			if p, err := host.Split(facts.CPU.Topology, facts.Limits.Allowed, sv.Cores, rest); err != nil {
				st.Pinned = append(st.Pinned, fmt.Sprintf("%s is not pinned: %v", sv.Name, err))
			} else {
				s.cores, s.client = p.Sets[0], p.Sets[1]
				for _, n := range p.Notes {
					st.Pinned = append(st.Pinned, sv.Name+": "+n)
				}
			}
		}
		for _, n := range st.Pinned {
			r.say("%s", n)
		}
		r.servers = append(r.servers, s)
		st.Servers = append(st.Servers, raw.Subject{
			Name: sv.Name, Command: sv.Command, Price: sv.Price, PriceSource: sv.PriceSource, Watts: sv.Watts, Cores: s.cores, Client: s.client,
		})
	}
	if len(r.servers) == 0 {
		return raw.Event{}, nil, errors.New("study: no server is left to measure")
	}
	return raw.Event{Kind: raw.KindStudy, Study: st}, events, nil
}

// run everything that the raw file does not have yet.
func (r *runner) run(ctx context.Context) (err error) {
	if r.dir, err = os.MkdirTemp("", "godwit-study-"); err != nil {
		return err
	}
	defer os.RemoveAll(r.dir)
	defer func() {
		for _, s := range r.servers {
			s.stop()
		}
	}()
	for _, s := range r.servers {
		if r.file.Search.By == Fixed {
			s.best = &raw.Point{}
			continue
		}
		if err := r.search(ctx, s); err != nil {
			return err
		}
		s.stop()
	}
	if err := r.compare(ctx); err != nil {
		return err
	}
	return r.w.Append(raw.Event{Kind: raw.KindEnd})
}

// compare runs all servers at their best, turn by turn.
func (r *runner) compare(ctx context.Context) error {
	var list []*subject
	for _, s := range r.servers {
		if s.best != nil {
			list = append(list, s)
		}
	}
	if len(list) == 0 {
		r.say("no server keeps the promise at any setting: there is nothing to compare")
		return nil
	}
	order := stat.ABBA
	if r.file.Runs.Order == "random" {
		order = stat.Random
	}
	turns, err := stat.Schedule(order, len(list), r.file.Runs.Repetitions, r.file.Runs.Seed)
	if err != nil {
		return err
	}
	done := 0
	for _, o := range r.old {
		if o.Phase == raw.PhaseCompare {
			done++
		}
	}
	for i, t := range turns {
		if i < done {
			continue
		}
		s := list[t.Subject]
		if err := r.raise(ctx, s, max(s.best.Instances, 1)); err != nil {
			return err
		}
		reason := fmt.Sprintf("round %d of %d, servers take turns", t.Round+1, r.file.Runs.Repetitions)
		if _, err := r.probe(ctx, s, raw.PhaseCompare, t.Round, *s.best, reason); err != nil {
			return err
		}
		s.stop()
	}
	return nil
}

// raise the number of running, filled instances to n.
func (r *runner) raise(ctx context.Context, s *subject, n int) error {
	for len(s.running) > n {
		last := len(s.running) - 1
		s.running[last].stop()
		s.running = s.running[:last]
	}
	for len(s.running) < n {
		port, err := freePort()
		if err != nil {
			return err
		}
		cores := len(s.cores)
		if cores == 0 {
			cores = max(s.Cores, 1)
		}
		list, err := s.command(r.self, port, cores)
		if err != nil {
			return err
		}
		dir := filepath.Join(r.dir, fmt.Sprintf("%d", port))
		if err := os.MkdirAll(dir, 0o777); err != nil {
			return err
		}
		p, err := start(list, dir, s.cores, &tail{})
		if err != nil {
			return fmt.Errorf("server %q: %w", s.Name, err)
		}
		p.port = port
		s.running = append(s.running, p)
		if err := p.await(ctx, s.Protocol); err != nil {
			return fmt.Errorf("server %q: %w", s.Name, err)
		}
		shown := slices.Clone(list)
		if shown[0] == r.self {
			shown[0] = "godwit"
		}
		e := &raw.Server{Server: s.Name, Instance: len(s.running) - 1, Command: raw.Shell(shown), Cores: s.cores, PID: p.cmd.Process.Pid}
		if len(r.fill) > 0 {
			args := loadArgs(r.file.Load.Face, r.fill, s.Protocol, port, 0, Point0, true)
			e.Filled = raw.Shell(append([]string{"godwit", r.file.Load.Face}, args...))
			a, err := work(ctx, r.self, &job{Loads: []jobLoad{{r.file.Load.Face, args, p.address(), s.Protocol}}}, nil)
			if err == nil {
				err = filled(a)
			}
			if err != nil {
				return fmt.Errorf("server %q: filling it by %s: %w", s.Name, e.Filled, err)
			}
		}
		if err := r.w.Append(raw.Event{Kind: raw.KindServer, Server: e}); err != nil {
			return err
		}
	}
	return nil
}

// filled says what was wrong with filling a server.
func filled(a *answer) error {
	run, err := a.Parts[0].Decode()
	if err != nil {
		return err
	}
	t := run.Total()
	if n := t.Errors() + run.ConnErrors + run.Lost; n > 0 {
		text := ""
		if len(run.Texts) > 0 {
			text = ": " + run.Texts[0].Text
		}
		return fmt.Errorf("%d of %d requests failed%s", n, t.Count+run.Lost, text)
	}
	return nil
}

func (s *subject) stop() {
	for _, p := range s.running {
		p.stop()
	}
	s.running = nil
}

// probe measures a window at a point. The servers run.
func (r *runner) probe(ctx context.Context, s *subject, phase string, round int, point raw.Point, reason string) (*raw.Result, error) {
	r.number++
	warmup, window := time.Duration(r.file.Runs.Warmup), time.Duration(r.file.Runs.Window)
	j := &job{Warmup: warmup, Window: window, Watts: s.Watts}
	p := &raw.Probe{Number: r.number, Server: s.Name, Phase: phase, Round: round, Point: point, Reason: reason}
	for _, proc := range s.running {
		args := loadArgs(r.file.Load.Face, r.words, s.Protocol, proc.port, int(math.Ceil(window.Seconds())), point, false)
		j.Loads = append(j.Loads, jobLoad{r.file.Load.Face, args, proc.address(), s.Protocol})
		j.PIDs = append(j.PIDs, proc.cmd.Process.Pid)
		p.Commands = append(p.Commands, raw.Shell(append([]string{"godwit", r.file.Load.Face}, args...)))
	}
	if err := r.w.Append(raw.Event{Kind: raw.KindProbe, Probe: p}); err != nil {
		return nil, err
	}
	a, err := work(ctx, r.self, j, s.client)
	if err != nil {
		for _, proc := range s.running {
			if dead := proc.dead(); dead != nil {
				err = fmt.Errorf("%s ended while it was measured: %w", raw.Shell(proc.words), dead)
			}
		}
		return nil, fmt.Errorf("server %q, %v: %w", s.Name, point, err)
	}
	res := &raw.Result{Number: r.number, Server: s.Name, Phase: phase, Round: round, Point: point, Usage: a.Usage, Cores: a.Cores, Parts: a.Parts}
	if err := r.judge(res, a, j); err != nil {
		return nil, err
	}
	if err := r.w.Append(raw.Event{Kind: raw.KindResult, Result: res}); err != nil {
		return nil, err
	}
	mark := "kept"
	switch {
	case r.file.Target.P99 == 0:
		mark = ""
	case res.Invalid != "":
		mark = "invalid"
	case !res.Pass:
		mark = "broken"
	}
	r.say("%3d %-14s %-42v %10.0f ops/s  p99 %8.3f ms  %-7s %s", r.number, s.Name, point, res.Ops, res.P99, mark, reason)
	if res.Note != "" {
		r.say("    %s", res.Note)
	}
	for _, proc := range s.running {
		if dead := proc.dead(); dead != nil {
			return nil, fmt.Errorf("server %q: %s ended while it was measured: %w", s.Name, raw.Shell(proc.words), dead)
		}
	}
	return res, nil
}

// judge works out what a result says.
func (r *runner) judge(res *raw.Result, a *answer, j *job) error {
	limit, share := r.file.Target.P99.seconds()*1e3, r.file.Target.Errors
	all := result.NewHistogram()
	var count, errs, hits, misses uint64
	planned := 0.0
	res.Pass = true
	note := func(format string, v ...any) {
		if res.Note != "" {
			res.Note += "; "
		}
		res.Note += fmt.Sprintf(format, v...)
	}
	for i := range res.Parts {
		part := &res.Parts[i]
		run, err := part.Decode()
		if err != nil {
			return fmt.Errorf("the client's result: %w", err)
		}
		t := run.Total()
		h := t.Planned
		if h == nil {
			h = t.Service
		}
		if c := part.Counters; c != nil && t.TX > 0 && (h == nil || h.TotalCount() == 0) {
			// Answers that nobody looked at: what is known is what the server counted.
			t.Count, t.Hits, t.Misses = c.Commands, c.Hits, c.Misses
			res.Blind = true
		}
		if s := run.Duration().Seconds(); s > 0 {
			part.Ops = float64(t.Count) / s
		}
		if h != nil {
			part.P99 = float64(h.ValueAtQuantile(99)) / 1e6
			all.Merge(h)
		}
		bad := t.Errors() + run.Lost + run.ConnErrors
		if res.Blind {
			bad = 0 // such clients send ahead of the answers; those that come after the end are no errors
		}
		part.Pass = t.Count > 0 && float64(bad) <= share*float64(t.Count+run.Lost) && (limit == 0 || part.P99 <= limit)
		switch {
		case t.Count == 0:
			note("instance %d answered nothing", i+1)
		case float64(bad) > share*float64(t.Count+run.Lost):
			text := ""
			if len(run.Texts) > 0 {
				text = ", such as " + run.Texts[0].Text
			}
			note("%d errors%s", bad, text)
		case limit > 0 && part.P99 > limit:
			note("p99 %.3f ms > %g ms", part.P99, limit)
		}
		res.Pass = res.Pass && part.Pass
		res.Ops += part.Ops
		planned += res.Point.Rate
		count, errs, hits, misses = count+t.Count, errs+bad, hits+t.Hits, misses+t.Misses
		if l := run.Self.Limit; l != "" {
			// Late sending alone may be the server's doing: connections with all their requests unanswered send nothing.
			if res.Point.Rate > 0 && !res.Pass && run.Self.Busiest >= saturated {
				res.Invalid = l
			}
			note("the client may have set the limit: %s", l)
		}
		for _, f := range part.Findings {
			if strings.HasPrefix(f, "failure") && !res.Blind {
				note("%s", f)
			}
		}
	}
	if planned > 0 && res.Ops < 0.97*planned && res.Pass {
		res.Pass = false
		note("%.0f of %.0f planned requests per second were answered", res.Ops, planned)
	}
	if all.TotalCount() > 0 {
		res.P50, res.P99, res.P999 = float64(all.ValueAtQuantile(50))/1e6, float64(all.ValueAtQuantile(99))/1e6, float64(all.ValueAtQuantile(99.9))/1e6
	}
	res.Errors, res.HitRate = errs, -1
	if hits+misses > 0 {
		res.HitRate = float64(hits) / float64(hits+misses)
		if res.HitRate < 0.5 {
			note("%.0f %% of the reads missed: is the data set filled?", 100*(1-res.HitRate))
		}
	}
	if u := a.Usage; u != nil && count > 0 {
		var server float64
		for _, pid := range j.PIDs {
			server += u.Processes[pid].CPUSeconds
			res.RSS += u.Processes[pid].RSS
		}
		res.ServerCPU = stat.PerOperation(server, float64(count))
		busy := u.All.Busy() - u.All.IRQ - u.All.SoftIRQ
		res.Others = max(0, busy*float64(len(u.CPUs))-(server+u.Processes[a.Self].CPUSeconds)/u.Seconds)
		res.ClientCPU = stat.PerOperation(u.Processes[a.Self].CPUSeconds, float64(count))
		if w, from, ok := u.Watts(); ok {
			res.Watts, res.WattsFrom = w, from
		}
	}
	return nil
}
