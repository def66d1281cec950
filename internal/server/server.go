// Package server builds a server from its settings, starts it, waits, and stops it: clock, store, one worker per loop,
// listeners, TLS, signals, the process around them (user, limits, daemon, files that tell where it is). It is the only
// place that starts goroutines beside the network, the store, the pages of --admin and the watch log. Called by the command
// line.
package server

import (
	"fmt"
	"io"
	"net"
	"os"
	"runtime"
	"time"

	"godwit/internal/admin"
	"godwit/internal/auth"
	"godwit/internal/clock"
	"godwit/internal/command/mc"
	"godwit/internal/config"
	"godwit/internal/netloop"
	"godwit/internal/store"
)

// Options say how the process is to behave; the settings say what it serves.
type Options struct {
	UserRequired bool // refuse to start as root without -u
	Ready        func(s *Server, w io.Writer)
	Stderr       io.Writer // os.Stderr if nil
}

// fail ends the start with an exit status. Its text is printed as it is.
type fail struct {
	code int
	text string
}

func (f *fail) Error() string { return f.text }

func failf(code int, format string, a ...any) error {
	return &fail{code, fmt.Sprintf(format, a...)}
}

// Server is everything that runs.
type Server struct {
	set   *config.Memcached
	opt   Options
	clock *clock.Clock
	store *store.Store
	env   *mc.Env
	net   *netloop.Server
	tls   *certs
	users auth.Table // -Y
	sasl  auth.Table // -S

	admin     *admin.Server // nil without --admin
	adminSock net.Listener  // the same

	daemon *daemon // not nil in the background process
	owner  *owner  // the user to become
}

// Run serves until it is told to stop, and returns the exit status.
func Run(set *config.Memcached, opt Options) int {
	if opt.Stderr == nil {
		opt.Stderr = os.Stderr
	}
	s := &Server{set: set, opt: opt}
	sig := watchSignals()
	defer sig.close()
	if !inBackground() {
		io.WriteString(opt.Stderr, set.Warnings)
	}
	if set.Daemon && !inBackground() {
		// What can be checked before going to the background is, as memcached does it.
		if err := s.prepare(); err != nil {
			return s.failed(err)
		}
		return s.failed(spawn())
	}
	if set.Daemon {
		s.daemon = background()
	}
	if err := s.start(); err != nil {
		return s.failed(err)
	}
	return s.wait(sig)
}

// failed prints why and gives the exit status; 0 without an error.
func (s *Server) failed(err error) int {
	if err == nil {
		return 0
	}
	code := 1
	if f, ok := err.(*fail); ok {
		code = f.code
	}
	if err.Error() != "" {
		fmt.Fprintln(s.opt.Stderr, err)
	}
	return code
}

// prepare does what needs no socket: certificates, limits, the user. The order of these steps is that of memcached, so
// that of two mistakes the same one is told.
func (s *Server) prepare() (err error) {
	if s.set.TLS {
		if s.tls, err = loadCerts(s.set); err != nil {
			return failf(config.ExitUsage, "%s", err)
		}
	}
	if s.set.CoreDumps {
		if err := raiseCoreLimit(); err != nil {
			return err
		}
	}
	if err := raiseFileLimit(s.set.MaxConns); err != nil {
		return err
	}
	s.owner, err = findOwner(s.set.User, s.opt.UserRequired)
	return err
}

// start builds everything and begins to serve.
func (s *Server) start() error {
	if err := s.prepare(); err != nil {
		return err
	}
	if s.daemon != nil && !s.set.CoreDumps { // relative names of files from here on mean what they mean with memcached
		if err := os.Chdir("/"); err != nil {
			return failf(1, "chdir: %v", err)
		}
	}
	if s.set.LockMemory {
		if err := lockMemory(); err != nil {
			fmt.Fprintf(s.opt.Stderr, "warning: -k invalid, mlockall() failed: %s\n", errText(err))
		}
	}
	if err := s.loadUsers(); err != nil {
		return err
	}
	if err := s.listen(); err != nil {
		return err
	}
	if err := s.owner.become(s.set.Socket); err != nil {
		return err
	}
	if err := s.build(); err != nil {
		return err
	}
	s.serveAdmin()
	s.net.Start()
	if s.set.PidFile != "" {
		if err := savePid(s.set.PidFile, s.opt.Stderr); err != nil {
			fmt.Fprintln(s.opt.Stderr, err)
		}
	}
	for _, line := range s.set.Notices {
		fmt.Fprintln(s.opt.Stderr, line)
	}
	if s.set.Verbosity > 1 {
		s.printClasses()
	}
	if s.opt.Ready != nil {
		s.opt.Ready(s, s.opt.Stderr)
	}
	s.daemon.ready(s.set.Verbosity > 0)
	notifyReady()
	return nil
}

// loadUsers reads the files of -Y and -S.
func (s *Server) loadUsers() error {
	if s.set.SASL {
		if path := os.Getenv("MEMCACHED_SASL_PWDB"); path != "" {
			if err := s.sasl.LoadPasswords(path); err != nil {
				return failf(1, "%v", err)
			}
		}
	}
	if s.set.AuthFile == "" {
		return nil
	}
	if s.set.UDPPort != 0 {
		return failf(config.ExitUsage, "Cannot use UDP with ascii authentication enabled (-U 0 to disable)")
	}
	if err := s.users.Load(s.set.AuthFile); err != nil {
		return failf(1, "%v", err)
	}
	return nil
}

// build makes the store and the workers; the loops are known, none of them runs yet.
func (s *Server) build() (err error) {
	loops := s.net.Loops()
	tuneRuntime(loopsFor(s.set))
	c := store.Config{
		Limit: s.set.MaxBytes, Locals: loops, Writers: loopsFor(s.set), MaxItem: s.set.ItemSizeMax, NoEvict: !s.set.Evict,
	}
	if s.set.MemoryFile != "" {
		c.File, c.Tag = s.set.MemoryFile, restartTag(s.set)
	} else {
		c.Seed, c.Clock = seed(), clock.New()
	}
	if s.store, err = store.Open(c); err != nil {
		return failf(1, "failed to reserve %d megabytes for items: %v", s.set.MaxBytes>>20, err)
	}
	s.clock = s.store.Clock()
	if ok, reason := s.store.Restored(); ok {
		fmt.Fprintln(s.opt.Stderr, "[restart] the items of the last run are kept")
	} else if reason != "" {
		fmt.Fprintf(s.opt.Stderr, "[restart] starting with an empty cache: %s\n", reason)
	}
	s.env = mc.NewEnv(s.set, s.store, loops)
	s.env.Server = s
	s.env.Verbose.Store(int32(s.set.Verbosity))
	s.env.SetDetail(s.set.Detail)
	return nil
}

// restartTag are the settings that items in a memory file depend on, apart from those that the store checks itself.
func restartTag(set *config.Memcached) string {
	return fmt.Sprintf("item_size_max %d, cas %t, classes %v", set.ItemSizeMax, set.CAS, set.Classes())
}

// wait serves until a signal or a client ends it.
func (s *Server) wait(sig *signals) int {
	for {
		select {
		case v := <-s.net.Done():
			return s.stop(v == netloop.ShutGraceful)
		case <-sig.stop:
			return s.stop(false)
		case <-sig.graceful:
			return s.stop(true)
		case <-sig.reload:
			s.reload()
		}
	}
}

// reload reads the users and certificates again; what cannot be read stays as it was.
func (s *Server) reload() {
	if s.set.AuthFile != "" {
		if err := s.users.Load(s.set.AuthFile); err != nil {
			fmt.Fprintf(s.opt.Stderr, "Could not reload the authfile on SIGHUP: %v\n", err)
		}
	}
	if s.tls != nil {
		if err := s.tls.reload(); err != nil {
			fmt.Fprintf(s.opt.Stderr, "Could not reload TLS certificates on SIGHUP: %v\n", err)
		}
	}
}

// atOnce bounds a stop that is not graceful: the process ends whether or not every session has closed.
const atOnce = 500 * time.Millisecond

func (s *Server) stop(graceful bool) int {
	notifyStopping()
	switch {
	case graceful:
		fmt.Fprintln(s.opt.Stderr, "Gracefully stopping")
	case s.env.Verbose.Load() > 0:
		fmt.Fprintln(s.opt.Stderr, "Exiting normally")
	}
	if s.admin != nil {
		s.admin.Close()
	}
	stopped := make(chan struct{})
	go func() {
		s.net.Stop(graceful) // bounded by the drain timeout when graceful
		close(stopped)
	}()
	bound := atOnce
	if graceful {
		bound = drain + atOnce
	}
	select {
	case <-stopped: // the memory goes with the process: giving it back first would only take time
		if graceful && s.set.MemoryFile != "" {
			if err := s.store.Save(); err != nil {
				fmt.Fprintf(s.opt.Stderr, "[restart] the items are lost: %v\n", err)
			}
		}
	case <-time.After(bound):
		if graceful && s.set.MemoryFile != "" {
			fmt.Fprintf(s.opt.Stderr, "[restart] the items are lost: connections did not end within %v\n", bound)
		}
	}
	if s.daemon != nil && s.set.PidFile != "" {
		if err := os.Remove(s.set.PidFile); err != nil {
			fmt.Fprintf(s.opt.Stderr, "Could not remove the pid file %s: %s\n", s.set.PidFile, errText(err))
		}
	}
	return 0
}

func (s *Server) printClasses() {
	for i, size := range s.set.Classes() {
		fmt.Fprintf(s.opt.Stderr, "slab class %3d: chunk size %9d perslab %7d\n", i+1, size, config.PerSlab(size))
	}
}

// loopsFor is the number of event loops: as many as were asked for, else no more than there are cores.
func loopsFor(set *config.Memcached) int {
	if set.ThreadsGiven {
		return set.Threads
	}
	return max(1, min(set.Threads, runtime.GOMAXPROCS(0)))
}
