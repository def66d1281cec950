package ycsb

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// set makes settings of a command line.
func set(t *testing.T, args ...string) *settings {
	t.Helper()
	w, err := parseArgs(args)
	if err != nil {
		t.Fatal(err)
	}
	s, err := readSettings(w)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestDialects(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w")
	if err := os.WriteFile(file, []byte("recordcount=7\noperationcount=9\nthreadcount=3\nreadproportion=1\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	type want struct {
		load, redis     bool
		records, op     uint64
		threads         int
		target          float64
		status          bool
		interval        time.Duration
		reads, rmw, upd float64
	}
	for _, c := range []struct {
		line string
		want want
	}{
		{"load memcached a", want{true, false, 1000, 1000, 1, 0, false, 10e9, .5, 0, .5}},
		{"run redis f -threads 4 -target 100 -s", want{false, true, 1000, 1000, 4, 100, true, 10e9, .5, .5, 0}},
		{"run -P FILE -p recordcount=8 -threads 2", want{false, false, 8, 9, 2, 0, false, 10e9, 1, 0, .05}},
		{"run redis -p recordcount=8 -PFILE --threads=5 --target=7.5 --interval 2", want{false, true, 8, 9, 5, 7.5, true, 2e9, 1, 0, .05}},
		{"-load -P FILE -db site.ycsb.db.MemcachedClient", want{true, false, 7, 9, 3, 0, false, 10e9, 1, 0, .05}},
		{"-t -P FILE", want{false, false, 7, 9, 3, 0, false, 10e9, 1, 0, .05}},
		{"memcached -P FILE -p dotransactions=false", want{true, false, 7, 9, 3, 0, false, 10e9, 1, 0, .05}},
		{"run memcached --workload workloadb --prop operationcount=5", want{false, false, 1000, 5, 1, 0, false, 10e9, .95, 0, .05}},
		{"run memcached -P workloads/workloadc -pthreadcount=6", want{false, false, 1000, 1000, 6, 0, false, 10e9, 1, 0, 0}},
		{"run c --property_file FILE", want{false, false, 7, 9, 3, 0, false, 10e9, 1, 0, 0}},
	} {
		s := set(t, strings.Fields(strings.ReplaceAll(c.line, "FILE", file))...)
		got := want{s.load, s.redis, s.records, s.operations, s.threads, s.target, s.status, s.interval, s.shares[opRead], s.shares[opRMW], s.shares[opUpdate]}
		if got != c.want {
			t.Errorf("%s:\n%+v, want\n%+v", c.line, got, c.want)
		}
	}
}

func TestRefused(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w")
	if err := os.WriteFile(file, []byte("# comment\nrecordcount=12x\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ line, err string }{
		{"memcached a", "load or run: neither is given"},
		{"walk memcached a", `"walk": unknown (write: load|run`},
		{"shell redis", "shell: there is none"},
		{"run memcached a b c", `"b": unknown`},
		{"run memcached x", `"x": unknown`},
		{"run memcached a --theads 3", "option --theads: unknown (did you mean -threads?)"},
		{"run memcached a -threads", "option -threads: a value must follow"},
		{"run memcached a --agents a:1", "--agents: only those who know the agents' secret can use them (add --agent-token-file"},
		{"run memcached a --agent-token-file f", "--agent-token-file f: there are no agents"},
		{"run memcached a --agents ,", "is no address"},
		{"run memcached a -s=1", "option -s=1: takes no value"},
		{"run memcached a -p threads", `-p "threads": no property`},
		{"run memcached --workload g", `workload "g": unknown`},
		{"run memcached -P /no/such/file", "-P: open /no/such/file"},
		{"run memcached -P FILE", `FILE:2: recordcount "12x": no whole number`},
		{"run memcached a -p recordcuont=5", "-p: property recordcuont: unknown (did you mean recordcount?)"},
		{"run memcached a -p foo.bar=5", "-p: property foo.bar: unknown"},
		{"run memcached a -p requestdistribution=normal", `-p: requestdistribution "normal": unknown (use uniform, zipfian`},
		{"run memcached a -p readallfields=yes", `-p: readallfields "yes": neither true nor false`},
		{"run memcached a -threads 0", `-threads: threadcount "0": no whole number from 1`},
		{"run memcached a -p workload=site.ycsb.workloads.TimeSeriesWorkload", "not supported (only core"},
		{"run memcached", "recordcount: not given"},
		{"run memcached a -p operationcount=0", "operationcount: not given, nor maxexecutiontime"},
		{"run memcached e", "scanproportion 0.95: memcached has no order of keys to scan in"},
		{"run redis e -p redis.index=false", "scanproportion 0.95: needs the index"},
		{"run redis a -p redis.datatype=json", "-p: redis.datatype \"json\": not supported: it needs a module"},
		{"run redis a -p redis.cluster=true", "clusters are not supported"},
		{"run redis a -p redis.mode=cluster", "clusters are not supported"},
		{"run redis a -p redis.addr=a:1;b:2", "clusters are not supported"},
		{"run memcached a -p insertstart=2000", `insertstart "2000": above recordcount, 1000`},
		{"run memcached a -p insertcount=2000", "insertstart and insertcount together are above recordcount"},
		{"run memcached a -p readproportion=0 -p updateproportion=0", "all other proportions are 0"},
		{"run memcached a -p memcached.hosts=a,b,c -threads 2", "names 3 servers for 2 threads"},
		{"run memcached a -p memcached.hosts=a:99999", `port "99999"`},
		{"run memcached a -p zeropadding=200 -p table=" + strings.Repeat("x", 60), "memcached takes 250"},
		{"run memcached a -p dataintegrity=true -p fieldlengthdistribution=zipfian", "needs fields of constant length"},
		{"run memcached a -p core_workload_insertion_retry_limit=1", "not supported"},
		{"run memcached a -p measurementtype=raw", "single latencies are not kept"},
		{"run memcached a -p hdrhistogram.percentiles=50,101", `"101" is no number from 0 to 100`},
		{"run memcached a -p exporter=csv", "unknown (use text, json, jsonarray"},
		{"run memcached a -p minscanlength=9 -p maxscanlength=5", "above maxscanlength, 5"},
		{"run memcached a -p fieldlengthdistribution=histogram -p fieldlengthhistogram=/no/such", "fieldlengthhistogram: open /no/such"},
	} {
		w, err := parseArgs(strings.Fields(strings.ReplaceAll(c.line, "FILE", file)))
		if err == nil {
			_, err = readSettings(w)
		}
		want := strings.ReplaceAll(c.err, "FILE", file)
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%.100s: %v, want %s", c.line, err, want)
		}
	}
}

// Parts of YCSB without meaning here are told once each, and the run goes on.
func TestWarnings(t *testing.T) {
	s := set(t, "run", "memcached", "a", "-p", "jdbc.url=x", "-p", "redis.pool_size=9", "-p", "spin.sleep=true", "-p", "jdbc.url=y")
	if got := len(s.warn); got != 3 {
		t.Errorf("%d warnings: %q", got, s.warn)
	}
	for i, want := range []string{"jdbc.url has no effect: it belongs to another database", "redis.pool_size has no effect", "spin.sleep has no effect"} {
		if !strings.Contains(s.warn[i], want) {
			t.Errorf("%q, want %q", s.warn[i], want)
		}
	}
	s = set(t, "run", "memcached", "a", "-p", "measurement.interval=both")
	if len(s.warn) != 1 || s.intended != "op" {
		t.Errorf("%q, %s", s.warn, s.intended)
	}
}

func TestAddresses(t *testing.T) {
	for _, c := range []struct{ line, network, hosts string }{
		{"run memcached a", "tcp", "localhost:11211"},
		{"run memcached a -threads 3 -p memcached.hosts=db1,db2:12000,/run/m.sock", "tcp", "db1:11211 db2:12000 /run/m.sock"},
		{"run memcached a -p memcached.hosts=[::1]:12000", "tcp", "[::1]:12000"},
		{"run memcached a -p memcached.hosts=::1", "tcp", "[::1]:11211"},
		{"run redis a", "tcp", "localhost:6379"},
		{"run redis a -p redis.host=db1 -p redis.port=7000", "tcp", "db1:7000"},
		{"run redis a -p redis.addr=db1:7001", "tcp", "db1:7001"},
		{"run redis a -p redis.network=unix -p redis.addr=/run/r.sock", "unix", "/run/r.sock"},
	} {
		s := set(t, strings.Fields(c.line)...)
		if got := strings.Join(s.hosts, " "); got != c.hosts || s.network != c.network {
			t.Errorf("%s: %s %s", c.line, s.network, got)
		}
	}
}

func TestLengthHistogram(t *testing.T) {
	dir := t.TempDir()
	for _, c := range []struct{ text, err string }{
		{"BlockSize\t10\n0\t1\n2\t3\n", ""},
		{"0\t1\n", "w:1"},
		{"BlockSize\t10\n0\tx\n", "w:2"},
		{"BlockSize\t10\n", "no weights"},
	} {
		name := filepath.Join(dir, "w")
		if err := os.WriteFile(name, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		h, err := readLengthHistogram(name)
		if c.err != "" {
			if err == nil || !strings.Contains(err.Error(), c.err) {
				t.Errorf("%q: %v, want %s", c.text, err, c.err)
			}
			continue
		}
		if err != nil {
			t.Fatal(err)
		}
		l := lengths{hist: h}
		l.seed(1, 1)
		count := map[int]int{}
		for range 10_000 {
			count[l.next()]++
		}
		if len(count) != 2 || count[10] < 2300 || count[10] > 2700 || count[30] != 10_000-count[10] {
			t.Errorf("lengths %v, want 10 and 30 in the ratio 1:3", count)
		}
	}
}

func TestHelp(t *testing.T) {
	w, err := parseArgs([]string{"--help"})
	if err != nil || !w.help {
		t.Fatal(err)
	}
	var b strings.Builder
	help("godwit ycsb", &b)
	for n, line := range strings.Split(b.String(), "\n") {
		if len(line) > 160 {
			t.Errorf("help line %d has %d characters", n+1, len(line))
		}
	}
	// each property that the help names is one
	r := &reader{known: map[string]bool{}, props: map[string]property{}}
	s := &settings{}
	s.readLoad(r)
	s.readKeys(r)
	s.readRecords(r)
	s.readServer(r)
	s.readOutput(r)
	for known := range r.known {
		if !strings.Contains(b.String(), known) && !hidden[known] {
			t.Errorf("the help does not name %s", known)
		}
	}
}

// hidden are properties that are refused, or that only YCSB's users know.
var hidden = map[string]bool{
	"core_workload_insertion_retry_limit": true, "batch.size": true, "dropdata": true, "workload": true, "redis.cluster": true,
	"redis.mode": true, "measurement.output_file": true, "timeseries.granularity": true, "histogram.buckets": true,
	"measurement.histogram.verbose": true, "histogram.percentiles.export": true, "histogram.percentiles.export.filepath": true,
	"label": true, "status": true,
}
