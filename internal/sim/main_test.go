package sim

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"encoding/xml"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

func call(t *testing.T, args ...string) (code int, out, errs string) {
	t.Helper()
	var o, e bytes.Buffer
	code = Main("godwit sim", args, &o, &e)
	return code, o.String(), e.String()
}

const small = "zipf:requests=20k,keys=2k"

func TestTableOutput(t *testing.T) {
	code, out, errs := call(t, small, "-p", "lru,fifo", "-c", "20,10%", "--shards=4096")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	for _, want := range []string{"20000 requests, 20000 reads counted (capacities in objects)", "miss ratio", "lru~", "10.0 %", "*"} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	if strings.Contains(out, "byte miss ratio") {
		t.Error("bytes where there are none")
	}
	code, out, _ = call(t, "-b", "-c", "64k..1m/3", small, "-q", "-p=lru")
	for _, want := range []string{"64 KiB", "256 KiB", "1 MiB", "byte miss ratio", "28 of overhead an object"} {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
}

func TestFiles(t *testing.T) {
	dir := t.TempDir()
	at := func(n string) string { return filepath.Join(dir, n) }
	code, out, errs := call(t, small, "-p", "lru,godwit", "-b", "--csv", at("a.csv"), "--json", at("a.json"), "--svg", at("a.svg"), "--shards", "100")
	if code != 0 || errs != "" || !strings.Contains(out, "miss ratio") {
		t.Fatal(code, errs, out)
	}
	f, err := os.Open(at("a.csv"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	rows, err := csv.NewReader(f).ReadAll()
	if err != nil || len(rows) != 31 || rows[0][5] != "miss_ratio" || rows[1][0] != "lru" || rows[30][0] != estimated {
		t.Errorf("%v %v", rows, err)
	}
	b, _ := os.ReadFile(at("a.json"))
	var r report
	if err := json.Unmarshal(b, &r); err != nil || len(r.Rows) != 30 || r.Unit != "bytes" || r.Rows[0].Reads != 20_000 {
		t.Errorf("%v\n%s", err, b)
	}
	svg, _ := os.ReadFile(at("a.svg"))
	for d := xml.NewDecoder(bytes.NewReader(svg)); ; {
		if _, err := d.Token(); err == io.EOF {
			break
		} else if err != nil {
			t.Fatalf("svg: %v", err)
		}
	}
	for _, want := range []string{"godwit", "Miss ratio: zipf", "capacity, bytes"} {
		if !bytes.Contains(svg, []byte(want)) {
			t.Errorf("no %q in the chart", want)
		}
	}
	if code, out, _ := call(t, small, "-p", "lru", "-c", "10", "--csv", "-"); code != 0 || !strings.HasPrefix(out, "policy,capacity,unit") {
		t.Error(code, out)
	}
	if code, _, errs := call(t, small, "-p", "lru", "-c", "10", "--svg", "-"); code != ExitFailed || !strings.Contains(errs, "needs two capacities") {
		t.Error(code, errs)
	}
}

func TestFindOutput(t *testing.T) {
	code, out, errs := call(t, small, "-p", "lru", "--find", "30%,0.999,0.00001", "--shards", "4096")
	if code != 0 || errs != "" {
		t.Fatal(code, errs)
	}
	for _, want := range []string{"how large for a miss ratio?", "capacities in bytes", "over ", "at most ", "lru~", " KiB", "0.3  "} {
		if !strings.Contains(out, want) {
			t.Errorf("no %q in\n%s", want, out)
		}
	}
	code, out, _ = call(t, small, "-p", "lru", "--find", "0.3", "--objects", "--json", "-")
	var r report
	if err := json.Unmarshal([]byte(out), &r); code != 0 || err != nil || len(r.Find) != 1 || !r.Find[0].Reached || r.Unit != "objects" {
		t.Error(code, err, out)
	}
}

func TestTraceFile(t *testing.T) {
	name := filepath.Join(t.TempDir(), "t.csv")
	os.WriteFile(name, []byte("a,10\nb,10\na,10\nc,oops\n"), 0o666)
	code, _, errs := call(t, name, "-c", "5")
	if code != ExitFailed || !strings.Contains(errs, `t.csv:4: size "oops": not a decimal number`) {
		t.Error(code, errs)
	}
	os.WriteFile(name, []byte("a,10\nb,10\na,10\nc,10\n"), 0o666)
	if code, out, errs := call(t, name, "-c", "50%,100%", "-b", "-p", "lru"); code != 0 || !strings.Contains(out, "114 B") {
		t.Error(code, out, errs)
	}
	os.WriteFile(name, nil, 0o666)
	if code, _, errs := call(t, name); code != ExitFailed || !strings.Contains(errs, "no requests") {
		t.Error(code, errs)
	}
}

func TestHelp(t *testing.T) {
	code, out, _ := call(t, "-h")
	if code != 0 || !strings.HasPrefix(out, "godwit sim: what miss ratio") || strings.Contains(out, "PROG") {
		t.Error(code, out)
	}
	for i, l := range strings.Split(out, "\n") {
		if len(l) > 125 {
			t.Errorf("line %d has %d columns", i+1, len(l))
		}
	}
	code, out, _ = call(t, "--list")
	for _, want := range append(append(Policies(), Presets()...), "looplen=N", "twitter/cache-trace") {
		if code != 0 || !strings.Contains(out, want) {
			t.Errorf("no %q in the list", want)
		}
	}
}

func TestUsage(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"", "no trace"},
		{"zipf oneshot", `trace "oneshot": there is one already, "zipf"`},
		{"no-such-file", "neither a file nor a made one (zipf, oneshot"},
		{"zipf:keys=0", "0 keys"},
		{"zipf --colour", "flag provided but not defined: -colour"},
		{"zipf -p best", `policy "best": not known`},
		{"zipf -c 0", "nothing fits into it"},
		{"zipf -c 5..2", "ends below its beginning"},
		{"zipf -c 1..5/1", "not a number of steps"},
		{"zipf -c 0%", "not a share of the whole"},
		{"zipf -c 64g", "give --bytes"},
		{"zipf --find 7", "not a miss ratio"},
		{"zipf --bytes --objects", "one or the other"},
		{"zipf --shards -5", "not a number of samples"},
		{"zipf --rate 0", "requests a second"},
		{"zipf --workers -1", "less than none"},
		{"zipf --overhead x", "overhead: size"},
		{"zipf --warmup x", "warmup: count"},
		{"zipf --item-size x", "item-size: size"},
		{"-", "stdin is read once"},
		{"- -c 10 --find 0.5", "stdin is read once"},
		{"- -c 10 -f xml", `format "xml"`},
	} {
		code, out, errs := call(t, strings.Fields(c.args)...)
		if code != ExitUsage || out != "" || !strings.HasPrefix(errs, "godwit sim: ") || !strings.Contains(errs, c.want) {
			t.Errorf("%s: %d, %q", c.args, code, errs)
		}
	}
}

func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	var o, e bytes.Buffer
	if code := run(ctx, "godwit sim", []string{"zipf", "-c", "10"}, &o, &e); code != ExitInterrupted || o.Len() != 0 {
		t.Error(code, o.String(), e.String())
	}
}

func TestNumbers(t *testing.T) {
	for text, want := range map[string]int64{"5": 5, "1.5k": 1536, "64m": 64 << 20, "1GiB": 1 << 30, "2tb": 2 << 40, "0": 0} {
		if n, err := parseBytes(text); err != nil || n != want {
			t.Errorf("%s: %d, %v", text, n, err)
		}
	}
	for _, text := range []string{"", "k", "-1", "1e30", "nan", "5x", "bi"} {
		if n, err := parseBytes(text); err == nil {
			t.Errorf("%q: %d", text, n)
		}
	}
	if n, err := parseCount("2.5M"); err != nil || n != 2_500_000 {
		t.Error(n, err)
	}
	for n, want := range map[int64]string{0: "0 B", 1023: "1023 B", 1536: "1.50 KiB", 64 << 20: "64 MiB", 12<<30 + 1<<29: "12.5 GiB"} {
		if got := textBytes(n); got != want {
			t.Errorf("%d: %s", n, got)
		}
	}
}
