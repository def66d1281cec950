package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

func cmdGet(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	t.get(w, r.Line, len("get"), false, out)
	return More
}

func cmdGets(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	t.get(w, r.Line, len("gets"), true, out)
	return More
}

// get answers the keys of line behind from. The line is walked instead of cut into tokens: keys may be many.
func (t *Text) get(w *Worker, line []byte, from int, cas bool, out *bytesx.Out) {
	key, from := mctext.Next(line, from)
	if len(key) == 0 {
		reply(out, mctext.BadFormat)
		return
	}
	mark := out.Mark()
	for hits := 0; len(key) > 0; key, from = mctext.Next(line, from) {
		if len(key) > mctext.MaxKey {
			out.Truncate(mark)
			reply(out, mctext.BadFormatTwo)
			return
		}
		if !w.queue() {
			out.Truncate(mark)
			reply(out, mctext.NoMemoryGet)
			w.text.queued = 0 // what was queued is dropped
			return
		}
		Room(out)
		e := w.Fetch(key)
		if e == nil {
			if w.Detail() {
				w.CountGet(key, false)
			}
			continue
		}
		if hits++; hits > 1 {
			out.EndMessage()
		}
		if cas {
			out.Buf = mctext.AppendValueHeadCAS(out.Buf, key, e.Flags(), e.Len(), w.CAS(e))
		} else {
			out.Buf = mctext.AppendValueHead(out.Buf, key, e.Flags(), e.Len())
		}
		AppendValue(out, e)
		reply(out, "\r\n")
		if w.Detail() {
			w.CountGet(key, true)
		}
	}
	reply(out, mctext.End)
}

func cmdGat(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.gat(w, r, false, out)
}

func cmdGats(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return t.gat(w, r, true, out)
}

// gat is get that also sets the expiry of what it finds.
func (t *Text) gat(w *Worker, r *mctext.Request, cas bool, out *bytesx.Out) Verdict {
	exptime, ok := mctext.I32(r.Tok(1))
	if !ok {
		reply(out, mctext.BadExptime)
		return More
	}
	expiry := w.Expiry(int64(exptime))
	mark := out.Mark()
	rest := r.Rest(1)
	key, from := mctext.Next(rest, 0)
	for hits := 0; len(key) > 0; key, from = mctext.Next(rest, from) {
		if len(key) > mctext.MaxKey {
			out.Truncate(mark)
			reply(out, mctext.BadFormatTwo)
			return More
		}
		if !w.queue() {
			out.Truncate(mark)
			reply(out, mctext.NoMemoryGet)
			w.text.queued = 0
			return More
		}
		Room(out)
		e, code := w.FetchTouch(key, expiry)
		if code == NoMemory {
			out.Truncate(mark)
			reply(out, mctext.NoMemoryGet)
			return More
		}
		if code != OK {
			if w.Detail() {
				w.CountGet(key, false)
			}
			continue
		}
		if hits++; hits > 1 {
			out.EndMessage()
		}
		if cas {
			out.Buf = mctext.AppendValueHeadCAS(out.Buf, key, e.Flags(), e.Len(), w.CAS(e))
		} else {
			out.Buf = mctext.AppendValueHead(out.Buf, key, e.Flags(), e.Len())
		}
		AppendValue(out, e)
		reply(out, "\r\n")
		if w.Detail() {
			w.CountGet(key, true)
		}
	}
	reply(out, mctext.End)
	return More
}
