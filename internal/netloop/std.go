package netloop

import (
	"bufio"
	"crypto/tls"
	"errors"
	"io"
	"net"
	"os"
	"runtime"
	"sync"
	"sync/atomic"
	"syscall"
	"time"
)

const (
	stdFirst = 4 << 10  // first read buffer of a goroutine connection
	stdMost  = 32 << 10 // up to which it grows when reads fill it; beyond, only for long requests
)

var past = time.Unix(1, 0)

// records are writers that gather small pieces into TLS records.
var records = sync.Pool{New: func() any { return bufio.NewWriterSize(nil, 16<<10) }}

// tlsCounters count what memcached calls ssl_*.
type tlsCounters struct{ sessions, handshake, proto atomic.Uint64 }

// stdLoop is a virtual loop: the sessions of its connections are called one at a time, under mu, by the goroutines of
// the connections. mu is never held during I/O. Lock order: stdConn.mu, then stdLoop.mu.
type stdLoop struct {
	srv *Server
	id  int
	mu  sync.Mutex
	n   atomic.Int64
	reg registry
	buf atomic.Int64 // bytes of read buffers
}

func newStdLoop(s *Server, id int) *stdLoop { return &stdLoop{srv: s, id: id} }

func (l *stdLoop) load() int { return int(l.n.Load()) }

// turn runs fn as a turn of the loop.
func (l *stdLoop) turn(fn func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.srv.h.Turn(l.id)
	fn()
}

// stdConn is a connection served by a goroutine that reads, and by short ones that Wake starts. mu guards everything but
// the bytes of buf behind w, which are the reader's, and is held while answers are written.
type stdConn struct {
	base
	l      *stdLoop
	plain  net.Conn    // the socket
	nc     net.Conn    // what is read and written: plain, or tc over it
	tc     *tls.Conn   // nil: plain
	over   atomic.Bool // the server stops: end at the next quiet moment
	mu     sync.Mutex
	unpark sync.Cond // on mu: parked, dead or over have changed
	parked bool
	dead   bool
	taking bool // the session has a Sink
	inRead bool // the reader is in Read, without mu
	out    outbox
	buf    []byte
	r, w   int // unread input is buf[r:w]
	vec    net.Buffers
	later  []byte    // duplex: output for the writer
	toSend sync.Cond // duplex, on mu: later has grown, or dead
}

// TLS implements Conn.
func (c *stdConn) TLS() *tls.ConnectionState {
	if c.tc == nil {
		return nil
	}
	st := c.tc.ConnectionState()
	return &st
}

// Wake implements Conn. The session is called from a goroutine of its own, as the reader may be blocked.
func (c *stdConn) Wake() {
	if !c.woken.Swap(true) {
		go c.rouse()
	}
}

func (c *stdConn) rouse() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.woken.Store(false)
	if c.dead || c.sess == nil {
		return
	}
	c.parked = false
	c.pump()
	c.unpark.Broadcast()
}

// turns has the loop take a turn whenever its timed handler has something to do. A goroutine of its own, which looks
// every millisecond, as Next may change at any time.
func (l *stdLoop) turns() {
	for !l.srv.stopping.Load() {
		l.mu.Lock()
		wait := l.srv.timed.Next(l.id)
		l.mu.Unlock()
		if wait < 0 || wait > time.Millisecond {
			wait = time.Millisecond
		}
		time.Sleep(wait)
		l.turn(func() {})
	}
}

// serveStd starts the goroutine of a connection, which has entered the gate.
func (s *Server) serveStd(l *stdLoop, k *sock, nc net.Conn) {
	l.n.Add(1)
	c := &stdConn{l: l, nc: nc, plain: nc}
	c.unpark.L, c.toSend.L = &c.mu, &c.mu
	c.srv, c.sock, c.loop = s, k, l.id
	c.id = descriptor(nc)
	c.peer = peerOf(nc)
	c.set(StateWaiting)
	c.last.Store(s.now.Load())
	c.self = c
	l.reg.add(&c.base)
	s.wg.Go(c.serve)
}

// descriptor is the number of the socket, or 0.
func descriptor(nc net.Conn) (id int) {
	if sc, ok := nc.(syscall.Conn); ok {
		if rc, err := sc.SyscallConn(); err == nil {
			rc.Control(func(fd uintptr) { id = int(fd) })
		}
	}
	return id
}

// serve is the life of a connection.
func (c *stdConn) serve() {
	s := c.srv
	if s.cfg.Duplex {
		s.wg.Go(c.write)
	}
	if s.stopping.Load() || !c.handshake() {
		c.mu.Lock()
		c.finish(ReasonError)
		c.mu.Unlock()
		return
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if !c.dead {
		c.l.turn(func() { c.sess = s.h.Open(c) })
	}
	for {
		for c.parked && !c.dead && !c.over.Load() {
			c.unpark.Wait()
		}
		if c.dead {
			return
		}
		if c.over.Load() {
			c.finish(ReasonShutdown)
			return
		}
		if !c.room() {
			s.inKill.Add(1)
			c.finish(ReasonError)
			return
		}
		free := c.buf[c.w:]
		c.inRead = true
		c.mu.Unlock()
		n, err := c.nc.Read(free)
		c.mu.Lock()
		c.inRead = false
		if c.dead {
			return
		}
		if n > 0 {
			c.w += n
			c.touch()
			if !c.parked { // else a wake fed it meanwhile, and it parked again
				c.pump()
			}
		}
		switch {
		case c.dead:
			return
		case err == nil:
		case c.over.Load() && errors.Is(err, os.ErrDeadlineExceeded):
			c.finish(ReasonShutdown)
		case errors.Is(err, io.EOF):
			c.finishInput()
		default:
			var bad tls.RecordHeaderError
			if errors.As(err, &bad) {
				s.tls.proto.Add(1)
			}
			c.finish(ReasonError)
		}
		if err != nil {
			return
		}
	}
}

// finishInput ends the connection at the end of its input, once what it sent before is answered.
func (c *stdConn) finishInput() {
	for c.parked && !c.dead && !c.over.Load() {
		c.unpark.Wait()
	}
	c.finish(ReasonNormal)
}

// handshake makes the connection a TLS one if its listener says so. It is not yet known to a session.
func (c *stdConn) handshake() bool {
	if c.sock.l.TLS == nil {
		return true
	}
	s := c.srv
	tc := tls.Server(c.nc, c.sock.l.TLS())
	c.plain.SetDeadline(time.Now().Add(s.cfg.Handshake))
	if c.over.Load() {
		return false
	}
	if err := tc.Handshake(); err != nil {
		s.tls.handshake.Add(1)
		s.cfg.Logf("connection %d: TLS handshake with %s: %v", c.id, c.Remote(), err)
		return false
	}
	if !tc.ConnectionState().DidResume {
		s.tls.sessions.Add(1)
	}
	c.plain.SetDeadline(time.Time{})
	if c.over.Load() { // stopStd set its deadline before, or will set it after
		c.plain.SetReadDeadline(past)
	}
	c.mu.Lock()
	c.tc, c.nc = tc, tc
	c.mu.Unlock()
	return true
}

// room makes room behind w for the next read. Called by the reader with mu held.
func (c *stdConn) room() bool {
	n := c.w - c.r
	size := len(c.buf)
	switch {
	case n == 0:
		full := c.w == size && size < stdMost // the last read took all there was room for
		c.r, c.w = 0, 0
		if size != 0 && !full && size <= stdMost {
			return true
		}
		size = min(max(2*size, stdFirst), stdMost)
	case c.w < size:
		return true
	case c.r >= n:
		copy(c.buf, c.buf[c.r:c.w])
		c.r, c.w = 0, n
		return true
	default:
		if n > c.srv.cfg.InLimit {
			return false
		}
		size *= 2
	}
	b := make([]byte, size)
	copy(b, c.buf[c.r:c.w])
	c.l.buf.Add(int64(size - len(c.buf)))
	c.buf, c.r, c.w = b, 0, n
	return true
}

// pump feeds the session as long as it wants and writes its answers. Called with mu held.
func (c *stdConn) pump() {
	for {
		var v Verdict
		c.set(StateRunning)
		c.l.turn(func() { v = c.feed() })
		if v == Abort {
			c.finish(ReasonError)
			return
		}
		if !c.out.Empty() && c.srv.cfg.Duplex {
			c.leave()
		} else if !c.out.Empty() {
			c.set(StateWriting)
			err := c.send()
			c.out.Reset()
			if cap(c.out.Buf) > stdMost {
				c.out.Buf = nil
			}
			if err != nil {
				c.finish(ReasonError)
				return
			}
			if c.dead {
				return
			}
		}
		switch v {
		case More:
			c.await(c.taking || c.r < c.w)
			return
		case Yield:
			runtime.Gosched()
		case Stream:
		case Park:
			c.parked = true
			c.set(StateParked)
			return
		default:
			c.finish(ReasonNormal)
			c.srv.ask(v)
			return
		}
	}
}

// leave gives the answer of a duplex session to the writer. Called with mu held.
func (c *stdConn) leave() {
	c.out.pieces(func(p []byte) bool {
		c.later = append(c.later, p...)
		return true
	})
	c.out.Reset()
	c.toSend.Signal()
}

// write sends the output of a duplex session, so that it can be fed meanwhile. A goroutine of its own.
func (c *stdConn) write() {
	c.mu.Lock()
	defer c.mu.Unlock()
	var spare []byte
	for {
		for len(c.later) == 0 && !c.dead {
			c.toSend.Wait()
		}
		if c.dead {
			return
		}
		b := c.later
		c.later = spare[:0]
		nc := c.nc
		c.mu.Unlock()
		_, err := nc.Write(b)
		c.mu.Lock()
		spare = b
		if err != nil {
			c.finish(ReasonError)
			return
		}
	}
}

// feed gives the session its unread input, the sink first. It runs as part of a turn.
func (c *stdConn) feed() Verdict {
	n, short := c.fill(c.buf[c.r:c.w])
	c.r += n
	if short {
		c.taking = true
		return More
	}
	used, v := c.sess.Feed(c.buf[c.r:c.w], &c.out.Out)
	c.r += used
	c.taking = v == More && len(c.sess.Sink()) > 0
	if c.taking && c.r < c.w {
		return c.feed()
	}
	return v
}

// send writes the answer. It blocks as long as the client does not read: nothing else of this connection goes on then.
func (c *stdConn) send() error {
	o := &c.out
	if len(o.Refs) == 0 {
		_, err := c.nc.Write(o.Buf)
		return err
	}
	if c.tc != nil { // fill records, instead of one for each piece
		w := records.Get().(*bufio.Writer)
		w.Reset(c.nc)
		o.pieces(func(p []byte) bool {
			_, err := w.Write(p)
			return err == nil
		})
		err := w.Flush()
		w.Reset(nil)
		records.Put(w)
		return err
	}
	c.vec = c.vec[:0]
	o.pieces(func(p []byte) bool {
		c.vec = append(c.vec, p)
		return true
	})
	vec := c.vec // WriteTo consumes it
	_, err := vec.WriteTo(c.nc)
	clear(c.vec)
	return err
}

// finish ends the connection and its session, once. Called with mu held.
func (c *stdConn) finish(r Reason) {
	if c.dead {
		return
	}
	c.dead = true
	c.set(StateClosing)
	if r == ReasonError && c.over.Load() {
		r = ReasonShutdown
	}
	if c.sess != nil {
		c.l.turn(func() { c.sess.Closed(r) })
	}
	c.out.Reset()
	c.l.reg.remove(&c.base)
	c.l.n.Add(-1)
	c.l.buf.Add(-int64(len(c.buf)))
	c.srv.gate.leave()
	switch {
	case c.tc != nil:
		c.nc.SetWriteDeadline(time.Now().Add(time.Second)) // for the farewell
	case r == ReasonNormal && !c.inRead:
		discard(c.plain)
	}
	c.nc.Close()
	c.unpark.Broadcast()
	c.toSend.Broadcast()
}

// scan ends idle connections.
func (l *stdLoop) scan() {
	l.reg.each(func(b *base) {
		c := b.self.(*stdConn)
		if !c.mu.TryLock() {
			return // at work
		}
		defer c.mu.Unlock()
		if c.dead || c.parked || c.sess == nil {
			return
		}
		l.mu.Lock()
		idle := l.srv.idle(b)
		l.mu.Unlock()
		if idle {
			l.srv.kicks.Add(1)
			c.finish(ReasonIdle)
		}
	})
}

// stopStd ends the goroutine connections: at once, or when they have answered and sent what they have.
func (s *Server) stopStd(graceful bool) {
	if len(s.std) == 0 {
		return
	}
	quiet := make(chan struct{})
	for _, l := range s.std {
		l.reg.each(func(b *base) {
			c := b.self.(*stdConn)
			c.over.Store(true)
			if graceful {
				c.plain.SetReadDeadline(past) // the reader comes back when it has nothing more
			} else {
				c.plain.Close() // blocked reads and writes end
			}
			s.wg.Go(func() { // mu may be held by a writer for long
				c.mu.Lock()
				c.unpark.Broadcast()
				c.mu.Unlock()
			})
		})
	}
	go func() {
		s.wg.Wait()
		close(quiet)
	}()
	select {
	case <-quiet:
	case <-time.After(s.cfg.DrainTimeout):
		for _, l := range s.std {
			l.reg.each(func(b *base) { b.self.(*stdConn).plain.Close() })
		}
	}
}
