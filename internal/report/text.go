package report

import (
	"encoding/csv"
	"fmt"
	"io"
	"strconv"
	"strings"
	"unicode/utf8"

	"godwit/internal/host"
	"godwit/internal/study/raw"
)

// table is a heading and cells.
type table struct {
	head  []string
	cells [][]string
}

func (t *table) add(cells ...string) { t.cells = append(t.cells, cells) }

// dash stands for what is not known.
const dash = "–"

func known(v float64, format string) string {
	if v <= 0 {
		return dash
	}
	return fmt.Sprintf(format, v)
}

// servers is the table of them.
func (r *Report) servers() *table {
	t := &table{head: []string{"server", "version", "runs", "ops/s, median", "interval", "against " + r.baseline(), "verdict", "p50 ms", "p99 ms", "p99.9 ms", "hits", "server µs/op", "client µs/op", "RSS MB"}}
	for _, w := range r.Rows {
		if len(w.Runs) == 0 {
			status := w.Status
			if status == "" {
				status = "not measured"
			}
			t.add(w.Label, version(w), "0", dash, dash, dash, status, dash, dash, dash, dash, dash, dash, dash)
			continue
		}
		interval, ratio, verdict := dash, "1", "baseline"
		if i := w.Ops.Interval; i != nil {
			interval = short(i.Lo) + " to " + short(i.Hi)
		}
		if c := w.Comparison; c != nil {
			ratio, verdict = fmt.Sprintf("%.3f", c.Ratio), c.Verdict.String()
			if c.Interval != nil {
				ratio += fmt.Sprintf(" (%.3f to %.3f)", c.Interval.Lo, c.Interval.Hi)
			}
		} else if w != r.Baseline {
			ratio, verdict = dash, dash
		}
		t.add(w.Label, version(w), strconv.Itoa(w.Ops.N), short(w.Ops.Median), interval, ratio, verdict, known(w.P50, "%.3f"), known(w.P99, "%.3f"),
			known(w.P999, "%.3f"), known(w.Hits*100, "%.1f %%"), known(w.ServerCPU, "%.2f"), known(w.CPU, "%.2f"), known(w.RSS/1e6, "%.0f"))
	}
	return t
}

func version(w *Row) string {
	if w.Version == "" {
		return dash
	}
	return w.Version
}

func (r *Report) baseline() string {
	if r.Baseline == nil {
		return "baseline"
	}
	return r.Baseline.Label
}

// worth is the table of money and energy; nil if nothing is known of them.
func (r *Report) worth() *table {
	t := &table{head: []string{"server", "price an hour", "ops per unit of money", "cost of a million ops", "price-performance", "watts", "ops per joule", "per watt", "sources"}}
	some := false
	for _, w := range r.Rows {
		if len(w.Runs) == 0 || w.Subject.Price == 0 && w.Watts == 0 {
			continue
		}
		some = true
		price, watt := 1.0, 1.0
		if w.Advantage != nil {
			price, watt = w.Advantage.PricePerformance, w.Advantage.PerWatt
		} else if w != r.Baseline {
			price, watt = 0, 0
		}
		if w.Subject.Price == 0 {
			price = 0
		}
		if w.Watts == 0 {
			watt = 0
		}
		sources := strings.Trim(w.Subject.PriceSource+"; "+w.WattsFrom, "; ")
		t.add(w.Label, known(w.Subject.Price, "%g"), known(w.Worth.OpsPerMoney, "%.4g"), known(w.Worth.CostPerMillion, "%.4g"), known(price, "%.3f"),
			known(w.Watts, "%.1f"), known(w.Worth.OpsPerJoule, "%.4g"), known(watt, "%.3f"), sources)
	}
	if !some {
		return nil
	}
	return t
}

// path is the table of a search.
func (r *Report) path(w *Row) *table {
	t := &table{head: []string{"window", "setting", "ops/s", "p99 ms", "promise", "why it was tried", "note"}}
	for i, res := range w.Path {
		t.add(strconv.Itoa(res.Number), res.Point.String()+knee(w, res.Point), short(res.Ops), known(res.P99, "%.3f"), mark(res), w.Reasons[i], res.Note)
	}
	return t
}

// knee marks the answer of a search and its neighbours.
func knee(w *Row, p raw.Point) string {
	switch {
	case w.Best != nil && *w.Best == p:
		return "  ← the answer"
	case w.Above != nil && *w.Above == p:
		return "  ← next above"
	case w.Below != nil && *w.Below == p:
		return "  ← next below"
	}
	return ""
}

func mark(res *raw.Result) string {
	switch {
	case res.Invalid != "":
		return "invalid"
	case res.Pass:
		return "kept"
	}
	return "broken"
}

// hosts is the table of facts.
func (r *Report) hosts() *table {
	t := &table{head: []string{"fact"}}
	for i := range r.Hosts {
		name := r.Hosts[i].Name
		if len(r.Hosts) > 1 {
			name = strings.TrimSuffix(r.Files[i], ".jsonl")
		}
		t.head = append(t.head, name)
	}
	for _, l := range host.Compare(r.Hosts...) {
		name := l.Name
		if l.Differs {
			name += " *"
		}
		t.add(append([]string{name}, l.Values...)...)
	}
	return t
}

// facts of the study, in sentences.
func (r *Report) facts() (list []string) {
	s := r.Study
	how := "the load as it is given, repeated"
	switch s.Search {
	case "rate":
		how = "the highest planned rate that keeps the promise"
	case "concurrency":
		how = "threads, clients of each and requests in flight, raised until the promise breaks"
	case "instances":
		how = "servers added beside each other until one of them breaks the promise"
	}
	list = append(list, "Measured: "+how+".")
	if s.P99 > 0 {
		list = append(list, fmt.Sprintf("Promise: 99 of 100 requests are answered within %g ms.", s.P99))
	}
	list = append(list, fmt.Sprintf("Windows of %g s after %g s of warm-up; %d for each server in the comparison, in turns.", s.Window, s.Warmup, s.Repetitions))
	if s.Search == "rate" {
		list = append(list, "Each server was compared at the rate that its search found, and answers as much as is planned: their difference is as exact as the searches are, not as narrow as its interval.")
	}
	if s.Quick {
		list = append(list, "This was a quick look (--quick): windows and repetitions are shorter than those of the study.")
	}
	list = append(list, "Load: "+strings.Join(s.Load, " "))
	for _, sv := range s.Servers {
		if len(sv.Cores) > 0 {
			list = append(list, fmt.Sprintf("%s ran on cores %v, its clients on cores %v of the same machine.", sv.Name, sv.Cores, sv.Client))
		}
	}
	for _, c := range s.Chosen {
		list = append(list, "Chosen by us: "+c+".")
	}
	return list
}

// writer writes text or Markdown.
type writer struct {
	w  io.Writer
	md bool
}

func (o writer) title(text string) {
	if o.md {
		fmt.Fprintf(o.w, "# %s\n\n", text)
	} else {
		fmt.Fprintf(o.w, "%s\n\n", text)
	}
}

func (o writer) section(text string) {
	if o.md {
		fmt.Fprintf(o.w, "## %s\n\n", text)
	} else {
		fmt.Fprintf(o.w, "%s\n%s\n", text, strings.Repeat("-", utf8.RuneCountInString(text)))
	}
}

func (o writer) list(items []string) {
	for _, s := range items {
		if o.md {
			fmt.Fprintf(o.w, "- %s\n", s)
		} else {
			fmt.Fprintf(o.w, "%s\n", s)
		}
	}
	fmt.Fprintln(o.w)
}

func (o writer) code(lines []string) {
	if o.md {
		fmt.Fprintf(o.w, "```\n%s\n```\n\n", strings.Join(lines, "\n"))
		return
	}
	for _, l := range lines {
		fmt.Fprintf(o.w, "  %s\n", l)
	}
	fmt.Fprintln(o.w)
}

func (o writer) table(t *table) {
	if o.md {
		esc := strings.NewReplacer("|", `\|`, "\n", " ")
		fmt.Fprintf(o.w, "| %s |\n|%s\n", strings.Join(t.head, " | "), strings.Repeat(" --- |", len(t.head)))
		for _, row := range t.cells {
			cells := make([]string, len(row))
			for i, c := range row {
				cells[i] = esc.Replace(c)
			}
			fmt.Fprintf(o.w, "| %s |\n", strings.Join(cells, " | "))
		}
		fmt.Fprintln(o.w)
		return
	}
	width := make([]int, len(t.head))
	all := append([][]string{t.head}, t.cells...)
	for _, row := range all {
		for i, c := range row {
			width[i] = max(width[i], utf8.RuneCountInString(c))
		}
	}
	for _, row := range all {
		var line strings.Builder
		for i, c := range row {
			line.WriteString(c + strings.Repeat(" ", width[i]-utf8.RuneCountInString(c)+2))
		}
		fmt.Fprintln(o.w, strings.TrimRight(line.String(), " "))
	}
	fmt.Fprintln(o.w)
}

// Text writes the report as text, or as Markdown.
func (r *Report) Text(w io.Writer, md bool) {
	o := writer{w, md}
	o.title(r.Title + ": " + r.Question)
	o.list(r.Verdict)
	o.section("Servers")
	o.table(r.servers())
	if t := r.worth(); t != nil {
		o.section("Money and energy")
		o.table(t)
	}
	if len(r.Notes) > 0 {
		o.section("To be known")
		o.list(r.Notes)
	}
	o.section("What was measured")
	o.list(r.facts())
	for _, row := range r.Rows {
		if len(row.Path) > 0 {
			o.section("Search: " + row.Label)
			o.table(r.path(row))
		}
	}
	if len(r.Hosts) > 0 {
		o.section("Machine")
		o.table(r.hosts())
	}
	for _, row := range r.Rows {
		if len(row.Commands) > 0 {
			o.section("Commands: " + row.Label)
			o.code(row.Commands)
		}
	}
}

// CSV writes a line for each window.
func (r *Report) CSV(w io.Writer) error {
	c := csv.NewWriter(w)
	c.Write([]string{
		"window", "server", "phase", "round", "rate", "threads", "clients", "pipeline", "instances", "ops_per_second", "p50_ms", "p99_ms", "p999_ms",
		"errors", "hit_rate", "kept", "server_cpu_us_per_op", "client_cpu_us_per_op", "rss_bytes", "watts", "note",
	})
	f := func(v float64) string { return strconv.FormatFloat(v, 'f', -1, 64) }
	for _, row := range r.Rows {
		for _, res := range append(row.Path[:len(row.Path):len(row.Path)], row.Runs...) {
			p := res.Point
			c.Write([]string{
				strconv.Itoa(res.Number), row.Label, res.Phase, strconv.Itoa(res.Round), f(p.Rate), strconv.Itoa(p.Threads), strconv.Itoa(p.Clients),
				strconv.Itoa(p.Pipeline), strconv.Itoa(p.Instances), f(res.Ops), f(res.P50), f(res.P99), f(res.P999), strconv.FormatUint(res.Errors, 10),
				f(res.HitRate), mark(res), f(res.ServerCPU), f(res.ClientCPU), strconv.FormatInt(res.RSS, 10), f(res.Watts), res.Note,
			})
		}
	}
	c.Flush()
	return c.Error()
}

// Bench writes lines for benchstat: compare by -col /server.
func (r *Report) Bench(w io.Writer) {
	word := strings.NewReplacer(" ", "_", "/", "_", "(", "", ")", "")
	for i, h := range r.Hosts {
		if i == 0 {
			fmt.Fprintf(w, "goos: %s\ngoarch: %s\ncpu: %s\n", h.System.OS, h.System.Arch, h.CPU.Model)
		}
	}
	for _, row := range r.Rows {
		for _, res := range row.Runs {
			fmt.Fprintf(w, "Benchmark%s/server=%s 1 %.0f ops/s %.6f p50-ms %.6f p99-ms\n", word.Replace(r.Title), word.Replace(row.Label), res.Ops, res.P50, res.P99)
		}
	}
}
