//go:build !386

package netloop

import "syscall"

const (
	stashMost = 64 << 10 // unread input of a busy connection beyond which reception is called off
	arenaMin  = 16 << 10 // room that a Feed finds in the arena at least
)

// uconn is a connection of an io_uring loop. Everything belongs to the loop's goroutine, except what base shares. The
// kernel never writes into its memory: input comes in provided buffers.
type uconn struct {
	connBase

	l         *uloop
	gen       uint32 // 24 bits
	again     bool   // input came while output was under way: feed when that is over
	sending   bool   // answer is to be sent at the end of this turn
	failed    bool   // and was not sent whole: sendRes
	receiving bool   // a multishot receive is armed
	cancelled bool   // and has been called off
	toArm     bool   // in uloop.rearm
	polling   bool   // a poll for room to write is armed
	eof       bool   // the client sends no more
	sendRes   int32
	answer    []byte // in the arena, or a buffer of its own
}

// Wake implements Conn.
func (c *uconn) Wake() {
	if !c.woken.Swap(true) {
		c.l.box.post(mail{kind: mailWake, conn: c})
	}
}

func (l *uloop) newConn(a accepted) {
	l.gen = (l.gen + 1) & 0xffffff
	c := &uconn{l: l, gen: l.gen}
	l.admit(c, a)
	l.receive(c)
}

func (c *uconn) data(tag uint64) uint64 { return tag<<56 | uint64(c.gen)<<32 | uint64(uint32(c.slot)) }

// receive arms the reception of everything that comes.
func (l *uloop) receive(c *uconn) {
	s := l.entry(opRecv, c.fd, c.data(tagRecv))
	s.flags, s.ioprio, s.bufGroup = sqeBufferSelect, recvMultishot, uringBufGroup
	c.receiving = true
}

// close ends a connection and its session. What the kernel still does for it is cancelled: a receive that stays armed would
// keep the socket open behind our back, and go on taking input for nobody.
func (c *uconn) close(r Reason) {
	if !c.l.dismiss(&c.connBase, r) {
		return
	}
	c.answer = nil
	if c.receiving {
		c.cancel(tagRecv)
	}
	if c.polling {
		c.cancel(tagPoll)
	}
	c.l.submit() // entries that name the descriptor, while it is ours
	if r != ReasonNormal || c.receiving || c.polling {
		syscall.RawSyscall(syscall.SYS_SHUTDOWN, uintptr(c.fd), syscall.SHUT_RDWR, 0)
	}
	closeFD(c.fd)
}

// cancel ends what is armed for the connection under the tag. Nobody waits for the answer.
func (c *uconn) cancel(tag uint64) {
	s := c.l.entry(opAsyncCancel, -1, tagSeen<<56)
	s.addr, s.flags = c.data(tag), sqeSkipSuccess
}

func (c *uconn) waiting() bool { return c.free() && !c.queued && !c.parked }

// free says that no output is under way, so that the session may be fed. Duplex sessions may be while it waits.
func (c *uconn) free() bool { return !c.sending && (c.pend == nil || c.srv.cfg.Duplex) }

// received handles n bytes of input in a provided buffer, behind uringBufHead free bytes.
func (l *uloop) received(c *uconn, buf []byte, n int) {
	if c.dead {
		return
	}
	c.touch()
	in := buf[uringBufHead : uringBufHead+n]
	left := c.in.len()
	if !c.waiting() || left > smallLeft {
		if !l.pool.allows(n) || left > l.srv.cfg.InLimit {
			l.srv.inKill.Add(1)
			c.close(ReasonError)
			return
		}
		copy(c.in.space(n, &l.pool), in)
		c.in.w += n
		if !c.waiting() {
			c.again = c.again || !c.free()
			l.hurry = l.hurry || c.sending
			if c.in.len() > stashMost && c.receiving && !c.cancelled {
				c.cancelled = true
				s := l.entry(opAsyncCancel, -1, c.data(tagCancel))
				s.addr = c.data(tagRecv)
			}
			return
		}
		l.feed(c, c.in.bytes(), true)
		return
	}
	if left > 0 {
		copy(buf[uringBufHead-left:], c.in.bytes())
		in = buf[uringBufHead-left : uringBufHead+n]
	}
	l.feed(c, in, false)
}

// stoppedReceiving handles the end of a reception: the end of input, an error, a lack of buffers, a cancellation.
func (l *uloop) stoppedReceiving(c *uconn, res int32) {
	switch e := syscall.Errno(-res); {
	case res > 0, e == syscall.ENOBUFS, e == syscall.EINTR, e == syscall.EAGAIN:
		l.armLater(c)
	case e == syscall.ECANCELED: // armed again when its input is used
		l.hurry = l.hurry || c.sending
		if c.waiting() {
			l.armLater(c)
		}
	case res == 0:
		c.eof = true
		l.hurry = l.hurry || c.sending
		if c.waiting() {
			c.close(ReasonNormal)
		}
	default:
		c.close(ReasonError)
	}
}

func (l *uloop) armLater(c *uconn) {
	if !c.toArm {
		c.toArm = true
		l.rearm = append(l.rearm, c)
	}
}

// feed hands unread input to the session and keeps what it left. Its answer is sent at the end of the turn. own: in is
// in the connection's buffer.
func (l *uloop) feed(c *uconn, in []byte, own bool) {
	n, short := c.fill(in)
	in = in[n:]
	if own {
		c.in.drop(n, &l.pool)
	}
	if short {
		if !own {
			c.in.free(&l.pool)
		}
		l.settle(c, More)
		return
	}
	if len(l.arena)-l.used < arenaMin {
		l.arena, l.used = make([]byte, arenaSize), 0 // answers of this turn hold the old one
	}
	l.out.Buf = l.arena[l.used:l.used:len(l.arena)]
	v := l.serve(&c.connBase, in, own)
	switch {
	case v == Abort:
		l.out.clear()
		c.close(ReasonError)
	case c.pend != nil:
		c.append(&l.out, v)
		l.out.clear()
		l.listen(c)
	case len(l.out.Refs) > 0:
		l.sendNow(c, v)
	case len(l.out.Buf) > 0:
		l.sendLater(c, v)
	default:
		l.settle(c, v)
	}
}

// sendLater leaves the answer in the arena, to be sent with the others of the turn.
func (l *uloop) sendLater(c *uconn, v Verdict) {
	c.answer = l.out.Buf
	if address(c.answer) == address(l.arena[l.used:]) {
		l.used += len(c.answer)
	} // else it outgrew the arena, and has a buffer of its own
	l.out.Buf = nil
	c.sending, c.after = true, v
	l.sends = append(l.sends, c)
	if v != More || c.again || c.woke || c.eof || !c.receiving {
		l.hurry = true // settle has something to do
	}
}

// sendNow sends an answer with lent memory: the kernel must not look at that later.
func (l *uloop) sendNow(c *uconn, v Verdict) {
	done, e := l.tx.send(c.fd, &l.out)
	if e == 0 && !done {
		l.hold(c, v)
		return
	}
	l.out.clear()
	if e != 0 {
		c.close(ReasonError)
		return
	}
	l.settle(c, v)
}

// sent follows up on an answer of the last turn.
func (l *uloop) sent(c *uconn) {
	c.sending = false
	failed := c.failed
	c.failed = false
	answer := c.answer
	c.answer = nil
	if c.dead {
		return
	}
	if !failed {
		l.settle(c, c.after)
		return
	}
	if c.sendRes < 0 {
		if e := syscall.Errno(-c.sendRes); e != syscall.EAGAIN && e != syscall.EINTR {
			c.close(ReasonError)
			return
		}
		c.sendRes = 0
	}
	if int(c.sendRes) >= len(answer) {
		l.settle(c, c.after)
		return
	}
	l.out.Buf, l.out.b = answer, int(c.sendRes)
	l.hold(c, c.after)
}

// hold keeps the unsent part of the present answer with the connection until the socket has room.
func (l *uloop) hold(c *uconn, v Verdict) {
	ok := l.keep(&c.connBase, v, false)
	l.out.clear()
	l.out.Buf = nil
	if !ok {
		c.close(ReasonError)
		return
	}
	l.poll(c)
	if c.srv.cfg.Duplex {
		l.listen(c)
	}
}

// listen sees to it that a duplex session hears what comes while its output waits.
func (l *uloop) listen(c *uconn) {
	if c.again {
		c.again = false
		l.enqueue(c)
	}
	if !c.receiving && !c.eof {
		l.armLater(c)
	}
}

func (l *uloop) poll(c *uconn) {
	if !c.polling {
		c.polling = true
		s := l.entry(opPollAdd, c.fd, c.data(tagPoll))
		s.opFlags = syscall.EPOLLOUT
	}
}

// flush goes on with pending output.
func (l *uloop) flush(c *uconn) {
	if c.pend == nil {
		return
	}
	done, e := l.tx.send(c.fd, c.pend)
	if e != 0 {
		c.close(ReasonError)
		return
	}
	if !done {
		l.poll(c)
		return
	}
	c.dropPending(&l.pool)
	l.settle(c, c.after)
}

// settle follows a verdict once all output is sent.
func (l *uloop) settle(c *uconn, v Verdict) {
	input := c.again
	c.again = false
	switch {
	case v.last():
		l.finish(c, v)
	case c.due(v), v == More && input:
		l.enqueue(c)
	case v != More:
	case c.eof:
		c.close(ReasonNormal)
	default:
		if c.sess.Sink() == nil {
			c.await(c.in.len() > 0)
		} else if c.set(StateReading); c.in.len() > 0 {
			l.enqueue(c)
		}
		if !c.receiving {
			l.armLater(c)
		}
	}
}

// finish follows a last verdict when everything is sent.
func (l *uloop) finish(c *uconn, v Verdict) {
	shutdownWrite(c.fd)
	c.close(ReasonNormal)
	l.srv.ask(v)
}

// wake comes from the mailbox.
func (c *uconn) wake() {
	c.woken.Store(false)
	switch {
	case c.dead, c.queued:
	case !c.free():
		c.woke = true
		c.l.hurry = true
	default:
		c.parked = false
		c.l.feed(c, c.in.bytes(), true)
	}
}

var _ Conn = (*uconn)(nil)
