package memtier

import (
	"time"

	"godwit/internal/load/keys"
)

// starts says when clients connect: together, by a staircase, or one after the other with random times between those of
// a thread.
type starts struct {
	o       *Options
	threads []threadStart
}

type threadStart struct {
	rand  keys.Rand
	any   bool
	step  time.Duration // of the staircase that the last client came with
	after time.Duration // that it came
}

func newStarts(o *Options, seed uint64) *starts {
	s := &starts{o: o, threads: make([]threadStart, o.Threads)}
	for i := range s.threads {
		s.threads[i].rand.Seed(seed, keys.Stream(i, streamStarts))
	}
	return s
}

// begin of client i, which comes after those before it; ever is false if the test is over before.
func (s *starts) begin(i int) (at time.Duration, ever bool) {
	step, ever := s.o.Begin(i / s.o.Threads)
	if s.o.JitterMax == 0 {
		return step, ever
	}
	t := &s.threads[i%s.o.Threads]
	if !t.any || t.step != step {
		t.any, t.step, t.after = true, step, 0
		return step, ever
	}
	lo, hi := uint64(s.o.JitterMin), uint64(s.o.JitterMax)
	t.after += time.Duration(lo+t.rand.Below(hi-lo+1)) * time.Microsecond
	return step + t.after, ever
}
