package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// textUpload is an upload, the command that it is for, and the line end behind the value.
type textUpload struct {
	*upload
	value
	end    [2]byte
	endGot int // bytes of end that have arrived
}

// begin starts an upload behind a line of n bytes.
func (t *Text) begin(w *Worker, v *value, n int, out *bytesx.Out) (used int) {
	u, code := w.receive(&v.op, v.size)
	if code != OK {
		return t.refuse(v, replies[code], n, out)
	}
	t.up = &textUpload{upload: u, value: *v}
	t.up.value.op.Key = u.op.Key
	return n
}

// upload takes what in has of the value and its line end, and answers when that is complete.
func (t *Text) upload(w *Worker, in []byte, out *bytesx.Out) (used int) {
	u := t.up
	used = u.take(w, in)
	if !u.full() {
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
	if t.up == nil {
		return nil
	}
	return t.up.sink()
}

// Sunk says that n bytes of the value have arrived.
func (t *Text) Sunk(w *Worker, n int) { t.up.sunk(w, n) }

// finish stores the value that is complete now, and answers.
func (t *Text) finish(w *Worker, u *textUpload, out *bytesx.Out) {
	u.detail(w)
	switch {
	case u.failed:
		w.St.C.StoreNoMemory++
		if !u.quiet {
			reply(out, mctext.NoMemoryRead)
		}
	case string(u.end[:]) != "\r\n":
		u.drop(w)
		t.badChunk(&u.value, out)
	default:
		t.stored(&u.value, u.store(w), out)
	}
}
