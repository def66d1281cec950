package console

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// Load is what is known of a load before it begins.
type Load struct {
	Title    string        // what and where
	Rows     []string      // names of Plan.Rows
	Duration time.Duration // planned; 0: Requests
	Requests uint64        // that will be made; 0: unknown
}

// left is the time until the end, if that can be told.
func (l *Load) left(elapsed time.Duration, done uint64) (time.Duration, bool) {
	switch {
	case elapsed < 0:
		return 0, false
	case l.Duration > 0:
		return max(0, l.Duration-elapsed), true
	case l.Requests > 0 && done > 0:
		per := float64(elapsed) / float64(done)
		return time.Duration(per * float64(l.Requests-min(done, l.Requests))), true
	}
	return 0, false
}

// latencies are what the tables show, ns; -1: unknown.
type latencies struct{ p50, p99, p999, max int64 }

var unknown = latencies{-1, -1, -1, -1}

func quantiles(h *hdrhistogram.Histogram) latencies {
	if h == nil || h.TotalCount() == 0 {
		return unknown
	}
	q := h.ValueAtPercentiles([]float64{50, 99, 99.9})
	return latencies{q[50], q[99], q[99.9], h.Max()}
}

// figures of a row.
type figures struct {
	rate         float64
	hits, misses uint64
	latencies
}

// row of the tables.
type row struct {
	name       string
	last, mean figures
}

// server is what the server's counters say.
type server struct {
	perCommand time.Duration // processor time; -1: unknown
	cores      float64
	problem    string
}

// state is what a screen shows.
type state struct {
	load       Load
	started    bool // a snapshot has come
	elapsed    time.Duration
	done       uint64
	rows       []row
	total      row
	rx, tx     float64   // bytes per second
	history    []float64 // requests per second, of the last minute
	statuses   [load.Statuses]uint64
	texts      []result.Text
	clients    int
	connErrors uint64
	busiest    float64
	server     *server // nil: nobody asks it
	paused     bool
	stopping   bool
}

// minute is how many seconds the history has.
const minute = 60

// tracker makes states of snapshots.
type tracker struct {
	load    Load
	all     []*hdrhistogram.Histogram // of each row since the start, from its seconds; nil: nothing yet
	history []float64
}

func (t *tracker) begin(l Load) {
	*t = tracker{load: l, all: make([]*hdrhistogram.Histogram, len(l.Rows))}
}

func fill(f *figures, c *result.Counts, seconds float64, q latencies) {
	if seconds > 0 {
		f.rate = float64(c.Count) / seconds
	}
	f.hits, f.misses, f.latencies = c.Hits, c.Misses, q
}

// next is the state after a snapshot, of which it keeps nothing.
func (t *tracker) next(s *result.Snapshot) *state {
	second, total := s.Sums()
	st := &state{
		load: t.load, started: true, elapsed: s.Elapsed, done: total.Count, rx: float64(second.RX), tx: float64(second.TX),
		clients: s.Clients, connErrors: s.ConnErrors, busiest: s.Busiest, statuses: total.Statuses,
	}
	elapsed := s.Elapsed.Seconds()
	for i, name := range t.load.Rows {
		r := row{name: name}
		r.last.latencies, r.mean.latencies = unknown, unknown
		if i < len(s.Second) {
			x := &s.Second[i]
			fill(&r.last, &x.Counts, 1, quantiles(x.Service))
			if x.Service != nil {
				if t.all[i] == nil {
					t.all[i] = result.NewHistogram()
				}
				t.all[i].Merge(x.Service)
			}
		}
		if i < len(s.Total) {
			fill(&r.mean, &s.Total[i], elapsed, quantiles(t.all[i]))
		}
		st.rows = append(st.rows, r)
	}
	st.total.name = "Totals"
	fill(&st.total.last, &second.Counts, 1, quantiles(second.Service))
	fill(&st.total.mean, &total, elapsed, quantiles(s.Service))
	if s.Elapsed > 0 {
		t.history = append(t.history, float64(second.Count))
		t.history = t.history[max(0, len(t.history)-minute):]
	}
	st.history = append(st.history, t.history...)
	return st
}

// errors is the number of answers that were none, and of connections.
func (s *state) errors() uint64 {
	return s.statuses[load.Failed] + s.statuses[load.Mismatch] + s.connErrors
}
