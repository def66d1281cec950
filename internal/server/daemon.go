package server

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"syscall"

	"golang.org/x/sys/unix"
)

// backgroundMark tells a process that it is the background one, started by the command. A Go process cannot fork and go
// on, so the command runs itself again, in a session of its own, and waits on a pipe until that process listens.
const backgroundMark = "GODWIT_BACKGROUND"

// readyFD is the descriptor of the pipe's end in the background process: the first one that exec passes on.
const readyFD = 3

func inBackground() bool { return os.Getenv(backgroundMark) != "" }

// spawn starts the background process and returns once it listens. Its errors have appeared on stderr by then.
func spawn() error {
	r, w, err := os.Pipe()
	if err != nil {
		return daemonFailed(err)
	}
	defer r.Close()
	cmd := exec.Command(selfPath(), os.Args[1:]...)
	cmd.Args[0] = os.Args[0]
	cmd.Env = append(os.Environ(), backgroundMark+"=1")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.ExtraFiles = []*os.File{w}
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return daemonFailed(err)
	}
	w.Close()
	if n, _ := r.Read(make([]byte, 1)); n == 1 {
		return nil
	}
	err = cmd.Wait()
	var exit *exec.ExitError
	if errors.As(err, &exit) && exit.ExitCode() > 0 {
		return &fail{code: exit.ExitCode()}
	}
	return daemonFailed(errors.New("the background process ended"))
}

func daemonFailed(err error) error {
	return failf(1, "failed to daemon() in order to daemonize: %v", err)
}

// selfPath is this program, even if its file was replaced since it started.
func selfPath() string {
	const self = "/proc/self/exe"
	if _, err := os.Stat(self); err == nil {
		return self
	}
	path, err := os.Executable()
	if err != nil {
		return os.Args[0]
	}
	return path
}

// daemon is the background process's side.
type daemon struct{ pipe *os.File }

func background() *daemon {
	os.Unsetenv(backgroundMark)
	unix.CloseOnExec(readyFD)
	// Started as /proc/self/exe, it would be called "exe" by ps, and not be found by pidof.
	_ = os.WriteFile("/proc/self/comm", []byte(filepath.Base(os.Args[0])), 0)
	return &daemon{os.NewFile(readyFD, "ready")}
}

// ready lets the command return. Until now output went where the command's goes, so that errors of the start are seen.
func (d *daemon) ready(keepOutput bool) {
	if d == nil {
		return
	}
	if !keepOutput {
		if null, err := os.OpenFile(os.DevNull, os.O_RDWR, 0); err == nil {
			redirect(int(null.Fd()), 1)
			redirect(int(null.Fd()), 2)
			null.Close()
		}
	}
	fmt.Fprint(d.pipe, "1")
	d.pipe.Close()
}
