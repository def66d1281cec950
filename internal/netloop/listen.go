package netloop

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"net"
	"net/netip"
	"os"
	"strconv"
	"sync"
	"syscall"
)

// sock is one bound socket. A Listener has several when its host stands for several addresses.
type sock struct {
	l     *Listener
	local string // as Conn.Local tells
	id    int    // descriptor
	ln    net.Listener
	f     *os.File // the descriptor of ln for accepting without package net; Linux event loops only
	rc    syscall.RawConn
	pc    *net.UDPConn
	once  sync.Once
}

// std says whether its connections are served by goroutines.
func (k *sock) std() bool { return k.ln != nil }

func (k *sock) close() {
	k.once.Do(func() {
		if k.ln != nil {
			k.ln.Close()
		}
		if k.f != nil {
			k.f.Close()
		}
		if k.pc != nil {
			k.pc.Close()
		}
	})
}

// bind opens all sockets of a listener.
func (s *Server) bind(l *Listener) ([]*sock, error) {
	var socks []*sock
	var err error
	switch {
	case l.FD > 0:
		socks, err = s.inherit(l)
	case l.Transport == Unix:
		socks, err = s.bindUnix(l)
	default:
		socks, err = s.bindIP(l)
	}
	if err != nil {
		var le *ListenError
		if !errors.As(err, &le) {
			err = &ListenError{L: l, Addr: l.Addr, Err: err}
		}
	}
	return socks, err
}

// bindIP binds every address the host stands for. Any host is 0.0.0.0 and [::], as two sockets. Families the system does
// not have are left out as long as another one works. With port 0 all addresses get the same free port.
func (s *Server) bindIP(l *Listener) ([]*sock, error) {
	host, port, err := net.SplitHostPort(l.Addr)
	if err != nil {
		return nil, err
	}
	num, err := net.DefaultResolver.LookupPort(context.Background(), "tcp", port)
	if err != nil {
		return nil, err
	}
	var ips []netip.Addr
	any := host == "" || host == "*"
	if any {
		ips = []netip.Addr{netip.IPv4Unspecified(), netip.IPv6Unspecified()}
	} else if ips, err = net.DefaultResolver.LookupNetIP(context.Background(), "ip", host); err != nil {
		return nil, err
	}
	for try := 0; ; try++ {
		socks, err := s.bindAll(l, ips, uint16(num))
		if err != nil && num == 0 && errors.Is(err, syscall.EADDRINUSE) && try < 20 {
			continue // the port that was free for the first address is taken for the second
		}
		return socks, err
	}
}

func (s *Server) bindAll(l *Listener, ips []netip.Addr, port uint16) ([]*sock, error) {
	var socks []*sock
	var skipped error
	for _, ip := range ips {
		at := netip.AddrPortFrom(ip.Unmap(), port)
		k, err := s.bindOne(l, at)
		if err != nil {
			err = &ListenError{L: l, Addr: at.String(), Err: err}
			if len(ips) > 1 && unsupported(err) {
				skipped = err
				continue
			}
			for _, k := range socks {
				k.close()
			}
			return nil, err
		}
		socks = append(socks, k)
		if port == 0 {
			if a, err := netip.ParseAddrPort(k.local); err == nil {
				port = a.Port()
			}
		}
	}
	if len(socks) == 0 {
		return nil, skipped
	}
	return socks, nil
}

func unsupported(err error) bool {
	return errors.Is(err, syscall.EAFNOSUPPORT) || errors.Is(err, syscall.EPROTONOSUPPORT) || errors.Is(err, syscall.EADDRNOTAVAIL)
}

func (s *Server) bindOne(l *Listener, at netip.AddrPort) (*sock, error) {
	family := "4"
	if at.Addr().Is6() {
		family = "6" // package net sets IPV6_V6ONLY
	}
	if l.Transport == UDP {
		pc, err := net.ListenUDP("udp"+family, net.UDPAddrFromAddrPort(at))
		if err != nil {
			return nil, err
		}
		return s.packetSock(l, pc), nil
	}
	lc := net.ListenConfig{Control: inheritedOptions}
	lc.SetMultipathTCP(false)
	ln, err := lc.Listen(context.Background(), "tcp"+family, at.String())
	if err != nil {
		return nil, err
	}
	return s.streamSock(l, ln)
}

// bindUnix makes the file with no more rights than Mode at any moment. A socket file left by an earlier process goes; any
// other file is in the way.
func (s *Server) bindUnix(l *Listener) ([]*sock, error) {
	if st, err := os.Lstat(l.Addr); err == nil && st.Mode()&fs.ModeSocket != 0 {
		if err := os.Remove(l.Addr); err != nil {
			return nil, err
		}
	}
	restore := narrowUmask(l.Mode)
	ln, err := net.ListenUnix("unix", &net.UnixAddr{Name: l.Addr, Net: "unix"})
	restore()
	if err != nil {
		return nil, err
	}
	ln.SetUnlinkOnClose(false)
	k, err := s.streamSock(l, ln)
	if err != nil {
		return nil, err
	}
	return []*sock{k}, nil
}

// inherit takes over a socket that another process opened (systemd).
func (s *Server) inherit(l *Listener) ([]*sock, error) {
	f := os.NewFile(uintptr(l.FD), "inherited-"+strconv.Itoa(l.FD))
	if f == nil {
		return nil, fmt.Errorf("descriptor %d: not open", l.FD)
	}
	defer f.Close() // package net works on a copy
	if l.Transport == UDP {
		pc, err := net.FilePacketConn(f)
		if err != nil {
			return nil, err
		}
		u, ok := pc.(*net.UDPConn)
		if !ok {
			pc.Close()
			return nil, fmt.Errorf("descriptor %d: not a UDP socket", l.FD)
		}
		return []*sock{s.packetSock(l, u)}, nil
	}
	ln, err := net.FileListener(f)
	if err != nil {
		return nil, err
	}
	switch u := ln.(type) {
	case *net.UnixListener:
		u.SetUnlinkOnClose(false)
		l.Transport = Unix
	case *net.TCPListener:
		l.Transport = TCP
		if rc, err := u.SyscallConn(); err == nil {
			inheritedOptions("", "", rc) // for the sockets accepted from it; failure costs speed only
		}
	}
	k, err := s.streamSock(l, ln)
	if err != nil {
		return nil, err
	}
	return []*sock{k}, nil
}

func (s *Server) packetSock(l *Listener, pc *net.UDPConn) *sock {
	k := &sock{l: l, pc: pc, local: pc.LocalAddr().String()}
	if rc, err := pc.SyscallConn(); err == nil {
		rc.Control(func(fd uintptr) { k.id = int(fd) })
	}
	pc.SetReadBuffer(1 << 20) // as much as the system allows of it
	pc.SetWriteBuffer(1 << 20)
	return k
}

func (s *Server) streamSock(l *Listener, ln net.Listener) (*sock, error) {
	k := &sock{l: l, ln: ln, local: ln.Addr().String()}
	sc, ok := ln.(syscall.Conn)
	if !ok {
		return k, nil
	}
	rc, err := sc.SyscallConn()
	if err == nil {
		err = rc.Control(func(fd uintptr) {
			k.id = int(fd)
			setBacklog(fd, l.Backlog)
		})
	}
	if err == nil && s.io != "std" && l.TLS == nil {
		err = k.detach()
	}
	if err != nil {
		k.close()
		return nil, err
	}
	return k, nil
}

// Addr is one bound address.
type Addr struct {
	Listener *Listener
	Addr     string // host:port, or a path
}

// Addrs are the bound addresses, with the ports that were chosen for port 0.
func (s *Server) Addrs() []Addr {
	out := make([]Addr, len(s.socks))
	for i, k := range s.socks {
		out[i] = Addr{k.l, k.local}
	}
	return out
}
