package output

import (
	"encoding/json"
	"math"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// What memtier_benchmark 2.3.0 gets wrong and this does not, one test each.

func TestBestAndWorstRun(t *testing.T) {
	rep := &Report{HideHistogram: true, Runs: []*result.Run{
		run(20*time.Millisecond, sets, gets), run(10*time.Millisecond, sets, gets), run(40*time.Millisecond, sets, gets)}}
	o := parsed(t, rep)
	for name, want := range map[string]float64{"BEST RUN RESULTS": 100000, "WORST RUN RESULTS": 25000} {
		if got := o.at(name, "Totals").num("Ops/sec"); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if o["RUN #1 RESULTS"] != nil {
		t.Error("runs are shown without --print-all-runs")
	}
	rep.PrintAllRuns = true
	var titles []string
	for _, l := range strings.Split(text(t, rep), "\n") {
		if strings.Contains(l, "RESULTS") {
			titles = append(titles, l)
		}
	}
	if got, want := strings.Join(titles, "|"), "RUN #1 RESULTS|RUN #2 RESULTS|RUN #3 RESULTS|BEST RUN RESULTS|WORST RUN RESULTS|AGGREGATED AVERAGE RESULTS (3 runs)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

func TestLatencyIsNotCut(t *testing.T) {
	o := parsed(t, &Report{Runs: []*result.Run{run(time.Second, sample{name: "SET", count: 3, us: []int64{1, 2, 4}})}})
	for _, name := range []string{"Sets", "Totals"} {
		r := o.at("ALL STATS", name)
		for _, key := range []string{"Latency", "Average Latency"} {
			if got := r.num(key); got != 0.00233 {
				t.Errorf("%s, %s: %v, want 0.00233", name, key, got)
			}
		}
		if got := r.num("Accumulated Latency"); got != 0.007 {
			t.Errorf("%s, Accumulated Latency: %v, want 0.007", name, got)
		}
	}
}

func TestAverageOfRuns(t *testing.T) {
	a := run(100*time.Millisecond, sample{name: "SET", count: 100, rx: 1024, tx: 2048, us: []int64{100}})
	b := run(200*time.Millisecond, sample{name: "SET", count: 100, rx: 1024, tx: 2048, us: []int64{300}})
	b.Start, b.End = b.Start.Add(time.Minute), b.End.Add(time.Minute)
	o := parsed(t, &Report{Runs: []*result.Run{a, b}})
	s := o.at("AGGREGATED AVERAGE RESULTS (2 runs)")
	for _, name := range []string{"Sets", "Totals"} {
		r := s.at(name)
		for key, want := range map[string]float64{"Count": 200, "Ops/sec": 750, "KB/sec": 22.5, "KB/sec RX": 7.5, "KB/sec TX": 15,
			"Average Latency": 0.2, "Latency": 0.2, "Accumulated Latency": 40} {
			if got := r.num(key); got != want {
				t.Errorf("%s, %s: %v, want %v", name, key, got, want)
			}
		}
		p := r.at("Percentile Latencies")
		near(t, name+" min", r.num("Min Latency"), 0.1)
		near(t, name+" max", r.num("Max Latency"), 0.3)
		near(t, name+" p50", p.num("p50.00"), 0.1)
		near(t, name+" p99", p.num("p99.00"), 0.3)
		if got := r.at("Time-Serie", "0").num("Count"); got != 200 {
			t.Errorf("%s: %v in the first second, want 200", name, got)
		}
		near(t, name+" seconds", r.at("Time-Serie", "0").num("Seconds"), 0.3)
	}
	rt := s.at("Runtime")
	if rt.num("Start time") != float64(a.Start.UnixMilli()) || rt.num("Finish time") != float64(b.End.UnixMilli()) || rt.num("Total duration") != 300 {
		t.Errorf("runtime is %v", rt)
	}
	if got := s.at("Averages")["Rates"]; got != "arithmetic mean of the runs" {
		t.Errorf("rates: %v", got)
	}
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if math.Abs(got-want) > want/500 {
		t.Errorf("%s: %v, want about %v", what, got, want)
	}
}

func TestTotalsOfCommandsAreTheirSum(t *testing.T) {
	rep := &Report{Commands: true, Runs: []*result.Run{run(time.Second,
		sample{name: "SET", count: 1, rx: 1024, tx: 1024, us: []int64{1}}, sample{name: "GET", count: 1, rx: 2048, tx: 4096, us: []int64{1}})}}
	r := parsed(t, rep).at("ALL STATS", "Totals")
	if r.num("KB/sec") != 8 || r.num("KB/sec RX") != 3 || r.num("KB/sec TX") != 5 {
		t.Errorf("totals are %v", r)
	}
}

func TestEmptyHistogram(t *testing.T) {
	rep := &Report{Runs: []*result.Run{run(time.Second, sets)}}
	for _, name := range []string{"Gets", "Waits"} {
		r := parsed(t, rep).at("ALL STATS", name)
		p := r.at("Percentile Latencies")
		for _, key := range []string{"p50.00", "p99.00", "p99.90"} {
			if got := p.num(key); got != 0 {
				t.Errorf("%s, %s: %v, want 0", name, key, got)
			}
		}
		h, err := hdrhistogram.Decode([]byte(p.at("Histogram log format")["Compressed Histogram"].(string)))
		if err != nil || h.TotalCount() != 0 {
			t.Errorf("%s: histogram of %d: %v", name, h.TotalCount(), err)
		}
		if r.num("Min Latency") != 0 || r.num("Max Latency") != 0 || r.num("Latency") != 0 {
			t.Errorf("%s: %v", name, r)
		}
	}
}

// seconds of a row with so many answers each.
func perBucket(name string, counts ...uint64) result.Row {
	r := result.Row{Name: name, Service: result.NewHistogram()}
	for _, n := range counts {
		s := result.Second{Service: result.NewHistogram(), Sum: int64(n) * 1000}
		s.Count, s.RX, s.TX = n, 2*n, 3*n
		s.Statuses[load.OK] = n
		_ = s.Service.RecordValues(1000, int64(n))
		_ = r.Service.RecordValues(1000, int64(n))
		r.Counts.Add(&s.Counts)
		r.Sum += s.Sum
		r.Seconds = append(r.Seconds, s)
	}
	return r
}

func TestLastBucket(t *testing.T) {
	for _, c := range []struct {
		name   string
		whole  time.Duration
		sets   []uint64
		counts []float64 // of Totals, with 10 gets in the first second
		last   float64   // Seconds of the last bucket
	}{
		{"whole seconds", 2 * time.Second, []uint64{5, 6}, []float64{15, 6}, 1},
		{"stragglers are in the second before", 2*time.Second + 600*time.Microsecond, []uint64{5, 6, 2}, []float64{15, 8}, 1.0006},
		{"stragglers after the planned end", 2 * time.Second, []uint64{5, 6, 2}, []float64{15, 8}, 1},
		{"a bucket with no answers", 3 * time.Second, []uint64{5}, []float64{15, 0, 0}, 1},
		{"empty end", 2 * time.Second, []uint64{5, 6, 0}, []float64{15, 6}, 1},
		{"half a second", 2500 * time.Millisecond, []uint64{5, 6, 3}, []float64{15, 6, 3}, 0.5},
		{"half a second without answers", 2500 * time.Millisecond, []uint64{5, 6}, []float64{15, 6, 0}, 0.5},
		{"less than a twentieth of a second", 10 * time.Millisecond, []uint64{5}, []float64{15}, 0.01},
	} {
		r := run(c.whole)
		r.Rows = []result.Row{perBucket("SET", c.sets...), perBucket("GET", 10)}
		s := parsed(t, &Report{Runs: []*result.Run{r}}).at("ALL STATS")
		for _, name := range []string{"Sets", "Gets", "Waits", "Totals"} {
			if n := len(s.at(name, "Time-Serie")); n != len(c.counts) {
				t.Errorf("%s: %s has %d buckets, want %d", c.name, name, n, len(c.counts))
			}
		}
		for i, want := range c.counts {
			b := s.at("Totals", "Time-Serie", string(rune('0'+i)))
			if got := b.num("Count"); got != want || b.num("Bytes TX") != 3*want {
				t.Errorf("%s: bucket %d has %v, want %v", c.name, i, b, want)
			}
			length := 1.0
			if x, ok := b["Seconds"]; ok {
				length = x.(float64)
			}
			if want := c.last; i == len(c.counts)-1 && length != want || i < len(c.counts)-1 && length != 1 {
				t.Errorf("%s: bucket %d is %v s", c.name, i, length)
			}
		}
		if len(r.Rows[0].Seconds) != len(c.sets) || r.Rows[0].Seconds[0].Count != c.sets[0] {
			t.Errorf("%s: the run was changed", c.name)
		}
	}
}

func TestRowNamesAreDistinct(t *testing.T) {
	r := run(time.Second, sample{name: "SET", count: 1, us: []int64{1}}, sample{name: "set", count: 2, us: []int64{1}},
		sample{name: "GET", count: 3, us: []int64{1}}, sample{name: "error", count: 4, us: []int64{1}},
		sample{name: "total", count: 5, us: []int64{1}}, sample{name: "SET", count: 6, us: []int64{1}})
	rep := &Report{Commands: true, ByLine: true, Runs: []*result.Run{r}}
	s := parsed(t, rep).at("ALL STATS")
	for name, want := range map[string]float64{"Sets": 1, "Sets-2": 2, "Gets": 3, "Errors-2": 4, "Totals-2": 5, "Sets-3": 6, "Totals": 21} {
		if got := s.at(name).num("Count"); got != want {
			t.Errorf("line: %s has %v, want %v", name, got, want)
		}
	}
	for _, name := range []string{"SET", "SET-2", "SET-3", "GET", "ERROR-2", "TOTAL-2"} {
		if _, ok := s[name].([]any); !ok {
			t.Errorf("line: no ladder %s", name)
		}
	}
	rep.ByLine = false
	s = parsed(t, rep).at("ALL STATS")
	if got := s.at("Sets").num("Count"); got != 9 || s["Sets-2"] != nil {
		t.Errorf("command: Sets has %v, want 9", got)
	}
}

func TestPercentileKeysAreDistinct(t *testing.T) {
	list := []float64{99.999, 50, 99.99, 99.9, 100, 0, 7.5, 12.345, 50}
	r := parsed(t, &Report{Percentiles: list, Runs: []*result.Run{run(time.Second, sets)}}).at("ALL STATS", "Sets")
	for _, key := range []string{"p0.000", "p7.500", "p12.345", "p50.00", "p99.90", "p99.99", "p99.999", "p100.0"} {
		if _, ok := r.at("Percentile Latencies")[key]; !ok {
			t.Errorf("no %s in the row", key)
		}
	}
	for _, key := range []string{"p0.00", "p7.50", "p12.345", "p50.00", "p99.90", "p99.99", "p99.999", "p100.0"} {
		if _, ok := r.at("Time-Serie", "0")[key]; !ok {
			t.Errorf("no %s in the second", key)
		}
	}
}

func TestWindows(t *testing.T) {
	r := run(time.Second, sample{name: "SET", count: 1000, us: []int64{1}})
	r.MeanStart, r.MeanEnd = r.Start.Add(100*time.Millisecond), r.End.Add(-400*time.Millisecond)
	s := parsed(t, &Report{Runs: []*result.Run{r}}).at("ALL STATS")
	if got := s.at("Totals").num("Ops/sec"); got != 2000 {
		t.Errorf("rate of the row is %v, want 2000", got)
	}
	if a, b := s.at("Runtime", "Rate window"), s.at("Runtime", "Whole window"); a.num("Ops/sec") != 2000 || a.num("Seconds") != 0.5 || b.num("Ops/sec") != 1000 || b.num("Seconds") != 1 {
		t.Errorf("windows are %v and %v", a, b)
	}
	r.MeanStart, r.MeanEnd = time.Time{}, time.Time{}
	if got := parsed(t, &Report{Runs: []*result.Run{r}}).at("ALL STATS", "Totals").num("Ops/sec"); got != 1000 {
		t.Errorf("rate without means is %v, want 1000", got)
	}
}

func TestErrorsAndClient(t *testing.T) {
	r := run(2*time.Second, sample{name: "SET", count: 10, us: []int64{1000}}, sample{name: "GET", count: 10, us: []int64{1000}})
	r.Rows[0].Statuses = [load.Statuses]uint64{load.OK: 6, load.Failed: 3, load.NotStored: 1}
	r.Rows[1].Statuses = [load.Statuses]uint64{load.OK: 9, load.Mismatch: 1}
	r.Rows[0].Planned = result.NewHistogram()
	_ = r.Rows[0].Planned.RecordValue(5e6)
	r.ConnErrors, r.Reconnects, r.Lost = 4, 3, 2
	r.Texts = []result.Text{{Text: "SERVER_ERROR out of memory storing object", N: 3}, {Text: "read: \"reset\"\x01\xff", N: 4}}
	r.Self = result.Self{CPU: 1500 * time.Millisecond, Cores: 2, Loops: 1, Busiest: .97, Limit: "a loop was busy", Late: result.NewHistogram()}
	_ = r.Self.Late.RecordValue(1e6)
	s := parsed(t, &Report{Runs: []*result.Run{r}}).at("ALL STATS")
	for name, want := range map[string]float64{"Failed": 3, "Mismatched": 1, "Declined": 1, "Lost": 2, "Connection Errors": 4, "Reconnects": 3} {
		if got := s.at("Errors").num(name); got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
	if got := s.at("Errors", "Texts"); got.num("SERVER_ERROR out of memory storing object") != 3 || got.num("read: \"reset\"\x01\ufffd") != 4 {
		t.Errorf("texts: %v", got)
	}
	if got := s.at("Totals"); got.num("Errors") != 4 || got.num("Connection Errors") != 4 || got.num("Connection Errors/sec") != 2 || got.num("Declined") != 1 {
		t.Errorf("totals: %v", got)
	}
	if got := s.at("Sets"); got.num("Errors") != 3 || got.num("Connection Errors") != 0 {
		t.Errorf("sets: %v", got)
	}
	near(t, "planned", s.at("Sets", "Planned Latencies").num("p99.00"), 5)
	near(t, "planned", s.at("Totals", "Planned Latencies").num("Average Latency"), 5)
	if s.at("Gets")["Planned Latencies"] != nil {
		t.Error("a row that was not planned has planned latencies")
	}
	c := s.at("Client")
	if c.num("CPU Seconds") != 1.5 || c.num("CPU Cores Used") != .75 || c.num("Busiest Loop") != .97 || c["Limit"] != "a loop was busy" {
		t.Errorf("client: %v", c)
	}
	near(t, "lateness", c.at("Lateness").num("p50.00"), 1)
}

func TestNothing(t *testing.T) {
	for _, rep := range []*Report{{}, {Runs: []*result.Run{{}}}, {Commands: true, Runs: []*result.Run{{}, {}}},
		{Runs: []*result.Run{{Rows: []result.Row{{Name: "SET"}}}}}, {Percentiles: []float64{}, Runs: []*result.Run{{}}}} {
		parsed(t, rep)
		text(t, rep)
	}
	bad := run(time.Second, sets)
	bad.Self.Busiest = math.NaN()
	parsed(t, &Report{Runs: []*result.Run{bad}, Config: []Setting{{"key_stddev", math.Inf(1)}}})
}

func TestRestOfJSON(t *testing.T) {
	rep := &Report{Threads: 2, Seconds: 4, Runs: []*result.Run{run(4*time.Second, sets)}, Verified: &Verified{Good: 5, Failed: 1},
		ActiveClients: (&Staircase{Start: 2, Step: 2, Most: 6, Every: 1, Seconds: 4}).Active()}
	o := parsed(t, rep)
	if got := o.at("client verifications results"); got.num("keys verified successfuly") != 5 || got.num("keys failed") != 1 {
		t.Errorf("%v", got)
	}
	for i, want := range []float64{2, 4, 6, 6} {
		got := o.at("ALL STATS", "Active Clients", string(rune('0'+i)))
		if got.num("Clients per thread") != want || got.num("Total clients") != 2*want {
			t.Errorf("second %d: %v, want %v", i, got, want)
		}
	}
	if want := "\n\nPerforming data verification...\nData verification completed:\n5          keys verified successfuly.\n1          keys failed.\n"; !strings.HasSuffix(text(t, rep), want) {
		t.Errorf("text does not end with%s", want)
	}
}

// unique fails when an object of the JSON has a key twice, which Unmarshal does not see.
func unique(t *rapid.T, d *json.Decoder) {
	tok, err := d.Token()
	if err != nil {
		t.Fatal(err)
	}
	open, ok := tok.(json.Delim)
	if !ok {
		return
	}
	seen := map[any]bool{}
	for d.More() {
		if open == '{' {
			key, _ := d.Token()
			if seen[key] {
				t.Fatalf("key %q twice", key)
			}
			seen[key] = true
		}
		unique(t, d)
	}
	_, _ = d.Token()
}

func TestJSONOfAnyRuns(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		commands := rapid.Bool().Draw(t, "commands")
		names := []string{"SET", "GET", "WAIT"}
		if commands {
			names = rapid.SliceOfN(rapid.OneOf(rapid.SampledFrom([]string{"GET", "set", "SET", "total", "error", "client"}), rapid.String()), 0, 5).Draw(t, "names")
		}
		rep := &Report{
			Commands: commands, ByLine: rapid.Bool().Draw(t, "line"), Cluster: rapid.Bool().Draw(t, "cluster"),
			PrintAllRuns: rapid.Bool().Draw(t, "all"), HideHistogram: rapid.Bool().Draw(t, "hide"),
			Percentiles: rapid.SliceOfN(rapid.Float64Range(0, 100), 0, 4).Draw(t, "percentiles"),
			Config:      []Setting{{"server", rapid.String().Draw(t, "server")}},
		}
		for range rapid.IntRange(0, 3).Draw(t, "runs") {
			r := &result.Run{Start: start, End: start.Add(time.Duration(rapid.Int64Range(0, 4e9).Draw(t, "whole")))}
			if rapid.Bool().Draw(t, "means") {
				r.MeanStart = r.Start.Add(time.Duration(rapid.Int64Range(-1e9, 1e9).Draw(t, "mean")))
				r.MeanEnd = r.End
			}
			for _, name := range names {
				if !commands && rapid.IntRange(0, 9).Draw(t, "absent") == 0 {
					continue
				}
				row := perBucket(name, rapid.SliceOfN(rapid.Uint64Range(0, 1e6), 0, 5).Draw(t, "counts")...)
				if rapid.Bool().Draw(t, "open loop") {
					row.Planned = row.Service
				}
				if rapid.IntRange(0, 9).Draw(t, "no histogram") == 0 {
					row.Service = nil
				}
				r.Rows = append(r.Rows, row)
			}
			r.Self.Busiest = rapid.Float64().Draw(t, "busiest")
			for _, s := range rapid.SliceOfN(rapid.String(), 0, 2).Draw(t, "texts") {
				r.Texts = append(r.Texts, result.Text{Text: s, N: 1})
			}
			rep.Runs = append(rep.Runs, r)
		}
		var b strings.Builder
		if err := JSON(&b, rep); err != nil {
			t.Fatal(err)
		}
		var o object
		if err := json.Unmarshal([]byte(b.String()), &o); err != nil {
			t.Fatalf("%v in\n%s", err, b.String())
		}
		unique(t, json.NewDecoder(strings.NewReader(b.String())))
		for title, v := range o {
			if title == "configuration" || title == "run information" {
				continue
			}
			s := object(v.(map[string]any))
			sums := map[string]float64{}
			rows := 0
			for name, v := range s {
				r, ok := v.(map[string]any)
				if !ok || r["Ops/sec"] == nil || name == "Totals" {
					continue
				}
				rows++
				bucket := 0.0
				for _, x := range object(r).at("Time-Serie") {
					bucket += object(x.(map[string]any)).num("Count")
				}
				if bucket != object(r).num("Count") {
					t.Fatalf("%s of %s: buckets have %v, the row %v", name, title, bucket, r["Count"])
				}
				for _, key := range []string{"Count", "Errors", "Ops/sec", "Hits/sec", "Misses/sec", "KB/sec", "KB/sec RX", "KB/sec TX", "Accumulated Latency"} {
					sums[key] += object(r).num(key)
				}
			}
			for key, want := range sums {
				got := s.at("Totals").num(key)
				if math.Abs(got-want) > 0.005*float64(rows+1)+1e-9*math.Abs(want) {
					t.Fatalf("%s: %s of Totals is %v, of the rows %v", title, key, got, want)
				}
			}
		}
		var out strings.Builder
		if err := Text(&out, rep); err != nil {
			t.Fatal(err)
		}
		if low := strings.ToLower(out.String()); !commands && (strings.Contains(low, "nan") || strings.Contains(low, "inf")) {
			t.Fatalf("no number in\n%s", out.String())
		}
	})
}
