package crusher

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"godwit/internal/load/drive"
	"godwit/internal/load/result"
)

// Exit statuses.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// helper is a subcommand: what came as a script beside mc-crusher.
type helper struct {
	name, args, summary string
	run                 func(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int
}

// helpers in the order of the help.
var helpers = []helper{
	{"warmer", "ADDR PREFIX SIZE COUNT", "store keys PREFIX0 to PREFIX(COUNT-1), and see that they are there (bench-warmer)", warmer},
	{"sampler", "[--server HOST] ...", "measure latency beside a load, with one get at a time (latency-sampler)", sampler},
	{"stats", "ADDR RUNS [PERIOD] [STAT ...]", "show the rates of a server's counters (bench-sample)", rates},
	{"balloon", "MB", "take memory away until killed (balloon)", balloon},
}

func helperNames() (names []string) {
	for i := range helpers {
		names = append(names, helpers[i].name)
	}
	return names
}

// Main runs the command line and gives the exit status. prog is what it was called as, for help and error texts.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	context.AfterFunc(ctx, stop) // a second signal kills
	return run(ctx, prog, args, stdout, stderr)
}

// run is Main, ended by ctx.
func run(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	if len(args) > 0 {
		if args[0] == "help" {
			return printed(stdout, help(prog))
		}
		for i := range helpers {
			h := &helpers[i]
			if h.name != args[0] {
				continue
			}
			if len(args) > 1 && isHelp(args[1]) {
				return printed(stdout, helperHelp(prog, h))
			}
			return h.run(ctx, prog+" "+h.name, args[1:], stdout, stderr)
		}
	}
	o, err := parseOptions(args)
	if err != nil {
		return refuse(stderr, prog, err)
	}
	switch {
	case o.help:
		return printed(stdout, help(prog))
	case o.zipfN > 0:
		return zipf(ctx, o, stdout)
	}
	conf, err := o.conf()
	if err != nil {
		return refuse(stderr, prog, err)
	}
	for _, w := range conf.Warnings {
		fmt.Fprintf(stderr, "%s: warning: %v\n", prog, w)
	}
	p, err := newPlan(o, conf.Templates, 0, 0, 1)
	if err != nil {
		return refuse(stderr, prog, err)
	}
	return p.crush(ctx, prog, stdout, stderr)
}

func isHelp(s string) bool { return s == "-h" || s == "--help" || s == "-help" || s == "help" }

func printed(w io.Writer, text string) int {
	io.WriteString(w, text)
	return 0
}

// refuse says what is wrong with the command line, one line each.
func refuse(stderr io.Writer, prog string, err error) int {
	for line := range strings.Lines(err.Error() + "\n") {
		fmt.Fprintf(stderr, "%s: %s", prog, line)
	}
	return exitUsage
}

// crush runs the load and reports.
func (p *plan) crush(ctx context.Context, prog string, stdout, stderr io.Writer) int {
	var truth []*witness
	if p.o.stats {
		truth = p.witnesses()
	}
	show := &progress{w: stderr, plan: p, terminal: terminal(stderr)}
	hooks := drive.Hooks{Ready: func(ctx context.Context) error {
		for _, w := range truth {
			w.before(ctx)
		}
		return nil
	}}
	if !p.o.quiet {
		hooks.Watch = show.watch
	}
	res, err := drive.Run(ctx, p.Plan, hooks)
	show.end()
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	for _, w := range truth {
		w.after(context.WithoutCancel(ctx))
	}
	r := p.report(res, truth)
	text := stdout
	if p.o.json == "-" {
		text = stderr
	}
	r.print(text)
	if err := r.save(p.o.json, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	return p.verdict(res, prog, stderr)
}

// save writes the JSON.
func (r *Report) save(name string, stdout io.Writer) error {
	if name == "" {
		return nil
	}
	b, err := json.MarshalIndent(r, "", "  ")
	if err != nil {
		return err
	}
	b = append(b, '\n')
	if name == "-" {
		_, err = stdout.Write(b)
		return err
	}
	return os.WriteFile(name, b, 0o666)
}

// verdict is the exit status, with the reason.
func (p *plan) verdict(res *result.Run, prog string, stderr io.Writer) int {
	if res.ConnErrors > 0 || res.Lost > 0 {
		why := ""
		if len(res.Texts) > 0 {
			why = ": " + res.Texts[0].Text
		}
		fmt.Fprintf(stderr, "%s: %d connections of %d were refused or lost, %d requests have no answer%s\n",
			prog, res.ConnErrors, len(p.Clients), res.Lost, why)
		return exitFailed
	}
	if res.Interrupted && p.ends() {
		return exitInterrupted
	}
	return 0
}

// ends says whether the load would have ended by itself.
func (p *plan) ends() bool {
	if p.o.timeout > 0 {
		return true
	}
	for _, t := range p.templates {
		if t.StopAfter == 0 {
			return false
		}
	}
	return true
}

// progress shows a load under way: a line a second, which a terminal overwrites.
type progress struct {
	w        io.Writer
	plan     *plan
	terminal bool
	shown    bool
}

// watch is a drive.Hooks.Watch.
func (g *progress) watch(s *result.Snapshot) {
	sec, total := s.Sums()
	line := fmt.Sprintf("%4d s %10d requests/s", int(s.Elapsed/time.Second), sec.Count)
	if n := sec.Hits + sec.Misses; n > 0 {
		line += fmt.Sprintf("  %.2f %% hits", 100*float64(sec.Hits)/float64(n))
	}
	if h := sec.Service; h != nil && h.TotalCount() > 0 {
		line += fmt.Sprintf("  p50 %s p99 %s", micros(h.ValueAtQuantile(50)), micros(h.ValueAtQuantile(99)))
	}
	line += fmt.Sprintf("  %d connections", s.Clients)
	if s.Busiest > 0 {
		line += fmt.Sprintf("  loop %.0f %%", 100*s.Busiest)
	}
	if n := total.Errors(); n > 0 {
		line += fmt.Sprintf("  %d errors", n)
	}
	if s.ConnErrors > 0 {
		line += fmt.Sprintf("  %d connections lost", s.ConnErrors)
	}
	if g.terminal {
		fmt.Fprintf(g.w, "\r\x1b[K%s", line)
	} else {
		fmt.Fprintln(g.w, line)
	}
	g.shown = true
}

// end makes way for the result.
func (g *progress) end() {
	if g.terminal && g.shown {
		fmt.Fprint(g.w, "\r\x1b[K")
	}
}

// micros is a latency in ns as people read it, with the µs.
func micros(ns int64) string {
	switch us := float64(ns) / 1e3; {
	case us < 100:
		return fmt.Sprintf("%.1f µs", us)
	case us < 1e5:
		return fmt.Sprintf("%.0f µs", us)
	default:
		return fmt.Sprintf("%.0f ms", us/1e3)
	}
}

// terminal says whether w is one.
func terminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	st, err := f.Stat()
	return err == nil && st.Mode()&os.ModeCharDevice != 0
}
