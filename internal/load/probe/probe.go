// Package probe asks a server for its own counters before and after a load and holds them against what the client
// measured: memcached by stats, in its text or binary protocol, servers of RESP by INFO. What the probes of this process
// ask for is counted by the server, too; they keep account of it, and Diff takes it out again, exactly.
//
// It decides nothing: findings are data that the faces of the load generators print and put into their results.
package probe

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strings"
	"sync"
	"time"

	"godwit/internal/load"
	"godwit/internal/proto/mcbin"
	"godwit/internal/proto/resp"
)

// patience is how long an answer is waited for when the context has no deadline.
const patience = 10 * time.Second

// Families of servers: what their counters mean.
const (
	Memcached = "memcached"
	Redis     = "redis"
)

// Probe is a connection to a server for its counters only. It may be used by several goroutines.
type Probe struct {
	target   *load.Target
	conn     net.Conn
	protocol string // as codec.New knows it
	book     *book
	in       []byte
	broken   error // what ended the connection
}

// Open connects to the server as the clients of a load do: through TLS if they do, and with their prologue. protocol is what
// codec.New takes.
func Open(ctx context.Context, target *load.Target, protocol string) (*Probe, error) {
	switch protocol {
	case "redis", "resp2", "resp3", "memcache_text", "memcache_binary", "memcache_meta":
	default:
		return nil, fmt.Errorf("protocol %q: not known to have counters (use redis, resp2, resp3, memcache_text, memcache_binary, memcache_meta)", protocol)
	}
	p := &Probe{target: target, protocol: protocol, book: books.of(target)}
	ctx, cancel := limited(ctx)
	defer cancel()
	// The whole exchange is one entry in the account: no other probe must ask in the middle of it.
	if err := p.book.lock(ctx); err != nil {
		return nil, err
	}
	defer p.book.unlock()
	if err := p.connect(ctx); err != nil {
		return nil, fmt.Errorf("counters of %s: %w", target.Address, err)
	}
	return p, nil
}

// Take opens a Probe, reads the counters and closes it.
func Take(ctx context.Context, target *load.Target, protocol string) (*Counters, error) {
	p, err := Open(ctx, target, protocol)
	if err != nil {
		return nil, err
	}
	defer p.Close()
	return p.Take(ctx)
}

// Close the connection.
func (p *Probe) Close() error { return p.conn.Close() }

func limited(ctx context.Context) (context.Context, context.CancelFunc) {
	if _, ok := ctx.Deadline(); ok {
		return context.WithCancel(ctx)
	}
	return context.WithTimeout(ctx, patience)
}

func (p *Probe) family() string {
	if strings.HasPrefix(p.protocol, "memcache_") {
		return Memcached
	}
	return Redis
}

func (p *Probe) connect(ctx context.Context) error {
	var d net.Dialer
	nc, err := d.DialContext(ctx, p.target.Network, p.target.Address)
	if err != nil {
		return err
	}
	if p.target.TLS != nil {
		tc := tls.Client(nc, p.target.TLS)
		if err := tc.HandshakeContext(ctx); err != nil {
			nc.Close()
			return err
		}
		nc = tc
	}
	p.conn = nc
	p.book.own.Accepted++
	for i := range p.target.Prologue {
		g := &p.target.Prologue[i]
		if err := p.exchange(ctx, g.Send, greetingLimit, g.Check); err != nil {
			nc.Close()
			return fmt.Errorf("%s: %w", g.Name, err)
		}
		if p.family() == Redis {
			p.book.command(word(g.Send))
		}
	}
	return nil
}

// word is the name of the command in a request of RESP.
func word(request []byte) string {
	var v, w resp.Value
	if n, err := resp.Parse(request, &v); err == nil && n > 0 && v.IsAggregate() {
		if it := v.Elements(); it.Next(&w) {
			return strings.ToLower(string(w.Text))
		}
	}
	name, _, _ := strings.Cut(strings.TrimSpace(string(request)), " ")
	return strings.ToLower(name)
}

const (
	greetingLimit = 64 << 10 // bytes of an answer to a greeting
	answerLimit   = 1 << 20  // and of counters
)

var errEndless = errors.New("the answer does not end")

// exchange sends a request and reads until scan has found all of its answer. Bytes are entered in the account.
func (p *Probe) exchange(ctx context.Context, request []byte, limit int, scan func(in []byte) (n int, err error)) (err error) {
	deadline, _ := ctx.Deadline()
	p.conn.SetDeadline(deadline)
	defer context.AfterFunc(ctx, func() { p.conn.SetDeadline(time.Unix(1, 0)) })()
	defer func() {
		if err != nil && ctx.Err() != nil {
			err = context.Cause(ctx)
		}
	}()
	n, err := p.conn.Write(request)
	p.book.own.BytesIn += uint64(n)
	if err != nil {
		return err
	}
	p.in = p.in[:0]
	for {
		if len(p.in) == cap(p.in) {
			if len(p.in) >= limit {
				return errEndless
			}
			p.in = append(make([]byte, 0, min(max(8<<10, 2*cap(p.in)), answerLimit)), p.in...)
		}
		n, err := p.conn.Read(p.in[len(p.in):cap(p.in)])
		p.in = p.in[:len(p.in)+n]
		if n > 0 {
			used, err := scan(p.in)
			if used > 0 {
				p.book.received += uint64(used)
			}
			switch {
			case err != nil:
				return err
			case used == len(p.in):
				return nil
			case used > 0:
				return fmt.Errorf("%.60q came after the answer", p.in[used:])
			}
		}
		if err != nil {
			return err
		}
	}
}

// Take reads the counters.
func (p *Probe) Take(ctx context.Context) (*Counters, error) {
	c, err := p.take(ctx)
	if err != nil {
		return nil, fmt.Errorf("counters of %s: %w", p.target.Address, err)
	}
	return c, nil
}

func (p *Probe) take(ctx context.Context) (*Counters, error) {
	ctx, cancel := limited(ctx)
	defer cancel()
	if err := p.book.lock(ctx); err != nil {
		return nil, err
	}
	defer p.book.unlock()
	if p.broken != nil {
		return nil, p.broken
	}
	a := answer{fields: map[string]string{}}
	request, scan := []byte("stats\r\n"), a.text
	switch {
	case p.family() == Redis:
		request, scan = resp.AppendCommand(nil, "INFO", "all"), a.info
	case p.protocol == "memcache_binary":
		request, scan = mcbin.AppendGet(nil, mcbin.Stat, nil, 0), a.binary
	}
	// What the server says includes the request, but neither its answer nor, with RESP, its command, which counts when it
	// is done.
	p.book.own.BytesOut = p.book.received
	if err := p.exchange(ctx, request, answerLimit, scan); err != nil {
		p.broken = err
		p.conn.Close()
		return nil, err
	}
	c := a.counters(p.family())
	c.At = time.Now()
	c.Own = p.book.own.clone()
	if p.family() == Redis {
		c.Greetings = len(p.target.Prologue)
		p.book.command("info")
	}
	if c.Connections > 0 {
		c.Connections--
	}
	return c, nil
}

// Used is the processor time that the server has used and the number of commands it has served since it was started.
func (p *Probe) Used(ctx context.Context) (cpu time.Duration, commands uint64, err error) {
	c, err := p.Take(ctx)
	if err != nil {
		return 0, 0, err
	}
	return c.User + c.System, less(c.Commands, c.Own.Commands), nil
}

// book is the account of what the probes of this process have made one server count.
type book struct {
	turn     chan struct{} // has one element while nobody asks
	own      Totals
	received uint64 // bytes of answers
}

func (b *book) lock(ctx context.Context) error {
	select {
	case <-b.turn:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

func (b *book) unlock() { b.turn <- struct{}{} }

// command enters one that the server has done.
func (b *book) command(name string) {
	b.own.Commands++
	b.own.Requests[name]++
}

// library has a book for each server.
type library struct {
	mu    sync.Mutex
	books map[string]*book
}

var books = library{books: map[string]*book{}}

func (l *library) of(t *load.Target) *book {
	name := t.Network + " " + t.Address
	l.mu.Lock()
	defer l.mu.Unlock()
	b := l.books[name]
	if b == nil {
		b = &book{turn: make(chan struct{}, 1), own: Totals{Requests: map[string]uint64{}}}
		b.turn <- struct{}{}
		l.books[name] = b
	}
	return b
}
