package crusher

import (
	"fmt"
	"math/bits"
	"net"
	"strconv"

	"godwit/internal/load"
	"godwit/internal/load/keys"
)

// openWindow is how many writes of a connection with usleep may be unanswered. mc-crusher has no limit and fills the socket;
// here a server that stands still lets later writes wait, and the planned latency tells for how long.
const openWindow = 16

// Plan is the load.Planner of crusher. args are those of Main, but for the helpers; what they say of agents and outputs does
// not matter.
//
// What is done otherwise than in mc-crusher, beside what Problems are about: a closed connection writes when all answers to
// its last write have come, not at any byte (unless blind); stop_after is kept to the key; quiet requests are followed by a
// noop, so that their end is known; sequences are repeatable (--seed).
func Plan(args []string, run, part, parts int) (*load.Plan, error) {
	o, err := parseOptions(args)
	if err != nil {
		return nil, err
	}
	if o.help || o.zipfN > 0 {
		return nil, fmt.Errorf("crusher: --help and --zipf-n are no loads")
	}
	conf, err := o.conf()
	if err != nil {
		return nil, err
	}
	p, err := newPlan(o, conf.Templates, run, part, parts)
	if err != nil {
		return nil, err
	}
	return p.Plan, nil
}

// plan is a load.Plan with what the report has to know.
type plan struct {
	*load.Plan
	o         *options
	templates []*Template
	conns     []int          // of this part, by templates
	targets   []*load.Target // by templates
	limits    []uint64       // keys that this part sends, by templates; 0: no end
}

// newPlan makes the Plan of templates. Connections are numbered through all templates and groups, and every parts-th belongs
// to a part; so do shares of each group's keys and stop_after, in proportion to its connections.
func newPlan(o *options, templates []*Template, run, part, parts int) (*plan, error) {
	if parts < 1 || part < 0 || part >= parts {
		return nil, fmt.Errorf("crusher: part %d of %d: count from 0", part, parts)
	}
	p := &plan{
		o: o, templates: templates, conns: make([]int, len(templates)), limits: make([]uint64, len(templates)),
		Plan: &load.Plan{Duration: o.timeout, IO: o.io},
	}
	shared := 0 // loops for templates without threads
	for _, t := range templates {
		if t.Thread == 0 {
			shared = o.threads
		}
		p.Loops += t.Thread
	}
	p.Loops += shared
	block, err := keys.ConstantBlock(0, largest(templates))
	if err != nil {
		return nil, err
	}
	b := builder{plan: p, seed: o.seed + uint64(run), part: part, parts: parts, shared: shared, next: shared, found: map[string]*load.Target{}}
	for i, t := range templates {
		value := t.Value
		if value == nil {
			v := keys.NewValues(block, 0, 0)
			value = v.Next(t.ValueSize)
		}
		p.Rows = append(p.Rows, fmt.Sprintf("%s:%d %s", t.File, t.Line, t.Send.name))
		p.targets = append(p.targets, b.target(t))
		for g := range t.groups() {
			if err := b.group(i, g, value); err != nil {
				return nil, err
			}
		}
	}
	if len(p.Clients) == 0 {
		return nil, fmt.Errorf("crusher: part %d of %d has no connection: there are only %d in all (use fewer machines or more conns)",
			part, parts, b.number)
	}
	return p, nil
}

func largest(templates []*Template) (n int) {
	for _, t := range templates {
		n = max(n, t.ValueSize)
	}
	return n
}

// builder makes the clients of a plan.
type builder struct {
	*plan
	seed        uint64
	part, parts int
	shared      int // loops 0 to shared-1 are those of templates without threads
	next        int // loop of the next thread
	number      int // of the next connection
	turn        int // of the next client on a shared loop
	found       map[string]*load.Target
}

func (b *builder) target(t *Template) *load.Target {
	network, addr := "tcp", ""
	if b.o.sock != "" {
		network, addr = "unix", b.o.sock
	} else {
		host, port := t.Host, t.Port
		if host == "" {
			host = b.o.ip
		}
		if port == 0 {
			port = b.o.port
		}
		addr = net.JoinHostPort(host, strconv.Itoa(port))
	}
	if b.found[addr] == nil {
		b.found[addr] = &load.Target{Network: network, Address: addr}
	}
	return b.found[addr]
}

// group adds the clients of a template's thread, or all if it has none.
func (b *builder) group(row, g int, value []byte) error {
	t := b.templates[row]
	mine, before := 0, 0 // connections of this part, and of those in front of it
	first := b.number
	for c := range t.Conns {
		switch p := (first + c) % b.parts; {
		case p == b.part:
			mine++
		case p < b.part:
			before++
		}
	}
	b.number += t.Conns
	loop := b.next
	if t.Thread > 0 {
		b.next++
	}
	if mine == 0 {
		return nil
	}
	share := func(n uint64) (from, to uint64) { return portion(n, before, t.Conns), portion(n, before+mine, t.Conns) }
	indices, err := t.indices(share)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", t.File, t.Line, err)
	}
	var q *quota
	if t.StopAfter > 0 {
		from, to := share(t.StopAfter)
		if to == from {
			return nil
		}
		q = &quota{}
		q.left.Store(int64(to - from))
		b.limits[row] += to - from
	}
	for c := range t.Conns {
		n := first + c
		if n%b.parts != b.part {
			continue
		}
		if t.Thread == 0 {
			loop = b.turn % b.shared
			b.turn++
		}
		b.conns[row]++
		b.Clients = append(b.Clients, b.client(row, n, loop, newSource(t, row, indices, q, value, b.seed, keys.Stream(n, keys.Reads))))
	}
	return nil
}

func (b *builder) client(row, n, loop int, s *source) load.Client {
	t := b.templates[row]
	c := load.Client{
		Group: b.Loops + loop, Target: b.targets[row], Codec: t.Send.codec(), Source: s,
		Pipeline: t.Pipelines, Burst: t.Pipelines, Blind: b.blind(t), Quit: t.Send.quit,
	}
	if t.Usleep > 0 {
		c.Rate = float64(t.Pipelines) * 1e6 / float64(t.Usleep)
		if !c.Blind {
			c.Pipeline *= openWindow
		}
		var r keys.Rand
		r.Seed(b.seed, keys.Stream(n, keys.Choices))
		c.Phase = r.Float64()
	}
	return c
}

func (p *plan) blind(t *Template) bool { return !t.Parse && !p.o.check }

// indices draws the keys of a group: in order in this part's share of them, at random from all.
func (t *Template) indices(share func(uint64) (uint64, uint64)) (keys.Indices, error) {
	last := t.KeyCount - 1
	switch {
	case t.LiveRandZipf && t.ZipfSkew > 0:
		return keys.Zipf(0, last, t.ZipfSkew)
	case t.LiveRandZipf || t.LiveRand:
		return keys.Uniform(0, last)
	}
	from, to := share(t.KeyCount)
	if to == from {
		from, to = 0, t.KeyCount
	}
	cursor, err := keys.NewCursor(from, to-1, from)
	if err != nil {
		return keys.Indices{}, err
	}
	return keys.Shared(cursor)
}

// portion is n*i/of.
func portion(n uint64, i, of int) uint64 {
	hi, lo := bits.Mul64(n, uint64(i))
	q, _ := bits.Div64(hi, lo, uint64(of))
	return q
}
