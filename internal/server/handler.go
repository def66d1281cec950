package server

import (
	"godwit/internal/bytesx"
	"godwit/internal/netloop"
)

// handler makes the sessions and keeps the workers' clocks; it is what the network calls.
type handler struct{ s *Server }

// Turn reads the clock once for all requests of a turn.
func (h handler) Turn(loop int) { h.s.env.Workers[loop].L.Turn(h.s.clock.Ms()) }

// Open makes the session of a new connection.
func (h handler) Open(c netloop.Conn) netloop.Session { return noSession{} }

type noSession struct{}

func (noSession) Feed(in []byte, out *bytesx.Out) (int, netloop.Verdict) {
	out.Buf = append(out.Buf, "ERROR\r\n"...)
	return len(in), netloop.Close
}
func (noSession) Sink() []byte          { return nil }
func (noSession) Sunk(int)              {}
func (noSession) Idle() bool            { return true }
func (noSession) Closed(netloop.Reason) {}
