package study

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"
	"time"

	"godwit/internal/nearest"
	"godwit/internal/study/raw"
)

// Exit statuses.
const (
	exitFailed      = 1
	exitUsage       = 2
	exitInterrupted = 130
)

// clientWord is the subcommand that a study calls itself with to make a load.
const clientWord = "client"

const usage = `Measures servers side by side, and searches the most that each can do within a promised latency.

  godwit study list                           the studies that are built in
  godwit study show S3                        one of them, as the file that it is
  godwit study init S3 > mine.toml            the same, to change it
  godwit study run S3 --quick                 run it, in about two minutes
  godwit study run mine.toml --out raw.jsonl  run a study file
  godwit study run mine.toml --out raw.jsonl --resume
                                              go on with one that was stopped
  godwit report raw.jsonl                     what came out

What is measured is written to the raw file as it comes, and is kept whatever happens then. Without --out the file is called
after the study and the time.
`

// Main runs the command line and gives its exit status.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	fail := func(status int, format string, a ...any) int {
		fmt.Fprintf(stderr, prog+": "+format+"\n", a...)
		return status
	}
	if len(args) == 0 {
		fmt.Fprint(stderr, usage)
		return exitUsage
	}
	switch args[0] {
	case "-h", "--help", "help":
		fmt.Fprint(stdout, usage)
		return 0
	case clientWord:
		return client(os.Stdin, stdout, stderr)
	case "list":
		for _, name := range Presets() {
			text, _ := preset(name)
			f, err := Parse(name, text)
			if err != nil {
				return fail(exitFailed, "%v", err)
			}
			fmt.Fprintf(stdout, "%-4s %s\n", f.Name, f.Question)
		}
		return 0
	case "show", "init":
		if len(args) != 2 {
			return fail(exitUsage, "%s takes the name of one study: %s", args[0], strings.Join(Presets(), ", "))
		}
		text, ok := preset(args[1])
		if !ok {
			return fail(exitUsage, "there is no study %q built in; there are %s", args[1], strings.Join(Presets(), ", "))
		}
		io.WriteString(stdout, text)
		return 0
	case "run":
		return runMain(args[1:], stdout, stderr, fail)
	}
	hint := ""
	if known := nearest.Name(args[0], []string{"run", "list", "show", "init"}); known != "" {
		hint = fmt.Sprintf("; did you mean %q?", known)
	}
	return fail(exitUsage, "unknown command %q%s", args[0], hint)
}

func runMain(args []string, stdout, stderr io.Writer, fail func(int, string, ...any) int) int {
	var what, out string
	quick, resume := false, false
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		switch {
		case name == "--out" || name == "-o":
			if !has {
				if i++; i == len(args) {
					return fail(exitUsage, "%s needs the name of a file", name)
				}
				value = args[i]
			}
			out = value
		case args[i] == "--quick":
			quick = true
		case args[i] == "--resume":
			resume = true
		case args[i] == "--help" || args[i] == "-h":
			fmt.Fprint(stdout, usage)
			return 0
		case strings.HasPrefix(args[i], "-"):
			return fail(exitUsage, "unknown option %s; there are --quick, --out FILE and --resume", args[i])
		case what != "":
			return fail(exitUsage, "one study at a time: %s or %s", what, args[i])
		default:
			what = args[i]
		}
	}
	if what == "" {
		return fail(exitUsage, "run needs a study file, or one of %s", strings.Join(Presets(), ", "))
	}
	if resume && out == "" {
		return fail(exitUsage, "--resume needs --out FILE, the raw file to go on with")
	}
	text, ok := preset(what)
	if !ok {
		b, err := os.ReadFile(what)
		if err != nil {
			return fail(exitUsage, "%v; built in are %s", err, strings.Join(Presets(), ", "))
		}
		text = string(b)
	}
	f, err := Parse(what, text)
	if err != nil {
		return fail(exitUsage, "%v", err)
	}
	if quick {
		f.quick()
	}
	self, err := os.Executable()
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if out == "" {
		out = fmt.Sprintf("%s-%s.jsonl", strings.ToLower(f.Name), time.Now().Format("20060102-150405"))
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	err = Run(ctx, f, Options{Quick: quick, Out: out, Resume: resume, Self: self, Stderr: stderr})
	switch {
	case errors.Is(err, context.Canceled):
		return fail(exitInterrupted, "stopped; what was measured is in %s. Go on with: godwit study run %s%s --out %s --resume", out, what, map[bool]string{true: " --quick"}[quick], out)
	case err != nil:
		return fail(exitFailed, "%v", err)
	}
	fmt.Fprintf(stdout, "The results are in %s. See them with: godwit report %s\n", out, out)
	return 0
}

// Options of a run.
type Options struct {
	Quick  bool
	Out    string // the raw file
	Resume bool   // if it is there, go on with it
	Self   string // the binary of godwit, for the client processes and {godwit}
	Stderr io.Writer
}

// Run a study.
func Run(ctx context.Context, f *File, o Options) error {
	r := &runner{file: f, self: o.Self, stderr: o.Stderr}
	study, more, err := r.prepare(o.Quick)
	if err != nil {
		return err
	}
	if o.Resume {
		events, size, err := raw.Load(o.Out)
		if err != nil {
			return err
		}
		was := events[0].Study
		if was.Text != f.text || was.Quick != o.Quick {
			return fmt.Errorf("study: %s is of another study, or one that was changed since; name a new file with --out", o.Out)
		}
		for _, e := range events {
			switch e.Kind {
			case raw.KindResult:
				r.old = append(r.old, *e.Result)
			case raw.KindProbe:
				r.number = max(r.number, e.Probe.Number)
			case raw.KindEnd:
				return fmt.Errorf("study: %s is complete; see it with: godwit report %s", o.Out, o.Out)
			}
		}
		if r.w, err = raw.Continue(o.Out, size); err != nil {
			return err
		}
		r.say("%d windows were measured before", len(r.old))
	} else if r.w, err = raw.Create(o.Out); err != nil {
		return err
	}
	defer r.w.Close()
	for _, e := range append([]raw.Event{study}, more...) {
		if err := r.w.Append(e); err != nil {
			return err
		}
	}
	if err := r.run(ctx); err != nil {
		if ctx.Err() != nil {
			return ctx.Err()
		}
		r.w.Append(raw.Event{Kind: raw.KindError, Error: err.Error()})
		return err
	}
	return nil
}
