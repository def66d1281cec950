package server

import (
	"runtime/debug"

	"golang.org/x/sys/unix"

	"godwit/internal/config"
)

// raiseCoreLimit lets the kernel write core files of any size, and the runtime dump one on a crash.
func raiseCoreLimit() error {
	var was unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_CORE, &was) == nil {
		all := unix.Rlimit{Cur: unix.RLIM_INFINITY, Max: unix.RLIM_INFINITY}
		if unix.Setrlimit(unix.RLIMIT_CORE, &all) != nil {
			unix.Setrlimit(unix.RLIMIT_CORE, &unix.Rlimit{Cur: was.Max, Max: was.Max})
		}
	}
	if err := unix.Getrlimit(unix.RLIMIT_CORE, &was); err != nil || was.Cur == 0 {
		return failf(config.ExitOS, "failed to ensure corefile creation")
	}
	debug.SetTraceback("crash")
	return nil
}

// raiseFileLimit makes room for n connections and some files more. It never lowers the limit.
func raiseFileLimit(n int) error {
	var lim unix.Rlimit
	if err := unix.Getrlimit(unix.RLIMIT_NOFILE, &lim); err != nil {
		return failf(config.ExitOS, "failed to getrlimit number of files")
	}
	want := uint64(n) + spareFiles
	if lim.Cur >= want {
		return nil
	}
	for _, try := range []unix.Rlimit{{Cur: want, Max: max(want, lim.Max)}, {Cur: lim.Max, Max: lim.Max}} {
		if try.Cur >= uint64(n) && unix.Setrlimit(unix.RLIMIT_NOFILE, &try) == nil {
			return nil
		}
	}
	return failf(config.ExitOS, "failed to set rlimit for open files. Try starting as root or requesting smaller maxconns value.")
}

// lockMemory keeps pages in memory once they are used. Kernels before 4.4 can only lock all of the reservation at once.
func lockMemory() error {
	const all = unix.MCL_CURRENT | unix.MCL_FUTURE
	if unix.Mlockall(all|unix.MCL_ONFAULT) == nil {
		return nil
	}
	return unix.Mlockall(all)
}

func redirect(from, to int) { unix.Dup3(from, to, 0) }

// FileLimit is the number of connections that the limit for open files leaves room for without raising it.
func FileLimit() int {
	var lim unix.Rlimit
	if unix.Getrlimit(unix.RLIMIT_NOFILE, &lim) != nil {
		return 0
	}
	return int(min(lim.Max, 1<<30)) - spareFiles
}
