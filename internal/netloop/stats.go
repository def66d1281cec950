package netloop

import "time"

// Stats are the counters of a Server. Sums are since New.
type Stats struct {
	Curr, Total, Rejected uint64 // connections; datagrams and listening sockets are not among them
	Listening             int    // sockets that listen, or take datagrams
	Accepting             bool
	ListenDisabled        uint64 // times accepting was suspended
	ListenDisabledUs      uint64
	ReadBufs              uint64 // buffers lent to connections
	ReadBufBytes          uint64 // bytes in them
	ReadBufFree           uint64 // bytes in buffers ready to be lent
	IdleKicks             uint64
	InKills, OutKills     uint64 // connections closed for too much unread input, or too much unsent output
	DatagramDrops         uint64 // datagrams whose answer was too big, or not ready in time
	TLSNewSessions        uint64
	TLSHandshakeErrors    uint64
	TLSProtoErrors        uint64
}

// Stats may be called from anywhere, sessions included.
func (s *Server) Stats() Stats {
	var st Stats
	s.gate.stats(&st)
	st.Listening = len(s.socks)
	for _, l := range s.loops {
		n, used, free := l.memory()
		st.ReadBufs += uint64(n)
		st.ReadBufBytes += uint64(used)
		st.ReadBufFree += uint64(free)
	}
	for _, l := range s.std {
		st.ReadBufs += uint64(l.load())
		st.ReadBufBytes += uint64(l.buf.Load())
	}
	st.TLSNewSessions, st.TLSHandshakeErrors, st.TLSProtoErrors = s.tls.sessions.Load(), s.tls.handshake.Load(), s.tls.proto.Load()
	st.DatagramDrops = s.udpDrops.Load()
	st.IdleKicks = s.kicks.Load()
	st.InKills, st.OutKills = s.inKill.Load(), s.outKill.Load()
	return st
}

// ConnInfo describes a connection, or a socket that listens or takes datagrams.
type ConnInfo struct {
	ID        int
	Transport Transport
	TLS       bool
	Remote    string // as Conn.Remote; the bound address for sockets
	Local     string
	State     State
	Idle      time.Duration // since the last input, to about a second
}

// Conns calls fn for every socket and connection. It may be called from anywhere, sessions included: the connection of a
// session that calls is StateRunning.
func (s *Server) Conns(fn func(ConnInfo)) {
	for _, k := range s.socks {
		st := StateListening
		if k.l.Transport == UDP {
			st = StateWaiting
		}
		fn(ConnInfo{ID: k.id, Transport: k.l.Transport, TLS: k.l.TLS != nil, Remote: k.local, Local: k.local, State: st})
	}
	now := s.now.Load()
	for _, l := range s.loops {
		l.each(func(c *base) { fn(c.info(l.state(c), now)) })
	}
	for _, l := range s.std {
		l.reg.each(func(c *base) { fn(c.info(State(c.st.Load()), now)) })
	}
}

func (c *base) info(st State, now int64) ConnInfo {
	return ConnInfo{
		ID: c.id, Transport: c.sock.l.Transport, TLS: c.sock.l.TLS != nil, Remote: c.Remote(), Local: c.sock.local,
		State: st, Idle: time.Duration(now-c.last.Load()) * time.Millisecond,
	}
}
