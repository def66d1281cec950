//go:build !linux

package server

import (
	"errors"
	"runtime/debug"

	"golang.org/x/sys/unix"
)

func raiseCoreLimit() error {
	debug.SetTraceback("crash")
	return nil
}

// raiseFileLimit has nothing to do: the Go runtime raises the limit as far as it may.
func raiseFileLimit(int) error { return nil }

func lockMemory() error { return errors.New("not supported on this platform") }

func redirect(from, to int) { unix.Dup2(from, to) }

// FileLimit is the number of connections that the limit for open files leaves room for without raising it; 0: unknown.
func FileLimit() int { return 0 }
