package ycsb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"

	"godwit/internal/load"
	"godwit/internal/load/agent"
	"godwit/internal/load/console"
	"godwit/internal/load/face"
	"godwit/internal/load/result"
)

// Exit statuses.
const (
	ExitFailed      = 1 // operations failed, or nothing ran
	ExitUsage       = 2 // the command line makes no sense
	ExitInterrupted = 130
)

// Main runs godwit ycsb and gives its exit status. prog is what it was called as.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	ctx, stop := face.Signals()
	defer stop()
	return run(ctx, prog, args, stdout, stderr)
}

func run(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	usage := func(err error) int {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return ExitUsage
	}
	if len(args) == 0 {
		return usage(errors.New("load or run: neither is given (try --help)"))
	}
	w, err := parseArgs(args)
	if err != nil {
		return usage(err)
	}
	if w.help {
		help(prog, stdout)
		return 0
	}
	s, err := readSettings(w)
	if err != nil {
		return usage(err)
	}
	for _, text := range s.warn {
		fmt.Fprintf(stderr, "%s: warning: %s\n", prog, text)
	}
	j, plan, err := s.plan(0, 1)
	if err != nil {
		return usage(err)
	}
	l, err := j.shown(w, plan, stderr)
	if err != nil {
		return usage(err)
	}
	export, err := s.openExport(stdout)
	if err != nil {
		return usage(err)
	}
	r, server, err := l.Run(ctx)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		if ctx.Err() != nil {
			return ExitInterrupted
		}
		return ExitFailed
	}
	m := s.summarize(j.rows, r)
	m.server, m.machines = server, face.MachinesOf(r)
	return m.report(prog, export, stderr)
}

// shown is the load with all that is to be seen of it.
func (j *job) shown(w *words, plan *load.Plan, stderr io.Writer) (*face.Load, error) {
	servers := j.servers(plan)
	ops := newOperations(j.rows)
	l := &face.Load{
		Plan: plan, Title: face.Title("ycsb", servers), Requests: j.planned(), Stderr: stderr, Top: w.top,
		Quiet: w.quiet || !w.top && (j.status || !console.Terminal(stderr)), Rows: ops.names, Pick: ops.pick,
	}
	if j.serverStats {
		l.Servers = servers
	}
	if j.status && j.interval > 0 && !w.top {
		l.Watch = newStatusLine(j.settings, j.rows, stderr).watch
	}
	if len(w.agents) == 0 {
		return l, nil
	}
	token, err := agent.ReadToken(w.tokenFile)
	if err != nil {
		return nil, fmt.Errorf("--agent-token-file: %w", err)
	}
	job := agent.Job{Agents: w.agents, Token: token, Face: "ycsb", Args: w.forAgents()}
	l.Away = func(ctx context.Context, watch func(*result.Snapshot)) (*result.Run, error) {
		return agent.Run(ctx, job, watch)
	}
	return l, nil
}

// servers of the plan, each once.
func (j *job) servers(plan *load.Plan) (list []face.Server) {
	protocol := "memcache_" + j.protocol
	if j.redis {
		protocol = "redis"
	}
	for i := range plan.Clients {
		t := plan.Clients[i].Target
		if !slices.ContainsFunc(list, func(s face.Server) bool { return s.Target == t }) {
			list = append(list, face.Server{Target: t, Protocol: protocol})
		}
	}
	return list
}

// planned operations; 0: not known.
func (s *settings) planned() uint64 {
	if s.load {
		return s.count
	}
	return s.operations
}

// openExport opens the file that the result goes to.
func (s *settings) openExport(stdout io.Writer) (io.WriteCloser, error) {
	if s.exportFile == "" {
		return keepOpen{stdout}, nil
	}
	f, err := os.Create(s.exportFile)
	if err != nil {
		return nil, fmt.Errorf("exportfile: %w", err)
	}
	return f, nil
}

type keepOpen struct{ io.Writer }

func (keepOpen) Close() error { return nil }

// report prints a result, closes export and gives the exit status.
func (m *summary) report(prog string, export io.WriteCloser, stderr io.Writer) int {
	r := m.run
	out := &firstError{w: export}
	m.print(out)
	err := errors.Join(out.err, export.Close())
	if m.hdr {
		err = errors.Join(err, m.writeLogs())
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, prog+": "+format+"\n", args...) }
	if m.sent > m.operations {
		say("note: %d operations were %d requests to the server", m.operations, m.sent)
	}
	for _, line := range m.machines.Lines() {
		say("note: %s", line)
	}
	if r.Self.Limit != "" {
		say("warning: %s", r.Self.Limit)
	}
	for _, text := range m.server.Warnings() {
		say("warning: %s", text)
	}
	for _, t := range r.Texts[:min(len(r.Texts), 10)] {
		say("%d times: %s", t.N, t.Text)
	}
	code := 0
	if err != nil {
		say("%v", err)
		code = ExitFailed
	}
	switch {
	case r.Interrupted:
		say("interrupted: these are the results up to then")
		return ExitInterrupted
	case m.operations == 0:
		say("no operation was carried out")
		code = ExitFailed
	case m.failures > 0:
		say("%d of %d operations failed", m.failures, m.operations)
		code = ExitFailed
	}
	if r.Lost > 0 || r.ConnErrors > 0 {
		say("%d requests were not answered, %d connections were lost or refused", r.Lost, r.ConnErrors)
		code = ExitFailed
	}
	return code
}

// firstError is a writer that remembers its first error.
type firstError struct {
	w   io.Writer
	err error
}

func (f *firstError) Write(b []byte) (int, error) {
	if f.err == nil {
		_, f.err = f.w.Write(b)
	}
	return len(b), nil
}
