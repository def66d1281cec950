package compat

import (
	"bufio"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// godwit is the program under test.
var godwit string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "godwit-compat")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		godwit = filepath.Join(dir, "memcached") // called so, it is one
		build := exec.Command("go", "build", "-o", godwit, "./cmd/godwit")
		build.Dir = filepath.Join("..", "..")
		build.Stdout, build.Stderr = os.Stdout, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build:", err)
			return 1
		}
		return m.Run()
	}())
}

// memcached is the real one, if it is installed.
func memcached(t *testing.T) string {
	path, err := exec.LookPath("memcached")
	if err != nil {
		t.Skip("there is no memcached to compare with (Debian: apt-get install memcached)")
	}
	return path
}

// start runs a server on a free port and gives its address.
func start(t *testing.T, bin string, args ...string) (addr string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	args = append([]string{"-l", "127.0.0.1", "-p", port}, args...)
	if os.Getuid() == 0 {
		args = append(args, "-u", "root")
	}
	cmd := exec.Command(bin, args...)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		cmd.Process.Signal(syscall.SIGTERM)
		cmd.Wait()
	})
	for until := time.Now().Add(10 * time.Second); ; time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		} else if time.Now().After(until) {
			t.Fatalf("%s does not listen: %v", bin, err)
		}
	}
}

// client speaks the text protocol.
type client struct {
	t *testing.T
	c net.Conn
	r *bufio.Reader
}

func dial(t *testing.T, addr string) *client {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(20 * time.Second))
	return &client{t, c, bufio.NewReader(c)}
}

func (c *client) line() string {
	s, err := c.r.ReadString('\n')
	if err != nil {
		c.t.Fatal(err)
	}
	return strings.TrimRight(s, "\r\n")
}

// ask sends a command with a one-line answer.
func (c *client) ask(format string, args ...any) string {
	fmt.Fprintf(c.c, format+"\r\n", args...)
	return c.line()
}

// lines sends a command whose answer ends with END, and gives the lines before that.
func (c *client) lines(cmd string) (out []string) {
	fmt.Fprintf(c.c, "%s\r\n", cmd)
	for {
		s := c.line()
		if s == "END" {
			return out
		}
		out = append(out, s)
	}
}

// busy does a little of everything, so that all statistics have something to show.
func busy(t *testing.T, addr string) {
	c := dial(t, addr)
	for i := range 200 {
		c.ask("set key%d %d 0 %d\r\n%s", i, i%3, i*10, strings.Repeat("x", i*10))
	}
	c.ask("set n 0 100 1\r\n1")
	for i := range 100 {
		c.lines("get key" + strconv.Itoa(i*3))
	}
	for _, cmd := range []string{
		"incr n 1", "decr n 1", "incr no 1", "decr no 1", "touch n 50", "touch no 1", "delete key1", "delete key1", "flush_all 1000",
		"cas n 0 0 1 1\r\n2", "cas no 0 0 1 1\r\n2", "set large 0 0 500000\r\n" + strings.Repeat("y", 500000),
	} {
		c.ask("%s", cmd)
	}
}
