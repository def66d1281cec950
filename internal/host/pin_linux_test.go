package host

import (
	"errors"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"testing"

	"golang.org/x/sys/unix"
)

func TestPin(t *testing.T) {
	all, err := Usable()
	if err != nil || len(all) != runtime.NumCPU() {
		t.Fatal(all, err)
	}
	one := all[len(all)-1:]
	out := &strings.Builder{}
	cmd := exec.Command("cat", "/proc/self/status", "-")
	cmd.Stdout = out
	in, _ := cmd.StdinPipe()
	if err := Start(cmd, one); err != nil {
		t.Fatal(err)
	}
	if s, err := Affinity(cmd.Process.Pid); err != nil || !slices.Equal(s, one) {
		t.Error(s, err)
	}
	if err := Pin(cmd.Process.Pid, all); err != nil {
		t.Error(err)
	}
	if s, err := Affinity(cmd.Process.Pid); err != nil || !slices.Equal(s, all) {
		t.Error(s, err)
	}
	in.Close()
	if err := cmd.Wait(); err != nil {
		t.Error(err)
	}
	if !strings.Contains(out.String(), "Cpus_allowed_list:") {
		t.Error(out)
	}
	if err := Pin(cmd.Process.Pid, all); !errors.Is(err, unix.ESRCH) {
		t.Errorf("a process that ended: %v", err)
	}
	for _, bad := range []Set{{}, {maxCPU + 1}, {maxCPU}} {
		if err := Start(exec.Command("true"), bad); err == nil {
			t.Errorf("started on %v", bad)
		}
	}
	if now, _ := Usable(); !slices.Equal(now, all) {
		t.Errorf("this process is left on %v", now)
	}
}

// All threads of a program are pinned, those that run already too.
func TestPinThreads(t *testing.T) {
	all, _ := Usable()
	defer func() {
		if err := Pin(os.Getpid(), all); err != nil {
			t.Error(err)
		}
	}()
	one := all[:1]
	if err := Pin(os.Getpid(), one); err != nil {
		t.Fatal(err)
	}
	tr := &tree{root: "/"}
	for _, dir := range tr.glob("proc/self/task/[0-9]*") {
		if s, err := Affinity(trailing(dir)); err == nil && !slices.Equal(s, one) {
			t.Errorf("thread %d is on %v", trailing(dir), s)
		}
	}
}
