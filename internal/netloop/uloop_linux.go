//go:build !386

package netloop

import (
	"runtime"
	"syscall"
	"time"
)

// uloop serves its connections with io_uring on one OS thread: input arrives in provided buffers without being asked for
// again, all answers of a turn are sent by the one system call that also waits for the next input. All fields are the
// loop goroutine's own.
type uloop struct {
	loopBase[*uconn]

	ring  *uring
	hurry bool // something is to be done right after the answers are sent: do not wait
	bell  bool // the poll on the mailbox's eventfd is armed
	arena []byte
	used  int      // bytes of arena taken by answers of this turn
	sends []*uconn // with an answer to send at the end of this turn
	gen   uint32
	rearm []*uconn // to receive again when buffers are free
}

const (
	arenaSize = 256 << 10
	runMost   = 1024 // connections fed from the run queue per turn: completions of their answers must fit
)

// What a completion is about, in the top byte of its user data. Below are 24 bits of the connection's generation and 32
// of its slot: a late completion of a connection that is gone finds another generation, or none.
const (
	tagBell = iota
	tagRecv
	tagSend
	tagPoll
	tagCancel
	tagSeen
)

// openUring is newUring, but for tests.
var openUring = newUring

func newULoop(s *Server, id int, mixed bool) (*uloop, error) {
	l := &uloop{}
	l.init(s, id, mixed)
	var err error
	if l.ring, err = openUring(); err != nil {
		return nil, err
	}
	if l.box.efd, err = eventfd(); err != nil {
		l.ring.close()
		return nil, err
	}
	l.arena = make([]byte, arenaSize)
	l.fixed = uringBufs * uringBufSize
	return l, nil
}

// run serves until stopped.
func (l *uloop) run() {
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()
	l.inTime()
	if err := l.ring.enable(); err != nil {
		panic("netloop: " + err.Error()) // it worked for the same flags at New
	}
	if runtime.GOMAXPROCS(0) <= len(l.srv.loops) {
		l.raw = false
	}
	for !l.stopped {
		l.wait()
		n := l.ring.ready()
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
			l.complete(l.ring.at(i))
		}
		l.ring.done(n)
		l.ring.offerBufs()
		l.runQueue()
		l.makeRoom()
		if l.draining {
			l.drain()
		}
	}
	l.end()
	l.ring.close()
}

// wait sends the answers of the turn, follows their verdicts, and waits for something to do. The answers are sent while
// the kernel takes the entries: when it returns, each is sent, or has left a completion that says how much of it was.
func (l *uloop) wait() {
	if !l.bell {
		l.bell = true
		s := l.entry(opPollAdd, l.box.efd, tagBell<<56)
		s.opFlags, s.len = syscall.EPOLLIN, pollAddMulti
	}
	l.receiveAgain()
	for i, c := range l.sends {
		if c.dead {
			continue // its descriptor may be another's now
		}
		if l.ring.queued() == len(l.ring.sqes) {
			l.submit()
		}
		s := l.ring.next()
		s.op, s.flags, s.fd = opSend, sqeSkipSuccess, int32(c.fd)
		s.addr, s.len = address(c.answer), uint32(len(c.answer))
		s.opFlags = syscall.MSG_DONTWAIT | syscall.MSG_WAITALL | msgNosignal
		s.userData = tagSend<<56 | uint64(i)
	}
	most := l.most()
	if l.hurry || l.ring.ready() > 0 {
		most = 0
	}
	l.hurry = false
	switch {
	case most == 0:
		l.poke()
	case l.calm || !l.raw:
		if l.ring.queued() > 0 || !l.calm {
			l.poke()
			if l.calm = l.ring.ready() == 0; !l.calm {
				break
			}
		}
		l.sleep(most, false)
	default:
		l.sleep(most, true)
	}
	l.sentAll()
}

// submit hands the queued entries over without waiting.
func (l *uloop) submit() {
	for l.ring.queued() > 0 {
		if e := l.ring.submit(); e != 0 && e != syscall.EINTR && e != syscall.EAGAIN && e != syscall.EBUSY {
			panic("netloop: io_uring_enter: " + e.Error())
		}
	}
}

// poke hands the queued entries over and lets the kernel complete what it can, without waiting.
func (l *uloop) poke() {
	l.ring.enter(0, 0, true)
	l.submit()
}

// makeRoom empties the completion queue when the kernel had more than fits: the failures of sends must fit.
func (l *uloop) makeRoom() {
	for l.ring.overflown() {
		l.poke()
		n := l.ring.ready()
		for i := range n {
			l.complete(l.ring.at(i))
		}
		l.ring.done(n)
		l.ring.offerBufs()
		l.receiveAgain()
	}
}

// sleep hands the queued entries over and waits.
func (l *uloop) sleep(most time.Duration, raw bool) {
	l.box.asleep.Store(true)
	wait := 1
	if l.box.full.Load() {
		wait = 0
	}
	l.ring.enter(wait, most, raw)
	l.box.asleep.Store(false)
	l.submit()
	l.calm = l.ring.ready() == 0
}

// sentAll follows the verdicts of the answers that were sent. Completions of sends tell of those that were not sent
// whole; they are looked for first, as the arena is about to be used again.
func (l *uloop) sentAll() {
	if len(l.sends) == 0 {
		return
	}
	for i := range l.ring.ready() {
		q := l.ring.at(i)
		if q.userData>>56 == tagSend {
			c := l.sends[uint32(q.userData)]
			c.sendRes, c.failed = q.res, true
			q.userData = tagSeen << 56
		}
	}
	done := l.sends
	l.sends = l.sends[:0]
	for i, c := range done {
		done[i] = nil
		l.sent(c)
	}
	l.used = 0
}

// entry is a fresh submission entry.
func (l *uloop) entry(op uint8, fd int, data uint64) *sqe {
	s := l.ring.next()
	for s == nil {
		l.submit()
		s = l.ring.next()
	}
	s.op, s.fd, s.userData = op, int32(fd), data
	return s
}

// complete handles a completion. The buffer of input goes back to the kernel when the session has seen it.
func (l *uloop) complete(q *cqe) {
	tag := q.userData >> 56
	if tag == tagBell {
		l.bell = q.flags&cqeMore != 0
		return
	}
	var c *uconn
	if tag == tagRecv || tag == tagPoll || tag == tagCancel {
		slot := uint32(q.userData)
		if c = l.conns[slot]; c != nil && uint64(c.gen) != q.userData>>32&0xffffff {
			c = nil
		}
	}
	if tag == tagRecv && q.flags&cqeBuffer != 0 {
		id := uint16(q.flags >> cqeBufferShift)
		if c != nil && q.res > 0 {
			l.received(c, l.ring.buf(id), int(q.res))
		}
		l.ring.giveBack(id)
	}
	switch {
	case c == nil || c.dead:
	case tag == tagRecv:
		if q.flags&cqeMore == 0 {
			c.receiving, c.cancelled = false, false
			l.stoppedReceiving(c, q.res)
		}
	case tag == tagCancel:
		c.cancelled = c.cancelled && q.res == 0 // if it came too late, another may be tried
	case tag == tagPoll:
		c.polling = false
		l.flush(c)
	}
}

// runQueue feeds the connections that asked to come last in this turn.
func (l *uloop) runQueue() {
	q := l.runq
	if len(q) == 0 {
		return
	}
	l.runq, l.spare = l.spare[:0], q
	if len(q) > runMost {
		l.runq = append(l.runq, q[runMost:]...)
		clear(q[runMost:])
		q = q[:runMost]
	}
	for i, c := range q {
		q[i] = nil
		if c.dead {
			continue
		}
		c.queued = false
		l.feed(c, c.in.bytes(), true)
	}
}

func (l *uloop) enqueue(c *uconn) {
	if !c.queued {
		c.queued = true
		l.runq = append(l.runq, c)
	}
}

// receiveAgain arms the connections whose reception ended.
func (l *uloop) receiveAgain() {
	for i, c := range l.rearm {
		l.rearm[i] = nil
		c.toArm = false
		if !c.dead && !c.eof && !c.receiving {
			l.receive(c)
		}
	}
	l.rearm = l.rearm[:0]
}

// abandon gives back what newULoop took.
func (l *uloop) abandon() {
	l.box.close()
	l.ring.close()
}
