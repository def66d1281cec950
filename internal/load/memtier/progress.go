package memtier

import (
	"time"

	"godwit/internal/load/console"
	"godwit/internal/load/memtier/output"
	"godwit/internal/load/result"
)

// progress shows a run under way.
type progress struct {
	f        *job
	run      int
	requests uint64
	all      output.Tally
	elapsed  time.Duration
}

// watch is a drive.Hooks.Watch.
func (p *progress) watch(s *result.Snapshot) {
	second, total := s.Sums()
	all := output.Tally{Ops: total.Count, Bytes: total.RX + total.TX, Sum: s.Sum}
	last := output.Tally{Ops: second.Count, Bytes: second.RX + second.TX, Sum: second.Sum}
	snap := p.snapshot(s.Elapsed, all, s.ConnErrors, s.Clients)
	snap.Last, snap.Since, snap.Latencies = last, time.Second, second.Service
	p.all, p.elapsed = all, s.Elapsed
	if p.f.statsd != nil {
		p.f.statsd.Send(snap)
	}
	p.print(snap, false)
}

// end shows the whole run.
func (p *progress) end(r *result.Run) {
	t := r.Total()
	all := output.Tally{Ops: t.Count, Bytes: t.RX + t.TX, Sum: t.Sum}
	snap := p.snapshot(r.Duration(), all, r.ConnErrors, 0)
	snap.Last = output.Tally{Ops: all.Ops - p.all.Ops, Bytes: all.Bytes - p.all.Bytes, Sum: all.Sum - p.all.Sum}
	snap.Since = snap.Elapsed - p.elapsed
	p.print(snap, true)
}

func (p *progress) snapshot(elapsed time.Duration, all output.Tally, errors uint64, open int) *output.Snapshot {
	o := p.f.o
	threads := o.Threads
	if open == 0 {
		threads = 0
	}
	return &output.Snapshot{
		Run: p.run, Threads: threads, Clients: o.Clients, Connections: open, Elapsed: elapsed, All: all, ConnErrors: errors,
		Whole: time.Duration(o.TestTime) * time.Second, Requests: p.requests,
	}
}

func (p *progress) print(s *output.Snapshot, last bool) {
	if !p.f.o.Quiet && !p.f.o.Top {
		output.Progress(p.f.stderr, s, console.Terminal(p.f.stderr), last)
	}
}
