package mc

import (
	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// Bin is the state of one connection that speaks the binary protocol. Between packets it is almost empty: the body of
// a packet too large to wait for is the only thing that outlives a Feed.
type Bin struct {
	// SASL are the users of -S. nil: no authentication, and its opcodes are unknown.
	SASL *auth.Table

	sasl auth.Exchange
	q    binRequest
	up   *binUpload // a value that arrives over several Feeds
	skip int64      // bytes of a refused body that are still to come
}

// binRequest is one packet as its handler sees it. extras and key point into the input; so does value, if whole.
type binRequest struct {
	mcbin.Header
	info               *mcbin.Info
	reply              mcbin.Reply
	extras, key, value []byte
	whole              bool // value is all there
}

// binHandler answers one packet that has the shape its opcode asks for, and whose extras and key are there. The value may
// not be: see binNext.
type binHandler func(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext

// binNext is what a handler leaves to be done with its packet.
type binNext uint8

const (
	binDone  binNext = iota // the packet is answered; what is missing of its body is skipped
	binWait                 // nothing was done: call again with the whole body
	binTaken                // the rest of the body goes to Bin.up
	binClose                // the packet is answered, the connection ends
)

var binHandlers = [256]binHandler{
	mcbin.Get:      binGet,
	mcbin.GetK:     binGet,
	mcbin.GAT:      binGAT,
	mcbin.GATK:     binGAT,
	mcbin.Touch:    binTouch,
	mcbin.Set:      binStore,
	mcbin.Add:      binStore,
	mcbin.Replace:  binStore,
	mcbin.Append:   binStore,
	mcbin.Prepend:  binStore,
	mcbin.Delete:   binDelete,
	mcbin.Incr:     binArith,
	mcbin.Decr:     binArith,
	mcbin.Quit:     binQuit,
	mcbin.Flush:    binFlush,
	mcbin.Noop:     binNoop,
	mcbin.Version:  binVersion,
	mcbin.Stat:     binStat,
	mcbin.SASLList: binSASLList,
	mcbin.SASLAuth: binSASLAuth,
	mcbin.SASLStep: binSASLAuth,
}

// Feed runs the complete requests of in, at most as many as a connection's share is.
func (b *Bin) Feed(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	used, v = b.feed(w, in, out)
	w.L.Publish()
	w.St.Publish()
	return used, v
}

func (b *Bin) feed(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	if b.Idle() {
		w.binWarm(in)
	}
	for left := max(1, w.Set.ReqsPerEvent); ; left-- {
		used += b.body(w, in[used:], out)
		rest := in[used:]
		if len(rest) == 0 {
			return used, More
		}
		if left <= 0 {
			w.St.C.ConnYields++
			return used, Yield
		}
		n, next := b.packet(w, rest, out)
		used += n
		if next == binWait {
			return used, More
		}
		if next == binClose {
			return used, Close
		}
	}
}

// body takes the bytes of in that belong to a packet begun earlier.
func (b *Bin) body(w *Worker, in []byte, out *bytesx.Out) (used int) {
	if b.up != nil {
		used = b.upload(w, in, out)
	}
	if b.skip > 0 {
		n := min(b.skip, int64(len(in)-used))
		b.skip -= n
		used += int(n)
	}
	return used
}

// packet handles the packet at the start of in, which is not empty, and says how much of in it used.
func (b *Bin) packet(w *Worker, in []byte, out *bytesx.Out) (used int, next binNext) {
	if in[0] != mcbin.MagicRequest {
		return 0, binClose
	}
	if len(in) < mcbin.HeaderLen {
		return 0, binWait
	}
	q := &b.q
	q.Header = mcbin.ParseHeader(in)
	q.info = q.Op.Info()
	q.reply = mcbin.Reply{Op: q.Op, Opaque: q.Opaque}
	handler := binHandlers[q.info.Op]
	if status := b.refuse(q); status != mcbin.OK {
		out.Buf = q.reply.AppendError(out.Buf, status)
		out.EndMessage()
		return mcbin.HeaderLen, binClose
	}
	if handler == nil || q.info.Op >= mcbin.SASLList && q.info.Op <= mcbin.SASLStep && b.SASL == nil {
		out.Buf = q.reply.AppendError(out.Buf, mcbin.UnknownCommand)
		out.EndMessage()
		b.skip = int64(q.BodyLen)
		return mcbin.HeaderLen, binDone
	}
	body := in[mcbin.HeaderLen:]
	if len(body) < q.Prefix() {
		return 0, binWait
	}
	have := int(min(int64(len(body)), int64(q.BodyLen)))
	q.whole = int64(have) == int64(q.BodyLen)
	q.extras = body[:q.ExtLen]
	q.key = body[q.ExtLen:q.Prefix()]
	q.value = body[q.Prefix():have]
	switch next = handler(b, w, q, out); next {
	case binWait:
		return 0, binWait
	case binDone:
		b.skip = int64(q.BodyLen) - int64(have)
		return mcbin.HeaderLen + have, binDone
	case binTaken:
		return mcbin.HeaderLen + q.Prefix(), binDone
	}
	return mcbin.HeaderLen + have, next
}

// refuse checks what can be told from the header alone. Everything it finds ends the connection, because a peer that
// gets lengths wrong cannot be followed any further.
func (b *Bin) refuse(q *binRequest) mcbin.Status {
	switch {
	case q.BodyLen > mcbin.MaxBody:
		return mcbin.Invalid
	case q.ValueLen() < 0:
		return mcbin.UnknownCommand
	case b.SASL != nil && !b.sasl.Authenticated() && !binOpen(q.info.Op):
		return mcbin.AuthError
	case q.KeyLen > mcbin.MaxKey, !q.info.Fits(&q.Header):
		return mcbin.Invalid
	}
	return mcbin.OK
}

// Idle says that no packet is half done.
func (b *Bin) Idle() bool { return b.up == nil && b.skip == 0 }

// Drop gives back the memory of an unfinished upload.
func (b *Bin) Drop(w *Worker) {
	if b.up != nil {
		b.up.drop(w)
	}
	b.up, b.skip = nil, 0
}

// fail answers a request with an error, quiet or not.
func (q *binRequest) fail(out *bytesx.Out, s mcbin.Status) binNext {
	out.Buf = q.reply.AppendError(out.Buf, s)
	out.EndMessage()
	return binDone
}

// noMemory answers a request for which no memory was found, with the text for what was tried.
func (q *binRequest) noMemory(out *bytesx.Out, text string) binNext {
	out.Buf = q.reply.AppendText(out.Buf, mcbin.NoMemory, text)
	out.EndMessage()
	return binDone
}

// done answers a request with success and nothing else, unless it is a quiet one.
func (q *binRequest) done(out *bytesx.Out, cas uint64) binNext {
	if !q.info.Quiet {
		out.Buf = q.reply.AppendEmpty(out.Buf, cas)
		out.EndMessage()
	}
	return binDone
}
