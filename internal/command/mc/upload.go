package mc

import "godwit/internal/store"

// chargeStep is how much of an upload is charged to the memory limit in advance, in bytes: a client that announces a
// gigabyte and sends nothing costs this much.
const chargeStep = 256 << 10

// upload is a storage command whose value arrives over several Feeds. The value goes straight into its item if that
// is a large one; otherwise it is gathered on the heap, since a small item must not stay open between two Feeds.
type upload struct {
	op      StoreOp
	key     [maxKey]byte   // op.Key, which must outlive the input it came in
	pending *store.Pending // nil: small, gathered in data; or failed
	data    []byte
	failed  bool // no memory: what is left is thrown away
	length  int  // of the value
	got     int  // bytes of it that have arrived
	charged int  // bytes of it that are paid for
}

// receive starts an upload of n bytes.
func (w *Worker) receive(op *StoreOp, n int) (*upload, Code) {
	p, code := w.Begin(op, n)
	if code != OK {
		return nil, code
	}
	u := &upload{op: *op, pending: p, length: n}
	u.op.Key = u.key[:copy(u.key[:], op.Key)]
	if !p.Large() {
		w.L.Discard(p)
		u.pending = nil
	}
	u.charge(w)
	return u, OK
}

// charge pays for the next bytes of a large value.
func (u *upload) charge(w *Worker) {
	u.charged = min(u.length, u.got+chargeStep)
	if u.pending == nil {
		return
	}
	if w.L.Grow(u.pending, u.charged) != nil {
		u.drop(w)
		u.failed = true
	}
}

// take has what in has of the value.
func (u *upload) take(w *Worker, in []byte) (used int) {
	for !u.full() && used < len(in) {
		n := min(u.charged-u.got, len(in)-used)
		chunk := in[used : used+n]
		switch {
		case u.pending != nil:
			copy(u.pending.Value()[u.got:], chunk)
		case !u.failed:
			u.data = append(u.data, chunk...)
		}
		used += n
		u.sunk(w, n)
	}
	return used
}

// sink is where the next bytes of a large value belong; nil if they go elsewhere.
func (u *upload) sink() []byte {
	if u.pending == nil || u.full() {
		return nil
	}
	return u.pending.Value()[u.got:u.charged]
}

// sunk says that n bytes of the value have arrived.
func (u *upload) sunk(w *Worker, n int) {
	u.got += n
	if u.got == u.charged && !u.full() {
		u.charge(w)
	}
}

// full says whether all bytes have arrived.
func (u *upload) full() bool { return u.got == u.length }

// store runs the command, whose value is complete.
func (u *upload) store(w *Worker) Stored {
	if p := u.pending; p != nil {
		u.pending = nil
		return w.Commit(&u.op, p)
	}
	return w.putGathered(&u.op, u.data)
}

// drop gives back the memory of a large value.
func (u *upload) drop(w *Worker) {
	if u.pending != nil {
		w.L.Discard(u.pending)
		u.pending = nil
	}
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
