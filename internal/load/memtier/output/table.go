package output

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"
)

// Text writes the tables.
func Text(w io.Writer, rep *Report) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "%-9d Threads\n%-9d Connections per thread\n", rep.Threads, rep.ClientsPerThread)
	if rep.Seconds > 0 {
		fmt.Fprintf(b, "%-9d Seconds\n", rep.Seconds)
	} else {
		fmt.Fprintf(b, "%-9d Requests per client\n", rep.RequestsPerClient)
	}
	sections := rep.sections()
	for i := range sections {
		rep.table(b, &sections[i])
		if !rep.HideHistogram {
			rep.ladders(b, &sections[i])
		}
	}
	if v := rep.Verified; v != nil {
		fmt.Fprintf(b, "\n\nPerforming data verification...\nData verification completed:\n")
		fmt.Fprintf(b, "%-10d keys verified successfuly.\n%-10d keys failed.\n", v.Good, v.Failed)
	}
	return b.Flush()
}

const none = "---"

// column of a table. Its width counts the space that ends it.
type column struct {
	head  string
	width int
	cell  func(r *row) string
}

func (rep *Report) columns(s *section) []column {
	wide := 6
	if rep.Commands {
		for i := range s.rows {
			wide = max(wide, len(s.rows[i].key))
		}
	}
	rate := func(get func(r *row) float64) func(*row) string {
		return func(r *row) string { return fmt.Sprintf("%.2f", finite(get(r))) }
	}
	// keyed are cells of rows that look keys up
	keyed := func(get func(r *row) float64) func(*row) string {
		return func(r *row) string {
			if r.key == "GET" || r.key == "Totals" {
				return rate(get)(r)
			}
			return none
		}
	}
	// waits have --- where nothing is sent to a shard or counted in bytes
	notWait := func(get func(r *row) float64) func(*row) string {
		return func(r *row) string {
			if r.key == "WAIT" && !rep.Commands {
				return none
			}
			return rate(get)(r)
		}
	}
	latency := func(get func(r *row) float64) func(*row) string {
		return func(r *row) string {
			if r.Count == 0 {
				return none
			}
			return fmt.Sprintf("%.5f", finite(get(r)))
		}
	}
	cols := []column{
		{"Type", wide + 2, func(r *row) string { return r.title }},
		{"Ops/sec", 13, rate(func(r *row) float64 { return r.ops })},
	}
	if !rep.Commands {
		cols = append(cols,
			column{"Hits/sec", 13, keyed(func(r *row) float64 { return r.hits })},
			column{"Misses/sec", 13, keyed(func(r *row) float64 { return r.misses })})
	}
	if rep.Cluster {
		cols = append(cols,
			column{"MOVED/sec", 13, notWait(func(r *row) float64 { return r.moved })},
			column{"ASK/sec", 13, notWait(func(r *row) float64 { return r.ask })})
	}
	cols = append(cols, column{"Avg. Latency", 16, latency(func(r *row) float64 { return average(r.Sum, r.Count) })})
	for _, p := range rep.percentiles() {
		cols = append(cols, column{label(p) + " Latency", max(16, len(label(p))+9), latency(func(r *row) float64 { return at(r.Service, p) })})
	}
	return append(cols, column{"KB/sec", 13, notWait(func(r *row) float64 { return r.kb() })})
}

// table of a section.
func (rep *Report) table(w *bufio.Writer, s *section) {
	cols := rep.columns(s)
	width := 0
	for _, c := range cols {
		width += c.width
	}
	line := func(cell func(c *column) string) {
		for i := range cols {
			if c := &cols[i]; i == 0 {
				fmt.Fprintf(w, "%-*s ", c.width-1, cell(c))
			} else {
				fmt.Fprintf(w, "%*s ", c.width-1, cell(c))
			}
		}
		w.WriteByte('\n')
	}
	fmt.Fprintf(w, "\n\n%s\n%s\n", s.title, strings.Repeat("=", width))
	line(func(c *column) string { return c.head })
	fmt.Fprintln(w, strings.Repeat("-", width))
	for i := range s.rows {
		line(func(c *column) string { return c.cell(&s.rows[i]) })
	}
	line(func(c *column) string { return c.cell(&s.total) })
}

// ladders of a section: which latency which share of the requests stays under.
func (rep *Report) ladders(w *bufio.Writer, s *section) {
	fmt.Fprintf(w, "\n\nRequest Latency Distribution\nType     <= msec         Percent\n%s\n", strings.Repeat("-", 72))
	for i := range s.rows {
		for _, x := range ladder(s.rows[i].Service) {
			fmt.Fprintf(w, "%-6s %8.3f %12.3f\n", s.rows[i].key, ms(x.ValueAt), x.Quantile)
		}
		if rep.Commands || i < len(s.rows)-1 {
			fmt.Fprintln(w, none)
		}
	}
}

// ticks of a ladder on each halving of the distance to 100 %.
const ticks = 10

func ladder(h *hdrhistogram.Histogram) []hdrhistogram.Bracket {
	if h == nil {
		return []hdrhistogram.Bracket{{Quantile: 100}}
	}
	return h.CumulativeDistributionWithTicks(ticks)
}

// at is the latency in ms at a percentile; 0 if there is none.
func at(h *hdrhistogram.Histogram, percentile float64) float64 {
	if h == nil {
		return 0
	}
	return ms(h.ValueAtPercentile(percentile))
}

// label of a percentile in a table: p50, p99.9, p99.990.
func label(p float64) string {
	switch {
	case p == math.Trunc(p):
		return fmt.Sprintf("p%.0f", p)
	case exact(p, 1):
		return fmt.Sprintf("p%.1f", p)
	case exact(p, 3):
		return fmt.Sprintf("p%.3f", p)
	}
	return fmt.Sprintf("p%v", p)
}

func finite(x float64) float64 {
	if math.IsNaN(x) || math.IsInf(x, 0) {
		return 0
	}
	return x
}
