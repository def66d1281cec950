//go:build !386

package netloop

import (
	"net"
	"syscall"
)

// detach takes the socket out of nc, which is closed.
func detach(nc net.Conn) (fd int, err error) {
	defer nc.Close()
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return -1, errWrapped
	}
	rc, err := sc.SyscallConn()
	if err != nil {
		return -1, err
	}
	var e syscall.Errno
	err = rc.Control(func(old uintptr) {
		n, _, no := syscall.RawSyscall(syscall.SYS_FCNTL, old, syscall.F_DUPFD_CLOEXEC, 0)
		fd, e = int(n), no
	})
	if err != nil {
		return -1, err
	}
	if e != 0 {
		return -1, e
	}
	return fd, nil
}
