//go:build !386

package netloop

import (
	"net/netip"
	"os"
	"syscall"
)

const autoIO = "io_uring"

// detach takes the descriptor out of package net: event loops accept for themselves.
func (k *sock) detach() error {
	type filer interface{ File() (*os.File, error) }
	f, err := k.ln.(filer).File()
	if err != nil {
		return err
	}
	rc, err := f.SyscallConn()
	if err != nil {
		f.Close()
		return err
	}
	k.ln.Close()
	k.ln, k.f, k.rc = nil, f, rc
	rc.Control(func(fd uintptr) { k.id = int(fd) })
	return nil
}

// acceptRaw accepts for the event loops. The goroutine waits in the runtime's poller.
func (s *Server) acceptRaw(k *sock) {
	for {
		var fd int
		var sa syscall.Sockaddr
		var err error
		closed := k.rc.Read(func(lfd uintptr) bool {
			fd, sa, err = syscall.Accept4(int(lfd), syscall.SOCK_NONBLOCK|syscall.SOCK_CLOEXEC)
			return err != syscall.EAGAIN
		})
		if closed != nil {
			return
		}
		if err != nil {
			if !s.acceptFailed(k, err) {
				return
			}
			continue
		}
		if !s.gate.enter(s.quit) {
			refuseFD(fd)
			continue
		}
		least(s.loops).adopt(accepted{fd: fd, sock: k, peer: addrPort(sa)})
	}
}

// refuseFD tells a client that there is no room. What it has sent already is read first: closing with unread input would
// reset the connection, and the text might be lost.
func refuseFD(fd int) {
	rawSend(fd, []byte(refusal))
	shutdownWrite(fd)
	var scrap [512]byte
	rawRecv(fd, scrap[:])
	closeFD(fd)
}

func addrPort(sa syscall.Sockaddr) netip.AddrPort {
	switch a := sa.(type) {
	case *syscall.SockaddrInet4:
		return netip.AddrPortFrom(netip.AddrFrom4(a.Addr), uint16(a.Port))
	case *syscall.SockaddrInet6:
		return netip.AddrPortFrom(netip.AddrFrom16(a.Addr).Unmap(), uint16(a.Port))
	}
	return netip.AddrPort{}
}

// makeLoops makes the event loops. mixed: goroutines serve connections too, so that loops must not keep their P waiting.
func (s *Server) makeLoops(mixed bool) error {
	for i := range s.cfg.Loops {
		if s.io == "io_uring" {
			l, err := newULoop(s, i, mixed)
			if err == nil {
				s.loops = append(s.loops, l)
				continue
			}
			s.cfg.Logf("io_uring cannot be used here, using epoll: %v", err)
			s.io = "epoll"
			for _, l := range s.loops {
				l.(*uloop).abandon()
			}
			s.loops = nil
			return s.makeLoops(mixed)
		}
		l, err := newLoop(s, i, mixed)
		if err != nil {
			return err
		}
		s.loops = append(s.loops, l)
	}
	return nil
}
