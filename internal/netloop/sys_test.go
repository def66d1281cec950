//go:build linux && !386

package netloop

import (
	"fmt"
	"net"
	"os"
	"syscall"
	"testing"
)

func dup(f *os.File) (int, error) { return syscall.Dup(int(f.Fd())) }

// Running out of descriptors suspends accepting; it must not spin, and it must end.
func TestOutOfDescriptors(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.send("echo a\n")
		c.want("a\n")
		var old syscall.Rlimit
		if err := syscall.Getrlimit(syscall.RLIMIT_NOFILE, &old); err != nil {
			t.Fatal(err)
		}
		late := r.dialAt("tcp", r.addr)
		<-r.h.opened
		if !r.tls {
			<-r.h.opened
		}
		// The client's socket takes the last descriptor, so that the server finds none.
		probe, err := os.Open(os.DevNull)
		if err != nil {
			t.Fatal(err)
		}
		low := old
		low.Cur = uint64(probe.Fd()) + 1
		probe.Close()
		if err := syscall.Setrlimit(syscall.RLIMIT_NOFILE, &low); err != nil {
			t.Fatal(err)
		}
		nc, err := net.Dial("tcp", r.addr)
		if err != nil {
			syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
			t.Skip("no descriptor for the client: ", err)
		}
		defer nc.Close()
		eventually(t, "suspended", func() bool { return r.s.Stats().ListenDisabled > 0 })
		syscall.Setrlimit(syscall.RLIMIT_NOFILE, &old)
		_ = late
		if !r.tls {
			fmt.Fprintf(nc, "echo a\n")
			if _, err := nc.Read(make([]byte, 2)); err != nil {
				t.Error(err)
			}
		}
		eventually(t, "accepting", func() bool { return r.s.Stats().Accepting })
	})
}

func TestInheritedSocket(t *testing.T) {
	for _, io := range []string{"auto", "std"} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		f, err := ln.(*net.TCPListener).File()
		if err != nil {
			t.Fatal(err)
		}
		fd, err := dup(f)
		if err != nil {
			t.Fatal(err)
		}
		f.Close()
		addr := ln.Addr().String()
		ln.Close()
		r := serveOn(t, Config{IO: io}, &Listener{FD: fd})
		if r.addr != addr {
			t.Errorf("%s, want %s", r.addr, addr)
		}
		c := r.dialAt("tcp", addr)
		c.send("echo a\n")
		c.want("a\n")
	}
}

// Where io_uring is forbidden, for all loops or from the second on, epoll serves.
func TestUringFallback(t *testing.T) {
	defer func() { openUring = newUring }()
	for allowed := range 2 {
		n := 0
		openUring = func() (*uring, error) {
			if n++; n > allowed {
				return nil, syscall.EPERM
			}
			return newUring()
		}
		r := serveOn(t, Config{IO: "io_uring", Loops: 3}, &Listener{Addr: "127.0.0.1:0"})
		if r.s.IO() != "epoll" || r.s.Loops() != 3 {
			t.Errorf("%s, %d loops", r.s.IO(), r.s.Loops())
		}
		c := r.dial()
		c.send("echo a\n")
		c.want("a\n")
	}
}
