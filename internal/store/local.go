package store

import (
	"sync"

	"godwit/internal/evict"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// Local is one loop's own door: its time, its counters and its share of a lane. Not for concurrent use.
type Local struct {
	s     *Store
	lane  *lane
	held  bool // lane.mu is held
	now   int64
	e     Entry
	small Pending
	stats
	gets, hits int64 // since the last note to the policy
	delta      int64 // items linked less unlinked since then
	freed      int64 // bytes of regions that settle freed, ever
}

// lane is a pair of open segments, with the segment that is being emptied to make room for the next. Loops have one each
// while the limit is large enough, else they share.
type lane struct {
	mu      sync.Mutex
	w       [evict.Queues]log.Writer
	victim  log.Victim
	busy    bool // victim is not yet empty
	reclaim bool // segments run short: empty a little with each write
	debt    int  // bytes written since the last step
	_       [64]byte
}

func (ln *lane) init(l *log.Log) {
	for q := range ln.w {
		ln.w[q] = l.NewWriter(evict.Queue(q))
	}
}

// Turn sets the time (timeline ms) that all calls until the next Turn go by, and runs a delayed flush that is due.
func (l *Local) Turn(nowMs int64) {
	l.now = nowMs
	if at := l.s.flushAt.Load(); at != 0 && at <= nowMs && l.s.flushAt.CompareAndSwap(at, 0) {
		l.s.Flush()
	}
}

// Now is the time of the present turn, timeline ms.
func (l *Local) Now() int64 { return l.now }

// Hash of a key; computed once per key and passed to the other calls.
func (l *Local) Hash(key []byte) uint64 { return l.s.hash(key) }

// Spec describes an item to build.
type Spec struct {
	Flags  uint32 // client flags
	Expiry int64  // timeline ms, 0: never
	Len    int    // bytes of the value
	Marks  Mark
}

func (sp *Spec) head(key []byte, now int64) log.Head {
	h := log.Head{
		Bits: sp.Marks | Evictable, Flags: sp.Flags, Expiry: sp.Expiry,
		Access: uint32(now / 1000), KLen: len(key), VLen: sp.Len,
	}
	h.Normalize()
	return h
}

// Pending is an item that is not yet in the keyspace.
type Pending struct {
	l      *Local
	head   log.Head
	key    []byte // of a large item; small ones have it in the log
	item   log.Item
	ref    uint64
	queue  evict.Queue
	region mem.Handle
	data   []byte // of a large item
	done   bool   // linked or discarded
}

// Value is the area of Spec.Len bytes to fill.
func (p *Pending) Value() []byte {
	if p.region != 0 {
		return p.data
	}
	return p.item.Value()
}

// Key of the item.
func (p *Pending) Key() []byte {
	if p.region != 0 {
		return p.key
	}
	return p.item.Key()
}

// Large says whether the value has a region of its own.
func (p *Pending) Large() bool { return p.region != 0 }

// Build makes an item that is not yet in the keyspace; the caller fills Value(). A small one must be linked or discarded
// before any other call on this Local; a large one (Large()) may wait for its bytes over many turns, and is charged as Grow
// reports them. The key is copied. Errors: ErrTooLarge, ErrNoMemory; the Local is as before then.
func (l *Local) Build(key []byte, sp Spec) (*Pending, error) {
	if int64(sp.Len) > l.s.maxItem {
		return nil, ErrTooLarge
	}
	if sp.Len > l.s.large {
		return l.buildLarge(key, &sp)
	}
	p := &l.small
	p.head = sp.head(key, l.now)
	p.queue = l.queueFor(key)
	if !l.room(p.queue, p.head.Size()+log.WideSize) {
		l.leave()
		l.outOfMemory(&p.head)
		return nil, ErrNoMemory
	}
	p.item, p.ref = l.lane.w[p.queue].Put(&p.head, key)
	p.region, p.done = 0, false
	return p, nil
}

// queueFor is where a new item goes once the store is full: to main if it replaces one there, or if the key was evicted
// not long ago. A wrong guess costs nothing but a place.
func (l *Local) queueFor(key []byte) evict.Queue {
	s := l.s
	if !s.evicted.Load() {
		return evict.Small
	}
	hash := s.hash(key)
	e := &l.e
	e.lock(key, hash)
	found, q := e.slot != nil, evict.Small
	if found {
		q = s.log.Queue(e.slot.Ref())
	}
	e.unlock()
	if e.drop[0] != 0 {
		e.release()
	}
	if !found && s.ghosts.Take(hash, s.items.Load()) {
		return evict.Main
	}
	return q
}

func (l *Local) buildLarge(key []byte, sp *Spec) (*Pending, error) {
	h, err := l.s.regions.Alloc(int64(sp.Len))
	if err != nil {
		return nil, ErrNoMemory
	}
	p := &Pending{l: l, region: h, data: l.s.regions.Bytes(h, sp.Len), key: append([]byte(nil), key...)}
	p.head = sp.head(key, l.now)
	p.head.Bits |= log.InRegion
	p.head.Handle = uint64(h)
	return p, nil
}

// Grow charges the first total bytes of a large value, which are about to be filled. ErrNoMemory: no memory can be freed
// for them; the caller swallows the rest and discards p. Small values are charged by Build.
func (l *Local) Grow(p *Pending, total int) error {
	if p.region == 0 {
		return nil
	}
	have := l.s.regions.Charged(p.region)
	if int64(total) <= have {
		return nil
	}
	if l.s.noEvict { // the item of the value has to find room, too, when it gets linked
		ok := l.room(evict.Small, p.head.Size()+log.WideSize)
		l.leave()
		if !ok {
			l.outOfMemory(&p.head)
			return ErrNoMemory
		}
	}
	// Charge ahead in steps of an eighth, so that a big upload does not come here for every packet.
	want := min(int64(total)+max(int64(total)/8, 64<<10), int64(len(p.data)))
	for range 3 {
		more := l.s.regions.Resize(p.region, want)
		if !l.charge(more) {
			l.s.regions.Resize(p.region, have)
			break
		}
		if l.s.regions.Commit(p.region, have, want) == nil {
			return nil
		}
		l.s.budget.Lose(-l.s.regions.Resize(p.region, have)) // next time something is evicted for it
	}
	l.outOfMemory(&p.head)
	return ErrNoMemory
}

// chargeStep is how many bytes of a victim are emptied at a time to make room for a large value: one item. The items of
// large values are small in the log, and a segment of them may stand for a good part of all memory.
const chargeStep = 1

// charge takes n bytes for a region from the budget, freeing segments and evicting items for it.
func (l *Local) charge(n int64) bool {
	if n > l.s.budget.Limit()*3/4 {
		return false
	}
	l.enter()
	defer l.leave()
	for tries := 0; !l.s.budget.TryCharge(n); {
		l.s.log.Shrink(n)
		if l.s.budget.Left() >= n {
			continue
		}
		if !l.step(chargeStep) && !l.starved(&tries) {
			return false
		}
	}
	return true
}

// Discard gives back what Build made, if it was not linked.
func (l *Local) Discard(p *Pending) {
	if p.done {
		return
	}
	p.done = true
	if p.region != 0 {
		if p.item.Valid() {
			l.lane.w[p.queue].Undo(p.ref)
			p.item = log.Item{}
		}
		l.releaseRegion(p.region)
		return
	}
	l.lane.w[p.queue].Undo(p.ref)
	l.leave()
}

// releaseRegion drops a reference and returns how many bytes that freed. Any goroutine may call it.
func (l *Local) releaseRegion(h mem.Handle) int64 {
	n := l.s.regions.Release(h)
	if n != 0 {
		l.s.budget.Refund(n)
	}
	return n
}

// enter takes the lane; leave gives it up. A lane that is a loop's own is never waited for.
func (l *Local) enter() {
	if !l.held {
		l.lane.mu.Lock()
		l.held = true
	}
}

func (l *Local) leave() {
	if l.held {
		l.held = false
		l.lane.mu.Unlock()
	}
}

// reclaimEvery is how many bytes are written between two steps of emptying a victim.
const reclaimEvery = 8 << 10

// watchedSpare is how many free segments are kept while somebody observes: evictions then go along with the writes that
// cause them, instead of coming in bursts.
const watchedSpare = 4

// room makes sure that n bytes can be appended to the queue's open segment and keeps the lane until leave. It does a
// share of the emptying that the write will cost; only when segments ran out it does all of it at once.
func (l *Local) room(q evict.Queue, n int) bool {
	l.enter()
	ln := l.lane
	if ln.reclaim || l.s.observe.Load() != nil && l.s.log.Tight(watchedSpare) {
		if ln.debt += n; ln.debt >= reclaimEvery {
			l.step(2 * ln.debt)
			ln.debt = 0
		}
	}
	for tries := 0; ; {
		gen := l.s.gen.Load()
		if ln.w[q].Has(n, gen) {
			return true
		}
		if l.open(q, gen, false) {
			continue
		}
		if !l.step(l.s.log.SegmentSize()) && !l.starved(&tries) {
			return l.open(q, gen, false)
		}
	}
}

func (l *Local) open(q evict.Queue, gen uint32, relocating bool) bool {
	ln := l.lane
	if !ln.w[q].Open(gen, l.now, relocating) {
		return false
	}
	l.s.items.Add(l.delta)
	l.s.log.Note(l.gets, l.hits, l.s.items.Load())
	l.gets, l.hits, l.delta = 0, 0, 0
	if !ln.busy {
		ln.reclaim = l.s.log.Tight(2)
	}
	return true
}

// Lock finds key and holds its stripe until Unlock: short work only, no other store call, no system call in between. An
// expired or flushed item is unlinked on the way and counts as not found (Gone tells).
func (l *Local) Lock(key []byte, hash uint64) *Entry {
	e := &l.e
	e.lock(key, hash)
	l.gets++
	if e.slot != nil {
		l.hits++
	}
	return e
}

// afterFlush makes p an item of the present generation if what is stored under its key is of a later one than p: a flush
// came between Build and LockLink, and p is going to replace what was stored after it.
func (l *Local) afterFlush(p *Pending, hash uint64) {
	s, e := l.s, &l.e
	for e.slot != nil && s.log.Gen(e.slot.Ref()) > s.log.Gen(p.ref) {
		e.unlock()
		it, ref, n := p.item, p.ref, p.item.Size()
		seg := s.log.Pin(ref) // the segment gets sealed, and nothing in it is linked
		if l.room(p.queue, n+log.WideSize) {
			p.item, p.ref = l.lane.w[p.queue].Copy(it, n)
			s.log.Kill(ref, n)
		}
		s.log.Unpin(seg)
		e.lock(p.Key(), hash)
		if p.ref == ref { // no room: p counts as stored before the flush
			return
		}
	}
}

// writeSlack is how many value bytes Replace may add to the item there is.
const writeSlack = 64

// LockWrite is Lock, with room made beforehand so that SetExpiry and Replace with at most 32 more value bytes than now
// (64 for a missing key) cannot fail. ErrNoMemory: no room could be made; then nothing is locked.
func (l *Local) LockWrite(key []byte, hash uint64) (*Entry, error) {
	// An item of its own for each of two changes (SetExpiry and SetCAS, or Replace and one of them), each with an expiry,
	// wide CAS id and flags that it did not have.
	n := 2 * (64 + len(key) + writeSlack)
	for {
		if !l.room(evict.Small, n) {
			l.leave()
			return nil, ErrNoMemory
		}
		e := &l.e
		e.lock(key, hash)
		if e.slot == nil {
			return e, nil
		}
		if need := 2 * (e.item.Size() + 24 + writeSlack); need > n {
			e.unlock()
			n = need
			continue
		}
		if l.s.stale.Load() && l.s.log.Gen(e.slot.Ref()) > l.lane.w[evict.Small].Gen() {
			e.unlock() // stored after a flush that came just now: the copy must not be of before it
			continue
		}
		return e, nil
	}
}

// LockLink is Lock, ready to Link p. A p that is not linked when Unlock comes is discarded by it, unless it is large.
func (l *Local) LockLink(p *Pending, hash uint64) *Entry {
	if p.region != 0 {
		p.queue = l.queueFor(p.key)
		if l.room(p.queue, p.head.Size()+log.WideSize) || l.open(p.queue, l.s.gen.Load(), true) {
			p.item, p.ref = l.lane.w[p.queue].Put(&p.head, p.key)
		}
	}
	e := &l.e
	e.lock(p.Key(), hash)
	e.pending = p
	if e.slot != nil && l.s.stale.Load() && p.item.Valid() {
		l.afterFlush(p, hash)
	}
	return e
}
