package store

import (
	"sync"
	"sync/atomic"
	"time"

	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// sweeper is the background of a store: it unlinks what expired or was flushed and nobody asked for since, and gives
// memory back after the limit was lowered. It works in small steps with a Local and a lane of its own.
type sweeper struct {
	wake     chan struct{}
	quit     chan struct{}
	done     sync.WaitGroup
	end      sync.Once
	mu       sync.Mutex    // held during a pass; before all other locks
	regained int64         // when the budget last regained what it had lost
	full     atomic.Uint64 // classes (bit c for class c) that a pass over everything is asked for or at work on; 0: none
}

const (
	sweepEvery  = time.Second
	regainEvery = 60_000   // ms
	sweepStep   = 64 << 10 // bytes of log between two looks at the clock and the quit channel
)

func (w *sweeper) start(s *Store, l *Local) {
	w.done.Go(func() {
		t := time.NewTicker(sweepEvery)
		defer t.Stop()
		for {
			select {
			case <-w.quit:
				return
			case <-w.wake:
			case <-t.C:
			}
			w.mu.Lock()
			l.Turn(s.clock.Ms())
			w.regain(l)
			w.shrink(l)
			w.sealAged(s, l)
			w.pass(l)
			l.Publish()
			w.mu.Unlock()
		}
	})
}

func (w *sweeper) stop() {
	w.end.Do(func() { close(w.quit) })
	w.done.Wait()
}

// kick has a pass made now.
func (w *sweeper) kick() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

func (w *sweeper) quitting() bool {
	select {
	case <-w.quit:
		return true
	default:
		return false
	}
}

// regain has it tried again whether the file system of the memory file has room.
func (w *sweeper) regain(l *Local) {
	if s := l.s; s.budget.Lost() != 0 && l.now-w.regained >= regainEvery {
		w.regained = l.now
		s.budget.Regain()
	}
}

// shrink evicts until the budget is kept again.
func (w *sweeper) shrink(l *Local) {
	s := l.s
	for s.budget.Left() < 0 && !w.quitting() {
		s.log.Shrink(0)
		if s.budget.Left() >= 0 {
			break
		}
		l.enter()
		ok := l.step(sweepStep)
		l.leave()
		if !ok {
			break
		}
	}
}

// sealAged closes open segments in which something is due, or may be if everything is asked for, so that the pass can look
// into them.
func (w *sweeper) sealAged(s *Store, l *Local) {
	for i := range s.lanes {
		ln := &s.lanes[i]
		if !ln.mu.TryLock() { // its loop is writing: next time
			continue
		}
		for q := range ln.w {
			if ln.w[q].Aged(l.now, w.full.Load() != 0) || s.stale.Load() {
				ln.w[q].Seal()
			}
		}
		ln.mu.Unlock()
	}
}

// pass walks the segments in which enough is due.
func (w *sweeper) pass(l *Local) {
	s := l.s
	gen := s.gen.Load()
	flushing := s.stale.Load()
	classes := w.full.Load()
	full := classes != 0
	if !full {
		classes = AllClasses
	}
	for at := int32(0); !w.quitting(); {
		v := s.log.SweepNext(at, l.now, gen, full)
		if v.Seg < 0 {
			break
		}
		at = v.Seg + 1
		w.walk(l, &v, gen, classes)
	}
	if full {
		l.Publish()
		w.full.Store(0)
	}
	if flushing && !s.log.Older(gen) {
		s.flushing.Lock()
		if s.gen.Load() == gen {
			s.stale.Store(false)
		}
		s.flushing.Unlock()
	}
}

// walk unlinks what was flushed and, of some classes, what expired in one pinned segment.
func (w *sweeper) walk(l *Local, v *log.Victim, gen uint32, classes uint64) {
	s := l.s
	var left log.Dues
	for n := 0; ; {
		it, ref, size, ok := s.log.Next(v)
		if !ok {
			break
		}
		if n += size; n >= sweepStep {
			n = 0
			l.Turn(s.clock.Ms())
			if w.quitting() {
				left.Again(l.now)
				break
			}
		}
		flushed := v.Gen < gen
		if !flushed && !it.MayExpire() {
			continue
		}
		hash := s.hash(it.WalkKey())
		st := s.stripe(hash)
		st.mu.Lock()
		var region mem.Handle
		if slot := st.table.FindRef(s.pool, index.Tag(hash), ref); slot != nil {
			class := l.checked(it)
			if at := it.Expiry(); flushed || at != 0 && at <= l.now && classes>>class&1 != 0 {
				region = l.unlinkAt(st, slot, hash, it, ref)
				l.sweptItem(it)
				s.emit(Reclaimed, it)
			} else if at != 0 {
				s.log.Left(&left, v, it, size, l.now)
			}
		}
		st.mu.Unlock()
		if region != 0 {
			l.releaseRegion(region)
		}
	}
	s.log.Swept(v, l.now, &left)
}

// Flush makes every item stored so far dead: readers see it at once, the memory comes back in the background. Not at once:
// who asks for an item right afterwards is told that it was flushed, and counted so.
func (s *Store) Flush() {
	s.flushing.Lock()
	s.stale.Store(true)
	s.gen.Add(1)
	s.flushing.Unlock()
}

// FlushAt makes every item stored before dead when the timeline reaches ms. One is pending at a time; 0 cancels.
func (s *Store) FlushAt(ms int64) { s.flushAt.Store(ms) }

// AllClasses are memcached's size classes, as a set.
const AllClasses = ^uint64(0)

// Sweep has everything of the given classes (bit c for class c, not none) that is due removed now, in the background, where
// otherwise little of it may wait for more. It says false while an earlier call is still at work.
func (s *Store) Sweep(classes uint64) bool {
	if !s.sweep.full.CompareAndSwap(0, classes) {
		return false
	}
	s.sweep.kick()
	return true
}

// Sweeping says whether what Sweep asked for is still to be done.
func (s *Store) Sweeping() bool { return s.sweep.full.Load() != 0 }
