package route

import (
	"context"
	"errors"
	"fmt"
	"net"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/drive"
	"godwit/internal/load/result"
	"godwit/internal/proto/resp"
)

// rconn talks to a redis-server.
type rconn struct {
	t    *testing.T
	port int
	ask  asker
}

func dialRedis(t *testing.T, port int) *rconn {
	t.Helper()
	c, err := net.Dial("tcp", fmt.Sprintf("127.0.0.1:%d", port))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return &rconn{t: t, port: port, ask: asker{conn: c}}
}

// try sends a command and gives the text of its answer.
func (c *rconn) try(words ...string) (text string, err error) {
	c.ask.conn.SetDeadline(time.Now().Add(20 * time.Second))
	err = c.ask.ask(resp.AppendCommand(nil, words...), func(in []byte) (int, error) {
		var v resp.Value
		n, err := resp.Parse(in, &v)
		if n > 0 {
			text = string(v.Text)
			if v.IsError() {
				return n, errors.New(text)
			}
		}
		return n, err
	})
	return text, err
}

func (c *rconn) do(words ...string) string {
	c.t.Helper()
	text, err := c.try(words...)
	if err != nil {
		c.t.Fatalf("%v: %v", words, err)
	}
	return text
}

// calls is how often a command was executed, and rejected.
func (c *rconn) calls(command string) (n int) {
	for line := range strings.Lines(c.do("INFO", "commandstats")) {
		if rest, ok := strings.CutPrefix(line, "cmdstat_"+command+":calls="); ok {
			n, _ = strconv.Atoi(rest[:strings.IndexByte(rest, ',')])
		}
	}
	return n
}

// redisCluster is so many masters with an even share of slots, and a replica of the first if wanted.
func redisCluster(t *testing.T, masters int, replica bool) (nodes []*rconn) {
	n := masters
	if replica {
		n++
	}
	ports := listenPorts(t, 2*n)
	for i, port := range ports[:n] {
		spawn(t, port, "redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--appendonly", "no",
			"--cluster-enabled", "yes", "--cluster-port", strconv.Itoa(ports[n+i]), "--cluster-node-timeout", "1500", "--cluster-replica-validity-factor", "0", "--repl-diskless-sync-delay", "0")
		nodes = append(nodes, dialRedis(t, port))
	}
	for i, c := range nodes[:masters] {
		c.do("CLUSTER", "ADDSLOTSRANGE", strconv.Itoa((i*Slots+masters-1)/masters), strconv.Itoa(((i+1)*Slots+masters-1)/masters-1))
		c.do("CLUSTER", "SET-CONFIG-EPOCH", strconv.Itoa(i+1))
	}
	for i := range nodes[1:] {
		nodes[0].do("CLUSTER", "MEET", "127.0.0.1", strconv.Itoa(ports[i+1]), strconv.Itoa(ports[n+i+1]))
	}
	formed := func() bool {
		for _, c := range nodes {
			info := c.do("CLUSTER", "INFO")
			if !strings.Contains(info, "cluster_state:ok") || !strings.Contains(info, fmt.Sprintf("cluster_known_nodes:%d\r", n)) {
				return false
			}
		}
		return true
	}
	poll(t, "the cluster to form", formed)
	if replica {
		nodes[masters].do("CLUSTER", "REPLICATE", nodes[0].do("CLUSTER", "MYID"))
		poll(t, "the replica", func() bool {
			for _, c := range nodes {
				if top, err := Discover(t.Context(), c.target()); err != nil || len(top.Nodes) != n || len(top.replicas[top.Owner(0)]) != 1 {
					return false
				}
			}
			return strings.Contains(nodes[masters].do("INFO", "replication"), "master_link_status:up")
		})
	}
	return nodes
}

func (c *rconn) target() *load.Target {
	return &load.Target{Network: "tcp", Address: fmt.Sprintf("127.0.0.1:%d", c.port)}
}

// plan of several clients of a cluster.
func (c *rconn) plan(clients int, source func(i int) load.Source, o Options, base load.Client) (*load.Plan, *Topology) {
	c.t.Helper()
	top, err := Discover(c.t.Context(), c.target())
	if err != nil {
		c.t.Fatal(err)
	}
	plan := &load.Plan{Rows: []string{"all"}, Loops: 2}
	cluster := NewCluster(top)
	targets := top.Targets(c.target())
	if o.Replicas {
		for i, n := range top.Nodes {
			if n.Replica {
				targets[i].Prologue = append(targets[i].Prologue, ReadOnly())
			}
		}
	}
	for i := range clients {
		base.Group = i + 1
		list, err := cluster.Fleet(source(i), o).Clients(base, targets, func() (load.Codec, error) { return codec.New("redis") })
		if err != nil {
			c.t.Fatal(err)
		}
		plan.Clients = append(plan.Clients, list...)
	}
	return plan, top
}

func run(t *testing.T, plan *load.Plan, hooks drive.Hooks) *result.Run {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 60*time.Second)
	defer cancel()
	r, err := drive.Run(ctx, plan, hooks)
	if err != nil {
		t.Fatal(err)
	}
	if r.Interrupted {
		t.Fatalf("the load does not end: %d of all requests, texts %v", r.Total().Count, r.Texts)
	}
	return r
}

// mixed makes sets and gets of keys, n of them, with values that it knows.
type mixed struct {
	n, i, keys int
	prefix     string
	onlyGets   bool
	key, value []byte
	waits      bool
	each       func(i int)
}

func (m *mixed) Next(op *load.Op) bool {
	if m.i == m.n {
		return false
	}
	if m.each != nil {
		m.each(m.i)
	}
	i := m.i
	m.i++
	if m.waits && i%10 == 9 {
		op.Kind, op.Args = load.Command, [][]byte{[]byte("WAIT"), []byte("0"), []byte("1")}
		return true
	}
	m.key = fmt.Appendf(m.key[:0], "%s%d", m.prefix, i/2%m.keys)
	op.Key, op.ID = m.key, uint64(i/2%m.keys)
	if i%2 == 0 && !m.onlyGets {
		m.value = fmt.Appendf(m.value[:0], "value %s", m.key)
		op.Kind, op.Value = load.Set, m.value
		return true
	}
	op.Kind, op.Check = load.Get, true
	return true
}

func (m *mixed) Check(id uint64, value []byte) bool {
	return string(value) == fmt.Sprintf("value %s%d", m.prefix, id)
}

func clean(t *testing.T, r *result.Run, want uint64) {
	t.Helper()
	x := r.Total()
	if x.Count != want || x.Errors() > 0 || r.Lost > 0 || r.ConnErrors > 0 {
		t.Errorf("%d answers of %d, %d errors, %d lost, %d connection errors; %v", x.Count, want, x.Errors(), r.Lost, r.ConnErrors, r.Texts)
	}
}

// Counts are those of the servers, with short and long pipelines, closed and at a rate.
func TestClusterCounts(t *testing.T) {
	nodes := redisCluster(t, 3, true)
	for i, base := range []load.Client{{Pipeline: 1}, {Pipeline: 30}, {Pipeline: 4, Rate: 4000}, {Pipeline: 4, Rate: 4000, Poisson: true}} {
		const clients, n = 4, 1000
		for _, c := range nodes {
			c.do("CONFIG", "RESETSTAT")
		}
		plan, top := nodes[1].plan(clients, func(k int) load.Source {
			return &mixed{n: n, keys: 40, prefix: fmt.Sprintf("%d-%d-", i, k), waits: i == 1}
		}, Options{}, base)
		if len(top.Nodes) != 4 || top.Masters() != 3 {
			t.Fatalf("%+v", top.Nodes)
		}
		begin := time.Now()
		r := run(t, plan, drive.Hooks{})
		took := time.Since(begin)
		clean(t, r, clients*n)
		x := r.Total()
		if x.Misses > 0 || x.Statuses[load.Moved] > 0 {
			t.Errorf("%d misses, %d moved", x.Misses, x.Statuses[load.Moved])
		}
		sum := 0
		for k, c := range nodes {
			got := c.calls("get") + c.calls("wait")
			if k < 3 {
				got += c.calls("set") // the replica gets them from its master
			}
			if k == 3 && got > 0 || k < 3 && got == 0 {
				t.Errorf("node %d executed %d requests", k, got)
			}
			sum += got
		}
		if sum != clients*n {
			t.Errorf("plan %d: the servers executed %d requests of %d", i, sum, clients*n)
		}
		if base.Rate > 0 && (took < 240*time.Millisecond || x.Planned.TotalCount() != clients*n) {
			t.Errorf("plan %d: %v, %d planned: the rate is that of a client", i, took, x.Planned.TotalCount())
		}
	}
}

// migrate is a slot, with a key of it, that moves from one node to another.
type migrate struct {
	from, to *rconn
	slot     string
}

func newMigrate(nodes []*rconn, key string) migrate {
	slot := Slot([]byte(key))
	at := slot * 3 / Slots
	m := migrate{from: nodes[at], to: nodes[(at+1)%3], slot: strconv.Itoa(slot)}
	from, to := m.from.do("CLUSTER", "MYID"), m.to.do("CLUSTER", "MYID")
	m.to.do("CLUSTER", "SETSLOT", m.slot, "IMPORTING", from)
	m.from.do("CLUSTER", "SETSLOT", m.slot, "MIGRATING", to)
	return m
}

func (m migrate) keys(keys ...string) {
	words := []string{"MIGRATE", "127.0.0.1", strconv.Itoa(m.to.port), "", "0", "5000", "KEYS"}
	m.from.do(append(words, keys...)...)
}

func (m migrate) finish(nodes []*rconn) {
	id := m.to.do("CLUSTER", "MYID")
	for _, c := range []*rconn{m.to, m.from} {
		c.do("CLUSTER", "SETSLOT", m.slot, "NODE", id)
	}
}

// A slot that moves while the load runs is followed: MOVED and ASK are counted and lead to the right node, and no request is
// lost or counted twice.
func TestMigration(t *testing.T) {
	nodes := redisCluster(t, 3, false)
	for _, pipeline := range []int{1, 8} {
		const n, keys = 6000, 50
		// Sources are asked on their loop, which waits for the migration meanwhile.
		prefix := fmt.Sprintf("{tag%d}", pipeline)
		var m migrate
		plan, _ := nodes[0].plan(1, func(int) load.Source {
			return &mixed{n: n, keys: keys, prefix: prefix, each: func(i int) {
				switch i {
				case 1000:
					m = newMigrate(nodes, prefix+"0")
				case 2000: // ASK from now on
					var all []string
					for k := range keys {
						all = append(all, prefix+strconv.Itoa(k))
					}
					m.keys(all...)
				case 4000: // MOVED
					m.finish(nodes)
				}
			}}
		}, Options{}, load.Client{Pipeline: pipeline})
		for _, c := range nodes {
			c.do("CONFIG", "RESETSTAT")
		}
		r := run(t, plan, drive.Hooks{})
		clean(t, r, n)
		x := r.Total()
		moved, ask := x.Statuses[load.Moved], x.Statuses[load.Ask]
		if x.Misses > 0 || ask < 1900 || ask > 2100 || moved < 1 || moved > uint64(pipeline)+1 {
			t.Errorf("pipeline %d: %d misses, %d asked, %d moved", pipeline, x.Misses, ask, moved)
		}
		if x.Service.TotalCount() != n {
			t.Errorf("%d latencies of %d", x.Service.TotalCount(), n)
		}
		got, asked, slots := 0, 0, 0
		for _, c := range nodes {
			got += c.calls("get") + c.calls("set")
			asked += c.calls("asking")
			slots += c.calls("cluster|slots")
		}
		if got != n || asked != int(ask) || slots != 1 {
			t.Errorf("pipeline %d: the servers executed %d of %d requests, %d ASKING of %d, %d times CLUSTER SLOTS", pipeline, got, n, asked, ask, slots)
		}
	}
}

// Where all slots of a node went is learned from the first MOVED.
func TestTableIsRefreshed(t *testing.T) {
	nodes := redisCluster(t, 3, false)
	plan, _ := nodes[0].plan(1, func(int) load.Source { return &mixed{n: 3000, keys: 500, prefix: "k"} }, Options{}, load.Client{Pipeline: 1})
	id := nodes[2].do("CLUSTER", "MYID")
	for s := range Slots / 3 {
		nodes[2].do("CLUSTER", "SETSLOT", strconv.Itoa(s), "NODE", id)
	}
	poll(t, "the slots to move", func() bool {
		top, err := Discover(t.Context(), nodes[0].target())
		return err == nil && top.Owner(0) == top.Owner(Slots-1)
	})
	r := run(t, plan, drive.Hooks{})
	clean(t, r, 3000)
	if x := r.Total(); x.Statuses[load.Moved] < 1 || x.Statuses[load.Moved] > 5 {
		t.Errorf("%d times MOVED", x.Statuses[load.Moved])
	}
}

// A replica that takes over is found.
func TestFailover(t *testing.T) {
	nodes := redisCluster(t, 3, true)
	const n = 20000
	killed := false
	plan, _ := nodes[1].plan(2, func(k int) load.Source {
		return &mixed{n: n, keys: 100, prefix: fmt.Sprint(k, "-"), each: func(i int) {
			if i == n/2 && !killed && k == 0 {
				killed = true
				nodes[0].try("SHUTDOWN", "NOSAVE")
			}
		}}
	}, Options{}, load.Client{Pipeline: 3})
	plan.Retry = load.Retry{On: true, Delay: 200 * time.Millisecond}
	r := run(t, plan, drive.Hooks{})
	x := r.Total()
	if x.Count+r.Lost != 2*n || x.Statuses[load.Mismatch] > 0 || r.ConnErrors == 0 {
		t.Errorf("%d answers and %d lost of %d, %d mismatches, %d connection errors; %v", x.Count, r.Lost, 2*n, x.Statuses[load.Mismatch], r.ConnErrors, r.Texts)
	}
	if nodes[3].calls("get") == 0 {
		t.Error("the new master got nothing")
	}
}

func TestReplicasServeGets(t *testing.T) {
	nodes := redisCluster(t, 3, true)
	run1 := func(s *mixed) *result.Run {
		plan, _ := nodes[0].plan(1, func(int) load.Source { return s }, Options{Replicas: true}, load.Client{Pipeline: 2})
		return run(t, plan, drive.Hooks{})
	}
	const keys = 200
	// A get may come to the replica before its set does.
	if x := run1(&mixed{n: 2 * keys, keys: keys, prefix: "k"}).Total(); x.Count != 2*keys || x.Errors() > 0 {
		t.Fatalf("%+v", x.Counts)
	}
	nodes[0].do("WAIT", "1", "5000")
	nodes[3].do("CONFIG", "RESETSTAT")
	r := run1(&mixed{n: 1000, keys: keys, prefix: "k", onlyGets: true})
	clean(t, r, 1000)
	if got := nodes[3].calls("get"); r.Total().Misses > 0 || got < 100 || got > 250 {
		t.Errorf("%d misses; the replica served %d gets", r.Total().Misses, got)
	}
}

// A server that is in no cluster says so.
func TestDiscoverRefuses(t *testing.T) {
	port := listenPorts(t, 1)[0]
	spawn(t, port, "redis-server", "--port", strconv.Itoa(port), "--bind", "127.0.0.1", "--save", "", "--requirepass", "secret")
	target := &load.Target{Network: "tcp", Address: fmt.Sprintf("127.0.0.1:%d", port)}
	for _, c := range []struct {
		prologue []load.Greeting
		want     string
	}{
		{nil, "NOAUTH"},
		{[]load.Greeting{codec.Auth("", "wrong")}, "AUTH: "},
		{[]load.Greeting{codec.Auth("", "secret")}, "cluster support disabled"},
	} {
		target.Prologue = c.prologue
		if _, err := Discover(t.Context(), target); err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), target.Address) {
			t.Errorf("%v, want %q", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := Discover(ctx, target); !errors.Is(err, context.Canceled) {
		t.Error(err)
	}
}

// Several memcached servers get what is theirs: sets, gets, and multi-gets in parts.
func TestKetamaCounts(t *testing.T) {
	servers := memcacheds(t, 3)
	k, err := NewKetama(servers)
	if err != nil {
		t.Fatal(err)
	}
	var targets []*load.Target
	for _, s := range servers {
		network, address := s.Address()
		targets = append(targets, &load.Target{Network: network, Address: address})
	}
	for _, several := range []int{0, 3} {
		for _, io := range []string{"auto", "std"} {
			const clients, n, keys = 3, 2000, 60
			plan := &load.Plan{Rows: []string{"all"}, Loops: 2, IO: io}
			var sources []*numbered
			for i := range clients {
				src := &numbered{n: n, keys: keys, several: several, many: make([][]byte, 4)}
				sources = append(sources, src)
				list, err := New(src, len(servers), k, Options{}).Clients(load.Client{Group: i + 1, Pipeline: 1 + 4*i}, targets, func() (load.Codec, error) {
					return codec.New("memcache_text")
				})
				if err != nil {
					t.Fatal(err)
				}
				plan.Clients = append(plan.Clients, list...)
			}
			r := run(t, plan, drive.Hooks{})
			x := r.Total()
			wantKeys := uint64(clients * n)
			if several > 0 {
				wantKeys += clients * 3 * ((n + 2) / 3)
			}
			if x.Keys != wantKeys || x.Errors() > 0 || r.Lost > 0 || several == 0 && x.Count != clients*n {
				t.Errorf("%s: %d keys of %d in %d requests, %d errors, %v", io, x.Keys, wantKeys, x.Count, x.Errors(), r.Texts)
			}
			for _, s := range sources {
				if s.done != n {
					t.Errorf("%s: the source heard of %d requests of %d", io, s.done, n)
				}
			}
		}
	}
	for i := range 60 {
		key := fmt.Sprintf("key%02d", i)
		at := k.Server([]byte(key))
		for s := range servers {
			if _, ok := mcGet(t, servers[s], key); ok && s != at {
				t.Errorf("%s is at %d, its place is %d", key, s, at)
			}
		}
	}
}
