package ycsb

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"syscall"

	"godwit/internal/load"
	"godwit/internal/load/drive"
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
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
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
	export, err := s.openExport(stdout)
	if err != nil {
		return usage(err)
	}
	r, err := j.drive(ctx, plan, stderr)
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return ExitFailed
	}
	return s.report(prog, j.rows, r, export, stderr)
}

// drive runs the load.
func (j *job) drive(ctx context.Context, plan *load.Plan, stderr io.Writer) (*result.Run, error) {
	var hooks drive.Hooks
	if j.status && j.interval > 0 {
		hooks.Watch = newStatusLine(j.settings, j.rows, stderr).watch
	}
	return drive.Run(ctx, plan, hooks)
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

// Report prints the result of the Plan of a command line and gives the exit status. It writes the files that the command
// line names. prog is for messages.
func Report(prog string, args []string, r *result.Run, stdout, stderr io.Writer) int {
	w, err := parseArgs(args)
	if err == nil {
		var s *settings
		if s, err = readSettings(w); err == nil {
			var export io.WriteCloser
			if export, err = s.openExport(stdout); err == nil {
				return s.report(prog, newRows(s), r, export, stderr)
			}
		}
	}
	fmt.Fprintf(stderr, "%s: %v\n", prog, err)
	return ExitUsage
}

// report prints a result and closes export.
func (s *settings) report(prog string, rs *rows, r *result.Run, export io.WriteCloser, stderr io.Writer) int {
	m := s.summarize(rs, r)
	out := &firstError{w: export}
	m.print(out)
	err := errors.Join(out.err, export.Close())
	if s.hdr {
		err = errors.Join(err, m.writeLogs())
	}
	say := func(format string, args ...any) { fmt.Fprintf(stderr, prog+": "+format+"\n", args...) }
	if m.sent > m.operations {
		say("note: %d operations were %d requests to the server", m.operations, m.sent)
	}
	if r.Self.Limit != "" {
		say("warning: %s", r.Self.Limit)
	}
	for _, t := range r.Texts[:min(len(r.Texts), 10)] {
		say("%d times: %s", t.N, t.Text)
	}
	code := 0
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
	if err != nil {
		say("%v", err)
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
