package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/store"
)

// Arith is incr and decr: incr wraps at 64 bits, decr stops at 0. A result that fits the old length is written in it,
// padded with spaces on the right; a longer one makes the value longer.
func (w *Worker) Arith(op *ArithOp) (r Counted) {
	e, err := w.L.LockWrite(op.Key, w.L.Hash(op.Key))
	if err != nil {
		return Counted{Code: NoMemory}
	}
	defer e.Unlock()
	if !e.Found() {
		w.gone(e)
		if w.Watch.Load() != 0 {
			w.logLookup(e, op.Key)
		}
		if op.Vivify {
			return w.vivify(op, e)
		}
		if op.Decr {
			w.St.C.DecrMisses++
		} else {
			w.St.C.IncrMisses++
		}
		return Counted{Code: NotFound}
	}
	if w.Watch.Load() != 0 {
		w.logLookup(e, op.Key)
	}
	if e.Len() == 0 || e.Large() { // no number, whatever its CAS id
		return Counted{Code: NonNumeric}
	}
	if op.Check && op.CAS != w.CAS(e) {
		return Counted{Code: Exists}
	}
	v, ok := bytesx.LooseUint(e.Value())
	if !ok {
		return Counted{Code: NonNumeric}
	}
	class := w.St.Class(e.Class())
	if op.Decr {
		class.DecrHits++
		v -= min(v, op.Delta)
	} else {
		class.IncrHits++
		v += op.Delta
	}
	r = Counted{Value: v, OldExpiry: e.Expiry(), Expiry: e.Expiry()}
	if op.Touch {
		r.Expiry = op.Expiry
	}
	var text [20]byte
	digits := bytesx.AppendUint(text[:0], v)
	spec := store.Spec{Flags: e.Flags(), Expiry: r.Expiry, Len: len(digits)}
	if len(digits) <= e.Len() { // in memcached this is the same item still
		spec.Len, spec.Marks = e.Len(), e.Marks()
	}
	grown := len(digits) > e.Len()
	pad(e.Replace(spec, op.NewCAS), digits)
	if grown {
		e.Mark(0, store.Fetched) // nobody has read this one
	} else {
		e.Same()
	}
	r.CAS = w.CAS(e)
	return r
}

// vivify creates the missing item of op; e is locked.
func (w *Worker) vivify(op *ArithOp, e *store.Entry) Counted {
	var text [20]byte
	digits := bytesx.AppendUint(text[:0], op.Initial)
	spec := store.Spec{Expiry: op.VivifyExpiry, Len: len(digits)}
	pad(e.Replace(spec, op.NewCAS), digits)
	if w.Watch.Load() != 0 { // to memcached this is an add
		w.Log.Fetch(w, &FetchEvent{Key: op.Key})
		w.logStore(&StoreOp{Key: op.Key, Mode: Add}, OK, len(digits), spec.Expiry)
	}
	return Counted{
		Value: op.Initial, CAS: w.CAS(e), OldExpiry: spec.Expiry, Expiry: spec.Expiry,
		Created: true,
	}
}

// pad fills dst with text and spaces.
func pad(dst, text []byte) {
	for i := copy(dst, text); i < len(dst); i++ {
		dst[i] = ' '
	}
}
