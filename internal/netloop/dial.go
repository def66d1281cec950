package netloop

import (
	"errors"
	"net"
	"net/netip"
)

// Adopt makes an open connection, such as one that was dialled, a connection of a loop, with a session of the Handler as
// if it had been accepted from l. l is not listened on; its Tag tells the Handler what the connection is for. nc belongs to
// the Server from now on, also after an error. TLS and other wrapped connections are for IO "std" only.
func (s *Server) Adopt(loop int, nc net.Conn, l *Listener) error {
	if s.stopping.Load() || !s.gate.enter(s.quit) {
		nc.Close()
		return net.ErrClosed
	}
	k := &sock{l: l, local: l.Addr}
	if i := loop - len(s.loops); i >= 0 {
		s.serveStd(s.std[i], k, nc)
		return nil
	}
	fd, err := detach(nc)
	if err != nil {
		s.gate.leave()
		return err
	}
	s.loops[loop].adopt(accepted{fd: fd, sock: k, peer: peerOf(nc)})
	return nil
}

var errWrapped = errors.New("netloop: no socket of its own (use io std)")

// peerOf is the address of the other end, or the zero one.
func peerOf(nc net.Conn) netip.AddrPort {
	a, ok := nc.RemoteAddr().(*net.TCPAddr)
	if !ok {
		return netip.AddrPort{}
	}
	p := a.AddrPort()
	return netip.AddrPortFrom(p.Addr().Unmap(), p.Port())
}
