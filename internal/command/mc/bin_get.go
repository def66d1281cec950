package mc

import (
	"encoding/binary"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
	"godwit/internal/store"
)

// binGet is GET and GETK.
func binGet(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	Room(out)
	e := w.Fetch(q.key)
	if e == nil {
		if w.Detail() {
			w.CountGet(q.key, false)
		}
		return q.miss(out)
	}
	return q.hit(w, out, e)
}

// binGAT is GAT and GATK.
func binGAT(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	Room(out)
	e, code := w.FetchTouch(q.key, w.binExpiry(q.extras))
	switch code {
	case OK:
		return q.hit(w, out, e)
	case NoMemory:
		return q.fail(out, mcbin.NoMemory)
	}
	if w.Detail() {
		w.CountGet(q.key, false)
	}
	return q.miss(out)
}

// binTouch answers with the flags of the item, unlike the protocol's description.
func binTouch(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	Room(out)
	e, code := w.FetchTouch(q.key, w.binExpiry(q.extras))
	switch code {
	case OK:
		out.Buf = q.reply.AppendHit(out.Buf, e.Flags(), nil, 0, w.CAS(e))
		e.Unlock()
		out.EndMessage()
		return binDone
	case NoMemory:
		return q.fail(out, mcbin.NoMemory)
	}
	return q.fail(out, mcbin.NotFound)
}

// binExpiry reads an exptime of four bytes. It has no negative values.
func (w *Worker) binExpiry(b []byte) int64 { return w.Expiry(int64(binary.BigEndian.Uint32(b))) }

// withKey says whether the answer repeats the key.
func (q *binRequest) withKey() bool { return q.info.Op == mcbin.GetK || q.info.Op == mcbin.GATK }

// hit answers with the item of e and unlocks it. out has room for all of it but a large value, which is lent.
func (q *binRequest) hit(w *Worker, out *bytesx.Out, e *store.Entry) binNext {
	var key []byte
	if q.withKey() {
		key = q.key
	}
	out.Buf = q.reply.AppendHit(out.Buf, e.Flags(), key, e.Len(), w.CAS(e))
	AppendValue(out, e)
	if w.Detail() {
		w.CountGet(q.key, true)
	}
	out.EndMessage()
	return binDone
}

// miss of a reading op: quiet ones keep silent, those that return the key have it instead of a text.
func (q *binRequest) miss(out *bytesx.Out) binNext {
	switch {
	case q.info.Quiet:
		return binDone
	case q.withKey():
		out.Buf = q.reply.AppendStart(out.Buf, mcbin.NotFound, 0, len(q.key), 0, 0)
		out.Buf = append(out.Buf, q.key...)
		out.EndMessage()
		return binDone
	}
	return q.fail(out, mcbin.NotFound)
}
