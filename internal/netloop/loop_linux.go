//go:build !386

package netloop

import (
	"runtime"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	maxEvents = 512
	rawWaitMs = 2       // how long a loop may wait in the kernel with its P
	keepOut   = 1 << 20 // bytes of reply buffer a loop keeps between turns
)

// loop serves its connections with epoll on one OS thread. All fields are the loop goroutine's own, except where noted.
type loop struct {
	srv   *Server
	h     Handler
	id    int
	ep    int
	raw   bool // may wait in the kernel without telling the scheduler
	calm  bool // the last raw wait brought nothing: wait in the ordinary way
	ev    []syscall.EpollEvent
	rbuf  []byte // shared read buffer
	out   outbox // shared reply buffer: empty between Feeds
	tx    sender
	conns []*conn // by slot, which is also the epoll user data
	slots []int32 // free slots
	runq  []*conn // to be fed without new input
	spare []*conn
	pool  pool // counters: anyone
	box   mailbox
	reg   registry     // anyone
	n     atomic.Int64 // connections, those on the way included; anyone
	busy  atomic.Int64 // id of the connection whose Feed runs, or ran last; anyone

	stopped  bool
	draining bool
	deadline time.Time // of draining
}

const boxSlot = -1

func newLoop(s *Server, id int, mixed bool) (*loop, error) {
	l := &loop{srv: s, h: s.h, id: id}
	ep, err := syscall.EpollCreate1(syscall.EPOLL_CLOEXEC)
	if err != nil {
		return nil, err
	}
	l.ep = ep
	if l.box.efd, err = eventfd(); err != nil {
		closeFD(ep)
		return nil, err
	}
	ev := syscall.EpollEvent{Events: epollIn | epollEdge, Fd: boxSlot}
	if e := rawEpollCtl(ep, syscall.EPOLL_CTL_ADD, l.box.efd, &ev); e != 0 {
		closeFD(ep)
		closeFD(l.box.efd)
		return nil, e
	}
	l.raw = !mixed && !s.cfg.polite && s.cfg.Loops <= runtime.NumCPU()
	l.ev = make([]syscall.EpollEvent, maxEvents)
	l.rbuf = make([]byte, max(s.cfg.ReadBufSize, 2*smallLeft))
	l.pool.limit = s.cfg.ReadMemLimit / int64(s.cfg.Loops)
	l.busy.Store(-1)
	return l, nil
}

func (l *loop) load() int           { return int(l.n.Load()) }
func (l *loop) scan()               { l.box.post(mail{kind: mailScan}) }
func (l *loop) each(fn func(*base)) { l.reg.each(fn) }

func (l *loop) adopt(a accepted) {
	l.n.Add(1)
	if !l.box.post(mail{kind: mailAdopt, in: a}) {
		l.drop(a)
	}
}

// drop ends a connection that never became one.
func (l *loop) drop(a accepted) {
	l.n.Add(-1)
	l.srv.gate.leave()
	closeFD(a.fd)
}

func (l *loop) stop(graceful bool) {
	if graceful {
		l.box.post(mail{kind: mailDrain})
	} else {
		l.box.post(mail{kind: mailStop})
	}
}

func (l *loop) memory() (n, used, free int64) {
	return l.pool.count.Load(), l.pool.lent.Load(), l.pool.cached.Load() + int64(len(l.rbuf))
}

func (l *loop) state(c *base) State {
	if int64(c.id) == l.busy.Load() && !l.box.asleep.Load() {
		return StateRunning
	}
	return State(c.st.Load())
}

// run serves until stopped.
func (l *loop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	if runtime.GOMAXPROCS(0) <= len(l.srv.loops) {
		l.raw = false
	}
	for !l.stopped {
		n := l.wait()
		if n == 0 && len(l.runq) == 0 && !l.box.full.Load() && !l.draining {
			continue
		}
		l.h.Turn(l.id)
		for _, m := range l.box.take() {
			l.open(m)
		}
		for i := range n {
			e := &l.ev[i]
			if e.Fd >= 0 {
				// Slots are given away before the events of a turn only: a stale event finds nil, or at worst a new
				// connection that tries to read in vain.
				if c := l.conns[e.Fd]; c != nil {
					l.event(c, e.Events)
				}
			}
		}
		l.runQueue()
		if l.draining && n < len(l.ev) { // else more is ready
			l.drain()
		}
	}
	l.end()
}

// wait returns the number of events. Three steps: under load a raw wait finds events at once or within 2 ms, and the
// scheduler has no part in it; after a quiet raw wait the ordinary one blocks for as long as nothing happens.
func (l *loop) wait() int {
	ms := -1
	if len(l.runq) > 0 {
		ms = 0
	} else if l.draining {
		ms = 10
	}
	if ms != 0 && !l.raw && !l.calm {
		if n, _ := rawEpollWait(l.ep, l.ev, 0); n > 0 {
			return n
		}
		l.calm = true
	}
	if ms == 0 {
		n, e := rawEpollWait(l.ep, l.ev, 0)
		return events(n, e)
	}
	l.box.asleep.Store(true)
	if l.box.full.Load() {
		l.box.asleep.Store(false)
		n, e := rawEpollWait(l.ep, l.ev, 0)
		return events(n, e)
	}
	var n int
	var e syscall.Errno
	if l.calm {
		n, e = epollWait(l.ep, l.ev, ms)
	} else {
		n, e = rawEpollWait(l.ep, l.ev, rawWaitMs)
	}
	l.box.asleep.Store(false)
	if e == 0 {
		l.calm = n == 0
	}
	return events(n, e)
}

func events(n int, e syscall.Errno) int {
	if e != 0 {
		if e != syscall.EINTR {
			panic("netloop: epoll_wait: " + e.Error()) // a descriptor of ours was closed under us
		}
		return 0
	}
	return n
}

// runQueue feeds the connections that asked to come last in this turn.
func (l *loop) runQueue() {
	q := l.runq
	if len(q) == 0 {
		return
	}
	l.runq, l.spare = l.spare[:0], q
	for i, c := range q {
		q[i] = nil
		if c.dead {
			continue
		}
		c.queued = false
		l.feed(c, c.in.bytes(), true)
	}
}

func (l *loop) enqueue(c *conn) {
	if !c.queued {
		c.queued = true
		l.runq = append(l.runq, c)
	}
}

// open reads one piece of mail.
func (l *loop) open(m mail) {
	switch m.kind {
	case mailWake:
		m.conn.wake()
	case mailAdopt:
		l.newConn(m.in)
	case mailScan:
		for _, c := range l.conns {
			if c != nil && c.waiting() && l.srv.idle(&c.base) {
				l.srv.kicks.Add(1)
				l.close(c, ReasonIdle)
			}
		}
	case mailStop:
		l.stopped = true
	case mailDrain:
		l.draining = true
		l.deadline = time.Now().Add(l.srv.cfg.DrainTimeout)
	}
}

// drain ends the connections that have nothing more to do; those behind with sending get until the deadline. It runs at
// the end of a turn, so that what had arrived before the stop has been answered.
func (l *loop) drain() {
	late := time.Now().After(l.deadline)
	left := 0
	for _, c := range l.conns {
		switch {
		case c == nil:
		case late || c.waiting() || c.parked:
			l.close(c, ReasonShutdown)
		default:
			left++
		}
	}
	l.stopped = left == 0
}

// end closes what is left when the loop stops.
func (l *loop) end() {
	for _, c := range l.conns {
		if c != nil {
			l.close(c, ReasonShutdown)
		}
	}
	for _, m := range l.box.close() {
		if m.kind == mailAdopt {
			l.drop(m.in)
		}
	}
	closeFD(l.ep)
}
