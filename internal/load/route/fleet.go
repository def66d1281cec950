package route

import (
	"bytes"
	"errors"
	"fmt"
	"sync/atomic"

	"godwit/internal/load"
	"godwit/internal/proto/resp"
)

// Options of a Fleet.
type Options struct {
	// Queue is how many requests may wait for one connection; 0: 64. A request for several keys may exceed it once.
	Queue int
	// Replicas of a RESP cluster get their share of gets. Their connections must have begun with ReadOnly.
	Replicas bool
}

const (
	defaultQueue = 64
	queueBytes   = 1 << 20 // from which a queue is full, however few requests it has
	mostHops     = 5       // times that a request is redirected
)

// Fleet splits the requests of one client over several connections. It and its Parts belong to one loop. See the comment of
// the package for what it promises.
type Fleet struct {
	source   load.Source
	feedback load.Feedback // the source if it is one, or nil
	checker  load.Checker  // likewise
	place    Placer        // nil: a cluster
	cluster  *Cluster      // nil: placed
	view     *view         // that queues agree with
	o        Options
	parts    []*Part
	entries  entries
	groups   []group // of keys, of a request that is split
	turn     int     // among replicas
	text     []byte  // of the last error of our own

	dry     bool        // source has no more
	queued  int         // entries in all queues
	flying  int         // requests without answer
	full    int         // parts whose queue is full
	settled atomic.Bool // all is done, and the parts know
	splits  []*split    // free
	alarm   atomic.Bool // a connection is gone
}

// group is the keys of a request for several that go to one server, in one slot if it is a cluster.
type group struct {
	to, slot int
	keys     [][]byte
}

// Part is the share of a Fleet that one connection sends: the load.Source of that connection. It is a load.Patient and a
// load.Checker.
type Part struct {
	f    *Fleet
	id   int
	wake func()

	queue   ring[*entry] // requests that other parts found
	bytes   int          // in queue
	full    bool         // queue is, or was and is not yet half empty
	again   ring[*entry] // requests that were redirected here; they are older than those of queue
	asked   bool         // ASKING is sent: the first of again must be next
	refresh bool         // CLUSTER SLOTS is next
	flights ring[flight]
	lent    *entry // that the last Op points into
	asleep  bool   // the connection does not ask Next until it is waked
	paused  bool   // because of a queue that is full

	down atomic.Bool // there is no connection and will be none
	gone bool        // the same, noticed
}

// flight is a request without answer.
type flight struct {
	kind  flightKind
	e     *entry // nil: nobody needs it any more
	split *split // nil: a whole request
}

type flightKind uint8

const (
	counted flightKind = iota
	asking
	slots
)

// New makes a Fleet of so many servers.
func New(source load.Source, servers int, place Placer, o Options) *Fleet {
	f := newFleet(source, servers, o)
	f.place = place
	return f
}

// Fleet makes one for the nodes of the cluster.
func (c *Cluster) Fleet(source load.Source, o Options) *Fleet {
	f := newFleet(source, len(c.nodes), o)
	f.cluster, f.view = c, c.view.Load()
	c.mu.Lock()
	c.fleets = append(c.fleets, f)
	c.mu.Unlock()
	return f
}

func newFleet(source load.Source, servers int, o Options) *Fleet {
	f := &Fleet{source: source, o: o}
	if f.o.Queue <= 0 {
		f.o.Queue = defaultQueue
	}
	f.feedback, _ = source.(load.Feedback)
	f.checker, _ = source.(load.Checker)
	for i := range servers {
		f.parts = append(f.parts, &Part{f: f, id: i})
	}
	return f
}

// Parts are the Sources of the connections, one for each server.
func (f *Fleet) Parts() []*Part { return f.parts }

// Clients are the connections: base for each target, which are the servers in their order. base has a Group of its own,
// and a Rate that is the one of all together.
func (f *Fleet) Clients(base load.Client, targets []*load.Target, codec func() (load.Codec, error)) ([]load.Client, error) {
	if len(targets) != len(f.parts) || base.Group == 0 {
		return nil, fmt.Errorf("route: %d targets for %d servers, group %d", len(targets), len(f.parts), base.Group)
	}
	if _, ok := f.source.(load.Spanner); ok {
		return nil, errors.New("route: operations of several requests cannot be spread over several servers")
	}
	var out []load.Client
	for i, p := range f.parts {
		c := base
		var err error
		if c.Codec, err = codec(); err != nil {
			return nil, err
		}
		c.Target, c.Source = targets[i], p
		out = append(out, c)
	}
	return out, nil
}

// ReadOnly is what a connection must begin with so that a replica serves it.
func ReadOnly() load.Greeting {
	return load.Greeting{
		Name: "READONLY",
		Send: resp.AppendCommand(nil, "READONLY"),
		Check: func(in []byte) (int, error) {
			var v resp.Value
			n, err := resp.Parse(in, &v)
			if n > 0 && v.IsError() {
				return n, fmt.Errorf("the server answered %.200q", v.Text)
			}
			return n, err
		},
	}
}

// wakeAll has all connections ask again. From any goroutine.
func (f *Fleet) wakeAll() {
	for _, p := range f.parts {
		if p.wake != nil {
			p.wake()
		}
	}
}

// done says whether there is nothing left to send or to wait for.
func (f *Fleet) done() bool { return f.dry && f.queued == 0 && f.flying == 0 }

// settle tells all parts when everything is done, so that their connections end.
func (f *Fleet) settle() {
	if !f.settled.Load() && f.done() {
		f.settled.Store(true)
		f.wakeAll()
	}
}

// fail ends the client: the server of a part is gone. What is queued is not sent.
func (f *Fleet) fail() {
	f.dry = true
	for _, p := range f.parts {
		for p.queue.n > 0 {
			f.entries.put(p.unqueue())
		}
		for p.again.n > 0 {
			f.queued--
			f.entries.put(p.again.pop())
		}
		p.asked = false
	}
	f.settled.Store(f.done())
	f.wakeAll()
}

// notice follows the loss of connections for good, and changes of view.
func (f *Fleet) notice() {
	for _, p := range f.parts {
		p.gone = p.down.Load()
	}
	for _, p := range f.parts {
		if p.gone && (!f.dry && p.draws() || p.queue.n+p.again.n > 0) {
			f.fail()
			return
		}
	}
}

// reroute moves what waits for a connection that is not the right one any more.
func (f *Fleet) reroute() {
	for _, p := range f.parts {
		for range p.queue.n {
			e := p.unqueue()
			to := p
			if len(e.op.Key) > 0 || len(e.op.Keys) > 0 {
				to = f.parts[f.owner(&e.op)]
			}
			to.enqueue(e)
		}
	}
	f.wakeAll() // also the masters that are new
}

// owner is the server that a request is for; it has a key.
func (f *Fleet) owner(op *load.Op) int {
	key := op.Key
	if len(op.Keys) > 0 {
		key = op.Keys[0]
	}
	if f.place != nil {
		return f.place.Server(key)
	}
	at := f.view.owner[Slot(key)]
	if f.o.Replicas && (op.Kind == load.Get || op.Kind == load.MGet) {
		list := f.view.replicas[at]
		f.turn++
		if n := f.turn % (len(list) + 1); n > 0 && !f.parts[list[n-1]].gone {
			return int(list[n-1])
		}
	}
	return int(at)
}

// split makes several requests of one for several keys, one for each server or slot, and queues them. false: they all
// belong together. The groups stay for the next time.
func (f *Fleet) split(op *load.Op) bool {
	for i := range f.groups {
		f.groups[i].keys = f.groups[i].keys[:0]
	}
	groups := f.groups[:0]
	for _, k := range op.Keys {
		slot, to := -1, 0
		if f.place != nil {
			to = f.place.Server(k)
		} else {
			slot = Slot(k)
		}
		i := 0
		for i < len(groups) && (groups[i].to != to || groups[i].slot != slot) {
			i++
		}
		if i == len(groups) {
			if i < cap(groups) {
				groups = groups[:i+1]
				groups[i].to, groups[i].slot = to, slot
			} else {
				groups = append(groups, group{to: to, slot: slot})
			}
		}
		groups[i].keys = append(groups[i].keys, k)
	}
	f.groups = groups[:cap(groups)]
	if len(groups) == 1 {
		return false
	}
	s := f.newSplit(len(groups))
	for i := range groups {
		e := f.entries.get()
		e.set(op, groups[i].keys)
		e.split = s
		f.parts[f.owner(&e.op)].enqueue(e)
	}
	return true
}

// newSplit is for a request that n are made of; nil: nobody wants to know.
func (f *Fleet) newSplit(n int) (s *split) {
	switch k := len(f.splits); {
	case f.feedback == nil:
		return nil
	case k > 0:
		s = f.splits[k-1]
		f.splits = f.splits[:k-1]
	default:
		s = &split{}
	}
	s.left, s.lost, s.reply, s.text = n, false, load.Reply{}, s.text[:0]
	return s
}

// draws says whether the part takes requests from the source.
func (p *Part) draws() bool { return p.f.place != nil || p.f.view.masters[p.id] }

// enqueue lets e wait for the connection.
func (p *Part) enqueue(e *entry) {
	p.queue.push(e)
	p.bytes += len(e.buf)
	p.f.queued++
	if !p.full && (p.queue.n >= p.f.o.Queue || p.bytes >= queueBytes) {
		p.full = true
		p.f.full++
	}
	p.rouse()
}

// unqueue takes the first of the queue. When it is half empty those that wait for that go on.
func (p *Part) unqueue() *entry {
	e := p.queue.pop()
	p.bytes -= len(e.buf)
	f := p.f
	f.queued--
	if p.full && p.queue.n <= f.o.Queue/2 && p.bytes <= queueBytes/2 {
		p.full = false
		if f.full--; f.full == 0 {
			for _, o := range f.parts {
				if o.paused {
					o.paused = false
					o.rouse()
				}
			}
		}
	}
	return e
}

// rouse wakes the connection if it sleeps.
func (p *Part) rouse() {
	if p.asleep {
		p.asleep = false
		p.wake()
	}
}

// Attach implements load.Patient.
func (p *Part) Attach(wake func()) { p.wake = wake }

// Waiting implements load.Patient.
func (p *Part) Waiting() bool { return !p.f.settled.Load() }

// Ready implements load.Patient.
func (p *Part) Ready() bool {
	p.prepare()
	ready := p.refresh || p.again.n > 0 || p.queue.n > 0
	p.asleep = !ready
	return ready
}

// prepare follows what happened elsewhere.
func (p *Part) prepare() {
	f := p.f
	if f.alarm.Load() && f.alarm.Swap(false) {
		f.notice()
	}
	c := f.cluster
	if c == nil {
		return
	}
	if v := c.view.Load(); v != f.view {
		f.view = v
		f.reroute()
		f.notice()
	}
	// Next follows at once, so that nobody waits for an answer to what is not asked.
	if c.stale.Load() && !p.asked && (!f.dry || f.queued > 0) && c.asking.CompareAndSwap(false, true) {
		c.stale.Store(false)
		p.refresh = true
	}
}

var (
	askingArgs = [][]byte{[]byte("ASKING")}
	slotsArgs  = [][]byte{[]byte("CLUSTER"), []byte("SLOTS")}
)

// Next implements load.Source.
func (p *Part) Next(op *load.Op) bool {
	f := p.f
	p.asleep = false
	if p.lent != nil {
		f.entries.put(p.lent)
		p.lent = nil
	}
	planned := op.Planned
	if planned == 0 { // else Ready has just been called
		p.prepare()
	}
	switch {
	case p.refresh:
		p.refresh = false
		return p.aside(op, slots, slotsArgs)
	case p.again.n > 0:
		e := *p.again.at(0)
		if e.ask && !p.asked {
			p.asked = true
			return p.aside(op, asking, askingArgs)
		}
		p.asked = false
		f.queued--
		p.again.pop()
		return p.give(op, e)
	case p.queue.n > 0:
		return p.give(op, p.unqueue())
	}
	for !f.dry && p.draws() {
		if f.full > 0 {
			p.paused = true
			break
		}
		if !f.source.Next(op) {
			f.dry = true
			f.settle()
			break
		}
		op.Planned = planned
		if p.draw(op) {
			return true
		}
		if planned != 0 {
			op.Planned = 0
			break
		}
		*op = load.Op{}
	}
	p.asleep = true
	return false
}

// draw takes a request that the source has made: true if it is for this connection, which sends it at once.
func (p *Part) draw(op *load.Op) bool {
	f := p.f
	if len(op.Keys) > 1 && f.split(op) {
		if p.queue.n == 0 {
			return false
		}
		return p.give(op, p.unqueue())
	}
	to := p
	if len(op.Key) > 0 || len(op.Keys) > 0 {
		to = f.parts[f.owner(op)]
	}
	if to == p && f.cluster == nil {
		p.fly(flight{})
		return true
	}
	e := f.entries.get()
	e.set(op, op.Keys)
	if to != p {
		to.enqueue(e)
		return false
	}
	p.fly(flight{e: e})
	return true
}

// give fills op with a request that waited.
func (p *Part) give(op *load.Op, e *entry) bool {
	*op = e.op
	if p.f.cluster == nil {
		p.lent = e
		p.fly(flight{split: e.split})
	} else {
		p.fly(flight{e: e, split: e.split})
	}
	return true
}

// aside fills op with a request of our own.
func (p *Part) aside(op *load.Op, kind flightKind, args [][]byte) bool {
	*op = load.Op{Kind: load.Command, Args: args, Aside: true}
	p.fly(flight{kind: kind})
	return true
}

func (p *Part) fly(x flight) {
	p.flights.push(x)
	p.f.flying++
}

func (p *Part) land() flight {
	p.f.flying--
	return p.flights.pop()
}

// Check implements load.Checker.
func (p *Part) Check(id uint64, value []byte) bool { return p.f.checker.Check(id, value) }

// Done implements load.Feedback.
func (p *Part) Done(r *load.Reply) {
	f, x := p.f, p.land()
	switch {
	case x.kind == slots:
		if r.Status == load.OK {
			f.cluster.learn(r.Value, p.id) // what cannot be read leaves the table as it is: MOVED corrects it
		}
		f.cluster.asking.Store(false)
	case x.kind == asking: // an error shows in the answer to the request behind it
	case f.cluster != nil && (r.Status == load.Moved || r.Status == load.Ask) && p.redirect(x.e, r):
		return
	default:
		f.report(x.split, r)
		if x.e != nil {
			f.entries.put(x.e)
		}
	}
	f.settle()
}

// report gives the answer to the source.
func (f *Fleet) report(s *split, r *load.Reply) {
	if f.feedback == nil {
		return
	}
	if s == nil {
		f.feedback.Done(r)
		return
	}
	t := &s.reply
	t.Hits += r.Hits
	t.Misses += r.Misses
	if r.Status > t.Status {
		t.Status = r.Status
		s.text = append(s.text[:0], r.Text...)
	}
	f.landed(s, r)
}

// landed counts down the parts of s. r is the answer to the last one; nil: it was lost. The source hears only of requests
// that were answered in full.
func (f *Fleet) landed(s *split, r *load.Reply) {
	s.lost = s.lost || r == nil
	if s.left--; s.left > 0 {
		return
	}
	if !s.lost {
		t := &s.reply
		t.Value, t.Text, t.Row = r.Value, s.text, r.Row
		f.feedback.Done(t)
		r.Row = t.Row
	}
	f.splits = append(f.splits, s)
}

// redirect sends e again where MOVED or ASK says; false: r is an error now.
func (p *Part) redirect(e *entry, r *load.Reply) bool {
	f := p.f
	slot, at, err := f.cluster.redirect(r.Text, p.id)
	if err != nil {
		return f.refuse(r, "%v", err)
	}
	to := f.parts[at]
	if e.hops++; e.hops > mostHops {
		return f.refuse(r, "redirected more than %d times, last by %s", mostHops, r.Text)
	}
	if to.down.Load() {
		return f.refuse(r, "%s: there is no connection to that node any more", r.Text)
	}
	if r.Status == load.Moved {
		f.cluster.moved(slot, at)
	}
	r.Again = true
	e.op.Sent, e.op.Planned = r.Sent, r.Planned
	e.ask = r.Status == load.Ask
	to.again.push(e)
	f.queued++
	to.rouse()
	return true
}

// refuse makes an error of a redirection that is not followed.
func (f *Fleet) refuse(r *load.Reply, format string, a ...any) bool {
	f.text = fmt.Appendf(f.text[:0], format, a...)
	r.Status, r.Text = load.Failed, bytes.ReplaceAll(f.text, []byte("\n"), []byte(" "))
	return false
}

// Lost implements load.Patient.
func (p *Part) Lost() {
	f, x := p.f, p.land()
	switch {
	case x.kind == slots:
		f.cluster.asking.Store(false)
		f.cluster.stale.Store(true)
	case x.kind == asking:
		p.asked = false
	case x.split != nil:
		f.landed(x.split, nil)
	}
	if x.e != nil {
		f.entries.put(x.e)
	}
	f.settle()
}

// Down implements load.Patient.
func (p *Part) Down(gone bool) {
	if gone {
		p.down.Store(true)
		p.f.alarm.Store(true)
	}
	if c := p.f.cluster; c != nil && !p.f.settled.Load() {
		c.stale.Store(true) // another node may have taken its place
	}
	p.f.wakeAll()
}
