package ycsb

import (
	"fmt"
	"io"
	"strings"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load/result"
)

// statusLine prints what happened, once an interval.
type statusLine struct {
	*settings
	rows    *rows
	w       io.Writer
	planned uint64 // operations to come; 0: not known
	seconds int    // in the present interval
	done    uint64 // operations up to the last line
	sums    []result.Second
}

func newStatusLine(s *settings, rs *rows, w io.Writer) *statusLine {
	return &statusLine{settings: s, rows: rs, w: w, planned: s.planned(), sums: make([]result.Second, len(rs.list))}
}

// watch takes a second.
func (l *statusLine) watch(s *result.Snapshot) {
	if s.Elapsed <= 0 {
		return
	}
	for i := range s.Second {
		to, from := &l.sums[i], &s.Second[i]
		to.Counts.Add(&from.Counts)
		to.Sum += from.Sum
		if from.Service != nil {
			if to.Service == nil {
				to.Service = result.NewHistogram()
			}
			to.Service.Merge(from.Service)
		}
	}
	l.seconds++
	if l.seconds < int(l.interval/time.Second) {
		return
	}
	l.print(time.Now(), s)
	l.seconds = 0
	clear(l.sums)
}

func (l *statusLine) print(now time.Time, s *result.Snapshot) {
	var total uint64
	for i, r := range l.rows.list {
		if r.op <= opRMW {
			total += s.Total[i].Count
		}
	}
	var b strings.Builder
	b.WriteString(l.label)
	fmt.Fprintf(&b, "%s %d sec: %d operations; ", stamp(now), s.Elapsed/time.Second, total)
	rate := float64(total-l.done) / float64(l.seconds)
	fmt.Fprintf(&b, "%s current ops/sec; ", short(rate))
	if mean := float64(total) / s.Elapsed.Seconds(); l.planned > total && mean > 0 {
		fmt.Fprintf(&b, "est completion in %s ", remaining(time.Duration(float64(l.planned-total)/mean*float64(time.Second))))
	}
	l.done = total
	seen := map[string]bool{}
	for _, r := range l.rows.list {
		if r.op == ops || seen[r.section] {
			continue
		}
		seen[r.section] = true
		l.section(&b, r.section)
	}
	b.WriteByte('\n')
	io.WriteString(l.w, b.String())
}

// section of the interval.
func (l *statusLine) section(b *strings.Builder, name string) {
	var sum result.Second
	for i, r := range l.rows.list {
		if x := &l.sums[i]; r.section == name && x.Count > 0 && x.Service != nil {
			sum.Sum += x.Sum
			if sum.Service == nil {
				sum.Service = hdrhistogram.Import(x.Service.Export())
			} else {
				sum.Service.Merge(x.Service)
			}
		}
	}
	if sum.Service == nil {
		return
	}
	h := sum.Service
	fmt.Fprintf(b, "[%s: Count=%d, Max=%d, Min=%d, Avg=%s", name, h.TotalCount(), micros(h.Max()), micros(h.Min()),
		short(float64(sum.Sum)/float64(h.TotalCount())/1e3))
	for _, p := range []float64{50, 90, 99, 99.9, 99.99} {
		fmt.Fprintf(b, ", %g=%d", p, micros(h.ValueAtPercentile(p)))
	}
	b.WriteString("] ")
}

// stamp is a time as YCSB writes it.
func stamp(t time.Time) string {
	return strings.Replace(t.Format("2006-01-02 15:04:05.000"), ".", ":", 1)
}

// short has at most two decimals.
func short(f float64) string {
	s := fmt.Sprintf("%.2f", f)
	return strings.TrimSuffix(strings.TrimRight(s, "0"), ".")
}

// remaining is a duration in YCSB's words.
func remaining(d time.Duration) string {
	d = d.Round(time.Second)
	days, hours, minutes, seconds := d/(24*time.Hour), d/time.Hour%24, d/time.Minute%60, d/time.Second%60
	plural := func(n time.Duration, word string) string {
		if n == 1 {
			return "1 " + word
		}
		return fmt.Sprintf("%d %ss", n, word)
	}
	switch {
	case days > 0:
		return plural(days, "day") + " " + plural(hours, "hour")
	case hours > 0:
		return plural(hours, "hour") + " " + plural(minutes, "minute")
	case minutes > 0:
		return plural(minutes, "minute") + " " + plural(max(seconds, 1), "second")
	}
	return plural(max(seconds, 1), "second")
}

// operations are what of a load under way the progress shows: operations of several requests as one, without their parts.
type operations struct {
	at      []int // rows
	names   []string
	sum     int64
	service *hdrhistogram.Histogram // of all so far
}

func newOperations(rs *rows) *operations {
	o := &operations{service: result.NewHistogram()}
	for i, r := range rs.list {
		if r.op <= opRMW {
			o.at, o.names = append(o.at, i), append(o.names, r.section)
		}
	}
	return o
}

// pick is a face.Load.Pick.
func (o *operations) pick(s *result.Snapshot) *result.Snapshot {
	p := *s
	p.Second, p.Total = nil, nil
	for _, i := range o.at {
		p.Total = append(p.Total, s.Total[i])
		if len(s.Second) == 0 { // nothing was answered in it
			continue
		}
		x := s.Second[i]
		if p.Second = append(p.Second, x); x.Service != nil {
			o.service.Merge(x.Service)
		}
		o.sum += x.Sum
	}
	p.Sum, p.Service = o.sum, o.service
	return &p
}
