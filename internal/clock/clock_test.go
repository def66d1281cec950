package clock

import (
	"testing"
	"time"
)

func TestTimeline(t *testing.T) {
	c := New()
	a := c.Ms()
	if d := time.Now().UnixMilli() - a; d < -1 || d > 1000 {
		t.Errorf("the timeline starts %d ms away from the wall", d)
	}
	if b := c.Ms(); b < a {
		t.Errorf("runs backwards: %d after %d", b, a)
	}
	c.Pause()
	a = c.Ms()
	c.Shift(5000)
	if got := c.Ms(); got != a+5000 {
		t.Errorf("paused and shifted by 5 s: %d ms on", got-a)
	}
	c.Shift(-7000)
	if got := c.Ms(); got != a-2000 {
		t.Errorf("shifted back by 7 s: %d ms on", got-a)
	}
	c.Shift(2000)
	c.Continue()
	if got := c.Ms(); got < a {
		t.Errorf("after the pause: %d ms on", got-a)
	}
}

// Wall seconds and timeline translate into each other, to the second.
func TestWall(t *testing.T) {
	c := New()
	for _, sec := range []int64{0, 1, 2592001, 1 << 31, 1 << 40} {
		if got := c.Unix(c.FromUnix(sec) + 500); got != sec {
			t.Errorf("wall %d s comes back as %d", sec, got)
		}
	}
}

// A timeline that goes on after a restart has moved by as much as the wall, and never back when the wall was set back.
func TestResume(t *testing.T) {
	now := time.Now().UnixMilli()
	for _, c := range []struct{ saved, least, most int64 }{
		{now - 10_000, 10_000, 11_000}, // ten seconds ago
		{now, 0, 1000},
		{now + 3600_000, 0, 1000}, // the wall was set back by an hour
	} {
		const at = 1_000_000
		if d := Resume(at, c.saved).Ms() - at; d < c.least || d > c.most {
			t.Errorf("saved %d ms ago: moved by %d ms", now-c.saved, d)
		}
	}
}

// A step of the wall neither revives nor expires anything: the timeline follows the monotonic clock. The step is a wall
// reading at the start that is an hour off.
func TestWallStep(t *testing.T) {
	c := New()
	before := c.Ms()
	c.base -= 3600_000 // as if the wall had jumped ahead by an hour since
	after := c.Ms() + 3600_000
	if d := after - before; d < 0 || d > 1000 {
		t.Errorf("the timeline moved by %d ms", d)
	}
	if d := c.FromUnix(time.Now().Unix()) - c.Ms(); d < -2000 || d > 2000 {
		t.Errorf("the wall's now lies %d ms from the timeline's", d)
	}
}
