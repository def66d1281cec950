// Package harness starts the programs that the benchmarks compare, each pinned to a core, and reads what they cost.
package harness

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// Server is one of the programs compared.
type Server struct {
	Name string
	Argv []string
}

// Running is a started server.
type Running struct {
	Addr string // host:port
	cmd  *exec.Cmd
}

// Start the server on a free port of loopback, pinned to core 0.
func (s Server) Start(memoryMB int) (*Running, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	argv := append([]string{"-c", "0"}, s.Argv...)
	argv = append(argv, "-u", "root", "-t", "1", "-c", "1024", "-m", strconv.Itoa(memoryMB), "-p", strconv.Itoa(port), "-l", "127.0.0.1")
	r := &Running{cmd: exec.Command("taskset", argv...), Addr: "127.0.0.1:" + strconv.Itoa(port)}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", r.Addr); err == nil {
			c.Close()
			return r, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.Stop()
	return nil, fmt.Errorf("%s does not listen on %s", s.Name, r.Addr)
}

// Stop it at once.
func (r *Running) Stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// Pid of the server.
func (r *Running) Pid() int { return r.cmd.Process.Pid }

// CPU time that the server has used so far. taskset has become the server by exec.
func (r *Running) CPU() (time.Duration, error) {
	b, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", r.cmd.Process.Pid))
	if err != nil {
		return 0, err
	}
	f := strings.Fields(string(b)[strings.LastIndexByte(string(b), ')')+1:])
	user, err1 := strconv.ParseInt(f[11], 10, 64)
	system, err2 := strconv.ParseInt(f[12], 10, 64)
	if err1 != nil || err2 != nil {
		return 0, fmt.Errorf("/proc/%d/stat: unexpected %q", r.cmd.Process.Pid, b)
	}
	const tick = 10 * time.Millisecond // USER_HZ is 100 everywhere
	return time.Duration(user+system) * tick, nil
}

// Pin this process, and what it does from here on, to a core.
func Pin(core int) error {
	var set unix.CPUSet
	set.Set(core)
	tasks, err := os.ReadDir("/proc/self/task")
	if err != nil {
		return err
	}
	for _, t := range tasks {
		id, _ := strconv.Atoi(t.Name())
		if err := unix.SchedSetaffinity(id, &set); err != nil {
			return fmt.Errorf("pin to core %d: %w (two cores are needed)", core, err)
		}
	}
	return nil
}

// Build the program at a package path of this module into a directory.
func Build(dir, pkg string) (path string, err error) {
	path = dir + "/" + filepath.Base(pkg)
	build := exec.Command("go", "build", "-trimpath", "-o", path, pkg)
	build.Stderr = os.Stderr
	if err := build.Run(); err != nil {
		return "", fmt.Errorf("go build %s: %w (run it from the root of the checkout)", pkg, err)
	}
	return path, nil
}

// Median of numbers; 0 of none.
func Median(v []float64) float64 {
	if len(v) == 0 {
		return 0
	}
	v = slices.Sorted(slices.Values(v))
	if n := len(v); n%2 == 0 {
		return (v[n/2-1] + v[n/2]) / 2
	}
	return v[len(v)/2]
}
