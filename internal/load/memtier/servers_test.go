package memtier

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// Several memcached servers share the keys: each request goes to one of them, and none is lost.
func TestServers(t *testing.T) {
	t.Parallel()
	all := []*server{startMemcached(t), startMemcached(t), startMemcached(t)}
	var list []string
	for _, s := range all {
		list = append(list, s.addr())
	}
	prefix := filepath.Join(t.TempDir(), "clients")
	for _, protocol := range []string{"memcache_text", "memcache_binary", "memcache_meta"} {
		for _, more := range [][]string{{"--ratio=1:1", "--pipeline=5"}, {"--ratio=1:3", "--multi-key-get=3"}, {"--ratio=1:1", "--verify", "--rate=20000"}} {
			for _, s := range all {
				s.talk("flush_all\r\nstats reset\r\nversion\r\n", "VERSION")
			}
			o := good(t, append([]string{"--servers=" + strings.Join(list, ","), "-P" + protocol, "-t2", "-c3", "-n200", "-R",
				"--key-maximum=1000", "--client-stats=" + prefix}, more...)...)
			var sets, gets uint64
			for _, s := range all {
				st := s.stats()
				if st["cmd_set"] == 0 {
					t.Errorf("%s %v: a server got nothing", protocol, more)
				}
				sets += st["cmd_set"]
				gets += st["cmd_get"]
			}
			keys := o.all("Totals", "Hits/sec") + o.all("Totals", "Misses/sec")
			if float64(sets) != o.all("Sets", "Count") || gets == 0 || keys == 0 {
				t.Errorf("%s %v: the servers counted %d sets, %d keys of gets; the load %v sets", protocol, more, sets, gets, o.all("Sets", "Count"))
			}
			if more[1] != "--multi-key-get=3" && sets+gets != 1200 {
				t.Errorf("%s %v: %d requests of 1200", protocol, more, sets+gets)
			}
		}
	}
	files, err := filepath.Glob(prefix + "*.csv")
	if err != nil || len(files) != 6 {
		t.Errorf("%d files for 6 clients, %v", len(files), err)
	}
	for _, f := range files {
		if b, err := os.ReadFile(f); err != nil || !strings.Contains(string(b), "SET Requests") {
			t.Errorf("%s: %v: %.100s", f, err, b)
		}
	}
}

// A cluster of one node is a cluster: slots are asked for, keys are routed.
func TestCluster(t *testing.T) {
	t.Parallel()
	s := start(t, "redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no", "--cluster-enabled", "yes")
	if o := run(t, "-p"+s.port, "--cluster-mode", "-t1", "-c1", "-n5"); o.code != ExitSetup || !strings.Contains(o.errs, "slot") {
		t.Errorf("a cluster without slots: exit status %d: %s", o.code, o.errs)
	}
	s.talk("CLUSTER ADDSLOTSRANGE 0 16383\r\n", "+OK")
	for end := time.Now().Add(hang); !strings.Contains(strings.Join(s.talk("CLUSTER INFO\r\nPING\r\n", "+PONG"), " "), "cluster_state:ok"); {
		if time.Now().After(end) {
			t.Fatal("the cluster does not come up")
		}
		time.Sleep(20 * time.Millisecond)
	}
	for _, more := range [][]string{
		{"--ratio=1:1", "--pipeline=4"}, {"--ratio=1:1", "--rate-limiting=500"}, {"--command=SET __key__ __data__", "--command=GET __key__"},
	} {
		before := s.calls()
		o := good(t, append([]string{"-p" + s.port, "--cluster-mode", "-t2", "-c2", "-n50", "--key-maximum=500"}, more...)...)
		after := s.calls()
		if sets, gets := after["set"]-before["set"], after["get"]-before["get"]; sets != 100 || gets != 100 {
			t.Errorf("%v: the server counted %d sets and %d gets of 100 each", more, sets, gets)
		}
		if n := o.all("Totals", "Count"); n != 200 {
			t.Errorf("%v: %v requests of 200", more, n)
		}
	}
}
