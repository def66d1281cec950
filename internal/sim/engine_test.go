package sim

import (
	"context"
	"fmt"
	"math"
	"os"
	"strings"
	"testing"

	"godwit/internal/clock"
	"godwit/internal/store"
)

// TestEngineIsTheStore replays the same requests against a store and against the model of it.
func TestEngineIsTheStore(t *testing.T) {
	requests := "300k"
	limit := int64(4 << 20)
	keys := "125k"
	if os.Getenv("GODWIT_LONG") != "" {
		requests, limit, keys = "6m", 64<<20, "2m"
	}
	for _, c := range []struct{ name, gen string }{
		{"zipf", "zipf:exp=1"},
		{"flat", "zipf:exp=0.8"},
		{"oneshot", "oneshot:exp=1"},
		{"drift", "drift:exp=1,drift=50k,shift=9991"},
		{"overwrites", "zipf:exp=1,set=0.3"},
		{"large", "zipf:exp=1,size=48-16000"},
		{"deletes", "zipf:exp=1,delete=0.1"},
	} {
		t.Run(c.name, func(t *testing.T) {
			size := ",size=48-1056"
			if c.name == "large" {
				size = ""
			}
			gen := c.gen
			if requests == "6m" {
				gen = strings.Replace(gen, "drift=50k,shift=9991", "drift=100k,shift=99991", 1)
			}
			g, _, err := ParseGen(gen+",key=16,requests="+requests+",keys="+keys+size, 7)
			if err != nil {
				t.Fatal(err)
			}
			s, err := store.Open(store.Config{Limit: limit, Locals: 1, MaxItem: 1 << 20, Seed: 3, Clock: clock.New()})
			if err != nil {
				t.Fatal(err)
			}
			defer s.Close()
			all := make([]Req, g.Requests)
			if n, err := readFull(g, all); n != len(all) {
				t.Fatal(n, err)
			}
			reads, hits := replay(t, s, all)
			real := 1 - float64(hits)/float64(reads)
			again := *g
			again.Start()
			res, err := Run(context.Background(), &again, Config{Policies: []string{"godwit", "s3fifo", "lru"}, Capacities: []int64{limit},
				Bytes: true, Overhead: 28})
			if err != nil {
				t.Fatal(err)
			}
			r := res.Rows[0]
			t.Logf("miss ratio of the store %.4f, of its model %.4f; s3fifo %.4f, lru %.4f", real, r.MissRatio(), res.Rows[1].MissRatio(), res.Rows[2].MissRatio())
			if r.Reads != reads {
				t.Errorf("%d reads, the store had %d", r.Reads, reads)
			}
			most := 0.003
			if c.name == "drift" && requests != "6m" {
				most = 0.01 // whether the small queue grows hangs on single hits there, in a cache so small
			}
			if d := math.Abs(real - r.MissRatio()); d > most {
				t.Errorf("they differ by %.4f", d)
			}
		})
	}
}

func replay(t *testing.T, s *store.Store, reqs []Req) (reads, hits int64) {
	l := s.Local(0)
	l.Turn(1000)
	var key []byte
	for i := range reqs {
		r := &reqs[i]
		key = fmt.Appendf(key[:0], "%016x", r.Key)
		h := l.Hash(key)
		found := false
		if r.Op != Set {
			e := l.Lock(key, h)
			found = e.Found()
			switch {
			case found && r.Op == Get:
				e.Bump()
			case found:
				e.Delete()
			}
			e.Unlock()
		}
		if r.Op == Get {
			if reads++; found {
				hits++
			}
		}
		if r.Op == Delete || found {
			continue
		}
		p, err := l.Build(key, store.Spec{Len: int(r.Size) - len(key)})
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Grow(p, len(p.Value())); err != nil {
			l.Discard(p)
			continue
		}
		e := l.LockLink(p, h)
		e.Link(p, 0)
		e.Unlock()
	}
	return reads, hits
}
