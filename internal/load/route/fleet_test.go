package route

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/proto/resp"

	"pgregory.net/rapid"
)

// numbered is a source of n requests for some keys, each with its number as ID and in its value; every few for several keys.
type numbered struct {
	n, made int
	keys    int
	several int // every so many requests; 0: none
	key     []byte
	value   []byte
	many    [][]byte
	done    int // answers
	hits    int
	failed  int
}

func (s *numbered) Next(op *load.Op) bool {
	if s.made == s.n {
		return false
	}
	i := s.made
	s.made++
	*op = load.Op{ID: uint64(i)} // Planned too: sources may
	if s.several > 0 && i%s.several == 0 {
		op.Kind, op.Keys = load.MGet, s.many
		for k := range s.many {
			s.many[k] = fmt.Appendf(s.many[k][:0], "key%d", (i*7+k)%s.keys)
		}
		return true
	}
	s.key = append(append(s.key[:0], "key"...), byte('0'+i*i%s.keys/10), byte('0'+i*i%s.keys%10))
	s.value = append(s.value[:0], byte(i>>16), byte(i>>8), byte(i))
	op.Kind, op.Key, op.Value = load.Set, s.key, s.value
	return true
}

func (s *numbered) Done(r *load.Reply) {
	s.done++
	s.hits += r.Hits
	if r.Status == load.Failed {
		s.failed++
	}
}

// wire is a request on its way.
type wire struct {
	op      load.Op
	key     string
	keys    int
	id      int
	sent    int64
	planned int64
	aside   string
}

// simulation is connections and servers: what drive does with the parts of a fleet, in an order that rapid chooses.
type simulation struct {
	t     *rapid.T
	f     *Fleet
	conns []*simConn
	rate  bool
	steps int64 // planned requests so far
	clock int64

	owner   map[string]int // cluster: where keys are now; by slot name
	move    map[string]int // cluster: keys that are on their way: ASK
	seen    map[int]int    // requests by ID that were executed, or keys of them
	keys    int            // executed in requests for several
	last    map[string]int // ID of the last request for a key
	lost    int
	moved   int
	asked   int
	ordered bool
	expect  map[string]bool // requests that must come with ASKING
}

type simConn struct {
	s        *simulation
	p        *Part
	id       int
	pipeline int
	woken    bool
	open     bool
	ended    bool
	flights  []wire
	asking   bool // server's side
	op       load.Op
}

func (c *simConn) feed() {
	c.woken = false
	for c.open && !c.ended && len(c.flights) < c.pipeline {
		ready := c.p.Ready()
		c.op = load.Op{}
		planned := c.s.rate && !ready
		if planned {
			if c.s.clock < c.s.steps {
				return
			}
			c.op.Planned = c.s.steps + 1
		}
		if !c.p.Next(&c.op) {
			if ready {
				c.s.t.Fatalf("part %d was ready and has nothing", c.id)
			}
			if planned && c.op.Planned == 0 {
				c.s.steps++
				continue
			}
			if !c.p.Waiting() {
				if len(c.flights) == 0 {
					c.ended = true
				}
			}
			return
		}
		c.s.clock++
		w := wire{op: load.Op{Kind: c.op.Kind}, key: string(c.op.Key), keys: max(1, len(c.op.Keys)), id: int(c.op.ID), sent: c.s.clock, planned: c.op.Planned}
		if planned {
			w.planned = c.s.steps + 1
			c.s.steps++
		}
		if c.op.Sent > 0 {
			w.sent = c.op.Sent
		}
		if c.op.Aside {
			w.aside = string(bytes.Join(c.op.Args, []byte(" ")))
		} else {
			if len(c.op.Keys) > 0 {
				w.key = string(c.op.Keys[0])
				for _, k := range c.op.Keys {
					if c.s.home(string(k)) != c.s.home(w.key) {
						c.s.t.Fatalf("keys %s and %s in one request", w.key, k)
					}
				}
			} else if got := int(c.op.Value[0])<<16 | int(c.op.Value[1])<<8 | int(c.op.Value[2]); got != w.id {
				c.s.t.Fatalf("request %d has the value of %d", w.id, got)
			}
			if c.s.rate && (w.planned == 0 || w.planned > c.s.clock+1) {
				c.s.t.Fatalf("request %d is planned for %d at %d", w.id, w.planned, c.s.clock)
			}
		}
		c.flights = append(c.flights, w)
	}
}

// home tells keys apart that may not be in one request.
func (s *simulation) home(key string) string {
	if s.f.cluster == nil {
		return fmt.Sprint(s.f.place.Server([]byte(key)))
	}
	return fmt.Sprint(Slot([]byte(key)))
}

// answer the oldest request.
func (c *simConn) answer() {
	s := c.s
	w := c.flights[0]
	c.flights = c.flights[1:]
	r := load.Reply{Sent: w.sent, Planned: w.planned}
	asking := c.asking
	c.asking = false
	switch {
	case w.aside == "ASKING":
		c.asking = true
	case w.aside != "":
		r.Value = s.slots()
	default:
		name := fmt.Sprint(w.id, w.key)
		if asking != s.expect[name] {
			s.t.Fatalf("request %d: ASKING %v", w.id, asking)
		}
		delete(s.expect, name)
		at := s.f.ownerNow(s, w.key)
		to, moving := s.move[w.key]
		switch {
		case asking && moving && to == c.id:
			s.execute(w)
			r.Hits = w.keys
		case at != c.id:
			r.Status, r.Text = load.Moved, fmt.Appendf(nil, "MOVED %d host:%d", Slot([]byte(w.key)), 1+at)
		case moving:
			r.Status, r.Text = load.Ask, fmt.Appendf(nil, "ASK %d host:%d", Slot([]byte(w.key)), 1+to)
		default:
			s.execute(w)
			r.Hits = w.keys
		}
	}
	was := r.Status
	c.p.Done(&r)
	switch {
	case r.Again && was == load.Moved:
		s.moved++
	case r.Again:
		s.asked++
		s.expect[fmt.Sprint(w.id, w.key)] = true
	case r.Status == load.Failed:
		s.lost += w.keys
	}
	c.feed()
}

// ownerNow is the server that has the key.
func (f *Fleet) ownerNow(s *simulation, key string) int {
	if f.cluster == nil {
		return f.place.Server([]byte(key))
	}
	if at, ok := s.owner[key]; ok {
		return at
	}
	return Slot([]byte(key)) * len(f.parts) / Slots
}

func (s *simulation) execute(w wire) {
	if w.op.Kind == load.MGet {
		s.keys += w.keys
		return
	}
	if s.seen[w.id]++; s.seen[w.id] > 1 {
		s.t.Fatalf("request %d was executed twice", w.id)
	}
	if last, ok := s.last[w.key]; ok && last > w.id && s.ordered {
		s.t.Fatalf("request %d for %s came after %d", w.id, w.key, last)
	}
	s.last[w.key] = w.id
}

// slots is the answer to CLUSTER SLOTS: one range for each slot that has moved.
func (s *simulation) slots() []byte {
	owner := evenly(len(s.conns))
	for k, at := range s.owner {
		owner[Slot([]byte(k))] = uint16(at)
	}
	return appendSlots(owner)
}

// evenly spreads the slots over n nodes.
func evenly(n int) (owner [Slots]uint16) {
	for i := range owner {
		owner[i] = uint16(i * n / Slots)
	}
	return owner
}

func appendSlots(owner [Slots]uint16) []byte {
	var ranges [][2]int
	for i := range owner {
		if n := len(ranges); n > 0 && owner[ranges[n-1][0]] == owner[i] {
			ranges[n-1][1] = i
		} else {
			ranges = append(ranges, [2]int{i, i})
		}
	}
	b := resp.AppendArray(nil, len(ranges))
	for _, r := range ranges {
		b = fmt.Appendf(b, "*3\r\n:%d\r\n:%d\r\n*2\r\n$4\r\nhost\r\n:%d\r\n", r[0], r[1], 1+owner[r[0]])
	}
	return b
}

func simCluster(t interface{ Fatal(...any) }, n int) *Cluster {
	var v resp.Value
	if _, err := resp.Parse(appendSlots(evenly(n)), &v); err != nil {
		t.Fatal(err)
	}
	top, err := parseSlots(&v, "host")
	if err != nil {
		t.Fatal(err)
	}
	return NewCluster(top)
}

func (s *simulation) check() {
	queued := 0
	for _, p := range s.f.parts {
		most := s.f.o.Queue + 4
		if s.f.cluster != nil { // when slots move, what waits for them comes together
			most *= len(s.conns)
		}
		if p.queue.n > most {
			s.t.Fatalf("%d requests in a queue of %d", p.queue.n, s.f.o.Queue)
		}
		queued += p.queue.n + p.again.n
	}
	if queued != s.f.queued {
		s.t.Fatalf("%d requests in queues, counted %d", queued, s.f.queued)
	}
}

// TestModel has requests, answers, wakes, redirections and lost connections in any order: each request is executed once or
// known as lost, requests for a key in their order unless they were redirected, queues are bounded, and everything ends.
func TestModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		n := rapid.IntRange(1, 4).Draw(t, "servers")
		src := &numbered{
			n: rapid.IntRange(0, 300).Draw(t, "requests"), keys: rapid.IntRange(1, 60).Draw(t, "keys"),
			several: rapid.SampledFrom([]int{0, 0, 2, 5}).Draw(t, "several"), many: make([][]byte, 4),
		}
		s := &simulation{
			t: t, rate: rapid.Bool().Draw(t, "rate"), owner: map[string]int{}, move: map[string]int{}, seen: map[int]int{}, last: map[string]int{}, expect: map[string]bool{}, ordered: true,
		}
		o := Options{Queue: rapid.IntRange(1, 10).Draw(t, "queue")}
		cluster := rapid.Bool().Draw(t, "cluster")
		if cluster {
			s.f = simCluster(t, n).Fleet(src, o)
		} else {
			s.f = New(src, n, Modulo(n), o)
		}
		for i, p := range s.f.Parts() {
			c := &simConn{s: s, p: p, id: i, pipeline: rapid.IntRange(1, 5).Draw(t, "pipeline"), open: true, woken: true}
			p.Attach(func() { c.woken = true })
			s.conns = append(s.conns, c)
		}
		breaks := rapid.Bool().Draw(t, "breaks")
		for range rapid.IntRange(0, 400).Draw(t, "steps") {
			c := s.conns[rapid.IntRange(0, n-1).Draw(t, "connection")]
			switch what := rapid.IntRange(0, 11).Draw(t, "what"); {
			case what < 5:
				if c.open && len(c.flights) > 0 {
					c.answer()
				}
			case what < 9:
				if c.open && (c.woken || s.rate) {
					c.feed()
				}
			case what == 9 && cluster:
				key := fmt.Sprintf("key%02d", rapid.IntRange(0, src.keys-1).Draw(t, "key"))
				s.owner[key] = rapid.IntRange(0, n-1).Draw(t, "to")
				delete(s.move, key)
				s.ordered = false
			case what == 10 && cluster:
				key := fmt.Sprintf("key%02d", rapid.IntRange(0, src.keys-1).Draw(t, "key"))
				if to := rapid.IntRange(0, n-1).Draw(t, "to"); to != s.f.ownerNow(s, key) {
					s.move[key] = to
					s.ordered = false
				}
			case what == 11 && breaks && !c.ended:
				if !c.open {
					c.open, c.woken = true, true
					break
				}
				for _, w := range c.flights {
					if w.aside == "" {
						s.lost += w.keys
						if w.op.Kind == load.Set && s.seen[w.id] > 0 {
							t.Fatalf("request %d was lost and executed", w.id)
						}
					}
					c.p.Lost()
				}
				c.flights, c.open, c.asking = nil, false, false
				c.p.Down(false)
			}
			s.check()
		}
		for busy := true; busy; { // to the end
			busy = false
			for _, c := range s.conns {
				if !c.open {
					c.open, c.woken = true, true
				}
				switch {
				case c.ended:
				case len(c.flights) > 0:
					c.answer()
					busy = true
				case c.woken:
					c.feed()
					busy = true
				case s.rate && src.made < src.n:
					s.clock++
					c.feed()
					busy = true
				}
				s.check()
			}
		}
		for i, c := range s.conns {
			if !c.ended {
				t.Fatalf("connection %d has not ended: %d of %d requests made, %d queued, %d flying", i, src.made, src.n, s.f.queued, s.f.flying)
			}
		}
		several, sets := 0, src.n
		if src.several > 0 {
			several = (src.n + src.several - 1) / src.several
			sets -= several
		}
		if got := len(s.seen) + s.keys + s.lost; got != sets+4*several {
			t.Fatalf("%d keys executed or lost, want %d", got, sets+4*several)
		}
		if s.rate && s.steps != int64(src.n) {
			t.Fatalf("%d planned requests for %d", s.steps, src.n)
		}
		if s.lost == 0 && (src.done != src.n || src.hits != sets+4*several) {
			t.Fatalf("the source heard of %d requests of %d", src.done, src.n)
		}
		if s.f.cluster != nil && s.f.cluster.asking.Load() {
			t.Fatal("somebody still asks for slots")
		}
	})
}

// What waits because a queue is full goes on when that is half empty.
func TestPause(t *testing.T) {
	src := &numbered{n: 1000, keys: 60}
	f := New(src, 2, Modulo(2), Options{Queue: 8})
	a, b := f.Parts()[0], f.Parts()[1]
	waked := 0
	a.Attach(func() { waked++ })
	b.Attach(func() {})
	var op load.Op
	for a.Next(&op) {
	}
	if b.queue.n != 8 || a.queue.n != 0 || !a.Waiting() {
		t.Fatalf("queues of %d and %d", a.queue.n, b.queue.n)
	}
	made := src.made
	for b.queue.n > 4 {
		if a.Next(&op) || waked > 0 || src.made != made {
			t.Fatalf("%d are queued, and %d requests made, %d before", b.queue.n, src.made, made)
		}
		b.Next(&op)
	}
	if waked != 1 {
		t.Errorf("waked %d times", waked)
	}
	for !a.Next(&op) {
		b.Next(&op)
	}
}

// small is a cluster of two nodes with a fleet whose parts nobody wakes.
func small(t *testing.T, src load.Source, o Options) *Fleet {
	f := simCluster(t, 2).Fleet(src, o)
	for _, p := range f.Parts() {
		p.Attach(func() {})
	}
	return f
}

// A request that is sent from node to node ends as an error, and so does one for a node that nobody knows.
func TestRedirectsEnd(t *testing.T) {
	src := &numbered{n: 1, keys: 1}
	f := small(t, src, Options{})
	var op load.Op
	at := f.Parts()[0]
	if !at.Next(&op) {
		at = f.Parts()[1]
		at.Next(&op)
	}
	for hop := 1; ; hop++ {
		r := load.Reply{Status: load.Moved, Text: fmt.Appendf(nil, "MOVED 5 host:%d", 2-at.id), Sent: 7, Planned: 5}
		at.Done(&r)
		if !r.Again {
			if hop != mostHops+1 || r.Status != load.Failed || !strings.Contains(string(r.Text), "MOVED 5 host:") || src.failed != 1 {
				t.Fatalf("hop %d: %d %q, %d failed", hop, r.Status, r.Text, src.failed)
			}
			break
		}
		at = f.Parts()[1-at.id]
		for at.Next(&op) && op.Aside {
			at.Done(&load.Reply{Value: appendSlots(evenly(2))})
		}
		if op.Sent != 7 || op.Planned != 5 || string(op.Key) != "key00" {
			t.Fatalf("%+v", op)
		}
	}
	src = &numbered{n: 1, keys: 1}
	f = small(t, src, Options{})
	at = f.Parts()[0]
	if !at.Next(&op) {
		at = f.Parts()[1]
		at.Next(&op)
	}
	r := load.Reply{Status: load.Ask, Text: []byte("ASK 5 10.9.8.7:6379")}
	at.Done(&r)
	if r.Again || r.Status != load.Failed || !strings.Contains(string(r.Text), "10.9.8.7:6379") {
		t.Errorf("%v %q", r.Again, r.Text)
	}
	if at.Next(&op) || at.Waiting() {
		t.Error("there is something to wait for")
	}
}

// The end of a server that has keys ends the client; that of a replica does not.
func TestGone(t *testing.T) {
	for _, replica := range []bool{false, true} {
		top, err := parseText(t, "*2 *4 :0 :8191 *2 $1 a :1 *2 $1 a :3 *3 :8192 :16383 *2 $1 b :2 ")
		if err != nil {
			t.Fatal(err)
		}
		f := NewCluster(top).Fleet(&numbered{n: 1000, keys: 50}, Options{})
		for _, p := range f.Parts() {
			p.Attach(func() {})
		}
		var op load.Op
		a, b := f.Parts()[0], f.Parts()[2]
		if top.Nodes[1].Replica != true || !a.Next(&op) {
			t.Fatalf("%+v", top.Nodes)
		}
		if replica {
			f.Parts()[1].Down(true)
		} else {
			b.Down(true)
		}
		more := a.Next(&op)
		a.Done(&load.Reply{Value: []byte("?")})
		if more {
			a.Done(&load.Reply{Value: []byte("?")})
		}
		if more != replica || a.Waiting() != replica {
			t.Errorf("replica %v: more %v, waiting %v", replica, more, a.Waiting())
		}
	}
}

// Replicas get gets, and nothing else.
func TestReplicaReads(t *testing.T) {
	top, err := parseText(t, "*1 *5 :0 :16383 *2 $1 a :1 *2 $1 a :2 *2 $1 a :3 ")
	if err != nil {
		t.Fatal(err)
	}
	f := NewCluster(top).Fleet(&numbered{}, Options{Replicas: true})
	var got [3]int
	for range 30 {
		got[f.owner(&load.Op{Kind: load.Get, Key: []byte("k")})]++
	}
	if got != [3]int{10, 10, 10} {
		t.Errorf("gets: %v", got)
	}
	if at := f.owner(&load.Op{Kind: load.Set, Key: []byte("k")}); at != 0 {
		t.Errorf("a set goes to %d", at)
	}
}

// Nothing is allocated on the way of a request.
func TestNoAllocation(t *testing.T) {
	for _, cluster := range []bool{false, true} {
		src := &numbered{n: 1 << 30, keys: 60, many: make([][]byte, 4)}
		f := New(src, 2, Modulo(2), Options{})
		if cluster {
			f = simCluster(t, 2).Fleet(src, Options{})
		}
		for _, p := range f.Parts() {
			p.Attach(func() {})
		}
		var op load.Op
		var r load.Reply
		round := func() {
			for _, p := range f.Parts() {
				for range 8 {
					op = load.Op{}
					if p.Next(&op) {
						r = load.Reply{}
						p.Done(&r)
					}
				}
			}
		}
		for range 100 {
			round()
		}
		if n := testing.AllocsPerRun(1000, round); n > 0 {
			t.Errorf("cluster %v: %v allocations", cluster, n)
		}
	}
}

func TestClients(t *testing.T) {
	f := New(&numbered{}, 2, Modulo(2), Options{})
	targets := []*load.Target{{Address: "a"}, {Address: "b"}}
	text := func() (load.Codec, error) { return codec.New("memcache_text") }
	got, err := f.Clients(load.Client{Group: 3, Pipeline: 2, Rate: 7}, targets, text)
	if err != nil || len(got) != 2 || got[1].Target != targets[1] || got[0].Codec == got[1].Codec || got[0].Group != 3 || got[1].Rate != 7 {
		t.Errorf("%+v %v", got, err)
	}
	if _, err := f.Clients(load.Client{}, targets, text); err == nil {
		t.Error("no group, no error")
	}
	if _, err := f.Clients(load.Client{Group: 1}, targets[:1], text); err == nil {
		t.Error("one target for two servers")
	}
}
