// Package index finds items: from the hash of a key to the reference of its item, in 8 bytes a slot. It knows no keys;
// the caller compares them. Nothing here locks: a Table belongs to a stripe of the store and is used under its lock, the
// Pool that feeds all tables with groups has a lock of its own.
//
// A Table is extendible hashing in small: a directory of groups, each of 2 KiB,
//
//	group   32 buckets of 64 bytes, filled from the home bucket on (wrapping round inside the group)
//	bucket  8 slots
//	slot    63      39 38   37 36                                   0
//	        [ tag 25 ][ ctr 2 ][ reference 37: byte offset / 8      ]     0 = empty
//
// The tag is 25 bits of the hash: its top bits choose the group, its low 5 bits the home bucket, all of it tells most
// other keys apart. So growing, splitting and merging move slots without looking at items: a split touches 230 slots of one
// group, a few microseconds. ctr is the eviction policy's access counter.
//
// Tables of different stripes cover shares of the hash space that differ by up to two (see Spread), so that their groups
// do not all split at the same number of items: the index takes about 12 bytes an item at any size.
package index

import (
	"math"
	"sync/atomic"
	"unsafe"

	"godwit/internal/mem"
)

const (
	tagBits  = 25
	ctrBits  = 2
	refBits  = 37
	tagShift = ctrBits + refBits
	ctrShift = refBits
	refMask  = 1<<refBits - 1
	ctrMask  = 1<<ctrBits - 1

	slotsPerBucket = 8
	buckets        = 32
	groupSlots     = buckets * slotsPerBucket
	GroupBytes     = groupSlots * 8 // bytes of one group

	splitAt  = groupSlots * 9 / 10 // a group with so many slots in use splits
	mergeAt  = groupSlots * 4 / 10 // two halves with so few together become one
	maxDepth = tagBits - 5         // directory bits must leave the home bucket's alone

	MaxCtr = ctrMask
)

// MaxOffset is the first byte offset that a reference cannot express.
const MaxOffset = 1 << (refBits + 3)

// Slot is the content of a slot.
type Slot uint64

// Ref is the item's byte offset divided by 8. 0 is no item.
func (s Slot) Ref() uint64 { return uint64(s) & refMask }

// Ctr is the access counter, 0 to MaxCtr.
func (s Slot) Ctr() uint64 { return uint64(s) >> ctrShift & ctrMask }

// With is the slot with another reference and counter.
func (s Slot) With(ref, ctr uint64) Slot {
	return Slot(uint64(s)>>tagShift<<tagShift | ctr<<ctrShift | ref)
}

// Tag of a key's hash.
func Tag(hash uint64) uint32 { return uint32(hash) >> (32 - tagBits) }

// Spread maps the upper half of a hash to one of n tables: table i gets a share of the hash space proportional to 2^(i/n).
type Spread struct {
	n     uint64
	knots [65]uint64 // log2(1+k/64) in 32-bit fixed point
}

// NewSpread for n tables.
func NewSpread(n int) Spread {
	s := Spread{n: uint64(n)}
	for k := range s.knots {
		s.knots[k] = min(uint64(math.Log2(1+float64(k)/64)*(1<<32)), 1<<32-1)
	}
	return s
}

// Table is the number of the table that the hash belongs to.
func (s *Spread) Table(hash uint64) int {
	u := hash >> 32
	k := u >> 26
	a, b := s.knots[k&63], s.knots[k&63+1]
	x := a + (b-a)*(u&(1<<26-1))>>26
	return int(x * s.n >> 32)
}

type group [groupSlots]Slot

// Table is the index of one stripe. It is not safe for concurrent use, except for Warm.
type Table struct {
	dir    unsafe.Pointer // of the directory, atomic; inline while that is enough
	items  int32
	inline [inlineGroups + 1]uint32
}

// directory is the address of the depth, then of 2^depth group numbers, 4 bytes each. They are stored atomically, so that
// Warm may follow them without the lock.
type directory unsafe.Pointer

const inlineGroups = 8

// at is word i of the directory.
func at(d directory, i uint32) *uint32 {
	return (*uint32)(unsafe.Add(unsafe.Pointer(d), uintptr(i)*4))
}

// depth is the number of bits of the tag that the directory looks at.
func (t *Table) depth() uint32 { return *at(directory(t.dir), 0) }

// id of the group that the tag belongs to.
func (t *Table) id(tag uint32) uint32 {
	d := directory(t.dir)
	return *at(d, 1+tag>>(tagBits-*at(d, 0)))
}

// Init gives the table its first group. t must not move afterwards.
func (t *Table) Init(p *Pool) {
	t.inline[1] = p.alloc()
	t.dir = unsafe.Pointer(&t.inline)
}

// Items in the table.
func (t *Table) Items() int { return int(t.items) }

func home(tag uint32) uint32 { return tag % buckets * slotsPerBucket }

// Find is the first slot with the tag, nil when there is none. The pointer is valid until the table changes.
func (t *Table) Find(p *Pool, tag uint32) *Slot {
	g := p.group(t.id(tag))
	b := (*[slotsPerBucket]Slot)(unsafe.Pointer(&g[home(tag)]))
	for i := range b {
		if s := b[i]; uint32(s>>tagShift) == tag && s != 0 {
			return &b[i]
		} else if s == 0 { // a bucket fills from its first slot, and into the next one only when it is full
			return nil
		}
	}
	return g.search(tag, slotsPerBucket)
}

// After is the next slot with the tag behind s, which Find or After gave for it.
func (t *Table) After(p *Pool, tag uint32, s *Slot) *Slot {
	g := p.group(t.id(tag))
	at := uint32((uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(g))) / 8)
	return g.search(tag, (at-home(tag))%groupSlots+1)
}

// search looks from the n-th slot behind the home bucket's first one on.
func (g *group) search(tag, n uint32) *Slot {
	for ; n < groupSlots; n++ {
		s := &g[(home(tag)+n)%groupSlots]
		if *s == 0 {
			return nil
		}
		if uint32(*s>>tagShift) == tag {
			return s
		}
	}
	return nil
}

// FindRef is the slot with this tag that holds ref, or nil.
func (t *Table) FindRef(p *Pool, tag uint32, ref uint64) *Slot {
	s := t.Find(p, tag)
	for s != nil && s.Ref() != ref {
		s = t.After(p, tag, s)
	}
	return s
}

// Insert adds a slot. false: the group is full and cannot split any further (billions of items, or hashes that collide
// on purpose); nothing was changed.
func (t *Table) Insert(p *Pool, tag uint32, ref, ctr uint64) bool {
	for {
		id := t.id(tag)
		m := p.meta(id)
		if m.items >= splitAt && t.split(p, tag, id) {
			continue
		}
		if m.items == groupSlots {
			return false
		}
		put(p.group(id), Slot(uint64(tag)<<tagShift|ctr<<ctrShift|ref))
		m.items++
		t.items++
		return true
	}
}

// put adds to a group that has room.
func put(g *group, s Slot) {
	i := home(uint32(s >> tagShift))
	for g[i%groupSlots] != 0 {
		i++
	}
	g[i%groupSlots] = s
}

// Remove empties the slot, which Find gave for tag, and closes the gap.
func (t *Table) Remove(p *Pool, tag uint32, s *Slot) {
	id := t.id(tag)
	g := p.group(id)
	hole := uint32((uintptr(unsafe.Pointer(s)) - uintptr(unsafe.Pointer(g))) / 8)
	// Linear probing: a later slot moves into the hole unless it would come to lie before its home bucket.
	for i := hole + 1; i-hole < groupSlots; i++ {
		c := g[i%groupSlots]
		if c == 0 {
			break
		}
		if (i-home(uint32(c>>tagShift)))%groupSlots >= i-hole {
			g[hole%groupSlots] = c
			hole = i
		}
	}
	g[hole%groupSlots] = 0
	m := p.meta(id)
	m.items--
	t.items--
	if m.items < mergeAt/2 && m.depth > 0 {
		t.merge(p, tag, id)
	}
}

// split divides the group into two by the next bit of the tag. false at the greatest depth, or without a free group.
func (t *Table) split(p *Pool, tag uint32, id uint32) bool {
	m := p.meta(id)
	if m.depth >= maxDepth {
		return false
	}
	other := p.alloc()
	if other == noGroup {
		return false
	}
	if uint32(m.depth) == t.depth() {
		t.double()
	}
	bit := uint32(1) << (tagBits - 1 - m.depth)
	m.depth++
	om := p.meta(other)
	om.depth = m.depth
	old := *p.group(id) // 2 KiB on the stack
	*p.group(id) = group{}
	m.items, om.items = 0, 0
	for _, s := range old {
		if s == 0 {
			continue
		}
		if uint32(s>>tagShift)&bit != 0 {
			put(p.group(other), s)
			om.items++
		} else {
			put(p.group(id), s)
			m.items++
		}
	}
	t.point(uint32(tag>>(tagBits-m.depth)|1), m.depth, other) // the upper half of the old prefix
	return true
}

// double makes room for one more bit of the tag in the directory.
func (t *Table) double() {
	depth := t.depth()
	old := directory(t.dir)
	d := old
	if 2<<depth > inlineGroups {
		d = directory(unsafe.SliceData(make([]uint32, 2<<depth+1)))
	}
	for i := uint32(1) << depth; i > 0; i-- { // from the end: it may be the same place
		id := *at(old, i)
		atomic.StoreUint32(at(d, 2*i), id)
		atomic.StoreUint32(at(d, 2*i-1), id)
	}
	atomic.StoreUint32(at(d, 0), depth+1)
	atomic.StorePointer(&t.dir, unsafe.Pointer(d))
}

// point has the directory entries of a prefix of depth bits name group id.
func (t *Table) point(prefix uint32, depth uint8, id uint32) {
	d := directory(t.dir)
	width := uint32(1) << (t.depth() - uint32(depth))
	for i := prefix * width; i < (prefix+1)*width; i++ {
		atomic.StoreUint32(at(d, 1+i), id)
	}
}

// merge joins a sparse group with its other half, if that is as deep and both fit well into one.
func (t *Table) merge(p *Pool, tag uint32, id uint32) {
	m := p.meta(id)
	prefix := tag >> (tagBits - m.depth)
	buddy := t.id((prefix ^ 1) << (tagBits - m.depth))
	bm := p.meta(buddy)
	if bm.depth != m.depth || m.items+bm.items > mergeAt {
		return
	}
	g := p.group(id)
	for _, s := range p.group(buddy) {
		if s != 0 {
			put(g, s)
		}
	}
	m.items += bm.items
	m.depth--
	t.point(prefix>>1, m.depth, id)
	p.free(buddy)
}

// Each calls fn for the slots of the group at a place of the directory and returns the place after it, or -1 at the end.
// fn must not change the table. A walk over all places visits every group once, and after splits and merges in between
// still everything that was there all the time (places are given as top bits of the tag, 32 bits wide).
func (t *Table) Each(p *Pool, from uint64, fn func(s Slot)) (next int64) {
	id := t.id(uint32(from >> (32 - tagBits)))
	for _, s := range p.group(id) {
		if s != 0 {
			fn(s)
		}
	}
	d := p.meta(id).depth
	n := (from>>(32-d) + 1) << (32 - d)
	if n >= 1<<32 {
		return -1
	}
	return int64(n)
}

// Warm asks the processor for the home bucket of the tag, WarmItem, once that has come, for the items under it, which lie
// at base + 8*reference. Both are hints: they take no lock and read what may be changing, so a wrong address is possible
// and harmless. The race detector would object, so under it they do nothing.
func (t *Table) Warm(p *Pool, tag uint32) unsafe.Pointer {
	d := directory(atomic.LoadPointer(&t.dir))
	id := atomic.LoadUint32(at(d, 1+tag>>(tagBits-atomic.LoadUint32(at(d, 0)))))
	b := unsafe.Pointer(&p.group(id)[home(tag)])
	mem.Prefetch(b)
	return b
}

// WarmItem is the second half of Warm.
func WarmItem(bucket, base unsafe.Pointer, tag uint32) {
	b := (*[slotsPerBucket]uint64)(bucket)
	for i := range b {
		if s := atomic.LoadUint64(&b[i]); uint32(s>>tagShift) == tag {
			mem.Prefetch3(unsafe.Add(base, s&refMask*8)) // header, key, and most small values
			return
		}
	}
}
