package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// cmdMetaDelete is md <key> <flags>*.
func cmdMetaDelete(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	m, key, problem := w.metaStart(r, 2)
	if problem == "" && longOpaque(m, r) {
		problem = mctext.LongOpaque
	}
	if problem != "" {
		reply(out, problem)
		return More
	}
	op := &w.text.del
	*op = DeleteOp{
		Key: key, Check: m.Has('C'), CAS: m.CAS, Stale: m.Has('I'), Empty: m.Has('x'),
		Touch: m.Has('T'), Expiry: w.Expiry(int64(m.TTL)), Flags: m.Flags, NewCAS: m.NewCAS, Meta: true,
	}
	code := w.Delete(op).Code
	switch {
	case code == NoMemory:
		reply(out, mctext.NoMemory)
	case code != OK || !m.Has('q'):
		reply(out, metaCodes[code])
		out.Buf = appendEcho(out.Buf, r, m, key)
		reply(out, "\r\n")
	}
	return More
}
