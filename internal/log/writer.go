package log

import (
	"sync/atomic"
	"unsafe"

	"godwit/internal/evict"
)

// Writer appends items to an open segment of its own. It belongs to one lane of the store and is not safe for concurrent
// use.
type Writer struct {
	l     *Log
	queue evict.Queue
	seg   int32 // -1: none open
	pos   uint32
}

// NewWriter for a queue.
func (l *Log) NewWriter(q evict.Queue) Writer { return Writer{l: l, queue: q, seg: -1} }

// Has says whether n bytes can be appended to a segment of generation gen.
func (w *Writer) Has(n int, gen uint32) bool {
	return w.seg >= 0 && int(w.pos)+n <= 1<<w.l.shift && w.l.segs[w.seg].gen == gen
}

// Gen is the generation of the open segment; there is one.
func (w *Writer) Gen() uint32 { return w.l.segs[w.seg].gen }

// Open seals what is open and takes a segment of generation gen. false: none can be had without reclaiming.
func (w *Writer) Open(gen uint32, now int64, relocating bool) bool {
	l := w.l
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.take(relocating)
	if s < 0 {
		return false
	}
	w.seal()
	g := &l.segs[s]
	*g = segment{state: open, queue: w.queue, gen: gen, opened: now, born: second(now), prev: -1, next: -1}
	w.seg, w.pos = s, 0
	if s == 0 {
		w.pos = 8 // reference 0 means none
		g.used = 8
		atomic.StoreUint32(&l.dead[0], 8)
	}
	return true
}

// Seal closes the open segment, if any.
func (w *Writer) Seal() {
	w.l.mu.Lock()
	w.seal()
	w.l.mu.Unlock()
}

// Yield seals the open segment if emptying it can free anything: an item that may be evicted, or much garbage.
func (w *Writer) Yield(mayEvict bool) bool {
	if w.seg < 0 {
		return false
	}
	dead := atomic.LoadUint32(&w.l.dead[w.seg])
	if mayEvict && w.pos > first(w.seg) || int64(dead)*4 >= int64(1)<<w.l.shift {
		w.Seal()
		return true
	}
	return false
}

func (w *Writer) seal() {
	if w.seg < 0 {
		return
	}
	w.l.segs[w.seg].used = w.pos
	w.l.seal(w.seg)
	w.seg = -1
}

// Put appends an item with the key; its value is for the caller to fill. Has was asked.
func (w *Writer) Put(h *Head, key []byte) (Item, uint64) {
	off := int64(w.seg)<<w.l.shift + int64(w.pos)
	it := h.write(unsafe.Add(w.l.base, off))
	copy(it.Key(), key)
	n := h.Size()
	w.pos += uint32(n)
	if h.Expiry != 0 {
		w.l.Due(uint64(off)/8, n, h.Expiry, w.l.had(it, w.seg, h.Expiry))
	}
	return it, uint64(off) / 8
}

// Copy appends a copy of an item for relocation, unlinked so far. Has was asked.
func (w *Writer) Copy(it Item, n int) (Item, uint64) {
	off := int64(w.seg)<<w.l.shift + int64(w.pos)
	dst := Item{unsafe.Add(w.l.base, off)}
	copy(unsafe.Slice((*byte)(dst.p), n), unsafe.Slice((*byte)(it.p), n))
	w.pos += uint32(n)
	if it.Has(HasExpiry) {
		w.l.Due(uint64(off)/8, n, it.Expiry(), w.l.had(it, w.seg, it.Expiry()))
	}
	return dst, uint64(off) / 8
}

// WideSize is how much an item grows when Widen gives it a CAS id of more than 52 bits.
const WideSize = 8

// Widen gives the item that was appended last, before anybody saw it, a CAS id that it has no room for so far. Has was asked
// for WideSize more bytes than its size.
func (w *Writer) Widen(it Item, cas uint64) {
	h := it.Head()
	from := int(keyOffset[h.Bits&shape])
	n := h.Size()
	h.CAS = cas
	h.Normalize()
	b := unsafe.Slice((*byte)(it.p), n+WideSize)
	copy(b[from+WideSize:], b[from:n])
	h.write(it.p)
	w.pos += uint32(h.Size() - n)
	if h.Expiry != 0 {
		w.l.Due(w.l.ref(it), h.Size()-n, h.Expiry, w.l.had(it, w.seg, h.Expiry))
	}
}

// Undo takes back the item that was appended last, before anybody saw it.
func (w *Writer) Undo(ref uint64) {
	n := w.l.At(ref).Size()
	if off := int64(w.seg)<<w.l.shift + int64(w.pos); off != int64(ref*8)+int64(n) {
		w.l.Kill(ref, n) // not the last one: making room in between took another segment, or the lane was given up
		return
	}
	w.pos = uint32(int64(ref*8) - int64(w.seg)<<w.l.shift)
}

// Aged says whether items of the open segment are due, or with full may be: it should be sealed so that it can be swept.
func (w *Writer) Aged(now int64, full bool) bool {
	if w.seg < 0 {
		return false
	}
	g := &w.l.segs[w.seg]
	due, maybe, _ := g.dueAt(now)
	return due > 0 || g.late(now) || full && maybe
}
