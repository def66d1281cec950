package server

import (
	"os"
	"os/signal"
	"syscall"
)

// signals that the process acts on.
type signals struct {
	stop     chan os.Signal // SIGINT, SIGTERM: at once
	graceful chan os.Signal // SIGUSR1: answer what has arrived first
	reload   chan os.Signal // SIGHUP: users and certificates
}

// watchSignals comes first in a start, so that a signal during it ends the process with status 0, too.
func watchSignals() *signals {
	s := &signals{make(chan os.Signal, 1), make(chan os.Signal, 1), make(chan os.Signal, 1)}
	signal.Notify(s.stop, syscall.SIGINT, syscall.SIGTERM)
	signal.Notify(s.graceful, syscall.SIGUSR1)
	signal.Notify(s.reload, syscall.SIGHUP)
	signal.Ignore(syscall.SIGPIPE) // writes report the error; also on stdout and stderr
	return s
}

func (s *signals) close() {
	signal.Stop(s.stop)
	signal.Stop(s.graceful)
	signal.Stop(s.reload)
}
