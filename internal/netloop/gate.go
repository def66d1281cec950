package netloop

import (
	"sync"
	"time"
)

// refusal is what memcached tells a client above the limit.
const refusal = "ERROR Too many open connections\r\n"

// gate counts connections and decides who comes in. While the server is full, or out of descriptors, nothing is
// accepted: that time is counted as memcached does (listen_disabled_num).
type gate struct {
	mu       sync.Mutex
	limit    int // 0: none
	fast     bool
	curr     int
	total    uint64
	rejected uint64

	waiting  int // acceptors that wait; > 0: not accepting
	since    time.Time
	disabled uint64
	off      time.Duration
	freed    chan struct{} // closed when a connection ends while somebody waits
}

func (g *gate) init(limit int, fast bool) {
	g.limit, g.fast, g.freed = limit, fast, make(chan struct{})
}

// enter admits a connection that was just accepted. With a fast limit it says false when there is no room; otherwise it
// waits for room, and says false only when the server stops.
func (g *gate) enter(quit <-chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	for g.limit > 0 && g.curr >= g.limit {
		if g.fast {
			g.rejected++
			return false
		}
		if !g.wait(quit, 0) {
			return false
		}
	}
	g.curr++
	g.total++
	return true
}

// leave notes the end of a connection that had entered.
func (g *gate) leave() {
	g.mu.Lock()
	g.curr--
	if g.waiting > 0 {
		close(g.freed)
		g.freed = make(chan struct{})
	}
	g.mu.Unlock()
}

// exhausted waits after accept failed for want of descriptors or memory: until a connection ends, or a moment, as
// others may have freed some. It says false when the server stops.
func (g *gate) exhausted(quit <-chan struct{}) bool {
	g.mu.Lock()
	defer g.mu.Unlock()
	return g.wait(quit, 20*time.Millisecond)
}

// wait is called with mu held, and gives it up meanwhile.
func (g *gate) wait(quit <-chan struct{}, most time.Duration) bool {
	if g.waiting == 0 {
		g.disabled++
		g.since = time.Now()
	}
	g.waiting++
	freed := g.freed
	g.mu.Unlock()
	var timer <-chan time.Time
	if most > 0 {
		timer = time.After(most)
	}
	ok := true
	select {
	case <-quit:
		ok = false
	case <-freed:
	case <-timer:
	}
	g.mu.Lock()
	if g.waiting--; g.waiting == 0 {
		g.off += time.Since(g.since)
	}
	return ok
}

func (g *gate) stats(st *Stats) {
	g.mu.Lock()
	defer g.mu.Unlock()
	st.Curr, st.Total, st.Rejected = uint64(g.curr), g.total, g.rejected
	st.Accepting = g.waiting == 0
	st.ListenDisabled = g.disabled
	off := g.off
	if g.waiting > 0 {
		off += time.Since(g.since)
	}
	st.ListenDisabledUs = uint64(off.Microseconds())
}
