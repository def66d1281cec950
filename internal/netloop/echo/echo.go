// Package echo is the floor that the server is measured against: a handler that answers each line with a constant and
// does nothing else, over the loops of netloop.
package echo

import (
	"bytes"

	"godwit/internal/bytesx"
	"godwit/internal/netloop"
)

// Handler answers each line with Answer. It has no state, so that one
// may serve any number of connections.
type Handler struct {
	Answer []byte // with its line end
}

// Open implements netloop.Handler.
func (h *Handler) Open(netloop.Conn) netloop.Session { return h }

// Turn implements netloop.Handler.
func (h *Handler) Turn(int) {}

// Feed implements netloop.Session.
func (h *Handler) Feed(in []byte, out *bytesx.Out) (int, netloop.Verdict) {
	used := 0
	for {
		i := bytes.IndexByte(in[used:], '\n')
		if i < 0 {
			return used, netloop.More
		}
		used += i + 1
		out.Buf = append(out.Buf, h.Answer...)
	}
}

// Sink implements netloop.Session.
func (h *Handler) Sink() []byte { return nil }

// Sunk implements netloop.Session.
func (h *Handler) Sunk(int) {}

// Idle implements netloop.Session.
func (h *Handler) Idle() bool { return true }

// Closed implements netloop.Session.
func (h *Handler) Closed(netloop.Reason) {}
