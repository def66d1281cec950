package crusher

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
)

var _ load.Planner = Plan

func mustPlan(t *testing.T, part, parts int, args ...string) *load.Plan {
	t.Helper()
	p, err := Plan(args, 0, part, parts)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// drain takes all requests of the clients, in turn.
func drain(p *load.Plan) (keys []string) {
	var op load.Op
	left := slices.Clone(p.Clients)
	for len(left) > 0 {
		for i := 0; i < len(left); i++ {
			op = load.Op{}
			if !left[i].Source.Next(&op) {
				left = slices.Delete(left, i, i+1)
				i--
				continue
			}
			if op.Kind != load.MGet {
				keys = append(keys, string(op.Key))
			}
			for _, k := range op.Keys {
				keys = append(keys, string(k))
			}
		}
	}
	return keys
}

// Templates become clients with the right rates, bursts, loops and targets.
func TestPlan(t *testing.T) {
	name := filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(name, []byte(s0Get), 0o600); err != nil {
		t.Fatal(err)
	}
	p := mustPlan(t, 0, 1, "--conf", name, "--timeout", "2.5", "--port", "11299")
	if len(p.Clients) != 110 || p.Loops != 1 || len(p.Rows) != 2 || p.Duration != 2500*time.Millisecond {
		t.Fatalf("%d clients, %d loops, rows %q, %v", len(p.Clients), p.Loops, p.Rows, p.Duration)
	}
	get, set := p.Clients[0], p.Clients[100]
	if get.Pipeline != 10 || get.Burst != 10 || get.Rate != 0 || !get.Blind || string(get.Quit) != "quit\r\n" || get.Target.Address != "127.0.0.1:11299" {
		t.Errorf("get: %+v", get)
	}
	if set.Rate != 4000 || set.Burst != 4 || set.Phase < 0 || set.Phase >= 1 || set.Phase == p.Clients[101].Phase || !set.Blind {
		t.Errorf("set: %+v", set)
	}
	p = mustPlan(t, 0, 1, "--check", "--threads", "2", "--template", "send=ascii_get,recv=blind_read,conns=4,host=a,port=1",
		"--template", "send=bin_get,thread=2,conns=3,usleep=1000000,pipelines=7")
	if p.Loops != 4 || len(p.Clients) != 10 {
		t.Fatalf("%d loops, %d clients", p.Loops, len(p.Clients))
	}
	var loops []int
	for i := range p.Clients {
		c := &p.Clients[i]
		loops = append(loops, c.Group%p.Loops)
		if c.Group == 0 || c.Blind {
			t.Errorf("client %d: %+v", i, c)
		}
	}
	if !slices.Equal(loops, []int{0, 1, 0, 1, 2, 2, 2, 3, 3, 3}) {
		t.Errorf("loops %v", loops)
	}
	if c := &p.Clients[9]; c.Rate != 7 || c.Burst != 7 || c.Pipeline != 7*openWindow || c.Target.Address != "127.0.0.1:11211" {
		t.Errorf("%+v", c)
	}
	if c := &p.Clients[0]; c.Target.Address != "a:1" {
		t.Errorf("%+v", c.Target)
	}
	if c := &mustPlan(t, 0, 1, "--sock", "/x", "--template", "send=ascii_get").Clients[0]; c.Target.Network != "unix" || c.Target.Address != "/x" {
		t.Errorf("%+v", c.Target)
	}
}

// stop_after is kept exactly, and keys come in order and wrap, through one cursor for each thread.
func TestStopAfter(t *testing.T) {
	for _, c := range []struct {
		line string
		want string
	}{
		{"send=ascii_get,conns=2,pipelines=4,stop_after=5,key_count=3", "foo0 foo1 foo2 foo0 foo1"},
		{"send=ascii_mget,mget_count=3,stop_after=5,key_prefix=k", "k0 k1 k2 k3 k4"},
		{"send=ascii_get,thread=2,stop_after=2", "foo0 foo0 foo1 foo1"},
	} {
		if got := strings.Join(drain(mustPlan(t, 0, 1, "--template", c.line)), " "); got != c.want {
			t.Errorf("%s: %s", c.line, got)
		}
	}
}

// Parts together send what one machine would.
func TestParts(t *testing.T) {
	for _, line := range []string{
		"send=ascii_set,conns=7,stop_after=1000,key_count=1000",
		"send=ascii_set,conns=2,thread=3,stop_after=1000,key_count=1000",
		"send=ascii_mget,mget_count=7,conns=5,stop_after=1000,key_count=1000",
	} {
		whole := drain(mustPlan(t, 0, 1, "--template", line))
		for parts := 2; parts <= 4; parts++ {
			var all []string
			clients := 0
			for part := range parts {
				p := mustPlan(t, part, parts, "--template", line)
				clients += len(p.Clients)
				all = append(all, drain(p)...)
			}
			slices.Sort(all)
			slices.Sort(whole)
			if n := len(mustPlan(t, 0, 1, "--template", line).Clients); clients != n || !slices.Equal(all, whole) {
				t.Errorf("%s in %d parts: %d clients, %d keys of %d", line, parts, clients, len(all), len(whole))
			}
		}
	}
	if _, err := Plan([]string{"--template", "send=ascii_get,conns=2"}, 0, 2, 3); err == nil || !strings.Contains(err.Error(), "only 2 in all") {
		t.Errorf("a part without connections: %v", err)
	}
}

// The same seed gives the same keys; other seeds, runs and clients give others.
func TestSeed(t *testing.T) {
	first := func(run, client int, seed string) string {
		p, err := Plan([]string{"--seed", seed, "--template", "send=ascii_get,conns=2,live_rand_zipf=1,zipf_skew=1,stop_after=100"}, run, 0, 1)
		if err != nil {
			t.Fatal(err)
		}
		var keys []string
		var op load.Op
		for range 40 {
			p.Clients[client].Source.Next(&op)
			keys = append(keys, string(op.Key))
		}
		return strings.Join(keys, " ")
	}
	a := first(0, 0, "5")
	if a != first(0, 0, "5") {
		t.Error("the same seed gives other keys")
	}
	if a == first(0, 0, "6") || a == first(1, 0, "5") || a == first(0, 1, "5") {
		t.Error("other seeds, runs and clients give the same keys")
	}
}

// Nothing is allocated per request.
func TestNoAllocation(t *testing.T) {
	for _, line := range []string{"send=ascii_get", "send=ascii_mget,mget_count=50", "send=ascii_set,value_size=100,live_rand_zipf=1", "send=ascii_mg,cmd_postfix=s v"} {
		p := mustPlan(t, 0, 1, "--template", line)
		c := &p.Clients[0]
		var op load.Op
		buf := make([]byte, 0, 1<<16)
		if n := testing.AllocsPerRun(1000, func() {
			op = load.Op{}
			c.Source.Next(&op)
			buf = c.Codec.Append(buf[:0], &op)
		}); n != 0 {
			t.Errorf("%s: %v allocations", line, n)
		}
	}
}

// Requests look like mc-crusher's on the wire.
func TestWire(t *testing.T) {
	for _, c := range []struct{ line, want string }{
		{"send=ascii_get", "get foo0 \r\nget foo1 \r\n"},
		{"send=ascii_mget,mget_count=3", "get foo0 foo1 foo2 \r\nget foo3 foo4 foo5 \r\n"},
		{"send=ascii_set,value=a=b,expire=9,flags=7", "set foo0 7 9 3\r\na=b\r\nset foo1 7 9 3\r\na=b\r\n"},
		{"send=ascii_set,value_size=2", "set foo0 0 0 2\r\n\x00\x00\r\nset foo1 0 0 2\r\n\x00\x00\r\n"},
		{"send=ascii_touch,expire=9", "touch foo0 9\r\ntouch foo1 9\r\n"},
		{"send=ascii_incr", "incr foo0 1\r\nincr foo1 1\r\n"},
		{"send=ascii_decr", "decr foo0 1\r\ndecr foo1 1\r\n"},
		{"send=ascii_delete", "delete foo0 \r\ndelete foo1 \r\n"},
		{"send=ascii_mg,cmd_postfix=s v", "mg foo0 s v\r\nmg foo1 s v\r\n"},
		{"send=ascii_mg,cmd_postfix=v q", "mg foo0 v q O0\r\nmg foo1 v q O1\r\nmn\r\n"},
	} {
		cl := &mustPlan(t, 0, 1, "--template", c.line).Clients[0]
		var b []byte
		for range 2 {
			var op load.Op
			cl.Source.Next(&op)
			b = cl.Codec.Append(b, &op)
		}
		if b = cl.Codec.Flush(b); string(b) != c.want {
			t.Errorf("%s: %q, want %q", c.line, b, c.want)
		}
	}
}

func TestOptions(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", "nothing to do (--conf FILE"},
		{"--foo", "--foo: no such option"},
		{"--conf", "a value must follow --conf"},
		{"--conf /nonexistent/conf", "--conf /nonexistent/conf: "},
		{"conf", `"conf": neither an option nor a helper`},
		{"--template send=ascii_get --port 0", "--port 0: no port"},
		{"--template send=ascii_get --port x", "for --port"},
		{"--template send=ascii_get --threads 0", "--threads 0: out of range"},
		{"--template send=ascii_get --io kqueue", "--io kqueue: no such driver"},
		{"--template send=ascii_get --timeout 0", "for --timeout: no time"},
		{"--template send=ascii_get,host=x --sock /y", "host=x: no effect with --sock"},
		{"--template send=ascii_get,key_prealloc=1", "--template:1: key_prealloc=1"},
		{"--zipf-n 10 --zipf-s 7", "--zipf-s 7: no exponent"},
	} {
		_, err := Plan(strings.Fields(c.args), 0, 0, 1)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.args, err, c.want)
		}
	}
}

// The examples of the help are accepted, but for files that they name.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		args := strings.Fields(e.args)
		if slices.Contains(helperNames(), args[0]) {
			continue
		}
		if i := slices.Index(args, "loadconf"); i > 0 {
			args[i] = filepath.Join(t.TempDir(), "loadconf")
			if err := os.WriteFile(args[i], []byte(s0Set), 0o600); err != nil {
				t.Fatal(err)
			}
		}
		if _, err := Plan(args, 0, 0, 1); err != nil {
			t.Errorf("%s: %v", e.args, err)
		}
	}
}
