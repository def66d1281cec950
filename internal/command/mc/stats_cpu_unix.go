//go:build unix

package mc

import "syscall"

// cpuTimes are the microseconds that this process has spent in user and system mode.
func cpuTimes() (user, system int64) {
	var r syscall.Rusage
	if syscall.Getrusage(syscall.RUSAGE_SELF, &r) != nil {
		return 0, 0
	}
	return r.Utime.Nano() / 1000, r.Stime.Nano() / 1000
}
