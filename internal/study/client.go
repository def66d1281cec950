package study

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"godwit/internal/host"
	"godwit/internal/load"
	"godwit/internal/load/crusher"
	"godwit/internal/load/drive"
	"godwit/internal/load/memtier"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
	"godwit/internal/study/raw"
)

// job is what a client process is to do: a window of load on one or more servers.
type job struct {
	Loads  []jobLoad     `json:"loads"`
	Warmup time.Duration `json:"warmup"`
	Window time.Duration `json:"window"` // 0: as long as the requests last
	PIDs   []int         `json:"pids"`   // of the servers
	Watts  float64       `json:"watts"`
}

type jobLoad struct {
	Face     string   `json:"face"`
	Args     []string `json:"args"` // of it
	Address  string   `json:"address"`
	Protocol string   `json:"protocol"`
}

// answer of a client process.
type answer struct {
	Error       string      `json:"error,omitempty"`
	Interrupted bool        `json:"interrupted,omitempty"`
	Parts       []raw.Part  `json:"parts,omitempty"`
	Usage       *host.Usage `json:"usage,omitempty"`
	Cores       []raw.Cores `json:"cores,omitempty"`
	Self        int         `json:"self"` // its pid, for Usage
}

// client reads a job, does it and writes the answer. It is a process of its own so that it can be pinned to cores, and so
// that its processor time is that of the load alone.
func client(stdin io.Reader, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	var j job
	if err := json.NewDecoder(stdin).Decode(&j); err != nil {
		fmt.Fprintf(stderr, "study client: %v; it is started by godwit study run only\n", err)
		return 2
	}
	a, err := j.run(ctx)
	if err != nil {
		a = &answer{Error: err.Error()}
	}
	a.Interrupted = a.Interrupted || ctx.Err() != nil
	a.Self = os.Getpid()
	if err := json.NewEncoder(stdout).Encode(a); err != nil {
		return 1
	}
	return 0
}

func (j *job) run(ctx context.Context) (*answer, error) {
	if j.Warmup > 0 {
		// Warmed up by a load of its own: what the server counts in the window is then what the client counts, exactly.
		if _, err := j.load(ctx, j.Warmup, 1, nil); err != nil {
			return nil, fmt.Errorf("warm-up: %w", err)
		}
	}
	if ctx.Err() != nil {
		return &answer{Interrupted: true}, nil
	}
	before := make([]*probe.Counters, len(j.Loads))
	problems := make([]error, len(j.Loads))
	for i := range j.Loads {
		before[i], problems[i] = j.counters(ctx, i)
	}
	meter, err := host.NewMeter(host.MeterOptions{PIDs: append([]int{os.Getpid()}, j.PIDs...), Watts: j.Watts, NoThreads: true})
	metering, done := context.WithCancel(context.Background())
	defer done()
	var samples []*host.Sample
	var wg sync.WaitGroup
	runs, err := j.load(ctx, j.Window, 0, func() {
		if err == nil {
			wg.Go(func() { meter.Run(metering, time.Second, func(s *host.Sample) { samples = append(samples, s) }) })
		}
	})
	done()
	wg.Wait()
	if err != nil {
		return nil, err
	}
	a := &answer{}
	for i, r := range runs {
		p := raw.Part{Run: r.Append(nil)}
		a.Interrupted = a.Interrupted || r.Interrupted
		after, err := j.counters(context.WithoutCancel(ctx), i)
		if err = errors.Join(problems[i], err); err != nil {
			p.Problem = err.Error()
		} else {
			d := probe.Diff(before[i], after)
			p.Counters = &raw.Counters{
				Version: d.Version, Threads: d.Threads, Commands: d.Commands, Hits: d.Hits, Misses: d.Misses, Evictions: d.Evictions,
				CPUSeconds: d.CPU().Seconds(), Items: d.Items, Memory: d.Memory,
			}
			for _, f := range probe.Reconcile(d, r) {
				p.Findings = append(p.Findings, string(f.Level)+": "+f.Text)
			}
		}
		a.Parts = append(a.Parts, p)
	}
	if n := len(samples); n > 1 {
		a.Usage = samples[n-1].Since(samples[0])
		for i := range samples[1:] {
			if u := samples[i+1].Since(samples[i]); u != nil && u.Seconds > 0.2 {
				a.Cores = append(a.Cores, raw.Cores{Second: samples[i+1].Time.Sub(samples[0].Time).Seconds(), CPUs: u.CPUs})
			}
		}
	}
	return a, nil
}

func (j *job) counters(ctx context.Context, i int) (*probe.Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	return probe.Take(ctx, &load.Target{Network: "tcp", Address: j.Loads[i].Address}, j.Loads[i].Protocol)
}

// load all servers at once: when all connections of all of them are open, begun is called and they start together.
func (j *job) load(ctx context.Context, window time.Duration, run int, begun func()) ([]*result.Run, error) {
	plans := make([]*load.Plan, len(j.Loads))
	for i, l := range j.Loads {
		var err error
		planner := memtier.Plan
		if l.Face == crusherFace {
			planner = crusher.Plan
		}
		if plans[i], err = planner(l.Args, run, 0, 1); err != nil {
			return nil, err
		}
		if window > 0 && plans[i].Duration > 0 || run > 0 {
			plans[i].Duration = window
		}
	}
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ready, start := make(chan struct{}, len(plans)), make(chan struct{})
	go func() {
		for range plans {
			select {
			case <-ready:
			case <-ctx.Done():
				return
			}
		}
		if begun != nil {
			begun()
		}
		close(start)
	}()
	runs := make([]*result.Run, len(plans))
	errs := make([]error, len(plans))
	var wg sync.WaitGroup
	for i := range plans {
		wg.Go(func() {
			hooks := drive.Hooks{Ready: func(ctx context.Context) error {
				ready <- struct{}{}
				select {
				case <-start:
					return nil
				case <-ctx.Done():
					return ctx.Err()
				}
			}}
			if runs[i], errs[i] = drive.Run(ctx, plans[i], hooks); errs[i] != nil {
				errs[i] = fmt.Errorf("load of %s: %w", j.Loads[i].Address, errs[i])
				cancel(errs[i])
			}
		})
	}
	wg.Wait()
	if err := context.Cause(ctx); err != nil && !errors.Is(err, context.Canceled) {
		return nil, err
	}
	if err := errors.Join(errs...); err != nil {
		return nil, err
	}
	return runs, nil
}

// Point0 is the load as it is given.
var Point0 raw.Point

// loadArgs are the words for a face to load the server on a port.
func loadArgs(face string, args []string, protocol string, port, seconds int, p raw.Point, fill bool) []string {
	if face == crusherFace {
		out := append([]string{"--ip", "127.0.0.1", "--port", fmt.Sprint(port)}, args...)
		if !fill {
			out = append(out, "--timeout", fmt.Sprint(max(seconds, 1)))
		}
		return out
	}
	out := append([]string{"-s", "127.0.0.1", "-p", fmt.Sprint(port), "-P", protocol}, args...)
	if p.Threads > 0 {
		out = append(out, fmt.Sprintf("--threads=%d", p.Threads), fmt.Sprintf("--clients=%d", p.Clients), fmt.Sprintf("--pipeline=%d", p.Pipeline))
	}
	if p.Rate > 0 {
		out = append(out, fmt.Sprintf("--rate=%.0f", p.Rate))
	}
	counted := false
	for _, a := range args {
		counted = counted || a == "-n" || strings.HasPrefix(a, "--requests") || strings.HasPrefix(a, "--test-time")
	}
	if !fill && !counted {
		out = append(out, fmt.Sprintf("--test-time=%d", max(seconds, 1)))
	}
	return out
}
