//go:build !linux

package crusher

import "time"

// nap sleeps for a short time.
func nap(d time.Duration) { time.Sleep(d) }
