package agent

import (
	"context"
	"errors"
	"fmt"
	"net"
	"slices"
	"sync"
	"time"

	"godwit/internal/config"
	"godwit/internal/load/result"
)

// Job for agents: a load that they share.
type Job struct {
	Agents []string // host:port; the n-th gets the n-th part
	Token  []byte   // see ReadToken
	Face   string   // memtier, crusher, ycsb
	Args   []string // the command line without the name of the face; options for outputs may stay in it
	Run    int      // which of several runs, from 0
}

// Run has the agents run the job, each its part, and gives the sum of what they measured, with Machines. watch, if not nil,
// gets a Snapshot of all together each second, whose rows are those of the result; it is called from the goroutine of Run.
// When ctx is done the agents end early, and the result is marked as interrupted. An error, which names the agent that it
// comes from, means that the load did not run as a whole, and there is no result; all agents have been told to end.
func Run(ctx context.Context, job Job, watch func(*result.Snapshot)) (*result.Run, error) {
	return run(ctx, job, watch, usual)
}

// event of an agent's connection.
type event struct {
	part int
	kind kind // of the frame; kJob: the agent has it
	at   time.Time
	err  error

	peer    *peer
	ready   ready
	started started
	snap    *result.Snapshot
	run     *result.Run
}

// machine is an agent as the coordinator sees it. It belongs to the goroutine of run.
type machine struct {
	name  string
	peer  *peer
	ready ready
	sent  time.Time // the word to start
	heard time.Time // the answer to it
	at    int64     // what the agent's clock said between the two
	run   *result.Run
}

type coordinator struct {
	job      Job
	t        timing
	machines []machine
	events   chan event
	ctx      context.Context // of the connections
	wg       sync.WaitGroup
}

func run(ctx context.Context, j Job, watch func(*result.Snapshot), t timing) (*result.Run, error) {
	if err := checkToken(j.Token); err != nil {
		return nil, err
	}
	if len(j.Agents) == 0 {
		return nil, errors.New("no agents")
	}
	c := &coordinator{job: j, t: t, events: make(chan event)}
	for i, a := range j.Agents {
		if slices.Contains(j.Agents[:i], a) {
			return nil, fmt.Errorf("agent %s: named twice; it can do one part at a time", a)
		}
		c.machines = append(c.machines, machine{name: a})
	}
	return c.run(ctx, func() {}, watch)
}

// run calls begun when the agents have been told to start.
func (c *coordinator) run(ctx context.Context, begun func(), watch func(*result.Snapshot)) (*result.Run, error) {
	var cancel context.CancelFunc
	c.ctx, cancel = context.WithCancel(context.Background())
	defer c.wg.Wait()
	defer cancel() // ends all connections, by which agents know that they are not needed any more
	for i := range c.machines {
		c.wg.Go(func() {
			if err := c.talk(i); err != nil {
				c.tell(event{part: i, err: err})
			}
		})
	}
	if err := c.gatherReady(ctx); err != nil {
		return nil, err
	}
	c.start()
	begun()
	return c.collect(ctx, watch)
}

// tell the goroutine of run, if it still listens.
func (c *coordinator) tell(e event) {
	select {
	case c.events <- e:
	case <-c.ctx.Done():
	}
}

// talk to an agent until it has delivered its result.
func (c *coordinator) talk(part int) error {
	p, err := c.connect(part)
	if err != nil {
		return err
	}
	defer p.close()
	stop := context.AfterFunc(c.ctx, p.close)
	defer stop()
	over, end := context.WithCancel(c.ctx)
	defer end()
	c.wg.Go(func() { p.beats(over) })
	c.tell(event{part: part, kind: kJob, peer: p})
	var res []byte
	var is struct{ ready, started bool }
	for {
		k, b, err := p.recv()
		e := event{part: part, kind: k, at: time.Now()}
		switch {
		case err != nil:
			return fmt.Errorf("lost: %w", cut(err))
		case k == kReady && !is.ready:
			is.ready = true
			e.ready, err = unmarshal[ready](k, b)
			if err == nil && len(e.ready.Rows) > mostRows {
				err = fmt.Errorf("%d rows of results", len(e.ready.Rows))
			}
		case k == kStarted && is.ready && !is.started:
			is.started = true
			e.started, err = unmarshal[started](k, b)
		case k == kSnapshot && is.started:
			e.snap, err = result.DecodeSnapshot(b, snapMemory)
		case k == kChunk && is.started && len(res)+len(b) <= mostResult:
			res = append(res, b...)
			continue
		case k == kEnd && is.started:
			e.run, err = result.DecodeRun(res, resultMemory)
		default:
			err = unexpected(k, b)
		}
		if err != nil {
			return err
		}
		c.tell(e)
		if k == kEnd {
			return nil
		}
	}
}

// connect to an agent and give it its job.
func (c *coordinator) connect(part int) (*peer, error) {
	ctx, cancel := context.WithTimeoutCause(c.ctx, c.t.dial, fmt.Errorf("no connection within %v", c.t.dial))
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, "tcp", c.machines[part].name)
	if err != nil {
		return nil, err
	}
	p, err := secure(ctx, nc, roleCoordinator, anyCertificate, c.job.Token, c.t)
	if err == nil {
		err = p.send(kJob, marshal(job{
			Release: config.Version, Face: c.job.Face, Args: c.job.Args, Run: c.job.Run, Part: part, Parts: len(c.machines),
		}))
	}
	if err != nil {
		nc.Close()
		return nil, err
	}
	return p, nil
}

// failed is the error of an agent.
func (c *coordinator) failed(e *event) error {
	return fmt.Errorf("agent %s: %w", c.machines[e.part].name, e.err)
}

// gatherReady waits until all agents are.
func (c *coordinator) gatherReady(ctx context.Context) error {
	for n := 0; n < len(c.machines); {
		select {
		case e := <-c.events:
			m := &c.machines[e.part]
			switch {
			case e.err != nil:
				return c.failed(&e)
			case e.kind == kJob:
				m.peer = e.peer
			case e.kind == kReady:
				m.ready = e.ready
				n++
			default:
				e.err = fmt.Errorf("frame %q before the start", byte(e.kind))
				return c.failed(&e)
			}
		case <-ctx.Done():
			return fmt.Errorf("interrupted before all agents were ready: %w", context.Cause(ctx))
		}
	}
	return nil
}

// start all at once.
func (c *coordinator) start() {
	gate := make(chan struct{})
	var wg sync.WaitGroup
	for i := range c.machines {
		m := &c.machines[i]
		wg.Go(func() {
			<-gate
			m.sent = time.Now()
			m.peer.send(kStart, nil) // an error is seen by talk, too
		})
	}
	close(gate)
	wg.Wait()
}

// collect what the agents say from the start to the end.
func (c *coordinator) collect(ctx context.Context, watch func(*result.Snapshot)) (*result.Run, error) {
	g := newGather(c.machines)
	show := func(list []*result.Snapshot) {
		for _, s := range list {
			if watch != nil {
				watch(s)
			}
		}
	}
	stop := ctx.Done()
	var late <-chan time.Time
	for n := 0; n < len(c.machines); {
		select {
		case e := <-c.events:
			m := &c.machines[e.part]
			switch {
			case e.err != nil:
				return nil, c.failed(&e)
			case e.kind == kStarted:
				m.heard, m.at = e.at, e.started.At
			case e.kind == kSnapshot:
				list, err := g.add(e.part, e.snap)
				if err != nil {
					e.err = err
					return nil, c.failed(&e)
				}
				show(list)
			case e.kind == kEnd:
				m.run = e.run
				n++
				show(g.finish(e.part, e.run))
			}
		case <-stop:
			stop = nil
			late = time.After(c.stop())
		case <-late:
			for i := range c.machines {
				if m := &c.machines[i]; m.run == nil {
					return nil, fmt.Errorf("agent %s: it did not end when it was stopped", m.name)
				}
			}
		}
	}
	return c.sum(), nil
}

// stop the agents that are not at their end. They may take as long as it says.
func (c *coordinator) stop() time.Duration {
	var grace time.Duration
	for i := range c.machines {
		m := &c.machines[i]
		if m.run == nil {
			grace = max(grace, m.ready.Grace)
			c.wg.Go(func() { m.peer.send(kStop, nil) })
		}
	}
	return grace + c.t.slack
}

// sum of the results.
func (c *coordinator) sum() *result.Run {
	var first time.Time
	runs := make([]*result.Run, len(c.machines))
	for i := range c.machines {
		m := &c.machines[i]
		began, _ := m.began()
		if i == 0 || began.Before(first) {
			first = began
		}
	}
	for i := range c.machines {
		m := &c.machines[i]
		began, doubt := m.began()
		m.run.Shift(began.Sub(time.Unix(0, m.at)))
		self := result.Machine{Name: m.name, Clients: m.ready.Clients, Began: began.Sub(first), Doubt: doubt, Self: m.run.Self}
		for k := range m.run.Rows {
			self.Count += m.run.Rows[k].Count
		}
		m.run.Machines = []result.Machine{self}
		runs[i] = m.run
	}
	return result.Combine(runs)
}

// began is when the machine started, on the clock here, and by how much that may be wrong.
func (m *machine) began() (at time.Time, doubt time.Duration) {
	doubt = m.heard.Sub(m.sent) / 2
	return m.sent.Add(doubt), doubt
}
