package store

import (
	"math/bits"
	"sort"
	"sync"

	"godwit/internal/log"
)

// Stats is the engine's own account, summed over Locals.
type Stats struct {
	Items, TotalItems       uint64 // linked now; links ever
	Bytes                   uint64 // memcached's measure: 48 + key + 1 + value + 2 (+8 with CAS, +4 with flags) per item
	Evictions               uint64
	EvictedUnfetched        uint64
	EvictedActive           uint64
	ExpiredUnfetched        uint64
	Reclaimed               uint64 // expired items come upon by eviction and cleaning, or by a command
	Swept                   uint64 // expired items removed by the background sweep
	SweptChecked            uint64
	OutOfMemory             uint64
	LogBytes, IndexBytes    uint64 // committed
	RegionBytes, GhostBytes uint64
	Regions                 uint64
	Segments, FreeSegments  uint64
	GarbageBytes            uint64
	CopiedBytes             uint64 // moved by cleaning and eviction
	SmallShare              float64
	Class                   [64]ClassStats // by memcached's slab class of the item (see ClassOf)
}

// ClassStats are the engine's counts for one of memcached's size classes.
type ClassStats struct {
	Items, Bytes                               int64
	Evicted, EvictedNonzero, EvictedUnfetched  uint64
	EvictedActive, ExpiredUnfetched, Reclaimed uint64
	OutOfMemory, Swept, SweptChecked           uint64
	EvictedTime                                uint64 // seconds since the last access of the latest eviction
}

// stats are a Local's own; published under mu.
type stats struct {
	total, copied uint64
	class         [64]ClassStats
	dirty         uint64 // classes changed since Publish

	mu  sync.Mutex
	pub struct {
		total, copied uint64
		class         [64]ClassStats
	}
}

// classes are memcached's slab classes, which its statistics count by.
type classes struct {
	sizes []int // ascending; class i+1 has sizes[i]
	cas   int   // bytes of a CAS id in memcached's items: 8, or 0 with -C
	small [smallClass + 1]uint8
}

const smallClass = 1024 // sizes up to 8 KiB are looked up in steps of 8

// SetClasses sets the chunk sizes of memcached's classes. Before the first item.
func (s *Store) SetClasses(sizes []int, casOverhead int) {
	s.classes.sizes, s.classes.cas = sizes, casOverhead
	for i := range s.classes.small {
		s.classes.small[i] = uint8(s.classes.search(i * 8))
	}
}

func (c *classes) search(size int) int {
	if len(c.sizes) == 0 {
		return 0
	}
	return min(sort.SearchInts(c.sizes, size)+1, len(c.sizes), 63)
}

// itemBytes is memcached's measure of an item.
func (c *classes) itemBytes(klen, vlen int, flags bool) int {
	n := 48 + klen + 1 + vlen + 2 + c.cas
	if flags {
		n += 4
	}
	return n
}

func (c *classes) of(size int) int {
	if i := (size + 7) / 8; i <= smallClass {
		return int(c.small[i])
	}
	return c.search(size)
}

// ClassOf an item by memcached's measure; items too large for all classes count in the last one.
func (s *Store) ClassOf(klen, vlen int, flags uint32) int {
	return s.classes.of(s.classes.itemBytes(klen, vlen, flags != 0))
}

// Class of the item found.
func (e *Entry) Class() int { c, _, _ := e.l.classOf(e.item); return c }

func (l *Local) classOf(it log.Item) (class, size int, c *ClassStats) {
	size = l.s.classes.itemBytes(it.KeyLen(), it.Len(), it.Has(log.HasFlags))
	class = l.s.classes.of(size)
	l.dirty |= 1 << class
	return class, size, &l.class[class]
}

func (l *Local) linked(it log.Item) {
	_, n, c := l.classOf(it)
	c.Items++
	c.Bytes += int64(n)
	l.total++
	l.delta++
}

// Same takes back that Replace counted a new item (TotalItems): to the caller it changed the old one.
func (e *Entry) Same() { e.l.total-- }

func (l *Local) unlinked(it log.Item) {
	_, n, c := l.classOf(it)
	c.Items--
	c.Bytes -= int64(n)
	l.delta--
}

func (l *Local) evictedItem(it log.Item) {
	_, _, c := l.classOf(it)
	c.Evicted++
	if it.Expiry() != 0 {
		c.EvictedNonzero++
	}
	if !it.Has(Fetched) {
		c.EvictedUnfetched++
	}
	c.EvictedTime = uint64(l.now-accessMs(it, l.now)) / 1000
}

func (l *Local) reclaimed(it log.Item) {
	_, _, c := l.classOf(it)
	c.Reclaimed++
	if !it.Has(Fetched) {
		c.ExpiredUnfetched++
	}
}

// lazily counts an item that a command found dead.
func (l *Local) lazily(it log.Item) {
	if _, _, c := l.classOf(it); !it.Has(Fetched) {
		c.ExpiredUnfetched++
	}
}

// checked counts an item that the sweeper looks at, and gives its class.
func (l *Local) checked(it log.Item) (class int) {
	class, _, c := l.classOf(it)
	c.SweptChecked++
	return class
}

func (l *Local) sweptItem(it log.Item) {
	_, _, c := l.classOf(it)
	c.Swept++
	if !it.Has(Fetched) {
		c.ExpiredUnfetched++
	}
}

func (l *Local) outOfMemory(h *log.Head) {
	class := l.s.classes.of(l.s.classes.itemBytes(h.KLen, h.VLen, h.Flags != 0))
	l.dirty |= 1 << class
	l.class[class].OutOfMemory++
}

// Publish makes the counters of this Local visible to Stats. Called once per Feed, before the answer is sent.
func (l *Local) Publish() {
	if l.dirty == 0 {
		return
	}
	st := &l.stats
	st.mu.Lock()
	for d := st.dirty; d != 0; d &= d - 1 {
		i := bits.TrailingZeros64(d)
		st.pub.class[i] = st.class[i]
	}
	st.pub.total, st.pub.copied = st.total, st.copied
	st.mu.Unlock()
	st.dirty = 0
}

// Stats sums what all Locals have published.
func (s *Store) Stats() (t Stats) {
	for _, l := range s.locals {
		l.stats.mu.Lock()
		p := &l.stats.pub
		t.TotalItems += p.total
		t.CopiedBytes += p.copied
		for i := range p.class {
			t.Class[i].add(&p.class[i])
		}
		l.stats.mu.Unlock()
	}
	for i := range t.Class {
		c := &t.Class[i]
		t.Items += uint64(c.Items)
		t.Bytes += uint64(c.Bytes)
		t.Evictions += c.Evicted
		t.EvictedUnfetched += c.EvictedUnfetched
		t.EvictedActive += c.EvictedActive
		t.ExpiredUnfetched += c.ExpiredUnfetched
		t.Reclaimed += c.Reclaimed
		t.Swept += c.Swept
		t.SweptChecked += c.SweptChecked
		t.OutOfMemory += c.OutOfMemory
	}
	n := s.log.Counts()
	t.Segments, t.FreeSegments = uint64(n.Segments), uint64(n.Spare)
	t.LogBytes = uint64(n.Segments * s.log.SegmentSize())
	t.GarbageBytes, t.SmallShare = uint64(n.Garbage), n.Share
	t.IndexBytes, t.GhostBytes = uint64(s.pool.Bytes()), uint64(s.ghostMem.Size())
	rb, rc := s.regions.Used()
	t.RegionBytes, t.Regions = uint64(rb), uint64(rc)
	return t
}

func (c *ClassStats) add(o *ClassStats) {
	c.Items += o.Items
	c.Bytes += o.Bytes
	c.Evicted += o.Evicted
	c.EvictedNonzero += o.EvictedNonzero
	c.EvictedUnfetched += o.EvictedUnfetched
	c.EvictedActive += o.EvictedActive
	c.ExpiredUnfetched += o.ExpiredUnfetched
	c.Reclaimed += o.Reclaimed
	c.OutOfMemory += o.OutOfMemory
	c.Swept += o.Swept
	c.SweptChecked += o.SweptChecked
	c.EvictedTime = max(c.EvictedTime, o.EvictedTime)
}
