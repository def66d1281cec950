// Package log holds the items: one long reservation cut into segments, items appended to open segments, segments sealed,
// walked, emptied and used again. It draws the item's header. It does not find items (index), decide who may be seen or
// lock keys (store), or choose what to evict (evict); it keeps the chains of segments that those decisions work on.
package log

import (
	"sync/atomic"
	"unsafe"
)

// Item is an item in a segment. Its first 16 bytes are two words:
//
//	word 0  63      56 55    52 51                                             0
//	        [ bits 8 ][ type 4 ][ CAS id 52                                    ]
//	word 1  63  62 61                  38 37     30 29                         0
//	        [bits 2][ access 24          ][ klen 8 ][ vlen 30                  ]
//
//	bits    word 0: expiry, wide CAS, region, flags, space, stale, win sent, fetched; word 1: binary key, evictable
//	access  seconds of the timeline, modulo 2^24 (194 days)
//	klen    bytes of the key; 255 is kept for keys of the RESP door with a length of their own behind the header
//	vlen    bytes of the value
//
// then, each only if its bit is set: 8 bytes expiry (timeline, ms), 8 bytes CAS id that needs more than 52 bits, 8 bytes
// handle of the region that holds the value, 4 bytes client flags, 4 bytes keyspace id; then the key, the value (unless in a
// region), and padding to 8.
//
// Key, value and sizes never change. CAS id, expiry, access and marks are changed in place under the key's stripe, with
// atomic stores, because a walk over the segment reads sizes from the same words without that lock.
type Item struct{ p unsafe.Pointer }

// Bits of an item, as one number: word 0's eight and above them word 1's two.
type Bits uint16

const (
	HasExpiry Bits = 1 << iota
	WideCAS
	InRegion
	HasFlags
	HasSpace
	Stale
	WinSent
	Fetched
	BinaryKey
	Evictable

	shape = HasExpiry | WideCAS | InRegion | HasFlags | HasSpace // decide offsets; fixed once written
)

const (
	header    = 16
	casBits   = 52
	casMask   = 1<<casBits - 1
	typeShift = 52
	bitsShift = 56
	vlenMask  = 1<<30 - 1
	klenShift = 30
	accShift  = 38
	accMask   = 1<<24 - 1
	hiShift   = 62

	// MaxValue is the longest value, bytes.
	MaxValue = vlenMask
	// MaxKey is the longest key, bytes.
	MaxKey = 254
)

// keyOffset by shape bits.
var keyOffset = func() (t [32]uint8) {
	for b := range t {
		n := header
		for i := range 3 {
			n += 8 * (b >> i & 1)
		}
		for i := 3; i < 5; i++ {
			n += 4 * (b >> i & 1)
		}
		t[b] = uint8(n)
	}
	return
}()

func (it Item) word(i uintptr) *uint64 { return (*uint64)(unsafe.Add(it.p, i*8)) }

// Valid says whether there is an item at all.
func (it Item) Valid() bool { return it.p != nil }

// Bits of the item.
func (it Item) Bits() Bits {
	return Bits(*it.word(0)>>bitsShift) | Bits(*it.word(1)>>hiShift)<<8
}

// Has says whether all bits of b are set.
func (it Item) Has(b Bits) bool { return it.Bits()&b == b }

// SetBits sets and clears marks; those of the shape cannot change.
func (it Item) SetBits(set, clear Bits) {
	set, clear = set&^shape, clear&^shape
	w0 := *it.word(0)&^(uint64(clear&0xff)<<bitsShift) | uint64(set&0xff)<<bitsShift
	w1 := *it.word(1)&^(uint64(clear>>8)<<hiShift) | uint64(set>>8)<<hiShift
	it.put(0, w0)
	it.put(1, w1)
}

func (it Item) put(i uintptr, v uint64) {
	if p := it.word(i); *p != v {
		atomic.StoreUint64(p, v)
	}
}

// Type of the value, 0 to 15. 0 is a string.
func (it Item) Type() uint8 { return uint8(*it.word(0)>>typeShift) & 15 }

// CAS id.
func (it Item) CAS() uint64 {
	if it.Has(WideCAS) {
		return *it.ext(HasExpiry)
	}
	return *it.word(0) & casMask
}

// SetCAS stores a CAS id; false if it does not fit the item's shape.
func (it Item) SetCAS(id uint64) bool {
	if it.Has(WideCAS) {
		atomic.StoreUint64(it.ext(HasExpiry), id)
		return true
	}
	if id > casMask {
		return false
	}
	it.put(0, *it.word(0)&^casMask|id)
	return true
}

// ext is the 8-byte field that comes after those of before.
func (it Item) ext(before Bits) *uint64 {
	return (*uint64)(unsafe.Add(it.p, uintptr(keyOffset[it.Bits()&before])))
}

// Expiry on the timeline, ms; 0: never.
func (it Item) Expiry() int64 {
	if !it.Has(HasExpiry) {
		return 0
	}
	return int64(*it.word(2))
}

// SetExpiry changes it; false if the item has no room for one.
func (it Item) SetExpiry(ms int64) bool {
	if !it.Has(HasExpiry) {
		return ms == 0
	}
	atomic.StoreUint64(it.word(2), uint64(ms))
	return true
}

// Handle of the region that holds the value; only with InRegion.
func (it Item) Handle() uint64 { return *it.ext(HasExpiry | WideCAS) }

// Flags are the client's.
func (it Item) Flags() uint32 {
	b := it.Bits()
	if b&HasFlags == 0 {
		return 0
	}
	return *(*uint32)(unsafe.Add(it.p, uintptr(keyOffset[b&(HasExpiry|WideCAS|InRegion)])))
}

// Access is the second of the last access, modulo 2^24.
func (it Item) Access() uint32 { return uint32(*it.word(1)>>accShift) & accMask }

// SetAccess notes an access.
func (it Item) SetAccess(sec uint32) {
	it.put(1, *it.word(1)&^(accMask<<accShift)|uint64(sec&accMask)<<accShift)
}

// KeyLen in bytes.
func (it Item) KeyLen() int { return int(*it.word(1)>>klenShift) & 0xff }

// Len of the value in bytes.
func (it Item) Len() int { return int(*it.word(1) & vlenMask) }

// WalkKey is Key for a walk over a segment, without the stripe.
func (it Item) WalkKey() []byte {
	w0, w1 := atomic.LoadUint64(it.word(0)), atomic.LoadUint64(it.word(1))
	return unsafe.Slice((*byte)(unsafe.Add(it.p, uintptr(keyOffset[Bits(w0>>bitsShift)&shape]))), int(w1>>klenShift)&0xff)
}

// Key lies in the segment: valid while the key's stripe is held, or the segment is pinned or being walked.
func (it Item) Key() []byte {
	return unsafe.Slice((*byte)(unsafe.Add(it.p, uintptr(keyOffset[it.Bits()&shape]))), it.KeyLen())
}

// Value lies in the segment like Key; empty with InRegion.
func (it Item) Value() []byte {
	b := it.Bits()
	if b&InRegion != 0 {
		return nil
	}
	return unsafe.Slice((*byte)(unsafe.Add(it.p, uintptr(keyOffset[b&shape])+uintptr(it.KeyLen()))), it.Len())
}

// Match says whether the item's key is key. The stripe is held.
func (it Item) Match(key []byte) bool {
	return it.KeyLen() == len(key) && string(it.Key()) == string(key)
}

// Touch notes an access at sec, or, as memcached does, only that it was the first. A word is written only if it changes. The
// stripe is held.
func (it Item) Touch(sec uint32) {
	const fetched = uint64(Fetched) << bitsShift
	if w := *it.word(0); w&fetched == 0 {
		atomic.StoreUint64(it.word(0), w|fetched)
		return
	}
	if w := *it.word(1); uint32(w>>accShift)&accMask != sec&accMask {
		atomic.StoreUint64(it.word(1), w&^(accMask<<accShift)|uint64(sec&accMask)<<accShift)
	}
}

// MayExpire says whether the item has an expiry, without the stripe.
func (it Item) MayExpire() bool { return Bits(atomic.LoadUint64(it.word(0))>>bitsShift)&HasExpiry != 0 }

// Size is what the item takes in its segment, bytes.
func (it Item) Size() int {
	w0, w1 := atomic.LoadUint64(it.word(0)), atomic.LoadUint64(it.word(1))
	return size(Bits(w0>>bitsShift)&shape, int(w1>>klenShift)&0xff, int(w1&vlenMask))
}

func size(b Bits, klen, vlen int) int {
	n := int(keyOffset[b&shape]) + klen
	if b&InRegion == 0 {
		n += vlen
	}
	return (n + 7) &^ 7
}

// Head describes an item to write.
type Head struct {
	Bits   Bits
	Type   uint8
	Flags  uint32
	Space  uint32
	Expiry int64
	CAS    uint64
	Handle uint64
	Access uint32
	KLen   int
	VLen   int
}

// Normalize sets the shape bits that the fields need.
func (h *Head) Normalize() {
	h.Bits &^= HasFlags | HasSpace | HasExpiry | WideCAS
	if h.Flags != 0 {
		h.Bits |= HasFlags
	}
	if h.Space != 0 {
		h.Bits |= HasSpace
	}
	if h.Expiry != 0 {
		h.Bits |= HasExpiry
	}
	if h.CAS > casMask {
		h.Bits |= WideCAS
	}
}

// Size that the item will take, bytes. h is normalized.
func (h *Head) Size() int { return size(h.Bits, h.KLen, h.VLen) }

// write puts the header at p, which nobody else sees yet.
func (h *Head) write(p unsafe.Pointer) Item {
	it := Item{p}
	w0 := uint64(h.Bits&0xff)<<bitsShift | uint64(h.Type)<<typeShift
	if h.Bits&WideCAS == 0 {
		w0 |= h.CAS & casMask
	}
	*it.word(0) = w0
	*it.word(1) = uint64(h.Bits>>8)<<hiShift | uint64(h.Access&accMask)<<accShift | uint64(h.KLen)<<klenShift | uint64(h.VLen)
	q := unsafe.Add(p, header)
	if h.Bits&HasExpiry != 0 {
		*(*int64)(q) = h.Expiry
		q = unsafe.Add(q, 8)
	}
	if h.Bits&WideCAS != 0 {
		*(*uint64)(q) = h.CAS
		q = unsafe.Add(q, 8)
	}
	if h.Bits&InRegion != 0 {
		*(*uint64)(q) = h.Handle
		q = unsafe.Add(q, 8)
	}
	if h.Bits&HasFlags != 0 {
		*(*uint32)(q) = h.Flags
		q = unsafe.Add(q, 4)
	}
	if h.Bits&HasSpace != 0 {
		*(*uint32)(q) = h.Space
	}
	return it
}

// Head of an existing item, to write a changed copy. The stripe is held.
func (it Item) Head() Head {
	h := Head{
		Bits: it.Bits(), Type: it.Type(), Flags: it.Flags(), Expiry: it.Expiry(), CAS: it.CAS(),
		Access: it.Access(), KLen: it.KeyLen(), VLen: it.Len(),
	}
	if h.Bits&InRegion != 0 {
		h.Handle = it.Handle()
	}
	if h.Bits&HasSpace != 0 {
		h.Space = *(*uint32)(unsafe.Add(it.p, uintptr(keyOffset[h.Bits&shape])-4))
	}
	return h
}
