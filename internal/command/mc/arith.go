package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

func cmdIncr(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return arith(w, r, false, out)
}

func cmdDecr(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return arith(w, r, true, out)
}

// arith is incr|decr <key> <delta> [noreply].
func arith(w *Worker, r *mctext.Request, decr bool, out *bytesx.Out) Verdict {
	key := r.Tok(1)
	if len(key) > mctext.MaxKey {
		reply(out, mctext.BadFormat)
		return More
	}
	delta, ok := mctext.U64(r.Tok(2))
	if !ok {
		reply(out, mctext.BadDelta)
		return More
	}
	op := &w.text.arith
	*op = ArithOp{Key: key, Decr: decr, Delta: delta}
	c := w.Arith(op)
	switch c.Code {
	case OK:
		out.Buf = bytesx.AppendUint(out.Buf, c.Value)
		reply(out, "\r\n")
	case NoMemory:
		reply(out, mctext.NoMemoryArith)
	default:
		reply(out, replies[c.Code])
	}
	return More
}
