package netloop

import (
	"errors"
	"net"
	"net/netip"
	"syscall"
	"time"
)

// accepted is a new connection on its way to an event loop. It has entered the gate.
type accepted struct {
	fd   int
	sock *sock
	peer netip.AddrPort
}

// accept takes connections from one listening socket until it is closed. One goroutine per socket.
func (s *Server) accept(k *sock) {
	if k.f != nil {
		s.acceptRaw(k)
		return
	}
	for {
		nc, err := k.ln.Accept()
		if err != nil {
			if !s.acceptFailed(k, err) {
				return
			}
			continue
		}
		if !s.gate.enter(s.quit) {
			go refuse(nc)
			continue
		}
		s.serveStd(least(s.std), k, nc)
	}
}

// acceptFailed says whether to go on.
func (s *Server) acceptFailed(k *sock, err error) bool {
	if s.stopping.Load() || errors.Is(err, net.ErrClosed) {
		return false
	}
	for _, passing := range []error{syscall.EAGAIN, syscall.EINTR, syscall.ECONNABORTED} {
		if errors.Is(err, passing) {
			return true
		}
	}
	// Out of descriptors or memory, or something unknown: in no case may this spin.
	s.cfg.Logf("accept on %s: %v", k.local, err)
	return s.gate.exhausted(s.quit)
}

// refuse tells a client that there is no room.
func refuse(nc net.Conn) {
	nc.SetWriteDeadline(time.Now().Add(time.Second))
	nc.Write([]byte(refusal))
	discard(nc)
	nc.Close()
}
