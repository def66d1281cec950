//go:build linux

package process

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSystemd plays the service manager: it passes a listening socket and waits for readiness.
func TestSystemd(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	f, err := l.(*net.TCPListener).File()
	if err != nil {
		t.Fatal(err)
	}
	notify := filepath.Join(t.TempDir(), "notify")
	nc, err := net.ListenUnixgram("unixgram", &net.UnixAddr{Name: notify, Net: "unixgram"})
	if err != nil {
		t.Fatal(err)
	}
	defer nc.Close()
	nc.SetDeadline(time.Now().Add(10 * time.Second))

	cmd := exec.Command("sh", "-c", `LISTEN_PID=$$ LISTEN_FDS=1 exec "$0" "$@"`, bin, "memcached")
	cmd.Args = append(cmd.Args, asRoot()...)
	cmd.Env = append(os.Environ(), "NOTIFY_SOCKET="+notify)
	cmd.ExtraFiles = []*os.File{f}
	out := &buffer{}
	cmd.Stdout, cmd.Stderr = out, out
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	defer cmd.Process.Kill()
	f.Close()

	buf := make([]byte, 100)
	for _, want := range []string{"READY=1", "STOPPING=1"} {
		n, err := nc.Read(buf)
		if err != nil {
			t.Fatalf("%v\n%s", err, out)
		}
		if got := string(buf[:n]); !strings.Contains(got, want) {
			t.Errorf("told %q, want %s", got, want)
		}
		if want == "READY=1" {
			l.Close() // from here on only the server can answer
			c, err := net.Dial("tcp", l.Addr().String())
			if err != nil {
				t.Fatal(err)
			}
			c.Close()
			cmd.Process.Signal(syscall.SIGTERM)
		}
	}
	if err := cmd.Wait(); err != nil {
		t.Errorf("%v\n%s", err, out)
	}
}
