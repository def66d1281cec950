package agent

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"io"
	"maps"
	"net"
	"slices"
	"strings"
	"sync"
	"syscall"
	"time"

	"godwit/internal/config"
	"godwit/internal/load"
	"godwit/internal/load/drive"
	"godwit/internal/load/result"
)

// mostStrangers is how many connections may be at proving themselves at a time; more are closed.
const mostStrangers = 64

// server is an agent.
type server struct {
	token     []byte
	faces     map[string]load.Planner
	logf      func(format string, a ...any)
	t         timing
	tls       *tls.Config
	strangers chan struct{}
	wg        sync.WaitGroup // all goroutines

	mu   sync.Mutex // guards what follows
	cur  *work      // the job under way, or nil
	idle *time.Timer
	rest time.Duration // without a job after which the agent ends; 0: never
}

// Serve is an agent on ln until ctx is done: it makes the plans of the faces and runs them for coordinators that know the
// token, one at a time. logf may be nil. Serve closes ln, and ends the load that is under way, if any. It returns nil when
// ctx is done, and an error if it cannot serve any more.
func Serve(ctx context.Context, ln net.Listener, token []byte, faces map[string]load.Planner, logf func(format string, a ...any)) error {
	return serve(ctx, ln, token, faces, logf, usual, 0)
}

// serve with other times, until there was no job for so long, if that is not 0.
func serve(ctx context.Context, ln net.Listener, token []byte, faces map[string]load.Planner, logf func(string, ...any), t timing, rest time.Duration) error {
	defer ln.Close()
	if logf == nil {
		logf = func(string, ...any) {}
	}
	if err := checkToken(token); err != nil {
		return err
	}
	config, err := certificate()
	if err != nil {
		return err
	}
	s := &server{token: token, faces: faces, logf: logf, t: t, tls: config, strangers: make(chan struct{}, mostStrangers), rest: rest}
	ctx, cancel := context.WithCancel(ctx)
	if rest > 0 {
		s.idle = time.AfterFunc(rest, func() {
			logf("no job for %v: done", rest)
			cancel()
		})
		defer s.idle.Stop()
	}
	stop := context.AfterFunc(ctx, func() { ln.Close() })
	err = s.accept(ctx, ln)
	stop()
	cancel()
	s.wg.Wait()
	return err
}

// accept connections until ctx is done.
func (s *server) accept(ctx context.Context, ln net.Listener) error {
	for {
		nc, err := ln.Accept()
		switch {
		case ctx.Err() != nil:
			if err == nil {
				nc.Close()
			}
			return nil
		case err == nil:
			select {
			case s.strangers <- struct{}{}:
				s.wg.Go(func() { s.handle(ctx, nc) })
			default:
				nc.Close()
			}
		case passes(err):
			s.logf("%v; more in a second", err)
			select {
			case <-time.After(time.Second):
			case <-ctx.Done():
			}
		default:
			return err
		}
	}
}

// passes says whether accepting may work again later.
func passes(err error) bool {
	for _, e := range []error{syscall.EMFILE, syscall.ENFILE, syscall.ENOBUFS, syscall.ENOMEM, syscall.ECONNABORTED} {
		if errors.Is(err, e) {
			return true
		}
	}
	return false
}

// handle a connection from its beginning to its end.
func (s *server) handle(ctx context.Context, nc net.Conn) {
	from := nc.RemoteAddr().String()
	p, j, err := s.meet(ctx, nc)
	<-s.strangers
	if err == nil {
		s.work(ctx, p, from, j)
	} else if !errors.Is(err, io.EOF) && ctx.Err() == nil { // checks of health connect and say nothing
		s.logf("%s: refused: %v", from, err)
	}
	nc.Close()
}

// meet has the peer prove itself and tell its job, in limited time.
func (s *server) meet(ctx context.Context, nc net.Conn) (*peer, job, error) {
	ctx, cancel := context.WithTimeoutCause(ctx, s.t.prove, fmt.Errorf("no proof and job within %v", s.t.prove))
	defer cancel()
	p, err := secure(ctx, nc, roleAgent, s.tls, s.token, s.t)
	if err != nil {
		return nil, job{}, err
	}
	stop := context.AfterFunc(ctx, p.close)
	defer stop()
	b, err := p.expect(kJob)
	if err != nil {
		return nil, job{}, cmpErr(context.Cause(ctx), err)
	}
	j, err := unmarshal[job](kJob, b)
	return p, j, err
}

// work is a job and who gave it.
type work struct {
	p     *peer
	job   job
	from  string
	since time.Time
	ctx   context.Context // of the job; done early when it is stopped, or of no use any more
	start chan struct{}   // closed by the word to start
	done  chan struct{}   // closed when the job is not the agent's current one any more
}

// Causes for the end of a job.
var (
	errStop = errors.New("stopped by the coordinator")
	errOver = errors.New("the agent is being stopped")
)

// lost is the cause that the coordinator is not there any more.
type lost struct{ err error }

func (l lost) Error() string { return fmt.Sprintf("the coordinator was lost: %v", l.err) }

// work does a job for the peer.
func (s *server) work(ctx context.Context, p *peer, from string, j job) {
	wctx, cancel := context.WithCancelCause(ctx)
	w := &work{p: p, job: j, from: from, since: time.Now(), ctx: wctx, start: make(chan struct{}), done: make(chan struct{})}
	over, end := context.WithCancel(context.Background())
	var wg sync.WaitGroup
	wg.Go(func() { p.beats(over) })
	heard := make(chan struct{})
	wg.Go(func() {
		defer close(heard)
		cancel(w.listen(cancel))
	})
	wg.Go(func() {
		select {
		case <-ctx.Done():
			p.send(kFailure, marshal(failure{errOver.Error()}))
		case <-over.Done():
		}
	})
	defer func() {
		end()
		p.close()
		wg.Wait()
		cancel(nil)
	}()

	run, err := s.perform(w)
	var gone lost
	switch cause := context.Cause(wctx); {
	case errors.As(cause, &gone):
		s.logf("%s: %v", from, gone)
		return
	case ctx.Err() != nil:
		err = errOver
	case err != nil && cause != nil && cause != errStop:
		err = cause
	}
	if err != nil {
		s.logf("%s: %v", from, err)
		err = p.send(kFailure, marshal(failure{trim(err.Error())}))
	} else {
		s.logf("%s: done", from)
		err = p.deliver(run)
	}
	if err != nil {
		s.logf("%s: the result was not taken: %v", from, err)
		return
	}
	// The coordinator hangs up. If this side did, with beats of the other unread, the result could be lost on the way.
	select {
	case <-heard:
	case <-time.After(s.t.linger):
	case <-ctx.Done():
	}
}

// listen to what the coordinator says, until it is lost.
func (w *work) listen(cancel context.CancelCauseFunc) error {
	going := false
	for {
		k, content, err := w.p.recv()
		switch {
		case err != nil:
			return lost{err}
		case k == kStart && !going:
			going = true
			if err := w.p.send(kStarted, marshal(started{time.Now().UnixNano()})); err != nil {
				return lost{err}
			}
			close(w.start)
		case k == kStop:
			cancel(errStop)
		default:
			return lost{unexpected(k, content)}
		}
	}
}

// deliver a result.
func (p *peer) deliver(run *result.Run) error {
	for piece := range slices.Chunk(run.Append(nil), chunk) {
		if err := p.send(kChunk, piece); err != nil {
			return err
		}
	}
	return p.send(kEnd, nil)
}

// perform waits for its turn, plans and runs.
func (s *server) perform(w *work) (*result.Run, error) {
	if err := s.acquire(w); err != nil {
		return nil, err
	}
	defer s.release(w)
	j := &w.job
	if j.Release != config.Version {
		return nil, fmt.Errorf("it is godwit %s, the coordinator is %s: use the same release", config.Version, j.Release)
	}
	if j.Run < 0 || j.Part < 0 || j.Part >= j.Parts {
		return nil, fmt.Errorf("run %d, part %d of %d: there is no such part", j.Run, j.Part, j.Parts)
	}
	planner := s.faces[j.Face]
	if planner == nil {
		return nil, fmt.Errorf("unknown load %q; it knows %s", j.Face, strings.Join(slices.Sorted(maps.Keys(s.faces)), ", "))
	}
	s.logf("%s: %s, run %d, part %d of %d", w.from, j.Face, j.Run+1, j.Part+1, j.Parts)
	plan, err := planner(j.Args, j.Run, j.Part, j.Parts)
	if err != nil {
		return nil, err
	}
	if err := context.Cause(w.ctx); err != nil {
		return nil, err
	}
	return w.drive(plan)
}

// acquire makes w the current job, if there is none. One that is at its end is waited for.
func (s *server) acquire(w *work) error {
	for {
		s.mu.Lock()
		c := s.cur
		if c == nil {
			s.cur = w
			if s.idle != nil {
				s.idle.Stop()
			}
			s.mu.Unlock()
			return nil
		}
		s.mu.Unlock()
		if c.ctx.Err() == nil {
			return fmt.Errorf("busy: it has run a load of %s, part %d of %d, for %s since %s", c.job.Face, c.job.Part+1, c.job.Parts, c.from, c.since.Format(time.TimeOnly))
		}
		select {
		case <-c.done:
		case <-w.ctx.Done():
			return context.Cause(w.ctx)
		}
	}
}

func (s *server) release(w *work) {
	s.mu.Lock()
	s.cur = nil
	if s.idle != nil {
		s.idle.Reset(s.rest)
	}
	s.mu.Unlock()
	close(w.done)
}

// drive runs the plan. A snapshot that the coordinator is too slow to take is dropped for the next: the load does not wait.
func (w *work) drive(plan *load.Plan) (*result.Run, error) {
	snapshots := make(chan []byte, 1)
	var wg sync.WaitGroup
	wg.Go(func() {
		for b := range snapshots {
			if w.p.send(kSnapshot, b) != nil {
				w.p.close() // listen sees it
			}
		}
	})
	run, err := drive.Run(w.ctx, plan, drive.Hooks{
		Ready: func(ctx context.Context) error {
			grace := plan.Grace
			if grace == 0 {
				grace = defaultGrace
			}
			if err := w.p.send(kReady, marshal(ready{Rows: plan.Rows, Clients: len(plan.Clients), Grace: grace})); err != nil {
				return lost{err}
			}
			select {
			case <-w.start:
				return nil
			case <-ctx.Done():
			}
			select {
			case <-w.start: // and stopped at once: that is a short load, not a failure
				return nil
			default:
				return context.Cause(ctx)
			}
		},
		Watch: func(s *result.Snapshot) {
			b := s.Append(nil)
			if len(b) >= mostFrame {
				return
			}
			select {
			case <-snapshots:
			default:
			}
			snapshots <- b
		},
	})
	close(snapshots)
	wg.Wait()
	return run, err
}

// defaultGrace is what drive gives a plan that does not say.
const defaultGrace = 5 * time.Second
