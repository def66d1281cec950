// Package bytesx holds the byte buffers that pass between the layers: what a session answers, and the number and
// base64 helpers that the protocols share. It imports nothing of ours and knows neither sockets nor items.
package bytesx

// Releaser gives back memory that was lent to a reply (a pin on a segment or a region of the store).
type Releaser interface{ Release() }

// Ref is foreign memory in the middle of a reply: Data goes out before byte At of Out.Buf. Owner is released once the
// bytes are sent or the connection is gone.
type Ref struct {
	At    int
	Data  []byte
	Owner Releaser
}

// Out collects the answer of a session: flat bytes, and references to big values between them, in the order of At.
// Sessions append to Buf directly. The driver that owns the connection sends it, releases the references and resets it.
type Out struct {
	Buf    []byte
	Refs   []Ref
	Framed bool  // the driver sends datagrams: EndMessage is recorded
	Bounds []int // with Framed: the length of Buf at the end of each message
}

// Lend appends data that stays owned by owner until it is sent.
func (o *Out) Lend(data []byte, owner Releaser) {
	o.Refs = append(o.Refs, Ref{At: len(o.Buf), Data: data, Owner: owner})
}

// EndMessage marks the end of one response object. Datagram transports send each as a message of its own.
func (o *Out) EndMessage() {
	if o.Framed {
		o.Bounds = append(o.Bounds, len(o.Buf))
	}
}

// Len is the number of bytes to send, lent ones included.
func (o *Out) Len() int {
	n := len(o.Buf)
	for i := range o.Refs {
		n += len(o.Refs[i].Data)
	}
	return n
}

// Reset empties the answer and releases what was lent.
func (o *Out) Reset() {
	for i := range o.Refs {
		o.Refs[i].Owner.Release()
		o.Refs[i] = Ref{}
	}
	o.Buf, o.Refs, o.Bounds = o.Buf[:0], o.Refs[:0], o.Bounds[:0]
}

// Truncate takes back everything appended after the mark (lengths of Buf, Refs and Bounds taken earlier) and releases
// what was lent since then. A multi-get that fails half-way drops the hits it had collected this way.
func (o *Out) Truncate(m Mark) {
	for i := m.refs; i < len(o.Refs); i++ {
		o.Refs[i].Owner.Release()
		o.Refs[i] = Ref{}
	}
	o.Buf, o.Refs, o.Bounds = o.Buf[:m.buf], o.Refs[:m.refs], o.Bounds[:m.bounds]
}

// Mark is a position in an Out, to go back to with Truncate.
type Mark struct{ buf, refs, bounds int }

// Mark is the present end.
func (o *Out) Mark() Mark { return Mark{len(o.Buf), len(o.Refs), len(o.Bounds)} }

// Empty says whether nothing was appended.
func (o *Out) Empty() bool { return len(o.Buf) == 0 && len(o.Refs) == 0 }
