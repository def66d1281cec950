//go:build unix

// Package server starts memcached servers, this one and others, for black-box tests.
package server

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// Build makes the program in a new directory, under a name that makes it a memcached, runs the tests and removes it.
// GODWIT_BIN names one that exists, to be tested instead; its name must end with memcached, too.
func Build(m *testing.M, module string, bin *string) int {
	if *bin = os.Getenv("GODWIT_BIN"); *bin != "" {
		return m.Run()
	}
	dir, err := os.MkdirTemp("", "godwit-conformance")
	if err != nil {
		panic(err)
	}
	defer os.RemoveAll(dir)
	*bin = filepath.Join(dir, "memcached")
	build := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", *bin, "./cmd/godwit")...)
	build.Dir, build.Stdout, build.Stderr = module, os.Stdout, os.Stderr
	if err := build.Run(); err != nil {
		fmt.Fprintln(os.Stderr, "build:", err)
		return 1
	}
	return m.Run()
}

// buildFlags are for the go command of Build.
var buildFlags []string

// Server is a running one.
type Server struct {
	t      testing.TB
	Addr   string // host:port of TCP and, if the arguments have -U, UDP
	Port   string
	cmd    *exec.Cmd
	output buffer
	done   chan struct{}
}

// buffer collects output while the process writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// FreePort is one that nobody listens on now, for TCP and UDP.
func FreePort(t testing.TB) string {
	t.Helper()
	for range 100 {
		l, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		u, err := net.ListenPacket("udp", l.Addr().String())
		l.Close()
		if err == nil {
			u.Close()
			_, port, _ := net.SplitHostPort(l.Addr().String())
			return port
		}
	}
	t.Fatal("no free port")
	return ""
}

// Start runs bin on a free port until the test ends. PORT in an argument stands for that port. A server that ended by itself
// fails the test.
func Start(t testing.TB, bin string, args ...string) *Server {
	t.Helper()
	s := &Server{t: t, Port: FreePort(t), done: make(chan struct{})}
	s.Addr = net.JoinHostPort("127.0.0.1", s.Port)
	all := []string{"-l", "127.0.0.1", "-p", s.Port}
	if os.Getuid() == 0 {
		all = append(all, "-u", "root")
	}
	for _, a := range args {
		all = append(all, strings.ReplaceAll(a, "PORT", s.Port))
	}
	s.cmd = exec.Command(bin, all...)
	s.cmd.Stdout, s.cmd.Stderr = &s.output, &s.output
	if err := s.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { s.cmd.Wait(); close(s.done) }()
	t.Cleanup(func() {
		if !s.Alive() {
			t.Errorf("the server ended by itself: %v\n%s", s.cmd.ProcessState, s.Output())
			return
		}
		s.cmd.Process.Signal(syscall.SIGTERM)
		select {
		case <-s.done:
		case <-time.After(10 * time.Second):
			t.Errorf("the server does not stop:\n%s", s.Output())
			s.cmd.Process.Kill()
			<-s.done
		}
	})
	for until := time.Now().Add(20 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.Addr); err == nil {
			c.Close()
			return s
		} else if !s.Alive() || time.Now().After(until) {
			t.Fatalf("%s %v does not listen: %v\n%s", bin, all, err, s.Output())
		}
	}
}

// Alive tells whether the process still runs.
func (s *Server) Alive() bool {
	select {
	case <-s.done:
		return false
	default:
		return true
	}
}

// Output is what the server has said on stdout and stderr.
func (s *Server) Output() string { return s.output.String() }

var rss = regexp.MustCompile(`(?m)^(VmRSS|VmHWM):\s+(\d+) kB`)

// RSS is the resident memory now and at its highest, in bytes; 0 where the system does not tell.
func (s *Server) RSS() (now, most int64) {
	data, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", s.cmd.Process.Pid))
	for _, m := range rss.FindAllStringSubmatch(string(data), -1) {
		n, _ := strconv.ParseInt(m[2], 10, 64)
		if m[1] == "VmRSS" {
			now = n << 10
		} else {
			most = n << 10
		}
	}
	return now, most
}

// Dial opens a connection that ends with the test and fails after a while.
func (s *Server) Dial() net.Conn {
	s.t.Helper()
	c, err := net.DialTimeout("tcp", s.Addr, 10*time.Second)
	if err != nil {
		s.t.Fatalf("%v\n%s", err, s.Output())
	}
	s.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(60 * time.Second))
	return c
}
