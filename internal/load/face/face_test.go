package face

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/result"
)

// gets is a Source of a number of gets.
type gets struct{ left int }

func (g *gets) Next(op *load.Op) bool {
	op.Kind, op.Key = load.Get, []byte("key")
	g.left--
	return g.left >= 0
}

// toy is a memcached without items whose counter of gets runs faster than it should, by a factor. 0: it knows no counters.
func toy(t *testing.T, factor int) *load.Target {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	n := 0
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				for r := bufio.NewReader(nc); ; {
					line, err := r.ReadString('\n')
					if err != nil {
						return
					}
					mu.Lock()
					switch {
					case line == "stats\r\n" && factor > 0:
						fmt.Fprintf(nc, "STAT cmd_get %d\r\nSTAT get_misses %d\r\nEND\r\n", n, n)
					case strings.HasPrefix(line, "get "):
						n += factor
						fmt.Fprint(nc, "END\r\n")
					default:
						fmt.Fprint(nc, "ERROR\r\n")
					}
					mu.Unlock()
				}
			}()
		}
	}()
	return &load.Target{Network: "tcp", Address: l.Addr().String()}
}

func plan(targets ...*load.Target) (*load.Plan, []Server) {
	p := &load.Plan{Rows: []string{"GET"}, Loops: 1}
	var servers []Server
	for _, t := range targets {
		p.Clients = append(p.Clients, load.Client{Target: t, Codec: codec.NewText(), Source: &gets{100}, Pipeline: 1})
		servers = append(servers, Server{t, "memcache_text"})
	}
	return p, servers
}

// Counters of all servers are held against the run.
func TestObserved(t *testing.T) {
	for _, c := range []struct {
		factors []int
		warm    time.Duration
		warning string // "": only that misses were measured
		note    string
	}{
		{[]int{1}, 0, "", "server and client agree on 100 operations"},
		{[]int{1, 1}, 0, "", "server and client agree on 200 operations"},
		{[]int{1, 2}, 0, "the server counted 300 operations, the client 200", ""},
		{[]int{2}, time.Nanosecond, "", "requests of the warm-up are in the server's numbers only"},
		{[]int{1, 0}, 0, "the server's counters are not compared", ""},
	} {
		var targets []*load.Target
		for _, f := range c.factors {
			targets = append(targets, toy(t, f))
		}
		l := &Load{Stderr: &bytes.Buffer{}, Quiet: true}
		l.Plan, l.Servers = plan(targets...)
		l.Plan.Warmup = c.warm
		r, o, err := l.Run(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		warnings, notes := strings.Join(o.Warnings(), "\n"), strings.Join(o.Notes(), "\n")
		if c.warm == 0 && r.Total().Count != uint64(100*len(targets)) || !strings.Contains(warnings, c.warning) || !strings.Contains(notes, c.note) ||
			c.warning == "" && strings.Contains(warnings, "counted") {
			t.Errorf("%v: %d requests; warnings\n%s\nnotes\n%s", c.factors, r.Total().Count, warnings, notes)
		}
		if few := o.Warnings("hit ratio"); o.Counters != nil && len(few) != len(o.Warnings())-1 {
			t.Errorf("%q but for hit ratio: %q", o.Warnings(), few)
		}
		if b, err := json.Marshal(o); err != nil || strings.Contains(string(b), "problem") != (o.Counters == nil) {
			t.Errorf("%s, %v", b, err)
		}
	}
	l := &Load{Stderr: &bytes.Buffer{}, Quiet: true}
	l.Plan, _ = plan(toy(t, 1))
	if _, o, err := l.Run(t.Context()); err != nil || o != nil || o.Warnings() != nil || o.Notes() != nil {
		t.Errorf("not asked: %v, %v", o, err)
	}
	if _, _, err := (&Load{Stderr: &bytes.Buffer{}, Plan: &load.Plan{}}).Run(t.Context()); err == nil {
		t.Error("a plan without clients runs")
	}
}

// Progress is shown of what Pick leaves, here and for other machines.
func TestProgress(t *testing.T) {
	for _, top := range []bool{false, true} {
		var out bytes.Buffer
		watched := 0
		l := &Load{Stderr: &out, Top: top, Title: Title("toy", []Server{{Target: &load.Target{Address: "here:1"}}}), Rows: []string{"one"}}
		l.Plan, _ = plan(toy(t, 1))
		l.Watch = func(*result.Snapshot) { watched++ }
		l.Pick = func(s *result.Snapshot) *result.Snapshot {
			c := *s
			c.Second, c.Total = s.Second[1:], s.Total[1:]
			return &c
		}
		l.Away = func(_ context.Context, watch func(*result.Snapshot)) (*result.Run, error) {
			watch(&result.Snapshot{Elapsed: time.Second, Second: []result.Second{{Counts: result.Counts{Count: 500}}, {Counts: result.Counts{Count: 7}}},
				Total: []result.Counts{{Count: 500}, {Count: 7}}})
			return nil, errors.New("agent a: lost")
		}
		if _, _, err := l.Run(t.Context()); err == nil || err.Error() != "agent a: lost" || watched != 1 || !strings.Contains(out.String(), "toy here:1: 0:01 7 ops/s") {
			t.Errorf("%v, watched %d times, %q", err, watched, &out)
		}
	}
	if got := Title("x", make([]Server, 3)); got != "x 3 servers" {
		t.Error(got)
	}
}

func TestMachines(t *testing.T) {
	r := &result.Run{Machines: []result.Machine{
		{Name: "a:1", Clients: 3, Count: 500, Doubt: 100 * time.Microsecond, Self: result.Self{Busiest: 0.5, CPU: time.Second}},
	}}
	if m := MachinesOf(r); m != nil || m.Lines() != nil {
		t.Errorf("one machine: %+v", m)
	}
	r.Machines = append(r.Machines, result.Machine{Name: "b:1", Clients: 1, Count: 20, Began: 2 * time.Millisecond})
	m := MachinesOf(r)
	want := "2 machines, which began within 2.00ms of each other (known to 200µs)\na:1: requests 500, connections 3, busiest loop 50.00 %\nb:1: requests 20, connections 1"
	if got := strings.Join(m.Lines(), "\n"); got != want || m.List[0].CPU != 1 || m.List[1].Began != 2000 {
		t.Errorf("%s\n%+v", got, m)
	}
}
