package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// upload is a storage command whose value arrives over several Feeds. The value goes straight into its item if that is a
// large one; otherwise it is gathered on the heap, since a small item must not stay open between two Feeds.
type upload struct {
	value
	key     [mctext.MaxKey]byte // op.Key, which must outlive the line it came in
	pending *store.Pending      // nil: small, gathered in data; or failed
	data    []byte
	failed  bool // no memory: what is left is thrown away, then the answer says so
	got     int  // bytes of the value that have arrived
	charged int  // bytes of it that are paid for
	end     [2]byte
	endGot  int // bytes of the line end behind the value that have arrived
}

// begin starts an upload behind a line of n bytes.
func (t *Text) begin(w *Worker, v *value, n int, out *bytesx.Out) (used int) {
	p, code := w.Begin(&v.op, v.size)
	if code != OK {
		return t.refuse(v, replies[code], n, out)
	}
	u := &upload{value: *v, pending: p}
	u.op.Key = u.key[:copy(u.key[:], v.op.Key)]
	if !p.Large() {
		w.L.Discard(p)
		u.pending = nil
	}
	u.charge(w)
	t.up = u
	return n
}

// charge pays for the next bytes of a large value.
func (u *upload) charge(w *Worker) {
	u.charged = min(u.size, u.got+chargeStep)
	if u.pending == nil {
		return
	}
	if w.L.Grow(u.pending, u.charged) != nil {
		w.L.Discard(u.pending)
		u.pending, u.failed = nil, true
	}
}

// upload takes what in has of the value and its line end, and answers when that is complete.
func (t *Text) upload(w *Worker, in []byte, out *bytesx.Out) (used int) {
	u := t.up
	for u.got < u.size && used < len(in) {
		n := min(u.charged-u.got, len(in)-used)
		chunk := in[used : used+n]
		switch {
		case u.pending != nil:
			copy(u.pending.Value()[u.got:], chunk)
		case !u.failed:
			u.data = append(u.data, chunk...)
		}
		used += n
		t.Sunk(w, n)
	}
	if u.got < u.size {
		return used
	}
	n := copy(u.end[u.endGot:], in[used:])
	used += n
	if u.endGot += n; u.endGot == len(u.end) {
		t.up = nil
		mark := out.Len()
		t.finish(w, u, out)
		if out.Framed && out.Len() > mark {
			out.EndMessage()
		}
	}
	return used
}

// Sink is where the next bytes of a large value belong.
func (t *Text) Sink() []byte {
	if t.up == nil || t.up.pending == nil {
		return nil
	}
	if b := t.up.pending.Value()[t.up.got:t.up.charged]; len(b) > 0 {
		return b
	}
	return nil
}

// Sunk says that n bytes of the value have arrived.
func (t *Text) Sunk(w *Worker, n int) {
	u := t.up
	u.got += n
	if u.got == u.charged && u.got < u.size {
		u.charge(w)
	}
}

// finish stores the value that is complete now, and answers.
func (t *Text) finish(w *Worker, u *upload, out *bytesx.Out) {
	u.detail(w)
	switch {
	case u.failed:
		w.St.C.StoreNoMemory++
		if !u.quiet {
			reply(out, mctext.NoMemoryRead)
		}
	case string(u.end[:]) != "\r\n":
		if u.pending != nil {
			w.L.Discard(u.pending)
		}
		t.badChunk(&u.value, out)
	case u.pending != nil:
		t.stored(&u.value, w.Commit(&u.op, u.pending), out)
	default:
		t.stored(&u.value, w.putGathered(&u.op, u.data), out)
	}
}
