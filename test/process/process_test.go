//go:build unix

// Package process has black-box tests of the program: it is built once and started as users start it, each time on a
// free port. What is served is tested elsewhere; here it is flags, exit statuses, signals, files and users.
package process

import (
	"bytes"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// bin is the program under test.
var bin string

// buildFlags are for the go command that makes it.
var buildFlags []string

func TestMain(m *testing.M) {
	os.Exit(func() int {
		dir, err := os.MkdirTemp("", "godwit-process")
		if err != nil {
			panic(err)
		}
		defer os.RemoveAll(dir)
		os.Chmod(dir, 0o755) // tests become other users
		bin = filepath.Join(dir, "godwit")
		build := exec.Command("go", append(append([]string{"build"}, buildFlags...), "-o", bin, "../../cmd/godwit")...)
		build.Stdout, build.Stderr = os.Stdout, os.Stderr
		if err := build.Run(); err != nil {
			fmt.Fprintln(os.Stderr, "build:", err)
			return 1
		}
		return m.Run()
	}())
}

// proc is a running server.
type proc struct {
	t    *testing.T
	cmd  *exec.Cmd
	err  *buffer
	port int // from the port file; 0 with a unix socket
	done chan struct{}
}

// buffer collects output while the process writes.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) { b.mu.Lock(); defer b.mu.Unlock(); return b.b.Write(p) }
func (b *buffer) String() string              { b.mu.Lock(); defer b.mu.Unlock(); return b.b.String() }

// asRoot are the arguments that root must give.
func asRoot() []string {
	if os.Getuid() == 0 {
		return []string{"-u", "root"}
	}
	return nil
}

// command is the program called as memcached.
func command(args ...string) *exec.Cmd {
	cmd := exec.Command(bin, args...)
	cmd.Args[0] = "memcached"
	return cmd
}

// start runs a server as memcached on a free port, unless the arguments name a unix socket, and waits until it listens.
func start(t *testing.T, args ...string) *proc {
	t.Helper()
	return startCmd(t, command(append(asRoot(), args...)...), contains(args, "-s"))
}

func contains(list []string, word string) bool {
	for _, w := range list {
		if w == word {
			return true
		}
	}
	return false
}

func startCmd(t *testing.T, cmd *exec.Cmd, unix bool) *proc {
	t.Helper()
	p := &proc{t: t, cmd: cmd, err: &buffer{}, done: make(chan struct{})}
	ports := filepath.Join(t.TempDir(), "ports")
	if !unix {
		if !contains(cmd.Args, "-p") && !contains(cmd.Args, "-U") && !contains(cmd.Args, "-l") {
			cmd.Args = append(cmd.Args, "-p", "-1")
		}
		cmd.Env = append(os.Environ(), "MEMCACHED_PORT_FILENAME="+ports)
	}
	cmd.Stdout, cmd.Stderr = p.err, p.err
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	go func() { cmd.Wait(); close(p.done) }()
	t.Cleanup(func() { cmd.Process.Kill(); <-p.done })
	if unix {
		path := cmd.Args[index(cmd.Args, "-s")+1]
		p.await("the socket "+path, func() bool {
			c, err := net.Dial("unix", path)
			if err == nil {
				c.Close()
			}
			return err == nil
		})
		return p
	}
	p.await("the port file", func() bool {
		data, err := os.ReadFile(ports)
		if err != nil {
			return false
		}
		for line := range strings.Lines(string(data)) {
			if rest, ok := strings.CutPrefix(line, "TCP INET: "); ok {
				p.port, _ = strconv.Atoi(strings.TrimSpace(rest))
			}
		}
		return true
	})
	return p
}

func index(list []string, word string) int {
	for i, w := range list {
		if w == word {
			return i
		}
	}
	return -1
}

// await waits for something to come true while the process lives.
func (p *proc) await(what string, ok func() bool) {
	p.t.Helper()
	for end := time.Now().Add(10 * time.Second); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		if ok() {
			return
		}
		select {
		case <-p.done:
			p.t.Fatalf("waiting for %s, the process ended with %d:\n%s", what, p.cmd.ProcessState.ExitCode(), p.err)
		default:
		}
	}
	p.t.Fatalf("no %s:\n%s", what, p.err)
}

// end waits for the exit and gives the status.
func (p *proc) end() int {
	p.t.Helper()
	select {
	case <-p.done:
	case <-time.After(10 * time.Second):
		p.t.Fatalf("does not end:\n%s", p.err)
	}
	return p.cmd.ProcessState.ExitCode()
}

func (p *proc) signal(s syscall.Signal) { p.cmd.Process.Signal(s) }

func (p *proc) dial() net.Conn {
	p.t.Helper()
	c, err := net.Dial("tcp", net.JoinHostPort("127.0.0.1", strconv.Itoa(p.port)))
	if err != nil {
		p.t.Fatal(err)
	}
	p.t.Cleanup(func() { c.Close() })
	c.SetDeadline(time.Now().Add(10 * time.Second))
	return c
}

// run runs the program to its end.
func run(t *testing.T, cmd *exec.Cmd) (code int, out string) {
	t.Helper()
	b := &buffer{}
	cmd.Stdout, cmd.Stderr = b, b
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	timer := time.AfterFunc(10*time.Second, func() { cmd.Process.Kill() })
	cmd.Wait()
	timer.Stop()
	return cmd.ProcessState.ExitCode(), b.String()
}
