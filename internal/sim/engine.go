package sim

import (
	"math/bits"

	"godwit/internal/evict"
)

// engine is the server's eviction. Package evict decides: which queue to shorten, what becomes of an item, which keys are
// known ghosts, how large the small queue may be. What it decides about are segments, so the steps of log and store around it
// are gone through here as well, in the same order and with the same bounds (log/log.go, log/victim.go, store/reclaim.go,
// store/local.go): items are appended to an open segment of their queue, overwritten and deleted ones stay as garbage, a
// victim is emptied a little with each write, garbage is cleaned before anything is evicted, a reserve is kept for that, and
// ghosts, index and large values are charged to the same limit. It is the server with one loop. TestEngineIsTheStore holds
// the two against each other.
//
// Over bytes, sizes include the header and the slot of the index (Overhead). Over objects, segments have a 200th of the
// capacity, as those of a server of a few hundred MiB; ghosts and index are free, and there are as many ghosts as objects.
type engine struct {
	gone  func(uint64)
	limit int64 // budget: what segments, regions, ghosts and index may take
	taken int64

	policy *evict.Policy
	ghosts *evict.Ghosts
	at     map[uint64]place

	seg     int64 // size of a segment
	slot    int64 // bytes of the index for each item
	large   int64 // items of more have a region
	every   int64 // written between two steps of emptying
	wide    int64 // more room than needed that a write asks for
	keep    int64
	reserve int

	segs        []segment
	chains      [evict.Queues]struct{ first, last int32 }
	bytes       [evict.Queues]int64 // sealed segments
	regionBytes [evict.Queues]int64
	spare, gave []int32
	scan        int32
	garbage     int64
	stale       int32

	open    [evict.Queues]int32 // -1: none
	victim  victim
	busy    bool
	reclaim bool
	debt    int64
	freed   int64 // bytes of regions, ever

	evicted    bool
	gets, hits int64
}

type segment struct {
	state      segmentState
	queue      evict.Queue
	prev, next int32
	used, dead int64
	items      []logged
}

type segmentState uint8

const (
	unused segmentState = iota
	spare
	opened
	sealed
	draining
)

// logged is an item in a segment. It is alive if its place is the one known.
type logged struct {
	id     uint64
	size   int64 // in the segment
	region int64
}

type place struct {
	seg, pos int32
	ctr      uint8
}

type victim struct {
	seg   int32
	evict bool
	queue evict.Queue
	pos   int
}

// Bounds of store and log.
const (
	cleanUnder = 0.75
	headroom   = 0.88
	cleanMax   = 0.97
	scanWindow = 1024
	maxCtr     = 3

	indexSlot    = 12      // bytes of the index for each item, about
	largeItem    = 48      // bytes that the item of a large value takes in the log, about
	page         = 4 << 10 // large values take whole ones
	ghostShare   = 64
	largePart    = 8
	largeMost    = 64 << 10
	reclaimEvery = 8 << 10
)

func newEngine(s Setup) Policy {
	e := &engine{gone: s.Gone, limit: s.Capacity, policy: evict.New(), at: map[uint64]place{}}
	ghosts := s.Capacity
	if s.Bytes {
		shift := 20
		for ; shift > 14 && int64(2)<<shift > e.limit/100; shift-- {
		}
		e.seg, e.slot, e.wide, e.every = 1<<shift, indexSlot, 8, reclaimEvery
		e.large = min(e.seg/largePart, largeMost)
		ghosts = e.limit / ghostShare / 4
		e.taken = ghosts * 4
	} else {
		e.seg = int64(1) << max(bits.Len64(uint64(e.limit/200))-1, 0)
		e.large, e.every = 1<<62, max(e.seg/32, 1)
	}
	e.reserve = int(min(4, e.limit/e.seg/16+2))
	e.keep = 6 * e.seg
	e.ghosts = evict.NewGhosts(make([]uint32, max(ghosts, 64)&^3))
	for q := range e.chains {
		e.chains[q].first, e.chains[q].last, e.open[q] = -1, -1, -1
	}
	for len(e.spare) < e.reserve {
		n := e.grow()
		if n < 0 {
			break
		}
		e.segs[n].state = spare
		e.spare = append(e.spare, n)
	}
	return e
}

func (e *engine) Len() int           { return len(e.at) }
func (e *engine) Has(id uint64) bool { _, ok := e.at[id]; return ok }

// Used is what the segments that hold items, large values, index and ghosts take.
func (e *engine) Used() int64 { return e.taken - int64(len(e.spare))*e.seg }

func (e *engine) Get(id uint64) bool {
	e.gets++
	p, ok := e.at[id]
	if ok {
		e.hits++
		if p.ctr < maxCtr {
			p.ctr++
			e.at[id] = p
		}
	}
	return ok
}

func (e *engine) Remove(id uint64) {
	if p, ok := e.at[id]; ok {
		e.unlink(id, p)
	}
}

// unlink forgets an item and counts its bytes as garbage. It returns those of its region.
func (e *engine) unlink(id uint64, p place) int64 {
	delete(e.at, id)
	e.taken -= e.slot
	return e.kill(p)
}

func (e *engine) kill(p place) int64 {
	g := &e.segs[p.seg]
	it := &g.items[p.pos]
	g.dead += it.size
	e.taken -= it.region
	e.regionBytes[g.queue] -= it.region
	return it.region
}

func (e *engine) Put(id uint64, size int64) {
	size -= e.slot
	it := logged{id: id, size: max(size, 1)}
	if e.slot > 0 {
		it.size = (max(size, 16) + 7) &^ 7
	}
	if it.size > e.large {
		it.region = (size + page - 1) &^ (page - 1)
		it.size = largeItem
		if !e.charge(it.region) {
			e.refuse(id)
			return
		}
		e.taken += it.region
	}
	q := e.queueFor(id)
	if !e.room(q, it.size+e.wide) {
		e.taken -= it.region
		e.refuse(id)
		return
	}
	e.regionBytes[q] += it.region
	to := e.append(q, it)
	if p, ok := e.at[id]; ok {
		to.ctr = min(p.ctr+1, maxCtr)
		e.at[id] = to
		e.kill(p)
	} else {
		e.at[id] = to
		e.taken += e.slot
	}
	for e.taken > e.limit { // as the sweeper does
		e.shrink(0)
		if e.taken <= e.limit || !e.step(e.every) {
			break
		}
	}
}

// refuse is what becomes of an item that no room can be made for: what was there is gone, too.
func (e *engine) refuse(id uint64) {
	if p, ok := e.at[id]; ok {
		e.unlink(id, p)
		e.tell(id)
	}
}

func (e *engine) tell(id uint64) {
	if e.gone != nil {
		e.gone(id)
	}
}

// queueFor is store.Local's.
func (e *engine) queueFor(id uint64) evict.Queue {
	if !e.evicted {
		return evict.Small
	}
	if p, ok := e.at[id]; ok {
		return e.segs[p.seg].queue
	}
	if e.ghosts.Take(mix(id), int64(len(e.at))) {
		return evict.Main
	}
	return evict.Small
}

// charge makes room in the budget for n bytes of a large value.
func (e *engine) charge(n int64) bool {
	if n > e.limit*3/4 {
		return false
	}
	for e.taken+n > e.limit {
		e.shrink(n)
		if e.left() >= n {
			break
		}
		if !e.step(1) && !e.yield() {
			return false
		}
	}
	return true
}

func (e *engine) left() int64 { return e.limit - e.taken }

// room makes sure that n bytes can be appended to a queue's open segment.
func (e *engine) room(q evict.Queue, n int64) bool {
	if n > e.seg {
		return false
	}
	if e.reclaim {
		if e.debt += n; e.debt >= e.every {
			e.step(2 * e.debt)
			e.debt = 0
		}
	}
	for {
		if e.has(q, n) || e.next(q, false) {
			return true
		}
		if !e.step(e.seg) && !e.yield() {
			return e.next(q, false)
		}
	}
}

func (e *engine) has(q evict.Queue, n int64) bool {
	return e.open[q] >= 0 && e.segs[e.open[q]].used+n <= e.seg
}

// next seals the open segment of a queue and opens another.
func (e *engine) next(q evict.Queue, relocating bool) bool {
	n := e.take(relocating)
	if n < 0 {
		return false
	}
	e.seal(q)
	g := &e.segs[n]
	*g = segment{state: opened, queue: q, prev: -1, next: -1, items: g.items[:0]}
	e.open[q] = n
	e.policy.Note(e.gets, e.hits, int64(len(e.at)))
	e.gets, e.hits = 0, 0
	if !e.busy {
		e.reclaim = e.tight(2)
	}
	return true
}

func (e *engine) append(q evict.Queue, it logged) place {
	g := &e.segs[e.open[q]]
	g.items = append(g.items, it)
	g.used += it.size
	return place{seg: e.open[q], pos: int32(len(g.items) - 1)}
}

// step empties about n bytes of the victim, choosing one first if there is none. false: nothing may be emptied.
func (e *engine) step(n int64) bool {
	if !e.busy {
		if e.victim = e.choose(); e.victim.seg < 0 {
			return false
		}
		e.busy = true
	}
	for enough := e.freed + n; n > 0 && e.freed < enough; {
		v := &e.victim
		g := &e.segs[v.seg]
		if v.pos >= len(g.items) {
			e.busy = false
			e.release(v.seg)
			e.reclaim = e.tight(2)
			return true
		}
		it := g.items[v.pos]
		n -= it.size
		e.settle(v, it)
		v.pos++
	}
	return true
}

// yield seals the open segments and has the oldest segment emptied next.
func (e *engine) yield() bool {
	any := false
	for q, n := range e.open {
		if n >= 0 && e.segs[n].used > 0 {
			e.seal(evict.Queue(q))
			any = true
		}
	}
	if e.busy {
		return true
	}
	if any {
		e.victim = e.oldest()
		e.busy = e.victim.seg >= 0
	}
	return e.busy
}

// settle unlinks or moves one item of a victim.
func (e *engine) settle(v *victim, it logged) {
	p, ok := e.at[it.id]
	if !ok || p.seg != v.seg || int(p.pos) != v.pos {
		return // garbage
	}
	dst := v.queue
	keep, ctr := true, uint64(p.ctr)
	if v.evict {
		dst = evict.Main
		keep, ctr = evict.Fate(v.queue, ctr)
	}
	if keep && (e.has(dst, it.size) || e.next(dst, true)) {
		to := e.append(dst, it)
		to.ctr = uint8(ctr)
		e.at[it.id] = to
		e.regionBytes[v.queue] -= it.region
		e.regionBytes[dst] += it.region
		return
	}
	e.freed += e.unlink(it.id, p)
	e.evicted = e.evicted || v.queue == evict.Small
	e.tell(it.id)
	if v.queue == evict.Small {
		e.ghosts.Add(mix(it.id))
	}
}

// From here on: the log.

func (e *engine) choose() victim {
	best, waste := e.emptiest()
	if best >= 0 {
		f := 1 - float64(waste)/float64(e.seg)
		if f < cleanUnder || f < cleanMax && e.roomy() {
			return e.drain(best, false)
		}
	}
	return e.oldest()
}

func (e *engine) oldest() victim {
	b := e.bytes
	for q := range b {
		b[q] += e.regionBytes[q]
	}
	q := e.policy.From(b)
	for range evict.Queues {
		if s := e.chains[q].first; s >= 0 {
			return e.drain(s, true)
		}
		q = evict.Main - q
	}
	return victim{seg: -1}
}

func (e *engine) roomy() bool {
	total := e.bytes[evict.Small] + e.bytes[evict.Main]
	room := int64(len(e.segs)-len(e.gave))*e.seg + max(e.left(), 0)
	return float64(total-e.wasted()) < headroom*float64(room)
}

func (e *engine) emptiest() (best int32, waste int64) {
	best, waste = -1, -1
	n := int32(len(e.segs))
	at := e.scan
	for range min(n, scanWindow) {
		if at++; at >= n {
			at = 0
		}
		if e.segs[at].state != sealed {
			continue
		}
		if v := e.waste(at); v > waste {
			best, waste = at, v
		}
	}
	e.scan = at
	return best, waste
}

func (e *engine) drain(s int32, ev bool) victim {
	g := &e.segs[s]
	c := &e.chains[g.queue]
	if g.prev >= 0 {
		e.segs[g.prev].next = g.next
	} else {
		c.first = g.next
	}
	if g.next >= 0 {
		e.segs[g.next].prev = g.prev
	} else {
		c.last = g.prev
	}
	e.bytes[g.queue] -= e.seg
	g.state = draining
	v := victim{seg: s, evict: ev, queue: g.queue}
	if g.used == g.dead {
		v.pos = len(g.items)
	}
	return v
}

func (e *engine) take(relocating bool) int32 {
	left := len(e.spare)
	if !relocating {
		left -= e.reserve
	}
	if left > 0 {
		n := e.spare[len(e.spare)-1]
		e.spare = e.spare[:len(e.spare)-1]
		return n
	}
	if !relocating && e.left() < int64(e.reserve-len(e.spare)+1)*e.seg {
		return -1
	}
	if !relocating && e.worthCleaning() {
		return -1
	}
	return e.grow()
}

func (e *engine) grow() int32 {
	if e.taken+e.seg > e.limit {
		return -1
	}
	e.taken += e.seg
	if k := len(e.gave); k > 0 {
		n := e.gave[k-1]
		e.gave = e.gave[:k-1]
		return n
	}
	e.segs = append(e.segs, segment{})
	return int32(len(e.segs) - 1)
}

func (e *engine) worthCleaning() bool {
	total := e.bytes[evict.Small] + e.bytes[evict.Main]
	return total >= e.keep && e.wasted()*5 > total*2
}

func (e *engine) wasted() int64 {
	if e.stale--; e.stale < 0 {
		e.garbage, e.stale = 0, int32(len(e.segs)/scanWindow)
		for s := range e.segs {
			if e.segs[s].state == sealed {
				e.garbage += e.waste(int32(s))
			}
		}
	}
	return e.garbage
}

func (e *engine) waste(s int32) int64 {
	g := &e.segs[s]
	n := g.dead
	if end := e.seg - g.used; end*4 >= e.seg {
		n += end
	}
	return n
}

func (e *engine) seal(q evict.Queue) {
	s := e.open[q]
	if s < 0 {
		return
	}
	e.open[q] = -1
	g := &e.segs[s]
	g.state = sealed
	e.bytes[q] += e.seg
	c := &e.chains[q]
	g.prev, g.next = c.last, -1
	if c.last >= 0 {
		e.segs[c.last].next = s
	} else {
		c.first = s
	}
	c.last = s
}

func (e *engine) release(s int32) {
	g := &e.segs[s]
	g.dead, g.used, g.items = 0, 0, g.items[:0]
	if e.left() < 0 && len(e.spare) >= e.reserve {
		e.giveBack(s)
		return
	}
	g.state = spare
	e.spare = append(e.spare, s)
}

func (e *engine) giveBack(s int32) {
	e.segs[s].state = unused
	e.taken -= e.seg
	e.gave = append(e.gave, s)
}

func (e *engine) shrink(n int64) {
	for e.left() < n && len(e.spare) > e.reserve {
		s := e.spare[len(e.spare)-1]
		e.spare = e.spare[:len(e.spare)-1]
		e.giveBack(s)
	}
}

func (e *engine) tight(n int64) bool {
	have := int64(len(e.spare) - e.reserve)
	if have < n && !e.worthCleaning() {
		have += e.left() / e.seg
	}
	return have < n
}
