package mrc

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"pgregory.net/rapid"
)

func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}

// exact is the slow twin: a list of keys in order of use.
type exact struct {
	keys    []uint64
	weights []int64
	dist    []int64 // of reads, -1: first
	reads   int64
}

func (e *exact) use(k uint64, w int64, read bool) {
	d, at := int64(0), -1
	for i := len(e.keys) - 1; i >= 0; i-- {
		if e.keys[i] == k {
			at = i
			break
		}
		d += e.weights[i]
	}
	if read {
		e.reads++
		if at < 0 {
			e.dist = append(e.dist, -1)
		} else {
			e.dist = append(e.dist, d+e.weights[at])
		}
	}
	if at >= 0 {
		e.forget(at)
	}
	e.keys, e.weights = append(e.keys, k), append(e.weights, w)
}

func (e *exact) forget(at int) {
	e.keys = append(e.keys[:at], e.keys[at+1:]...)
	e.weights = append(e.weights[:at], e.weights[at+1:]...)
}

func (e *exact) missRatio(c int64) float64 {
	hits := 0
	for _, d := range e.dist {
		if d >= 0 && d <= c {
			hits++
		}
	}
	return 1 - float64(hits)/float64(e.reads)
}

// TestExact: while all keys are sampled, distances that have buckets of their own are exact.
func TestExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s, e := New(64, 1), &exact{}
		for range rapid.IntRange(1, 600).Draw(t, "requests") {
			k := rapid.Uint64Range(0, 50).Draw(t, "key")
			h := mix(k)
			switch op := rapid.IntRange(0, 9).Draw(t, "op"); {
			case op < 7:
				s.Read(h, 1)
				e.use(k, 1, true)
			case op < 9:
				s.Write(h, 1)
				e.use(k, 1, false)
			default:
				s.Delete(h)
				for i, x := range e.keys {
					if x == k {
						e.forget(i)
						break
					}
				}
			}
		}
		if n, w := s.Footprint(); int(n) != len(e.keys) || int(w) != len(e.keys) {
			t.Fatalf("footprint %v, %v: %d keys", n, w, len(e.keys))
		}
		if e.reads == 0 {
			return
		}
		for c := range int64(52) {
			if got, want := s.MissRatio(c), e.missRatio(c); math.Abs(got-want) > 1e-9 {
				t.Fatalf("miss ratio at %d: %v, exactly %v", c, got, want)
			}
		}
	})
}

// TestFixed: with few samples and many keys everything stays consistent and within its memory.
func TestFixed(t *testing.T) {
	s := New(100, 1)
	r := rand.New(rand.NewPCG(1, 2))
	for i := range 200_000 {
		h := mix(uint64(r.IntN(20_000)))
		switch i % 11 {
		case 0:
			s.Delete(h)
		case 1, 2:
			s.Write(h, int64(1+i%50))
		default:
			s.Read(h, int64(1+i%50))
		}
		if i%5000 != 0 {
			continue
		}
		total := int64(0)
		for j, at := range s.heap {
			en := &s.entries[at]
			total += en.weight
			if en.hash >= s.threshold {
				t.Fatalf("sample %x above the threshold %x", en.hash, s.threshold)
			}
			if _, got, ok := s.find(en.hash); !ok || got != at || int(en.heap) != j || s.order[en.place] != at+1 {
				t.Fatalf("sample %d is not where it should be", at)
			}
			if j > 0 && s.above(j, (j-1)/2) {
				t.Fatalf("heap out of order at %d", j)
			}
		}
		if total != s.total || s.sum(int32(len(s.tree)-1)) != total {
			t.Fatalf("weights are %d together, total %d, tree %d", total, s.total, s.sum(int32(len(s.tree)-1)))
		}
	}
	if len(s.heap) > 100 || cap(s.entries) != 100 || cap(s.heap) != 100 {
		t.Errorf("%d samples", len(s.heap))
	}
	if n, _ := s.Footprint(); n < 14_000 || n > 26_000 {
		t.Errorf("%v keys, there are about 19000", n)
	}
	if a := testing.AllocsPerRun(1000, func() { s.Read(r.Uint64(), 1) }); a != 0 {
		t.Errorf("%v allocations a request", a)
	}
}

// curves draws keys by a Zipf law; the exact curve comes from an estimator that samples all.
func curves(exponent float64, keys, n int, salt uint64, samples int) (s *Shards, miss func(int64) float64) {
	cdf := make([]float64, keys)
	sum := 0.0
	for i := range cdf {
		sum += math.Pow(float64(i+1), -exponent)
		cdf[i] = sum
	}
	s = New(samples, 1)
	whole := New(keys+1, 1)
	r := rand.New(rand.NewPCG(salt, 7))
	for range n {
		u, lo, hi := r.Float64()*sum, 0, keys-1
		for lo < hi {
			if m := (lo + hi) / 2; cdf[m] < u {
				lo = m + 1
			} else {
				hi = m
			}
		}
		h := mix(uint64(lo) + salt*0x9e3779b97f4a7c15)
		s.Read(h, 1)
		whole.Read(h, 1)
	}
	return s, whole.MissRatio
}

// TestError holds the estimate against the exact curve.
func TestError(t *testing.T) {
	keys, n, runs := 50_000, 300_000, uint64(3)
	for _, exponent := range []float64{0.6, 0.8, 1.0, 1.2} {
		for _, c := range []struct {
			samples int
			most    float64
		}{{2048, 0.035}, {8192, 0.02}} {
			var mean, worst float64
			count := 0.0
			for salt := range runs {
				s, miss := curves(exponent, keys, n, salt, c.samples)
				for at := int64(50); at <= int64(keys); at = at * 3 / 2 {
					d := math.Abs(s.MissRatio(at) - miss(at))
					mean += d
					worst = max(worst, d)
					count++
				}
			}
			mean /= count
			t.Logf("exponent %v, %d samples: mean error %.4f, worst %.4f", exponent, c.samples, mean, worst)
			if mean > c.most {
				t.Errorf("exponent %v, %d samples: mean error %.4f, more than %v", exponent, c.samples, mean, c.most)
			}
		}
	}
}

func TestCapacity(t *testing.T) {
	s, _ := curves(1, 5000, 50_000, 1, 1<<14)
	for _, m := range []float64{0.2, 0.5, 0.9} {
		c, ok := s.Capacity(m)
		if !ok || s.MissRatio(c) > m || s.MissRatio(c-1) <= m {
			t.Errorf("capacity for %v: %d, %v (%v)", m, c, ok, s.MissRatio(c))
		}
	}
	if c, ok := s.Capacity(0.001); ok {
		t.Errorf("capacity for less than the first requests for all keys: %d", c)
	}
	if !math.IsNaN(New(16, 1).MissRatio(5)) {
		t.Error("a miss ratio without requests")
	}
	before := s.MissRatio(100)
	s.Age()
	if after := s.MissRatio(100); math.Abs(after-before) > 0.001 {
		t.Errorf("aged from %v to %v", before, after)
	}
}

func TestBuckets(t *testing.T) {
	next := uint64(0)
	for b := range buckets {
		low, high := bounds(b)
		if low != next || bucket(low) != b || bucket(high) != b {
			t.Fatalf("bucket %d: %d to %d, found in %d and %d", b, low, high, bucket(low), bucket(high))
		}
		next = high + 1
	}
}

func BenchmarkRead(b *testing.B) {
	for _, rate := range []float64{0.001, 0.01, 1} {
		b.Run(fmt.Sprint("rate=", rate), func(b *testing.B) {
			s := New(Samples, rate)
			h := uint64(0)
			for b.Loop() {
				h += 0x9e3779b97f4a7c15
				s.Read(mix(h&0xffffff), 1)
			}
		})
	}
	b.Run("notSampled", func(b *testing.B) {
		s := New(Samples, 1e-9)
		h := uint64(0)
		for b.Loop() {
			h += 0x9e3779b97f4a7c15
			s.Read(h, 1)
		}
	})
}
