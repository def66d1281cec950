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
	"unsafe"
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

// Table is the index of one stripe. It is not safe for concurrent use.
type Table struct {
	dir    []uint32 // group numbers, 2^depth of them; points into inline while that is enough
	depth  uint8
	items  int32
	inline [8]uint32
}

// Init gives the table its first group. t must not move afterwards.
func (t *Table) Init(p *Pool) {
	t.inline[0] = p.alloc()
	t.dir = t.inline[:1]
	p.meta(t.inline[0]).depth = 0
}

// Items in the table.
func (t *Table) Items() int { return int(t.items) }

// Probe is a search for the slots of one tag. It lives on the stack of the caller.
type Probe struct {
	g     *group
	slot  uint32 // next slot to look at
	left  int32  // buckets left to look at
	tag   uint32
	group uint32
}

// Find starts a search.
func (t *Table) Find(p *Pool, tag uint32) (pr Probe) {
	id := t.dir[tag>>(tagBits-t.depth)]
	return Probe{g: p.group(id), slot: home(tag), left: buckets, tag: tag, group: id}
}

func home(tag uint32) uint32 { return tag % buckets * slotsPerBucket }

// Next is the next slot with the tag, nil when there is none. The pointer is valid until the table changes.
func (pr *Probe) Next() *Slot {
	i := pr.slot
	for pr.left > 0 {
		s := &pr.g[i%groupSlots]
		if uint32(*s>>tagShift) == pr.tag && *s != 0 {
			pr.slot = i + 1
			if pr.slot%slotsPerBucket == 0 {
				pr.left--
			}
			return s
		}
		if *s == 0 { // slots of a bucket fill from its start: nothing of this tag lies beyond
			pr.left = 0
			return nil
		}
		if i++; i%slotsPerBucket == 0 {
			pr.left--
		}
	}
	return nil
}

// FindRef is the slot with this tag that holds ref, or nil.
func (t *Table) FindRef(p *Pool, tag uint32, ref uint64) *Slot {
	pr := t.Find(p, tag)
	for s := pr.Next(); s != nil; s = pr.Next() {
		if s.Ref() == ref {
			return s
		}
	}
	return nil
}

// Insert adds a slot. false: the group is full and cannot split any further (billions of items, or hashes that collide
// on purpose); nothing was changed.
func (t *Table) Insert(p *Pool, tag uint32, ref, ctr uint64) bool {
	for {
		id := t.dir[tag>>(tagBits-t.depth)]
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
	id := t.dir[tag>>(tagBits-t.depth)]
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

// split divides the group into two by the next bit of the tag. false at the greatest depth.
func (t *Table) split(p *Pool, tag uint32, id uint32) bool {
	m := p.meta(id)
	if m.depth >= maxDepth {
		return false
	}
	if m.depth == t.depth { // double the directory
		old := t.dir
		if 2*len(old) <= len(t.inline) {
			t.dir = t.inline[:2*len(old)]
		} else {
			t.dir = make([]uint32, 2*len(old))
		}
		for i := len(old) - 1; i >= 0; i-- {
			t.dir[2*i+1], t.dir[2*i] = old[i], old[i]
		}
		t.depth++
	}
	bit := uint32(1) << (tagBits - 1 - m.depth)
	m.depth++
	other := p.alloc()
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
	// the directory entries of the upper half of the old prefix
	width := 1 << (t.depth - m.depth)
	first := int(tag>>(tagBits-m.depth)|1) * width
	for i := first; i < first+width; i++ {
		t.dir[i] = other
	}
	return true
}

// merge joins a sparse group with its other half, if that is as deep and both fit well into one.
func (t *Table) merge(p *Pool, tag uint32, id uint32) {
	m := p.meta(id)
	prefix := int(tag >> (tagBits - m.depth))
	width := 1 << (t.depth - m.depth)
	buddy := t.dir[(prefix^1)*width]
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
	for i := (prefix &^ 1) * width; i < (prefix|1)*width+width; i++ {
		t.dir[i] = id
	}
	p.free(buddy)
}

// Each calls fn for the slots of the group at place i of the directory and returns the place after it, or -1 at the end.
// fn must not change the table. A walk over all places visits every group once, and after splits and merges in between
// still everything that was there all the time (places are given as top bits of the tag, 32 bits wide).
func (t *Table) Each(p *Pool, at uint64, fn func(s Slot)) (next int64) {
	i := at >> (32 - t.depth)
	id := t.dir[i]
	for _, s := range p.group(id) {
		if s != 0 {
			fn(s)
		}
	}
	d := p.meta(id).depth
	n := (at>>(32-d) + 1) << (32 - d)
	if n >= 1<<32 {
		return -1
	}
	return int64(n)
}
