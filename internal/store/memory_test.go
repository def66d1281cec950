package store

import (
	"fmt"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"
)

func rss(t testing.TB) int64 {
	b, err := os.ReadFile("/proc/self/status")
	if err != nil {
		t.Skip("no /proc/self/status on this system")
	}
	for _, line := range strings.Split(string(b), "\n") {
		if f := strings.Fields(line); len(f) > 1 && f[0] == "VmRSS:" {
			n, _ := strconv.ParseInt(f[1], 10, 64)
			return n << 10
		}
	}
	t.Fatal("no VmRSS")
	return 0
}

// TestMemoryPerItem: resident bytes per item of 16 B key and 32 B value, the longest stall of a write while the index
// grows, and that the Go heap does not grow with the items.
func TestMemoryPerItem(t *testing.T) {
	if os.Getenv("GODWIT_LONG") == "" {
		t.Skip("set GODWIT_LONG=1 to run (about 1 minute, 2 GB)")
	}
	for _, c := range []struct {
		millions, most int
		ttl            bool
	}{{8, 82, false}, {10, 82, false}, {12, 82, false}, {14, 82, false}, {10, 90, true}} {
		t.Run(fmt.Sprintf("%dM,ttl=%v", c.millions, c.ttl), func(t *testing.T) {
			s := open(t, 4<<30, 1)
			l := s.Local(0)
			r0 := rss(t)
			var key []byte
			v := make([]byte, 32)
			var worst time.Duration
			last := time.Now()
			n := c.millions * 1_000_000
			for i := range n {
				key = fmt.Appendf(key[:0], "memtier-%08d", 10_000_000+i)
				sp := Spec{Len: 32}
				if c.ttl {
					sp.Expiry = l.Now() + 100_000_000
				}
				p, err := l.Build(key, sp)
				if err != nil {
					t.Fatal(err)
				}
				copy(p.Value(), v)
				e := l.LockLink(p, l.Hash(key))
				e.Link(p, 0)
				e.Unlock()
				now := time.Now()
				worst = max(worst, now.Sub(last))
				last = now
			}
			l.Publish()
			st := s.Stats()
			per := float64(rss(t)-r0) / float64(n)
			t.Logf("%.1f B/item resident (index %.2f, log %.2f); longest set %v; items %d", per, float64(st.IndexBytes)/float64(n), float64(st.LogBytes)/float64(n), worst, st.Items)
			if per > float64(c.most) {
				t.Errorf("more than %d", c.most)
			}
		})
	}
}
