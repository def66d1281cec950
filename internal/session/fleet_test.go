package session

import (
	"bytes"
	"crypto/tls"
	"errors"
	"math/rand/v2"
	"testing"

	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/clock"
	"godwit/internal/command/mc"
	"godwit/internal/config"
	"godwit/internal/netloop"
	"godwit/internal/store"
)

// newWorker is a server of one loop without sockets, set up by memcached's command line. Its clock stands still.
func newWorker(t testing.TB, args ...string) (*mc.Worker, *Config) {
	t.Helper()
	set, exit := config.ParseMemcached("memcached", args)
	if exit != nil {
		t.Fatalf("%v: %+v", args, exit)
	}
	c := clock.New()
	c.Pause()
	s, err := store.Open(store.Config{
		Limit: set.MaxBytes, Locals: 1, MaxItem: set.ItemSizeMax, NoEvict: !set.Evict, Seed: 1, Clock: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := mc.NewEnv(set, s, 1).Workers[0]
	w.Server = process{}
	w.L.Turn(c.Ms())
	cfg := &Config{Protocol: set.Protocol}
	if set.AuthFile != "" {
		cfg.Users = new(auth.Table)
		if err := cfg.Users.Load(set.AuthFile); err != nil {
			t.Fatal(err)
		}
	}
	return w, cfg
}

// process stands for the process around the verbs.
type process struct{}

func (process) ConnStats() mc.ConnStats   { return mc.ConnStats{} }
func (process) Conns(func(c mc.ConnInfo)) {}
func (process) MaxConns() int             { return 1024 }
func (process) RefreshCerts() error       { return errTLS }

var errTLS = errors.New("Error TLS not enabled")

// fakeConn is a connection without a socket.
type fakeConn struct{ id int }

func (c fakeConn) ID() int                      { return c.id }
func (c fakeConn) Loop() int                    { return 0 }
func (c fakeConn) Transport() netloop.Transport { return netloop.TCP }
func (c fakeConn) Remote() string               { return "" }
func (c fakeConn) Local() string                { return "" }
func (c fakeConn) TLS() *tls.ConnectionState    { return nil }
func (c fakeConn) Wake()                        {}
func (c fakeConn) Listener() *netloop.Listener  { return nil }

// pipe is a driver of one session: like netloop it keeps what was not used.
type pipe struct {
	s       *Session
	sink    bool // large values go through Sink
	in      []byte
	out     bytesx.Out
	got     []byte
	verdict netloop.Verdict // the one that ended it, More while it is open
	yields  int
	maxIn   int // most bytes kept
}

func newPipe(w *mc.Worker, cfg *Config, id int) *pipe {
	return &pipe{s: New(w, cfg, fakeConn{id})}
}

// write brings input to the connection; the answers collect in got.
func (p *pipe) write(data []byte) {
	for p.sink && p.open() && len(p.in) == 0 && len(data) > 0 {
		s := p.s.Sink()
		if len(s) == 0 {
			break
		}
		n := copy(s, data)
		data = data[n:]
		p.s.Sunk(n)
		if n == len(s) {
			p.feed()
		}
	}
	p.in = append(p.in, data...)
	p.feed()
	p.maxIn = max(p.maxIn, len(p.in))
}

func (p *pipe) open() bool { return p.verdict == netloop.More }

func (p *pipe) feed() {
	for p.open() {
		used, v := p.s.Feed(p.in, &p.out)
		p.in = bytes.Clone(p.in[used:])
		if v != netloop.Abort {
			p.got = append(p.got, flatten(&p.out)...)
		}
		p.out.Reset()
		switch v {
		case netloop.More:
			return
		case netloop.Yield:
			p.yields++
		default:
			p.verdict = v
			p.s.Closed(netloop.ReasonNormal)
		}
	}
	p.in = nil
}

func flatten(o *bytesx.Out) []byte {
	var b []byte
	at := 0
	for _, r := range o.Refs {
		b = append(append(b, o.Buf[at:r.At]...), r.Data...)
		at = r.At
	}
	return append(b, o.Buf[at:]...)
}

// member is one of several servers that are given the same bytes, cut differently.
type member struct {
	w     *mc.Worker
	cfg   *Config
	pipes map[string]*pipe
	names casNames
}

type fleet struct{ members []*member }

func newFleet(t testing.TB, n int, args ...string) *fleet {
	f := &fleet{}
	for range n {
		w, cfg := newWorker(t, args...)
		f.members = append(f.members, &member{w: w, cfg: cfg, pipes: map[string]*pipe{}})
	}
	return f
}

// connect opens a new connection under a name, in place of the old one.
func (f *fleet) connect(name string) {
	for i, m := range f.members {
		if p := m.pipes[name]; p != nil && p.open() {
			p.s.Closed(netloop.ReasonNormal)
		}
		m.pipes[name] = newPipe(m.w, m.cfg, 30+len(m.pipes))
		m.pipes[name].sink = i%2 == 1
	}
}

// writeCut writes data in one piece (how 0), byte by byte (1), or in pieces of random length.
func (p *pipe) writeCut(data []byte, how int) {
	switch {
	case how == 0:
		p.write(data)
	case how == 1 && len(data) < 1<<14:
		for i := range data {
			p.write(data[i : i+1])
		}
	default:
		rnd := rand.New(rand.NewPCG(uint64(how), uint64(len(data))))
		for len(data) > 0 {
			n := min(1+rnd.IntN(1+len(data)/3), len(data))
			p.write(data[:n])
			data = data[n:]
		}
	}
}
