package sim

import (
	"context"
	"errors"
	"io"
	"runtime"
	"sync"
	"sync/atomic"

	"godwit/internal/sim/mrc"
)

// Point is a policy at a capacity.
type Point struct {
	Policy   string
	Capacity int64
}

// Config of a run: each policy at each capacity, and Points besides.
type Config struct {
	Policies   []string
	Capacities []int64
	Points     []Point
	Bytes      bool   // capacities are bytes, else objects
	Overhead   int64  // bytes added to each object's size, with Bytes
	NoFill     bool   // a missed read stores nothing
	Warmup     int64  // requests before counting begins
	Seed       uint64 // of the policies that choose at random
	Shards     int    // samples of the LRU curve from one pass; 0: none
	Workers    int    // caches run at a time; 0: as many as processors
	Progress   func(requests int64)
}

// Row is one cache's result.
type Row struct {
	Point
	Counts
}

// Result of a run. Rows are ordered by policy, then capacity, both as in the Config; then come the Points.
type Result struct {
	Requests int64
	Rows     []Row
	Curve    *mrc.Shards // nil without Config.Shards
}

// batchSize is the number of requests that each cache takes in one go: enough that its memory stays in the processor's cache.
const batchSize = 32 << 10

// Run replays a trace against all caches, which are independent of each other: the result is the same for any number of
// workers. Memory is bounded by what the caches hold. After an error of the trace the result up to there is given with it.
func Run(ctx context.Context, src Source, c Config) (*Result, error) {
	var points []Point
	for _, p := range c.Policies {
		for _, n := range c.Capacities {
			points = append(points, Point{p, n})
		}
	}
	var caches []*cache
	for _, p := range append(points, c.Points...) {
		k, err := newCache(p.Policy, p.Capacity, &c)
		if err != nil {
			return nil, err
		}
		caches = append(caches, k)
	}
	res := &Result{}
	jobs := make([]func([]Req), 0, len(caches)+1)
	if c.Shards > 0 {
		curve := &curve{shards: mrc.New(c.Shards, 1), Config: &c}
		res.Curve = curve.shards
		jobs = append(jobs, curve.run)
	}
	for _, k := range caches {
		k.counting = c.Warmup == 0
		jobs = append(jobs, k.run)
	}
	workers := c.Workers
	if workers <= 0 {
		workers = runtime.GOMAXPROCS(0)
	}

	// The trace is read one batch ahead of the caches. A batch ends where counting begins.
	type filled struct {
		reqs []Req
		err  error
	}
	ctx, cancel := context.WithCancel(ctx)
	defer cancel()
	empty, full := make(chan []Req, 2), make(chan filled)
	empty <- make([]Req, batchSize)
	empty <- make([]Req, batchSize)
	go func() {
		defer close(full)
		for done := int64(0); ; {
			var buf []Req
			select {
			case buf = <-empty:
			case <-ctx.Done():
				return
			}
			want := int64(batchSize)
			if left := c.Warmup - done; left > 0 {
				want = min(want, left)
			}
			n, err := readFull(src, buf[:want])
			done += int64(n)
			select {
			case full <- filled{buf[:n], err}:
			case <-ctx.Done():
				return
			}
			if err != nil {
				return
			}
		}
	}()
	var failed error
	for f := range full {
		runAll(jobs, f.reqs, workers)
		res.Requests += int64(len(f.reqs))
		if res.Requests == c.Warmup {
			for _, k := range caches {
				k.counting = true
			}
		}
		if c.Progress != nil {
			c.Progress(res.Requests)
		}
		if f.err != nil {
			failed = f.err
			break
		}
		empty <- f.reqs[:cap(f.reqs)]
	}
	if errors.Is(failed, io.EOF) {
		failed = nil
	} else if failed == nil {
		failed = ctx.Err()
	}
	for _, k := range caches {
		res.Rows = append(res.Rows, Row{Point{k.name, k.capacity}, k.Counts})
	}
	return res, failed
}

func readFull(src Source, dst []Req) (n int, err error) {
	for n < len(dst) && err == nil {
		var m int
		m, err = src.Read(dst[n:])
		n += m
	}
	return n, err
}

func runAll(jobs []func([]Req), reqs []Req, workers int) {
	var next atomic.Int32
	var wg sync.WaitGroup
	for range min(workers, len(jobs)) {
		wg.Go(func() {
			for {
				i := int(next.Add(1)) - 1
				if i >= len(jobs) {
					return
				}
				jobs[i](reqs)
			}
		})
	}
	wg.Wait()
}

// curve feeds the estimator as a cache is fed. Expiry is not known to it.
type curve struct {
	*Config
	shards *mrc.Shards
	done   int64
}

func (c *curve) run(batch []Req) {
	for i := range batch {
		r := &batch[i]
		weight := int64(1)
		if c.Bytes {
			weight = max(r.Size+c.Overhead, 1)
		}
		h := mix(r.Key)
		warm := c.done < c.Warmup
		c.done++
		switch {
		case r.Op == Delete:
			c.shards.Delete(h)
		case r.Op == Get && !warm:
			c.shards.Read(h, weight)
		default:
			c.shards.Write(h, weight)
		}
	}
}
