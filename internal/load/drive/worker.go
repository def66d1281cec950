package drive

import (
	"time"

	"godwit/internal/load"
)

// worker is what belongs to one loop. Everything is the loop's own.
type worker struct {
	r      *run
	id     int
	t      int64 // the time of the present Turn or Feed, ns on the run's clock
	from   int64 // start of the measured part; 0: not yet known
	second int64 // end of the present second
	timers timers
	rec    *recorder
	meter  meter
	live   []*client     // that are connected
	every  time.Duration // between looks for servers that are silent; 0: none are made
	look   int64         // when to look next
}

func newWorker(r *run, id int) *worker {
	return &worker{r: r, id: id, rec: newRecorder(len(r.plan.Rows), r.open()), every: lookEvery(r.plan)}
}

// lookEvery is how often to look for silent servers: a timeout is exceeded by an eighth of it, or a second, at most.
func lookEvery(p *load.Plan) time.Duration {
	if t := p.Retry.Timeout; t > 0 {
		return min(max(t/8, time.Millisecond), time.Second)
	}
	for i := range p.Clients {
		if len(p.Clients[i].Target.Prologue) > 0 {
			return time.Second
		}
	}
	return 0
}

// open says whether any client has a rate.
func (r *run) open() bool {
	for i := range r.plan.Clients {
		if r.plan.Clients[i].Rate > 0 {
			return true
		}
	}
	return false
}

// turn begins a turn of the loop: it closes seconds that are over and wakes the clients that have something to send.
func (w *worker) turn() {
	w.tick()
	for len(w.timers) > 0 && w.timers[0].due <= w.t {
		w.timers.pop().wake()
	}
	if w.every > 0 && w.t >= w.look {
		w.hurry()
	}
}

// patience with the server of a client; 0: no limit. Greetings belong to connecting.
func (w *worker) patience(c *client) time.Duration {
	t := w.r.plan.Retry.Timeout
	if t == 0 && c.greeted < len(c.plan.Target.Prologue) {
		t = connectTimeout
	}
	return t
}

// hurry ends the connections whose servers owe an answer for too long.
func (w *worker) hurry() {
	w.look = w.t + int64(w.every)
	for _, c := range w.live {
		if t := w.patience(c); t > 0 && w.t-c.since >= int64(t) && c.waits() {
			c.silent = true
			c.wake()
		}
	}
}

func (w *worker) add(c *client) {
	c.place = len(w.live)
	w.live = append(w.live, c)
}

func (w *worker) remove(c *client) {
	last := len(w.live) - 1
	w.live[c.place] = w.live[last]
	w.live[c.place].place = c.place
	w.live[last] = nil
	w.live = w.live[:last]
}

// tick reads the clock.
func (w *worker) tick() {
	w.t = w.r.now()
	if w.from == 0 {
		w.begin()
	} else if w.t >= w.second {
		w.roll()
	}
}

// begin learns when the measured part starts.
func (w *worker) begin() {
	t0 := w.r.started.Load()
	if t0 == 0 {
		return
	}
	w.from = t0 + int64(w.r.plan.Warmup)
	w.second = w.from + int64(time.Second)
	w.meter.start()
}

// roll hands the second that is over to the collector, and whatever seconds passed without a turn.
func (w *worker) roll() {
	for w.t >= w.second {
		if !w.r.std { // goroutines have no thread of their own
			w.rec.busy, w.rec.full = w.meter.busy(), true
		}
		w.r.col.take(w.rec, w.id, (w.second-w.from)/int64(time.Second)-1)
		w.rec = w.r.col.spare()
		w.second += int64(time.Second)
	}
}

// next is how long the loop may wait.
func (w *worker) next() time.Duration {
	if w.from == 0 {
		if w.every > 0 && len(w.live) > 0 {
			return w.every
		}
		return -1
	}
	at := w.second
	if w.every > 0 {
		at = min(at, w.look)
	}
	if len(w.timers) > 0 {
		at = min(at, w.timers[0].due)
	}
	return time.Duration(max(0, at-w.t))
}

// timers is a heap of clients by the time of their next request.
type timers []*client

func (h *timers) push(c *client) {
	*h = append(*h, c)
	a := *h
	for i := len(a) - 1; i > 0; {
		up := (i - 1) / 2
		if a[up].due <= a[i].due {
			break
		}
		a[up], a[i] = a[i], a[up]
		i = up
	}
	c.timed = true
}

func (h *timers) pop() *client {
	a := *h
	top := a[0]
	n := len(a) - 1
	a[0], a[n] = a[n], nil
	a = a[:n]
	for i := 0; ; {
		k := 2*i + 1
		if k >= n {
			break
		}
		if k+1 < n && a[k+1].due < a[k].due {
			k++
		}
		if a[i].due <= a[k].due {
			break
		}
		a[i], a[k] = a[k], a[i]
		i = k
	}
	*h = a
	top.timed = false
	return top
}
