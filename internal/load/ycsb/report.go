package ycsb

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/face"
	"godwit/internal/load/result"
)

// section of the output: what was measured of one kind of operation.
type section struct {
	name     string
	row      result.Row
	returns  [outcomes]uint64 // how the operations ended; only in the section of those that went well
	intended bool             // latencies from when operations were planned
}

// latencies are those that the section is about; never nil.
func (s *section) latencies() *hdrhistogram.Histogram {
	h := s.row.Service
	if s.intended {
		h = s.row.Planned
	}
	if h == nil {
		h = result.NewHistogram()
	}
	return h
}

// average latency in µs.
func (s *section) average() float64 {
	h := s.latencies()
	switch {
	case h.TotalCount() == 0:
		return 0
	case s.intended:
		return h.Mean() / 1e3
	}
	return float64(s.row.Sum) / float64(h.TotalCount()) / 1e3
}

// percentile in whole µs.
func (s *section) percentile(p float64) int64 { return micros(s.latencies().ValueAtPercentile(p)) }

// micros are whole µs of ns. Rounding up and down evens out that a histogram knows a value to three digits only.
func micros(ns int64) int64 { return (ns + 500) / 1000 }

// summary is a result in YCSB's terms.
type summary struct {
	*settings
	run        *result.Run
	sections   []section
	operations uint64 // a read-modify-write is one
	failures   uint64
	sent       uint64 // requests that were answered
	verified   uint64 // reads whose data was looked at
	wrong      uint64 // and found to be other than was written
	server     *face.Observed
	machines   *face.Machines
}

// summarize sorts the rows of a result into sections, without intended latencies.
func (s *settings) summarize(rs *rows, r *result.Run) *summary {
	m := &summary{settings: s, run: r}
	at := map[string]int{}
	for i, row := range rs.list {
		x := &r.Rows[i]
		if row.op < ops {
			m.tally(row, x)
		} else {
			m.sent += x.Count
			if !s.requests {
				continue
			}
		}
		k, ok := at[row.section]
		if !ok {
			k = len(m.sections)
			at[row.section] = k
			m.sections = append(m.sections, section{name: row.section})
		}
		sec := &m.sections[k]
		sec.row = result.Merge(row.section, []result.Row{sec.row, *x})
		if row.op == ops {
			sec.returns[fine] += x.Count - x.Errors()
			sec.returns[failed] += x.Errors()
			continue
		}
		base := &m.sections[at[sections[row.op]]] // made by now: outcome fine comes first
		for o, n := range split(row.outcome, x) {
			base.returns[o] += n
		}
	}
	m.sections = slices.DeleteFunc(m.sections, func(sec section) bool {
		return sec.row.Count == 0 && sec.returns == [outcomes]uint64{}
	})
	return m
}

// tally counts a row of operations.
func (m *summary) tally(row row, x *result.Row) {
	if row.op != opRMWRead && row.op != opRMWUpdate {
		m.operations += x.Count
		if row.outcome != fine {
			m.failures += x.Count
		}
	}
	if x.TX > 0 { // operations of several requests have no bytes of their own
		m.sent += x.Count
	}
	if m.integrity && (row.op == opRead || row.op == opRMWRead) {
		m.verified += x.Hits
		m.wrong += x.Statuses[load.Mismatch]
	}
}

// split says how the operations of a row ended. A row can be that of several kinds of failure.
func split(o outcome, x *result.Row) (n [outcomes]uint64) {
	if o == fine {
		n[notFound] = x.Misses // with missesfail=false
		n[fine] = x.Count - x.Misses
		return n
	}
	n[notFound] = x.Misses
	n[unexpected] = x.Statuses[load.Mismatch]
	n[failed] = x.Count - n[notFound] - n[unexpected]
	return n
}

// listed are the sections in the order of the output, with those of intended latencies if they are wanted or always is set.
func (m *summary) listed(always bool) []section {
	var out []section
	for _, sec := range m.sections {
		planned := sec
		planned.name, planned.intended, planned.returns = "Intended-"+sec.name, true, [outcomes]uint64{}
		has := sec.row.Planned != nil && m.target > 0
		switch {
		case !has || m.intended == "op" && !always:
			out = append(out, sec)
		case m.intended == "intended" && !always:
			out = append(out, planned)
		default:
			out = append(out, sec, planned)
		}
	}
	return out
}

// exporter writes one number.
type exporter func(metric, measurement string, value any)

// export writes the result as YCSB does.
func (m *summary) export(w exporter, always bool) {
	ms := m.run.Duration().Milliseconds()
	w("OVERALL", "RunTime(ms)", ms)
	w("OVERALL", "Throughput(ops/sec)", m.rate())
	for _, sec := range m.listed(always) {
		m.exportSection(w, &sec)
	}
	if m.verified+m.wrong > 0 {
		w("VERIFY", "Operations", int64(m.verified))
		w("VERIFY", "Return="+returns[fine], int64(m.verified-m.wrong))
		if m.wrong > 0 {
			w("VERIFY", "Return="+returns[unexpected], int64(m.wrong))
		}
	}
}

// rate is operations per second.
func (m *summary) rate() float64 {
	if d := m.run.Duration().Seconds(); d > 0 {
		return float64(m.operations) / d
	}
	return 0
}

func (m *summary) exportSection(w exporter, sec *section) {
	h := sec.latencies()
	w(sec.name, "Operations", h.TotalCount())
	w(sec.name, "AverageLatency(us)", sec.average())
	if m.measure == "timeseries" {
		m.exportSeries(w, sec)
		return
	}
	w(sec.name, "MinLatency(us)", micros(h.Min()))
	w(sec.name, "MaxLatency(us)", micros(h.Max()))
	if m.measure == "histogram" {
		for _, p := range []float64{95, 99} {
			w(sec.name, ordinal(p)+"PercentileLatency(us)", sec.percentile(p))
		}
	} else {
		for _, p := range m.percentiles {
			w(sec.name, ordinal(p)+"PercentileLatency(us)", sec.percentile(p))
		}
	}
	for o, n := range sec.returns {
		if n > 0 {
			w(sec.name, "Return="+returns[o], int64(n))
		}
	}
	if m.measure == "histogram" || m.measure == "hdrhistogram+histogram" {
		m.exportBuckets(w, sec)
	}
	if m.verbose {
		for _, b := range h.Distribution() {
			if b.Count > 0 {
				w(sec.name, strconv.FormatInt(micros(b.To), 10), b.Count)
			}
		}
	}
}

// exportBuckets writes how many operations took how many ms.
func (m *summary) exportBuckets(w exporter, sec *section) {
	counts := make([]int64, m.buckets+1)
	for _, b := range sec.latencies().Distribution() {
		counts[min(b.To/1e6, int64(m.buckets))] += b.Count
	}
	for ms, n := range counts[:m.buckets] {
		w(sec.name, strconv.Itoa(ms), n)
	}
	w(sec.name, ">"+strconv.Itoa(m.buckets), counts[m.buckets])
}

// exportSeries writes the average latency of each interval, by its begin in ms.
func (m *summary) exportSeries(w exporter, sec *section) {
	step := max(1, m.granularity/1000)
	for from := 0; from < len(sec.row.Seconds); from += step {
		var n uint64
		var sum int64
		for _, s := range sec.row.Seconds[from:min(from+step, len(sec.row.Seconds))] {
			n += s.Count
			sum += s.Sum
		}
		if n > 0 {
			w(sec.name, strconv.Itoa(from*1000), float64(sum)/float64(n)/1e3)
		}
	}
}

// ordinal is 1st, 2nd, 99th, 99.9.
func ordinal(p float64) string {
	if p != math.Trunc(p) {
		return strconv.FormatFloat(p, 'f', -1, 64)
	}
	n := int(p)
	suffix := "th"
	if n%100 < 11 || n%100 > 13 {
		switch n % 10 {
		case 1:
			suffix = "st"
		case 2:
			suffix = "nd"
		case 3:
			suffix = "rd"
		}
	}
	return strconv.Itoa(n) + suffix
}

// textExporter writes [metric], measurement, value.
func textExporter(w io.Writer) exporter {
	return func(metric, measurement string, value any) {
		fmt.Fprintf(w, "[%s], %s, %s\n", metric, measurement, number(value))
	}
}

// number has floating point numbers with a point, as Java does.
func number(value any) string {
	f, ok := value.(float64)
	if !ok {
		return fmt.Sprint(value)
	}
	s := strconv.FormatFloat(f, 'f', -1, 64)
	if !strings.Contains(s, ".") {
		s += ".0"
	}
	return s
}

// entry is a number in JSON.
type entry struct {
	Metric      string          `json:"metric"`
	Measurement string          `json:"measurement"`
	Value       json.RawMessage `json:"value"`
}

// print writes the result in the wanted form.
func (m *summary) print(w io.Writer) {
	switch {
	case m.style != "":
		m.printGo(w)
	case m.exporter == "text":
		m.export(textExporter(w), false)
	default:
		var all []entry
		m.export(func(metric, measurement string, value any) {
			all = append(all, entry{metric, measurement, json.RawMessage(number(value))})
		}, true)
		all = append(all, m.observed()...)
		if m.exporter == "jsonarray" {
			b, _ := json.MarshalIndent(all, "", "  ")
			fmt.Fprintf(w, "%s\n", b)
			return
		}
		for _, e := range all {
			b, _ := json.MarshalIndent(e, "", "  ")
			fmt.Fprintf(w, "%s\n", b)
		}
	}
}

// observed is what the servers counted, and which machines shared the load. Its values are no numbers.
func (m *summary) observed() (list []entry) {
	add := func(metric, measurement string, value any) {
		if b, err := json.Marshal(value); err == nil {
			list = append(list, entry{metric, measurement, b})
		}
	}
	if s := m.server; s != nil && s.Problem != "" {
		add("server", "problem", s.Problem)
	} else if s != nil {
		add("server", "counters", s.Counters)
		add("server", "findings", s.Findings)
	}
	if m.machines != nil {
		add("machines", "machines", m.machines)
	}
	return list
}

// columns of go-ycsb.
var columns = []string{"Operation", "Takes(s)", "Count", "OPS", "Avg(us)", "Min(us)", "Max(us)", "50th(us)", "90th(us)",
	"95th(us)", "99th(us)", "99.9th(us)", "99.99th(us)"}

// printGo writes the result as go-ycsb does.
func (m *summary) printGo(w io.Writer) {
	seconds := m.run.Duration().Seconds()
	var lines [][]string
	add := func(sec *section) {
		h := sec.latencies()
		rate := 0.0
		if seconds > 0 {
			rate = float64(h.TotalCount()) / seconds
		}
		l := []string{sec.name, fmt.Sprintf("%.1f", seconds), fmt.Sprint(h.TotalCount()), fmt.Sprintf("%.1f", rate),
			fmt.Sprintf("%.0f", sec.average()), fmt.Sprint(micros(h.Min())), fmt.Sprint(micros(h.Max()))}
		for _, p := range []float64{50, 90, 95, 99, 99.9, 99.99} {
			l = append(l, fmt.Sprint(sec.percentile(p)))
		}
		lines = append(lines, l)
	}
	listed := m.listed(m.style == "json")
	for _, sec := range listed {
		// go-ycsb's word
		for _, suffix := range []string{"-FAILED", "-NOT_FOUND", "-UNEXPECTED_STATE"} {
			sec.name = strings.Replace(sec.name, suffix, "_ERROR", 1)
		}
		sec.name = strings.ReplaceAll(sec.name, "READ-MODIFY-WRITE", "READ_MODIFY_WRITE")
		add(&sec)
	}
	total := m.total()
	add(&total)
	if m.style == "json" {
		out := make([]map[string]string, len(lines))
		for i, l := range lines {
			out[i] = map[string]string{}
			for c, name := range columns {
				out[i][name] = l[c]
			}
		}
		b, _ := json.Marshal(out)
		fmt.Fprintf(w, "%s\n", b)
		return
	}
	fmt.Fprintf(w, "Run finished, takes %s\n", m.run.Duration())
	if m.style == "plain" {
		for _, l := range lines {
			fmt.Fprintf(w, "%-6s - ", l[0])
			for i, name := range columns[1:] {
				if i > 0 {
					fmt.Fprint(w, ", ")
				}
				fmt.Fprintf(w, "%s: %s", name, l[i+1])
			}
			fmt.Fprintln(w)
		}
		return
	}
	printTable(w, columns, lines)
}

// total of all operations that went well.
func (m *summary) total() section {
	var all []result.Row
	for _, sec := range m.sections {
		if slices.Contains(sections[:opRMW], sec.name) {
			all = append(all, sec.row)
		}
	}
	return section{name: "TOTAL", row: result.Merge("TOTAL", all)}
}

// printTable draws a table with lines around its cells.
func printTable(w io.Writer, head []string, lines [][]string) {
	width := make([]int, len(head))
	for i, h := range head {
		width[i] = len(h)
		for _, l := range lines {
			width[i] = max(width[i], len(l[i]))
		}
	}
	rule := "+"
	for _, n := range width {
		rule += strings.Repeat("-", n+2) + "+"
	}
	fmt.Fprintln(w, rule)
	for i, l := range append([][]string{head}, lines...) {
		fmt.Fprint(w, "|")
		for c, cell := range l {
			switch {
			case i == 0:
				left := (width[c] - len(cell)) / 2
				fmt.Fprintf(w, " %s%s%s |", strings.Repeat(" ", left), strings.ToUpper(cell), strings.Repeat(" ", width[c]-len(cell)-left))
			case c == 0:
				fmt.Fprintf(w, " %-*s |", width[c], cell)
			default:
				fmt.Fprintf(w, " %*s |", width[c], cell)
			}
		}
		fmt.Fprintln(w)
		if i == 0 {
			fmt.Fprintln(w, rule)
		}
	}
	fmt.Fprintln(w, rule)
}
