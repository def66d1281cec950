package sim

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"sync/atomic"
	"syscall"
	"time"

	"godwit/internal/sim/mrc"
)

// Exit statuses.
const (
	ExitFailed      = 1 // the trace could not be read, or an output not be written
	ExitUsage       = 2 // the command line makes no sense
	ExitInterrupted = 130
)

// Main runs godwit sim and gives its exit status. prog is what it was called as.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	return run(ctx, prog, args, stdout, stderr)
}

func run(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	o, err := parseArgs(args)
	if err == nil && o.help {
		help(prog, stdout)
		return 0
	}
	if err == nil && o.list {
		list(stdout)
		return 0
	}
	var j *job
	if err == nil {
		j, err = newJob(o)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return ExitUsage
	}
	defer j.close()
	p := startProgress(j, prog, stderr)
	r, err := j.run(ctx)
	p.stop()
	if err == nil {
		err = r.write(j, stdout)
	}
	switch {
	case errors.Is(err, context.Canceled):
		fmt.Fprintf(stderr, "%s: interrupted\n", prog)
		return ExitInterrupted
	case err != nil:
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return ExitFailed
	}
	return 0
}

// run measures the trace if capacities are shares of it, then replays it.
func (j *job) run(ctx context.Context) (*report, error) {
	text := j.capacities
	if text == "" {
		if text = "0.1%..100%"; len(j.targets) > 0 {
			text = "0.1%..150%"
		}
	}
	whole, err := j.whole(ctx, text)
	if err != nil {
		return nil, err
	}
	c := j.Config
	if c.Capacities, err = parseCapacities(text, c.Bytes, whole); err != nil {
		return nil, err
	}
	r := &report{Trace: j.trace, Unit: "objects", Seed: c.Seed, whole: whole}
	if c.Bytes {
		r.Unit, r.Overhead = "bytes", c.Overhead
	}
	if len(j.targets) > 0 {
		return r, r.find(ctx, j, c)
	}
	src, err := j.open()
	if err != nil {
		return nil, err
	}
	res, err := Run(ctx, src, c)
	if err != nil {
		return nil, err
	}
	r.add(res, c)
	return r, nil
}

// whole is what all objects of the trace take together, if capacities are given as shares of it: over objects of a made
// trace its parameter keys, else estimated from a pass over the trace.
func (j *job) whole(ctx context.Context, text string) (float64, error) {
	if !hasPercent(text) {
		return 0, nil
	}
	if j.gen != nil && !j.Bytes {
		return float64(j.gen.Keys), nil
	}
	src, err := j.open()
	if err != nil {
		return 0, err
	}
	c := j.Config
	c.Policies, c.Warmup = nil, 0
	if c.Shards == 0 {
		c.Shards = 4 * mrc.Samples
	}
	res, err := Run(ctx, src, c)
	if err != nil {
		return 0, err
	}
	keys, weight := res.Curve.Footprint()
	if c.Bytes {
		keys = weight
	}
	if keys == 0 {
		return 0, fmt.Errorf("%s: no requests", j.trace)
	}
	return keys, nil
}

func hasPercent(text string) bool {
	for _, c := range text {
		if c == '%' {
			return true
		}
	}
	return false
}

// progress says on stderr how far the present pass is, every few seconds.
type progress struct {
	requests atomic.Int64
	part     atomic.Int64 // of the file, in thousandths
	quit     chan struct{}
	done     chan struct{}
}

const progressEvery = 5 * time.Second

func startProgress(j *job, prog string, w io.Writer) *progress {
	p := &progress{quit: make(chan struct{}), done: make(chan struct{})}
	j.Config.Progress = func(n int64) {
		p.requests.Store(n)
		switch {
		case j.gen != nil && j.gen.Requests > 0:
			p.part.Store(1000 * n / j.gen.Requests)
		case j.last != nil:
			p.part.Store(int64(1000 * j.last.Part()))
		}
	}
	if j.quiet {
		close(p.done)
		return p
	}
	go func() {
		defer close(p.done)
		t := time.NewTicker(progressEvery)
		defer t.Stop()
		for begin := time.Now(); ; {
			select {
			case <-p.quit:
				return
			case <-t.C:
				s := fmt.Sprintf("%s: %.0f s, %.1f M requests of this pass", prog, time.Since(begin).Seconds(), float64(p.requests.Load())/1e6)
				if part := p.part.Load(); part > 0 {
					s += fmt.Sprintf(", %d %%", part/10)
				}
				fmt.Fprintln(w, s)
			}
		}
	}()
	return p
}

func (p *progress) stop() {
	close(p.quit)
	<-p.done
}
