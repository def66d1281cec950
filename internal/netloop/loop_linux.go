//go:build !386

package netloop

import (
	"runtime"
	"syscall"
)

const (
	maxEvents = 512
	keepOut   = 1 << 20 // bytes of reply buffer a loop keeps between turns
)

// loop serves its connections with epoll on one OS thread. The slot of a connection is its epoll user data; out is empty
// between Feeds. All fields are the loop goroutine's own.
type loop struct {
	loopBase[*conn]

	ep   int
	ev   []syscall.EpollEvent
	rbuf []byte // shared read buffer
}

const boxSlot = -1

func newLoop(s *Server, id int, mixed bool) (*loop, error) {
	l := &loop{}
	l.init(s, id, mixed)
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
	l.ev = make([]syscall.EpollEvent, maxEvents)
	l.rbuf = make([]byte, max(s.cfg.ReadBufSize, 2*smallLeft))
	l.fixed = int64(len(l.rbuf))
	return l, nil
}

// run serves until stopped.
func (l *loop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.inTime()
	if runtime.GOMAXPROCS(0) <= len(l.srv.loops) {
		l.raw = false
	}
	for !l.stopped {
		n := l.wait()
		if l.idle(n) {
			continue
		}
		l.h.Turn(l.id)
		for _, m := range l.box.take() {
			if m.kind == mailAdopt {
				l.newConn(m.in)
			} else {
				l.obey(m)
			}
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
	closeFD(l.ep)
}

// wait returns the number of events. Three steps: under load a raw wait finds events before long, and the
// scheduler has no part in it; after a quiet raw wait the ordinary one blocks for as long as nothing happens.
func (l *loop) wait() int {
	most := l.most()
	if most != 0 && !l.raw && !l.calm {
		if n, _ := rawEpollWait(l.ep, l.ev, 0); n > 0 {
			return n
		}
		l.calm = true
	}
	if most != 0 {
		l.box.asleep.Store(true)
		if l.box.full.Load() {
			l.box.asleep.Store(false)
			most = 0
		}
	}
	if most == 0 {
		n, e := rawEpollWait(l.ep, l.ev, 0)
		return events(n, e)
	}
	var n int
	var e syscall.Errno
	switch {
	case most > 0:
		n, e = epollWaitFor(l.ep, l.ev, most, !l.calm)
	case l.calm:
		n, e = epollWait(l.ep, l.ev, -1)
	default:
		n, e = rawEpollWait(l.ep, l.ev, -1)
	}
	l.box.asleep.Store(false)
	n = events(n, e)
	l.calm = n == 0
	return n
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
