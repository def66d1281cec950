package drive

import (
	"cmp"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load/result"
)

// collector merges the seconds of all loops, on a goroutine of its own, so that the loops go on meanwhile.
type collector struct {
	r     *run
	watch func(*result.Snapshot)
	in    chan full
	free  chan *recorder
	done  chan struct{}
	out   result.Run
	open  []pending  // seconds that loops may still add to; the first is number len(Rows[0].Seconds)
	busy  []busyTime // by loop

	start time.Time
	cpu   time.Duration

	mu    sync.Mutex // guards what follows
	texts map[string]uint64
	conns uint64 // connection errors
	again uint64 // reconnects
}

// full is a second of one loop that is over.
type full struct {
	rec    *recorder
	loop   int
	second int64
}

// busyTime averages how busy a loop was.
type busyTime struct {
	sum float64
	n   int
}

func (b busyTime) mean() float64 { return b.sum / float64(max(1, b.n)) }

// pending is a second, by rows, with histograms of full precision.
type pending []result.Second

// keepOpen is how many seconds behind the newest one a loop may still add to.
const keepOpen = 3

func newCollector(r *run, watch func(*result.Snapshot)) *collector {
	c := &collector{
		r: r, watch: watch, in: make(chan full, 4*len(r.workers)), free: make(chan *recorder, 4*len(r.workers)),
		done: make(chan struct{}), busy: make([]busyTime, len(r.workers)), texts: map[string]uint64{},
	}
	for _, name := range r.plan.Rows {
		row := result.Row{Name: name, Service: result.NewHistogram()}
		if r.open() {
			row.Planned = result.NewHistogram()
		}
		c.out.Rows = append(c.out.Rows, row)
	}
	if r.open() {
		c.out.Self.Late = result.NewHistogram()
	}
	return c
}

// begin notes the start of the load.
func (c *collector) begin() {
	c.start, c.cpu = time.Now(), processCPU()
	go c.collect()
}

// take gives a second to the collector. From a loop.
func (c *collector) take(rec *recorder, loop int, second int64) {
	if second < 0 { // warming up
		c.give(rec)
		return
	}
	c.in <- full{rec, loop, second}
}

// spare is an empty recorder. From a loop.
func (c *collector) spare() *recorder {
	select {
	case rec := <-c.free:
		return rec
	default:
		return newRecorder(len(c.out.Rows), c.out.Self.Late != nil)
	}
}

func (c *collector) give(rec *recorder) {
	rec.reset()
	select {
	case c.free <- rec:
	default:
	}
}

// collect merges what comes until in is closed, and shows the last full second once a second.
func (c *collector) collect() {
	defer close(c.done)
	// A moment after the seconds' ends, so that the loops have handed theirs over.
	t := time.NewTimer(time.Second + 20*time.Millisecond)
	defer t.Stop()
	for n := time.Duration(1); ; {
		select {
		case f, ok := <-c.in:
			if !ok {
				return
			}
			c.add(f)
			c.give(f.rec)
		case <-t.C:
			if c.watch != nil {
				c.show(n * time.Second)
			}
			n++
			t.Reset(time.Until(c.start.Add(n*time.Second + 20*time.Millisecond)))
		}
	}
}

// add merges a second of a loop into the result.
func (c *collector) add(f full) {
	first := int64(len(c.out.Rows[0].Seconds))
	for f.second >= first+int64(len(c.open)) {
		c.open = append(c.open, make(pending, len(c.out.Rows)))
	}
	p := c.open[max(0, f.second-first)]
	for i := range c.out.Rows {
		from, row := &f.rec.rows[i], &c.out.Rows[i]
		if row.Counts.Add(&from.Counts); from.sum == 0 && from.Count == 0 {
			continue
		}
		row.Sum += from.sum
		row.Service.Merge(from.service)
		if from.planned != nil {
			row.Planned.Merge(from.planned)
		}
		p[i].Counts.Add(&from.Counts)
		p[i].Sum += from.sum
		if p[i].Service == nil {
			p[i].Service = result.NewHistogram()
		}
		p[i].Service.Merge(from.service)
	}
	if f.rec.late != nil {
		c.out.Self.Late.Merge(f.rec.late)
	}
	c.out.Lost += f.rec.lost
	if f.rec.full {
		c.busy[f.loop].sum += f.rec.busy
		c.busy[f.loop].n++
	}
	c.mu.Lock()
	for t, n := range f.rec.texts {
		count(c.texts, t, n)
	}
	c.mu.Unlock()
	c.shut(keepOpen)
}

// shut ends all pending seconds but the last few: their histograms shrink.
func (c *collector) shut(but int) {
	for ; len(c.open) > but; c.open = c.open[1:] {
		digits := 3
		if len(c.out.Rows[0].Seconds) >= fineSeconds {
			digits = 2
		}
		for i := range c.out.Rows {
			s := c.open[0][i]
			s.Service = shrink(s.Service, digits)
			c.out.Rows[i].Seconds = append(c.out.Rows[i].Seconds, s)
		}
	}
}

// fineSeconds is how many seconds of a run keep 3 digits, some 50 KB each. A long run has many: those after it have 2.
const fineSeconds = 600

// shrink makes a small histogram of a big one: up to its highest value.
func shrink(h *hdrhistogram.Histogram, digits int) *hdrhistogram.Histogram {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	top := h.Max()
	small := hdrhistogram.New(64, max(top, 1<<12), digits)
	for _, b := range h.Distribution() {
		if b.Count > 0 {
			small.RecordValues(min(b.To, top), b.Count)
		}
	}
	return small
}

// show gives the last full second to the watcher.
func (c *collector) show(elapsed time.Duration) {
	s := &result.Snapshot{Elapsed: elapsed - c.r.plan.Warmup, Clients: int(c.r.left.Load()), Service: result.NewHistogram()}
	last := int(s.Elapsed/time.Second) - 1 - len(c.out.Rows[0].Seconds)
	if last >= 0 && last < len(c.open) {
		s.Second = c.open[last]
	}
	for i := range c.out.Rows {
		row := &c.out.Rows[i]
		s.Total = append(s.Total, row.Counts)
		s.Sum += row.Sum
		s.Service.Merge(row.Service)
	}
	s.Busiest = c.busiest()
	c.mu.Lock()
	s.ConnErrors = c.conns
	c.mu.Unlock()
	c.watch(s)
}

// connError counts a connection that was lost, refused or given up. From anywhere.
func (c *collector) connError(why string) {
	c.mu.Lock()
	c.conns++
	count(c.texts, why, 1)
	c.mu.Unlock()
}

func (c *collector) firstError() string {
	c.mu.Lock()
	defer c.mu.Unlock()
	for t := range c.texts {
		return t
	}
	return "no reason known"
}

func (c *collector) reconnected() {
	c.mu.Lock()
	c.again++
	c.mu.Unlock()
}

// interrupted marks the result. From the goroutine of Run.
func (c *collector) interrupted() {
	c.mu.Lock()
	c.out.Interrupted = true
	c.mu.Unlock()
}

// finish merges what the loops, which have ended, still have, and returns the result.
func (c *collector) finish() *result.Run {
	close(c.in)
	<-c.done
	for _, w := range c.r.workers {
		if w.from > 0 && w.t >= w.from {
			c.add(full{w.rec, w.id, (w.t - w.from) / int64(time.Second)})
		}
	}
	c.shut(0)
	out := &c.out
	c.times()
	out.ConnErrors, out.Reconnects = c.conns, c.again
	for t, n := range c.texts {
		out.Texts = append(out.Texts, result.Text{Text: t, N: n})
	}
	slices.SortFunc(out.Texts, func(a, b result.Text) int {
		return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Text, b.Text))
	})
	for _, cl := range c.r.clients {
		if cl.own != nil {
			out.Clients = append(out.Clients, result.Client{Loop: cl.w.id, Rows: cl.own})
		}
	}
	s := &out.Self
	s.CPU = processCPU() - c.cpu
	s.Cores = runtime.NumCPU()
	s.Loops = len(c.r.workers)
	s.Busiest = c.busiest()
	s.Limit = limit(out)
	return out
}

// busiest is how busy the busiest loop was, on average.
func (c *collector) busiest() (most float64) {
	for _, b := range c.busy {
		most = max(most, b.mean())
	}
	return most
}

const (
	busyLimit = 0.9   // share of its time from which a loop counts as saturated
	lateLimit = 500e3 // ns that one in a hundred requests may be sent late
)

// limit says whether the load generator and not the server may have set the result.
func limit(r *result.Run) string {
	s := &r.Self
	if s.Busiest >= busyLimit {
		return fmt.Sprintf("an event loop of the load generator was busy %.0f %% of the time: it may be the limit; give it more threads or cores", 100*s.Busiest)
	}
	if s.Late != nil && s.Late.TotalCount() > 0 {
		if late := s.Late.ValueAtQuantile(99); late >= lateLimit {
			return fmt.Sprintf("1 %% of the requests were sent %.1f ms or more after their time: the rate was too high for the connections, the server or the load generator", float64(late)/1e6)
		}
	}
	return ""
}

// times finds when the measured part began and ended.
func (c *collector) times() {
	r, out := c.r, &c.out
	from := r.started.Load() + int64(r.plan.Warmup)
	var starts, ends, n int64
	last := from
	for _, cl := range r.clients {
		if cl.first > 0 {
			starts += max(cl.first, from) - from
			ends += max(cl.last, from) - from
			last = max(last, cl.last)
			n++
		}
	}
	at := func(t int64) time.Time { return r.base.Add(time.Duration(t)) }
	out.Start, out.End = at(from), at(last)
	out.MeanStart, out.MeanEnd = out.Start, out.End
	if d := int64(r.plan.Duration); d > 0 && r.open() && !out.Interrupted {
		out.End = at(from + d) // what is planned lasts as long as planned
		out.MeanStart, out.MeanEnd = out.Start, out.End
	} else if n > 0 {
		out.MeanStart, out.MeanEnd = at(from+starts/n), at(from+ends/n)
	}
}
