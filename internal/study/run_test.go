package study

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"godwit/internal/study/raw"
)

// toy is a server that knows get, set, stats and version: toy PORT [WORD]. With "die" it ends at its 2000th request, with "lie"
// it answers every get with an error, and "wait" has it take a millisecond for each.
func toy(args []string) int {
	mode := ""
	if len(args) > 1 {
		mode = args[1]
	}
	l, err := net.Listen("tcp", "127.0.0.1:"+args[0])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	var gets, sets, hits atomic.Uint64
	var data sync.Map
	for {
		c, err := l.Accept()
		if err != nil {
			return 1
		}
		go func() {
			defer c.Close()
			in, out := bufio.NewReader(c), bufio.NewWriter(c)
			for {
				line, err := in.ReadString('\n')
				if err != nil {
					return
				}
				switch w := strings.Fields(line); {
				case len(w) == 0:
				case w[0] == "get":
					gets.Add(1)
					if mode == "wait" {
						time.Sleep(time.Millisecond)
					}
					if mode == "die" && gets.Load() > 2000 {
						fmt.Fprintln(os.Stderr, "toy: I am dying")
						os.Exit(7)
					}
					if mode == "lie" {
						out.WriteString("SERVER_ERROR no\r\n")
						break
					}
					if v, ok := data.Load(w[1]); ok {
						hits.Add(1)
						fmt.Fprintf(out, "VALUE %s 0 %d\r\n%s\r\n", w[1], len(v.([]byte)), v)
					}
					out.WriteString("END\r\n")
				case w[0] == "set":
					sets.Add(1)
					n, _ := strconv.Atoi(w[4])
					value := make([]byte, n+2)
					if _, err := io.ReadFull(in, value); err != nil {
						return
					}
					data.Store(w[1], value[:n])
					out.WriteString("STORED\r\n")
				case w[0] == "stats":
					fmt.Fprintf(out, "STAT pid %d\r\nSTAT uptime 10\r\nSTAT version toy\r\nSTAT threads 1\r\nSTAT cmd_get %d\r\nSTAT cmd_set %d\r\nSTAT get_hits %d\r\nSTAT get_misses %d\r\nEND\r\n",
						os.Getpid(), gets.Load(), sets.Load(), hits.Load(), gets.Load()-hits.Load())
				case w[0] == "version":
					out.WriteString("VERSION toy\r\n")
				case w[0] == "quit":
					return
				default:
					out.WriteString("ERROR\r\n")
				}
				if in.Buffered() == 0 && out.Flush() != nil {
					return
				}
			}
		}()
	}
}

// toys is a study of toy servers.
func toys(t *testing.T, more string, modes ...string) *File {
	t.Helper()
	text := `name = "toys"
[load]
args = "--threads=1 --clients=2 --ratio=1:10 --key-minimum=1 --key-maximum=100"
fill = "--threads=1 --clients=1 --ratio=1:0 --key-minimum=1 --key-maximum=100 --key-pattern=P:P --requests=allkeys"
[runs]
repetitions = 2
warmup = "50ms"
window = "150ms"
` + more
	for i, m := range modes {
		text += fmt.Sprintf("[[server]]\nname = \"toy%d\"\ncommand = \"{godwit} toy {port} %s\"\n", i, m)
	}
	f, err := Parse("toys.toml", text)
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func options(t *testing.T) (Options, *bytes.Buffer) {
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if err := exec.Command(self, "toy", "nowhere").Run(); errors.Is(err, syscall.ENOEXEC) {
		t.Skip("this program cannot start itself as a server: it is emulated")
	}
	var said bytes.Buffer
	return Options{Out: filepath.Join(t.TempDir(), "raw.jsonl"), Self: self, Stderr: &said}, &said
}

func events(t *testing.T, name string) (list []raw.Event, count map[string]int) {
	t.Helper()
	list, _, err := raw.Load(name)
	if err != nil {
		t.Fatal(err)
	}
	count = map[string]int{}
	for _, e := range list {
		count[e.Kind]++
	}
	return list, count
}

// gone fails if a server that was started still runs.
func gone(t *testing.T, list []raw.Event) {
	t.Helper()
	for _, e := range list {
		if e.Kind != raw.KindServer {
			continue
		}
		if cmd, err := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", e.Server.PID)); err == nil && bytes.Contains(cmd, []byte("toy")) {
			t.Errorf("server %s (%d) still runs", e.Server.Server, e.Server.PID)
		}
	}
}

func TestFixed(t *testing.T) {
	f := toys(t, "", "", "")
	o, said := options(t)
	if err := Run(t.Context(), f, o); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	list, n := events(t, o.Out)
	if n[raw.KindStudy] != 1 || n[raw.KindHost] != 1 || n[raw.KindProbe] != 4 || n[raw.KindResult] != 4 || n[raw.KindServer] != 4 || n[raw.KindEnd] != 1 {
		t.Errorf("events: %v", n)
	}
	var order []string
	for _, e := range list {
		if e.Kind != raw.KindResult {
			continue
		}
		r := e.Result
		order = append(order, r.Server)
		run, err := r.Parts[0].Decode()
		if err != nil {
			t.Fatal(err)
		}
		total := run.Total()
		if c := r.Parts[0].Counters; c == nil || c.Commands != total.Count {
			t.Errorf("window %d: the server counted %+v, the client %d (%s)", r.Number, c, total.Count, r.Parts[0].Problem)
		}
		if !r.Pass || r.Ops <= 0 || r.P99 <= 0 || r.Errors > 0 || r.HitRate != 1 || r.Usage == nil {
			t.Errorf("window %d: pass %v, %g ops/s, p99 %g ms, %d errors, hits %g, usage %v", r.Number, r.Pass, r.Ops, r.P99, r.Errors, r.HitRate, r.Usage)
		}
	}
	if got := strings.Join(order, " "); got != "toy0 toy1 toy1 toy0" {
		t.Errorf("order of the runs: %s", got)
	}
	gone(t, list)
	if err := Run(t.Context(), f, o); err == nil || !strings.Contains(err.Error(), "is there already") {
		t.Errorf("over a file that is there: %v", err)
	}
	o.Resume = true
	if err := Run(t.Context(), f, o); err == nil || !strings.Contains(err.Error(), "complete") {
		t.Errorf("going on with a complete one: %v", err)
	}
}

func TestSearchStopsAndGoesOn(t *testing.T) {
	f := toys(t, "[target]\np99 = \"1h\"\n[search]\nby = \"concurrency\"\nmax_threads = 1\nmax_clients = 2\nmax_pipeline = 2\n", "wait")
	o, said := options(t)
	ctx, cancel := context.WithCancel(t.Context())
	go func() { // stopped after its first results
		for ctx.Err() == nil {
			if b, _ := os.ReadFile(o.Out); bytes.Count(b, []byte(`"event":"result"`)) >= 2 {
				cancel()
			}
			time.Sleep(5 * time.Millisecond)
		}
	}()
	if err := Run(ctx, f, o); err != context.Canceled {
		t.Fatalf("stopped: %v\n%s", err, said)
	}
	list, n := events(t, o.Out)
	gone(t, list)
	before := n[raw.KindResult]
	if before < 2 || n[raw.KindEnd] != 0 {
		t.Fatalf("events: %v", n)
	}
	// Killed in the middle of a line.
	file, err := os.OpenFile(o.Out, os.O_APPEND|os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	file.WriteString(`{"event":"result","resu`)
	file.Close()
	o.Resume = true
	if err := Run(t.Context(), f, o); err != nil {
		t.Fatalf("going on: %v\n%s", err, said)
	}
	list, n = events(t, o.Out)
	gone(t, list)
	if n[raw.KindStudy] != 2 || n[raw.KindFound] != 1 || n[raw.KindEnd] != 1 || n[raw.KindResult] <= before {
		t.Errorf("events: %v", n)
	}
	numbers := map[int]bool{}
	for _, e := range list {
		switch e.Kind {
		case raw.KindResult:
			if numbers[e.Result.Number] {
				t.Errorf("window %d twice", e.Result.Number)
			}
			numbers[e.Result.Number] = true
		case raw.KindFound:
			if b := e.Found.Best; b == nil {
				t.Errorf("found: %+v", e.Found)
			}
		}
	}
}

func TestInstances(t *testing.T) {
	f := toys(t, "[target]\np99 = \"1h\"\n[search]\nby = \"instances\"\nmax = 2\n", "")
	o, said := options(t)
	if err := Run(t.Context(), f, o); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	list, _ := events(t, o.Out)
	gone(t, list)
	last := list[len(list)-2].Result
	if last == nil || len(last.Parts) != 2 || last.Point.Instances != 2 {
		t.Errorf("the last result is not of two instances")
	}
}

func TestBadServers(t *testing.T) {
	for _, c := range []struct{ name, mode, command, want string }{
		{"dies", "die", "", "I am dying"},
		{"does not start", "", "{godwit} toy {port}x", "did not start"},
		{"is not there", "", "/no/such/memcached {port}", "is not installed; install it, or leave it out with optional = true"},
	} {
		t.Run(c.name, func(t *testing.T) {
			f := toys(t, "", c.mode)
			if c.command != "" {
				f.Server[0].Command = c.command
			}
			o, said := options(t)
			err := Run(t.Context(), f, o)
			if err == nil || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v\n%s", err, said)
			}
			if _, err := os.Stat(o.Out); err != nil {
				return // nothing was begun
			}
			list, n := events(t, o.Out)
			gone(t, list)
			if n[raw.KindError] != 1 {
				t.Errorf("events: %v", n)
			}
		})
	}
}

func TestWrongAnswers(t *testing.T) {
	o, said := options(t)
	if err := Run(t.Context(), toys(t, "", "lie"), o); err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(said.String(), "SERVER_ERROR no") {
		t.Errorf("it said: %s", said)
	}
	list, _ := events(t, o.Out)
	for _, e := range list {
		if e.Kind == raw.KindResult && (e.Result.Pass || e.Result.Errors == 0) {
			t.Errorf("window %d: pass %v, %d errors", e.Result.Number, e.Result.Pass, e.Result.Errors)
		}
	}
}

func TestFull(t *testing.T) {
	if _, err := os.Stat("/dev/full"); err != nil {
		t.Skip("no /dev/full")
	}
	w, err := raw.Continue("/dev/full", 0)
	if err != nil {
		t.Skip(err)
	}
	if err := w.Append(raw.Event{Kind: raw.KindEnd}); err == nil || !strings.Contains(err.Error(), "--resume") {
		t.Errorf("a full disk: %v", err)
	}
}
