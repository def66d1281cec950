package drive

import (
	"context"
	"errors"
	"fmt"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
	"godwit/internal/netloop"
)

const (
	defaultGrace = 5 * time.Second
	dialsAtOnce  = 128
)

// run is a load under way.
type run struct {
	plan      *load.Plan
	srv       *netloop.Server
	workers   []*worker
	clients   []*client
	schedules map[int]*schedule // that clients share, by Group
	sem       chan struct{}     // dials under way
	std       bool              // goroutine connections

	base    time.Time    // nanosecond clock: time.Since(base)
	started atomic.Int64 // when the load began, on that clock; 0: not yet
	over    atomic.Bool  // no more requests
	killed  atomic.Bool  // no more waiting for answers

	coming  atomic.Int64 // clients that the start waits for
	ready   chan struct{}
	left    atomic.Int64 // clients that are not at their end
	ended   chan struct{}
	dialers sync.WaitGroup
	ctx     context.Context
	cancel  context.CancelFunc

	col *collector
}

// Hooks of a run; each may be nil.
type Hooks struct {
	// Ready is called when all connections are open; the load starts when it returns, unless with an error.
	Ready func(ctx context.Context) error
	// Watch gets a Snapshot each second, from one goroutine.
	Watch func(*result.Snapshot)
}

// Run runs the plan until its end, or until ctx is cancelled: then the result is marked as interrupted. Run returns an
// error when the load could not run: no client could connect, or the plan makes no sense. Everything else that goes wrong
// is in the result.
func Run(ctx context.Context, plan *load.Plan, hooks Hooks) (*result.Run, error) {
	if err := check(plan); err != nil {
		return nil, err
	}
	r := &run{plan: plan, base: time.Now(), ready: make(chan struct{}), ended: make(chan struct{}), sem: make(chan struct{}, dialsAtOnce)}
	r.ctx, r.cancel = context.WithCancel(context.Background())
	defer r.cancel()
	io := plan.IO
	for i := range plan.Clients {
		if plan.Clients[i].Target.TLS != nil {
			io = "std"
		}
	}
	for i := range plan.Loops {
		r.workers = append(r.workers, newWorker(r, i))
	}
	if os.Getenv("GOMAXPROCS") == "" && runtime.GOMAXPROCS(0) < plan.Loops+2 {
		runtime.GOMAXPROCS(plan.Loops + 2) // loops may wait without giving their P away
	}
	srv, err := netloop.New(netloop.Config{Loops: plan.Loops, IO: io, Duplex: true, InLimit: 1 << 31}, (*handler)(r))
	if err != nil {
		return nil, err
	}
	r.srv = srv
	r.std = srv.IO() == "std"
	r.col = newCollector(r, hooks.Watch)
	srv.Start()
	defer srv.Stop(false)

	r.left.Store(int64(len(plan.Clients)))
	for i := range plan.Clients {
		loop := i
		if g := plan.Clients[i].Group; g != 0 {
			loop = g
		}
		c := newClient(r, r.workers[loop%plan.Loops], i)
		r.clients = append(r.clients, c)
		if c.plan.Begin == 0 {
			r.coming.Add(1)
		}
	}
	r.coming.Add(1)
	for _, c := range r.clients {
		if c.plan.Begin == 0 {
			c.dial(0)
		}
	}
	r.arrived()
	select {
	case <-r.ready:
	case <-ctx.Done():
		return nil, fmt.Errorf("interrupted before all connections were open")
	}
	if r.left.Load() == 0 {
		return nil, fmt.Errorf("no connection: %s", r.col.firstError())
	}
	if hooks.Ready != nil {
		if err := hooks.Ready(ctx); err != nil {
			return nil, err
		}
	}
	r.start()
	r.wait(ctx)
	r.cancel()
	r.dialers.Wait()
	srv.Stop(false)
	return r.col.finish(), nil
}

// check finds what no load can run with.
func check(p *load.Plan) error {
	switch {
	case p.Loops < 1:
		return fmt.Errorf("loops %d: at least 1", p.Loops)
	case len(p.Clients) == 0:
		return errors.New("no clients")
	case len(p.Rows) == 0 || len(p.Rows) > 255:
		return fmt.Errorf("%d rows of results: 1 to 255", len(p.Rows))
	}
	for i := range p.Clients {
		if c := &p.Clients[i]; c.Pipeline < 1 || c.Rate < 0 || c.Target == nil || c.Source == nil || c.Codec == nil {
			return fmt.Errorf("client %d: pipeline %d, rate %g: the pipeline must be at least 1, the rate not negative", i, c.Pipeline, c.Rate)
		} else if c.Burst > c.Pipeline && (c.Rate == 0 || c.Blind || p.Blind) {
			return fmt.Errorf("client %d: burst %d: more than may be unanswered (%d)", i, c.Burst, c.Pipeline)
		} else if _, ok := c.Source.(load.Spanner); ok && c.Pipeline > 1 {
			return fmt.Errorf("client %d: pipeline %d: operations of several requests need 1", i, c.Pipeline)
		}
	}
	return nil
}

// arrived notes that a client that the start waits for is open, or will not be.
func (r *run) arrived() {
	if r.coming.Add(-1) == 0 {
		close(r.ready)
	}
}

// gone notes that a client is at its end.
func (r *run) gone() {
	if r.left.Add(-1) == 0 {
		close(r.ended)
	}
}

// now is the time since base, ns; never 0.
func (r *run) now() int64 { return int64(time.Since(r.base)) + 1 }

// end is when the time of the run is over, on the clock of now; 0: it has no end by time.
func (r *run) end() float64 {
	if r.plan.Duration == 0 {
		return 0
	}
	return float64(r.started.Load()) + float64(r.plan.Warmup+r.plan.Duration)
}

// start lets the clients begin, all at once.
func (r *run) start() {
	r.col.begin()
	r.started.Store(r.now())
	r.wakeAll()
	for _, c := range r.clients {
		if c.plan.Begin > 0 {
			c.dial(c.plan.Begin)
		}
	}
}

func (r *run) wakeAll() {
	for _, c := range r.clients {
		c.wake()
	}
}

// wait for the end: all clients at theirs, or the time over and all answers in, or no patience left.
func (r *run) wait(ctx context.Context) {
	var stop <-chan time.Time
	if d := r.plan.Duration; d > 0 {
		t := time.NewTimer(d + r.plan.Warmup)
		defer t.Stop()
		stop = t.C
	}
	select {
	case <-r.ended:
		return
	case <-stop:
	case <-ctx.Done():
		r.col.interrupted()
	}
	r.over.Store(true)
	r.cancel() // clients that are not open yet will not be
	r.wakeAll()
	grace := r.plan.Grace
	if grace == 0 {
		grace = defaultGrace
	}
	t := time.NewTimer(grace)
	defer t.Stop()
	select {
	case <-r.ended:
	case <-t.C:
		r.killed.Store(true)
		r.wakeAll()
		select {
		case <-r.ended:
		case <-time.After(time.Second): // a loop is stuck: Stop ends the sessions
		}
	}
}

// handler is the run as netloop sees it.
type handler run

// Open implements netloop.Handler.
func (h *handler) Open(nc netloop.Conn) netloop.Session {
	c := nc.Listener().Tag.(*client)
	c.open(nc)
	return c
}

// Turn implements netloop.Handler.
func (h *handler) Turn(loop int) { h.workers[loop].turn() }

// Next implements netloop.Timed.
func (h *handler) Next(loop int) time.Duration { return h.workers[loop].next() }
