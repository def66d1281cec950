package sim

import (
	"context"
	"io"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// slice is a Source.
type slice []Req

func (s *slice) Read(dst []Req) (int, error) {
	if len(*s) == 0 {
		return 0, io.EOF
	}
	n := copy(dst, *s)
	*s = (*s)[n:]
	return n, nil
}

func counts(t *testing.T, c Config, reqs ...Req) Counts {
	t.Helper()
	c.Policies, c.Capacities = []string{"lru"}, []int64{1000}
	s := slice(reqs)
	res, err := Run(context.Background(), &s, c)
	if err != nil {
		t.Fatal(err)
	}
	return res.Rows[0].Counts
}

func TestCache(t *testing.T) {
	get := func(k uint64, at int64) Req { return Req{Key: k, Time: at, Size: 10, TTL: 60} }
	for _, c := range []struct {
		name string
		Config
		reqs []Req
		want Counts
	}{
		{"a read fills", Config{}, []Req{get(1, 0), get(1, 1), get(2, 2)}, Counts{Reads: 3, Hits: 1, ReadBytes: 30, HitBytes: 10}},
		{"unless told not to", Config{NoFill: true}, []Req{get(1, 0), get(1, 1)}, Counts{Reads: 2, ReadBytes: 20}},
		{"lifetimes end on the second", Config{}, []Req{get(1, 0), get(1, 59), get(1, 60), get(1, 119)}, Counts{Reads: 4, Hits: 2, ReadBytes: 40, HitBytes: 20, Expired: 1}},
		{"writing renews them", Config{}, []Req{get(1, 0), {Key: 1, Time: 30, TTL: 60, Op: Set}, get(1, 80), get(1, 90)},
			Counts{Reads: 3, Hits: 1, ReadBytes: 30, HitBytes: 10, Writes: 1, Expired: 1}},
		{"or takes them away", Config{}, []Req{get(1, 0), {Key: 1, Time: 30, Op: Set}, get(1, 8000)}, Counts{Reads: 2, Hits: 1, ReadBytes: 20, HitBytes: 10, Writes: 1}},
		{"incr leaves them", Config{}, []Req{get(1, 0), {Key: 1, Time: 30, Op: Change}, get(1, 60)}, Counts{Reads: 2, ReadBytes: 20, Writes: 1, Expired: 1}},
		{"add and replace", Config{NoFill: true}, []Req{{Key: 1, Op: Change}, {Key: 1, Op: Add}, {Key: 1, Op: Add}, {Key: 1, Op: Change}, {Key: 1}},
			Counts{Reads: 1, Hits: 1, Writes: 2}},
		{"delete", Config{}, []Req{get(1, 0), {Key: 1, Op: Delete}, get(1, 1), get(1, 60)}, Counts{Reads: 3, Hits: 1, ReadBytes: 30, HitBytes: 10}},
		{"what does not fit is not kept", Config{Bytes: true, Overhead: 995}, []Req{get(1, 0), get(1, 1)}, Counts{Reads: 2, ReadBytes: 20}},
		{"warm-up", Config{Warmup: 2}, []Req{get(1, 0), get(1, 1), get(1, 2), get(2, 3)}, Counts{Reads: 2, Hits: 1, ReadBytes: 20, HitBytes: 10}},
	} {
		if got := counts(t, c.Config, c.reqs...); got != c.want {
			t.Errorf("%s: %+v, should be %+v", c.name, got, c.want)
		}
	}
}

// TestExpiry holds all policies with lifetimes against a plain map, in caches that everything fits into.
func TestExpiry(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var reqs slice
		at, reads, hits := int64(0), int64(0), int64(0)
		ends := map[uint64]int64{}
		for range rapid.IntRange(1, 600).Draw(t, "requests") {
			at += rapid.Int64Range(0, 3).Draw(t, "step")
			r := Req{Key: rapid.Uint64Range(0, 40).Draw(t, "key"), Time: at, TTL: rapid.Int64Range(1, 90).Draw(t, "ttl"), Op: Op(rapid.IntRange(0, 1).Draw(t, "op"))}
			reqs = append(reqs, r)
			if r.Op == Get {
				reads++
				if ends[r.Key] > at {
					hits++
					continue
				}
			}
			ends[r.Key] = at + r.TTL
		}
		all := reqs
		for _, p := range Policies() {
			reqs = all
			res, err := Run(context.Background(), &reqs, Config{Policies: []string{p}, Capacities: []int64{500}})
			if err != nil {
				t.Fatal(err)
			}
			if c := res.Rows[0].Counts; c.Reads != reads || c.Hits != hits || c.Evicted != 0 {
				t.Fatalf("%s: %+v, should be %d hits of %d", p, c, hits, reads)
			}
		}
	})
}

func TestDuesStaySmall(t *testing.T) {
	k, err := newCache("lru", 10, &Config{})
	if err != nil {
		t.Fatal(err)
	}
	for i := range int64(100_000) {
		k.do(&Req{Key: uint64(i % 1000), Time: i / 1000, TTL: 1000 + i%7, Op: Set})
	}
	if len(k.expiry) != 10 || len(k.due) > 2100 {
		t.Errorf("%d lifetimes, %d due", len(k.expiry), len(k.due))
	}
}

// TestRunIsDeterministic: neither the number of workers nor of caches changes a result.
func TestRunIsDeterministic(t *testing.T) {
	run := func(workers int) []Row {
		g, _, err := ParseGen("twitter23:requests=60k,keys=10k", 9)
		if err != nil {
			t.Fatal(err)
		}
		res, err := Run(context.Background(), g, Config{Policies: Policies(), Capacities: []int64{1 << 20, 4 << 20}, Bytes: true, Overhead: 28,
			Seed: 4, Workers: workers, Warmup: 20_001, Shards: 512})
		if err != nil {
			t.Fatal(err)
		}
		if res.Requests != 60_000 {
			t.Fatal(res.Requests)
		}
		return res.Rows
	}
	if a, b := run(1), run(5); !slices.Equal(a, b) {
		t.Errorf("%+v\n%+v", a, b)
	}
}

func TestRunStops(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	g, _, _ := ParseGen("zipf:requests=1g", 1)
	_, err := Run(ctx, g, Config{Policies: []string{"fifo"}, Capacities: []int64{10}, Progress: func(int64) { cancel() }})
	if err != context.Canceled {
		t.Error(err)
	}
}

func TestFind(t *testing.T) {
	open := func() (Source, error) {
		g, _, err := ParseGen("zipf:requests=100k,keys=10k", 5)
		return g, err
	}
	c := Config{Policies: []string{"lru", "godwit"}, Capacities: Geometric(10, 10_000, 5)}
	found, err := Find(context.Background(), open, c, []float64{0.3, 0.99, 0.001})
	if err != nil || len(found) != 6 {
		t.Fatal(found, err)
	}
	for i := range found {
		a := &found[i]
		switch a.Target {
		case 0.99:
			if a.Capacity != 10 || a.Below != 0 {
				t.Errorf("%+v", a)
			}
		case 0.001:
			if a.Capacity != 0 || a.Below != 10_000 || a.MissRatio < 0.05 {
				t.Errorf("%+v", a)
			}
		default:
			if a.MissRatio > 0.3 || float64(a.Capacity) > findStep*float64(a.Below)+1 {
				t.Errorf("%+v", a)
			}
		}
	}
	if found[0].Capacity <= found[3].Capacity {
		t.Errorf("lru %d, godwit %d", found[0].Capacity, found[3].Capacity)
	}
}

// TestAnswerInAnyOrder: a curve that rises in between gives the same answer however its points come.
func TestAnswerInAnyOrder(t *testing.T) {
	curve := map[int64]float64{10: .9, 20: .4, 30: .2, 40: .35, 50: .1}
	rapid.Check(t, func(t *rapid.T) {
		a := Answer{Policy: "lru", Target: 0.3}
		for _, n := range rapid.Permutation([]int64{10, 20, 30, 40, 50}).Draw(t, "order") {
			a.learn(Point{"lru", n}, curve[n])
		}
		if a.Capacity != 30 || a.Below != 20 || a.MissRatio != .2 {
			t.Fatalf("%+v", a)
		}
	})
}
