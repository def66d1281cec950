package agent

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
	"godwit/internal/netloop"
	"godwit/internal/netloop/echo"
)

var (
	token = []byte("a token of the tests")
	brisk = timing{
		dial: 5 * time.Second, prove: 5 * time.Second, beat: 50 * time.Millisecond, silence: 5 * time.Second, linger: 5 * time.Second, slack: 10 * time.Second,
	}
)

// lines is a protocol of lines: a request is its key, the answer whatever line comes back.
type lines struct{}

func (lines) Append(dst []byte, op *load.Op) []byte { return append(append(dst, op.Key...), '\n') }

func (lines) Reply(in []byte, _ load.Want, r *load.Reply) (int, error) {
	*r = load.Reply{Hits: 1}
	return bytes.IndexByte(in, '\n') + 1, nil
}

func (lines) Supports(load.Kind) bool { return true }
func (lines) Flush(dst []byte) []byte { return dst }
func (lines) Reset()                  {}

// counter gives n requests, or for ever if n is negative.
type counter struct{ n int }

func (c *counter) Next(op *load.Op) bool {
	if c.n == 0 {
		return false
	}
	c.n--
	op.Key, op.Kind = []byte("key"), load.Get
	return true
}

// toy plans requests to an echo server. Its arguments: address, clients and requests of all parts together; requests of a
// client are an equal share, or without end if negative.
func toy(args []string, run, part, parts int) (*load.Plan, error) {
	if len(args) != 3 {
		return nil, fmt.Errorf("%d arguments: address, clients, requests", len(args))
	}
	clients, _ := strconv.Atoi(args[1])
	n, _ := strconv.Atoi(args[2])
	p := &load.Plan{Rows: []string{"GET"}, Loops: 1, IO: "std", Grace: 500 * time.Millisecond}
	target := &load.Target{Network: "tcp", Address: args[0]}
	for i := part; i < clients; i += parts {
		p.Clients = append(p.Clients, load.Client{Target: target, Codec: lines{}, Source: &counter{n / clients}, Pipeline: 1})
		if n < 0 {
			c := &p.Clients[len(p.Clients)-1]
			c.Source, c.Rate = &counter{-1}, 100
		}
	}
	return p, nil
}

var faces = map[string]load.Planner{"toy": toy}

func echoServer(t testing.TB) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	s, err := netloop.New(netloop.Config{Loops: 1, IO: "std", Listeners: []*netloop.Listener{{Addr: addr}}}, &echo.Handler{Answer: []byte("yes\n")})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Stop(false) })
	return addr
}

// one is an agent in this process.
type one struct {
	addr string
	stop context.CancelFunc
	done chan error
	log  journal
}

// journal keeps lines, and lets one wait for them.
type journal struct {
	mu    sync.Mutex
	lines []string
	more  chan struct{}
}

func (j *journal) add(format string, a ...any) {
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines = append(j.lines, fmt.Sprintf(format, a...))
	if j.more != nil {
		close(j.more)
		j.more = nil
	}
}

// wait until a line contains text.
func (j *journal) wait(t testing.TB, text string) {
	t.Helper()
	late := time.After(20 * time.Second)
	for {
		j.mu.Lock()
		has := slices.ContainsFunc(j.lines, func(l string) bool { return strings.Contains(l, text) })
		if j.more == nil {
			j.more = make(chan struct{})
		}
		more, lines := j.more, j.lines
		j.mu.Unlock()
		if has {
			return
		}
		select {
		case <-more:
		case <-late:
			t.Fatalf("no line with %q in %q", text, lines)
		}
	}
}

func startAgent(t testing.TB, tm timing, faces map[string]load.Planner) *one {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	ctx, stop := context.WithCancel(context.Background())
	a := &one{addr: ln.Addr().String(), stop: stop, done: make(chan error, 1)}
	go func() { a.done <- serve(ctx, ln, token, faces, a.log.add, tm, 0) }()
	t.Cleanup(func() {
		stop()
		if err := <-a.done; err != nil {
			t.Error(err)
		}
		a.done <- nil
	})
	return a
}

func agents(t testing.TB, n int, tm timing) (list []*one, addrs []string) {
	for range n {
		a := startAgent(t, tm, faces)
		list, addrs = append(list, a), append(addrs, a.addr)
	}
	return list, addrs
}

// noLeaks checks, after everything else of the test is cleaned up, that no goroutine is left.
func noLeaks(t *testing.T) {
	before := runtime.NumGoroutine()
	t.Cleanup(func() {
		late := time.Now().Add(10 * time.Second)
		for runtime.NumGoroutine() > before {
			if time.Now().After(late) {
				b := make([]byte, 1<<20)
				t.Errorf("%d goroutines, %d before:\n%s", runtime.NumGoroutine(), before, b[:runtime.Stack(b, true)])
				return
			}
			runtime.Gosched()
		}
	})
}

// Three machines do exactly what was asked for, each its part, and what they measured is one result.
func TestRun(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	list, addrs := agents(t, 3, brisk)
	for n := range 3 { // one after the other: an agent is free when its result is there
		r, err := run(t.Context(), Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "7", "7000"}, Run: n}, nil, brisk)
		if err != nil {
			t.Fatal(err)
		}
		row := r.Rows[0]
		if len(r.Rows) != 1 || row.Count != 7000 || row.Service.TotalCount() != 7000 || r.Interrupted || r.Lost != 0 {
			t.Errorf("%d answers, %d latencies of 7000", row.Count, row.Service.TotalCount())
		}
		var count uint64
		var clients []int
		for i, m := range r.Machines {
			if m.Name != addrs[i] || m.Began < 0 || m.Doubt <= 0 || m.Self.Loops != 1 {
				t.Errorf("machine %d: %+v", i, m)
			}
			count += m.Count
			clients = append(clients, m.Clients)
		}
		if count != 7000 || !slices.Equal(clients, []int{3, 2, 2}) || r.Self.Loops != 3 {
			t.Errorf("machines did %d with %d clients", count, clients)
		}
		if d := time.Since(r.Start); d < 0 || d > time.Minute || r.Duration() <= 0 || r.Duration() > time.Minute {
			t.Errorf("from %v to %v", r.Start, r.End)
		}
		if spread, doubt := r.Spread(); spread < 0 || spread > 5*time.Second || doubt <= 0 {
			t.Errorf("spread %v, doubt %v", spread, doubt)
		}
	}
	list[2].log.wait(t, "toy, run 3, part 3 of 3")
}

// Snapshots are sums; an interrupted run has what was measured until then.
func TestInterrupt(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	_, addrs := agents(t, 2, brisk)
	ctx, cancel := context.WithCancel(t.Context())
	var seen uint64
	n := 0
	r, err := run(ctx, Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "4", "-1"}}, func(s *result.Snapshot) {
		_, total := s.Sums()
		seen = total.Count
		if s.Clients != 4 || s.Elapsed != time.Duration(n+1)*time.Second {
			t.Errorf("%d clients at %v", s.Clients, s.Elapsed)
		}
		if n++; n == 2 {
			cancel()
		}
	}, brisk)
	if err != nil {
		t.Fatal(err)
	}
	if !r.Interrupted || r.Rows[0].Count < seen || seen < 400 {
		t.Errorf("interrupted %v, %d answers, %d seen", r.Interrupted, r.Rows[0].Count, seen)
	}
}

// An interruption just after the start, before anything was measured, gives an empty result and no error.
func TestInterruptAtOnce(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	_, addrs := agents(t, 2, brisk)
	for range 5 {
		ctx, cancel := context.WithCancel(t.Context())
		c := &coordinator{job: Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "2", "-1"}}, t: brisk, events: make(chan event)}
		for _, a := range addrs {
			c.machines = append(c.machines, machine{name: a})
		}
		r, err := c.run(ctx, func() { cancel() }, nil)
		if err != nil || !r.Interrupted {
			t.Errorf("%v, %v", r, err)
		}
		cancel()
	}
}

// A run is all of it or an error that says who is to blame, and the others are free again.
func TestFailures(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	closed, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	nobody := closed.Addr().String()
	closed.Close()
	_, addrs := agents(t, 2, brisk)
	good := Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "2", "20"}}
	with := func(change func(*Job)) Job {
		j := good
		change(&j)
		return j
	}
	for _, c := range []struct {
		name string
		job  Job
		want string
	}{
		{"no agents", with(func(j *Job) { j.Agents = nil }), "no agents"},
		{"one twice", with(func(j *Job) { j.Agents = []string{addrs[0], addrs[0]} }), "agent " + addrs[0] + ": named twice"},
		{"short token", with(func(j *Job) { j.Token = []byte("abc") }), "a token of 3 bytes"},
		{"wrong token", with(func(j *Job) { j.Agents, j.Token = addrs[:1], []byte("another token of 26 bytes.") }), "agent " + addrs[0] + ": the token is another one"},
		{"unknown face", with(func(j *Job) { j.Face = "tyo" }), `unknown load "tyo"; it knows toy`},
		{"bad arguments", with(func(j *Job) { j.Args = nil }), ": 0 arguments: address, clients, requests"},
		{"no such run", with(func(j *Job) { j.Run = -1 }), "there is no such part"},
		{"too few clients", with(func(j *Job) { j.Args = []string{server, "1", "1"} }), "agent " + addrs[1] + ": no clients"},
		{"no server", with(func(j *Job) { j.Args = []string{nobody, "2", "2"} }), ": no connection: "},
		{"no agent there", with(func(j *Job) { j.Agents = []string{addrs[0], nobody} }), "agent " + nobody + ": dial tcp"},
		{"no agent but a server", with(func(j *Job) { j.Agents = []string{addrs[0], server} }), "agent " + server + ": it is no godwit agent"},
	} {
		r, err := run(t.Context(), c.job, nil, brisk)
		if r != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
		if r, err := run(t.Context(), good, nil, brisk); err != nil || r.Rows[0].Count != 20 {
			t.Fatalf("after %s: %v", c.name, err)
		}
	}
}

// Before all are ready there is nothing to keep.
func TestInterruptEarly(t *testing.T) {
	noLeaks(t)
	ctx, cancel := context.WithCancel(t.Context())
	planning := make(chan struct{})
	a := startAgent(t, brisk, map[string]load.Planner{"slow": func([]string, int, int, int) (*load.Plan, error) {
		cancel()
		<-planning
		return &load.Plan{}, nil
	}})
	r, err := run(ctx, Job{Agents: []string{a.addr}, Token: token, Face: "slow"}, nil, brisk)
	if r != nil || !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), "before all agents were ready") {
		t.Errorf("%v, %v", r, err)
	}
	close(planning)
}

// relay passes connections on, until it is told to cut them or to pass nothing more.
type relay struct {
	addr  string
	cut   func()
	quiet atomic.Bool
}

func newRelay(t *testing.T, to string) *relay {
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	r := &relay{addr: ln.Addr().String()}
	var mu sync.Mutex
	var conns []net.Conn
	var wg sync.WaitGroup
	r.cut = func() {
		ln.Close()
		mu.Lock()
		defer mu.Unlock()
		for _, c := range conns {
			c.Close()
		}
	}
	pass := func(from, to net.Conn) {
		b := make([]byte, 1<<16)
		for {
			n, err := from.Read(b)
			if err != nil {
				if !r.quiet.Load() {
					to.Close()
				}
				return
			}
			if !r.quiet.Load() {
				to.Write(b[:n])
			}
		}
	}
	wg.Go(func() {
		for {
			a, err := ln.Accept()
			if err != nil {
				return
			}
			b, err := net.Dial("tcp", to)
			if err != nil {
				a.Close()
				continue
			}
			mu.Lock()
			conns = append(conns, a, b)
			mu.Unlock()
			wg.Go(func() { pass(a, b) })
			wg.Go(func() { pass(b, a) })
		}
	})
	t.Cleanup(func() {
		r.cut()
		wg.Wait()
	})
	return r
}

// An agent that is lost in the middle, however that happens, is an error that names it, and the other ends its load.
func TestLost(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	soon := brisk
	soon.silence = 500 * time.Millisecond
	for _, c := range []struct {
		name string
		lose func(*one, *relay)
		want string
	}{
		{"stopped", func(a *one, _ *relay) { a.stop() }, "the agent is being stopped"},
		{"cut off", func(_ *one, r *relay) { r.cut() }, "lost: "},
		{"silent", func(_ *one, r *relay) { r.quiet.Store(true) }, "lost: nothing was heard for 500ms"},
	} {
		t.Run(c.name, func(t *testing.T) {
			stays, goes := startAgent(t, soon, faces), startAgent(t, soon, faces)
			r := newRelay(t, goes.addr)
			addrs := []string{stays.addr, r.addr}
			once := sync.OnceFunc(func() { c.lose(goes, r) })
			res, err := run(t.Context(), Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "2", "-1"}}, func(*result.Snapshot) { once() }, soon)
			if res != nil || err == nil || !strings.HasPrefix(err.Error(), "agent "+r.addr+": ") || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%v; want %q", err, c.want)
			}
			stays.log.wait(t, "the coordinator was lost")
			if c.name != "stopped" {
				goes.log.wait(t, "the coordinator was lost")
			}
			if _, err := run(t.Context(), Job{Agents: addrs[:1], Token: token, Face: "toy", Args: []string{server, "2", "20"}}, nil, soon); err != nil {
				t.Errorf("the other one afterwards: %v", err)
			}
		})
	}
}

// An agent does one job at a time and says so.
func TestBusy(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	_, addrs := agents(t, 1, brisk)
	ctx, cancel := context.WithCancel(t.Context())
	job := Job{Agents: addrs, Token: token, Face: "toy", Args: []string{server, "1", "-1"}}
	var wg sync.WaitGroup
	wg.Go(func() {
		if r, err := run(ctx, job, func(*result.Snapshot) {
			if ctx.Err() == nil {
				_, err := run(t.Context(), job, nil, brisk)
				if err == nil || !strings.Contains(err.Error(), "agent "+addrs[0]+": busy: it has run a load of toy, part 1 of 1, for 127.0.0.1:") {
					t.Errorf("the second one: %v", err)
				}
				cancel()
			}
		}, brisk); err != nil || !r.Interrupted {
			t.Errorf("the first one: %v", err)
		}
	})
	wg.Wait()
}

// dialTLS connects to an agent as far as TLS goes.
func dialTLS(t *testing.T, addr string) (*peer, []byte) {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	c := tls.Client(nc, anyCertificate)
	if err := c.Handshake(); err != nil {
		t.Fatal(err)
	}
	b, err := binding(c)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { c.Close() })
	return newPeer(c, brisk), b
}

// Strangers get nothing: no job without a proof, no proof for a proof of another connection or of the agent's own role, no
// more bytes than a proof has, no more time than it takes.
func TestStrangers(t *testing.T) {
	noLeaks(t)
	hasty := brisk
	hasty.prove = 2 * time.Second
	a := startAgent(t, hasty, faces)
	mine := bytes.Repeat([]byte{7}, challengeLen)
	hello := append([]byte{version}, mine...)
	begin := func() (p *peer, theirs, b []byte) {
		p, b = dialTLS(t, a.addr)
		p.send(kHello, hello)
		theirs, err := p.hello()
		if err != nil {
			t.Fatal(err)
		}
		return p, theirs, b
	}
	refused := func(name string, p *peer) {
		t.Helper()
		if k, _, err := p.recv(); err == nil && k != kFailure {
			t.Errorf("%s: frame %q", name, byte(k))
		}
	}
	p, _, _ := begin()
	p.send(kJob, marshal(job{}))
	refused("job without proof", p)
	p, theirs, b := begin()
	p.send(kProof, proof(token, roleAgent, mine, theirs, b))
	refused("proof of the agent's role", p)
	p, theirs, b = begin()
	p.send(kProof, proof(token, roleCoordinator, mine, theirs, bytes.Repeat([]byte{1}, len(b))))
	refused("proof of another connection", p)
	p, theirs, b = begin()
	p.send(kProof, proof([]byte("some other token ......"), roleCoordinator, mine, theirs, b))
	refused("proof of another token", p)
	p, _, _ = begin()
	p.send(kProof, bytes.Repeat([]byte{1}, 1000))
	refused("long frame", p)
	a.log.wait(t, errLength.Error())

	p, _ = dialTLS(t, a.addr)
	p.send(kHello, []byte{version + 1, 1, 2, 3})
	k, hi, err := p.recv()
	if err != nil || k != kHello || hi[0] != version {
		t.Errorf("to a newer version: %q, %v", byte(k), err)
	}
	a.log.wait(t, "it speaks version 2")

	p, theirs, b = begin()
	p.send(kProof, proof(token, roleCoordinator, mine, theirs, b))
	if got, err := p.expect(kProof); err != nil || !bytes.Equal(got, proof(token, roleAgent, mine, theirs, b)) {
		t.Errorf("the right proof: %v", err)
	}
	refused("no job", p) // in time
	a.log.wait(t, "no proof and job within 2s")
}

// Whatever comes to the port, connections end and the agent stays.
func TestGarbage(t *testing.T) {
	noLeaks(t)
	hasty := brisk
	hasty.prove = 2 * time.Second
	a := startAgent(t, hasty, faces)
	for _, s := range []string{"", "\x00", "GET / HTTP/1.1\r\n\r\n", "stats\r\n", "\x16\x03\x01\xff\xff\x01", strings.Repeat("\xff", 1<<16)} {
		nc, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		nc.Write([]byte(s))
		nc.(*net.TCPConn).CloseWrite()
		nc.SetReadDeadline(time.Now().Add(20 * time.Second))
		for b := make([]byte, 100); err == nil; {
			_, err = nc.Read(b)
		}
		if ne, ok := err.(net.Error); ok && ne.Timeout() {
			t.Errorf("%.20q: the connection stays open", s)
		}
		nc.Close()
	}
	// More strangers than there is room for: the rest is hung up on, and those who say nothing are when their time is over.
	var conns []net.Conn
	for range mostStrangers + 10 {
		nc, err := net.Dial("tcp", a.addr)
		if err != nil {
			t.Fatal(err)
		}
		conns = append(conns, nc)
	}
	for _, nc := range conns {
		nc.SetReadDeadline(time.Now().Add(20 * time.Second))
		if _, err := nc.Read(make([]byte, 1)); err == nil || errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("%v", err)
		}
		nc.Close()
	}
	server := echoServer(t)
	if _, err := run(t.Context(), Job{Agents: []string{a.addr}, Token: token, Face: "toy", Args: []string{server, "1", "10"}}, nil, brisk); err != nil {
		t.Error(err)
	}
}

// A process between coordinator and agent that ends TLS on both sides gets neither's proof accepted by the other.
func TestInTheMiddle(t *testing.T) {
	noLeaks(t)
	a := startAgent(t, brisk, faces)
	config, err := certificate()
	if err != nil {
		t.Fatal(err)
	}
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	wg.Go(func() {
		nc, err := ln.Accept()
		if err != nil {
			return
		}
		in := tls.Server(nc, config)
		defer in.Close()
		nc2, err := net.Dial("tcp", a.addr)
		if err != nil {
			return
		}
		out := tls.Client(nc2, anyCertificate)
		defer out.Close()
		wg.Go(func() {
			defer in.Close()
			bufio.NewReader(out).WriteTo(in)
		})
		bufio.NewReader(in).WriteTo(out)
	})
	_, err = run(t.Context(), Job{Agents: []string{ln.Addr().String()}, Token: token, Face: "toy"}, nil, brisk)
	if err == nil || !strings.Contains(err.Error(), "token") {
		t.Errorf("%v", err)
	}
	ln.Close()
	wg.Wait()
}

// FuzzStranger: an agent that gets any bytes instead of a coordinator's ends the connection, and with the proof done any
// frames end it, too.
func FuzzStranger(f *testing.F) {
	frame := func(k kind, b []byte) []byte { return append([]byte{0, 0, 0, byte(len(b) + 1), byte(k)}, b...) }
	hello := frame(kHello, append([]byte{version}, make([]byte, challengeLen)...))
	f.Add([]byte("GET / HTTP/1.0\r\n\r\n"), false)
	f.Add(hello, false)
	f.Add(append(bytes.Clone(hello), frame(kProof, make([]byte, 32))...), false)
	f.Add(frame(kHello, []byte{9}), false)
	f.Add(frame(kFailure, []byte(`{"Text":"x"}`)), true)
	f.Add(frame(kJob, []byte(`{"Face":"toy","Args":["a"],"Parts":1}`)), true)
	f.Add(append(frame(kStart, nil), frame(kBeat, nil)...), true)
	f.Fuzz(func(t *testing.T, in []byte, known bool) {
		a, b := net.Pipe()
		defer b.Close()
		go func() {
			b.Write(in)
			b.Close()
		}()
		go func() {
			for buf := make([]byte, 1024); ; {
				if _, err := b.Read(buf); err != nil {
					return
				}
			}
		}()
		p := newPeer(a, brisk)
		defer p.close()
		if !known {
			if err := p.prove(roleAgent, token, nil); err == nil {
				t.Error("it proved itself")
			}
			return
		}
		p.most = mostFrame
		content, err := p.expect(kJob)
		if err == nil {
			unmarshal[job](kJob, content)
		}
		w := &work{p: p, start: make(chan struct{})}
		if err := w.listen(func(error) {}); err == nil {
			t.Error("listening has no end")
		}
	})
}
