package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// binWaitFor is up to what length an incomplete value is left in the connection's read buffer, in bytes. Longer ones
// are taken as they come.
const binWaitFor = 16 << 10

// binUpload is an upload and how to answer it.
type binUpload struct {
	*upload
	info  *mcbin.Info
	reply mcbin.Reply
}

// begin starts an upload for the packet q, whose value is not all there.
func (b *Bin) begin(w *Worker, q *binRequest, op *StoreOp, out *bytesx.Out) binNext {
	u, code := w.receive(op, int(q.ValueLen()))
	if code != OK {
		return q.stored(out, Stored{Code: code})
	}
	b.up = &binUpload{u, q.info, q.reply}
	return binTaken
}

// upload takes what in has of the value, and answers when that is complete.
func (b *Bin) upload(w *Worker, in []byte, out *bytesx.Out) (used int) {
	u := b.up
	used = u.take(w, in)
	if !u.full() {
		return used
	}
	b.up = nil
	q := binRequest{info: u.info, reply: u.reply}
	if u.failed {
		w.St.C.StoreNoMemory++
		q.noMemory(out, mcbin.TextNoMemoryRead)
	} else {
		q.stored(out, u.store(w))
	}
	return used
}

// Sink is where the next bytes of a large value belong.
func (b *Bin) Sink() []byte {
	if b.up == nil {
		return nil
	}
	return b.up.sink()
}

// Sunk says that n bytes of the value have arrived.
func (b *Bin) Sunk(w *Worker, n int) { b.up.sunk(w, n) }
