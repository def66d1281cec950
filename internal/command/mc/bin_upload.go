package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
	"godwit/internal/store"
)

// binWaitFor is up to what length an incomplete value is left in the connection's read buffer, in bytes. Longer ones
// are taken as they come.
const binWaitFor = 16 << 10

// chargeStep is how much of an upload is charged to the memory limit in advance, in bytes: a client that announces a
// gigabyte and sends nothing costs this much.
const chargeStep = 256 << 10

// binUpload is a storage command whose value arrives over several Feeds. The value goes straight into its item if that
// is a large one; otherwise it is gathered on the heap, since a small item must not stay open between two Feeds.
type binUpload struct {
	active  bool
	failed  bool // no memory: what is left is thrown away, then the answer says so
	info    *mcbin.Info
	reply   mcbin.Reply
	op      StoreOp
	key     [mcbin.MaxKey]byte // op.Key, which must outlive the input it came in
	pending *store.Pending     // nil: small, gathered in value
	value   []byte
	length  int // of the value
	got     int // bytes of it that have arrived
	charged int // bytes of it that are paid for
}

// begin starts an upload for the packet q, whose value is not all there.
func (b *Bin) begin(w *Worker, q *binRequest, op *StoreOp, out *bytesx.Out) binNext {
	length := int(q.ValueLen())
	p, code := w.Begin(op, length)
	if code != OK {
		return q.stored(out, Stored{Code: code})
	}
	u := &b.up
	*u = binUpload{active: true, info: q.info, reply: q.reply, op: *op, pending: p, length: length}
	u.op.Key = u.key[:copy(u.key[:], op.Key)]
	if !p.Large() {
		w.L.Discard(p)
		u.pending = nil
	}
	u.charge(w)
	return binTaken
}

// charge pays for the next bytes of a large value.
func (u *binUpload) charge(w *Worker) {
	u.charged = min(u.length, u.got+chargeStep)
	if u.pending == nil {
		return
	}
	if w.L.Grow(u.pending, u.charged) != nil {
		w.L.Discard(u.pending)
		u.pending = nil
		u.failed = true
	}
}

// upload takes what in has of the value, and answers when that is complete.
func (b *Bin) upload(w *Worker, in []byte, out *bytesx.Out) (used int) {
	u := &b.up
	for u.got < u.length && used < len(in) {
		n := min(u.charged-u.got, len(in)-used)
		chunk := in[used : used+n]
		switch {
		case u.pending != nil:
			copy(u.pending.Value()[u.got:], chunk)
		case !u.failed:
			u.value = append(u.value, chunk...)
		}
		used += n
		b.Sunk(w, n)
	}
	if u.got == u.length {
		b.finish(w, out)
	}
	return used
}

// Sink is where the next bytes of a large value belong.
func (b *Bin) Sink() []byte {
	u := &b.up
	if u.pending == nil {
		return nil
	}
	return u.pending.Value()[u.got:u.charged]
}

// Sunk says that n bytes of the value have arrived.
func (b *Bin) Sunk(w *Worker, n int) {
	u := &b.up
	u.got += n
	if u.got == u.charged && u.got < u.length {
		u.charge(w)
	}
}

// finish stores the value that is complete now, and answers.
func (b *Bin) finish(w *Worker, out *bytesx.Out) {
	u := &b.up
	q := binRequest{info: u.info, reply: u.reply}
	switch {
	case u.failed:
		w.St.C.StoreNoMemory++
		q.noMemory(out, mcbin.TextNoMemoryRead)
	case u.pending != nil:
		p := u.pending
		u.pending = nil
		q.stored(out, w.Commit(&u.op, p))
	default:
		q.stored(out, w.putGathered(&u.op, u.value))
	}
	*u = binUpload{}
}

// putGathered is Put for a value that Begin has already accepted and counted.
func (w *Worker) putGathered(op *StoreOp, value []byte) Stored {
	if op.merges() {
		return w.merge(op, value)
	}
	p, err := w.L.Build(op.Key, store.Spec{Flags: op.Flags, Expiry: op.Expiry, Len: len(value), Marks: op.marks()})
	if err != nil {
		code := codeOf(err)
		w.Refuse(op, code, len(value))
		return Stored{Code: code}
	}
	copy(p.Value(), value)
	return w.Commit(op, p)
}
