package server

import (
	"errors"
	"net/netip"

	"godwit/internal/command/mc"
	"godwit/internal/config"
	"godwit/internal/netloop"
)

// What verbs ask of the process; see mc.Server.

func (s *Server) MaxConns() int { return s.set.MaxConns }

func (s *Server) ConnStats() mc.ConnStats {
	n := s.net.Stats()
	st := mc.ConnStats{
		Curr: n.Curr, Total: n.Total + uint64(n.Listening), Rejected: n.Rejected, Structures: n.Curr + uint64(n.Listening),
		ListenDisabled: n.ListenDisabled, ListenDisabledUs: n.ListenDisabledUs, Accepting: n.Accepting,
		ReadBufs: n.ReadBufs, ReadBufBytes: n.ReadBufBytes, ReadBufFree: n.ReadBufFree,
		ReadKills: n.InKills, WriteKills: n.OutKills,
		TLSNewSessions: n.TLSNewSessions, TLSHandshakeErrors: n.TLSHandshakeErrors, TLSProtoErrors: n.TLSProtoErrors,
	}
	if s.tls != nil {
		st.CertRefresh = s.tls.age()
	}
	return st
}

// RefreshCerts is the verb refresh_certs.
func (s *Server) RefreshCerts() error {
	if s.tls == nil {
		return errors.New("Error TLS not enabled")
	}
	return s.tls.reload()
}

// states are memcached's names for what a connection is doing. One that waits for a command sits in its read there.
var states = map[netloop.State]string{
	netloop.StateListening: "conn_listening", netloop.StateWaiting: "conn_read", netloop.StateRunning: "conn_parse_cmd",
	netloop.StateReading: "conn_nread", netloop.StateWriting: "conn_mwrite", netloop.StateParked: "conn_io_queue",
	netloop.StateClosing: "conn_closing",
}

func (s *Server) Conns(fn func(mc.ConnInfo)) {
	s.net.Conns(func(c netloop.ConnInfo) {
		info := mc.ConnInfo{
			ID: c.ID, Addr: connAddr(c.Transport, c.Remote), Listen: connAddr(c.Transport, c.Local), State: states[c.State],
			SinceLastCmd: int64(c.Idle.Seconds()), UDP: c.Transport == netloop.UDP,
		}
		if c.State == netloop.StateListening || info.UDP {
			info.Listen = ""
		}
		fn(info)
	})
}

// connAddr writes an address as stats conns does: "tcp:127.0.0.1:5", "tcp6:[::1]:5", "unix:/path".
func connAddr(t netloop.Transport, addr string) string {
	name := [...]string{netloop.TCP: "tcp", netloop.Unix: "unix", netloop.UDP: "udp"}[t]
	if at, err := netip.ParseAddrPort(addr); err == nil && at.Addr().Is6() && t != netloop.Unix {
		name += "6"
	}
	return name + ":" + addr
}

// What the command line tells its user.

// Addrs are the addresses that clients can use.
func (s *Server) Addrs() (out []string) {
	for _, a := range s.net.Addrs() {
		out = append(out, a.Addr)
	}
	return out
}

func (s *Server) Settings() *config.Memcached { return s.set }
func (s *Server) Loops() int                  { return s.net.Loops() }
func (s *Server) IO() string                  { return s.net.IO() }
