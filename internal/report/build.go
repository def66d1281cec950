// Package report makes what people read from the raw files of studies (package raw): a verdict in a sentence, a table of the
// servers, the path of the search, facts about the machines, and every command line; as text, Markdown, CSV, lines for
// benchstat, or one HTML page that needs nothing else. It measures nothing. Called by cli.
//
//	build.go  what the raw files say
//	text.go   text, Markdown, CSV, benchstat
//	html.go   the page
//	plot.go   its pictures, as SVG
//	main.go   the command line
package report

import (
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	hdr "github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/host"
	"godwit/internal/load/result"
	"godwit/internal/stat"
	"godwit/internal/study/raw"
)

// Report is what raw files of one or several machines say.
type Report struct {
	Title    string
	Question string
	Verdict  []string // sentences, the most important first
	Study    *raw.Study
	Rows     []*Row
	Baseline *Row
	Hosts    []*host.Host
	Notes    []string // what a reader must know
	Files    []string
	Complete bool
}

// Row is a server.
type Row struct {
	Label   string
	Subject raw.Subject
	Status  string // of the search
	Version string

	Best, Below, Above *raw.Point
	Path               []*raw.Result // of the search
	Reasons            []string      // of Path
	Runs               []*raw.Result // compared

	Ops                       stat.Summary
	Broken                    int     // of Runs: those that broke the promise or had errors
	P50, P99, P999            float64 // medians, ms
	Hits, ServerCPU, CPU, RSS float64
	Worth                     stat.Worth
	WattsFrom                 string
	Watts                     float64
	Comparison                *stat.Comparison // with the baseline
	Advantage                 *stat.Advantage

	Latency  *hdr.Histogram // of all runs, ns
	Commands []string
	file     int
}

// disturbing is the number of processors from which others that use them are told of.
const disturbing = 0.1

// file is a raw file that was read.
type file struct {
	name   string
	events []raw.Event
}

// Build a report.
func Build(files []file) (*Report, error) {
	r := &Report{Complete: true}
	notes := map[string]int{}
	note := func(format string, a ...any) {
		text := fmt.Sprintf(format, a...)
		if notes[text]++; notes[text] == 1 {
			r.Notes = append(r.Notes, text)
		}
	}
	for i, f := range files {
		st := f.events[0].Study
		r.Files = append(r.Files, filepath.Base(f.name))
		if i == 0 {
			r.Study, r.Title, r.Question = st, st.Name, st.Question
		} else if st.Search != r.Study.Search || st.P99 != r.Study.P99 || st.Window != r.Study.Window || !slices.Equal(st.Load, r.Study.Load) {
			note("%s was measured in another way than %s (load, search, promise or window): numbers of the two are not to be compared", r.Files[i], r.Files[0])
		}
		where := ""
		var facts *host.Host
		for _, e := range f.events {
			if e.Kind == raw.KindHost && facts == nil {
				facts = e.Host
			}
		}
		if facts != nil {
			r.Hosts = append(r.Hosts, facts)
		}
		if len(files) > 1 {
			where = " (" + strings.TrimSuffix(r.Files[i], ".jsonl") + ")"
		}
		rows := map[string]*Row{}
		row := func(name string) *Row {
			if rows[name] == nil {
				rows[name] = &Row{Label: name + where, Subject: raw.Subject{Name: name}, file: i}
				r.Rows = append(r.Rows, rows[name])
			}
			return rows[name]
		}
		for _, s := range st.Servers {
			row(s.Name).Subject = s
		}
		reasons := map[int]*raw.Probe{}
		ended := false
		for _, e := range f.events {
			switch e.Kind {
			case raw.KindStudy:
				for _, p := range e.Study.Pinned {
					note("%s", p)
				}
			case raw.KindSkip:
				note("%s was left out: %s", e.Skip.Server+where, e.Skip.Why)
			case raw.KindError:
				note("the study broke off: %s", e.Error)
			case raw.KindServer:
				w := row(e.Server.Server)
				if len(w.Commands) == 0 {
					w.Commands = append(w.Commands, e.Server.Command)
					if e.Server.Filled != "" {
						w.Commands = append(w.Commands, e.Server.Filled)
					}
				}
			case raw.KindProbe:
				reasons[e.Probe.Number] = e.Probe
			case raw.KindResult:
				w := row(e.Result.Server)
				res := e.Result
				if res.Phase == raw.PhaseSearch {
					w.Path = append(w.Path, res)
					reason := ""
					if p := reasons[res.Number]; p != nil {
						reason = p.Reason
					}
					w.Reasons = append(w.Reasons, reason)
				} else {
					w.Runs = append(w.Runs, res)
					if p := reasons[res.Number]; p != nil && len(w.Runs) == 1 {
						w.Commands = append(w.Commands, p.Commands...)
					}
				}
			case raw.KindFound:
				w := row(e.Found.Server)
				w.Best, w.Below, w.Above, w.Status = e.Found.Best, e.Found.Below, e.Found.Above, e.Found.Status
			case raw.KindEnd:
				ended = true
			}
		}
		if !ended {
			r.Complete = false
			note("%s is not complete; godwit study run … --resume goes on with it", r.Files[i])
		}
	}
	for _, w := range r.Rows {
		if err := w.sum(note); err != nil {
			return nil, err
		}
		if w.Subject.Name == r.Study.Baseline && r.Baseline == nil && len(w.Runs) > 0 {
			r.Baseline = w
		}
	}
	for _, w := range r.Rows {
		if r.Baseline == nil && len(w.Runs) > 0 {
			r.Baseline = w
		}
	}
	if r.Baseline == nil {
		r.Verdict = append(r.Verdict, "No server was measured to the end of a window at a setting that keeps the promise.")
		return r, nil
	}
	for _, w := range r.Rows {
		if w == r.Baseline || len(w.Runs) == 0 {
			continue
		}
		if err := w.compare(r.Baseline, note); err != nil {
			return nil, err
		}
	}
	r.verdict()
	for i, n := range r.Notes {
		if notes[n] > 1 {
			r.Notes[i] = fmt.Sprintf("%s (%d times)", n, notes[n])
		}
	}
	return r, nil
}

// sum up the runs of a server.
func (w *Row) sum(note func(string, ...any)) error {
	blind := 0
	for _, res := range slices.Concat(w.Path, w.Runs) {
		if res.Blind {
			blind++
		}
		for _, p := range res.Parts {
			if p.Problem != "" {
				note("%s: its counters could not be held against the client's: %s", w.Label, p.Problem)
			}
			if p.Counters != nil && w.Version == "" {
				w.Version = p.Counters.Version
			}
			for _, f := range p.Findings {
				if strings.HasPrefix(f, "failure") && !res.Blind {
					note("%s: %s", w.Label, f)
				}
			}
		}
	}
	if blind > 0 {
		note("%s: the answers were not looked at: operations are those that the server counted, latencies are unknown", w.Label)
	}
	if len(w.Runs) == 0 {
		if w.Status != "" {
			note("%s: %s", w.Label, w.Status)
		}
		return nil
	}
	var ops []float64
	column := func(f func(*raw.Result) float64) float64 {
		var v []float64
		for _, res := range w.Runs {
			if x := f(res); x > 0 {
				v = append(v, x)
			}
		}
		if len(v) == 0 {
			return 0
		}
		return stat.Median(v)
	}
	w.Latency = result.NewHistogram()
	limited, disturbed, most := 0, 0, 0.0
	for _, res := range w.Runs {
		ops = append(ops, res.Ops)
		if res.Errors > 0 {
			note("%s: run %d had %d errors", w.Label, res.Number, res.Errors)
		}
		if strings.Contains(res.Note, "may have set the limit") {
			limited++
		}
		if res.Others > disturbing {
			disturbed++
			most = max(most, res.Others)
		}
		if !res.Pass {
			w.Broken++
		}
		w.WattsFrom = res.WattsFrom
		for i := range res.Parts {
			run, err := res.Parts[i].Decode()
			if err != nil {
				return fmt.Errorf("window %d, %s: %w", res.Number, w.Label, err)
			}
			t := run.Total()
			h := t.Planned
			if h == nil {
				h = t.Service
			}
			if h != nil {
				w.Latency.Merge(h)
			}
		}
	}
	if w.Broken > 0 {
		note("%s: %d of %d compared runs broke the promise or had errors: its numbers are those of a load that is too high for it, or of a machine that was disturbed", w.Label, w.Broken, len(w.Runs))
	}
	if disturbed > 0 {
		note("%s: in %d of %d runs other processes, or the machine below, took up to %.2g processors away: measure again on a quiet machine", w.Label, disturbed, len(w.Runs), most)
	}
	if limited > 0 {
		note("%s: in %d of %d runs the client may have set the limit: the server may do more than this says", w.Label, limited, len(w.Runs))
	}
	var err error
	if w.Ops, err = stat.Summarize(ops, 0); err != nil {
		return fmt.Errorf("%s: %w", w.Label, err)
	}
	w.P50 = column(func(r *raw.Result) float64 { return r.P50 })
	w.P99 = column(func(r *raw.Result) float64 { return r.P99 })
	w.P999 = column(func(r *raw.Result) float64 { return r.P999 })
	w.Hits = column(func(r *raw.Result) float64 { return r.HitRate })
	w.ServerCPU = column(func(r *raw.Result) float64 { return r.ServerCPU })
	w.CPU = column(func(r *raw.Result) float64 { return r.ClientCPU })
	w.RSS = column(func(r *raw.Result) float64 { return float64(r.RSS) })
	w.Watts = column(func(r *raw.Result) float64 { return r.Watts })
	w.Worth = w.subject().Worth()
	return nil
}

func (w *Row) subject() stat.Subject {
	return stat.Subject{Throughput: w.Ops.Median, Price: w.Subject.Price, PriceSource: w.Subject.PriceSource, Watts: w.Watts, WattsSource: w.WattsFrom}
}

// compare with the baseline: run by run if both took turns.
func (w *Row) compare(base *Row, note func(string, ...any)) error {
	a, b := opsOf(base), opsOf(w)
	paired := w.file == base.file
	if paired {
		n := min(len(a), len(b))
		a, b = a[:n], b[:n]
	}
	if slices.Min(slices.Concat(a, b)) <= 0 {
		note("%s: a run answered nothing; it is not compared", w.Label)
		return nil
	}
	c, err := stat.Compare(a, b, stat.Options{Paired: paired})
	if err != nil {
		return fmt.Errorf("%s: %w", w.Label, err)
	}
	adv := w.subject().Over(base.subject())
	w.Comparison, w.Advantage = &c, &adv
	return nil
}

func opsOf(w *Row) (list []float64) {
	for _, r := range w.Runs {
		list = append(list, r.Ops)
	}
	return list
}

// verdict says it in sentences.
func (r *Report) verdict() {
	b := r.Baseline
	for _, w := range r.Rows {
		c := w.Comparison
		if c == nil {
			continue
		}
		interval := ""
		if c.Interval != nil {
			interval = fmt.Sprintf(" (%.4g %% sure of %.3g to %.3g)", c.Interval.Level*100, c.Interval.Lo, c.Interval.Hi)
		}
		does := fmt.Sprintf("%s does %s operations per second%s, %.3g times %s's %s%s", w.Label, short(w.Ops.Median), r.within(w), c.Ratio, b.Label, short(b.Ops.Median), interval)
		if b.Broken*2 > len(b.Runs) {
			does += fmt.Sprintf("; %s broke the promise in %d of %d runs", b.Label, b.Broken, len(b.Runs))
		}
		switch c.Verdict {
		case stat.TooFew:
			does += fmt.Sprintf(": too few runs (%d) to tell whether that is a difference.", c.B.N)
		case stat.NoDifference:
			does += ": no difference that these runs could show."
		default:
			does += fmt.Sprintf(": %v.", c.Verdict)
		}
		r.Verdict = append(r.Verdict, does)
		if a := w.Advantage; a != nil && a.PricePerformance > 0 {
			r.Verdict = append(r.Verdict, fmt.Sprintf("For the same money %s does %.3g times as much as %s.", w.Label, a.PricePerformance, b.Label))
		}
		if a := w.Advantage; a != nil && a.PerWatt > 0 {
			r.Verdict = append(r.Verdict, fmt.Sprintf("For the same energy %s does %.3g times as much as %s.", w.Label, a.PerWatt, b.Label))
		}
	}
	if len(r.Verdict) == 0 {
		r.Verdict = append(r.Verdict, fmt.Sprintf("%s does %s operations per second%s; there is nothing to compare it with.", b.Label, short(b.Ops.Median), r.within(b)))
	}
}

// within says whether a server kept the promise in its runs.
func (r *Report) within(w *Row) string {
	switch {
	case r.Study.P99 == 0:
		return ""
	case w.Broken*2 > len(w.Runs):
		return fmt.Sprintf(" (but broke the promised p99 of %g ms in %d of %d runs)", r.Study.P99, w.Broken, len(w.Runs))
	}
	return fmt.Sprintf(" within a p99 of %g ms", r.Study.P99)
}

// slower tells whether a server is slower than the baseline.
func (r *Report) slower() bool {
	return slices.ContainsFunc(r.Rows, func(w *Row) bool { return w.Comparison != nil && w.Comparison.Verdict == stat.Slower })
}

// short is a number with three digits and a letter for thousands and millions.
func short(v float64) string {
	switch a := math.Abs(v); {
	case a >= 999.5e6:
		return fmt.Sprintf("%.2f G", v/1e9)
	case a >= 999.5e3:
		return fmt.Sprintf("%.2f M", v/1e6)
	case a >= 9995:
		return fmt.Sprintf("%.1f k", v/1e3)
	}
	return fmt.Sprintf("%.4g", v)
}
