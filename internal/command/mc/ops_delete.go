package mc

import "godwit/internal/store"

// Deleted is the outcome of delete.
type Deleted struct{ Code Code }

// Delete removes an item, or makes it stale or empty.
func (w *Worker) Delete(op *DeleteOp) Deleted {
	hash := w.L.Hash(op.Key)
	var e *store.Entry
	if op.Stale || op.Empty {
		var err error
		if e, err = w.L.LockWrite(op.Key, hash); err != nil {
			return Deleted{NoMemory}
		}
	} else {
		e = w.L.Lock(op.Key, hash)
	}
	defer e.Unlock()
	if !e.Found() {
		w.gone(e)
		w.St.C.DeleteMisses++
		w.logDelete(op, e)
		return Deleted{NotFound}
	}
	if op.Check && op.CAS != w.CAS(e) {
		w.St.C.DeleteMisses++
		w.logDelete(op, e)
		return Deleted{Exists}
	}
	if !op.Stale { // memcached does not count what turns stale
		w.St.Class(e.Class()).DeleteHits++
	}
	w.logDelete(op, e)
	if !op.Stale && !op.Empty {
		e.Delete()
		return Deleted{OK}
	}
	if op.Empty {
		w.empty(op, e)
	}
	if op.Stale {
		if op.Touch {
			e.SetExpiry(op.Expiry)
		}
		e.SetCAS(op.NewCAS)
		e.Mark(store.Stale, store.WinSent)
	}
	return Deleted{OK}
}

// empty replaces the value by nothing and the client flags by op's; e is locked for writing.
func (w *Worker) empty(op *DeleteOp, e *store.Entry) {
	cas := op.NewCAS
	if cas == 0 {
		cas = e.CAS()
	}
	spec := store.Spec{Flags: op.Flags}
	if op.Touch {
		spec.Expiry = op.Expiry
	}
	e.Replace(spec, cas)
	e.Mark(0, store.Fetched) // nobody has read this one
}
