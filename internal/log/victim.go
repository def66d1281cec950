package log

import (
	"math/bits"
	"sync/atomic"

	"godwit/internal/evict"
)

// What to do with a segment that was chosen to be emptied.
type What uint8

const (
	Clean What = iota // copy what lives, within its queue
	Evict             // let the policy decide over each item
)

// Victim is a segment being emptied. Its items must be unlinked or moved, then it is given to Free.
type Victim struct {
	Seg   int32 // -1: none
	What  What
	Queue evict.Queue
	Gen   uint32
	pos   uint32
	used  uint32
}

const (
	cleanUnder = 0.75 // a segment with less live data is cleaned rather than something evicted
	headroom   = 0.88 // with less live data than this share of the log, garbage is cleaned whatever it costs
	cleanMax   = 0.97 // but not segments with less garbage than this leaves
	scanWindow = 1024
)

// Victim chooses the segment to empty next: the one with the most garbage if it has enough of it, or as long as the
// live data would fit into the log comfortably; else, if mayEvict, the oldest of the queue that the policy names. Nothing
// evictable and nothing worth cleaning: Seg is -1.
func (l *Log) Victim(mayEvict bool) Victim {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.recheck()
	best, waste := l.emptiest()
	if best >= 0 {
		f := 1 - float64(waste)/float64(int64(1)<<l.shift)
		if f < cleanUnder || f < cleanMax && l.roomy() {
			return l.drain(best, Clean)
		}
	}
	if !mayEvict {
		return Victim{Seg: -1}
	}
	return l.oldest()
}

// Oldest is the oldest segment of the queue that the policy names, to be evicted from. None to be had: Seg is -1.
func (l *Log) Oldest() Victim {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.oldest()
}

func (l *Log) oldest() Victim {
	bytes := l.bytes
	for q := range bytes {
		bytes[q] += l.regionBytes[q].Load()
	}
	q := l.policy.From(bytes)
	for range evict.Queues {
		for s := l.chains[q].first; s >= 0; s = l.segs[s].next {
			if atomic.LoadInt32(&l.segs[s].pins) == 0 {
				return l.drain(s, Evict)
			}
		}
		q = evict.Main - q
	}
	return Victim{Seg: -1}
}

// roomy says whether the live data leaves the headroom free. l.mu is held.
func (l *Log) roomy() bool {
	total := l.bytes[evict.Small] + l.bytes[evict.Main]
	room := int64(int(l.next)-len(l.gone))<<l.shift + max(l.budget.Left(), 0)
	return float64(total-l.garbage()) < headroom*float64(room)
}

// emptiest is the sealed segment with the most to gain, among those of a window that moves on. l.mu is held.
func (l *Log) emptiest() (best int32, waste int64) {
	best, waste = -1, -1
	n := l.next
	at := l.scan
	for range min(n, scanWindow) {
		if at++; at >= n {
			at = 0
		}
		g := &l.segs[at]
		if g.state != sealed || atomic.LoadInt32(&g.pins) != 0 {
			continue
		}
		if v := l.waste(at); v > waste {
			best, waste = at, v
		}
	}
	l.scan = at
	return best, waste
}

func (l *Log) drain(s int32, w What) Victim {
	g := &l.segs[s]
	l.unchain(s)
	g.state = draining
	v := Victim{Seg: s, What: w, Queue: g.queue, Gen: g.gen, used: g.used, pos: first(s)}
	if l.live(s) == 0 {
		v.pos = v.used // nothing in it is linked
	}
	return v
}

func first(s int32) uint32 {
	if s == 0 {
		return 8
	}
	return 0
}

// Next is the next item of the victim; done at its end.
func (l *Log) Next(v *Victim) (it Item, ref uint64, size int, ok bool) {
	if v.pos >= v.used {
		return
	}
	ref = uint64(int64(v.Seg)<<l.shift+int64(v.pos)) / 8
	it = l.At(ref)
	size = it.Size()
	v.pos += uint32(size)
	return it, ref, size, true
}

// SweepNext pins the next sealed segment from place at on in which at least a share of 1/8, or everything that has an
// expiry, is due at now, or anything for long (with full: may be due), or whose generation is older than gen. Its items may
// then be walked with Next and unlinked; Swept ends that. The place to go on from is Seg+1; Seg is -1 when there is none up
// to the end.
func (l *Log) SweepNext(at int32, now int64, gen uint32, full bool) Victim {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := at; s < l.next; s++ {
		g := &l.segs[s]
		if g.state != sealed || l.live(s) == 0 {
			continue
		}
		due, maybe, all := g.dueAt(now)
		if g.gen < gen || g.late(now) || full && maybe || due > 0 && (due >= all || due*8 >= uint64(g.used)) {
			atomic.StoreUint32(&g.must, 0) // what changes its expiry from here on notes it again
			atomic.AddInt32(&g.pins, 1)
			l.sweeping.Add(1)
			return Victim{Seg: s, Queue: g.queue, Gen: g.gen, used: g.used, pos: first(s)}
		}
	}
	return Victim{Seg: -1}
}

// late says whether an item has been due for long.
func (g *segment) late(now int64) bool {
	m := atomic.LoadUint32(&g.must)
	return m != 0 && m <= second(now)
}

// dueAt is how many bytes are surely due at now, whether any may be, and how many have an expiry at all.
func (g *segment) dueAt(now int64) (due uint64, maybe bool, all uint64) {
	passed := uint64(max(now-atomic.LoadInt64(&g.opened), 0)) / 1000
	for b := range g.due {
		n := uint64(atomic.LoadUint32(&g.due[b]))
		all += n
		if uint64(1)<<b <= passed+1 {
			due += n
		}
		maybe = maybe || n > 0 && uint64(1)<<b <= 2*(passed+1)
	}
	return due, maybe, all
}

// Swept unpins the segment and replaces what is known of its expiries: left lists bytes by expiry, as Due would count.
func (l *Log) Swept(v *Victim, now int64, left *Dues) {
	g := &l.segs[v.Seg]
	l.mu.Lock()
	atomic.StoreInt64(&g.opened, now)
	for b := range g.due {
		atomic.StoreUint32(&g.due[b], left.bytes[b])
	}
	if left.must != 0 {
		g.sweepBy(left.must)
	}
	l.mu.Unlock()
	l.Unpin(v.Seg)
	l.sweeping.Add(-1)
}

// Sweeping says whether a segment is kept by a sweep.
func (l *Log) Sweeping() bool { return l.sweeping.Load() != 0 }

// Dues is what is known of the expiries in a segment: bytes by the time until they expire, and when the segment has to be
// looked into next.
type Dues struct {
	bytes [dueBuckets]uint32
	must  uint32
}

// Left counts an item of the victim that stays, seen from now.
func (l *Log) Left(d *Dues, v *Victim, it Item, size int, now int64) {
	ms := it.Expiry()
	b := bits.Len64(uint64(max(ms-now, 0)) / 1000)
	d.bytes[min(b, dueBuckets-1)] += uint32(size)
	d.by(latest(second(ms), l.had(it, v.Seg, ms)))
}

// Again has the segment looked into soon: this walk was broken off.
func (d *Dues) Again(now int64) { d.by(second(now)) }

func (d *Dues) by(sec uint32) {
	if d.must == 0 || sec < d.must {
		d.must = max(sec, 1)
	}
}
