// Package clock is the one clock of a server: milliseconds on a timeline that starts as wall time and from then on runs
// with the monotonic clock, so that a step of the wall clock neither expires nor revives anything. The present distance
// to the wall is kept beside it for absolute times.
package clock

import (
	"sync/atomic"
	"time"
)

// Clock is safe for concurrent use. The zero value is not usable; see New.
type Clock struct {
	start  time.Time // carries the monotonic reading
	base   int64     // timeline at start, ms
	shift  atomic.Int64
	paused atomic.Int64 // timeline at the pause, ms; 0: running
}

// New starts a timeline at the present wall time.
func New() *Clock {
	t := time.Now()
	return &Clock{start: t, base: t.UnixMilli()}
}

// Resume starts a timeline that continues one that stood at ms when the wall showed unixMs.
func Resume(ms, unixMs int64) *Clock {
	t := time.Now()
	return &Clock{start: t, base: ms + max(0, t.UnixMilli()-unixMs)}
}

// Ms is now on the timeline, in milliseconds. It never runs backwards unless Shift says so.
func (c *Clock) Ms() int64 {
	if p := c.paused.Load(); p != 0 {
		return p + c.shift.Load()
	}
	return c.base + time.Since(c.start).Milliseconds() + c.shift.Load()
}

// Started is the timeline at the start of this process, in milliseconds.
func (c *Clock) Started() int64 { return c.base }

// offset is wall minus timeline, ms.
func (c *Clock) offset() int64 {
	return time.Now().UnixMilli() - c.base - time.Since(c.start).Milliseconds()
}

// Unix turns a time of the timeline into wall time, in seconds.
func (c *Clock) Unix(ms int64) int64 { return (ms + c.offset()) / 1000 }

// FromUnix turns wall seconds into the timeline, in milliseconds.
func (c *Clock) FromUnix(sec int64) int64 { return sec*1000 - c.offset() }

// Pause stops the timeline; Continue lets it run on as if it had never stopped. For tests (debugtime).
func (c *Clock) Pause() {
	c.paused.CompareAndSwap(0, c.base+time.Since(c.start).Milliseconds())
}

// Continue ends a Pause.
func (c *Clock) Continue() { c.paused.Store(0) }

// Shift moves the timeline by ms, forwards or back. For tests (debugtime).
func (c *Clock) Shift(ms int64) { c.shift.Add(ms) }
