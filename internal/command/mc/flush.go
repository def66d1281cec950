package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// FlushAll makes every item dead, now or at exptime (memcached's notion of time), less the second that memcached takes
// off.
func (w *Worker) FlushAll(exptime int64) {
	if at := w.Expiry(exptime) - 1000; at > w.L.Now() {
		w.Store.FlushAt(at)
		return
	}
	w.Store.Flush()
}

// cmdFlushAll is flush_all [delay] [noreply].
func cmdFlushAll(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	w.St.C.CmdFlush++
	if !w.Set.FlushEnabled {
		reply(out, mctext.NoFlush)
		return More
	}
	var delay int32
	if words := r.Len() - 1; words > 1 || words == 1 && !r.NoReply() {
		var ok bool
		if delay, ok = mctext.I32(r.Tok(1)); !ok {
			reply(out, mctext.BadExptime)
			return More
		}
	}
	w.FlushAll(int64(delay))
	reply(out, mctext.OK)
	return More
}
