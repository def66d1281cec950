//go:build unix

package process

import (
	"fmt"
	"io"
	"io/fs"
	"net"
	"net/http"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

func TestSignals(t *testing.T) {
	for _, tc := range []struct {
		name string
		sig  syscall.Signal
		args []string
		out  string
	}{
		{"SIGTERM", syscall.SIGTERM, nil, ""},
		{"SIGINT", syscall.SIGINT, nil, ""},
		{"SIGTERM, verbose", syscall.SIGTERM, []string{"-v"}, "Exiting normally\n"},
		{"SIGUSR1", syscall.SIGUSR1, nil, "Gracefully stopping\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			p := start(t, tc.args...)
			p.dial() // an open connection holds nothing up
			began := time.Now()
			p.signal(tc.sig)
			if code := p.end(); code != 0 {
				t.Errorf("exit %d", code)
			}
			if p.err.String() != tc.out {
				t.Errorf("stderr %q, want %q", p.err, tc.out)
			}
			if d := time.Since(began); d > 10*time.Second {
				t.Errorf("took %v", d)
			}
		})
	}
	t.Run("SIGHUP, SIGPIPE", func(t *testing.T) {
		p := start(t)
		p.signal(syscall.SIGHUP)
		p.signal(syscall.SIGPIPE)
		time.Sleep(100 * time.Millisecond)
		p.dial()
		p.signal(syscall.SIGTERM)
		if code := p.end(); code != 0 || p.err.String() != "" {
			t.Errorf("exit %d: %s", code, p.err)
		}
	})
}

func TestNotices(t *testing.T) {
	p := start(t, "-L", "-o", "hashpower=13,relaxed_privileges,slab_automove=2")
	p.signal(syscall.SIGTERM)
	p.end()
	for _, want := range []string{"-L has no effect: ", "-o hashpower has no effect: ", "-o slab_automove has no effect: "} {
		if strings.Count(p.err.String(), want) != 1 {
			t.Errorf("stderr lacks %q:\n%s", want, p.err)
		}
	}
	if n := strings.Count(p.err.String(), "\n"); n != 3 {
		t.Errorf("%d lines, want 3:\n%s", n, p.err)
	}
}

func TestUnixSocket(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	for range 2 { // the second time over the socket that the first left behind
		p := start(t, "-s", path, "-a", "0750")
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		if st.Mode() != fs.ModeSocket|0o750 {
			t.Errorf("mode %v", st.Mode())
		}
		p.signal(syscall.SIGTERM)
		p.end()
		if _, err := os.Stat(path); err != nil {
			t.Errorf("memcached leaves its socket behind: %v", err)
		}
	}
	os.Remove(path)
	os.WriteFile(path, nil, 0o600)
	code, out := run(t, command(append(asRoot(), "-s", path)...))
	if want := "bind(): Address already in use\nfailed to listen on UNIX socket: " + path + ": Address already in use\n"; code != 71 || out != want {
		t.Errorf("over an ordinary file: %d %q", code, out)
	}
}

func TestPortFile(t *testing.T) {
	free := func() string { return strconv.Itoa(freePort(t)) }
	one, two := free(), free()
	for _, tc := range []struct{ args, want string }{
		{"-p " + one, "TCP INET: " + one},
		{"-U " + one, "TCP INET: " + one + "|UDP INET: " + one},
		{"-p " + one + " -U " + two, "TCP INET: " + one + "|UDP INET: " + two},
		{"-l 127.0.0.1:" + one + ",127.0.0.1:" + two, "TCP INET: " + one + "|TCP INET: " + two},
		{"-p 0", ""},
	} {
		ports := filepath.Join(t.TempDir(), "ports")
		cmd := command(append(asRoot(), strings.Fields(tc.args)...)...)
		cmd.Env = append(os.Environ(), "MEMCACHED_PORT_FILENAME="+ports)
		if err := cmd.Start(); err != nil {
			t.Fatal(err)
		}
		var data []byte
		var err error
		for range 1000 {
			if data, err = os.ReadFile(ports); err == nil {
				break
			}
			time.Sleep(5 * time.Millisecond)
		}
		cmd.Process.Kill()
		cmd.Wait()
		if err != nil {
			t.Fatal(err)
		}
		var v4 []string
		for line := range strings.Lines(string(data)) {
			if !strings.Contains(line, "INET6") {
				v4 = append(v4, strings.TrimSpace(line))
			}
		}
		if got := strings.Join(v4, "|"); got != tc.want {
			t.Errorf("%s: %q, want %q", tc.args, got, tc.want)
		}
	}
}

func freePort(t *testing.T) int {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port
}

func TestPidFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pid")
	os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o644)
	p := start(t, "-P", path)
	p.await("the pid in the file", func() bool {
		data, _ := os.ReadFile(path)
		return string(data) == fmt.Sprintf("%d\n", p.cmd.Process.Pid)
	})
	p.signal(syscall.SIGTERM)
	p.end() // all of stderr is there from here on
	if want := fmt.Sprintf("WARNING: The pid file contained the following (running) pid: %d\n", os.Getpid()); p.err.String() != want {
		t.Errorf("stderr %q, want %q", p.err, want)
	}
	if _, err := os.Stat(path); err != nil {
		t.Errorf("in the foreground the file stays: %v", err)
	}
}

func TestDaemon(t *testing.T) {
	dir := t.TempDir()
	path, port := filepath.Join(dir, "pid"), strconv.Itoa(freePort(t))
	cmd := command(append(asRoot(), "-d", "-P", path, "-p", port)...)
	cmd.Dir = dir
	if code, out := run(t, cmd); code != 0 || out != "" {
		t.Fatalf("exit %d: %s", code, out)
	}
	// The command has returned: the server listens and its file is there.
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(data)))
	if err != nil || pid == cmd.Process.Pid {
		t.Fatalf("pid file %q", data)
	}
	defer syscall.Kill(pid, syscall.SIGKILL)
	c, err := net.Dial("tcp", "127.0.0.1:"+port)
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	if runtime.GOOS == "linux" {
		proc := fmt.Sprintf("/proc/%d/", pid)
		if dir, err := os.Readlink(proc + "cwd"); err != nil || dir != "/" {
			t.Errorf("working directory %q, %v", dir, err)
		}
		for fd := range 3 {
			if to, err := os.Readlink(fmt.Sprintf("%sfd/%d", proc, fd)); err != nil || to != "/dev/null" {
				t.Errorf("descriptor %d is %q, %v", fd, to, err)
			}
		}
		if sid, err := sessionOf(pid); err != nil || sid != pid {
			t.Errorf("session %d, want its own %d (%v)", sid, pid, err)
		}
		if line, _ := os.ReadFile(proc + "cmdline"); !strings.HasPrefix(string(line), "memcached\x00") {
			t.Errorf("command line %q", line)
		}
		if name, _ := os.ReadFile(proc + "comm"); string(name) != "memcached\n" {
			t.Errorf("the process is called %q", name)
		}
	}
	syscall.Kill(pid, syscall.SIGTERM)
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		if _, err := os.Stat(path); err != nil {
			break
		}
		if time.Now().After(end) {
			t.Fatal("the pid file is still there")
		}
	}
}

func sessionOf(pid int) (int, error) {
	data, err := os.ReadFile(fmt.Sprintf("/proc/%d/stat", pid))
	if err != nil {
		return 0, err
	}
	_, rest, _ := strings.Cut(string(data), ") ")
	return strconv.Atoi(strings.Fields(rest)[3])
}

func TestUser(t *testing.T) {
	if os.Getuid() != 0 || runtime.GOOS != "linux" {
		t.Skip("only root can become somebody else")
	}
	sock := filepath.Join(t.TempDir(), "s")
	for _, args := range [][]string{{"-u", "nobody"}, {"-u", "nobody", "-s", sock}} {
		p := startCmd(t, command(args...), contains(args, "-s"))
		var status []byte
		p.await("the other user", func() bool {
			status, _ = os.ReadFile(fmt.Sprintf("/proc/%d/status", p.cmd.Process.Pid))
			return strings.Contains(string(status), "\nUid:\t65534\t65534\t65534\t65534\n")
		})
		if !strings.Contains(string(status), "\nGroups:\t \n") && !strings.Contains(string(status), "\nGroups:\t\n") {
			t.Errorf("supplementary groups are left:\n%s", status)
		}
		if contains(args, "-s") {
			if st, err := os.Stat(sock); err != nil || st.Sys().(*syscall.Stat_t).Uid != 65534 {
				t.Errorf("the socket belongs to root: %v", err)
			}
		}
	}
	if code, out := run(t, command()); code != 64 || out != "must add '-u root' to start as root\n" {
		t.Errorf("root without -u: %d %q", code, out)
	}
}

func TestFileLimit(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("reads /proc")
	}
	cmd := exec.Command("sh", "-c", `ulimit -n 100; exec "$0" "$@"`, bin, "memcached")
	cmd.Args = append(append(cmd.Args, asRoot()...), "-c", "2000")
	if exec.Command("sh", "-c", "ulimit -n 100; ulimit -n 200").Run() != nil { // root in a container may not either
		if code, out := run(t, cmd); code != 71 || !strings.HasPrefix(out, "failed to set rlimit for open files.") {
			t.Errorf("%d %q", code, out)
		}
		return
	}
	p := startCmd(t, cmd, false)
	limits, _ := os.ReadFile(fmt.Sprintf("/proc/%d/limits", p.cmd.Process.Pid))
	for line := range strings.Lines(string(limits)) {
		if f := strings.Fields(line); strings.HasPrefix(line, "Max open files") {
			if n, _ := strconv.Atoi(f[3]); n < 2000 {
				t.Errorf("%s", line)
			}
		}
	}
}

func TestAdmin(t *testing.T) {
	addr := net.JoinHostPort("127.0.0.1", strconv.Itoa(freePort(t)))
	p := start(t, "--admin", addr)
	for path, want := range map[string]string{
		"/healthz": "ok\n", "/metrics": "\ngodwit_get_hits_total 0\n", "/debug/pprof/": "goroutine",
	} {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != 200 || !strings.Contains(string(body), want) {
			t.Errorf("%s: %d %v, lacks %q:\n%s", path, resp.StatusCode, err, want, body)
		}
	}
	code, out := run(t, command(append(asRoot(), "-p", "-1", "--admin", addr)...))
	if want := "failed to listen on admin address " + addr + ": Address already in use\n"; code != 71 || out != want {
		t.Errorf("second server: %d %q", code, out)
	}
	p.signal(syscall.SIGTERM)
	if code := p.end(); code != 0 {
		t.Errorf("exit %d", code)
	}
}
