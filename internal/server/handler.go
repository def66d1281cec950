package server

import (
	"godwit/internal/config"
	"godwit/internal/netloop"
	"godwit/internal/session"
)

// handler makes the sessions and keeps the workers' clocks; it is what the network calls.
type handler struct{ s *Server }

// Turn reads the clock once for all requests of a turn.
func (h handler) Turn(loop int) { h.s.env.Workers[loop].L.Turn(h.s.clock.Ms()) }

// Open makes the session of a new connection.
func (h handler) Open(c netloop.Conn) netloop.Session {
	return session.New(h.s.env.Workers[c.Loop()], c.Listener().Tag.(*session.Config), c)
}

// tag is what the connections of a listener have in common.
func (s *Server) tag(proto config.Protocol) *session.Config {
	cfg := &session.Config{Protocol: proto}
	if s.set.AuthFile != "" {
		cfg.Users = &s.users
	}
	if s.set.SASL {
		cfg.SASL = &s.sasl
	}
	return cfg
}
