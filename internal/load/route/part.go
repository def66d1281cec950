package route

import (
	"sync/atomic"

	"godwit/internal/load"
)

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
