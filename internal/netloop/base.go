package netloop

import (
	"crypto/tls"
	"net/netip"
	"sync"
	"sync/atomic"
)

// State classes a connection for lists of connections.
type State uint8

const (
	StateListening State = iota
	StateWaiting         // for the next request
	StateRunning         // a request of it is being worked on right now
	StateReading         // the rest of a request
	StateWriting         // its client is slow to take the answer
	StateParked          // waits for something else than its client
	StateClosing
)

// base is what all drivers keep of a connection.
type base struct {
	srv   *Server
	sess  Session
	self  any // the connection that embeds this
	sock  *sock
	peer  netip.AddrPort // invalid for unix sockets
	id    int
	loop  int
	last  atomic.Int64  // Server.now of the last input
	st    atomic.Uint32 // State between Feeds
	woken atomic.Bool   // Wake was called and Feed not yet
}

func (c *base) ID() int                   { return c.id }
func (c *base) Loop() int                 { return c.loop }
func (c *base) Transport() Transport      { return c.sock.l.Transport }
func (c *base) Local() string             { return c.sock.local }
func (c *base) TLS() *tls.ConnectionState { return nil }
func (c *base) Listener() *Listener       { return c.sock.l }

func (c *base) Remote() string {
	if c.sock.l.Transport == Unix {
		return c.sock.local
	}
	return c.peer.String()
}

// touch notes input. The store is rare: now advances about once a second.
func (c *base) touch() {
	if now := c.srv.now.Load(); c.last.Load() != now {
		c.last.Store(now)
	}
}

// await notes that input is waited for: the next request, or the rest of one.
func (c *base) await(rest bool) {
	if rest {
		c.set(StateReading)
	} else {
		c.set(StateWaiting)
	}
}

func (c *base) set(s State) {
	if c.st.Load() != uint32(s) {
		c.st.Store(uint32(s))
	}
}

// fill copies input to where the session wants it, and says how much of it went there. short: the session wants more.
func (c *base) fill(in []byte) (n int, short bool) {
	for n < len(in) && !short {
		s := c.sess.Sink()
		if len(s) == 0 {
			break
		}
		k := copy(s, in[n:])
		c.sess.Sunk(k)
		n += k
		short = k < len(s)
	}
	return n, short
}

// registry lists the connections of a loop for other goroutines.
type registry struct {
	mu  sync.Mutex
	all map[*base]struct{}
}

func (r *registry) add(c *base) {
	r.mu.Lock()
	if r.all == nil {
		r.all = map[*base]struct{}{}
	}
	r.all[c] = struct{}{}
	r.mu.Unlock()
}

func (r *registry) remove(c *base) {
	r.mu.Lock()
	delete(r.all, c)
	r.mu.Unlock()
}

// each calls fn for a copy of the list, so that fn may take its time.
func (r *registry) each(fn func(*base)) {
	r.mu.Lock()
	all := make([]*base, 0, len(r.all))
	for c := range r.all {
		all = append(all, c)
	}
	r.mu.Unlock()
	for _, c := range all {
		fn(c)
	}
}
