package mc

import (
	"fmt"
	"regexp"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/bytesx"
	"godwit/internal/store"
)

// sleeper is a connection that notes when it is woken.
type sleeper struct {
	id    int
	wakes atomic.Int64
}

func (s *sleeper) ID() int { return s.id }
func (s *sleeper) Wake()   { s.wakes.Add(1) }

// TestWatchSlow: a watcher that does not read misses lines, is told how many, and holds no more than its buffer. The other
// one misses nothing.
func TestWatchSlow(t *testing.T) {
	w := binWorker(t, "-o", "watcher_logbuf_size=1")
	slow, fast := w.Log.watch(w.Env, &sleeper{id: 1}, WatchFetchers), w.Log.watch(w.Env, &sleeper{id: 2}, WatchFetchers)
	defer fast.drop(w)
	defer slow.drop(w)
	drain := func(x *watcher) string {
		var out bytesx.Out
		if _, v, done := x.next(w, []byte("ignored"), &out); v != More || done {
			t.Fatalf("verdict %d, done %v", v, done)
		}
		return string(out.Buf)
	}
	const n = 100
	seen := 0
	for i := range n {
		w.Fetch(fmt.Appendf(nil, "key%d", i))
		seen += strings.Count(drain(fast), "type=item_get")
	}
	if seen != n {
		t.Errorf("the fast watcher saw %d of %d lines", seen, n)
	}
	first := drain(slow)
	if len(first) > 1024 || !strings.Contains(first, "key=key0 ") {
		t.Errorf("%d bytes were kept:\n%s", len(first), first)
	}
	w.Fetch([]byte("more"))
	second := drain(slow)
	drain(fast)
	m := regexp.MustCompile(`^skipped=(\d+)\nts=.* key=more .*\n$`).FindStringSubmatch(second)
	if m == nil {
		t.Fatalf("after skipping: %q", second)
	}
	if want := fmt.Sprint(n - strings.Count(first, "\n")); m[1] != want {
		t.Errorf("skipped %s, want %s", m[1], want)
	}
	if s := w.Log.stats(); s.Written != n+1 || s.Watchers != 2 || s.Sent+s.Skipped != 2*(n+1) {
		t.Errorf("%+v", s)
	}
}

// TestWatchTells: news wake the connection, often once for many lines, and only when there are some.
func TestWatchTells(t *testing.T) {
	w := binWorker(t)
	c := &sleeper{id: 1}
	x := w.Log.watch(w.Env, c, WatchMutations)
	time.Sleep(5 * tellEvery)
	if n := c.wakes.Load(); n != 0 {
		t.Errorf("woken %d times for nothing", n)
	}
	for i := range 1000 {
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "k%d", i)}, nil)
	}
	for until := time.Now().Add(5 * time.Second); c.wakes.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never woken")
		}
	}
	if n := c.wakes.Load(); n > 500 {
		t.Errorf("woken %d times for 1000 lines", n)
	}
	x.drop(w)
	if got := w.Watch.Load(); got != 0 {
		t.Errorf("after the last watcher %#x is watched", got)
	}
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(time.Millisecond) {
		w.Log.mu.Lock()
		telling := w.Log.telling
		w.Log.mu.Unlock()
		if !telling {
			return
		}
		if time.Now().After(until) {
			t.Fatal("the goroutine outlives the last watcher")
		}
	}
}

// TestWatchEvictions: lines of evictions come from the store.
func TestWatchEvictions(t *testing.T) {
	w := binWorker(t, "-m", "2", "-o", "watcher_logbuf_size=1024")
	x := w.Log.watch(w.Env, &sleeper{id: 1}, WatchEvictions)
	defer x.drop(w)
	value := make([]byte, 500)
	for i := range 20000 {
		op := StoreOp{Key: fmt.Appendf(nil, "key %d", i)}
		if i%2 == 1 {
			op.Expiry = w.Expiry(100)
		}
		w.Put(&op, value)
	}
	var out bytesx.Out
	x.next(w, nil, &out)
	line := regexp.MustCompile(`^ts=\d+\.\d+ gid=\d+ type=eviction key=key%20\d+ fetch=no ttl=(-1|100) la=0 clsid=9 size=500\n$`)
	lines := 0
	for l := range strings.Lines(string(out.Buf)) {
		lines++
		if !line.MatchString(l) {
			t.Fatalf("%q", l)
		}
	}
	if lines < 1000 {
		t.Errorf("%d lines", lines)
	}
}

// TestWatchSystem: lines about passes of the sweeper, in the form of memcached's crawler.
func TestWatchSystem(t *testing.T) {
	w := binWorker(t)
	c := &sleeper{id: 1}
	x := w.Log.watch(w.Env, c, WatchSystem)
	defer x.drop(w)
	time.Sleep(5 * tellEvery) // until it is seen that nothing was swept yet
	for i := range 10 {
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "key%d", i), Expiry: w.Expiry(100)}, nil)
	}
	w.Clock.Shift(101_000)
	w.Store.Sweep(store.AllClasses)
	for until := time.Now().Add(10 * time.Second); c.wakes.Load() == 0; time.Sleep(time.Millisecond) {
		if time.Now().After(until) {
			t.Fatal("never woken")
		}
	}
	var out bytesx.Out
	x.next(w, nil, &out)
	line := regexp.MustCompile(`^ts=\d+\.\d+ gid=\d+ type=lru_crawler crawler=1 lru=cold low_mark=1 next_reclaims=0 ` +
		`since_run=0 next_run=1 elapsed=0 examined=10 reclaimed=10\n$`)
	if !line.Match(out.Buf) {
		t.Errorf("%q", out.Buf)
	}
}

// TestWatchConcurrent has watchers come and go while loops log and an admin looks on.
func TestWatchConcurrent(t *testing.T) {
	w := binWorker(t)
	s, err := store.Open(store.Config{Limit: 8 << 20, Locals: 3, MaxItem: 1 << 20, Clock: w.Clock})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	env := NewEnv(w.Set, s, 3)
	var loops, others sync.WaitGroup
	var over atomic.Bool
	for i, x := range env.Workers {
		x.Conn = i
		x.L.Turn(env.Clock.Ms())
	}
	for _, x := range env.Workers {
		loops.Go(func() {
			for n := range 3000 {
				key := fmt.Appendf(nil, "p%d:%d", x.Conn, n%100)
				x.Put(&StoreOp{Key: key}, make([]byte, n%4000))
				if e := x.Fetch(key); e != nil {
					e.Unlock()
				}
				if x.Detail() {
					x.CountGet(key, true)
				}
				if n%100 == 0 {
					x.Stats("items", func(_, _ string) {})
				}
			}
		})
	}
	for i := range 4 {
		others.Go(func() {
			for !over.Load() {
				x := env.Log.watch(env, &sleeper{id: i}, WatchFetchers|WatchMutations|WatchEvictions|WatchDeletions)
				for range 50 {
					var out bytesx.Out
					x.next(nil, nil, &out)
				}
				env.SetDetail(i%2 == 0)
				env.ResetStats()
				env.sinceReset()
				env.ConnOpened(&ConnEvent{ID: 1, Transport: "tcp"})
				x.drop(nil)
			}
		})
	}
	loops.Wait()
	over.Store(true)
	others.Wait()
	if got := env.Watch.Load() &^ WatchPrefixes; got != 0 {
		t.Errorf("left: %#x", got)
	}
}
