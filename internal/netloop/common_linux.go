//go:build !386

package netloop

import (
	"os"
	"runtime"
	"strings"
	"sync/atomic"
	"time"
)

// loopBase is what the loops of both drivers have in common: their connections, their mail, how they end. All fields are
// the loop goroutine's own, except where noted. C is the driver's connection. Its methods are called indirectly here:
// only when a connection comes, or when the loop looks through all of them, never per event.
type loopBase[C member] struct {
	srv   *Server
	h     Handler
	id    int
	raw   bool   // may wait in the kernel without telling the scheduler
	calm  bool   // the last raw wait brought nothing: wait in the ordinary way
	out   outbox // of the Feed that runs
	tx    sender
	conns []C     // by slot, which the kernel hands back with events
	slots []int32 // free slots
	runq  []C     // to be fed without new input
	spare []C
	fixed int64 // bytes of the loop's own read buffers
	pool  pool  // counters: anyone
	box   mailbox
	reg   registry     // anyone
	n     atomic.Int64 // connections, those on the way included; anyone
	busy  atomic.Int64 // id of the connection whose Feed runs, or ran last; anyone

	stopped  bool
	draining bool
	deadline time.Time // of draining
}

// connBase is what the connections of both drivers have in common. Everything belongs to the loop's goroutine, except
// what base shares.
type connBase struct {
	base
	fd     int
	slot   int32
	queued bool // in the run queue: Feed is to come, and no reading before it
	parked bool
	woke   bool // waked while output was under way
	dead   bool
	after  Verdict // what the session wanted, to be followed once all output is sent
	in     inbuf
	pend   *outbox // output that the socket did not take; while it lasts nothing is fed
	pbuf   []byte  // buffer of pend that is lent by the pool, or nil
}

// member is a connection as its loop's bookkeeping sees it.
type member interface {
	comparable
	Conn
	common() *connBase
	waiting() bool // for input, and for nothing else
	close(r Reason)
}

func (l *loopBase[C]) init(s *Server, id int, mixed bool) {
	l.srv, l.h, l.id = s, s.h, id
	l.raw = !mixed && !s.cfg.polite && s.cfg.Loops <= runtime.NumCPU() && preemptible()
	l.pool.limit = s.cfg.ReadMemLimit / int64(s.cfg.Loops)
	l.busy.Store(-1)
}

// preemptible says whether the runtime interrupts a thread by a signal. A raw wait has no time limit, since to set a timer for
// each costs as much as the wait itself on a virtual machine; it ends at the latest when the runtime's monitor finds that
// the loop has not called the scheduler for 10 ms and sends that signal.
func preemptible() bool { return !strings.Contains(os.Getenv("GODEBUG"), "asyncpreemptoff=1") }

// most is how long the loop may wait; negative: for ever.
func (l *loopBase[C]) most() time.Duration {
	most := time.Duration(-1)
	switch {
	case len(l.runq) > 0:
		return 0
	case l.draining:
		most = 10 * time.Millisecond
	}
	if l.srv.timed != nil {
		if t := l.srv.timed.Next(l.id); t >= 0 && (most < 0 || t < most) {
			most = t
		}
	}
	return most
}

// inTime makes the timers of the calling thread exact if anything is to be done at certain times: usually Linux lets them
// be up to 50 microseconds late, in order to serve several at once.
func (l *loopBase[C]) inTime() {
	if l.srv.timed != nil {
		setTimerSlack()
	}
}

// idle says that a turn would have nothing to do.
func (l *loopBase[C]) idle(events int) bool {
	return events == 0 && len(l.runq) == 0 && !l.box.full.Load() && !l.draining && l.srv.timed == nil
}

func (l *loopBase[C]) load() int           { return int(l.n.Load()) }
func (l *loopBase[C]) scan()               { l.box.post(mail{kind: mailScan}) }
func (l *loopBase[C]) each(fn func(*base)) { l.reg.each(fn) }

func (l *loopBase[C]) adopt(a accepted) {
	l.n.Add(1)
	if !l.box.post(mail{kind: mailAdopt, in: a}) {
		l.drop(a)
	}
}

// drop ends a connection that never became one.
func (l *loopBase[C]) drop(a accepted) {
	l.n.Add(-1)
	l.srv.gate.leave()
	closeFD(a.fd)
}

func (l *loopBase[C]) stop(graceful bool) {
	if graceful {
		l.box.post(mail{kind: mailDrain})
	} else {
		l.box.post(mail{kind: mailStop})
	}
}

func (l *loopBase[C]) memory() (n, used, free int64) {
	return l.pool.count.Load(), l.pool.lent.Load(), l.pool.cached.Load() + l.fixed
}

func (l *loopBase[C]) state(c *base) State {
	if int64(c.id) == l.busy.Load() && !l.box.asleep.Load() {
		return StateRunning
	}
	return State(c.st.Load())
}

// obey reads one piece of mail; a new connection is the driver's to make.
func (l *loopBase[C]) obey(m mail) {
	switch m.kind {
	case mailWake:
		m.conn.wake()
	case mailScan:
		for c := range l.members {
			if c.waiting() && l.srv.idle(&c.common().base) {
				l.srv.kicks.Add(1)
				c.close(ReasonIdle)
			}
		}
	case mailStop:
		l.stopped = true
	case mailDrain:
		l.draining = true
		l.deadline = time.Now().Add(l.srv.cfg.DrainTimeout)
	}
}

// members yields the connections, which may be closed meanwhile.
func (l *loopBase[C]) members(yield func(C) bool) {
	var none C
	for _, c := range l.conns {
		if c != none && !yield(c) {
			return
		}
	}
}

// drain ends the connections that have nothing more to do; those behind with sending get until the deadline. It runs at
// the end of a turn, so that what had arrived before the stop has been answered.
func (l *loopBase[C]) drain() {
	late := time.Now().After(l.deadline)
	left := 0
	for c := range l.members {
		if late || c.waiting() || c.common().parked {
			c.close(ReasonShutdown)
		} else {
			left++
		}
	}
	l.stopped = left == 0
}

// end closes what is left when the loop stops.
func (l *loopBase[C]) end() {
	for c := range l.members {
		c.close(ReasonShutdown)
	}
	for _, m := range l.box.close() {
		if m.kind == mailAdopt {
			l.drop(m.in)
		}
	}
}

// admit makes c the connection of an accepted socket, in a slot of its own, and opens its session.
func (l *loopBase[C]) admit(c C, a accepted) {
	k := c.common()
	k.srv, k.sock, k.id, k.loop, k.peer = l.srv, a.sock, a.fd, l.id, a.peer
	k.fd = a.fd
	k.set(StateWaiting)
	k.last.Store(l.srv.now.Load())
	if n := len(l.slots); n > 0 {
		k.slot = l.slots[n-1]
		l.slots = l.slots[:n-1]
		l.conns[k.slot] = c
	} else {
		k.slot = int32(len(l.conns))
		l.conns = append(l.conns, c)
	}
	k.sess = l.h.Open(c)
	l.reg.add(&k.base)
}

// dismiss ends the session of a connection and takes back what the connection holds; the descriptor is left to the
// driver. It says false when that was done before.
func (l *loopBase[C]) dismiss(c *connBase, r Reason) bool {
	if c.dead {
		return false
	}
	c.dead = true
	c.set(StateClosing)
	var none C
	l.conns[c.slot] = none
	l.slots = append(l.slots, c.slot)
	c.in.free(&l.pool)
	c.dropPending(&l.pool)
	c.sess.Closed(r)
	l.reg.remove(&c.base)
	l.n.Add(-1)
	l.srv.gate.leave()
	return true
}

// serve hands unread input to the session and keeps what it left; the answer is in out. own: in is in the connection's
// buffer.
func (l *loopBase[C]) serve(c *connBase, in []byte, own bool) Verdict {
	if l.busy.Load() != int64(c.id) {
		l.busy.Store(int64(c.id))
	}
	used, v := c.sess.Feed(in, &l.out.Out)
	if own {
		c.in.drop(used, &l.pool)
	} else if used < len(in) || c.in.buf != nil {
		if n := len(in) - used; n > len(c.in.buf) && !l.pool.allows(n) {
			l.srv.inKill.Add(1)
			return Abort
		}
		c.in.set(in[used:], &l.pool)
	}
	return v
}

// keep leaves the unsent part of out with the connection, or says false if that is more than allowed. give is for split.
func (l *loopBase[C]) keep(c *connBase, v Verdict, give bool) bool {
	if limit := l.srv.cfg.OutLimit; limit > 0 && l.out.rest() > limit {
		l.srv.outKill.Add(1)
		return false
	}
	c.after = v
	c.pend, c.pbuf = l.out.split(&l.pool, give)
	if v.last() {
		c.set(StateClosing)
	} else {
		c.set(StateWriting)
	}
	return true
}

// append adds the answer of a duplex session to the output that waits.
func (c *connBase) append(out *outbox, v Verdict) {
	out.pieces(func(p []byte) bool {
		c.pend.Buf = append(c.pend.Buf, p...)
		return true
	})
	c.after = v
}

func (c *connBase) common() *connBase { return c }

func (c *connBase) dropPending(p *pool) {
	if c.pend == nil {
		return
	}
	c.pend.clear()
	c.pend = nil
	if c.pbuf != nil {
		p.put(c.pbuf)
		c.pbuf = nil
	}
}

// last says that nothing is fed after v.
func (v Verdict) last() bool { return v >= Close }

// due follows a verdict that is not the last, once all output is sent. It says whether Feed is to come without new
// input.
func (c *connBase) due(v Verdict) bool {
	woke := c.woke
	c.woke = false
	switch {
	case v == Yield, v == Stream:
		return true
	case v == Park && !woke:
		c.parked = true
		c.set(StateParked)
	}
	return woke
}
