package netloop

import (
	"errors"
	"fmt"
	"runtime"
	"sync"
	"sync/atomic"
	"time"
)

// Config of a Server. The zero value of a field is its default.
type Config struct {
	Listeners    []*Listener
	Loops        int           // event loops; 0: one per core
	MaxConns     int           // sockets at most, listening ones included; 0: no limit
	MaxConnsFast bool          // refuse those above the limit with an error text, instead of leaving them waiting
	IdleTimeout  time.Duration // 0: off
	ReadBufSize  int           // bytes of the shared read buffer of a loop; 0: 64 KiB
	ReadMemLimit int64         // bytes lent to connections for incomplete requests, over all loops; 0: no limit
	InLimit      int           // bytes one connection may leave unused before it is closed; 0: 8 MiB
	OutLimit     int           // bytes one connection may leave unsent before it is closed; 0: no limit
	UDPReply     int           // bytes one datagram may be answered with at most; 0: 64 KiB
	DrainTimeout time.Duration // how long a graceful stop waits for clients to take their answers; 0: 5 s
	Handshake    time.Duration // how long a TLS handshake may take; 0: 15 s
	IO           string        // auto, epoll, io_uring or std
	// Duplex goes on feeding a session while output waits for the socket, as clients need that send much and are answered
	// much: both ends might wait for each other otherwise. How much waits is bounded by what the session has to say.
	Duplex bool
	Logf   func(format string, args ...any)

	polite bool // never wait in the kernel with a P; for tests
}

// Server listens, and moves bytes between its connections and the sessions of its Handler.
type Server struct {
	cfg   Config
	h     Handler
	timed Timed // h, or nil
	socks []*sock
	loops []eventLoop
	std   []*stdLoop
	gate  gate
	io    string // what IO came to

	idleMs  int64        // idle timeout, in what now counts
	now     atomic.Int64 // milliseconds since the start, advanced by tick: good for idle times, costs nothing to read
	start   time.Time
	kicks   atomic.Uint64
	outKill atomic.Uint64
	inKill  atomic.Uint64
	tls     tlsCounters

	udpDrops atomic.Uint64

	asked    chan Verdict
	stopping atomic.Bool
	stopOnce sync.Once
	quit     chan struct{} // closed when stopping begins
	stopped  chan struct{} // closed when everything has ended
	wg       sync.WaitGroup
	started  bool
}

// eventLoop is a loop that serves many connections on one thread (epoll, io_uring).
type eventLoop interface {
	run()                // until stop; on a goroutine of its own
	adopt(a accepted)    // from any goroutine
	stop(graceful bool)  // from any goroutine; run returns soon, at the latest after DrainTimeout
	scan()               // from any goroutine: look for idle connections
	load() int           // connections
	each(fn func(*base)) // from any goroutine
	state(c *base) State // from any goroutine
	memory() (n, used, free int64)
}

// New binds all listeners. Nothing is accepted before Start.
func New(cfg Config, h Handler) (*Server, error) {
	s := &Server{cfg: cfg, h: h, asked: make(chan Verdict, 1), quit: make(chan struct{}), stopped: make(chan struct{})}
	s.timed, _ = h.(Timed)
	c := &s.cfg
	if c.Loops <= 0 {
		c.Loops = runtime.NumCPU()
	}
	setDefault(&c.ReadBufSize, 64<<10)
	setDefault(&c.InLimit, 8<<20)
	setDefault(&c.UDPReply, 64<<10)
	c.UDPReply = min(c.UDPReply, 0xffff*udpPayload)
	setDefault(&c.DrainTimeout, 5*time.Second)
	setDefault(&c.Handshake, 15*time.Second)
	if c.ReadMemLimit > 0 {
		c.ReadMemLimit = max(c.ReadMemLimit, 1<<20)
	}
	s.idleMs = (c.IdleTimeout + s.step()).Milliseconds()
	if c.Logf == nil {
		c.Logf = func(string, ...any) {}
	}
	if err := s.pickIO(); err != nil {
		return nil, err
	}
	for _, l := range c.Listeners {
		socks, err := s.bind(l)
		if err != nil {
			s.closeSocks()
			return nil, err
		}
		s.socks = append(s.socks, socks...)
	}
	limit := 0
	if c.MaxConns > 0 {
		limit = max(1, c.MaxConns-len(s.socks))
	}
	s.gate.init(limit, c.MaxConnsFast)
	needStd := s.io == "std"
	for _, k := range s.socks {
		needStd = needStd || k.std() || k.l.Transport == UDP
	}
	if s.io != "std" {
		if err := s.makeLoops(needStd); err != nil {
			s.Stop(false)
			return nil, err
		}
	}
	if needStd {
		for range c.Loops {
			s.std = append(s.std, newStdLoop(s, s.Loops()))
		}
	}
	return s, nil
}

func setDefault[T int | time.Duration](p *T, v T) {
	if *p <= 0 {
		*p = v
	}
}

// pickIO decides on the driver. "auto" is io_uring where the kernel allows it, else epoll, or std where there is neither.
func (s *Server) pickIO() error {
	switch s.cfg.IO {
	case "", "auto":
		s.io = autoIO
	case "std":
		s.io = "std"
	case "epoll", "io_uring":
		s.io = s.cfg.IO
		if autoIO == "std" {
			s.cfg.Logf("io %s: not on this system, using std", s.cfg.IO)
			s.io = "std"
		}
	default:
		return fmt.Errorf("netloop: io %q: unknown (use auto, epoll, io_uring or std)", s.cfg.IO)
	}
	return nil
}

// IO names the driver of plain connections: epoll, io_uring or std.
func (s *Server) IO() string { return s.io }

// Loops is the number of loops, event loops first; Conn.Loop is below it.
func (s *Server) Loops() int { return len(s.loops) + len(s.std) }

// Start begins to accept and serve.
func (s *Server) Start() {
	if s.started {
		return
	}
	s.started = true
	s.start = time.Now()
	for _, l := range s.loops {
		s.wg.Go(l.run)
	}
	for _, k := range s.socks {
		if k.l.Transport == UDP {
			s.startUDP(k)
			continue
		}
		s.wg.Go(func() { s.accept(k) })
	}
	s.wg.Go(s.tick)
	if s.timed != nil {
		for _, l := range s.std {
			s.wg.Go(l.turns)
		}
	}
}

// Serve starts and returns when the server has stopped.
func (s *Server) Serve() {
	s.Start()
	<-s.stopped
}

// Done tells, once, that a session asked for the server to stop: Shut or ShutGraceful. The owner then calls Stop.
func (s *Server) Done() <-chan Verdict { return s.asked }

// ask passes the wish of a session on that the server stop, if its last verdict says so.
func (s *Server) ask(v Verdict) {
	if v != Shut && v != ShutGraceful {
		return
	}
	select {
	case s.asked <- v:
	default:
	}
}

// Stop ends the server and returns when all sessions are closed. Gracefully means: requests that an event loop can read,
// or a goroutine has read, are answered, and answers are sent, for at most DrainTimeout. It must not be called from a
// session.
func (s *Server) Stop(graceful bool) {
	s.stopOnce.Do(func() {
		s.stopping.Store(true)
		close(s.quit)
		s.closeSocks()
		if s.started {
			for _, l := range s.loops {
				l.stop(graceful)
			}
			s.stopStd(graceful)
		} else {
			for _, l := range s.loops { // give back their descriptors
				l.stop(false)
				l.run()
			}
		}
		s.wg.Wait()
		close(s.stopped)
	})
	<-s.stopped
}

func (s *Server) closeSocks() {
	for _, k := range s.socks {
		k.close()
	}
}

// step is the time between ticks.
func (s *Server) step() time.Duration {
	if t := s.cfg.IdleTimeout; t > 0 {
		return min(time.Second, max(t/8, 10*time.Millisecond))
	}
	return time.Second
}

// tick advances now and starts the scans for idle connections. One goroutine.
func (s *Server) tick() {
	step := s.step()
	t := time.NewTicker(step)
	defer t.Stop()
	scanned := s.start
	for {
		select {
		case <-s.quit:
			return
		case now := <-t.C:
			s.now.Store(time.Since(s.start).Milliseconds())
			if s.cfg.IdleTimeout > 0 && now.Sub(scanned) >= s.cfg.IdleTimeout/4 {
				scanned = now
				for _, l := range s.loops {
					l.scan()
				}
				for _, l := range s.std {
					l.scan()
				}
			}
		}
	}
}

// idle says whether a connection with nothing to do has waited longer than allowed. Its last input may be up to a step of
// tick younger than noted.
func (s *Server) idle(c *base) bool {
	return s.now.Load()-c.last.Load() >= s.idleMs && c.sess.Idle()
}

// least is the event loop, or the goroutine loop, with the fewest connections.
func least[L interface{ load() int }](ls []L) L {
	best := ls[0]
	for _, l := range ls[1:] {
		if l.load() < best.load() {
			best = l
		}
	}
	return best
}

// ListenError says what could not be listened on.
type ListenError struct {
	L    *Listener
	Addr string // as tried, for example 0.0.0.0:11211
	Err  error
}

func (e *ListenError) Error() string {
	return fmt.Sprintf("netloop: listen on %s: %v", e.Addr, e.Cause())
}

func (e *ListenError) Unwrap() error { return e.Err }

// Cause is the innermost error: the system's own words.
func (e *ListenError) Cause() error {
	err := e.Err
	for {
		in := errors.Unwrap(err)
		if in == nil {
			return err
		}
		err = in
	}
}
