// Package face has what the faces of the load generators do alike around a load: they show how it goes, hold what they
// measured against the server's own counters, have other machines run it, and end at a signal. It prints no results and
// knows no options. Called by load/memtier, load/crusher and load/ycsb.
package face

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"godwit/internal/load"
	"godwit/internal/load/console"
	"godwit/internal/load/drive"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
)

// Signals gives a context that ends when the process is asked to. A second signal kills it.
func Signals() (ctx context.Context, stop context.CancelFunc) {
	ctx, stop = signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	context.AfterFunc(ctx, stop)
	return ctx, stop
}

// Load is a load with what is to be seen of it.
type Load struct {
	Plan     *load.Plan
	Title    string // what and where
	Requests uint64 // that will be made, if the Plan has no Duration; 0: unknown
	Stderr   io.Writer
	Quiet    bool // no progress
	Top      bool // progress on a screen of its own

	// Rows are the names of those rows of the progress that Pick leaves; nil: those of the Plan.
	Rows []string
	// Pick makes the snapshots for the progress; nil: they are shown as they are.
	Pick func(*result.Snapshot) *result.Snapshot
	// Watch is called before the progress is shown; nil: it is not.
	Watch func(*result.Snapshot)

	// Servers that the load goes to are asked for their counters; nil: they are not.
	Servers []Server
	// Seen makes the run that the counters are held against; nil: it is the run itself.
	Seen func(*result.Run) *result.Run

	// Away has other machines run the load; nil: it runs here.
	Away func(ctx context.Context, watch func(*result.Snapshot)) (*result.Run, error)
}

// Run runs the load. What the servers say is nil if they are not to be asked.
func (l *Load) Run(ctx context.Context) (*result.Run, *Observed, error) {
	ctx, stop := context.WithCancel(ctx)
	defer stop()
	before, problem := l.look(ctx)
	r, err := l.shown(ctx, stop)
	if err != nil {
		return nil, nil, err
	}
	var o *Observed
	if len(l.Servers) > 0 {
		o = l.observe(ctx, before, problem, r)
	}
	return r, o, nil
}

// display shows progress: a console.Top or a console.Progress.
type display interface {
	Begin(console.Load)
	Watch(*result.Snapshot)
	End()
}

// shown runs the load, and shows it meanwhile.
func (l *Load) shown(ctx context.Context, stop func()) (*result.Run, error) {
	var d display = console.NewProgress(l.Stderr, l.Quiet)
	if l.Top {
		o := console.Options{Out: l.Stderr, Quiet: l.Quiet, Stop: stop}
		if len(l.Servers) == 1 && l.Away == nil {
			if p, err := probe.Open(ctx, l.Servers[0].Target, l.Servers[0].Protocol); err == nil {
				defer p.Close()
				o.Server = p.Used
			}
		}
		d = console.NewTop(o)
	}
	defer d.End()
	rows := l.Rows
	if rows == nil {
		rows = l.Plan.Rows
	}
	d.Begin(console.Load{Title: l.Title, Rows: rows, Duration: l.Plan.Duration, Requests: l.Requests})
	watch := func(s *result.Snapshot) {
		if l.Watch != nil {
			l.Watch(s)
		}
		if l.Pick != nil {
			s = l.Pick(s)
		}
		d.Watch(s)
	}
	if l.Away != nil {
		return l.Away(ctx, watch)
	}
	return drive.Run(ctx, l.Plan, drive.Hooks{Watch: watch})
}

// Title of a load of the servers.
func Title(name string, servers []Server) string {
	if len(servers) == 1 {
		return name + " " + servers[0].Target.Address
	}
	return fmt.Sprintf("%s %d servers", name, len(servers))
}
