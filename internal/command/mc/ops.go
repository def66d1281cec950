package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/store"
)

// This file has the types that all three protocols use to ask for something, and the small operations. The values are
// typed; no protocol text here. Each operation counts itself in Worker.St and shows itself to Env.Log.

// Code is the outcome of an operation.
type Code uint8

const (
	OK         Code = iota // stored, deleted, touched, counted
	NotStored              // add found an item; replace, append or prepend found none
	Exists                 // the CAS id differs
	NotFound               //
	TooLarge               // over -I, or over what the store takes
	NoMemory               // nothing could be freed
	NonNumeric             // arith: the value is no number
)

// Mode of a storage command.
type Mode uint8

const (
	Set Mode = iota
	Add
	Replace
	Append
	Prepend
)

// StoreOp is a storage command without its value.
type StoreOp struct {
	Key    []byte
	Mode   Mode
	Flags  uint32
	Expiry int64 // timeline ms; 0: never (see Worker.Expiry)
	// BinaryKey marks the key as not printable: it came base64-coded.
	BinaryKey bool
	// Check compares CAS with the item's id: Exists if different. A missing item is NotFound with Set and Replace.
	Check bool
	CAS   uint64
	// NewCAS is the id to give if not 0.
	NewCAS uint64
	// Invalidate stores even if CAS is lower than the item's id, but as a stale item with the old expiry.
	Invalidate bool
	// Vivify creates an item with VivifyExpiry if append or prepend find none.
	Vivify       bool
	VivifyExpiry int64
	// DropOld removes the item under the key when the new one is too large or finds no memory: what it was meant to
	// replace must not live on.
	DropOld bool
}

// Stored is the outcome of a storage command.
type Stored struct {
	Code Code
	CAS  uint64 // id of the stored item; 0 without CAS
	Len  int    // bytes of its value
}

// ArithOp is incr or decr.
type ArithOp struct {
	Key   []byte
	Decr  bool
	Delta uint64
	// Check compares CAS with the item's id: Exists if different.
	Check bool
	CAS   uint64
	// NewCAS is the id to give if not 0.
	NewCAS uint64
	// Touch sets Expiry on an existing item.
	Touch  bool
	Expiry int64
	// Vivify creates a missing item with Initial (the delta is not applied).
	Vivify       bool
	Initial      uint64
	VivifyExpiry int64
}

// Counted is the outcome of arith.
type Counted struct {
	Code      Code
	Value     uint64
	CAS       uint64
	OldExpiry int64 // timeline ms, before Touch
	Expiry    int64 // timeline ms, now
	Created   bool
}

// DeleteOp is delete, or one of meta's milder forms.
type DeleteOp struct {
	Key   []byte
	Check bool // compares CAS with the item's id: Exists if different
	CAS   uint64
	// Stale keeps the item, marked stale, under a new id (NewCAS or the next); with Touch it gets Expiry.
	Stale  bool
	Touch  bool
	Expiry int64
	// Empty keeps the item with an empty value, Flags, and Expiry (0 without Touch); its id stays unless NewCAS.
	Empty  bool
	Flags  uint32
	NewCAS uint64
	Meta   bool // for the log: md, not delete
}

// smallValue is up to where values are copied into the reply under the lock; larger ones are lent to it.
const smallValue = 8 << 10

// maxKey is memcached's limit, in bytes.
const maxKey = 250

// monthSeconds: up to here a time is relative to now, above it is unix time.
const monthSeconds = 60 * 60 * 24 * 30

// expired is a moment long past on every timeline, for items that are born dead.
const expired = 1

// Expiry turns memcached's exptime into a moment of the timeline, in ms (0: never).
func (w *Worker) Expiry(t int64) int64 {
	switch {
	case t == 0:
		return 0
	case t < 0:
		return expired
	case t <= monthSeconds:
		return w.L.Now() + t*1000
	}
	return max(expired, w.Clock.FromUnix(t))
}

// TTL is what is left until expiry (not 0) in whole seconds, rounded up. For items that are dead already memcached prints
// the difference of two unsigned numbers, where its clock stands at 62 when the process starts: so do we.
func (w *Worker) TTL(expiry int64) uint32 {
	now := w.L.Now()
	if expiry == expired {
		return uint32(1 - (62 + (now-w.Clock.Started())/1000))
	}
	return uint32((expiry - now + 999) / 1000)
}

// Fits is memcached's -I rule for an item.
func (w *Worker) Fits(klen, vlen int, flags uint32) bool {
	return int64(w.ItemSize(klen, vlen, flags)) <= w.Set.ItemSizeMax
}

// ItemSize is the size of an item by memcached's measure: header, key and its end, value and its end, CAS id, flags.
func (w *Worker) ItemSize(klen, vlen int, flags uint32) int {
	n := 48 + klen + 1 + vlen + 2
	if w.Set.CAS {
		n += 8
	}
	if flags != 0 {
		n += 4
	}
	return n
}

// CAS is the id that clients see: 0 with -C.
func (w *Worker) CAS(e *store.Entry) uint64 {
	if !w.Set.CAS {
		return 0
	}
	return e.CAS()
}

// gone counts an item that the lookup found dead.
func (w *Worker) gone(e *store.Entry) {
	switch e.Gone() {
	case store.Expired:
		w.St.C.GetExpired++
	case store.Flushed:
		w.St.C.GetFlushed++
	}
}

// Fetch finds the item under key in order to read it, counts the hit or miss, and bumps the item. The entry is locked:
// the caller copies what it wants and unlocks (AppendValue does both). nil is a miss.
func (w *Worker) Fetch(key []byte) *store.Entry {
	e := w.L.Lock(key, w.L.Hash(key))
	if !e.Found() {
		w.St.C.GetMisses++
		w.miss(e, key)
		return nil
	}
	w.St.Class(e.Class()).GetHits++
	if w.Watch.Load() != 0 {
		w.logHit(e, key)
	}
	e.Bump()
	return e
}

// FetchTouch is Fetch that also sets the expiry, counted as touch. nil with NotFound or NoMemory.
func (w *Worker) FetchTouch(key []byte, expiry int64) (*store.Entry, Code) {
	w.St.C.CmdTouch++
	e, err := w.L.LockWrite(key, w.L.Hash(key))
	if err != nil {
		return nil, NoMemory
	}
	if !e.Found() {
		w.St.C.TouchMisses++
		w.miss(e, key)
		return nil, NotFound
	}
	w.touched(e, key)
	e.SetExpiry(expiry)
	e.Bump()
	return e, OK
}

// Touch sets the expiry of an item.
func (w *Worker) Touch(key []byte, expiry int64) Code {
	w.St.C.CmdTouch++
	e, err := w.L.LockWrite(key, w.L.Hash(key))
	if err != nil {
		return NoMemory
	}
	if !e.Found() {
		w.St.C.TouchMisses++
		w.miss(e, key)
		return NotFound
	}
	w.touched(e, key)
	e.SetExpiry(expiry)
	e.Bump()
	e.Unlock()
	return OK
}

// touched counts a touch of a found item.
func (w *Worker) touched(e *store.Entry, key []byte) {
	w.St.Class(e.Class()).TouchHits++
	if w.Watch.Load() != 0 {
		w.logHit(e, key)
	}
}

// miss ends a lookup that found nothing.
func (w *Worker) miss(e *store.Entry, key []byte) {
	w.gone(e)
	if w.Watch.Load() != 0 {
		w.logMiss(e, key)
	}
	e.Unlock()
}

// Room makes sure that a header and a small value can be appended to out without an allocation, which must not happen
// under a lock.
func Room(out *bytesx.Out) {
	if cap(out.Buf)-len(out.Buf) < smallValue+1024 {
		out.Buf = append(make([]byte, 0, 2*cap(out.Buf)+2*smallValue), out.Buf...)
	}
}

// AppendValue puts the value of e into the answer, copied or lent, and unlocks e.
func AppendValue(out *bytesx.Out, e *store.Entry) {
	if e.Len() <= smallValue {
		out.Buf = append(out.Buf, e.Value()...)
		e.Unlock()
		return
	}
	p := e.Pin()
	e.Unlock()
	out.Lend(p.Data, p)
}
