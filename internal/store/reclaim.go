package store

import (
	"time"

	"godwit/internal/evict"
	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// step empties about n bytes of the lane's victim, choosing one first if there is none; or less, once n bytes of large
// values are freed with it. false: there is nothing that may be emptied. The lane is held; stripes are taken one at a time.
func (l *Local) step(n int) bool {
	ln := l.lane
	if !ln.busy {
		ln.victim = l.s.log.Victim(!l.s.noEvict)
		if ln.victim.Seg < 0 {
			return false
		}
		ln.busy = true
	}
	enough := l.freed + int64(n)
	for v := &ln.victim; n > 0 && l.freed < enough; {
		it, ref, size, ok := l.s.log.Next(v)
		if !ok {
			ln.busy = false
			l.s.log.Free(v.Seg)
			ln.reclaim = l.s.log.Tight(2)
			return true
		}
		n -= size
		l.settle(v, it, ref, size)
	}
	return true
}

// starved is called when step found nothing to empty; true: it is worth another try. What others are emptying at this very
// moment will be free soon, so that is waited for, with the lane given up meanwhile. The lane is held.
func (l *Local) starved(tries *int) bool {
	const most, pause = 200, 50 * time.Microsecond
	found, busy := l.yield()
	if found || !busy || l.s.noEvict || *tries == most {
		return found
	}
	*tries++
	l.leave()
	time.Sleep(pause)
	l.enter()
	return true
}

// yield seals open segments, its own and those of other lanes that are not at work, and has one of them emptied next: the
// items of a memory full of large values may all be in open segments. It goes on with the victim of a lane that rests, too.
// busy: there are others at work, who may be emptying something. The lane is held.
func (l *Local) yield() (found, busy bool) {
	s := l.s
	busy = s.log.Sweeping()
	sealed := false
	for i := range s.lanes {
		ln := &s.lanes[i]
		if ln != l.lane && !ln.mu.TryLock() {
			busy = true
			continue
		}
		for q := range ln.w {
			sealed = ln.w[q].Yield(!s.noEvict) || sealed
		}
		if ln != l.lane {
			if ln.busy && !l.lane.busy {
				l.lane.victim, l.lane.busy, ln.busy = ln.victim, true, false
			}
			ln.mu.Unlock()
		}
	}
	if l.lane.busy {
		return true, busy
	}
	if sealed && !s.noEvict {
		// not cleaned: copying the few items from one segment to the next frees nothing
		ln := l.lane
		ln.victim = s.log.Oldest()
		ln.busy = ln.victim.Seg >= 0
		return ln.busy, busy
	}
	return sealed, busy
}

// settle unlinks or moves one item of a victim.
func (l *Local) settle(v *log.Victim, it log.Item, ref uint64, size int) {
	s := l.s
	hash := s.hash(it.WalkKey())
	dst := v.Queue
	if v.What == log.Evict {
		dst = evict.Main
	}
	gen := s.gen.Load()
	room := l.lane.w[dst].Has(size, gen) || l.open(dst, gen, true)

	st := s.stripe(hash)
	st.mu.Lock()
	slot := st.table.FindRef(s.pool, index.Tag(hash), ref)
	if slot == nil { // garbage
		st.mu.Unlock()
		return
	}
	keep, ctr := true, slot.Ctr()
	var gone Gone
	switch {
	case v.Gen < gen:
		keep, gone = false, Flushed
	case it.Has(log.HasExpiry) && it.Expiry() != 0 && it.Expiry() <= l.now:
		keep, gone = false, Expired
	case v.What == log.Evict:
		keep, ctr = evict.Fate(v.Queue, ctr)
	}
	if keep && room {
		_, to := l.lane.w[dst].Copy(it, size)
		*slot = slot.With(to, ctr)
		if it.Has(log.InRegion) {
			s.log.Weigh(ref, -it.Len())
			s.log.Weigh(to, it.Len())
		}
		st.mu.Unlock()
		l.stats.copied += uint64(size)
		return
	}
	region := l.unlinkAt(st, slot, hash, it, ref)
	if gone != NotGone {
		l.reclaimed(it)
		s.emit(Reclaimed, it)
	} else {
		l.evictedItem(it)
		s.emit(Evicted, it)
		if v.Queue == evict.Small {
			s.ghosts.Add(hash)
			if !s.evicted.Load() {
				s.evicted.Store(true)
			}
		}
	}
	st.mu.Unlock()
	if region != 0 {
		l.freed += l.releaseRegion(region)
	}
}

// unlinkAt removes an item that was come upon in the log rather than by its key. The stripe is held; the region, if any,
// is to be released after it.
func (l *Local) unlinkAt(st *stripe, slot *index.Slot, hash uint64, it log.Item, ref uint64) (region mem.Handle) {
	s := l.s
	st.table.Remove(s.pool, index.Tag(hash), slot)
	l.unlinked(it)
	s.log.Kill(ref, it.Size())
	if it.Has(log.InRegion) {
		s.log.Weigh(ref, -it.Len())
		region = mem.Handle(it.Handle())
	}
	return region
}
