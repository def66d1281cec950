package mc

import "godwit/internal/store"

// Deleted is the outcome of delete. The rest is set only where the item was found.
type Deleted struct {
	Code      Code
	BinaryKey bool
}

// Delete removes an item, or makes it stale or empty.
func (w *Worker) Delete(op *DeleteOp) Deleted {
	hash := w.L.Hash(op.Key)
	var e *store.Entry
	if op.Stale || op.Empty {
		var err error
		if e, err = w.L.LockWrite(op.Key, hash); err != nil {
			return Deleted{Code: NoMemory}
		}
	} else {
		e = w.L.Lock(op.Key, hash)
	}
	defer e.Unlock()
	if !e.Found() {
		w.gone(e)
		w.St.C.DeleteMisses++
		w.logDelete(op, e)
		return Deleted{Code: NotFound}
	}
	d := Deleted{BinaryKey: e.Marks()&store.BinaryKey != 0}
	if op.Check && !w.matches(op.CAS, e) {
		w.St.C.DeleteMisses++
		d.Code = Exists
		return d
	}
	w.St.Class(w.classOf(e, len(op.Key))).DeleteHits++
	if !op.Stale && !op.Empty {
		w.logDelete(op, e)
		e.Delete()
		return d
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
	return d
}

// empty replaces the value by nothing and the client flags by op's; e is locked for writing.
func (w *Worker) empty(op *DeleteOp, e *store.Entry) {
	cas := op.NewCAS
	if cas == 0 {
		cas = e.CAS()
	}
	spec := store.Spec{Flags: op.Flags, Marks: e.Marks() &^ store.Evictable}
	if op.Touch {
		spec.Expiry = op.Expiry
	}
	e.Replace(spec, cas)
}
