//go:build !unix

package study

import "os/exec"

func apart(*exec.Cmd) {}
