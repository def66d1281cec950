package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// value is a storage command between its line and its answer: what has to be known when the last byte of the value has
// come.
type value struct {
	op    StoreOp
	size  int
	quiet bool // noreply
	meta  bool // ms: tail and hide belong to the answer
	hide  bool // ms: q
	tail  metaTail
}

func cmdSet(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Set, false, n, in, out)
}

func cmdAdd(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Add, false, n, in, out)
}

func cmdReplace(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Replace, false, n, in, out)
}

func cmdAppend(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Append, false, n, in, out)
}

func cmdPrepend(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Prepend, false, n, in, out)
}

func cmdCas(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) int {
	return t.storage(w, r, Set, true, n, in, out)
}

// quickSet is storage for a line that ParseSet understood.
func (t *Text) quickSet(w *Worker, s *mctext.Set, n int, in []byte, out *bytesx.Out) (used int) {
	v := &w.text.val
	v.op = StoreOp{Key: s.Key, Flags: s.Flags, Expiry: w.Expiry(int64(s.Exptime)), DropOld: true}
	v.size, v.quiet, v.meta = s.Size, s.NoReply, false
	return t.take(w, v, n, in, out)
}

// storage is <verb> <key> <flags> <exptime> <bytes> [<unique>] [noreply], and the value.
func (t *Text) storage(w *Worker, r *mctext.Request, m Mode, cas bool, n int, in []byte, out *bytesx.Out) (used int) {
	const keyAt, flagsAt, exptimeAt, sizeAt, casAt = 1, 2, 3, 4, 5
	size, ok := mctext.Size(r.Tok(sizeAt))
	if !ok {
		reply(out, mctext.BadFormat) // the value's length is unknown: it will be read as a command
		return n
	}
	v := &w.text.val
	v.op = StoreOp{Key: r.Tok(keyAt), Mode: m, DropOld: m == Set && !cas}
	v.size, v.quiet, v.meta = size, r.NoReply(), false
	flags, ok1 := mctext.Flags(r.Tok(flagsAt))
	exptime, ok2 := mctext.Exptime(r.Tok(exptimeAt))
	ok3 := true
	if cas {
		v.op.Check = true
		v.op.CAS, ok3 = mctext.U64(r.Tok(casAt))
	}
	if !ok1 || !ok2 || !ok3 || len(v.op.Key) > mctext.MaxKey {
		return t.refuse(v, mctext.BadFormat, n, out)
	}
	v.op.Flags, v.op.Expiry = flags, w.Expiry(int64(exptime))
	return t.take(w, v, n, in, out)
}

// refuse answers at once and has the value thrown away.
func (t *Text) refuse(v *value, text string, n int, out *bytesx.Out) (used int) {
	if !v.quiet {
		reply(out, text)
	}
	t.skip = v.size + len("\r\n")
	return n
}

// waitFor is up to what length an incomplete value is left in the connection's read buffer, in bytes. Longer ones are
// taken as they come.
const waitFor = 64 << 10

// take stores the value behind the first n bytes of in, if it is all there. If not it uses nothing and waits, or starts
// an upload.
func (t *Text) take(w *Worker, v *value, n int, in []byte, out *bytesx.Out) (used int) {
	if !w.Fits(len(v.op.Key), v.size, v.op.Flags) {
		w.Refuse(&v.op, TooLarge, v.size)
		return t.refuse(v, mctext.TooLarge, n, out)
	}
	end := n + v.size
	if len(in) < end+2 {
		if v.size <= waitFor {
			return 0
		}
		return t.begin(w, v, n, out)
	}
	if in[end] != '\r' || in[end+1] != '\n' {
		w.St.Class(w.Store.ClassOf(len(v.op.Key), v.size, v.op.Flags)).SetCmds++
		t.badChunk(v, out)
		return end + 2
	}
	v.detail(w)
	t.stored(v, w.Put(&v.op, in[n:end]), out)
	return end + 2
}

// detail counts the command in stats detail, which knows the classic ones only.
func (v *value) detail(w *Worker) {
	if w.Detail() && !v.meta {
		w.CountSet(v.op.Key)
	}
}

func (t *Text) badChunk(v *value, out *bytesx.Out) {
	if !v.quiet {
		reply(out, mctext.BadChunk)
	}
}

// stored appends the answer.
func (t *Text) stored(v *value, s Stored, out *bytesx.Out) {
	switch {
	case v.meta:
		v.answer(s, out)
	case !v.quiet:
		answer(out, s.Code, mctext.Stored)
	}
}
