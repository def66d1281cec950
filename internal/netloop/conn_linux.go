//go:build !386

package netloop

import (
	"syscall"
)

// conn is a connection of an epoll loop. Nothing is read while it has pending output, unless it is duplex. Everything belongs to the loop's
// goroutine, except what base shares.
type conn struct {
	connBase

	l     *loop
	armed uint32 // what epoll is asked for; see detached
	sink  bool   // the session had a Sink after the last Feed
}

// detached in armed: not in the epoll set at all.
const detached = ^uint32(0)

// Wake implements Conn.
func (c *conn) Wake() {
	if !c.woken.Swap(true) {
		c.l.box.post(mail{kind: mailWake, conn: c})
	}
}

// newConn makes a connection of an accepted socket.
func (l *loop) newConn(a accepted) {
	c := &conn{l: l, armed: epollIn}
	l.admit(c, a)
	ev := syscall.EpollEvent{Events: epollIn, Fd: c.slot}
	if e := rawEpollCtl(l.ep, syscall.EPOLL_CTL_ADD, c.fd, &ev); e != 0 {
		l.srv.cfg.Logf("connection %d: epoll: %v", c.id, e)
		c.close(ReasonError)
	}
}

// close ends a connection and its session.
func (c *conn) close(r Reason) {
	if c.l.dismiss(&c.connBase, r) {
		closeFD(c.fd) // the kernel takes it out of the epoll set
	}
}

// finish follows a last verdict when everything is sent. Input that nobody will read is taken off the socket first:
// closing with unread input resets the connection, and the client might lose the last answer.
func (l *loop) finish(c *conn, v Verdict) {
	shutdownWrite(c.fd)
	rawRecv(c.fd, l.rbuf)
	c.close(ReasonNormal)
	l.srv.ask(v)
}

// waiting says that it waits for input and for nothing else.
func (c *conn) waiting() bool { return c.pend == nil && !c.queued && !c.parked }

// arm changes what epoll is asked for.
func (l *loop) arm(c *conn, want uint32) {
	if c.armed == want {
		return
	}
	op := syscall.EPOLL_CTL_MOD
	switch {
	case want == detached:
		op = syscall.EPOLL_CTL_DEL
	case c.armed == detached:
		op = syscall.EPOLL_CTL_ADD
	}
	c.armed = want
	ev := syscall.EpollEvent{Events: want, Fd: c.slot}
	if e := rawEpollCtl(l.ep, op, c.fd, &ev); e != 0 {
		l.srv.cfg.Logf("connection %d: epoll: %v", c.id, e)
		c.close(ReasonError)
	}
}

// event handles readiness.
func (l *loop) event(c *conn, ev uint32) {
	switch {
	case c.pend != nil:
		if ev&^epollIn != 0 {
			l.flush(c)
		}
		if ev&epollIn != 0 && !c.dead && !c.queued { // only asked for when duplex
			l.read(c)
		}
	case c.queued: // Feed comes first, at the end of this turn
	case c.parked:
		switch {
		case ev&epollErr != 0:
			c.close(ReasonError)
		case ev&epollHup != 0:
			// The client is gone, but requests it sent before may be waiting in the socket. Hang-ups cannot be masked.
			l.arm(c, detached)
		default:
			l.arm(c, 0)
		}
	default:
		l.read(c)
	}
}

// read takes what is ready and feeds it.
func (l *loop) read(c *conn) {
	if c.sink {
		if s := c.sess.Sink(); len(s) > 0 {
			l.readSink(c, s)
			return
		}
		c.sink = false
	}
	left := c.in.len()
	if left <= smallLeft {
		copy(l.rbuf, c.in.bytes())
		n, e := rawRecv(c.fd, l.rbuf[left:])
		if e != 0 || n == 0 {
			l.ended(c, e)
			return
		}
		l.feed(c, l.rbuf[:left+n], false)
		return
	}
	if len(c.in.buf)-c.in.w < smallLeft && (left > l.srv.cfg.InLimit || !l.pool.allows(left)) {
		l.srv.inKill.Add(1)
		c.close(ReasonError)
		return
	}
	n, e := rawRecv(c.fd, c.in.space(smallLeft, &l.pool))
	if e != 0 || n == 0 {
		l.ended(c, e)
		return
	}
	c.in.w += n
	l.feed(c, c.in.bytes(), true)
}

// readSink receives straight into the session's memory, and what comes behind into the shared buffer.
func (l *loop) readSink(c *conn, s []byte) {
	n, e := l.tx.recv2(c.fd, s, l.rbuf)
	if e != 0 || n == 0 {
		l.ended(c, e)
		return
	}
	c.touch()
	c.sess.Sunk(min(n, len(s)))
	if n >= len(s) {
		l.feed(c, l.rbuf[:n-len(s)], false)
	}
}

// ended handles the end of input: e is 0 for an orderly one.
func (l *loop) ended(c *conn, e syscall.Errno) {
	switch e {
	case syscall.EAGAIN, syscall.EINTR:
	case 0:
		c.close(ReasonNormal) // all requests before it are answered: otherwise there would have been no reading
	default:
		c.close(ReasonError)
	}
}

// feed hands unread input to the session, keeps what it left, and sends its answer. own: in is in the connection's
// buffer, not in the loop's.
func (l *loop) feed(c *conn, in []byte, own bool) {
	c.touch()
	v := l.serve(&c.connBase, in, own)
	if v == Abort {
		l.trimOut()
		c.close(ReasonError)
		return
	}
	if c.pend != nil {
		c.append(&l.out, v)
		l.trimOut()
		return
	}
	if !l.out.Empty() {
		done, e := l.tx.send(c.fd, &l.out)
		if e != 0 {
			l.trimOut()
			c.close(ReasonError)
			return
		}
		if !done {
			l.hold(c, v)
			return
		}
		l.trimOut()
	}
	l.settle(c, v)
}

// trimOut empties the shared reply buffer for the next Feed.
func (l *loop) trimOut() {
	l.out.clear()
	if cap(l.out.Buf) > keepOut {
		l.out.Buf = nil
	}
}

// settle follows a verdict once all output is sent.
func (l *loop) settle(c *conn, v Verdict) {
	switch {
	case v.last():
		l.finish(c, v)
	case c.due(v):
		l.enqueue(c)
	case v == More:
		if s := c.sess.Sink(); s != nil {
			l.fillSink(c, s)
			return
		}
		c.sink = false
		c.await(c.in.len() > 0)
		l.arm(c, epollIn)
	}
}

// fillSink prepares for reading into the session's memory. Input that the session left unused goes there first.
func (l *loop) fillSink(c *conn, s []byte) {
	c.sink = true
	c.set(StateReading)
	if left := c.in.len(); left > 0 {
		n := copy(s, c.in.bytes())
		c.in.drop(n, &l.pool)
		c.sess.Sunk(n)
		if n == len(s) {
			l.enqueue(c)
			return
		}
	}
	l.arm(c, epollIn)
}

// wake comes from the mailbox.
func (c *conn) wake() {
	c.woken.Store(false)
	switch {
	case c.dead, c.queued:
	case c.pend != nil && !c.srv.cfg.Duplex:
		c.woke = true
	default:
		c.parked = false
		c.l.feed(c, c.in.bytes(), true)
	}
}

// hold keeps the unsent part of the shared reply buffer with the connection, and stops reading until it is sent.
func (l *loop) hold(c *conn, v Verdict) {
	ok := l.keep(&c.connBase, v, true)
	l.trimOut()
	if !ok {
		c.close(ReasonError)
		return
	}
	if l.srv.cfg.Duplex {
		l.arm(c, epollIn|epollOut)
	} else {
		l.arm(c, epollOut)
	}
}

// flush goes on with pending output.
func (l *loop) flush(c *conn) {
	done, e := l.tx.send(c.fd, c.pend)
	if e != 0 {
		c.close(ReasonError)
		return
	}
	if !done {
		return
	}
	c.dropPending(&l.pool)
	l.settle(c, c.after)
}

var _ Conn = (*conn)(nil)
