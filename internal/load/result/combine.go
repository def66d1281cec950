package result

import (
	"cmp"
	"slices"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Machine is one of several that shared a load.
type Machine struct {
	Name    string
	Clients int    // connections of its share
	Count   uint64 // requests that were answered to it
	// Began is when it started, after the first machine did, by the coordinator's clock: it is known to within Doubt, half
	// the time from the coordinator's word to the machine's answer.
	Began, Doubt time.Duration
	Self         Self
}

// Spread is by how much the machines of a run may have started at different times: the difference that was measured, and how
// much more or less it may be.
func (r *Run) Spread() (measured, doubt time.Duration) {
	if len(r.Machines) == 0 {
		return 0, 0
	}
	first, last := r.Machines[0].Began, r.Machines[0].Began
	for i := range r.Machines {
		m := &r.Machines[i]
		first, last = min(first, m.Began), max(last, m.Began)
		doubt = max(doubt, m.Doubt)
	}
	return last - first, 2 * doubt
}

// Shift moves all points in time of the run by d. The clocks of machines differ; whoever knows by how much brings the runs
// to one clock before they are combined. Durations, seconds and latencies do not change.
func (r *Run) Shift(d time.Duration) {
	for _, t := range []*time.Time{&r.Start, &r.End, &r.MeanStart, &r.MeanEnd} {
		if !t.IsZero() {
			*t = t.Add(d)
		}
	}
}

// Combine adds up the runs of several machines that shared a load. Nothing is lost and nothing averaged: a count is the sum
// of the counts, a histogram that of all samples. Rows are matched by name, in the order in which the names first come;
// seconds by their index, that is by the time since each run's own start, whatever the machines' clocks say. Start is the
// earliest and End the latest of the runs, which must be on one clock, see Shift; MeanStart and MeanEnd are weighted by
// clients. The numbers of the loops of Clients go on from one run to the next, so that loops stay apart. Of Self the work and
// the cores are sums, Busiest is the highest, and a Limit is told with the machine's name if there is one. The runs are not
// changed, and share nothing with the result. Without runs it is empty.
func Combine(runs []*Run) *Run {
	out := &Run{}
	rows := map[string]int{}
	texts := map[string]uint64{}
	var limits []string
	loops := 0
	for i, r := range runs {
		if i == 0 || r.Start.Before(out.Start) {
			out.Start = r.Start
		}
		if i == 0 || r.End.After(out.End) {
			out.End = r.End
		}
		for k := range r.Rows {
			x := &r.Rows[k]
			n, ok := rows[x.Name]
			if !ok {
				n = len(out.Rows)
				rows[x.Name] = n
				out.Rows = append(out.Rows, Row{Name: x.Name})
			}
			out.Rows[n].add(x)
		}
		for k := range r.Clients {
			c := Client{Loop: loops + r.Clients[k].Loop}
			for n := range r.Clients[k].Rows {
				row := Row{Name: r.Clients[k].Rows[n].Name}
				row.add(&r.Clients[k].Rows[n])
				c.Rows = append(c.Rows, row)
			}
			out.Clients = append(out.Clients, c)
		}
		loops += r.Self.Loops
		out.ConnErrors += r.ConnErrors
		out.Reconnects += r.Reconnects
		out.Lost += r.Lost
		for _, t := range r.Texts {
			texts[t.Text] += t.N
		}
		out.Interrupted = out.Interrupted || r.Interrupted
		for _, m := range r.Machines {
			m.Self.Late = clone(m.Self.Late)
			out.Machines = append(out.Machines, m)
		}
		limits = out.Self.add(&r.Self, r.name(), limits)
	}
	out.Self.Limit = strings.Join(limits, "; ")
	for t, n := range texts {
		out.Texts = append(out.Texts, Text{t, n})
	}
	slices.SortFunc(out.Texts, func(a, b Text) int { return cmp.Or(cmp.Compare(b.N, a.N), cmp.Compare(a.Text, b.Text)) })
	out.MeanStart = mean(runs, func(r *Run) time.Time { return r.MeanStart })
	out.MeanEnd = mean(runs, func(r *Run) time.Time { return r.MeanEnd })
	return out
}

// name of the machine of a run; "" if that is not known, or if it is a combined run.
func (r *Run) name() string {
	if len(r.Machines) == 1 {
		return r.Machines[0].Name
	}
	return r.Self.Where
}

// weight is the number of a run's clients, as far as it is known.
func (r *Run) weight() float64 {
	n := 0
	for i := range r.Machines {
		n += r.Machines[i].Clients
	}
	return float64(max(n, len(r.Clients), 1))
}

// mean point in time, weighted by clients.
func mean(runs []*Run, of func(*Run) time.Time) time.Time {
	if len(runs) == 0 {
		return time.Time{}
	}
	base := of(runs[0])
	var sum, n float64
	for _, r := range runs {
		sum += float64(of(r).Sub(base)) * r.weight()
		n += r.weight()
	}
	return base.Add(time.Duration(sum / n))
}

// add x, which may be of another machine, to r.
func (r *Row) add(x *Row) {
	r.Counts.Add(&x.Counts)
	r.Sum += x.Sum
	r.Service = join(r.Service, x.Service)
	r.Planned = join(r.Planned, x.Planned)
	for len(r.Seconds) < len(x.Seconds) {
		r.Seconds = append(r.Seconds, Second{})
	}
	for i := range x.Seconds {
		r.Seconds[i].add(&x.Seconds[i])
	}
}

func (s *Second) add(x *Second) {
	s.Counts.Add(&x.Counts)
	s.Sum += x.Sum
	s.Service = join(s.Service, x.Service)
}

// add x of the named machine to s; limits are the reasons known so far.
func (s *Self) add(x *Self, name string, limits []string) []string {
	s.CPU += x.CPU
	s.Cores += x.Cores
	s.Loops += x.Loops
	if x.Busiest > s.Busiest {
		s.Busiest, s.Where = x.Busiest, name
	}
	s.Late = join(s.Late, x.Late)
	if x.Limit == "" {
		return limits
	}
	limit := x.Limit
	if name != "" {
		limit = name + ": " + limit
	}
	if !slices.Contains(limits, limit) {
		limits = append(limits, limit)
	}
	return limits
}

// CombineSnapshots adds up the snapshots of machines that share a load, which have the same rows. Elapsed and
// Busiest are the highest of them.
func CombineSnapshots(list []*Snapshot) *Snapshot {
	out := &Snapshot{}
	for i, s := range list {
		if i == 0 || s.Elapsed > out.Elapsed {
			out.Elapsed = s.Elapsed
		}
		for len(out.Second) < len(s.Second) {
			out.Second = append(out.Second, Second{})
		}
		for i := range s.Second {
			out.Second[i].add(&s.Second[i])
		}
		for len(out.Total) < len(s.Total) {
			out.Total = append(out.Total, Counts{})
		}
		for i := range s.Total {
			out.Total[i].Add(&s.Total[i])
		}
		out.Sum += s.Sum
		out.Service = join(out.Service, s.Service)
		out.Clients += s.Clients
		out.ConnErrors += s.ConnErrors
		out.Busiest = max(out.Busiest, s.Busiest)
	}
	if out.Service == nil {
		out.Service = NewHistogram()
	}
	return out
}

// join adds b to a and returns the sum, which is a if that has room for b, and never b. Histograms of the same lowest value
// and digits have the same steps, so that their sum is exact; the histogram of a second goes up to its highest latency only,
// so the sum goes as far as the longer one. Of different steps the finer are taken.
func join(a, b *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	switch {
	case b == nil:
		return a
	case a == nil:
		return clone(b)
	}
	low := min(a.LowestTrackableValue(), b.LowestTrackableValue())
	high := max(a.HighestTrackableValue(), b.HighestTrackableValue())
	fine := max(a.SignificantFigures(), b.SignificantFigures())
	if low != a.LowestTrackableValue() || high != a.HighestTrackableValue() || fine != a.SignificantFigures() {
		sum := hdrhistogram.New(low, high, int(fine))
		sum.Merge(a)
		a = sum
	}
	a.Merge(b)
	return a
}

func clone(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	if h == nil {
		return nil
	}
	return h.Clone()
}
