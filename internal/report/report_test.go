package report

import (
	"bytes"
	"encoding/json"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/host"
	"godwit/internal/load"
	"godwit/internal/load/result"
	"godwit/internal/study/raw"
)

var update = flag.Bool("update", false, "write testdata anew")

var noon = time.Date(2026, 11, 30, 12, 0, 0, 0, time.UTC)

// part of a window of two seconds at a rate, whose latencies rise from half of p99 to a little over it.
func part(ops, p99 float64) raw.Part {
	run := &result.Run{Start: noon, End: noon.Add(2 * time.Second), MeanStart: noon, MeanEnd: noon.Add(2 * time.Second)}
	row := result.Row{Name: "Gets", Service: result.NewHistogram()}
	n := uint64(ops * 2 / 1000) // one for a thousand: the file is to be small
	for i := range n {
		row.Service.RecordValue(int64(1e6 * p99 * (0.5 + 0.5/0.99*float64(i)/float64(n))))
	}
	row.Count, row.Keys, row.Hits = n, n, n
	row.Statuses[load.OK] = n
	for range 2 {
		h := result.NewHistogram()
		row.Seconds = append(row.Seconds, result.Second{Counts: result.Counts{Count: n / 2}, Service: h})
	}
	run.Rows = []result.Row{row}
	return raw.Part{Run: run.Append(nil), Ops: ops, P99: p99, Pass: p99 <= 1, Counters: &raw.Counters{Version: "1.6", Commands: n, Hits: n}}
}

// study of two servers, a search each and runs by turns; the second server is factor times as fast.
func events(factor float64, runs int) (list []raw.Event) {
	add := func(e raw.Event) {
		e.Time = noon
		list = append(list, e)
	}
	add(raw.Event{Kind: raw.KindStudy, Study: &raw.Study{
		Format: raw.Format, Program: "0.1", Name: "model", Question: "Which of the two?", Chosen: []string{"everything"}, Quick: true, Search: "rate", P99: 1,
		Warmup: 1, Window: 2, Repetitions: runs, Baseline: "slow", Load: []string{"--ratio=0:1"},
		Servers: []raw.Subject{
			{Name: "slow", Command: "slow {port}", Price: 0.768, PriceSource: "list, USD, 2022-09", Cores: host.Set{0}, Client: host.Set{1}},
			{Name: "fast", Command: "fast {port}", Price: 0.616, PriceSource: "list, USD, 2022-09", Cores: host.Set{0}, Client: host.Set{1}},
		},
	}})
	add(raw.Event{Kind: raw.KindHost, Host: &host.Host{Time: noon, Name: "box", System: host.System{OS: "linux", Arch: "x86_64"}, CPU: host.CPU{Model: "A <fine> processor", Cores: 2}}})
	add(raw.Event{Kind: raw.KindSkip, Skip: &raw.Skip{Server: "third", Why: "third is not installed"}})
	number := 0
	probe := func(server, phase string, round int, rate, ops, p99 float64, reason string) {
		number++
		p := raw.Point{Rate: rate}
		add(raw.Event{Kind: raw.KindProbe, Probe: &raw.Probe{Number: number, Server: server, Phase: phase, Round: round, Point: p, Reason: reason, Commands: []string{"godwit memtier -p 1 --rate=" + fmt.Sprint(rate)}}})
		r := &raw.Result{
			Number: number, Server: server, Phase: phase, Round: round, Point: p, Pass: p99 <= 1, Ops: ops, P50: p99 / 2, P99: p99, P999: p99 * 1.1, HitRate: 1,
			Parts: []raw.Part{part(ops, p99)}, ServerCPU: 1e6 / ops, ClientCPU: 2, RSS: 50e6, Watts: 95, WattsFrom: "given: 95 W",
			Cores: []raw.Cores{{Second: 1, CPUs: map[int]host.Shares{0: {User: 0.5, System: 0.5}, 1: {User: 0.25, Idle: 0.75}}}},
		}
		if p99 > 1 {
			r.Note = fmt.Sprintf("p99 %.3f ms > 1 ms", p99)
		}
		add(raw.Event{Kind: raw.KindResult, Result: r})
	}
	speed := map[string]float64{"slow": 1, "fast": factor}
	for _, s := range []string{"slow", "fast"} {
		add(raw.Event{Kind: raw.KindServer, Server: &raw.Server{Server: s, Command: s + " 11211", PID: 1, Filled: "godwit memtier --fill"}})
		f := speed[s]
		probe(s, raw.PhaseSearch, 0, 50e3*f, 50e3*f, 0.3, "start")
		probe(s, raw.PhaseSearch, 0, 100e3*f, 100e3*f, 0.9, "twice as much")
		probe(s, raw.PhaseSearch, 0, 200e3*f, 120e3*f, 7, "twice as much")
		add(raw.Event{Kind: raw.KindFound, Found: &raw.Found{
			Server: s, Status: "confirmed", Best: &raw.Point{Rate: 100e3 * f}, Below: &raw.Point{Rate: 50e3 * f}, Above: &raw.Point{Rate: 200e3 * f},
		}})
	}
	for round := range runs {
		for _, s := range []string{"slow", "fast"} {
			ops := 100e3 * speed[s] * (1 + 0.01*float64(round%3))
			probe(s, raw.PhaseCompare, round, 100e3*speed[s], ops, 0.9, "turn")
		}
	}
	add(raw.Event{Kind: raw.KindEnd})
	return list
}

func encode(t *testing.T, list []raw.Event) []byte {
	t.Helper()
	var b bytes.Buffer
	for _, e := range list {
		if err := json.NewEncoder(&b).Encode(e); err != nil {
			t.Fatal(err)
		}
	}
	return b.Bytes()
}

// golden compares with a file of testdata, or writes it.
func golden(t *testing.T, name string, got []byte) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, got, 0o666); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s differs (go test -update writes it anew):\n%s", name, firstDifference(want, got))
	}
}

func firstDifference(want, got []byte) string {
	a, b := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d:\n%.300s\nwas\n%.300s", i+1, b[i], a[i])
		}
	}
	return fmt.Sprintf("%d lines, not %d", len(b), len(a))
}

func TestGoldens(t *testing.T) {
	if *update {
		if err := os.WriteFile("testdata/model.jsonl", encode(t, events(1.04, 6)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	for _, c := range []struct {
		name string
		args []string
	}{
		{"model.txt", nil},
		{"model.md", []string{"-o", "x.md"}},
		{"model.csv", []string{"--out=x.csv"}},
		{"model.html", []string{"-o", "x.html"}},
		{"model.bench", []string{"--benchfmt"}},
	} {
		var stdout, stderr bytes.Buffer
		args := append([]string{"testdata/model.jsonl"}, c.args...)
		out := ""
		for i := range args {
			if strings.Contains(args[i], "x.") {
				out = filepath.Join(t.TempDir(), "x"+filepath.Ext(args[i]))
				args[i] = strings.Replace(args[i], "x"+filepath.Ext(args[i]), out, 1)
			}
		}
		if status := Main("report", args, &stdout, &stderr); status != 0 {
			t.Fatalf("%s: %d %s", c.name, status, &stderr)
		}
		got := stdout.Bytes()
		if out != "" {
			var err error
			if got, err = os.ReadFile(out); err != nil {
				t.Fatal(err)
			}
		}
		golden(t, c.name, got)
	}
}

// The page asks for nothing from anywhere, and what comes from files is no markup.
func TestPageIsAlone(t *testing.T) {
	r, err := Build([]file{{"a.jsonl", events(1.04, 6)}})
	if err != nil {
		t.Fatal(err)
	}
	var b bytes.Buffer
	if err := r.HTML(&b); err != nil {
		t.Fatal(err)
	}
	for _, bad := range []string{"<script", "http://", "https://", "url(", "@import", "<fine>", "NaN", "Inf", "ZgotmplZ"} {
		if strings.Contains(b.String(), bad) {
			t.Errorf("the page has %q", bad)
		}
	}
	if n := strings.Count(b.String(), "<svg"); n != 8 {
		t.Errorf("%d pictures", n)
	}
}

func TestVerdicts(t *testing.T) {
	for _, c := range []struct {
		factor float64
		runs   int
		want   string
		slower bool
	}{
		{1.5, 6, "faster", false},
		{0.5, 6, "slower", true},
		{1, 6, "no difference", false},
		{1.5, 2, "too few runs (2) to tell", false},
	} {
		r, err := Build([]file{{"a.jsonl", events(c.factor, c.runs)}})
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(r.Verdict[0], c.want) || r.slower() != c.slower {
			t.Errorf("%g times in %d runs: %s", c.factor, c.runs, r.Verdict[0])
		}
		adv := r.Rows[1].Advantage
		if want := c.factor * 0.768 / 0.616; math.Abs(adv.PricePerformance/want-1) > 1e-9 {
			t.Errorf("price-performance %g, not %g", adv.PricePerformance, want)
		}
	}
}

// Two machines' files lie side by side; one that was stopped says so.
func TestTwoFiles(t *testing.T) {
	stopped := events(1, 6)
	stopped = stopped[:len(stopped)-1]
	r, err := Build([]file{{"one.jsonl", events(1, 6)}, {"dir/other.jsonl", stopped}})
	if err != nil {
		t.Fatal(err)
	}
	var labels []string
	for _, w := range r.Rows {
		labels = append(labels, w.Label)
	}
	if got := strings.Join(labels, ", "); got != "slow (one), fast (one), slow (other), fast (other)" {
		t.Error(got)
	}
	if r.Complete || !strings.Contains(strings.Join(r.Notes, "\n"), "other.jsonl is not complete") {
		t.Errorf("notes: %q", r.Notes)
	}
}

func TestNothingMeasured(t *testing.T) {
	r, err := Build([]file{{"a.jsonl", events(1, 6)[:3]}})
	if err != nil {
		t.Fatal(err)
	}
	r.Text(io.Discard, false)
	if err := r.HTML(io.Discard); err != nil {
		t.Error(err)
	}
	if !strings.Contains(r.Verdict[0], "No server was measured") {
		t.Error(r.Verdict)
	}
}

func TestCommandLine(t *testing.T) {
	damaged := filepath.Join(t.TempDir(), "damaged.jsonl")
	b := bytes.SplitAfter(encode(t, events(0.5, 6)), []byte("\n"))
	b[4] = []byte("{\"event\":\n")
	if err := os.WriteFile(damaged, bytes.Join(b, nil), 0o666); err != nil {
		t.Fatal(err)
	}
	slower := filepath.Join(t.TempDir(), "slower.jsonl")
	if err := os.WriteFile(slower, encode(t, events(0.5, 6)), 0o666); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		args   []string
		status int
		want   string
	}{
		{nil, 2, "which raw files?"},
		{[]string{"--zebra"}, 2, "unknown option --zebra"},
		{[]string{"/no/such.jsonl"}, 1, "no such file"},
		{[]string{damaged}, 1, "damaged.jsonl:5: damaged line"},
		{[]string{slower, "-o", "x.docx"}, 2, "reports end in"},
		{[]string{slower, "--fail-on-regression"}, 3, "slower than the baseline slow"},
		{[]string{"testdata/model.jsonl", "--fail-on-regression"}, 0, ""},
	} {
		var stdout, stderr bytes.Buffer
		if status := Main("report", c.args, &stdout, &stderr); status != c.status || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%q: %d %s", c.args, status, &stderr)
		}
	}
}
