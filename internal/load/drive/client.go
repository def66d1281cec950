package drive

import (
	"fmt"
	"sync"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/load/result"
	"godwit/internal/netloop"
)

// flight is a request that is not answered yet.
type flight struct {
	planned int64 // when it should have been sent, ns on the run's clock; 0: closed loop
	sent    int64
	tx      uint32 // bytes
	keys    uint32
	kind    load.Kind
	row     uint8
	quiet   bool
	check   bool
	id      uint64 // Op.ID
	goes    bool   // on with an operation that has begun
	aside   bool   // not counted
}

// mark is the beginning of an operation of several requests.
type mark struct{ planned, sent int64 }

// client is one connection of the load, over all its reconnections. It is the Session of the connection. Everything is the
// loop's own, but for conn and down, which mu guards for wakers.
type client struct {
	r    *run
	w    *worker
	id   int
	plan *load.Client

	mu   sync.Mutex
	conn netloop.Conn // nil: not connected
	down bool         // at its end

	op       load.Op
	reply    load.Reply
	feedback load.Feedback // the Source if it is one, or nil
	spanner  load.Spanner  // the Source if it is one, or nil
	marks    [2]mark
	checker  load.Checker // likewise
	patient  load.Patient // likewise
	q        []flight     // a ring; its size is a power of two
	head, n  int
	burst    int  // requests together
	blind    bool // see load.Client
	heard    bool // blind: something came since the last batch
	fenced   bool // blind: nothing more until what there is has been sent
	batches  int  // blind
	quitting bool // blind: Quit is on its way
	dry      bool // the Source has no more
	closing  bool // no more requests on this connection
	greet    int  // requests of the prologue that were sent
	greeted  int  // and answered
	here     bool // counted among those that the start waits for, no more
	wrong    string
	sent     int // requests on this connection
	tries    int // connection attempts in a row that failed
	seen     bool
	since    int64 // when something was heard, or asked after everything was answered
	unread   int   // bytes that the last Feed left
	place    int   // in w.live
	silent   bool  // the server took too long

	first, last int64 // first request sent and last answer read, ns on the run's clock; read when the loops have ended

	own []result.Row // results of this client alone, if asked for

	due   int64 // when to be waked: in w.timers
	timed bool
	*schedule
}

func newClient(r *run, w *worker, id int) *client {
	c := &client{r: r, w: w, id: id, plan: &r.plan.Clients[id]}
	c.feedback, _ = c.plan.Source.(load.Feedback)
	c.spanner, _ = c.plan.Source.(load.Spanner)
	c.checker, _ = c.plan.Source.(load.Checker)
	if c.patient, _ = c.plan.Source.(load.Patient); c.patient != nil {
		c.patient.Attach(c.wake)
	}
	size := 1
	for size < c.plan.Pipeline {
		size *= 2
	}
	c.q = make([]flight, size)
	if r.plan.PerClient {
		for _, name := range r.plan.Rows {
			c.own = append(c.own, result.Row{Name: name, Service: result.NewHistogram()})
		}
	}
	c.burst = max(1, c.plan.Burst)
	c.blind = (c.plan.Blind || r.plan.Blind) && !r.std
	c.schedule = r.schedule(c)
	return c
}

// wake has Feed called soon, if there is a connection. From any goroutine.
func (c *client) wake() {
	c.mu.Lock()
	if c.conn != nil {
		c.conn.Wake()
	}
	c.mu.Unlock()
}

// open begins a session on a new connection.
func (c *client) open(nc netloop.Conn) {
	c.mu.Lock()
	c.conn = nc
	c.mu.Unlock()
	c.head, c.n, c.greet, c.greeted, c.sent = 0, 0, 0, 0, 0
	c.closing, c.seen = false, false
	c.since, c.unread, c.silent = c.r.now(), 0, false
	c.w.add(c)
	c.heard, c.fenced, c.quitting = false, false, false
	if !c.shared {
		c.rest = 0
	}
	c.wrong = ""
	c.plan.Codec.Reset()
	nc.Wake()
}

// Feed implements netloop.Session: in are answers, out takes requests.
func (c *client) Feed(in []byte, out *bytesx.Out) (used int, v netloop.Verdict) {
	c.w.tick()
	if len(in) > c.unread {
		c.since = c.w.t
	} else if c.silent && c.waits() {
		c.wrong = fmt.Sprintf("the server was silent for %v", c.w.patience(c))
		return 0, netloop.Abort
	}
	c.silent = false
	used, v = c.feed(in, out)
	c.unread = len(in) - used
	return used, v
}

// waits says whether the server owes an answer.
func (c *client) waits() bool {
	if c.blind && c.greeted == len(c.plan.Target.Prologue) {
		return c.quitting || c.fenced || c.interval == 0 && c.seen && !c.heard
	}
	return c.n > 0 || c.greet > c.greeted
}

func (c *client) feed(in []byte, out *bytesx.Out) (used int, v netloop.Verdict) {
	w := c.w
	if c.greeted < len(c.plan.Target.Prologue) {
		used, v = c.prologue(in, out)
		if v != netloop.More || c.greeted < len(c.plan.Target.Prologue) {
			return used, v
		}
	}
	c.arrive()
	if c.r.killed.Load() {
		return used, netloop.Abort
	}
	if w.from == 0 {
		return used, netloop.More
	}
	c.tries = 0
	if c.blind {
		return len(in), c.blindly(len(in)-used > 0, out)
	}
	n, err := c.answers(in[used:])
	used += n
	if err != nil {
		c.wrong = err.Error()
		return used, netloop.Abort
	}
	return used, c.requests(out)
}

// arrive tells the start that this client is there.
func (c *client) arrive() {
	if !c.here {
		c.here = true
		if c.plan.Begin == 0 {
			c.r.arrived()
		}
	}
}

// prologue sends the greetings and checks their answers.
func (c *client) prologue(in []byte, out *bytesx.Out) (used int, v netloop.Verdict) {
	p := c.plan.Target.Prologue
	for {
		if c.greet == c.greeted {
			if c.greeted == len(p) {
				return used, netloop.More
			}
			out.Buf = append(out.Buf, p[c.greet].Send...)
			c.greet++
			return used, netloop.More
		}
		n, err := p[c.greeted].Check(in[used:])
		if err != nil {
			c.wrong = fmt.Sprintf("%s: %v", p[c.greeted].Name, err)
			return used, netloop.Abort
		}
		if n == 0 {
			return used, netloop.More
		}
		used += n
		c.greeted++
	}
}

// Sink implements netloop.Session.
func (c *client) Sink() []byte { return nil }

// Sunk implements netloop.Session.
func (c *client) Sunk(int) {}

// Idle implements netloop.Session.
func (c *client) Idle() bool { return false }

// Closed implements netloop.Session.
func (c *client) Closed(reason netloop.Reason) {
	c.mu.Lock()
	c.conn = nil
	c.mu.Unlock()
	w := c.w
	w.tick()
	w.remove(c)
	lost := c.n
	for ; c.n > 0; c.n-- {
		f := &c.q[c.head]
		c.head = (c.head + 1) & (len(c.q) - 1)
		if w.from > 0 && f.sent >= w.from && !f.aside {
			w.rec.lose(f, w.t)
		}
		if c.patient != nil {
			c.patient.Lost()
		}
	}
	switch {
	case c.r.killed.Load():
		if c.quitting {
			c.r.col.connError("the server did not answer everything before the end")
		}
		c.end()
	case c.dry && lost == 0 && c.wrong == "":
		c.end()
	case c.closing && lost == 0 && c.wrong == "":
		c.dial(0)
	default:
		if c.wrong == "" {
			c.wrong = "the server closed the connection"
			if reason == netloop.ReasonError {
				c.wrong = "the connection broke"
			}
		}
		c.broken(c.wrong)
	}
}

// end of the client.
func (c *client) end() {
	c.mu.Lock()
	was := c.down
	c.down = true
	c.mu.Unlock()
	if !was {
		if c.patient != nil {
			c.patient.Down(true)
		}
		c.r.gone()
		c.arrive() // last: the start looks at how many are left
	}
}
