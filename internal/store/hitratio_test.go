package store

import (
	"fmt"
	"math"
	"math/rand/v2"
	"os"
	"sort"
	"testing"
)

// readThrough is a load that reads and, on a miss, sets: 2 M keys by a Zipf distribution, values log-uniform from 48 to
// 1056 bytes.
type readThrough struct {
	name   string
	zipf   float64
	scan   float64 // share of requests for keys never seen before
	drift  int     // requests after which the hot set moves; 0: never
	writes float64 // share of requests that overwrite without reading
	least  float64 // hit ratio over the second half that must be reached at 64 MiB
}

var readThroughs = []readThrough{
	{"zipf1.0", 1.0, 0, 0, 0, .815},
	{"zipf0.8", 0.8, 0, 0, 0, .550},
	{"zipf1.0+scan", 1.0, .2, 0, 0, .630},
	{"zipf0.8+scan", 0.8, .2, 0, 0, .440},
	{"drift", 1.0, 0, 400_000, 0, .703},
	{"write30", 1.0, 0, 0, .3, .778},
	{"write70", 1.0, 0, 0, .7, .777},
}

func (r readThrough) run(tb testing.TB, s *Store, loops int) float64 {
	const keys, requests, batch = 2_000_000, 6_000_000, 64
	cdf := make([]float64, keys)
	sum := 0.0
	for i := range cdf {
		sum += 1 / math.Pow(float64(i+1), r.zipf)
		cdf[i] = sum
	}
	rng := rand.New(rand.NewPCG(1, 7))
	val := make([]byte, 2048)
	size := func(k int) int {
		h := uint64(k) * 0x9E3779B97F4A7C15
		return 32 + int(math.Exp(float64(h>>40)/float64(1<<24)*math.Log(64)))*16
	}
	next, hits, total := keys, 0, 0
	var key []byte
	for i := range requests {
		l := s.Local(i / batch % loops)
		if i%batch == 0 {
			l.Turn(s.clock.Ms())
		}
		var k int
		if r.scan > 0 && rng.Float64() < r.scan {
			k = next
			next++
		} else {
			k = sort.SearchFloat64s(cdf, rng.Float64()*sum)
			if r.drift > 0 {
				k = (k + i/r.drift*99991) % keys
			}
		}
		key = fmt.Appendf(key[:0], "key:%012d", k)
		store := func() {
			p, err := l.Build(key, Spec{Len: size(k)})
			if err != nil {
				tb.Fatal(err)
			}
			copy(p.Value(), val)
			e := l.LockLink(p, l.Hash(key))
			e.Link(p, 0)
			e.Unlock()
		}
		if r.writes > 0 && rng.Float64() < r.writes {
			store()
			continue
		}
		e := l.Lock(key, l.Hash(key))
		found := e.Found()
		if found {
			e.Bump()
		}
		e.Unlock()
		if i > requests/2 {
			total++
			if found {
				hits++
			}
		}
		if !found {
			store()
		}
	}
	return float64(hits) / float64(total)
}

// TestHitRatio takes half a minute a load, so it runs when GODWIT_LONG is set.
func TestHitRatio(t *testing.T) {
	if os.Getenv("GODWIT_LONG") == "" {
		t.Skip("set GODWIT_LONG=1 to run (about 1 minute)")
	}
	for _, loops := range []int{1, 4} {
		for _, r := range readThroughs {
			t.Run(fmt.Sprintf("%s/%d", r.name, loops), func(t *testing.T) {
				s := open(t, 64<<20, loops)
				h := r.run(t, s, loops)
				for i := range loops {
					s.Local(i).Publish()
				}
				st := s.Stats()
				t.Logf("hit ratio %.4f (%.3f); items %d share %.2f copied %.2f GB log %d garbage %d", h, r.least, st.Items, st.SmallShare, float64(st.CopiedBytes)/1e9, st.LogBytes, st.GarbageBytes)
				if h < r.least {
					t.Errorf("below %.3f", r.least)
				}
			})
		}
	}
}
