package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// cmdMetaDebug is me <key>. The key is decoded only if the flag b stands right behind it and something else follows:
// a slip of memcached's parser that is part of the protocol now.
func cmdMetaDebug(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	key := r.Tok(1)
	ok := len(key) <= mctext.MaxKey
	if ok && r.Len() > 3 && string(r.Tok(2)) == "b" {
		key, ok = bytesx.DecodeBase64(w.text.keyBuf[:0], key)
	}
	if !ok {
		reply(out, mctext.BadFormat)
		return More
	}
	w.St.C.CmdMeta++
	Room(out)
	e := w.L.Lock(key, w.L.Hash(key))
	if w.Watch.Load() != 0 {
		w.logLookup(e, key)
	}
	if !e.Found() {
		w.gone(e)
		e.Unlock()
		reply(out, mctext.MetaMiss)
		return More
	}
	out.Buf = w.appendDebug(out.Buf, key, e)
	e.Unlock()
	return More
}

func (w *Worker) appendDebug(b, key []byte, e *store.Entry) []byte {
	b = append(b, "ME "...)
	if binaryKey(e) {
		b = bytesx.AppendBase64(b, key)
	} else {
		b = append(b, key...)
	}
	b = append(b, " exp="...)
	if x := e.Expiry(); x == 0 {
		b = append(b, "-1"...)
	} else {
		b = bytesx.AppendUint(b, uint64(w.TTL(x)))
	}
	b = append(b, " la="...)
	b = bytesx.AppendInt(b, w.sinceAccess(e))
	b = append(b, " cas="...)
	b = bytesx.AppendUint(b, w.CAS(e))
	b = append(b, " fetch="...)
	if e.Marks()&store.Fetched != 0 {
		b = append(b, "yes"...)
	} else {
		b = append(b, "no"...)
	}
	b = append(b, " cls="...)
	b = bytesx.AppendUint(b, uint64(e.Class()))
	b = append(b, " size="...)
	b = bytesx.AppendUint(b, uint64(w.ItemSize(len(key), e.Len(), e.Flags())))
	return append(b, '\r', '\n')
}
