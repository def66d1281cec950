package output

import (
	"fmt"
	"io"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Snapshot is what is known of a run while it goes on.
type Snapshot struct {
	Run         int           // from 1
	Threads     int           // that are at work
	Clients     int           // per thread
	Connections int           // open ones, all threads
	Elapsed     time.Duration // since the start of the run
	Whole       time.Duration // --test-time; 0: Requests
	Requests    uint64        // that the run is to make
	ConnErrors  uint64
	All         Tally // since the start of the run
	Last        Tally // since the last snapshot
	Since       time.Duration
	Latencies   *hdrhistogram.Histogram // of Last, ns; only for statsd; nil: unknown
}

// Tally counts requests that were answered.
type Tally struct {
	Ops, Bytes uint64
	Sum        int64 // of latencies, ns
}

// percent of the run that is over, at most 100.
func (s *Snapshot) percent() float64 {
	var p float64
	switch {
	case s.Whole > 0:
		p = 100 * s.Elapsed.Seconds() / s.Whole.Seconds()
	case s.Requests > 0:
		p = 100 * float64(s.All.Ops) / float64(s.Requests)
	}
	return max(0, min(100, p))
}

func (t *Tally) ops(d time.Duration) float64   { return over(float64(t.Ops), d) }
func (t *Tally) bytes(d time.Duration) float64 { return over(float64(t.Bytes), d) }

func over(x float64, d time.Duration) float64 {
	if d <= 0 {
		return 0
	}
	return x / d.Seconds()
}

// String is the line of the progress, without its end.
func (s *Snapshot) String() string {
	errors := ""
	if s.ConnErrors > 0 {
		errors = fmt.Sprintf(" %d conn errors", s.ConnErrors)
	}
	return fmt.Sprintf("[RUN #%d %.0f%%, %3d secs] %2d threads %2d conns%s: %11d ops, %7d (avg: %7d) ops/sec, %s/sec (avg: %s/sec), %5.2f (avg: %5.2f) msec latency",
		s.Run, s.percent(), int64(s.Elapsed/time.Second), s.Threads, s.Clients, errors, s.All.Ops,
		int64(s.Last.ops(s.Since)), int64(s.All.ops(s.Elapsed)), volume(s.Last.bytes(s.Since)), volume(s.All.bytes(s.Elapsed)),
		average(s.Last.Sum, s.Last.Ops), average(s.All.Sum, s.All.Ops))
}

// Progress writes the line. On a terminal the next one replaces it; Progress with last ends the series.
func Progress(w io.Writer, s *Snapshot, terminal, last bool) error {
	end := "\n"
	if terminal {
		end = "\r"
		if last {
			end = "\n\n"
		}
	}
	_, err := io.WriteString(w, s.String()+end)
	return err
}

// volume of bytes as memtier_benchmark writes it.
func volume(b float64) string {
	const kb = 1024
	switch {
	case b >= kb*kb*kb:
		return fmt.Sprintf("%.2fGB", b/(kb*kb*kb))
	case b >= kb*kb:
		return fmt.Sprintf("%.2fMB", b/(kb*kb))
	}
	return fmt.Sprintf("%.2fKB", b/kb)
}
