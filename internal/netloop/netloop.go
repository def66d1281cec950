// Package netloop moves bytes between sockets and sessions: it listens, accepts, reads what is ready, hands it to the
// session of the connection and sends what the session answered, one write per connection and turn. It knows no
// protocol. Drivers behind one contract: epoll and io_uring loops on Linux, a goroutine per connection for TLS and other
// systems, datagrams. Callers: the server builds one from its listeners and a Handler.
//
// Reading order: server.go (life of a Server), listen.go and accept.go, common_linux.go (what event loops have in
// common), loop_linux.go and conn_linux.go (epoll), uloop_linux.go, uconn_linux.go and uring_linux.go (io_uring), std.go
// (goroutines), udp.go. inbuf, outbox and pool hold what a connection could not use or send at once; gate counts
// connections and keeps the limit.
package netloop

import (
	"crypto/tls"
	"time"

	"godwit/internal/bytesx"
)

// Verdict is what a session wants next.
type Verdict uint8

const (
	More         Verdict = iota // call Feed again when there is more input
	Yield                       // its share is used up: serve other connections, then Feed again with what is left
	Stream                      // call Feed again, with or without input, as soon as all output so far is sent
	Park                        // call Feed again only after Wake; input stays unread meanwhile
	Close                       // send the output, then close
	Abort                       // close at once, drop the output
	Shut                        // send the output, close, and stop the whole server at once (like SIGINT)
	ShutGraceful                // the same, gracefully (like SIGUSR1)
)

// Reason tells a session why its connection ended.
type Reason uint8

const (
	ReasonNormal   Reason = iota // closed by the client or by a Close verdict
	ReasonError                  // socket error, or an Abort verdict
	ReasonIdle                   // idle timeout
	ReasonShutdown               // the server stops
)

// Session is the protocol side of one connection: bytes in, bytes out, no socket and no clock of its own. All calls for
// the connections of one loop come one at a time.
type Session interface {
	// Feed takes unread input (all of it, from the first byte not used so far), appends answers to out and says how much
	// of in it used. It uses nothing of an incomplete request unless it keeps it itself. in is valid during the call only.
	Feed(in []byte, out *bytesx.Out) (used int, next Verdict)
	// Sink is nil, or where the next input bytes belong (the rest of a big value): the driver may read straight into it
	// and then calls Sunk instead of Feed for those bytes, and Feed once the sink is full. It is looked at when Feed has
	// said More, and must stay the same, but for what Sunk takes off it, until the next Feed.
	Sink() []byte
	Sunk(n int)
	// Idle says that the session waits for the next command (idle timeouts count only then).
	Idle() bool
	// Closed ends the session. It is the last call.
	Closed(r Reason)
}

// Transport of a connection.
type Transport uint8

const (
	TCP Transport = iota
	Unix
	UDP
)

// Conn is what a session may know and ask of its connection. Wake may be called from any goroutine, the rest at any time.
type Conn interface {
	ID() int   // file descriptor number, or a number unique among open connections
	Loop() int // the loop it belongs to, 0 <= Loop() < Server.Loops()
	Transport() Transport
	Remote() string            // "127.0.0.1:1234", "[::1]:1234", or the path for unix sockets
	Local() string             // the listening address in the same form
	TLS() *tls.ConnectionState // nil without TLS
	Wake()                     // have Feed called soon, after Park or while waiting for input
	Listener() *Listener
}

// Listener is one address to listen on.
type Listener struct {
	Transport Transport
	Addr      string // host:port ("" or "*" host for any), or a path
	Mode      uint32 // unix sockets: permission bits
	Backlog   int
	TLS       func() *tls.Config // nil: plain. Called per connection, so that certificates can be swapped
	Tag       any                // the owner's own; netloop does not look at it
	FD        int                // an inherited socket (systemd) if > 0
}

// Handler is the owner of the sessions. Open and Turn come from the loop concerned.
type Handler interface {
	// Open makes the session of a new connection. Each datagram is a connection of its own here: opened, fed, closed, with
	// a Conn that is the same for all datagrams read by one goroutine.
	Open(c Conn) Session
	// Turn is called at the start of each turn of a loop, before its first Feed: the clock is read here.
	Turn(loop int)
}

// Timed is a Handler that has things to do at certain times: it does them in Turn.
type Timed interface {
	Handler
	// Next is how long the loop may wait before its next Turn; negative: until something happens. It comes from the loop.
	Next(loop int) time.Duration
}
