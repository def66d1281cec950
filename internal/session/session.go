// Package session is the protocol side of one connection: it finds out which protocol the client speaks and hands the
// bytes to that protocol's state in package command/mc. It is the only place where the network's contract and the
// commands meet. It has no socket and no clock; the server makes one Session per connection.
package session

import (
	"net"

	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/command/mc"
	"godwit/internal/config"
	"godwit/internal/netloop"
)

// Config is what the connections of one listener have in common.
type Config struct {
	Protocol config.Protocol // Auto: the first byte decides
	Users    *auth.Table     // -Y: text only, after a password; nil: open to all
	SASL     *auth.Table     // -S: binary only, after a password; nil: open to all
}

// Session implements netloop.Session. Only the connection's loop uses it. Over UDP there is one per datagram.
type Session struct {
	w     *mc.Worker
	cfg   *Config
	conn  netloop.Conn
	proto mc.Proto // nil until the first byte has come
}

var _ netloop.Session = (*Session)(nil)

// New makes the session of a connection that is served by w, the Worker of its loop.
func New(w *mc.Worker, cfg *Config, c netloop.Conn) *Session {
	s := &Session{w: w, cfg: cfg, conn: c}
	if w.Watch.Load()&mc.WatchConns != 0 && c.Transport() != netloop.UDP {
		w.ConnOpened(s.event())
	}
	return s
}

// binaryMagic is the first byte of every request of the binary protocol, and of no text command.
const binaryMagic = 0x80

// speak chooses the protocol by the first byte.
func (s *Session) speak(first byte) mc.Proto {
	binary := first == binaryMagic
	switch {
	case s.cfg.Users != nil || s.cfg.Protocol == config.ASCII:
		binary = false
	case s.cfg.SASL != nil || s.cfg.Protocol == config.Binary:
		binary = true
	}
	if binary {
		return &mc.Bin{SASL: s.cfg.SASL}
	}
	return &mc.Text{Auth: s.cfg.Users, Conn: s.conn}
}

// verdicts translates what a protocol wants into what the network understands.
var verdicts = [...]netloop.Verdict{
	mc.More:         netloop.More,
	mc.Yield:        netloop.Yield,
	mc.Stream:       netloop.Stream,
	mc.Park:         netloop.Park,
	mc.Close:        netloop.Close,
	mc.Abort:        netloop.Abort,
	mc.Shut:         netloop.Shut,
	mc.ShutGraceful: netloop.ShutGraceful,
}

// Feed takes unread input, appends answers to out and says how much it used.
func (s *Session) Feed(in []byte, out *bytesx.Out) (used int, next netloop.Verdict) {
	if s.proto == nil {
		if len(in) == 0 {
			return 0, netloop.More
		}
		s.proto = s.speak(in[0])
	}
	before := out.Len()
	s.w.Conn = s.conn.ID()
	used, v := s.proto.Feed(s.w, in, out)
	s.w.St.C.BytesRead += uint64(used)
	s.w.St.C.BytesWritten += uint64(out.Len() - before)
	return used, verdicts[v]
}

// Sink is where the next input bytes belong, nil if they are to be fed.
func (s *Session) Sink() []byte {
	if s.proto == nil {
		return nil
	}
	return s.proto.Sink()
}

// Sunk says that n bytes were put into the sink.
func (s *Session) Sunk(n int) {
	s.w.St.C.BytesRead += uint64(n)
	s.proto.Sunk(s.w, n)
}

// Idle says that the next command is waited for.
func (s *Session) Idle() bool { return s.proto == nil || s.proto.Idle() }

// Closed ends the session.
func (s *Session) Closed(r netloop.Reason) {
	if s.proto != nil {
		s.proto.Drop(s.w)
	}
	if r == netloop.ReasonIdle {
		s.w.St.C.IdleKicks++
	}
	if s.w.Watch.Load()&mc.WatchConns != 0 && s.conn.Transport() != netloop.UDP {
		ev := s.event()
		ev.Reason = reasons[r]
		s.w.ConnClosed(ev)
	}
	s.w.St.Publish()
}

// reasons are memcached's words for why a connection ended.
var reasons = [...]string{
	netloop.ReasonNormal: "normal", netloop.ReasonError: "error", netloop.ReasonIdle: "idle_timeout",
	netloop.ReasonShutdown: "shutdown",
}

// event describes the connection to those who watch connections.
func (s *Session) event() *mc.ConnEvent {
	if s.conn.Transport() == netloop.Unix {
		return &mc.ConnEvent{ID: s.conn.ID(), Transport: "local", Host: "unix", Port: "0"}
	}
	host, port, _ := net.SplitHostPort(s.conn.Remote())
	return &mc.ConnEvent{ID: s.conn.ID(), Transport: "tcp", Host: host, Port: port}
}
