package store

import "golang.org/x/sys/unix"

func physicalMemory() int64 {
	if raceEnabled { // there the reservation is a Go slice
		return 0
	}
	var si unix.Sysinfo_t
	if unix.Sysinfo(&si) != nil {
		return 0
	}
	return int64(si.Totalram) * int64(si.Unit)
}
