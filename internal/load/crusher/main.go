package crusher

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"strings"

	"godwit/internal/load/agent"
	"godwit/internal/load/face"
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
	ctx, stop := face.Signals()
	defer stop()
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
	if err == nil {
		err = o.readToken()
	}
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
	servers := p.servers()
	l := &face.Load{
		Plan: p.Plan, Title: face.Title("crusher", servers), Requests: p.requests(), Stderr: stderr, Quiet: p.o.quiet, Top: p.o.top, Seen: p.seen,
	}
	if p.o.stats {
		l.Servers = servers
	}
	if len(p.o.agents) > 0 {
		job := agent.Job{Agents: p.o.agents, Token: p.o.token, Face: "crusher", Args: p.o.forAgents(p.templates)}
		l.Away = func(ctx context.Context, watch func(*result.Snapshot)) (*result.Run, error) {
			return agent.Run(ctx, job, watch)
		}
	}
	res, server, err := l.Run(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		if ctx.Err() != nil {
			return exitInterrupted
		}
		return exitFailed
	}
	r := p.report(res, server)
	text := stdout
	if p.o.json == "-" {
		text = stderr
	}
	r.print(text)
	if err := r.save(p.o.json, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: --json: %v\n", prog, err)
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
	why := ""
	if len(res.Texts) > 0 {
		why = ": " + res.Texts[0].Text
	}
	total := res.Total()
	code := 0
	bad := func(format string, a ...any) {
		fmt.Fprintf(stderr, "%s: %s%s\n", prog, fmt.Sprintf(format, a...), why)
		code = exitFailed
	}
	if res.ConnErrors > 0 || res.Lost > 0 {
		bad("%d connections of %d were refused or lost, %d requests have no answer", res.ConnErrors, len(p.Clients), res.Lost)
	}
	if n := total.Errors(); n > 0 {
		bad("%d of %d requests were answered with an error", n, total.Count)
	}
	if code == 0 && res.Interrupted && p.ends() {
		return exitInterrupted
	}
	return code
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
