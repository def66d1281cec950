package crusher

import (
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"godwit/internal/load/console"
)

func place(t *Template) string { return fmt.Sprintf("%s:%d", t.File, t.Line) }

func many(n int, what string) string {
	if n != 1 {
		what += "s"
	}
	return fmt.Sprint(n, " ", what)
}

// print writes the report for people.
func (r *Report) print(w io.Writer) {
	end := ""
	if r.Interrupted {
		end = ", interrupted"
	}
	fmt.Fprintf(w, "%d requests in %.2f s: %.0f a second; %s, %s, seed %d%s\n",
		r.Requests, r.Seconds, r.Rate, many(r.Connections, "connection"), many(r.Client.Loops, "loop"), r.Seed, end)
	r.printTemplates(w)
	r.printLatency(w)
	section(w, "Server", r.Server.Notes())
	section(w, "Machines", r.Machines.Lines())
	c := &r.Client
	fmt.Fprintf(w, "\nThis side: %.2f µs of CPU a request, %.2f cores of %d", c.CPU, c.Cores, c.Of)
	if c.Busiest > 0 {
		fmt.Fprintf(w, ", busiest loop %s", console.Percent(c.Busiest))
	}
	fmt.Fprintln(w)
	if c.Late != nil {
		fmt.Fprintf(w, "Sent after their time: by %.0f µs (median), %.0f µs (99 %%), %.0f µs at most\n", c.Late.P50, c.Late.P99, c.Late.Max)
	}
	for _, t := range r.Texts {
		fmt.Fprintf(w, "%10d x %s\n", t.N, t.Text)
	}
	for _, s := range r.Warnings {
		fmt.Fprintf(w, "warning: %s\n", s)
	}
}

// section writes lines under a title.
func section(w io.Writer, title string, lines []string) {
	for i, l := range lines {
		if i == 0 {
			fmt.Fprintf(w, "\n%s\n", title)
		}
		fmt.Fprintf(w, "  %s\n", l)
	}
}

// aligned makes a table whose cells end with tabs; all columns but the first are to the right.
func aligned(w io.Writer, rows [][]string) {
	var b strings.Builder
	tw := tabwriter.NewWriter(&b, 0, 0, 2, ' ', tabwriter.AlignRight)
	wide := 0
	for _, r := range rows {
		wide = max(wide, len(r[0]))
	}
	for _, r := range rows {
		fmt.Fprintf(tw, "%-*s\t%s\t\n", wide, r[0], strings.Join(r[1:], "\t"))
	}
	tw.Flush()
	for line := range strings.Lines(b.String()) {
		fmt.Fprintln(w, strings.TrimRight(line, " \n"))
	}
}

func (r *Report) printTemplates(w io.Writer) {
	fmt.Fprintln(w)
	rows := [][]string{{"template", "send", "connections", "requests", "a second", "planned", "hits", "misses", "declined", "errors", "MB/s sent", "MB/s read"}}
	blind := false
	for i := range r.Templates {
		t := &r.Templates[i]
		planned := "-"
		if t.Planned > 0 {
			planned = fmt.Sprintf("%.0f", t.Planned)
		}
		row := []string{t.Where, t.Send, fmt.Sprint(t.Connections), fmt.Sprint(t.Requests), fmt.Sprintf("%.0f", t.Rate), planned}
		if t.Blind {
			blind = true
			row = append(row, "?", "?", "?", "?", mega(t.Sent, t.Seconds), "?")
		} else {
			row = append(row, fmt.Sprint(t.Hits), fmt.Sprint(t.Misses), fmt.Sprint(t.Declined), fmt.Sprint(t.Errors), mega(t.Sent, t.Seconds), mega(t.Received, t.Seconds))
		}
		rows = append(rows, row)
	}
	aligned(w, rows)
	if blind {
		fmt.Fprintln(w, "?: answers were not looked at, as recv says: no hits, no errors, no latency. --check, or recv=parse, reads them.")
	}
}

func mega(n uint64, d float64) string { return fmt.Sprintf("%.1f", per(n, d)/1e6) }

func (r *Report) printLatency(w io.Writer) {
	rows := [][]string{{"latency, µs", "", "mean", "p50", "p90", "p99", "p99.9", "max"}}
	add := func(where, what string, l *Latency) {
		if l == nil {
			return
		}
		row := []string{where, what}
		for _, v := range []float64{l.Mean, l.P50, l.P90, l.P99, l.P999, l.Max} {
			row = append(row, fmt.Sprintf("%.0f", v))
		}
		rows = append(rows, row)
	}
	planned := false
	for i := range r.Templates {
		t := &r.Templates[i]
		add(t.Where, "service", t.Service)
		add(t.Where, "planned", t.Due)
		planned = planned || t.Due != nil
	}
	if len(rows) == 1 {
		return
	}
	fmt.Fprintln(w)
	aligned(w, rows)
	if planned {
		fmt.Fprintln(w, "service: from sending to the answer; planned: from when it should have been sent.")
	}
}
