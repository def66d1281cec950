package ycsb

import (
	"bytes"
	"context"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/agent"
	"godwit/internal/load/face"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
)

const token = "the secret of the tests"

// startAgents in this process, and gives the options that use them.
func startAgents(t *testing.T, n int) string {
	ctx, cancel := context.WithCancel(context.Background())
	var list []string
	ended := make(chan error, n)
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ln.Addr().String())
		go func() { ended <- agent.Serve(ctx, ln, []byte(token), map[string]load.Planner{"ycsb": Plan}, nil) }()
	}
	t.Cleanup(func() {
		cancel()
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return " --agents " + strings.Join(list, ",") + " --agent-token-file " + name
}

// Agents do what one machine would, of a property file that they do not have.
func TestAgents(t *testing.T) {
	s := start(t, "memcached")
	agents := startAgents(t, 2)
	file := filepath.Join(t.TempDir(), "workload")
	if err := os.WriteFile(file, []byte("recordcount=301\noperationcount=1201\nthreadcount=3\nreadproportion=0.5\nupdateproportion=0.2\nreadmodifywriteproportion=0.3\ndataintegrity=true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	n, stderr := s.do(t, 0, "load memcached -P "+file+agents)
	agreed(t, "load", stderr)
	if c := s.counters(t); n["INSERT Return=OK"] != 301 || c["curr_items"] != 301 || !strings.Contains(stderr, "note: 2 machines, which began within") {
		t.Errorf("%v, the server %v\n%s", n, c, stderr)
	}
	n, stderr = s.do(t, 0, "run memcached -P "+file+" -p memcached.update=merge --top"+agents)
	agreed(t, "run", stderr)
	if n["READ Operations"]+n["UPDATE Operations"]-n["READ-MODIFY-WRITE Operations"] != 1201 || n["READ-MODIFY-WRITE Operations"] == 0 || n["VERIFY Return=OK"] != n["READ Operations"] {
		t.Errorf("%v\n%s", n, stderr)
	}
	if _, stderr = s.do(t, ExitFailed, "run memcached -P "+file+" -threads 1"+agents); !strings.Contains(stderr, "threads 1: fewer than the 2 machines") {
		t.Error(stderr)
	}
}

// What agents are told makes the same settings, whatever files and options they come from.
func TestForAgents(t *testing.T) {
	file := filepath.Join(t.TempDir(), "w")
	if err := os.WriteFile(file, []byte("recordcount = 7\noperationcount:9\ntable=a\\=b\nworkload=site.ycsb.workloads.CoreWorkload\nspin.sleep=true\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	for _, line := range []string{
		"load memcached a", "-load -P FILE", "-t a -P FILE -threads 5", "run redis -P FILE -p recordcount=8 -s -p exportfile=/no/such/place/x --interval 3 -l x",
		"redis f -p dotransactions=true --top --quiet --agents a --agent-token-file /no/such/file", "run memcached e -p scanproportion=0 -p memcached.hosts=a,b -threads 2",
	} {
		args := strings.Fields(strings.ReplaceAll(line, "FILE", file))
		w, err := parseArgs(args)
		if err != nil {
			t.Fatal(err)
		}
		want, got := set(t, args...), set(t, w.forAgents()...)
		want.warn, got.warn = nil, nil
		if !reflect.DeepEqual(got, want) {
			t.Errorf("%s:\n%+v, want\n%+v", line, got, want)
		}
		if _, err := Plan(args, 0, 0, 1); err != nil { // the files of outputs and of the secret are not looked at
			t.Errorf("%s: %v", line, err)
		}
	}
}

// Results of several machines are added by the names of rows.
func TestRowNames(t *testing.T) {
	for _, line := range []string{"load redis a", "run redis f", "run redis d -p reportlatencyforeacherror=true", "run redis e", "run memcached f -p memcached.update=merge"} {
		names := newRows(set(t, strings.Fields(line)...)).names()
		slices.Sort(names)
		if len(slices.Compact(slices.Clone(names))) != len(names) {
			t.Errorf("%s: %q", line, names)
		}
	}
}

// The JSON has what the servers counted and which machines there were; nothing of that is asked for if it is not wanted.
func TestServer(t *testing.T) {
	m := &summary{settings: set(t, "run", "memcached", "c", "-p", "exporter=jsonarray"), run: &result.Run{}}
	m.server = &face.Observed{Counters: &probe.Delta{Family: "memcached"}, Findings: []probe.Finding{{Level: probe.Failure, Name: "operations", Text: "no"}}}
	m.machines = &face.Machines{List: []face.Machine{{Name: "a"}, {Name: "b"}}}
	var b bytes.Buffer
	m.print(&b)
	var list []entry
	if err := json.Unmarshal(b.Bytes(), &list); err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range list {
		got = append(got, e.Metric+" "+e.Measurement)
	}
	if want := "OVERALL RunTime(ms),OVERALL Throughput(ops/sec),server counters,server findings,machines machines"; strings.Join(got, ",") != want {
		t.Errorf("%q", got)
	}
	m.server = &face.Observed{Problem: "none"}
	if l := m.observed(); len(l) != 2 || string(l[0].Value) != `"none"` {
		t.Errorf("%+v", l)
	}
	m.server, m.machines = nil, nil
	if l := m.observed(); l != nil {
		t.Errorf("%+v", l)
	}

	s := &server{addr: stalls(t, -1, 0)} // it counts nothing
	if _, stderr := s.do(t, 0, "run memcached c -p missesfail=false"); !strings.Contains(stderr, "warning: the server counted 0 operations, the client 1000") {
		t.Error(stderr)
	}
	if _, stderr := s.do(t, 0, "run memcached c -p missesfail=false -p godwit.serverstats=false"); stderr != "" {
		t.Error(stderr)
	}
}

// Progress is that of operations: a read-modify-write is one, its parts and requests are none.
func TestProgress(t *testing.T) {
	rs := newRows(set(t, "run", "memcached", "f", "-p", "memcached.update=merge"))
	o := newOperations(rs)
	s := &result.Snapshot{Elapsed: time.Second}
	for _, r := range rs.list {
		n := uint64(1000)
		switch r.op {
		case opRead, opRMW:
			n = 1
		}
		h := hdrhistogram.New(1, 1e9, 3)
		h.RecordValues(5, int64(n))
		s.Second = append(s.Second, result.Second{Counts: result.Counts{Count: n}, Sum: 5, Service: h})
		s.Total = append(s.Total, result.Counts{Count: 2 * n})
	}
	for seconds := 1; seconds <= 2; seconds++ {
		p := o.pick(s)
		second, total := p.Sums()
		n := uint64(len(o.names))
		if second.Count != n || total.Count != 2*n || p.Sum != int64(5*n)*int64(seconds) || p.Service.TotalCount() != int64(n)*int64(seconds) {
			t.Errorf("%+v %+v, %q", second.Counts, total, o.names)
		}
	}
	s.Second = nil
	if p := o.pick(s); p.Second != nil || len(p.Total) != len(o.names) {
		t.Errorf("%+v", p)
	}
}
