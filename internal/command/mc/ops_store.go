package mc

import (
	"errors"

	"godwit/internal/store"
)

// Put stores a value that is complete.
func (w *Worker) Put(op *StoreOp, value []byte) Stored {
	if op.merges() {
		if code := w.accept(op, len(value)); code != OK {
			return Stored{Code: code}
		}
		return w.merge(op, value)
	}
	p, code := w.Begin(op, len(value))
	if code != OK {
		return Stored{Code: code}
	}
	if w.L.Grow(p, len(value)) != nil {
		w.L.Discard(p)
		w.Refuse(op, NoMemory, len(value))
		return Stored{Code: NoMemory}
	}
	copy(p.Value(), value)
	return w.Commit(op, p)
}

// Begin makes room for a value of n bytes that is about to arrive. The caller fills p.Value and ends with Commit or
// w.L.Discard. It is meant for values too large to wait for in the read buffer: if p is not Large, then it must be
// committed or discarded before any other operation, and an op that merges must be discarded and go to Put.
func (w *Worker) Begin(op *StoreOp, n int) (p *store.Pending, code Code) {
	if code = w.accept(op, n); code != OK {
		return nil, code
	}
	p, err := w.L.Build(op.Key, store.Spec{Flags: op.Flags, Expiry: op.Expiry, Len: n, Marks: op.marks()})
	if err != nil {
		code = codeOf(err)
		w.Refuse(op, code, n)
		return nil, code
	}
	return p, OK
}

// accept applies the -I rule and counts the command.
func (w *Worker) accept(op *StoreOp, n int) Code {
	if !w.Fits(len(op.Key), n, op.Flags) {
		w.Refuse(op, TooLarge, n)
		return TooLarge
	}
	w.St.Class(w.Store.ClassOf(len(op.Key), n, op.Flags)).SetCmds++
	return OK
}

// merges says whether the new item takes over parts of the old one, which must be known before it is built.
func (op *StoreOp) merges() bool { return op.Mode >= Append || op.Invalidate }

func (op *StoreOp) marks() store.Mark {
	if op.BinaryKey {
		return store.BinaryKey
	}
	return 0
}

func codeOf(err error) Code {
	if errors.Is(err, store.ErrTooLarge) {
		return TooLarge
	}
	return NoMemory
}

// Refuse counts a command whose value of n bytes found no room, and removes the old item if op says so.
func (w *Worker) Refuse(op *StoreOp, code Code, n int) {
	if code == TooLarge {
		w.St.C.StoreTooLarge++
	} else {
		w.St.C.StoreNoMemory++
	}
	w.logStore(op, code, n, op.Expiry)
	if !op.DropOld {
		return
	}
	e := w.L.Lock(op.Key, w.L.Hash(op.Key))
	if w.Watch.Load() != 0 {
		w.logLookup(e, op.Key)
	}
	if e.Found() {
		e.Delete()
	}
	e.Unlock()
}

// Commit puts the filled p in place. p is gone afterwards.
func (w *Worker) Commit(op *StoreOp, p *store.Pending) Stored {
	if op.merges() {
		s := w.merge(op, p.Value())
		w.L.Discard(p)
		return s
	}
	n := len(p.Value())
	e := w.L.LockLink(p, w.L.Hash(op.Key))
	s := Stored{Code: w.judge(op, e), Len: n}
	w.settle(op, e, s.Code, n)
	if s.Code == OK {
		s.CAS = w.shown(e.Link(p, op.NewCAS))
		e.Unlock()
		return s
	}
	e.Unlock()
	w.L.Discard(p)
	return s
}

// shown is a CAS id as clients see it.
func (w *Worker) shown(cas uint64) uint64 {
	if !w.Set.CAS {
		return 0
	}
	return cas
}

// judge decides whether op may replace what e found.
func (w *Worker) judge(op *StoreOp, e *store.Entry) Code {
	if !e.Found() {
		switch {
		case op.Mode == Add:
			return OK
		case op.Check && op.Mode < Append:
			return NotFound
		case op.Mode == Set:
			return OK
		}
		return NotStored
	}
	switch {
	case op.Mode == Add:
		return NotStored
	case op.Mode >= Append && (op.CAS == 0 || !w.Set.CAS): // no id to compare, or none to compare with
		return OK
	case !op.Check || w.matches(op.CAS, e) || w.overtaken(op, e):
		return OK
	}
	return Exists
}

// matches compares a client's CAS id with the item's. With -C no item has one, so nothing matches.
func (w *Worker) matches(cas uint64, e *store.Entry) bool { return w.Set.CAS && cas == e.CAS() }

// overtaken says whether op comes with an id that was overtaken and is to be stored as a stale item.
func (w *Worker) overtaken(op *StoreOp, e *store.Entry) bool {
	return op.Invalidate && op.Check && op.CAS != 0 && w.Set.CAS && op.CAS < e.CAS()
}

// settle counts and logs the decision about op, under the lock.
func (w *Worker) settle(op *StoreOp, e *store.Entry, code Code, vlen int) {
	switch {
	case !e.Found():
		if code == NotFound {
			w.St.C.CasMisses++
		}
	case op.Mode == Add:
		touchLRU(e)
	case !op.Check || op.Mode >= Append: // append and prepend compare ids, but memcached does not count it
	case code == OK:
		w.St.Class(e.Class()).CasHits++
	default:
		w.St.Class(e.Class()).CasBadval++
	}
	if w.Watch.Load() != 0 {
		w.logLookup(e, op.Key)
		expiry := op.Expiry
		if op.Mode >= Append && e.Found() {
			expiry = e.Expiry()
		}
		w.logStore(op, code, vlen, expiry)
	}
}

// touchLRU counts as an access without making the item look fetched: add on a living item.
func touchLRU(e *store.Entry) {
	m := e.Marks()
	e.Bump()
	e.Mark(0, store.Fetched&^m)
}

// merge stores value joined to the old item's, or with the old item's expiry. The new item is built between two locks,
// because nothing large may be copied under one: if the old item changed meanwhile it starts again.
func (w *Worker) merge(op *StoreOp, value []byte) Stored {
	hash := w.L.Hash(op.Key)
	for {
		e := w.L.Lock(op.Key, hash)
		code := w.judge(op, e)
		create := code == NotStored && !e.Found() && op.Vivify
		if code != OK && !create {
			w.settle(op, e, code, len(value))
			e.Unlock()
			return Stored{Code: code}
		}
		o := w.take(op, e)
		e.Unlock()
		s, done := w.rebuild(op, hash, &o, value)
		if o.pin != nil {
			o.pin.Release()
		}
		if done {
			return s
		}
	}
}

// old is what a merge keeps of the item it replaces.
type old struct {
	ref    uint64
	expiry int64
	spec   store.Spec // of the new item, less the length of what is added
	value  []byte     // to be joined with the new bytes
	pin    *store.Pin // keeps value alive if it was not copied
}

// take reads the old item under its lock.
func (w *Worker) take(op *StoreOp, e *store.Entry) (o old) {
	if !e.Found() {
		o.spec = store.Spec{Flags: op.Flags, Expiry: op.VivifyExpiry, Marks: op.marks()}
		if op.Mode < Append {
			o.spec.Expiry = op.Expiry
		}
		return o
	}
	o.ref, o.expiry = e.Ref(), e.Expiry()
	if op.Mode < Append {
		o.spec = store.Spec{Flags: op.Flags, Expiry: op.Expiry, Marks: op.marks()}
		if w.overtaken(op, e) {
			o.spec.Expiry = o.expiry
			o.spec.Marks |= store.Stale | e.Marks()&store.WinSent
		}
		return o
	}
	o.spec = store.Spec{Flags: e.Flags(), Expiry: o.expiry, Len: e.Len()}
	if e.Len() <= smallValue {
		w.scratch = append(w.scratch[:0], e.Value()...)
		o.value = w.scratch
	} else {
		o.pin = e.Pin()
		o.value = o.pin.Data
	}
	return o
}

// rebuild makes the new item out of o and value and links it, if the old one is still the same: else done is false.
func (w *Worker) rebuild(op *StoreOp, hash uint64, o *old, value []byte) (s Stored, done bool) {
	spec := o.spec
	spec.Len += len(value)
	if !w.Fits(len(op.Key), spec.Len, spec.Flags) {
		return Stored{Code: NotStored}, true
	}
	p, err := w.L.Build(op.Key, spec)
	if err != nil {
		return Stored{Code: NotStored}, true
	}
	if w.L.Grow(p, spec.Len) != nil {
		w.L.Discard(p)
		return Stored{Code: NotStored}, true
	}
	if op.Mode == Prepend {
		n := copy(p.Value(), value)
		copy(p.Value()[n:], o.value)
	} else {
		n := copy(p.Value(), o.value)
		copy(p.Value()[n:], value)
	}
	e := w.L.LockLink(p, hash)
	if e.Ref() != o.ref || e.Found() && e.Expiry() != o.expiry {
		e.Unlock()
		w.L.Discard(p)
		return s, false
	}
	w.settle(op, e, OK, spec.Len)
	s = Stored{Code: OK, Len: spec.Len, CAS: w.shown(e.Link(p, op.NewCAS))}
	e.Unlock()
	return s, true
}
