package host

import "golang.org/x/sys/unix"

// machine is what the kernel calls the architecture; before Linux 6.1 only uname says it.
func machine() string {
	var u unix.Utsname
	if unix.Uname(&u) != nil {
		return ""
	}
	return unix.ByteSliceToString(u.Machine[:])
}
