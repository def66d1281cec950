package crusher

import (
	"syscall"
	"time"
)

// nap sleeps for a short time. The runtime's timers would be up to a millisecond late.
func nap(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	syscall.Nanosleep(&t, nil)
}
