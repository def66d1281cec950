package output

import (
	"bufio"
	"bytes"
	"encoding/base64"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// JSON writes the file of --json-out-file.
func JSON(w io.Writer, rep *Report) error {
	j := &writer{w: bufio.NewWriter(w)}
	j.enter('{')
	j.open("configuration", '{')
	for _, s := range rep.Config {
		j.raw(s.Name, s.json())
	}
	j.close('}')
	j.open("run information", '{')
	j.int("Threads", int64(rep.Threads))
	j.int("Connections per thread", int64(rep.ClientsPerThread))
	if rep.Seconds > 0 {
		j.int("Seconds", int64(rep.Seconds))
	} else {
		j.uint("Requests per client", rep.RequestsPerClient)
	}
	j.int("Format version", 2)
	j.close('}')
	sections := rep.sections()
	for i := range sections {
		j.section(rep, &sections[i])
	}
	if v := rep.Verified; v != nil {
		j.open("client verifications results", '{')
		j.raw("keys verified successfuly", fmt.Sprintf("%-10d", v.Good))
		j.raw("keys failed", fmt.Sprintf("%-10d", v.Failed))
		j.close('}')
	}
	if len(rep.Servers) > 0 {
		j.raw("Server", "["+string(bytes.Join(rep.Servers, []byte(", ")))+"]")
	}
	j.close('}')
	j.w.WriteByte('\n')
	return j.w.Flush()
}

func (j *writer) section(rep *Report, s *section) {
	j.open(s.title, '{')
	j.runtime(s)
	for i := range s.rows {
		j.row(rep, s, &s.rows[i])
	}
	j.row(rep, s, &s.total)
	if rep.ActiveClients != nil {
		j.open("Active Clients", '{')
		for sec, n := range rep.ActiveClients {
			j.open(strconv.Itoa(sec), '{')
			j.int("Clients per thread", int64(n))
			j.int("Total clients", int64(n*rep.Threads))
			j.close('}')
		}
		j.close('}')
	}
	if !rep.HideHistogram {
		for i := range s.rows {
			j.open(s.rows[i].key, '[')
			for _, x := range ladder(s.rows[i].Service) {
				j.element('{')
				j.float("<=msec", ms(x.ValueAt), 5)
				j.float("percent", x.Quantile, 3)
				j.close('}')
			}
			j.close(']')
		}
	}
	j.errors(s)
	j.client(rep, s)
	if s.average {
		j.open("Averages", '{')
		j.int("Runs", int64(len(s.runs)))
		j.str("Counts", "sum of the runs")
		j.str("Rates", "arithmetic mean of the runs")
		j.str("Latencies", "all requests of all runs, histograms added")
		j.str("Time-Serie", "sum of the runs, by second")
		j.close('}')
	}
	j.close('}')
}

func (j *writer) runtime(s *section) {
	first, last := s.runs[0], s.runs[len(s.runs)-1]
	var whole, rated float64
	interrupted := false
	for _, run := range s.runs {
		whole += (span{run.Start, run.End}).seconds()
		rated += window(run).seconds()
		interrupted = interrupted || run.Interrupted
	}
	j.open("Runtime", '{')
	j.int("Start time", millis(first.Start.UnixMilli()))
	j.int("Finish time", millis(last.End.UnixMilli()))
	j.int("Total duration", int64(math.Round(whole*1000)))
	j.str("Time unit", "MILLISECONDS")
	j.str("Interrupted", strconv.FormatBool(interrupted))
	if !s.average {
		w := window(first)
		j.window("Rate window", w, s.total.Count)
		j.window("Whole window", span{first.Start, first.End}, s.total.Count)
	}
	j.close('}')
}

// millis since the epoch; that of no time is 0.
func millis(t int64) int64 { return max(0, t) }

func (j *writer) window(name string, s span, ops uint64) {
	j.open(name, '{')
	j.int("Start time", millis(s.from.UnixMilli()))
	j.int("Finish time", millis(s.to.UnixMilli()))
	j.float("Seconds", s.seconds(), 6)
	j.float("Ops/sec", perSecond(&result.Counts{Count: ops}, s.seconds()).ops, 2)
	j.close('}')
}

func (j *writer) row(rep *Report, s *section, r *row) {
	j.open(r.title, '{')
	j.uint("Count", r.Count)
	j.float("Ops/sec", r.ops, 2)
	j.float("Hits/sec", r.hits, 2)
	j.float("Misses/sec", r.misses, 2)
	if rep.Cluster {
		j.float("MOVED/sec", r.moved, 2)
		j.float("ASK/sec", r.ask, 2)
	}
	j.float("Connection Errors/sec", r.rates.conn, 2)
	j.uint("Connection Errors", r.conn)
	j.float("Latency", average(r.Sum, r.Count), 5)
	j.latencies(r.Sum, r.Count, r.Service)
	j.float("KB/sec", r.kb(), 2)
	j.float("KB/sec RX/TX", r.kb(), 2)
	j.float("KB/sec RX", r.rx/1024, 2)
	j.float("KB/sec TX", r.tx/1024, 2)
	j.open("Time-Serie", '{')
	for i := range s.spans {
		j.open(strconv.Itoa(i), '{')
		var x result.Second
		if i < len(r.Seconds) {
			x = r.Seconds[i]
		}
		j.uint("Bytes RX", x.RX)
		j.uint("Bytes TX", x.TX)
		j.uint("Count", x.Count)
		if x.Count > 0 {
			j.latencies(x.Sum, x.Count, x.Service)
			j.percentiles(rep, x.Service, 2)
		}
		if e := x.Errors(); e > 0 {
			j.uint("Errors", e)
		}
		if s.spans[i] != 1 {
			j.float("Seconds", s.spans[i], 6)
		}
		j.close('}')
	}
	j.close('}')
	j.open("Percentile Latencies", '{')
	j.percentiles(rep, r.Service, 3)
	j.log(r.Service)
	j.close('}')
	j.uint("Errors", r.Errors())
	j.uint("Declined", r.Statuses[load.NotStored])
	if r.Planned != nil {
		j.open("Planned Latencies", '{')
		j.float("Average Latency", r.Planned.Mean()/1e6, 5)
		j.float("Min Latency", ms(r.Planned.Min()), 5)
		j.float("Max Latency", ms(r.Planned.Max()), 5)
		j.percentiles(rep, r.Planned, 3)
		j.log(r.Planned)
		j.close('}')
	}
	j.close('}')
}

func (j *writer) latencies(sum int64, count uint64, h *hdrhistogram.Histogram) {
	j.float("Average Latency", average(sum, count), 5)
	j.float("Accumulated Latency", ms(sum), 3)
	least, most := int64(0), int64(0)
	if h != nil && h.TotalCount() > 0 {
		least, most = h.Min(), h.Max()
	}
	j.float("Min Latency", ms(least), 5)
	j.float("Max Latency", ms(most), 5)
}

// percentiles in ascending order, each once.
func (j *writer) percentiles(rep *Report, h *hdrhistogram.Histogram, decimals int) {
	list := slices.Clone(rep.percentiles())
	slices.Sort(list)
	for _, p := range slices.Compact(list) {
		j.float(key(p, decimals), at(h, p), 5)
	}
}

// key of a percentile in JSON: p and five characters (p50.00, p7.500, p100.0), all digits if that would be another number.
func key(p float64, decimals int) string {
	s := strconv.FormatFloat(p, 'f', decimals, 64)
	if s = s[:min(len(s), 5)]; !same(s, p) {
		s = strconv.FormatFloat(p, 'f', -1, 64)
	}
	return "p" + s
}

func same(s string, p float64) bool {
	x, err := strconv.ParseFloat(s, 64)
	return err == nil && x == p
}

// exact says whether p has no more decimals than so many.
func exact(p float64, decimals int) bool { return same(strconv.FormatFloat(p, 'f', decimals, 64), p) }

// log is the histogram in µs, as tools for HDR histograms read it.
func (j *writer) log(h *hdrhistogram.Histogram) {
	j.open("Histogram log format", '{')
	j.str("Compressed Histogram", compressed(h))
	j.close('}')
}

func (j *writer) errors(s *section) {
	var lost, conn, again uint64
	texts := map[string]uint64{}
	for _, run := range s.runs {
		lost += run.Lost
		conn += run.ConnErrors
		again += run.Reconnects
		for _, t := range run.Texts {
			texts[clean(t.Text)] += t.N
		}
	}
	t := &s.total
	j.open("Errors", '{')
	j.uint("Failed", t.Statuses[load.Failed])
	j.uint("Mismatched", t.Statuses[load.Mismatch])
	j.uint("Declined", t.Statuses[load.NotStored])
	j.uint("Moved", t.Statuses[load.Moved])
	j.uint("Ask", t.Statuses[load.Ask])
	j.uint("Lost", lost)
	j.uint("Connection Errors", conn)
	j.uint("Reconnects", again)
	j.open("Texts", '{')
	list := make([]string, 0, len(texts))
	for text := range texts {
		list = append(list, text)
	}
	slices.SortFunc(list, func(a, b string) int {
		if texts[a] != texts[b] {
			if texts[a] > texts[b] {
				return -1
			}
			return 1
		}
		return strings.Compare(a, b)
	})
	for _, text := range list {
		j.uint(text, texts[text])
	}
	j.close('}')
	j.close('}')
}

// client is what the generator knows of itself.
func (j *writer) client(rep *Report, s *section) {
	var cpu, whole, busiest float64
	var late *hdrhistogram.Histogram
	var cores, loops int
	var limits []string
	for _, run := range s.runs {
		me := &run.Self
		cpu += me.CPU.Seconds()
		whole += (span{run.Start, run.End}).seconds()
		busiest = max(busiest, finite(me.Busiest))
		cores, loops = max(cores, me.Cores), max(loops, me.Loops)
		if me.Late != nil {
			if late == nil {
				late = result.NewHistogram()
			}
			late.Merge(me.Late)
		}
		if me.Limit != "" && !slices.Contains(limits, me.Limit) {
			limits = append(limits, me.Limit)
		}
	}
	j.open("Client", '{')
	j.float("CPU Seconds", cpu, 3)
	if whole > 0 {
		j.float("CPU Cores Used", cpu/whole, 3)
	} else {
		j.float("CPU Cores Used", 0, 3)
	}
	j.int("Cores", int64(cores))
	j.int("Loops", int64(loops))
	j.float("Busiest Loop", busiest, 3)
	if late != nil {
		j.open("Lateness", '{')
		j.float("Average Latency", late.Mean()/1e6, 5)
		j.float("Max Latency", ms(late.Max()), 5)
		j.percentiles(rep, late, 3)
		j.close('}')
	}
	if len(limits) == 0 {
		j.raw("Limit", "null")
	} else {
		j.str("Limit", strings.Join(limits, "; "))
	}
	j.close('}')
}

// micro is a histogram of latencies in ns as one in µs.
func micro(h *hdrhistogram.Histogram) *hdrhistogram.Histogram {
	m := hdrhistogram.New(1, 600e6, 3)
	if h != nil {
		for _, b := range h.Distribution() {
			if b.Count > 0 {
				m.RecordValues(min((b.From+b.To+1000)/2000, 600e6), b.Count) // its middle
			}
		}
	}
	return m
}

// compressed is a histogram in ns as the V2 payload of one in µs, base64.
func compressed(h *hdrhistogram.Histogram) string {
	text, err := micro(h).Encode(hdrhistogram.V2CompressedEncodingCookieBase)
	if err != nil { // it is an encoding into memory
		return base64.StdEncoding.EncodeToString(nil)
	}
	return string(text)
}

// writer writes JSON in the layout of memtier_benchmark: one member a line, commas at the front, an end as far in as what
// it ends.
type writer struct {
	w    *bufio.Writer
	deep int
	more bool // the object or array has a member
}

// member begins one of an object or array.
func (j *writer) member() {
	j.w.WriteByte('\n')
	j.tabs()
	if j.more {
		j.w.WriteByte(',')
	}
	j.more = true
}

func (j *writer) name(name string) {
	j.member()
	j.w.WriteString(quote(name))
	j.w.WriteByte(':')
}

func (j *writer) tabs() {
	for range j.deep {
		j.w.WriteByte('\t')
	}
}

func (j *writer) open(name string, bracket byte) {
	j.name(name)
	j.enter(bracket)
}

// element opens one of an array.
func (j *writer) element(bracket byte) {
	j.member()
	j.enter(bracket)
}

func (j *writer) enter(bracket byte) {
	j.w.WriteByte(bracket)
	j.deep++
	j.more = false
}

func (j *writer) close(bracket byte) {
	j.w.WriteByte('\n')
	j.tabs()
	j.w.WriteByte(bracket)
	j.deep--
	j.more = true
}

// raw writes a member of an object.
func (j *writer) raw(name, value string) {
	j.name(name)
	j.w.WriteByte(' ')
	j.w.WriteString(value)
}

func (j *writer) str(name, s string)         { j.raw(name, quote(s)) }
func (j *writer) int(name string, n int64)   { j.raw(name, strconv.FormatInt(n, 10)) }
func (j *writer) uint(name string, n uint64) { j.raw(name, strconv.FormatUint(n, 10)) }

func (j *writer) float(name string, x float64, decimals int) {
	j.raw(name, strconv.FormatFloat(finite(x), 'f', decimals, 64))
}

// clean text is valid UTF-8 and not empty.
func clean(s string) string {
	if s == "" {
		return "(no text)"
	}
	return strings.ToValidUTF8(s, string(utf8.RuneError))
}

// quote a string for JSON.
func quote(s string) string {
	b := []byte{'"'}
	for _, r := range strings.ToValidUTF8(s, string(utf8.RuneError)) {
		switch {
		case r == '"' || r == '\\':
			b = append(b, '\\', byte(r))
		case r < ' ':
			b = fmt.Appendf(b, `\u%04x`, r)
		default:
			b = utf8.AppendRune(b, r)
		}
	}
	return string(append(b, '"'))
}
