package memtier

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/agent"
	"godwit/internal/load/face"
	"godwit/internal/load/memtier/output"
	"godwit/internal/load/result"
)

// between runs of --run-count.
const pause = time.Second

// Main runs the command line and gives its exit status. prog is what the program was called as.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	o, exit := Parse(prog, args)
	if exit == nil {
		exit = o.Prepare(prog)
	}
	if exit != nil {
		io.WriteString(stdout, exit.Stdout)
		io.WriteString(stderr, exit.Stderr)
		return exit.Code
	}
	f := &job{o: o, prog: prog, stdout: stdout, stderr: stderr}
	defer f.close()
	ctx, stop := face.Signals()
	defer stop()
	if err := f.run(ctx); err != nil {
		return f.fail(err)
	}
	return f.verdict()
}

// Plan implements load.Planner.
func Plan(args []string, run, part, parts int) (*load.Plan, error) {
	o, exit := Parse("memtier", args)
	if exit == nil {
		exit = o.Prepare("memtier")
	}
	if exit != nil {
		return nil, fmt.Errorf("%s", bytes.TrimSpace([]byte(exit.Stderr)))
	}
	p, err := newPlanner(o)
	if err != nil {
		return nil, err
	}
	return p.plan(run, part, parts)
}

// job runs a command line.
type job struct {
	o              *Options
	prog           string
	stdout, stderr io.Writer
	planner        *planner
	tables         *os.File // --out-file
	json           *os.File
	statsd         *output.Statsd
	report         output.Report
	interrupted    bool
}

func (f *job) say(format string, a ...any) { fmt.Fprintf(f.stderr, format+"\n", a...) }

func (f *job) fail(err error) int {
	f.say("%s: %v", f.prog, err)
	return ExitSetup
}

func (f *job) close() {
	for _, file := range []*os.File{f.tables, f.json} {
		if file != nil {
			file.Close()
		}
	}
	if f.statsd != nil {
		f.statsd.Close()
	}
}

// run does everything but judge.
func (f *job) run(ctx context.Context) (err error) {
	o := f.o
	for _, w := range o.Warnings {
		f.say("%s: warning: %s", f.prog, w)
	}
	if err := f.open(); err != nil {
		return err
	}
	f.report = output.Report{
		Config: o.Config(), Threads: o.Threads, ClientsPerThread: o.Clients, RequestsPerClient: f.requestsPerClient(), Seconds: o.TestTime,
		Percentiles: o.Percentiles, PrintAllRuns: o.PrintAllRuns, HideHistogram: o.HideHistogram, Cluster: o.Cluster,
		Commands: len(o.Commands) > 0, ByLine: o.ByLine, ActiveClients: o.Stairs(),
	}
	if o.ShowConfig {
		io.WriteString(f.stderr, output.ConfigBegin)
		output.Config(f.stdout, f.report.Config)
		io.WriteString(f.stderr, output.ConfigEnd)
	}
	if f.planner, err = newPlanner(o); err != nil {
		return err
	}
	for i := range f.runs() {
		if i > 0 {
			select {
			case <-time.After(pause):
			case <-ctx.Done():
			}
		}
		if ctx.Err() != nil {
			break
		}
		r, err := f.once(ctx, i)
		if err != nil {
			if len(f.report.Runs) == 0 {
				return err
			}
			f.say("%s: run %d: %v", f.prog, i+1, err)
			break
		}
		f.report.Runs = append(f.report.Runs, r)
	}
	f.interrupted = ctx.Err() != nil
	if o.DataVerify && !f.interrupted {
		if err := f.verify(ctx); err != nil {
			f.write()
			return err
		}
	}
	return f.write()
}

// runs of the load.
func (f *job) runs() int {
	if f.o.VerifyOnly {
		return 0
	}
	return f.o.RunCount
}

func (f *job) requestsPerClient() uint64 {
	if !f.o.AllKeys {
		return f.o.Requests
	}
	n, _ := f.o.allKeys(0, f.o.Connections())
	return n
}

// open the files that results go to, before the load: it would be a pity to find out afterwards.
func (f *job) open() (err error) {
	o := f.o
	if o.OutFile != "" {
		if f.tables, err = os.Create(o.OutFile); err != nil {
			return fmt.Errorf("--out-file: %w", err)
		}
		f.stdout = f.tables
	}
	if o.JSONOutFile != "" {
		if f.json, err = os.Create(o.JSONOutFile); err != nil {
			return fmt.Errorf("--json-out-file: %w", err)
		}
	}
	if o.StatsdHost != "" {
		f.statsd, err = output.NewStatsd(o.StatsdHost, o.StatsdPort, o.GraphitePort, o.StatsdPrefix, o.StatsdRunLabel, o.Percentiles,
			func(err error) { f.say("%s: warning: %v", f.prog, err) })
	}
	return err
}

// once is one run of the load.
func (f *job) once(ctx context.Context, run int) (*result.Run, error) {
	o := f.o
	plan, err := f.planner.plan(run, 0, 1)
	if err != nil {
		return nil, err
	}
	if o.ClientsStart > 0 && !o.Quiet {
		o.staircase().Print(f.stderr, run+1, o.Threads)
	}
	if f.statsd != nil {
		f.statsd.Started(run+1, o.Threads, o.Clients)
	}
	p := progress{f: f, run: run + 1, requests: f.report.RequestsPerClient * uint64(o.Connections())}
	r, err := f.drive(ctx, run, plan, &p)
	if err != nil {
		return nil, err
	}
	p.end(r)
	if f.statsd != nil {
		f.statsd.Zero()
		f.statsd.Completed(run + 1)
	}
	return r, nil
}

// drive runs a plan here, or has agents run it, and keeps what the servers counted.
func (f *job) drive(ctx context.Context, run int, plan *load.Plan, p *progress) (*result.Run, error) {
	o := f.o
	l := face.Load{Plan: plan, Requests: p.requests, Stderr: f.stderr, Quiet: o.Quiet || !o.Top, Top: o.Top, Watch: p.watch}
	var at []face.Server
	for _, t := range f.planner.fleet.targets {
		at = append(at, face.Server{Target: t, Protocol: string(o.Protocol)})
	}
	l.Title = face.Title("memtier", at)
	if !o.NoServerStats {
		l.Servers = at
	}
	if len(o.Agents) > 0 {
		l.Away = func(ctx context.Context, watch func(*result.Snapshot)) (*result.Run, error) {
			return agent.Run(ctx, agent.Job{Agents: o.Agents, Token: []byte(o.AgentToken), Face: "memtier", Args: o.Args(), Run: run}, watch)
		}
	}
	r, seen, err := l.Run(ctx)
	if err != nil {
		return nil, err
	}
	for _, w := range seen.Warnings() {
		f.say("%s: warning: %s", f.prog, w)
	}
	machines := face.MachinesOf(r)
	for _, line := range machines.Lines() {
		f.say("%s: %s", f.prog, line)
	}
	if seen == nil && machines == nil {
		return r, nil
	}
	text, err := json.Marshal(struct {
		*face.Observed
		Machines *face.Machines `json:"machines,omitempty"`
	}{seen, machines})
	f.report.Servers = append(f.report.Servers, text)
	return r, err
}

// write all results.
func (f *job) write() error {
	o, rep := f.o, &f.report
	if len(rep.Runs) == 0 && rep.Verified == nil {
		return nil
	}
	if err := output.Text(f.stdout, rep); err != nil {
		return fmt.Errorf("writing the results: %w", err)
	}
	if f.json != nil {
		if err := output.JSON(f.json, rep); err != nil {
			return fmt.Errorf("--json-out-file: %w", err)
		}
	}
	for i, r := range rep.Runs {
		if o.HDRFilePrefix != "" {
			for _, file := range output.HDRFiles(o.HDRFilePrefix, rep, i+1) {
				if err := create(file.Path, file.Write); err != nil {
					return fmt.Errorf("--hdr-file-prefix: %w", err)
				}
			}
		}
		if o.ClientStats == "" {
			continue
		}
		seen := map[int]int{}
		clients := f.planner.fleet.clients(r.Clients)
		for k := range clients {
			c := &clients[k]
			path := output.ClientPath(o.ClientStats, i+1, c.Loop, seen[c.Loop])
			seen[c.Loop]++
			if err := create(path, func(w io.Writer) error { return output.ClientCSV(w, rep, c) }); err != nil {
				return fmt.Errorf("--client-stats: %w", err)
			}
		}
	}
	return nil
}

func create(path string, write func(io.Writer) error) error {
	file, err := os.Create(path)
	if err != nil {
		return err
	}
	if err := write(file); err != nil {
		file.Close()
		return err
	}
	return file.Close()
}

// verdict says what went wrong, and gives the exit status.
func (f *job) verdict() int {
	code := 0
	bad := func(format string, a ...any) {
		f.say(f.prog+": "+format, a...)
		code = ExitSetup
	}
	if len(f.report.Runs) == 0 && f.runs() > 0 {
		bad("no run came to its end")
	}
	if err := f.planner.imported.failure(); err != nil {
		bad("%v", err)
	}
	switch v := f.report.Verified; {
	case v == nil:
		if f.o.DataVerify {
			bad("interrupted before the data was verified")
		}
	case v.Failed > 0:
		bad("%d of %d keys have not the value that was set", v.Failed, v.Good+v.Failed)
	case v.Good == 0:
		bad("there was no key to verify: no sets were made")
	}
	for i, r := range f.report.Runs {
		name := ""
		if len(f.report.Runs) > 1 {
			name = fmt.Sprintf("run %d: ", i+1)
		}
		t := r.Total()
		if t.Count == 0 {
			bad("%sno request was answered", name)
		}
		if n := t.Errors(); n > 0 {
			bad("%s%d of %d requests were answered with an error", name, n, t.Count)
		}
		if r.ConnErrors > 0 {
			bad("%s%d connection errors", name, r.ConnErrors)
		}
		if r.Lost > 0 && !r.Interrupted {
			bad("%s%d requests were not answered", name, r.Lost)
		}
		for _, x := range r.Texts[:min(len(r.Texts), 5)] {
			f.say("%s: %s%d times: %s", f.prog, name, x.N, oneLine(x.Text))
		}
		if keys := t.Hits + t.Misses; f.o.MissRate >= 0 && keys > 0 && float64(t.Misses)*100 > f.o.MissRate*float64(keys) {
			bad("%s%.1f %% of the keys were missed, more than the %g %% allowed", name, 100*float64(t.Misses)/float64(keys), f.o.MissRate)
		}
		if r.Self.Limit != "" {
			f.say("%s: warning: %s%s", f.prog, name, r.Self.Limit)
		}
	}
	return code
}
