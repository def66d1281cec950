// Package result keeps what a load measured: counts, bytes and latency histograms per row and second, errors by class, the
// generator's own state. A Recorder belongs to one event loop; the Recorders of a run are merged into a Run, and the Runs of
// several machines into one, exactly: histograms are added, percentiles never averaged.
package result

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
)

// Latencies are kept in nanoseconds with 3 significant digits, from 64 ns to 10 minutes.
const (
	lowest  = 64
	highest = int64(600e9)
	digits  = 3
)

// NewHistogram of latencies in nanoseconds.
func NewHistogram() *hdrhistogram.Histogram { return hdrhistogram.New(lowest, highest, digits) }

// Clamp is a latency as it can be recorded.
func Clamp(ns int64) int64 { return min(max(ns, 0), highest) }

// Counts of requests. Of those in flight when a second ends, the answer decides to which second they belong.
type Counts struct {
	Count    uint64                // answered requests, whatever the answer
	Keys     uint64                // keys in them: more than Count with multi-gets
	Hits     uint64                // keys found
	Misses   uint64                // keys not found
	Statuses [load.Statuses]uint64 // answers by status; their sum is Count and the redirections that were followed
	RX, TX   uint64                // bytes
}

// Add c2 to c.
func (c *Counts) Add(c2 *Counts) {
	c.Count += c2.Count
	c.Keys += c2.Keys
	c.Hits += c2.Hits
	c.Misses += c2.Misses
	for i := range c.Statuses {
		c.Statuses[i] += c2.Statuses[i]
	}
	c.RX += c2.RX
	c.TX += c2.TX
}

// Errors are the answers that were no success: declined ones are not among them.
func (c *Counts) Errors() uint64 { return c.Statuses[load.Failed] + c.Statuses[load.Mismatch] }

// Row is what was measured of one kind of request.
type Row struct {
	Name string
	Counts
	Sum     int64                   // of service times, ns
	Service *hdrhistogram.Histogram // from the sending of a request to its answer, ns
	Planned *hdrhistogram.Histogram // from when the request was planned; nil in a closed loop
	Seconds []Second                // by seconds since Run.Start; the last may be a part of a second
}

// Second of a row.
type Second struct {
	Counts
	Sum     int64
	Service *hdrhistogram.Histogram // up to the highest latency; 2 digits from the 600th second on; nil: nothing was answered
}

// Run is the measured part of a load.
type Run struct {
	Start, End time.Time // first request sent, last answer or end of the planned time
	// MeanStart and MeanEnd average the beginnings and ends of the clients, as memtier_benchmark's rates have it.
	MeanStart, MeanEnd time.Time
	Rows               []Row
	Clients            []Client // in the order of Plan.Clients
	ConnErrors         uint64   // connections lost, refused or given up
	Reconnects         uint64   // successful ones
	Lost               uint64   // requests without an answer: their connection broke, or the run was over
	Texts              []Text   // error answers and connection errors by text, most frequent first
	Interrupted        bool
	Self               Self
	Machines           []Machine // that shared the load; nil: it had but one
}

// Client is what one connection did.
type Client struct {
	Loop int
	Rows []Row // without histograms in Seconds; only if asked for
}

// Text is an error text and how often it came.
type Text struct {
	Text string
	N    uint64
}

// Self is what the load generator knows of itself.
type Self struct {
	CPU     time.Duration           // user and system time of the process during the run
	Cores   int                     // that the process may use
	Loops   int                     // event loops
	Busiest float64                 // share of its time that the busiest loop was not waiting, 0 to 1
	Where   string                  // the machine of the busiest loop; "": there is but one machine
	Late    *hdrhistogram.Histogram // ns between the planned and the real sending of a request; nil in a closed loop
	Limit   string                  // why the generator and not the server may have set the limit; "": it did not
}

// Duration is from the first request to the end.
func (r *Run) Duration() time.Duration { return r.End.Sub(r.Start) }

// Total is the sum of all rows.
func (r *Run) Total() Row { return Merge("Totals", r.Rows) }

// Merge adds rows up.
func Merge(name string, rows []Row) Row {
	t := Row{Name: name, Service: NewHistogram()}
	for i := range rows {
		x := &rows[i]
		t.Counts.Add(&x.Counts)
		t.Sum += x.Sum
		merge(&t.Service, x.Service)
		merge(&t.Planned, x.Planned)
		for s := range x.Seconds {
			if s == len(t.Seconds) {
				t.Seconds = append(t.Seconds, Second{})
			}
			a, b := &t.Seconds[s], &x.Seconds[s]
			a.Counts.Add(&b.Counts)
			a.Sum += b.Sum
			merge(&a.Service, b.Service)
		}
	}
	return t
}

// merge adds from to *to, which is made when there is none.
func merge(to **hdrhistogram.Histogram, from *hdrhistogram.Histogram) {
	if from == nil {
		return
	}
	if *to == nil {
		*to = NewHistogram()
	}
	(*to).Merge(from)
}
