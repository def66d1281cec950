package mc

import (
	"os"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// debugVerbs says whether debugtime and debugitem exist: memcached has them in its debug build, which its tests use.
var debugVerbs = os.Getenv("GODWIT_DEBUG") == "1"

// cmdDebugTime is debugtime p|r|<seconds>: pause the clock, let it run, move it.
func cmdDebugTime(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	arg := r.Tok(1)
	seconds, isNumber := mctext.I32(arg)
	switch {
	case !debugVerbs || len(arg) == 0:
		reply(out, mctext.Error)
		return More
	case string(arg) == "p":
		w.Clock.Pause()
	case string(arg) == "r":
		w.Clock.Continue()
	case isNumber:
		w.Clock.Shift(int64(seconds) * 1000)
	default:
		reply(out, mctext.Error)
		return More
	}
	w.L.Turn(w.Clock.Ms())
	reply(out, mctext.OK)
	return More
}

// cmdDebugItem is debugitem lock|unlock|ref|unref <key>. It says whether the item is there; nothing in this engine waits
// for an item that a client holds.
func cmdDebugItem(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	if !debugVerbs || r.Len() < 3 {
		reply(out, mctext.Error)
		return More
	}
	key := r.Tok(2)
	e := w.L.Lock(key, w.L.Hash(key))
	found := e.Found()
	e.Unlock()
	if found {
		reply(out, mctext.OK)
	} else {
		reply(out, "MISS\r\n")
	}
	return More
}
