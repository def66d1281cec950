package store

import (
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"os"
	"sync"
	"sync/atomic"
	"testing"
	"time"
)

// TestSoak: many loops write, delete, touch, pin and read under a small limit, with flushes and expiries. Each value carries
// key, version and checksum. After an overwrite or delete was acknowledged no reader may see an older version.
// GODWIT_SOAK=1m sets how long.
func TestSoak(t *testing.T) {
	run := 3 * time.Second
	if d, err := time.ParseDuration(os.Getenv("GODWIT_SOAK")); err == nil {
		run = d
	}
	const loops, keys = 8, 20_000
	for _, limit := range []int64{2 << 20, 8 << 20} {
		s := open(t, limit, loops)
		var oldest [keys]atomic.Uint64 // versions below are gone for good
		var flushes, ops atomic.Uint64
		var version atomic.Uint64
		var wg sync.WaitGroup
		end := time.Now().Add(run / 2)
		var bad atomic.Bool
		for w := range loops {
			wg.Go(func() {
				l := s.Local(w)
				rng := rand.New(rand.NewPCG(uint64(w), uint64(limit)))
				var buf []byte
				check := func(b []byte, key string, n int, before uint64) {
					err := checkValue(b, key)
					if err == nil {
						if v := binary.LittleEndian.Uint64(b[len(key):]); v < before {
							err = fmt.Errorf("%q: version %d came back, %d was acknowledged", key, v, before)
						}
					}
					if err != nil {
						bad.Store(true)
						t.Error(err)
					}
				}
				for i := 0; !bad.Load(); i++ {
					if i%64 == 0 {
						if l.Publish(); time.Now().After(end) {
							break
						}
						l.Turn(s.clock.Ms())
					}
					ops.Add(1)
					n := rng.IntN(keys)
					if rng.IntN(4) == 0 {
						n = rng.IntN(16)
					}
					key := fmt.Sprintf("key%d", n)
					h := l.Hash([]byte(key))
					before := oldest[n].Load()
					switch rng.IntN(16) {
					case 0: // the delete kills whatever has a lower version than any drawn from now on
						e := l.Lock([]byte(key), h)
						if e.Found() {
							v := binary.LittleEndian.Uint64(e.Value()[len(key):])
							e.Delete()
							e.Unlock()
							raise(&oldest[n], v+1)
						} else {
							e.Unlock()
						}
					case 1, 2, 3, 4, 5:
						size := 40 + rng.IntN(400)
						if rng.IntN(100) == 0 {
							size = 2_000 + rng.IntN(30_000)
						}
						sp := Spec{Len: size}
						if rng.IntN(4) == 0 {
							sp.Expiry = l.Now() + int64(rng.IntN(2000))
						}
						p, err := l.Build([]byte(key), sp)
						if err == nil {
							if err = l.Grow(p, size); err != nil {
								l.Discard(p)
							}
						}
						if err != nil {
							t.Errorf("set: %v", err)
							return
						}
						e := l.LockLink(p, h)
						v := version.Add(1) // under the stripe: versions of a key rise
						buf = value(buf, key, v, size)
						copy(p.Value(), buf)
						e.Link(p, 0)
						e.Unlock()
						raise(&oldest[n], v)
					case 6:
						e, err := l.LockWrite([]byte(key), h)
						if err != nil {
							t.Errorf("touch: %v", err)
							return
						}
						if e.Found() {
							e.SetExpiry(l.Now() + int64(rng.IntN(3000)))
							if rng.IntN(2) == 0 {
								e.SetCAS(1<<63 + uint64(i))
							}
							check(e.Value(), key, n, before)
						}
						e.Unlock()
					case 7:
						e := l.Lock([]byte(key), h)
						if e.Found() {
							p := e.Pin()
							e.Unlock()
							for range rng.IntN(3) {
								time.Sleep(time.Microsecond)
							}
							check(p.Data, key, n, before)
							p.Release()
						} else {
							e.Unlock()
						}
					case 8:
						if rng.IntN(2000) == 0 {
							s.Flush()
							flushes.Add(1)
						}
					default:
						if b, ok := get(l, key); ok {
							check(b, key, n, before)
						}
					}
				}
				l.Publish()
			})
		}
		wg.Wait()
		if err := s.Check(); err != nil {
			t.Error(err)
		}
		st := s.Stats()
		t.Logf("%d MB: %d operations, %d items, %d evictions, %d flushes, %d swept", limit>>20, ops.Load(), st.Items, st.Evictions, flushes.Load(), st.Swept)
	}
}

func raise(a *atomic.Uint64, v uint64) {
	for old := a.Load(); old < v && !a.CompareAndSwap(old, v); old = a.Load() {
	}
}

// Overwriting data that fills 70 % of the limit only makes garbage: nothing may be evicted.
func TestOverwriteEvictsNothing(t *testing.T) {
	for _, limit := range []int64{1 << 20, 16 << 20} {
		s := open(t, limit, 1)
		l := s.Local(0)
		rng := rand.New(rand.NewPCG(1, 1))
		v := make([]byte, 400)
		const per = 400 + 24 + 16 + 18
		keys := int(limit * 7 / 10 / per)
		for i := range keys * 11 {
			k := i
			if i >= keys {
				k = rng.IntN(keys)
			}
			if err := set(l, fmt.Sprintf("k%d", k), v[:300+rng.IntN(100)], 0); err != nil {
				t.Fatal(err)
			}
		}
		l.Publish()
		if st := s.Stats(); st.Evictions != 0 || st.Items != uint64(keys) {
			t.Errorf("%d MB: %d evictions, %d items of %d", limit>>20, st.Evictions, st.Items, keys)
		}
		if err := s.Check(); err != nil {
			t.Error(err)
		}
	}
}

// A little data that is overwritten for long takes little memory, whatever the limit is.
func TestOverwriteStaysSmall(t *testing.T) {
	if raceEnabled {
		t.Skip("under the race detector all addresses of the limit are a slice")
	}
	s := open(t, 8<<30, 2)
	rng := rand.New(rand.NewPCG(1, 1))
	v := make([]byte, 1000)
	for i := range 400_000 {
		if err := set(s.Local(i%2), fmt.Sprintf("k%d", rng.IntN(1000)), v, 0); err != nil {
			t.Fatal(err)
		}
	}
	st := s.Stats()
	if touched := st.LogBytes + st.IndexBytes + st.RegionBytes; touched > 64<<20 { // ghosts are charged, but not touched
		t.Errorf("%d bytes of log, %d of index", st.LogBytes, st.IndexBytes)
	}
}

// A million items that expire at once are removed by the background alone.
func TestMassExpiry(t *testing.T) {
	n := 1_000_000
	if raceEnabled {
		n = 100_000
	}
	s := open(t, int64(n)*200, 1)
	l := s.Local(0)
	at := l.Now() + 3_600_000
	for i := range n {
		if err := set(l, fmt.Sprintf("k%d", i), []byte("value"), at); err != nil {
			t.Fatal(err)
		}
	}
	l.Publish()
	if st := s.Stats(); st.Items != uint64(n) {
		t.Fatalf("%d items", st.Items)
	}
	left := atomic.Int64{}
	left.Store(int64(n))
	done := make(chan struct{})
	s.Observe(func(k EventKind, _ *View) {
		if k == Reclaimed && left.Add(-1) == 0 {
			close(done)
		}
	})
	s.clock.Shift(2 * 3_600_000)
	select {
	case <-done:
	case <-time.After(20 * time.Second):
		t.Fatalf("%d of %d items are still there", left.Load(), n)
	}
	s.Observe(nil)
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}
