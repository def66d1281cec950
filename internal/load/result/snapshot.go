package result

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Snapshot is a load under way, as of its last full second. It is valid during the call that gets it.
type Snapshot struct {
	Elapsed    time.Duration // since the start of the measured part; negative while warming up
	Second     []Second      // the last full second, by rows
	Total      []Counts      // since the start, by rows
	Sum        int64         // of all service times since the start, ns
	Service    *hdrhistogram.Histogram
	Clients    int // at work
	ConnErrors uint64
	Busiest    float64 // see Self
}

// Sums of the last second and of everything so far.
func (s *Snapshot) Sums() (second Second, total Counts) {
	for i := range s.Second {
		x := &s.Second[i]
		second.Counts.Add(&x.Counts)
		second.Sum += x.Sum
		merge(&second.Service, x.Service)
	}
	for i := range s.Total {
		total.Add(&s.Total[i])
	}
	return second, total
}
