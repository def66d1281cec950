package store

import (
	"strconv"
	"testing"

	"godwit/internal/clock"
)

// sweepStore is a store with a clock that the test moves.
func sweepStore(t *testing.T, limit int64) (s *Store, l *Local, turn func(ms int64)) {
	c := clock.New()
	c.Pause()
	s, err := Open(Config{Limit: limit, Locals: 1, MaxItem: 1 << 20, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetClasses([]int{96, 1024}, 8)
	l = s.Local(0)
	l.Turn(c.Ms())
	return s, l, func(ms int64) {
		c.Shift(ms)
		l.Turn(c.Ms())
	}
}

// sweepOnce makes a pass of the sweeper, as it would at the next second.
func (s *Store) sweepOnce() {
	w, l := &s.sweep, s.locals[len(s.locals)-1]
	w.mu.Lock()
	defer w.mu.Unlock()
	l.Turn(s.clock.Ms())
	w.regain(l)
	w.sealAged(s, l)
	w.pass(l)
	l.Publish()
}

// Items that expired and that nobody asks for are gone a minute later, or after a tenth of the time they had, whatever else
// lies around them. It takes a bounded number of looks at each of the others.
func TestSweepInTime(t *testing.T) {
	s, l, turn := sweepStore(t, 16<<20)
	start := l.Now()
	ttls := []int64{0, 0, 0, 0, 0, 0, 0, 0, 1, 10, 60, 100, 300, 1000, 3600, 20_000, 86_400} // seconds; 0: for ever
	gone := map[int64]int{}                                                                  // second by which so many items have to be gone
	n, left := 0, 0
	for sec := int64(0); sec < 100_000; {
		if sec < 2000 { // so slowly that segments stay open for long
			for range 3 {
				ttl := ttls[n%len(ttls)] * int64(1+n%7)
				expiry := int64(0)
				if ttl > 0 {
					expiry = l.Now() + ttl*1000
					gone[sec+ttl+max(60, ttl/10)]++
				}
				set(l, strconv.Itoa(n), make([]byte, 20+n%100), expiry)
				n++
				left++
			}
			l.Publish()
		}
		step := int64(1)
		if sec > 10_000 {
			step = 10
		}
		turn(step * 1000)
		for range step {
			sec++
			left -= gone[sec]
		}
		s.sweepOnce()
		if got := int(s.Stats().Items); step == 1 && got > left {
			t.Fatalf("after %d s %d items are there, at most %d should be", (l.Now()-start)/1000, got, left)
		}
	}
	st := s.Stats()
	t.Logf("%d items, %d swept, %d looked at", n, st.Swept, st.SweptChecked)
	if st.SweptChecked > 60*uint64(n) {
		t.Errorf("%d looks at %d items", st.SweptChecked, n)
	}
}
