//go:build !unix

package mc

// cpuTimes are not known here.
func cpuTimes() (user, system int64) { return 0, 0 }
