//go:build unix

package study

import (
	"os/exec"
	"syscall"
)

// apart has the process not get the signals of the terminal: the study ends it when it gets them.
func apart(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true} }
