package server

import (
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"net/netip"
	"os"
	"strconv"
	"syscall"
	"time"

	"godwit/internal/config"
	"godwit/internal/netloop"
)

// drain is how long a graceful stop waits for clients to take their answers.
const drain = 5 * time.Second

// listen binds all addresses.
func (s *Server) listen() error {
	ls, err := s.listeners()
	if err != nil {
		return err
	}
	set := s.set
	s.net, err = netloop.New(netloop.Config{
		Listeners: ls, Loops: loopsFor(set), MaxConns: set.MaxConns, MaxConnsFast: set.MaxConnsFast,
		IdleTimeout: time.Duration(max(0, set.IdleTimeout)) * time.Second, ReadMemLimit: set.ReadBufMemLimit,
		DrainTimeout: drain, IO: set.IO,
		Logf: func(format string, args ...any) {
			// Before the start there is no env: what is said then is why a driver that was asked for is not there.
			if s.env != nil && s.env.Verbose.Load() > 0 || s.env == nil && (set.Verbosity > 0 || set.IO != "auto") {
				fmt.Fprintf(s.opt.Stderr, format+"\n", args...)
			}
		},
	}, handler{s})
	if err != nil {
		return s.listenFailed(err)
	}
	if err := s.listenAdmin(); err != nil {
		return err
	}
	if path := os.Getenv("MEMCACHED_PORT_FILENAME"); path != "" && set.Socket == "" {
		if err := writePorts(path, s.net.Addrs()); err != nil {
			fmt.Fprintln(s.opt.Stderr, err)
		}
	}
	return nil
}

// listeners turns the settings into addresses. Sockets that systemd passed replace those of the settings.
func (s *Server) listeners() ([]*netloop.Listener, error) {
	set := s.set
	if ls := s.passed(); len(ls) > 0 {
		return ls, nil
	}
	if set.Socket != "" {
		return []*netloop.Listener{{
			Transport: netloop.Unix, Addr: set.Socket, Mode: set.SocketMode & 0o777, Backlog: set.Backlog,
			Tag: s.tag(set.Protocol),
		}}, nil
	}
	var ls []*netloop.Listener
	for _, t := range []struct {
		tr   netloop.Transport
		port int
	}{{netloop.TCP, set.Port}, {netloop.UDP, set.UDPPort}} {
		if t.port == 0 {
			continue
		}
		for _, in := range s.interfaces() {
			port := t.port
			if in.PortGiven {
				port = in.Port
			}
			if port == -1 {
				port = 0
			}
			if port < 0 || port > 65535 {
				return nil, s.notListening(t.tr, "getaddrinfo(): Servname not supported for ai_socktype\n", "Success")
			}
			l := &netloop.Listener{Transport: t.tr, Addr: net.JoinHostPort(in.Host, strconv.Itoa(port)), Backlog: set.Backlog, Tag: s.tag(in.Proto)}
			if t.tr == netloop.TCP {
				l.TLS = s.tlsOf(in.TLS)
			}
			ls = append(ls, l)
		}
	}
	return ls, nil
}

// interfaces are those of -l, or the one that stands for all.
func (s *Server) interfaces() []*config.Listen {
	if len(s.set.Inter) == 0 {
		return []*config.Listen{{Proto: s.set.Protocol}}
	}
	var out []*config.Listen
	for i := range s.set.Inter {
		out = append(out, &s.set.Inter[i])
	}
	return out
}

// tlsOf gives what a listener asks for its configuration at each connection; nil for a plain listener.
func (s *Server) tlsOf(mode config.ListenTLS) func() *tls.Config {
	if s.tls == nil || mode == config.TLSNone {
		return nil
	}
	return func() *tls.Config { return s.tls.config(mode) }
}

// listenFailed has memcached's texts.
func (s *Server) listenFailed(err error) error {
	var le *netloop.ListenError
	if !errors.As(err, &le) {
		return failf(config.ExitOS, "%v", err)
	}
	text := errText(le.Err)
	var dns *net.DNSError
	switch {
	case errors.As(err, &dns):
		return s.notListening(le.L.Transport, "getaddrinfo(): Name or service not known\n", "Success")
	case errors.Is(err, syscall.EADDRINUSE) && le.L.Transport != netloop.Unix:
		return s.notListening(le.L.Transport, "", text)
	}
	return s.notListening(le.L.Transport, "bind(): "+text+"\n", text)
}

func (s *Server) notListening(t netloop.Transport, before, text string) error {
	what := ""
	switch {
	case t == netloop.Unix:
		what = "UNIX socket: " + s.set.Socket
	case s.set.InterText != "":
		what = "one of interface(s) " + s.set.InterText
	case t == netloop.UDP:
		what = "UDP port " + strconv.Itoa(s.set.UDPPort)
	default:
		what = "TCP port " + strconv.Itoa(s.set.Port)
	}
	return failf(config.ExitOS, "%sfailed to listen on %s: %s", before, what, text)
}

// writePorts tells in a file which ports were taken: for programs that start a server on a free one. The file appears
// when it is complete.
func writePorts(path string, addrs []netloop.Addr) error {
	lock := path + ".lck"
	f, err := os.OpenFile(lock, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return fmt.Errorf("Failed to open \"%s\": %s", lock, errText(err))
	}
	for _, a := range addrs {
		at, err := netip.ParseAddrPort(a.Addr)
		if err != nil {
			continue
		}
		name := "TCP"
		if a.Listener.Transport == netloop.UDP {
			name = "UDP"
		}
		family := "INET"
		if at.Addr().Is6() {
			family = "INET6"
		}
		fmt.Fprintf(f, "%s %s: %d\n", name, family, at.Port())
	}
	if err := f.Close(); err != nil {
		return err
	}
	return os.Rename(lock, path)
}
