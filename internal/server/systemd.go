package server

import (
	"github.com/coreos/go-systemd/v22/activation"
	systemd "github.com/coreos/go-systemd/v22/daemon"
	"golang.org/x/sys/unix"

	"godwit/internal/config"
	"godwit/internal/netloop"
)

// passed are the sockets that systemd opened for us.
func (s *Server) passed() []*netloop.Listener {
	var ls []*netloop.Listener
	for _, f := range activation.Files(true) {
		fd, err := unix.FcntlInt(f.Fd(), unix.F_DUPFD_CLOEXEC, 0)
		f.Close() // the network owns the copy
		if err != nil {
			continue
		}
		l := &netloop.Listener{FD: fd, Addr: f.Name(), Backlog: s.set.Backlog, Tag: s.tag(s.set.Protocol)}
		if kind, err := unix.GetsockoptInt(fd, unix.SOL_SOCKET, unix.SO_TYPE); err == nil && kind == unix.SOCK_DGRAM {
			l.Transport = netloop.UDP
		} else if sa, err := unix.Getsockname(fd); err == nil {
			if _, is := sa.(*unix.SockaddrUnix); is {
				l.Transport = netloop.Unix
			} else {
				l.TLS = s.tlsOf(config.TLSDefault)
			}
		}
		ls = append(ls, l)
	}
	return ls
}

// notifyReady tells the service manager, if there is one, that clients may come.
func notifyReady() {
	systemd.SdNotify(false, systemd.SdNotifyReady)
}

func notifyStopping() {
	systemd.SdNotify(false, systemd.SdNotifyStopping)
}
