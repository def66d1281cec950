package drive

import (
	"cmp"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"sync"
	"time"

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

// schedule is when requests are planned: of a client, or of several that share their requests and a loop.
type schedule struct {
	plannedT float64 // when the next request is planned, ns on the run's clock
	interval float64
	rng      *rand.Rand
	rest     int // of the present burst
	shared   bool
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
	fenced   bool // blind: the last batch is not sent yet
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

// most bytes of requests that one Feed appends: memory stays bounded with long pipelines of long values.
const mostOut = 1 << 20

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

// schedule of a client.
func (r *run) schedule(c *client) *schedule {
	s := &schedule{}
	if c.plan.Rate == 0 {
		return s
	}
	if c.patient != nil && c.plan.Group != 0 {
		if got := r.schedules[c.plan.Group]; got != nil {
			return got
		}
		s.shared = true
		if r.schedules == nil {
			r.schedules = map[int]*schedule{}
		}
		r.schedules[c.plan.Group] = s
	}
	s.interval = float64(c.burst) * 1e9 / c.plan.Rate
	if c.plan.Poisson {
		s.rng = rand.New(rand.NewPCG(uint64(c.id), 0x706f6973))
	}
	return s
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

var errUnasked = errors.New("the server sent something that it was not asked for")

// answers reads the complete answers of in.
func (c *client) answers(in []byte) (used int, err error) {
	for c.n > 0 {
		f := &c.q[c.head]
		if used == len(in) && !f.quiet {
			return used, nil
		}
		n, err := c.plan.Codec.Reply(in[used:], load.Want{Kind: f.kind, Keys: f.keys, Quiet: f.quiet}, &c.reply)
		if err != nil {
			return used, err
		}
		if n == 0 && !c.reply.Silent {
			return used, nil
		}
		used += n
		c.answered(f, n)
	}
	if used < len(in) {
		return used, errUnasked
	}
	return used, nil
}

// answered counts the answer to the oldest request, n bytes long.
func (c *client) answered(f *flight, n int) {
	c.last = c.w.t
	if f.check && c.reply.Hits > 0 && !c.checker.Check(f.id, c.reply.Value) {
		c.reply.Status = load.Mismatch
	}
	c.reply.Row, c.reply.Sent, c.reply.Planned = f.row, f.sent, f.planned
	if c.feedback != nil {
		c.feedback.Done(&c.reply)
	}
	if f.sent >= c.w.from && !f.aside {
		c.w.rec.reply(f, &c.reply, c.w.t, n)
		if c.own != nil {
			c.count(f, n)
		}
	}
	c.head = (c.head + 1) & (len(c.q) - 1)
	c.n--
	if c.spanner != nil {
		c.ended()
	}
}

// ended counts the operations that the last answer ended.
func (c *client) ended() {
	var s load.Span
	for c.spanner.Ended(&s) {
		if m := c.marks[s.Number]; m.sent >= c.w.from {
			c.w.rec.span(&s, m, c.w.t)
		}
		s = load.Span{}
	}
}

// under says whether the next request goes on with an operation.
func (c *client) under() bool { return c.spanner != nil && c.sent > 0 && c.spanner.Under() }

// count keeps the client's own account of an answer, n bytes long.
func (c *client) count(f *flight, n int) {
	row := &c.own[c.reply.Row]
	second := int((c.w.t - c.w.from) / int64(time.Second))
	for len(row.Seconds) <= second {
		row.Seconds = append(row.Seconds, result.Second{})
	}
	one := result.Counts{
		Count: 1, Keys: uint64(f.keys), Hits: uint64(c.reply.Hits), Misses: uint64(c.reply.Misses), RX: uint64(n), TX: uint64(f.tx),
	}
	t := c.w.t - f.sent
	if c.reply.Again {
		one, t = result.Counts{RX: one.RX, TX: one.TX}, 0
	}
	one.Statuses[c.reply.Status] = 1
	row.Counts.Add(&one)
	row.Sum += t
	row.Seconds[second].Counts.Add(&one)
	row.Seconds[second].Sum += t
	if !c.reply.Again {
		row.Service.RecordValue(result.Clamp(t))
	}
}

// requests fills the pipeline, as far as the plan says.
func (c *client) requests(out *bytesx.Out) netloop.Verdict {
	before := len(out.Buf)
	v := c.more(out)
	if len(out.Buf) > before {
		out.Buf = c.plan.Codec.Flush(out.Buf)
	}
	return v
}

// more appends the requests that may be sent now.
func (c *client) more(out *bytesx.Out) netloop.Verdict {
	every := c.plan.ReconnectEvery
	for !c.dry && !c.closing {
		switch {
		case c.n == 0 && c.under():
			c.request(out)
		case c.r.over.Load():
			c.dry = true
		case every > 0 && c.sent >= every:
			c.closing = true
		case c.n >= c.plan.Pipeline:
			return netloop.More
		case len(out.Buf) >= mostOut:
			return netloop.Stream
		case c.patient != nil && c.patient.Ready():
			if !c.request(out) {
				return netloop.More
			}
		case c.rest <= 0 && !c.begin():
			return netloop.More
		default:
			if c.request(out) {
				break
			}
			if c.patient != nil && c.interval > 0 && c.op.Planned == 0 {
				c.stepped() // another connection sends it
				break
			}
			if c.patient != nil && c.patient.Waiting() {
				return netloop.More
			}
			c.dry = true
		}
	}
	if c.n > 0 {
		return netloop.More
	}
	return netloop.Close
}

// begin begins a burst, if it may be sent now.
func (c *client) begin() bool {
	if c.interval > 0 && !c.isDue() || c.interval == 0 && c.n+c.burst > c.plan.Pipeline {
		return false
	}
	c.rest = c.burst
	return true
}

// isDue says whether the next planned request is due, and sees to being waked when it will be.
func (c *client) isDue() bool {
	w := c.w
	if c.plannedT == 0 {
		c.plannedT = float64(w.r.started.Load()) + float64(c.plan.Begin) + c.plan.Phase*c.interval
	}
	if c.plannedT <= float64(w.t) {
		return true
	}
	if !c.timed {
		c.due = int64(math.Ceil(c.plannedT))
		w.timers.push(c)
	}
	return false
}

// rampStep is the time, ns, for which the factor of a ramp is taken to be constant.
const rampStep = 5e6

// step goes on to the next planned requests: to where the rate, summed up over the time since the present ones, comes to 1,
// or to an exponential number whose mean is 1.
func (c *client) step() {
	d := c.interval
	if c.rng != nil {
		d *= c.rng.ExpFloat64()
	}
	ramp := c.r.plan.Ramp
	if ramp == nil {
		c.plannedT += d
		return
	}
	begin := float64(c.r.started.Load())
	last := begin + float64(c.r.plan.Warmup+c.r.plan.Duration) // with a factor of 0 there is no next one
	for c.plannedT <= last {
		f := ramp((c.plannedT - begin) / 1e9)
		if f*rampStep >= d {
			c.plannedT += d / f
			return
		}
		c.plannedT += rampStep
		d -= f * rampStep
	}
	c.plannedT = math.MaxInt64 / 2
}

// request sends one, if the Source has one.
func (c *client) request(out *bytesx.Out) bool {
	op := &c.op
	*op = load.Op{}
	goes := c.under()
	planned := c.interval > 0 && !goes && (c.patient == nil || !c.patient.Ready())
	if planned {
		op.Planned = int64(c.plannedT)
	}
	if !c.plan.Source.Next(op) {
		return false
	}
	if c.n == 0 {
		c.since = c.w.t
	}
	before := len(out.Buf)
	out.Buf = c.plan.Codec.Append(out.Buf, op)
	f := flight{sent: c.w.t, tx: uint32(len(out.Buf) - before), keys: 1, kind: op.Kind, row: op.Row, quiet: op.Quiet, check: op.Check, id: op.ID, goes: goes, aside: op.Aside}
	if op.Kind == load.MGet {
		f.keys = uint32(len(op.Keys))
	}
	switch {
	case goes:
		f.planned = c.marks[0].planned
	case planned:
		f.planned = int64(c.plannedT)
		c.stepped()
	case c.interval > 0 || op.Sent > 0:
		f.planned = op.Planned
		f.sent = cmp.Or(op.Sent, f.sent)
	default:
		c.rest--
	}
	for i := range c.marks {
		if op.Begins>>i&1 != 0 {
			c.marks[i] = mark{f.planned, f.sent}
		}
	}
	if !op.Aside {
		c.sent++
		c.seen = true
		if c.first == 0 {
			c.first = c.w.t
		}
	}
	c.q[(c.head+c.n)&(len(c.q)-1)] = f
	c.n++
	return true
}

// stepped goes on in the schedule behind a request.
func (c *client) stepped() {
	if c.rest--; c.rest == 0 {
		c.step()
	}
}

// blindly sends a batch whenever anything came, or when one is planned, but not while the last one waits for room in the
// socket: a server that does not read would have us fill the memory.
func (c *client) blindly(came bool, out *bytesx.Out) netloop.Verdict {
	if came {
		c.heard = true
		c.last = c.w.t
	} else {
		c.fenced = false
	}
	switch {
	case c.quitting:
		return netloop.More
	case c.dry || c.r.over.Load():
		return c.quit(out)
	case c.fenced:
		return netloop.Stream
	case c.interval > 0 && !c.isDue(), c.interval == 0 && c.seen && !c.heard:
		return netloop.More
	}
	c.heard, c.fenced = false, true
	counted := c.w.t >= c.w.from
	c.rest = c.burst
	if c.interval == 0 {
		c.rest = c.plan.Pipeline
	}
	for c.rest > 0 {
		if !c.request(out) {
			c.dry = true
			break
		}
		if c.n = 0; counted {
			c.w.rec.silent(&c.q[c.head])
		}
	}
	out.Buf = c.plan.Codec.Flush(out.Buf)
	c.plan.Codec.Reset()
	return netloop.Stream
}

// quit ends a blind connection.
func (c *client) quit(out *bytesx.Out) netloop.Verdict {
	c.dry, c.quitting = true, true
	if c.plan.Quit == nil {
		return netloop.Close
	}
	out.Buf = append(out.Buf, c.plan.Quit...)
	return netloop.More
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

// broken follows the loss of a connection, or a failure to make one.
func (c *client) broken(why string) {
	c.r.col.connError(why)
	retry := &c.r.plan.Retry
	c.tries++
	if !retry.On || c.r.over.Load() || retry.Most > 0 && c.tries > retry.Most {
		c.end()
		return
	}
	c.arrive() // the start waits no longer
	if c.patient != nil {
		c.patient.Down(false)
	}
	d := retry.Delay
	if d == 0 {
		d = time.Second
	}
	if retry.Factor > 1 {
		d = time.Duration(min(float64(d)*math.Pow(retry.Factor, float64(c.tries-1)), float64(time.Minute)))
	}
	c.dial(d)
}
