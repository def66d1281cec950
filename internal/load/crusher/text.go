package crusher

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"text/tabwriter"
)

func place(t *Template) string { return fmt.Sprintf("%s:%d", t.File, t.Line) }

func percent(n, of uint64) string {
	p := 100 * float64(n) / float64(max(1, of))
	if p < 10 {
		return fmt.Sprintf("%.2g %%", p)
	}
	return fmt.Sprintf("%.0f %%", p)
}

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
	for i := range r.Servers {
		r.Servers[i].print(w)
	}
	c := &r.Client
	fmt.Fprintf(w, "\nThis side: %.2f µs of CPU a request, %.2f cores of %d", c.CPU, c.Cores, c.Of)
	if c.Busiest > 0 {
		fmt.Fprintf(w, ", busiest loop %.0f %%", 100*c.Busiest)
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

func (s *ServerReport) print(w io.Writer) {
	if s.Error != "" {
		fmt.Fprintf(w, "\nServer %s: no counters: %s\n", s.Address, s.Error)
		return
	}
	fmt.Fprintf(w, "\nServer %s counted meanwhile", s.Address)
	if s.CPU > 0 {
		fmt.Fprintf(w, ", at %.2f µs of CPU a request", s.CPU)
	}
	fmt.Fprintln(w)
	rows := [][]string{{"", "server", "here", ""}}
	seen := map[string]bool{}
	for _, c := range s.Counters {
		verdict := "agree"
		if !c.Agrees {
			verdict = fmt.Sprintf("DIFFER by %+.2f %%", 100*(c.Server-float64(c.Client))/float64(max(1, c.Client)))
		}
		seen[c.Name] = true
		rows = append(rows, []string{"  " + c.Name, fmt.Sprintf("%.0f", c.Server), fmt.Sprint(c.Client), verdict})
	}
	for _, name := range growth {
		if v, ok := s.Growth[name]; ok && !seen[name] && !slices.Contains([]string{"bytes_read", "bytes_written"}, name) {
			rows = append(rows, []string{"  " + name, fmt.Sprintf("%+.0f", v), "", ""})
		}
	}
	aligned(w, rows)
}
