package store

import (
	"encoding/binary"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"sync"
	"testing"

	"godwit/internal/clock"
)

func open(t testing.TB, limit int64, locals int) *Store {
	t.Helper()
	s, err := Open(Config{Limit: limit, Locals: locals, MaxItem: 1 << 30, Seed: 7, Clock: clock.New()})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

// value carries key, version and checksum, so that a reader sees whether it got a wrong or torn one.
func value(buf []byte, key string, version uint64, n int) []byte {
	buf = append(buf[:0], key...)
	buf = binary.LittleEndian.AppendUint64(buf, version)
	for len(buf) < n-4 {
		buf = append(buf, byte(len(buf))+byte(version))
	}
	return binary.LittleEndian.AppendUint32(buf, crc32.ChecksumIEEE(buf))
}

func checkValue(b []byte, key string) error {
	if len(b) < len(key)+12 {
		return fmt.Errorf("value of %q: only %d bytes", key, len(b))
	}
	n := len(b) - 4
	if binary.LittleEndian.Uint32(b[n:]) != crc32.ChecksumIEEE(b[:n]) {
		return fmt.Errorf("value of %q is torn", key)
	}
	if string(b[:len(key)]) != key {
		return fmt.Errorf("value of %q belongs to %q", key, b[:len(key)])
	}
	return nil
}

func set(l *Local, key string, v []byte, expiry int64) error {
	k := []byte(key)
	p, err := l.Build(k, Spec{Len: len(v), Expiry: expiry})
	if err != nil {
		return err
	}
	if err := l.Grow(p, len(v)); err != nil {
		l.Discard(p)
		return err
	}
	copy(p.Value(), v)
	e := l.LockLink(p, l.Hash(k))
	e.Link(p, 0)
	e.Unlock()
	return nil
}

func get(l *Local, key string) ([]byte, bool) {
	k := []byte(key)
	e := l.Lock(k, l.Hash(k))
	defer e.Unlock()
	if !e.Found() {
		return nil, false
	}
	e.Bump()
	return append([]byte(nil), e.Value()...), true
}

func del(l *Local, key string) bool {
	k := []byte(key)
	e := l.Lock(k, l.Hash(k))
	defer e.Unlock()
	if !e.Found() {
		return false
	}
	e.Delete()
	return true
}

// Nothing is evicted here: the store and a map agree on everything.
func TestAgainstMap(t *testing.T) {
	s := open(t, 64<<20, 1)
	l := s.Local(0)
	model := map[string][]byte{}
	rng := rand.New(rand.NewPCG(1, 2))
	var buf []byte
	for i := range 300_000 {
		key := fmt.Sprintf("key%d", rng.IntN(20_000))
		switch rng.IntN(10) {
		case 0, 1, 2, 3:
			n := 30 + rng.IntN(200)
			if rng.IntN(500) == 0 {
				n = 20_000 + rng.IntN(50_000)
			}
			buf = value(buf, key, uint64(i), n)
			if err := set(l, key, buf, 0); err != nil {
				t.Fatal(err)
			}
			model[key] = append([]byte(nil), buf...)
		case 4:
			_, had := model[key]
			if del(l, key) != had {
				t.Fatalf("delete of %q: want %v", key, had)
			}
			delete(model, key)
		default:
			v, ok := get(l, key)
			if want, had := model[key]; had != ok || string(want) != string(v) {
				t.Fatalf("step %d: get %q: found %v, want %v; %d and %d bytes", i, key, ok, had, len(v), len(want))
			}
		}
	}
	l.Publish()
	if st := s.Stats(); st.Items != uint64(len(model)) || st.Evictions != 0 {
		t.Fatalf("items %d, want %d; evictions %d", st.Items, len(model), st.Evictions)
	}
}

// Eviction never hands out a wrong value and keeps the limit.
func TestEvicts(t *testing.T) {
	for _, limit := range []int64{2 << 20, 8 << 20, 64 << 20} {
		t.Run(fmt.Sprint(limit>>20), func(t *testing.T) {
			s := open(t, limit, 1)
			l := s.Local(0)
			rng := rand.New(rand.NewPCG(3, 4))
			var buf []byte
			hits := 0
			for i := range int(limit / 100) {
				key := fmt.Sprintf("key%d", rng.IntN(int(limit/60)))
				if v, ok := get(l, key); ok {
					hits++
					if err := checkValue(v, key); err != nil {
						t.Fatal(err)
					}
				}
				n := 30 + rng.IntN(300)
				if rng.IntN(2000) == 0 {
					n = 10_000 + rng.IntN(100_000)
				}
				buf = value(buf, key, uint64(i), n)
				if err := set(l, key, buf, 0); err != nil {
					t.Fatalf("step %d: %d bytes: %v", i, n, err)
				}
			}
			l.Publish()
			st := s.Stats()
			t.Logf("items %d hits %d evictions %d, log %d index %d regions %d ghosts %d", st.Items, hits, st.Evictions, st.LogBytes, st.IndexBytes, st.RegionBytes, st.GhostBytes)
			if st.Evictions == 0 || hits == 0 {
				t.Error("nothing evicted or nothing hit")
			}
			if used := s.budget.Used(); used > limit+limit/50 {
				t.Errorf("%d bytes used of %d", used, limit)
			}
		})
	}
}

// Many loops on few keys and many keys: no reader sees a wrong, torn or resurrected value.
func TestConcurrent(t *testing.T) {
	const loops = 8
	s := open(t, 8<<20, loops)
	var wg sync.WaitGroup
	for w := range loops {
		wg.Go(func() {
			l := s.Local(w)
			rng := rand.New(rand.NewPCG(uint64(w), 9))
			var buf []byte
			for i := range 30_000 {
				if i%64 == 0 {
					l.Turn(s.clock.Ms())
				}
				key := fmt.Sprintf("key%d", rng.IntN(50_000))
				if rng.IntN(4) == 0 {
					key = fmt.Sprintf("hot%d", rng.IntN(10))
				}
				switch rng.IntN(12) {
				case 0:
					del(l, key)
				case 1, 2, 3, 4:
					n := 40 + rng.IntN(400)
					if rng.IntN(300) == 0 {
						n = 5_000 + rng.IntN(30_000)
					}
					buf = value(buf, key, uint64(i), n)
					exp := int64(0)
					if rng.IntN(3) == 0 {
						exp = l.Now() + int64(rng.IntN(300))
					}
					if err := set(l, key, buf, exp); err != nil {
						t.Errorf("set: %v", err)
						return
					}
				case 5:
					if rng.IntN(3000) == 0 {
						s.Flush()
					}
				default:
					if v, ok := get(l, key); ok {
						if err := checkValue(v, key); err != nil {
							t.Error(err)
							return
						}
					}
				}
			}
			l.Publish()
		})
	}
	wg.Wait()
	t.Logf("%+v", s.log.Counts())
}

func benchKeys(n int) [][]byte {
	ks := make([][]byte, n)
	for i := range ks {
		ks[i] = fmt.Appendf(nil, "memtier-%08d", i)
	}
	return ks
}

func BenchmarkGet(b *testing.B) {
	s := open(b, 1<<30, 1)
	l := s.Local(0)
	ks := benchKeys(1 << 17)
	v := make([]byte, 128)
	for _, k := range ks {
		set(l, string(k), v, 0)
	}
	buf := make([]byte, 0, 256)
	b.ResetTimer()
	for i := 0; b.Loop(); i++ {
		k := ks[i*7919&(1<<17-1)]
		e := l.Lock(k, l.Hash(k))
		if e.Found() {
			e.Bump()
			buf = append(buf[:0], e.Value()...)
		}
		e.Unlock()
	}
}

func BenchmarkSet(b *testing.B) {
	for _, c := range []struct {
		name  string
		limit int64
		keys  int
	}{{"overwrite", 1 << 30, 1 << 17}, {"evict", 64 << 20, 1 << 22}, {"hot", 1 << 30, 16}} {
		b.Run(c.name, func(b *testing.B) {
			s := open(b, c.limit, 1)
			l := s.Local(0)
			ks := benchKeys(c.keys)
			v := make([]byte, 128)
			one := func(k []byte) {
				p, err := l.Build(k, Spec{Len: len(v)})
				if err != nil {
					b.Fatal(err)
				}
				copy(p.Value(), v)
				e := l.LockLink(p, l.Hash(k))
				e.Link(p, 0)
				e.Unlock()
			}
			for i := range ks {
				one(ks[i])
			}
			b.ResetTimer()
			for i := 0; b.Loop(); i++ {
				one(ks[i*7919%len(ks)])
			}
			b.StopTimer()
			l.Publish()
			st := s.Stats()
			b.ReportMetric(float64(st.CopiedBytes)/float64(st.TotalItems), "copied-B/op")
			b.ReportMetric(float64(st.LogBytes>>20), "log-MB")
		})
	}
}
