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

// refuse makes an error of a redirection that is not followed.
func (f *Fleet) refuse(r *load.Reply, format string, a ...any) bool {
	f.text = fmt.Appendf(f.text[:0], format, a...)
	r.Status, r.Text = load.Failed, bytes.ReplaceAll(f.text, []byte("\n"), []byte(" "))
	return false
}
