// Package load has the words that the parts of the load generators share: what a connection sends (Op, Source), how that
// looks on the wire (Codec, Reply), and where and how fast it goes (Plan). It does nothing itself. load/keys draws keys,
// load/codec speaks the protocols, load/drive runs a Plan, load/result keeps what was measured; load/memtier, load/crusher
// and load/ycsb are the faces that make Plans of their users' words and print results.
package load

import (
	"crypto/tls"
	"time"
)

// Kind is what a request does. A Codec that has no word for a kind says so in Supports.
type Kind uint8

const (
	Get     Kind = iota // one key
	MGet                // several keys in one request
	Set                 //
	Touch               //
	Incr                //
	Decr                //
	Delete              //
	Command             // any command of the protocol: Op.Args (RESP)
	Kinds
)

// Op is one request. Its slices belong to the Source that filled it and are valid until its next Next.
type Op struct {
	Kind   Kind
	Row    uint8    // the row of the result that it counts in, below len(Plan.Rows)
	Quiet  bool     // success is not answered (noreply, quiet binary opcodes)
	Check  bool     // Get: the Source, which is a Checker, looks at the value
	Offset int      // Set, Get: SETRANGE, GETRANGE at this offset (RESP); 0: the whole value
	Key    []byte   //
	Keys   [][]byte // MGet
	Value  []byte   // Set
	Flags  uint32   // client flags
	Expiry uint32   // seconds; 0: never
	Delta  uint64   // Incr, Decr
	Words  []byte   // flags of a meta get, as they go on the wire, without leading space; nil: the codec's own
	Args   [][]byte // Command
	ID     uint64   // what the Source likes; Check gets it
	Begins uint8    // operations of a Spanner that begin with this request: bit 0 for the whole, bit 1 for a part of it
	Aside  bool     // a request that the Source, a Patient, makes for itself: neither it nor its answer is counted
	Sent   int64    // when it was sent the first time: Reply.Sent of an answer that had Again set; 0: now
	// Planned is when a Rate wants the next request sent, as Next finds it; 0: there is no Rate, or Ready. A Patient that
	// took a request for another connection and has none for this one sets it to 0. That other one gets the request with the
	// time that it was planned for, and so does one that gets a request again.
	Planned int64
}

// Source tells one connection what to send. It is used by one loop.
type Source interface {
	// Next fills op with the next request. false: there is none any more.
	Next(op *Op) bool
}

// Feedback is a Source that wants to know how its requests ended, in the order it made them. Done is called before the
// answer is counted and may change what is counted: Status, Hits, Misses and Row.
type Feedback interface {
	Source
	Done(r *Reply)
}

// Spanner is a Feedback whose operations may take several requests, where the next depends on the answer to the one before.
// Each request counts in its row; the operation as a whole counts in one more, with the time from its first request to its
// last answer. Its client has Pipeline 1.
type Spanner interface {
	Feedback
	// Under says, between Done and Next, whether an operation is under way. Next goes on with it then: at once, also if the
	// client has a Rate, which plans operations, and also when the time of the run is over.
	Under() bool
	// Ended is called after each Done until it says false. It fills s with an operation that ended with this answer.
	Ended(s *Span) bool
}

// Span is an operation of several requests that has ended.
type Span struct {
	Row          uint8 // in which it counts
	Number       uint8 // bit of Op.Begins that its first request had
	Status       Status
	Hits, Misses int
}

// Checker is a Source that knows what its requests must find.
type Checker interface {
	Source
	// Check says whether value may be what the Get with this ID found. A value that may not is a Mismatch.
	Check(id uint64, value []byte) bool
}

// Patient is a Source that may have nothing to send for the moment: one of several connections that share requests, each
// for another server. They are clients with the same Group, on one loop. If they have a Rate, it is that of all together.
type Patient interface {
	Feedback
	// Attach gives it the way to have its connection ask Next again.
	Attach(wake func())
	// Ready says that the next request was planned before, or is needed by the Source itself: no Rate holds it.
	Ready() bool
	// Waiting says, after Next said false, that there will be more. It may be called from any goroutine.
	Waiting() bool
	// Lost says that the oldest request will not be answered: its connection is closed.
	Lost()
	// Down says that the connection is closed, or could not be opened; gone: and that there will be no other. It may be
	// called from any goroutine.
	Down(gone bool)
}

// Status is how a request ended.
type Status uint8

const (
	OK        Status = iota
	NotStored        // the server declined: NOT_STORED, NOT_FOUND to a touch, a null to a SET with conditions
	Mismatch         // the value is not the one that was expected
	Failed           // the server answered an error: Reply.Text
	Moved            // MOVED of a RESP cluster: Reply.Text
	Ask              // ASK of a RESP cluster: Reply.Text
	Statuses         //
)

// Reply is the answer to one request. Its slices point into the input and are valid during the call that gets it.
type Reply struct {
	Status  Status
	Hits    int    // keys of a retrieval that were found
	Misses  int    // and that were not
	Value   []byte // of the last key found
	Text    []byte // error text, without line end
	Row     uint8  // row that the request counts in: what Op.Row said, until Done says something else
	Again   bool   // set by Done: the request will be sent again; this is counted as Moved or Ask, but not as an answer
	Sent    int64  // when the request was first sent and
	Planned int64  // when it was planned, for the Op that repeats it
	Silent  bool   // the request was quiet and is done without an answer of its own; Status and Misses say what that means
}

// Want is what a Codec has to know of a request to read its answer.
type Want struct {
	Kind  Kind
	Quiet bool   // Op.Quiet
	Keys  uint32 // MGet: number of keys; else 1
}

// Codec speaks a protocol, client side. One per connection; implementations keep what they must know between calls.
type Codec interface {
	// Append appends the request op to dst.
	Append(dst []byte, op *Op) []byte
	// Flush appends what quiet requests at the end of dst need so that they are known to be done; nothing if there are
	// none. To be called before dst is sent. Its answer is read as a part of that of the last quiet request.
	Flush(dst []byte) []byte
	// Reply reads the answer to the oldest unanswered request, quiet ones included, from the start of in, all of which is
	// unread, and returns its length. 0 means that it is not complete, unless r.Silent is set: then the request is done
	// although in may be empty. An error means that the bytes are no answer: the connection is of no use.
	Reply(in []byte, want Want, r *Reply) (n int, err error)
	// Reset forgets all unanswered requests, for a new connection.
	Reset()
	// Supports says whether the protocol has a request of this kind.
	Supports(k Kind) bool
}

// Target is a server to connect to.
type Target struct {
	Network  string      // tcp, tcp4, tcp6 or unix
	Address  string      // host:port or a path
	TLS      *tls.Config // nil: plain
	Prologue []Greeting  // sent one after the other before anything else
}

// Greeting is a request that prepares a connection (authentication, database, protocol version) with the check of its
// answer. It is not counted.
type Greeting struct {
	Name string // for error texts, such as "AUTH"
	Send []byte
	// Check reads the answer: its length, 0 while incomplete; an error refuses the connection.
	Check func(in []byte) (n int, err error)
}

// Client is one connection of a load.
type Client struct {
	// Group, if not 0, puts clients with the same number on the same loop. Others are spread over the loops in turn.
	Group    int
	Target   *Target
	Codec    Codec
	Source   Source
	Pipeline int     // requests that may be unanswered at a time; at least 1
	Rate     float64 // planned requests per second of this connection; 0: as fast as answers come (closed loop)
	Poisson  bool    // planned requests come at exponential intervals, else at equal ones
	Phase    float64 // fraction of an interval, 0 to 1, by which the first planned request is delayed
	// Burst is how many requests are sent together: planned ones at intervals of Burst/Rate, as the pipeline permits; in a closed
	// loop when so many more may be unanswered. 0: 1.
	Burst int
	// Blind reads answers without looking at them: nothing is counted but requests and bytes sent. Pipeline requests are sent
	// whenever anything comes, or when they are planned. All requests, or with a Codec that knows Flush the last before it,
	// must be answered. It has no effect where the driver is std: there answers are looked at.
	Blind bool
	// Quit is what a Blind client sends last. The server answers everything before it and then closes the connection, which
	// is the sign that all requests were served; nil: the client does not wait for that.
	Quit []byte
	// ReconnectEvery closes and reopens the connection after so many requests; 0: never.
	ReconnectEvery int
	// Begin is when the client connects, after the start of the run.
	Begin time.Duration
}

// Plan is a load.
type Plan struct {
	Rows    []string // names of the rows that requests are counted in
	Loops   int      // event loops; client i belongs to loop i % Loops, or Group % Loops if it has one
	Clients []Client
	// Duration ends the run; 0: when all Sources are at their end.
	Duration time.Duration
	// Warmup at the start is not counted.
	Warmup time.Duration
	// Grace is how long after the end unanswered requests are waited for; 0: 5 s. What is unanswered then is counted as
	// lost, with the time it has waited so far as its latency.
	Grace time.Duration
	// Ramp multiplies all rates by a factor that depends on the time since the start, seconds; nil: 1.
	Ramp func(t float64) float64
	// Retry says how lost connections are opened again.
	Retry Retry
	// Blind makes all clients Blind.
	Blind bool
	// PerClient keeps results of each client, too: a histogram for each of its rows, and its seconds.
	PerClient bool
	IO        string // event loop driver: auto, epoll, io_uring or std
}

// Retry of connections that fail. Without it a lost connection ends its client and is an error of the run.
type Retry struct {
	On      bool
	Most    int           // attempts in a row; 0: no limit
	Delay   time.Duration // before the first attempt; 0: 1 s
	Factor  float64       // by which the delay grows; 0: it does not
	Timeout time.Duration // of connecting, and of a connection that has requests unanswered and hears nothing; 0: none
}

// Planner makes the Plan of a face (memtier, crusher, ycsb) from its command line, args without the name of the face: for
// the run-th run, counted from 0, and for one of several machines that share the load: the part-th of parts, counted from
// 0. Key sequences are disjoint, and totals (rates, numbers of operations, shares of the keys) are dealt out. So are
// connections, except by memtier, whose users say how many each machine has.
type Planner func(args []string, run, part, parts int) (*Plan, error)
