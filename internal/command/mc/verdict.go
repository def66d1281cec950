package mc

import "godwit/internal/bytesx"

// Verdict is what a protocol wants of its connection after a Feed. Package session maps it to the driver's verdicts.
type Verdict uint8

const (
	More         Verdict = iota // wait for more input
	Yield                       // the share of this turn is used up, input is left
	Stream                      // feed again as soon as all output is sent, with or without input
	Park                        // feed again only after Wake
	Close                       // send the output, then close
	Abort                       // close at once, drop the output
	Shut                        // send, close, and stop the server (like SIGINT)
	ShutGraceful                // the same, gracefully (like SIGUSR1)
)

// Proto is the state of one connection in one protocol: Text or Bin. A session holds one of them, and calls it with the
// Worker of its loop only.
type Proto interface {
	// Feed takes unread input, appends answers to out and says how much of in it used: nothing of an incomplete request
	// unless the state keeps it. It publishes the counters of w before it returns.
	Feed(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict)
	// Sink is nil or where the next input bytes belong (the rest of a large value); Sunk says n bytes were put there.
	Sink() []byte
	Sunk(w *Worker, n int)
	// Idle says that the next command is waited for.
	Idle() bool
	// Drop gives back what an unfinished request holds: the connection is gone, or its datagram over.
	Drop(w *Worker)
}
