package ycsb

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// measured makes a result for a command line: in each row n operations of us µs, planned as much earlier.
func measured(t *testing.T, args string, n map[string]int) (*settings, *rows, *result.Run) {
	t.Helper()
	s := set(t, words2(args)...)
	rs := newRows(s)
	r := &result.Run{Start: time.Unix(1000, 0), End: time.Unix(1002, 0)}
	for _, row := range rs.list {
		x := result.Row{Name: row.section, Service: result.NewHistogram()}
		if s.target > 0 {
			x.Planned = result.NewHistogram()
		}
		k := uint64(n[row.section])
		if row.op == opRMWRead || row.op == opRMWUpdate {
			k = 0
		}
		sec := result.Second{Service: result.NewHistogram()}
		for i := range k {
			ns := int64(i+1) * 1000
			x.Service.RecordValue(ns)
			sec.Service.RecordValue(ns)
			x.Sum += ns
			if x.Planned != nil {
				x.Planned.RecordValue(2 * ns)
			}
		}
		x.Count = k
		x.TX = k
		switch row.outcome {
		case fine:
			x.Statuses[load.OK] = k
			x.Hits = k
		case notFound:
			x.Misses = k
		}
		sec.Counts, sec.Sum = x.Counts, x.Sum
		x.Seconds = []result.Second{sec}
		r.Rows = append(r.Rows, x)
	}
	return s, rs, r
}

func TestText(t *testing.T) {
	s, rs, r := measured(t, "run memcached b -p hdrhistogram.percentiles=50,99.9,100", map[string]int{"READ": 100, "READ-FAILED": 1, "UPDATE": 3})
	var b, stderr bytes.Buffer
	code := s.summarize(rs, r).report("ycsb", keepOpen{&b}, &stderr)
	const want = `[OVERALL], RunTime(ms), 2000
[OVERALL], Throughput(ops/sec), 52.0
[READ], Operations, 100
[READ], AverageLatency(us), 50.5
[READ], MinLatency(us), 1
[READ], MaxLatency(us), 100
[READ], 50thPercentileLatency(us), 50
[READ], 99.9PercentileLatency(us), 100
[READ], 100thPercentileLatency(us), 100
[READ], Return=OK, 100
[READ], Return=NOT_FOUND, 1
[READ-FAILED], Operations, 1
[READ-FAILED], AverageLatency(us), 1.0
[READ-FAILED], MinLatency(us), 1
[READ-FAILED], MaxLatency(us), 1
[READ-FAILED], 50thPercentileLatency(us), 1
[READ-FAILED], 99.9PercentileLatency(us), 1
[READ-FAILED], 100thPercentileLatency(us), 1
[UPDATE], Operations, 3
[UPDATE], AverageLatency(us), 2.0
[UPDATE], MinLatency(us), 1
[UPDATE], MaxLatency(us), 3
[UPDATE], 50thPercentileLatency(us), 2
[UPDATE], 99.9PercentileLatency(us), 3
[UPDATE], 100thPercentileLatency(us), 3
[UPDATE], Return=OK, 3
`
	if b.String() != want {
		t.Errorf("%s\nwant\n%s", b.String(), want)
	}
	if code != ExitFailed || stderr.String() != "ycsb: 1 of 104 operations failed\n" {
		t.Errorf("exit status %d, %q", code, &stderr)
	}
}

func TestIntervals(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "READ"},
		{"-target 10", "READ"},
		{"-target 10 -p measurement.interval=intended", "Intended-READ"},
		{"-target 10 -p measurement.interval=both", "READ Intended-READ"},
		{"-p exporter=json", "READ"},
		{"-target 10 -p exporter=json", "READ Intended-READ"},
		{"-target 10 -p exporter=site.ycsb.measurements.exporter.JSONArrayMeasurementsExporter", "READ Intended-READ"},
	} {
		s, rs, r := measured(t, "run memcached c "+c.args, map[string]int{"READ": 10})
		var b bytes.Buffer
		s.summarize(rs, r).print(&b)
		var got []string
		var all []entry
		switch s.exporter {
		case "text":
			for line := range strings.Lines(b.String()) {
				all = append(all, entry{Metric: strings.Trim(strings.Split(line, ", ")[0], "[]")})
			}
		case "json":
			d := json.NewDecoder(&b)
			for d.More() {
				var e entry
				if err := d.Decode(&e); err != nil {
					t.Fatal(err)
				}
				all = append(all, e)
			}
		default:
			if err := json.Unmarshal(b.Bytes(), &all); err != nil {
				t.Fatal(err)
			}
		}
		for _, e := range all {
			if e.Metric != "OVERALL" && (len(got) == 0 || got[len(got)-1] != e.Metric) {
				got = append(got, e.Metric)
			}
		}
		if strings.Join(got, " ") != c.want {
			t.Errorf("%s: sections %v, want %s", c.args, got, c.want)
		}
	}
}

func TestStyles(t *testing.T) {
	for style, want := range map[string]string{
		"plain": "Run finished, takes 2s\nREAD   - Takes(s): 2.0, Count: 100, OPS: 50.0, Avg(us): 50, Min(us): 1, Max(us): 100, 50th(us): 50, " +
			"90th(us): 90, 95th(us): 95, 99th(us): 99, 99.9th(us): 100, 99.99th(us): 100\n" +
			"READ_ERROR - Takes(s): 2.0, Count: 1, OPS: 0.5, Avg(us): 1, Min(us): 1, Max(us): 1, 50th(us): 1, 90th(us): 1, 95th(us): 1, 99th(us): 1, " +
			"99.9th(us): 1, 99.99th(us): 1\n" +
			"TOTAL  - Takes(s): 2.0, Count: 100, OPS: 50.0, Avg(us): 50, Min(us): 1, Max(us): 100, 50th(us): 50, 90th(us): 90, 95th(us): 95, " +
			"99th(us): 99, 99.9th(us): 100, 99.99th(us): 100\n",
		"table": `Run finished, takes 2s
+------------+----------+-------+------+---------+---------+---------+----------+----------+----------+----------+------------+-------------+
| OPERATION  | TAKES(S) | COUNT | OPS  | AVG(US) | MIN(US) | MAX(US) | 50TH(US) | 90TH(US) | 95TH(US) | 99TH(US) | 99.9TH(US) | 99.99TH(US) |
+------------+----------+-------+------+---------+---------+---------+----------+----------+----------+----------+------------+-------------+
| READ       |      2.0 |   100 | 50.0 |      50 |       1 |     100 |       50 |       90 |       95 |       99 |        100 |         100 |
| READ_ERROR |      2.0 |     1 |  0.5 |       1 |       1 |       1 |        1 |        1 |        1 |        1 |          1 |           1 |
| TOTAL      |      2.0 |   100 | 50.0 |      50 |       1 |     100 |       50 |       90 |       95 |       99 |        100 |         100 |
+------------+----------+-------+------+---------+---------+---------+----------+----------+----------+----------+------------+-------------+
`,
	} {
		s, rs, r := measured(t, "run memcached c -p outputstyle="+style, map[string]int{"READ": 100, "READ-FAILED": 1})
		var b bytes.Buffer
		s.summarize(rs, r).print(&b)
		if b.String() != want {
			t.Errorf("%s:\n%s\nwant\n%s", style, b.String(), want)
		}
	}
	s, rs, r := measured(t, "run memcached c -p outputstyle=json", map[string]int{"READ": 100})
	var b bytes.Buffer
	s.summarize(rs, r).print(&b)
	var lines []map[string]string
	if err := json.Unmarshal(b.Bytes(), &lines); err != nil || len(lines) != 2 || lines[0]["Operation"] != "READ" || lines[0]["99th(us)"] != "99" {
		t.Errorf("%v: %s", err, &b)
	}
}

func TestMeasurementTypes(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"-p measurementtype=histogram -p histogram.buckets=2", "[READ], 0, 100\n[READ], 1, 0\n[READ], >2, 0\n"},
		{"-p measurementtype=hdrhistogram+histogram -p histogram.buckets=1", "[READ], Return=OK, 100\n[READ], 0, 100\n[READ], >1, 0\n"},
		{"-p measurementtype=timeseries", "[READ], AverageLatency(us), 50.5\n[READ], 0, 50.5\n"},
		{"-p measurement.histogram.verbose=true", "[READ], 1, 1\n[READ], 2, 1\n"},
	} {
		s, rs, r := measured(t, "run memcached c "+c.args, map[string]int{"READ": 100})
		var b bytes.Buffer
		s.summarize(rs, r).print(&b)
		if !strings.Contains(b.String(), c.want) {
			t.Errorf("%s:\n%s\nwant\n%s", c.args, &b, c.want)
		}
	}
}

// A read-modify-write is one operation, and a READ and an UPDATE beside.
func TestOperations(t *testing.T) {
	s, rs, r := measured(t, "run memcached f", map[string]int{"READ": 4, "READ-MODIFY-WRITE": 6})
	for i, row := range rs.list {
		if row.outcome == fine && (row.op == opRMWRead || row.op == opRMWUpdate) {
			r.Rows[i].Count, r.Rows[i].TX = 6, 1
			for range 6 {
				r.Rows[i].Service.RecordValue(1000)
			}
		}
		if row.op == opRMW {
			r.Rows[i].TX = 0
		}
	}
	m := s.summarize(rs, r)
	if m.operations != 10 || m.sent != 16 || m.failures != 0 {
		t.Errorf("%d operations, %d requests, %d failures", m.operations, m.sent, m.failures)
	}
	for _, sec := range m.sections {
		want := map[string]uint64{"READ": 10, "UPDATE": 6, "READ-MODIFY-WRITE": 6}[sec.name]
		if sec.row.Count != want || sec.returns[fine] != want {
			t.Errorf("%s: %d, %d returned OK, want %d", sec.name, sec.row.Count, sec.returns[fine], want)
		}
	}
}

func TestStatusLine(t *testing.T) {
	s, rs, r := measured(t, "run memcached c -s -p status.interval=2 -p operationcount=600 -l run7: ", map[string]int{"READ": 100})
	var b bytes.Buffer
	l := newStatusLine(s, rs, &b)
	snap := &result.Snapshot{}
	for i := range r.Rows {
		snap.Second = append(snap.Second, r.Rows[i].Seconds[0])
		snap.Total = append(snap.Total, r.Rows[i].Counts)
	}
	l.watch(&result.Snapshot{Elapsed: -time.Second})
	snap.Elapsed = time.Second
	l.watch(snap)
	if b.Len() > 0 {
		t.Fatalf("a line after one second of two: %s", &b)
	}
	for i := range snap.Total {
		snap.Total[i].Count *= 2
	}
	snap.Elapsed = 2 * time.Second
	l.watch(snap)
	_, line, _ := strings.Cut(b.String(), " ") // the date is behind the label
	_, line, _ = strings.Cut(line, " ")
	const want = "2 sec: 200 operations; 100 current ops/sec; est completion in 4 seconds " +
		"[READ: Count=200, Max=100, Min=1, Avg=50.5, 50=50, 90=90, 99=99, 99.9=100, 99.99=100] \n"
	if line != want || !strings.HasPrefix(b.String(), "run7:") {
		t.Errorf("%q, want %q", b.String(), want)
	}
	for d, want := range map[time.Duration]string{
		0: "1 second", 61 * time.Second: "1 minute 1 second", 3 * time.Hour: "3 hours 0 minutes", 49 * time.Hour: "2 days 1 hour",
	} {
		if got := remaining(d); got != want {
			t.Errorf("%v: %s, want %s", d, got, want)
		}
	}
}

func TestLogs(t *testing.T) {
	dir := t.TempDir() + string(filepath.Separator)
	s, rs, r := measured(t, "run memcached c -p hdrhistogram.fileoutput=true -p hdrhistogram.output.path="+dir, map[string]int{"READ": 100})
	var b, stderr bytes.Buffer
	if code := s.summarize(rs, r).report("ycsb", keepOpen{&b}, &stderr); code != 0 {
		t.Errorf("exit status %d: %s", code, &stderr)
	}
	f, err := os.Open(dir + "READ.hdr")
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	h, err := hdrhistogram.NewHistogramLogReader(f).NextIntervalHistogram()
	if err != nil || h == nil || h.TotalCount() != 100 || h.Max() != 100 {
		t.Errorf("%v: %v", err, h)
	}
}

func TestExitStatus(t *testing.T) {
	for _, c := range []struct {
		change func(*result.Run)
		n      int
		want   int
	}{
		{func(*result.Run) {}, 5, 0},
		{func(*result.Run) {}, 0, ExitFailed},
		{func(r *result.Run) { r.Lost = 1 }, 5, ExitFailed},
		{func(r *result.Run) { r.ConnErrors = 1 }, 5, ExitFailed},
		{func(r *result.Run) { r.Interrupted = true }, 5, ExitInterrupted},
	} {
		s, rs, r := measured(t, "run memcached c", map[string]int{"READ": c.n})
		c.change(r)
		var b, stderr bytes.Buffer
		if code := s.summarize(rs, r).report("ycsb", keepOpen{&b}, &stderr); code != c.want || b.Len() == 0 {
			t.Errorf("exit status %d, want %d: %s", code, c.want, &stderr)
		}
	}
}

func TestOrdinal(t *testing.T) {
	for p, want := range map[float64]string{1: "1st", 2: "2nd", 3: "3rd", 11: "11th", 12: "12th", 21: "21st", 50: "50th", 99.99: "99.99", 100: "100th"} {
		if got := ordinal(p); got != want {
			t.Errorf("%g: %s, want %s", p, got, want)
		}
	}
}
