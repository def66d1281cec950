package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// cmdMetaGet is mg <key> <flags>*.
func cmdMetaGet(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	m, key, problem := w.metaStart(r, 2)
	if problem == "" && longOpaque(m, r) {
		problem = mctext.LongOpaque
	}
	if problem != "" {
		reply(out, problem)
		return More
	}
	Room(out)
	e, created := w.metaFetch(m, key)
	if e == nil {
		if !m.Has('q') {
			reply(out, "EN")
			out.Buf = appendEcho(out.Buf, r, m, key)
			reply(out, "\r\n")
		}
		return More
	}
	withValue := m.Has('v') && (!m.Has('C') || m.CAS != w.CAS(e))
	if withValue {
		reply(out, "VA ")
		out.Buf = bytesx.AppendUint(out.Buf, uint64(e.Len()))
	} else {
		reply(out, "HD")
	}
	w.metaFlags(r, m, key, e, created, out)
	reply(out, "\r\n")
	if !m.Has('u') && e.Found() {
		e.Bump()
	}
	if !withValue {
		e.Unlock()
		return More
	}
	AppendValue(out, e)
	reply(out, "\r\n")
	return More
}

// metaFetch finds or creates the item of mg and counts. The entry is locked; nil is a miss.
func (w *Worker) metaFetch(m *mctext.Meta, key []byte) (e *store.Entry, created bool) {
	hash := w.L.Hash(key)
	if m.Has('N') || m.Has('T') {
		var err error
		if e, err = w.L.LockWrite(key, hash); err != nil {
			w.St.C.GetMisses++
			return nil, false
		}
	} else {
		e = w.L.Lock(key, hash)
	}
	switch {
	case !e.Found() && m.Has('N'):
		w.gone(e)
		if w.Watch.Load() != 0 {
			w.logMiss(e, key)
		}
		e.Replace(store.Spec{Expiry: w.Expiry(int64(m.Auto)), Marks: store.WinSent}, m.NewCAS)
		if m.Has('T') {
			w.St.C.CmdTouch++
			w.St.Class(e.Class()).TouchHits++
		} else {
			w.St.Class(e.Class()).GetHits++
		}
		return e, true
	case !e.Found():
		w.St.C.GetMisses++
		w.miss(e, key)
		return nil, false
	case m.Has('T'):
		w.St.C.CmdTouch++
		w.touched(e, key)
	default:
		w.St.Class(e.Class()).GetHits++
		if w.Watch.Load() != 0 {
			w.logHit(e, key)
		}
	}
	return e, false
}

// metaFlags appends the return flags and decides who may refresh the item. T takes effect where it stands, so that t
// shows the time left before or after it, and R compares with it.
func (w *Worker) metaFlags(r *mctext.Request, m *mctext.Meta, key []byte, e *store.Entry, created bool, out *bytesx.Out) {
	marks := e.Marks()
	won, sent := created, marks&store.WinSent != 0
	if marks&store.Stale != 0 && !sent {
		won = true
	}
	expiry := e.Expiry()
	if created {
		expiry = 0 // until N or T is reached
	}
	b := out.Buf
	for i := m.First; i < r.Len(); i++ {
		tok := r.Tok(i)
		switch tok[0] {
		case 'T':
			expiry = w.Expiry(int64(m.TTL))
			e.SetExpiry(expiry)
		case 'N':
			if created {
				expiry = w.Expiry(int64(m.Auto))
				e.SetExpiry(expiry)
			}
		case 'R':
			if x := expiry; x != 0 && !won && !sent && int64(w.TTL(x)) < int64(m.Rare) {
				won = true
			}
		case 's':
			b = mctext.AppendFlag(b, 's', uint64(e.Len()))
		case 't':
			b = w.appendTTL(b, expiry)
		case 'c':
			b = mctext.AppendFlag(b, 'c', w.CAS(e))
		case 'f':
			b = mctext.AppendFlag(b, 'f', uint64(e.Flags()))
		case 'l':
			b = mctext.AppendFlag(b, 'l', uint64(w.sinceAccess(e)))
		case 'h':
			b = mctext.AppendFlag(b, 'h', uint64(fetchedBit(marks)))
		case 'k':
			b = appendKey(b, key, binaryKey(e))
		default:
			b = echo(b, tok, m, key)
		}
	}
	if sent && !created {
		b = append(b, " Z"...)
	}
	if marks&store.Stale != 0 {
		b = append(b, " X"...)
	}
	if won {
		b = append(b, " W"...)
		e.Mark(store.WinSent, 0)
	}
	out.Buf = b
}

// sinceAccess is how long ago the item was last read or written, in seconds.
func (w *Worker) sinceAccess(e *store.Entry) int64 { return max(0, (w.L.Now()-e.Access())/1000) }

func fetchedBit(m store.Mark) int {
	if m&store.Fetched != 0 {
		return 1
	}
	return 0
}
