package mc

import (
	"bytes"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// retrieval is what get, gets, gat and gats are about, apart from their keys.
type retrieval struct {
	cas    bool // gets, gats
	touch  bool // gat, gats
	expiry int64
	rest   []byte // keys that are left when a first part of the answer was sent, else nil
}

func cmdGet(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.keys(w, retrieval{}, r.Line, len("get"), out)
}

func cmdGets(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.keys(w, retrieval{cas: true}, r.Line, len("gets"), out)
}

func cmdGat(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.gat(w, r, false, out)
}

func cmdGats(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.gat(w, r, true, out)
}

func (t *Text) gat(w *Worker, r *mctext.Request, cas bool, out *bytesx.Out) Verdict {
	exptime, ok := mctext.I32(r.Tok(1))
	if !ok {
		reply(out, mctext.BadExptime)
		return More
	}
	from := len(r.Line) - len(r.Rest(1))
	return t.keys(w, retrieval{cas: cas, touch: true, expiry: w.Expiry(int64(exptime))}, r.Line, from, out)
}

// partSize is how much of the answer to one retrieval is collected, in bytes, before it is sent and the rest is looked up.
// A line may name a key any number of times; the memory that its answer takes is bounded all the same.
const partSize = 1 << 20

// keys answers the keys of line behind from. The line is walked instead of cut into tokens: keys may be many.
func (t *Text) keys(w *Worker, rv retrieval, line []byte, from int, out *bytesx.Out) Verdict {
	if key, _ := mctext.Next(line, from); len(key) == 0 {
		reply(out, mctext.BadFormat)
		return More
	}
	if left := rv.some(w, line[from:], out); left > 0 {
		more := rv // rv itself stays off the heap
		more.rest = bytes.Clone(line[len(line)-left:])
		t.long = &more
		return Stream
	}
	return More
}

// next answers the next part of the keys that were left.
func (rv *retrieval) next(w *Worker, _ []byte, out *bytesx.Out) (used int, v Verdict, done bool) {
	left := rv.some(w, rv.rest, out)
	rv.rest = rv.rest[len(rv.rest)-left:]
	if left > 0 {
		return 0, Stream, false
	}
	return 0, More, true
}

func (rv *retrieval) drop(*Worker) {}

// some answers keys until there are none or the answer gets long. left is how many bytes of line are still to do.
func (rv *retrieval) some(w *Worker, line []byte, out *bytesx.Out) (left int) {
	mark, begin := out.Mark(), out.Len()
	key, from := mctext.Next(line, 0)
	for hits := 0; len(key) > 0; key, from = mctext.Next(line, from) {
		if len(key) > mctext.MaxKey {
			out.Truncate(mark)
			reply(out, mctext.BadFormatTwo)
			return 0
		}
		if !w.queue() {
			outOfMemory(w, mark, out)
			return 0
		}
		Room(out)
		e, code := w.retrieve(key, rv)
		if code == NoMemory {
			outOfMemory(w, mark, out)
			return 0
		}
		if w.Detail() {
			w.CountGet(key, code == OK)
		}
		if code != OK {
			continue
		}
		if hits++; hits > 1 {
			out.EndMessage()
		}
		if rv.cas {
			out.Buf = mctext.AppendValueHeadCAS(out.Buf, key, e.Flags(), e.Len(), w.CAS(e))
		} else {
			out.Buf = mctext.AppendValueHead(out.Buf, key, e.Flags(), e.Len())
		}
		AppendValue(out, e)
		reply(out, "\r\n")
		if hits%16 == 0 && out.Len()-begin > partSize && !out.Framed && (rv.rest != nil || keysFit(line[from:])) {
			return len(line) - from
		}
	}
	reply(out, mctext.End)
	return 0
}

// keysFit says whether all keys of a line are short enough: once a part of the answer is sent, there is no taking it back.
func keysFit(line []byte) bool {
	for key, from := mctext.Next(line, 0); len(key) > 0; key, from = mctext.Next(line, from) {
		if len(key) > mctext.MaxKey {
			return false
		}
	}
	return true
}

// retrieve finds the item of a key and keeps its stripe, unless the answer is not OK.
func (w *Worker) retrieve(key []byte, rv *retrieval) (e *store.Entry, code Code) {
	if rv.touch {
		return w.FetchTouch(key, rv.expiry)
	}
	if e = w.Fetch(key); e == nil {
		return nil, NotFound
	}
	return e, OK
}

// outOfMemory answers a retrieval for which there is no memory, in place of what it had collected.
func outOfMemory(w *Worker, mark bytesx.Mark, out *bytesx.Out) {
	out.Truncate(mark)
	reply(out, mctext.NoMemoryGet)
	w.text.queued = 0
}
