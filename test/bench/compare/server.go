package main

import (
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"golang.org/x/sys/unix"
)

// server is one of the programs compared.
type server struct {
	name string
	argv []string
}

// running is a started server.
type running struct {
	cmd  *exec.Cmd
	addr string
}

// start the server on a free port of loopback, pinned to core 0.
func (s server) start(memoryMB int) (*running, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	argv := append([]string{"-c", "0"}, s.argv...)
	argv = append(argv, "-u", "root", "-t", "1", "-c", "1024", "-m", strconv.Itoa(memoryMB), "-p", strconv.Itoa(port), "-l", "127.0.0.1")
	r := &running{cmd: exec.Command("taskset", argv...), addr: "127.0.0.1:" + strconv.Itoa(port)}
	if err := r.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", r.addr); err == nil {
			c.Close()
			return r, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	r.stop()
	return nil, fmt.Errorf("%s does not listen on %s", s.name, r.addr)
}

func (r *running) stop() {
	_ = r.cmd.Process.Kill()
	_ = r.cmd.Wait()
}

// cpu time that the server has used so far. taskset has become the server by exec.
func (r *running) cpu() (time.Duration, error) {
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

// pin this process, and what it does from here on, to a core.
func pin(core int) error {
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
