package log

import (
	"math/bits"
	"sync"
	"sync/atomic"
	"unsafe"

	"godwit/internal/evict"
	"godwit/internal/mem"
)

// State of a segment.
type state uint8

const (
	unused   state = iota // no memory
	free                  // memory, no items
	open                  // a Writer appends to it
	sealed                // in the chain of its queue
	draining              // taken out of its chain to be emptied, by the lane that took it
	waiting               // empty, but replies still point into it
)

// segment is what is known of one. Fields without a word are guarded by Log.mu.
type segment struct {
	state      state
	queue      evict.Queue
	prev, next int32  // chain of the queue, -1 at the ends
	used       uint32 // bytes written; the Writer's own while open
	gen        uint32 // flush generation; set while nobody else knows the segment, then constant
	pins       int32  // atomic: replies that point into it
	opened     int64  // atomic: timeline ms; the due histogram counts from here
	born       uint32 // second of the timeline in which it was opened, then constant
	must       uint32 // atomic: second by which a sweep has to look into it for the sake of one item; 0: none
	due        [dueBuckets]uint32
} // of two cache lines, which no neighbour shares

var _ [128]byte = [unsafe.Sizeof(segment{})]byte{}

// dueBuckets: due[b] is how many bytes expire less than 2^b seconds after opened. Atomic.
const dueBuckets = 22

type chain struct{ first, last int32 } // first is the oldest

// Log is the reservation and its segments. Methods are safe for concurrent use; Writers are not.
type Log struct {
	space  *mem.Space
	base   unsafe.Pointer
	shift  uint // segment size is 1<<shift bytes
	budget *mem.Budget
	metas  *mem.Space
	segs   []segment // in metas
	dead   []uint32  // in metas, atomic: bytes of each segment that no slot refers to any more

	mu      sync.Mutex
	policy  *evict.Policy
	chains  [evict.Queues]chain
	bytes   [evict.Queues]int64 // sealed segments by queue, whole segments' bytes
	spare   []int32             // free
	gone    []int32             // unused again after having been used
	next    int32               // never used so far from here on
	scan    int32               // where the search for the emptiest goes on
	reserve int                 // segments kept for relocation
	keep    int64               // bytes below which the log grows without looking for garbage
	waits   []int32

	lastGarbage int64 // see garbage
	stale       int32 // calls for which it still serves

	sweeping    atomic.Int32               // segments between SweepNext and Swept
	regionBytes [evict.Queues]atomic.Int64 // values outside the segments, by queue of their items
}

// Config of a log.
type Config struct {
	Addresses int64 // bytes of address space, a multiple of the segment size
	Shift     uint  // log2 of the segment size
	Reserve   int   // segments that only relocation may take
	Keep      int64 // grow up to here before cleaning is considered
	Budget    *mem.Budget
	File      *mem.File // nil: memory that ends with the process
	Saved     *Saved    // not nil: the file holds what Save described; Load is called next
}

// New log.
func New(c Config) (*Log, error) {
	sp, err := mem.ReserveIn(c.File, c.Addresses)
	if err != nil {
		return nil, err
	}
	n := c.Addresses >> c.Shift
	ms, err := mem.ReserveIn(c.File, n*int64(unsafe.Sizeof(segment{})+4))
	if err != nil {
		sp.Close()
		return nil, err
	}
	if err := ms.Commit(0, ms.Size()); err != nil {
		sp.Close()
		ms.Close()
		return nil, err
	}
	l := &Log{space: sp, base: sp.Base(), shift: c.Shift, budget: c.Budget, metas: ms, policy: evict.New(), reserve: c.Reserve, keep: c.Keep}
	l.segs = unsafe.Slice((*segment)(ms.Base()), n)
	l.dead = unsafe.Slice((*uint32)(unsafe.Add(ms.Base(), uintptr(n)*unsafe.Sizeof(segment{}))), n)
	for q := range l.chains {
		l.chains[q] = chain{-1, -1}
	}
	if c.Saved == nil {
		l.stockUp()
	}
	return l, nil
}

// stockUp takes the reserve: what is charged without asking (index) or in large pieces (regions) must not eat it.
func (l *Log) stockUp() {
	for len(l.spare) < l.reserve {
		s := l.grow()
		if s < 0 {
			return
		}
		l.segs[s].state = free
		l.spare = append(l.spare, s)
	}
}

// Close gives the memory back.
func (l *Log) Close() error {
	l.metas.Close()
	return l.space.Close()
}

// Shift is log2 of the segment size.
func (l *Log) Shift() uint8 { return uint8(l.shift) }

// SegmentSize in bytes.
func (l *Log) SegmentSize() int { return 1 << l.shift }

// At is the item that ref refers to.
func (l *Log) At(ref uint64) Item { return Item{unsafe.Add(l.base, uintptr(ref)*8)} }

func (l *Log) ref(it Item) uint64 { return uint64(uintptr(it.p)-uintptr(l.base)) / 8 }

// Segment that ref lies in.
func (l *Log) Segment(ref uint64) int32 { return int32(ref >> (l.shift - 3)) }

// Gen is the flush generation of the segment that ref lies in. The item's stripe is held.
func (l *Log) Gen(ref uint64) uint32 { return l.segs[l.Segment(ref)].gen }

// Queue of the segment that ref lies in. The item's stripe is held.
func (l *Log) Queue(ref uint64) evict.Queue { return l.segs[l.Segment(ref)].queue }

// Weigh adds n bytes (negative: takes them away) of a region to the queue of the item at ref.
func (l *Log) Weigh(ref uint64, n int) { l.regionBytes[l.Queue(ref)].Add(int64(n)) }

// Kill counts the bytes of an item that was just unlinked, under its stripe.
func (l *Log) Kill(ref uint64, size int) { atomic.AddUint32(&l.dead[l.Segment(ref)], uint32(size)) }

// Pin keeps the segment of ref from being used again until Unpin. The item's stripe is held.
func (l *Log) Pin(ref uint64) int32 {
	s := l.Segment(ref)
	atomic.AddInt32(&l.segs[s].pins, 1)
	return s
}

// Unpin ends a Pin.
func (l *Log) Unpin(seg int32) { atomic.AddInt32(&l.segs[seg].pins, -1) }

// Due notes that an item of size bytes in the segment of ref expires at ms, and had so many seconds to live when that was
// set.
func (l *Log) Due(ref uint64, size int, ms int64, had uint32) {
	s := &l.segs[l.Segment(ref)]
	b := bits.Len64(uint64(max(ms-atomic.LoadInt64(&s.opened), 0)) / 1000)
	atomic.AddUint32(&s.due[min(b, dueBuckets-1)], uint32(size))
	if by, m := latest(second(ms), had), atomic.LoadUint32(&s.must); m == 0 || by < m {
		s.sweepBy(by)
	}
}

// sweepBy notes the second by which something has to be swept.
func (s *segment) sweepBy(sec uint32) {
	for {
		m := atomic.LoadUint32(&s.must)
		if m != 0 && m <= sec || atomic.CompareAndSwapUint32(&s.must, m, sec) {
			return
		}
	}
}

// An expired item that nobody asks for is gone a minute after it expired, or a tenth of the time it had to live if that is
// more. These are a little less, for the time that a pass of the sweeper takes.
const (
	lateLeast = 50 // seconds
	latePart  = 11
)

// latest is the second by which an item is to be swept that expires in second sec and had so many to live.
func latest(sec, had uint32) uint32 { return sec + max(lateLeast, had/latePart) }

// second of the timeline, or one that never comes.
func second(ms int64) uint32 { return uint32(min(uint64(ms)/1000, 1<<31)) }

// had is about how many seconds an item of segment s that expires at ms had to live. The last access of one that nobody read
// is when it was stored. For others the age of the segment has to do: were it the access again, a busy item with little time
// left would have its segment walked over and over.
func (l *Log) had(it Item, s int32, ms int64) uint32 {
	sec := second(ms)
	if it.Has(Fetched) {
		return sec - min(sec, l.segs[s].born)
	}
	return (sec - it.Access()) & accMask
}

// take gives a segment to write to, or -1. relocating writers may use the reserve. l.mu is held.
func (l *Log) take(relocating bool) int32 {
	l.recheck()
	size := int64(1) << l.shift
	left := len(l.spare)
	if !relocating {
		left -= l.reserve
	}
	if left > 0 {
		s := l.spare[len(l.spare)-1]
		l.spare = l.spare[:len(l.spare)-1]
		return s
	}
	if !relocating && l.budget.Left() < int64(l.reserve-len(l.spare)+1)*size {
		return -1
	}
	if !relocating && l.worthCleaning() {
		return -1
	}
	return l.grow()
}

// grow takes memory for one more segment, -1 if the limit does not allow it. l.mu is held.
func (l *Log) grow() int32 {
	if len(l.gone) == 0 && int(l.next) == len(l.segs) || !l.budget.TryCharge(1<<l.shift) {
		return -1
	}
	s, n := l.next, len(l.gone)
	if n > 0 {
		s = l.gone[n-1]
	}
	if l.space.Commit(int64(s)<<l.shift, 1<<l.shift) != nil {
		l.budget.Lose(1 << l.shift)
		return -1
	}
	if n > 0 {
		l.gone = l.gone[:n-1]
	} else {
		l.next++
	}
	return s
}

// worthCleaning says whether there is so much garbage that the log should not grow. l.mu is held.
func (l *Log) worthCleaning() bool {
	total := l.bytes[evict.Small] + l.bytes[evict.Main]
	if total < l.keep {
		return false
	}
	return l.garbage()*5 > total*2
}

// garbage is about scanGarbage: of a log of many thousand segments, not every call counts anew. l.mu is held.
func (l *Log) garbage() int64 {
	if l.stale--; l.stale < 0 {
		l.lastGarbage, l.stale = l.scanGarbage(), l.next/scanWindow
	}
	return l.lastGarbage
}

// scanGarbage is the number of bytes in sealed segments that hold nothing alive. l.mu is held.
func (l *Log) scanGarbage() (n int64) {
	for s := range l.segs[:l.next] {
		if l.segs[s].state == sealed {
			n += l.waste(int32(s))
		}
	}
	return n
}

// waste is how many bytes cleaning a sealed segment would gain: what is dead in it, and its end if it was sealed early. An
// end that the next item did not fit into is no gain, or cleaning would go on forever with nothing dead about.
func (l *Log) waste(s int32) int64 {
	n := int64(atomic.LoadUint32(&l.dead[s]))
	if end := int64(1)<<l.shift - int64(l.segs[s].used); end*4 >= 1<<l.shift {
		n += end
	}
	return n
}

// live is the number of bytes of a sealed segment that slots refer to.
func (l *Log) live(s int32) int64 {
	return int64(l.segs[s].used) - int64(atomic.LoadUint32(&l.dead[s]))
}

// seal puts a written segment at the end of its queue's chain. l.mu is held.
func (l *Log) seal(s int32) {
	g := &l.segs[s]
	g.state = sealed
	l.bytes[g.queue] += 1 << l.shift
	c := &l.chains[g.queue]
	g.prev, g.next = c.last, -1
	if c.last >= 0 {
		l.segs[c.last].next = s
	} else {
		c.first = s
	}
	c.last = s
}

// unchain takes a sealed segment out of its chain. l.mu is held.
func (l *Log) unchain(s int32) {
	g := &l.segs[s]
	c := &l.chains[g.queue]
	if g.prev >= 0 {
		l.segs[g.prev].next = g.next
	} else {
		c.first = g.next
	}
	if g.next >= 0 {
		l.segs[g.next].prev = g.prev
	} else {
		c.last = g.prev
	}
	l.bytes[g.queue] -= 1 << l.shift
}

// Free takes back a segment whose items are all unlinked.
func (l *Log) Free(s int32) {
	l.mu.Lock()
	l.release(s)
	l.mu.Unlock()
}

func (l *Log) release(s int32) {
	g := &l.segs[s]
	if atomic.LoadInt32(&g.pins) != 0 {
		g.state = waiting
		l.waits = append(l.waits, s)
		return
	}
	atomic.StoreUint32(&l.dead[s], 0)
	if l.budget.Left() < 0 && len(l.spare) >= l.reserve {
		l.giveBack(s)
		return
	}
	g.state = free
	l.spare = append(l.spare, s)
}

func (l *Log) giveBack(s int32) {
	l.segs[s].state = unused
	l.space.Release(int64(s)<<l.shift, 1<<l.shift)
	l.budget.Refund(1 << l.shift)
	l.gone = append(l.gone, s)
}

// recheck frees segments that waited for replies to be sent. l.mu is held.
func (l *Log) recheck() {
	if len(l.waits) == 0 {
		return
	}
	w := l.waits
	l.waits = l.waits[:0:0]
	for _, s := range w {
		l.release(s)
	}
}

// Shrink gives free segments back to the system until the budget has n bytes left, or there are none.
func (l *Log) Shrink(n int64) {
	l.mu.Lock()
	l.recheck()
	for l.budget.Left() < n && len(l.spare) > l.reserve {
		s := l.spare[len(l.spare)-1]
		l.spare = l.spare[:len(l.spare)-1]
		l.giveBack(s)
	}
	l.mu.Unlock()
}

// Live bytes in sealed segments, and in regions.
func (l *Log) Live() int64 {
	l.mu.Lock()
	defer l.mu.Unlock()
	n := l.bytes[evict.Small] + l.bytes[evict.Main] - l.scanGarbage()
	return n + l.regionBytes[evict.Small].Load() + l.regionBytes[evict.Main].Load()
}

// Older says whether any segment with items is of a generation before gen.
func (l *Log) Older(gen uint32) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.segs[:l.next] {
		g := &l.segs[s]
		if g.gen < gen && (g.state == open || g.state == draining || g.state == sealed && l.live(int32(s)) > 0) {
			return true
		}
	}
	return false
}

// Base is the address that references count from.
func (l *Log) Base() unsafe.Pointer { return l.base }

// Addresses is the size of the reservation, bytes.
func (l *Log) Addresses() int64 { return l.space.Size() }

// Tight says whether fewer than n segments are there to be taken without reclaiming anything.
func (l *Log) Tight(n int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	have := int64(len(l.spare) - l.reserve)
	if have < int64(n) && !l.worthCleaning() {
		have += l.budget.Left() >> l.shift
	}
	return have < int64(n)
}

// Note passes requests and hits on to the policy.
func (l *Log) Note(gets, hits, items int64) {
	l.mu.Lock()
	l.policy.Note(gets, hits, items)
	l.mu.Unlock()
}

// Counts of the log: committed and spare segments, bytes of sealed ones by queue and how many of them are garbage, the
// small queue's share.
type Counts struct {
	Segments, Spare int
	Written         [evict.Queues]int64
	Garbage         int64
	Share           float64
}

// Counts is for statistics.
func (l *Log) Counts() Counts {
	l.mu.Lock()
	defer l.mu.Unlock()
	return Counts{int(l.next) - len(l.gone), len(l.spare), l.bytes, l.scanGarbage(), l.policy.Share()}
}
