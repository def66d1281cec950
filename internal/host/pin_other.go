//go:build !linux

package host

import (
	"errors"
	"os/exec"
)

var errPin = errors.New("host: only Linux binds processes to CPUs")

// Usable CPUs of this process: unknown.
func Usable() (Set, error) { return nil, errPin }

// Affinity of a process: unknown.
func Affinity(int) (Set, error) { return nil, errPin }

// Pin is refused.
func Pin(int, Set) error { return errPin }

// Start is refused.
func Start(*exec.Cmd, Set) error { return errPin }
