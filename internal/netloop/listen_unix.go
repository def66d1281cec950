//go:build unix

package netloop

import (
	"net"
	"syscall"
)

// narrowUmask sets the process's umask so that a file made next has no rights outside mode. Files that other threads
// make in between get fewer rights, never more.
func narrowUmask(mode uint32) (restore func()) {
	old := syscall.Umask(int(^mode & 0o777))
	return func() { syscall.Umask(old) }
}

// setBacklog repeats the listen call with the wanted queue length; package net uses the system's maximum.
func setBacklog(fd uintptr, n int) {
	if n > 0 {
		syscall.Listen(int(fd), n)
	}
}

// inheritedOptions sets on the listening socket what accepted ones shall have; Linux copies it.
func inheritedOptions(_, _ string, c syscall.RawConn) error {
	return c.Control(func(fd uintptr) {
		syscall.SetsockoptInt(int(fd), syscall.IPPROTO_TCP, syscall.TCP_NODELAY, 1)
		syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_KEEPALIVE, 1)
	})
}

// discard ends the sending side and takes what the client has sent off the socket, without waiting: closing with unread
// input resets the connection, and the client might lose the last answer. Nobody else may be reading.
func discard(nc net.Conn) {
	if cw, ok := nc.(interface{ CloseWrite() error }); ok {
		cw.CloseWrite()
	}
	sc, ok := nc.(syscall.Conn)
	if !ok {
		return
	}
	if rc, err := sc.SyscallConn(); err == nil {
		var scrap [4096]byte
		rc.Read(func(fd uintptr) bool {
			syscall.Read(int(fd), scrap[:])
			return true
		})
	}
}
