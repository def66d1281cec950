package output

import (
	"bufio"
	"fmt"
	"io"
	"strings"
)

// Staircase is a plan of clients that join step by step. All are per thread.
type Staircase struct {
	Start, Step, Most int // clients
	Every             int // seconds that a step lasts
	Seconds           int // of the test
}

// At is the number of clients in a second of the test.
func (s *Staircase) At(second int) int { return min(s.Start+second/max(s.Every, 1)*s.Step, s.Most) }

// Active clients in each second, for Report.ActiveClients.
func (s *Staircase) Active() []int {
	out := make([]int, s.Seconds)
	for i := range out {
		out[i] = s.At(i)
	}
	return out
}

// full is how many steps it takes to have all clients.
func (s *Staircase) full() int {
	if s.Step <= 0 {
		return 0
	}
	return (s.Most - s.Start + s.Step - 1) / s.Step
}

// bar is the length of that of all clients.
const bar = 20

// Print draws the plan, for stderr.
func (s *Staircase) Print(w io.Writer, run, threads int) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "[RUN #%d] Client staircase pattern (per thread x %d threads):\n", run, threads)
	every := max(s.Every, 1)
	for i := 0; i*every < s.Seconds && i <= s.full(); i++ {
		n, end := s.At(i*every), min((i+1)*every, s.Seconds)
		if i == s.full() {
			end = s.Seconds
		}
		fmt.Fprintf(b, "  Step %d: %3ds - %3ds : %3d clients  %s", i, i*every, end, n, strings.Repeat("█", (n*bar+s.Most-1)/max(s.Most, 1)))
		if n == s.Most {
			b.WriteString("  (max)")
		}
		b.WriteByte('\n')
	}
	fmt.Fprintf(b, "  Total max connections: %d x %d = %d\n", s.Most, threads, s.Most*threads)
	if t := s.full() * every; t <= s.Seconds {
		fmt.Fprintf(b, "  Minimum time to reach max: %ds (test_time: %ds OK)\n\n", t, s.Seconds)
	} else {
		fmt.Fprintf(b, "  WARNING: test_time (%ds) < time to reach max clients (%ds), max will not be reached\n\n", s.Seconds, t)
	}
	return b.Flush()
}
