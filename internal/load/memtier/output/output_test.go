package output

import (
	"bytes"
	"encoding/json"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

var update = flag.Bool("update", false, "write the files of testdata")

// sample of a row: answers that took so long, in µs.
type sample struct {
	name         string
	count        uint64
	hits, misses uint64
	rx, tx       uint64
	sum          int64 // ns; 0: of the latencies
	us           []int64
}

var start = time.Unix(1_700_000_000, 250e6)

// make a row whose count answers took the given latencies in turn, all in its first second.
func (s sample) row() result.Row {
	r := result.Row{Name: s.name, Service: result.NewHistogram()}
	r.Count, r.Keys, r.Hits, r.Misses, r.RX, r.TX = s.count, s.hits+s.misses, s.hits, s.misses, s.rx, s.tx
	r.Statuses[load.OK] = s.count
	for i := range s.count {
		ns := s.us[int(i)%len(s.us)] * 1000
		r.Sum += ns
		_ = r.Service.RecordValue(ns)
	}
	if s.sum != 0 {
		r.Sum = s.sum
	}
	if s.count > 0 {
		r.Seconds = []result.Second{{Counts: r.Counts, Sum: r.Sum, Service: r.Service}}
	}
	return r
}

// run of so long with these rows.
func run(d time.Duration, rows ...sample) *result.Run {
	r := &result.Run{Start: start, End: start.Add(d), MeanStart: start, MeanEnd: start.Add(d)}
	for _, s := range rows {
		r.Rows = append(r.Rows, s.row())
	}
	return r
}

func text(t *testing.T, rep *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := Text(&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func jsonText(t *testing.T, rep *Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := JSON(&b, rep); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// object is parsed JSON.
type object map[string]any

func (o object) at(path ...string) object {
	for _, p := range path {
		o = object(o[p].(map[string]any))
	}
	return o
}

func (o object) num(name string) float64 { return o[name].(float64) }

func parsed(t *testing.T, rep *Report) object {
	t.Helper()
	var o object
	text := jsonText(t, rep)
	if err := json.Unmarshal([]byte(text), &o); err != nil {
		t.Fatalf("%v in\n%s", err, text)
	}
	return o
}

// golden compares with a file of testdata.
func golden(t *testing.T, name, got string) {
	t.Helper()
	name = filepath.Join("testdata", name)
	if *update {
		if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (go test -update writes it):\n%s", name, diff(string(want), got))
	}
}

// diff is the first line that differs.
func diff(want, got string) string {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		var a, b string
		if i < len(w) {
			a = w[i]
		}
		if i < len(g) {
			b = g[i]
		}
		if a != b {
			return "want " + a + "\ngot  " + b
		}
	}
	return ""
}

var (
	sets = sample{name: "SET", count: 92, rx: 736, tx: 5330, sum: 92 * 71480, us: []int64{63, 63, 63, 63, 167}}
	gets = sample{name: "GET", count: 908, hits: 12, misses: 896, rx: 5236, tx: 15328, sum: 908 * 57190, us: []int64{55, 63, 63, 119}}
)
