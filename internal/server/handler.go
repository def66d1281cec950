package server

import (
	"godwit/internal/netloop"
)

// handler makes the sessions and keeps the workers' clocks; it is what the network calls.
type handler struct{ s *Server }

// Turn reads the clock once for all requests of a turn.
func (h handler) Turn(loop int) { h.s.env.Workers[loop].L.Turn(h.s.clock.Ms()) }
