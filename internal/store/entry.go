package store

import (
	"sync"

	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// Gone says why Lock found nothing although something was there.
type Gone uint8

const (
	NotGone Gone = iota
	Expired
	Flushed
)

// Entry is a locked stripe with, if Found, the item under the key. It lives in the Local: valid until Unlock.
type Entry struct {
	l       *Local
	st      *stripe
	slot    *index.Slot // nil: not found
	item    log.Item
	hash    uint64
	key     []byte
	gone    Gone
	pending *Pending
	drop    [2]mem.Handle // regions to release once the lock is gone: a system call has no place under it
}

func (e *Entry) lock(key []byte, hash uint64) {
	s := e.l.s
	st := s.stripe(hash)
	st.mu.Lock()
	e.st, e.slot, e.hash, e.key, e.gone = st, nil, hash, key, NotGone
	tag := index.Tag(hash)
	for slot := st.table.Find(s.pool, tag); slot != nil; slot = st.table.After(s.pool, tag, slot) {
		it := s.log.At(slot.Ref())
		if !it.Match(key) {
			continue
		}
		e.slot, e.item = slot, it
		if g := s.deadAs(it, slot.Ref(), e.l.now); g != NotGone {
			e.gone = g
			e.l.lazily(it)
			s.emit(Reclaimed, it)
			e.unlink()
		}
		return
	}
}

// deadAs says whether an item that is still linked is dead. Its stripe is held.
func (s *Store) deadAs(it log.Item, ref uint64, now int64) Gone {
	if s.stale.Load() && s.log.Gen(ref) < s.gen.Load() {
		return Flushed
	}
	if it.Has(log.HasExpiry) {
		if at := it.Expiry(); at != 0 && at <= now {
			return Expired
		}
	}
	return NotGone
}

// unlink removes the item from the index and counts it as garbage.
func (e *Entry) unlink() {
	s := e.l.s
	ref := e.slot.Ref()
	e.st.table.Remove(s.pool, index.Tag(e.hash), e.slot)
	e.forget(ref)
	e.slot = nil
}

// forget does the accounts of an item that no slot refers to any more.
func (e *Entry) forget(ref uint64) {
	e.l.unlinked(e.item)
	e.drain(ref)
}

// drain counts the item's bytes as garbage and has its region released.
func (e *Entry) drain(ref uint64) {
	if e.item.Has(log.InRegion) {
		e.l.s.log.Weigh(ref, -e.item.Len())
		i := 0
		if e.drop[0] != 0 {
			i = 1
		}
		e.drop[i] = mem.Handle(e.item.Handle())
	}
	e.l.s.log.Kill(ref, e.item.Size())
}

func (e *Entry) unlock() { e.st.mu.Unlock() }

// Unlock ends what Lock began. A small Pending that was not linked is discarded.
func (e *Entry) Unlock() {
	e.st.mu.Unlock()
	l := e.l
	if p := e.pending; p != nil {
		e.pending = nil
		if !p.done {
			if p.region == 0 {
				l.Discard(p)
			} else if p.item.Valid() {
				l.lane.w[p.queue].Undo(p.ref)
				p.item = log.Item{}
			}
		}
	}
	if l.held {
		l.leave()
	}
	if e.drop[0] != 0 {
		e.release()
	}
}

// release frees the regions that were dropped under the lock.
func (e *Entry) release() {
	for i, h := range e.drop {
		if h != 0 {
			e.drop[i] = 0
			e.l.releaseRegion(h)
		}
	}
}

// Found says whether there is a live item.
func (e *Entry) Found() bool { return e.slot != nil }

// Gone says why there is none although there was.
func (e *Entry) Gone() Gone { return e.gone }

// The item's facts; only when Found.

func (e *Entry) Flags() uint32 { return e.item.Flags() }
func (e *Entry) CAS() uint64   { return e.item.CAS() }
func (e *Entry) Len() int      { return e.item.Len() }
func (e *Entry) Expiry() int64 { return e.item.Expiry() } // timeline ms, 0: never
func (e *Entry) Marks() Mark   { return e.item.Bits() }
func (e *Entry) Large() bool   { return e.item.Has(log.InRegion) }

// Access is the last access before this one, timeline ms in whole seconds.
func (e *Entry) Access() int64 { return accessMs(e.item, e.l.now) }

func accessMs(it log.Item, now int64) int64 {
	sec := now / 1000
	return (sec - int64(uint32(sec)-it.Access())&(1<<24-1)) * 1000
}

// Value is readable until Unlock. Copy out only a small one under the lock; Pin a large one.
func (e *Entry) Value() []byte {
	if e.item.Has(log.InRegion) {
		return e.l.s.regions.Bytes(mem.Handle(e.item.Handle()), e.item.Len())
	}
	return e.item.Value()
}

// Ref identifies this very version of the item (0: none), to see under a second Lock whether it is still there.
func (e *Entry) Ref() uint64 {
	if e.slot == nil {
		return 0
	}
	return e.slot.Ref()
}

// Bump counts as an access: Fetched, access time, eviction counter. Each is written only if it changes.
func (e *Entry) Bump() {
	if c := e.slot.Ctr(); c < index.MaxCtr {
		*e.slot = e.slot.With(e.slot.Ref(), c+1)
	}
	e.item.Touch(uint32(e.l.now / 1000))
}

// Mark sets and clears marks.
func (e *Entry) Mark(set, clear Mark) { e.item.SetBits(set, clear) }

// SetExpiry changes the expiry (timeline ms, 0: never). Only after LockWrite.
func (e *Entry) SetExpiry(ms int64) {
	if !e.item.SetExpiry(ms) {
		h := e.item.Head()
		h.Expiry = ms
		e.rewrite(&h)
	} else if ms != 0 {
		e.l.s.log.Due(e.slot.Ref(), e.item.Size(), ms, uint32(max(ms-e.l.now, 0)/1000))
	}
	e.l.s.emit(Stored, e.item)
}

// SetCAS gives the item a new CAS id: cas, or the next one of the stripe if cas is 0. It returns the id given.
func (e *Entry) SetCAS(cas uint64) uint64 {
	if cas == 0 {
		cas = e.l.s.nextCAS(e.st, e.hash)
	}
	if !e.item.SetCAS(cas) { // more than 52 bits: the caller came through LockWrite
		h := e.item.Head()
		h.CAS = cas
		e.rewrite(&h)
	}
	return cas
}

// rewrite puts a copy of the item with another header in its place, within the room that LockWrite made.
func (e *Entry) rewrite(h *log.Head) {
	h.Normalize()
	it, ref := e.l.lane.w[0].Put(h, e.item.Key())
	copy(it.Value(), e.item.Value())
	old := e.slot.Ref()
	e.l.s.log.Kill(old, e.item.Size())
	if h.Bits&log.InRegion != 0 {
		e.l.s.log.Weigh(old, -h.VLen)
		e.l.s.log.Weigh(ref, h.VLen)
	}
	*e.slot = e.slot.With(ref, e.slot.Ctr())
	e.item = it
}

// Link puts p in place of what is there and gives it a CAS id (cas, or the next one if 0), which it returns.
func (e *Entry) Link(p *Pending, cas uint64) uint64 {
	if cas == 0 {
		cas = e.l.s.nextCAS(e.st, e.hash)
	}
	p.done = true
	if !p.item.Valid() { // a large value for whose 40 bytes of item no room is left at all: stored and evicted at once
		if e.slot != nil {
			e.unlink()
		}
		e.drop[1] = p.region
		return cas
	}
	if !p.item.SetCAS(cas) {
		e.l.lane.w[p.queue].Widen(p.item, cas)
	}
	if p.region != 0 {
		e.l.s.log.Weigh(p.ref, p.head.VLen)
	}
	e.swing(p.item, p.ref)
	return cas
}

// swing makes the slot refer to a new item, in place of the old one if there is one.
func (e *Entry) swing(it log.Item, ref uint64) {
	s, l := e.l.s, e.l
	if e.slot != nil {
		old := e.slot.Ref()
		*e.slot = e.slot.With(ref, min(e.slot.Ctr()+1, index.MaxCtr))
		e.forget(old)
	} else if !e.st.table.Insert(s.pool, index.Tag(e.hash), ref, 0) {
		// The group is full of keys that no tag bit tells apart: the item is evicted as it comes.
		e.item = it
		e.drain(ref)
		return
	}
	e.item = it
	l.linked(it)
	s.emit(Stored, it)
}

// Replace puts a new item under the same key (creating it if missing) and returns its value area to be filled before
// Unlock. The CAS id is given as in SetCAS, access data are kept, marks are as in sp. Bytes got from Value before stay
// readable until Unlock. Only after LockWrite, within its room. The Entry's facts are those of the new item afterwards.
func (e *Entry) Replace(sp Spec, cas uint64) []byte {
	l := e.l
	if cas == 0 {
		cas = l.s.nextCAS(e.st, e.hash)
	}
	h := sp.head(e.key, l.now)
	h.CAS = cas
	if e.slot != nil {
		h.Access = e.item.Access()
		h.Bits |= e.item.Bits() & Fetched
	}
	h.Normalize()
	it, ref := l.lane.w[0].Put(&h, e.key)
	e.swing(it, ref)
	e.slot = e.st.table.FindRef(l.s.pool, index.Tag(e.hash), ref)
	return it.Value()
}

// Delete removes the item, by command.
func (e *Entry) Delete() {
	e.l.s.emit(Deleted, e.item)
	e.unlink()
}

// Pin keeps value bytes readable without a lock, until Release. It holds a whole segment or region: not for long.
type Pin struct {
	Data   []byte
	l      *Local
	seg    int32
	region mem.Handle
}

var pins = sync.Pool{New: func() any { return new(Pin) }}

// Pin keeps the value alive after Unlock.
func (e *Entry) Pin() *Pin {
	p := pins.Get().(*Pin)
	p.l, p.Data, p.region = e.l, e.Value(), 0
	if e.Large() {
		p.region = mem.Handle(e.item.Handle())
		e.l.s.regions.Retain(p.region)
	} else {
		p.seg = e.l.s.log.Pin(e.slot.Ref())
	}
	return p
}

// Release ends the pin. Any goroutine may call it.
func (p *Pin) Release() {
	if p.region != 0 {
		p.l.releaseRegion(p.region)
	} else {
		p.l.s.log.Unpin(p.seg)
	}
	p.Data, p.l = nil, nil
	pins.Put(p)
}
