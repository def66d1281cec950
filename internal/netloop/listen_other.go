//go:build !unix

package netloop

import (
	"net"
	"syscall"
)

func narrowUmask(uint32) (restore func()) { return func() {} }

func setBacklog(uintptr, int) {}

func inheritedOptions(_, _ string, _ syscall.RawConn) error { return nil }

func discard(net.Conn) {}
