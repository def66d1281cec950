package log

import (
	"bytes"
	"fmt"
	"reflect"
	"testing"
	"unsafe"

	"pgregory.net/rapid"

	"godwit/internal/evict"
	"godwit/internal/mem"
)

// An item says what its head said, whatever fields it has and however long key and value are.
func TestItemRoundTrip(t *testing.T) {
	buf := make([]uint64, 1<<14)
	p := unsafe.Pointer(&buf[0])
	rapid.Check(t, func(t *rapid.T) {
		h := Head{
			Bits:  Bits(rapid.Uint16Range(0, 1<<10-1).Draw(t, "bits")) &^ InRegion,
			Type:  rapid.Uint8Range(0, 15).Draw(t, "type"),
			Flags: rapid.SampledFrom([]uint32{0, 1, 1<<32 - 1}).Draw(t, "flags"), Space: rapid.SampledFrom([]uint32{0, 7}).Draw(t, "space"),
			Expiry: rapid.SampledFrom([]int64{0, 1, 1 << 62}).Draw(t, "expiry"),
			CAS:    rapid.SampledFrom([]uint64{0, 1, casMask, casMask + 1, 1<<64 - 1}).Draw(t, "cas"),
			Access: rapid.Uint32Range(0, accMask).Draw(t, "access"),
			KLen:   rapid.SampledFrom([]int{0, 1, 7, 8, 250, MaxKey}).Draw(t, "klen"), VLen: rapid.SampledFrom([]int{0, 1, 8, 1000, 100_000}).Draw(t, "vlen"),
		}
		if rapid.Bool().Draw(t, "region") {
			h.Bits |= InRegion
			h.Handle = rapid.Uint64().Draw(t, "handle")
			h.VLen = rapid.SampledFrom([]int{0, 1, MaxValue}).Draw(t, "large")
		}
		h.Normalize()
		size := h.Size()
		if size%8 != 0 || size < header+h.KLen || h.Bits&InRegion == 0 && size < header+h.KLen+h.VLen {
			t.Fatalf("size %d of %+v", size, h)
		}
		buf[size/8] = 0xABCD
		it := h.write(p)
		for i := range it.Key() {
			it.Key()[i] = 'k'
		}
		for i := range it.Value() {
			it.Value()[i] = 'v'
		}
		if got := it.Head(); got != h {
			t.Fatalf("wrote %+v, read %+v", h, got)
		}
		if it.Size() != size || it.KeyLen() != h.KLen || it.Len() != h.VLen || !bytes.Equal(it.Key(), it.WalkKey()) || len(it.Key()) != h.KLen {
			t.Fatalf("size %d, key of %d, value of %d, want %d, %d, %d", it.Size(), it.KeyLen(), it.Len(), size, h.KLen, h.VLen)
		}
		if h.Bits&InRegion == 0 && len(it.Value()) != h.VLen || h.Bits&InRegion != 0 && it.Value() != nil {
			t.Fatalf("value of %d bytes", len(it.Value()))
		}
		// what changes in place changes nothing else
		set, clear := Bits(rapid.Uint16Range(0, 1<<10-1).Draw(t, "set")), Bits(rapid.Uint16Range(0, 1<<10-1).Draw(t, "clear"))
		it.SetBits(set, clear)
		h.Bits = h.Bits&^(clear&^shape) | set&^shape
		if x := rapid.Int64Range(0, 1<<60).Draw(t, "expires"); it.SetExpiry(x) {
			h.Expiry = x
		} else if h.Bits&HasExpiry != 0 || x == 0 {
			t.Fatal("an expiry was refused")
		}
		if id := rapid.SampledFrom([]uint64{3, casMask, 1 << 63}).Draw(t, "id"); it.SetCAS(id) {
			h.CAS = id
		} else if h.Bits&WideCAS != 0 || id <= casMask {
			t.Fatal("a CAS id was refused")
		}
		h.Access = rapid.Uint32Range(0, accMask).Draw(t, "accessed")
		it.SetAccess(h.Access)
		if rapid.Bool().Draw(t, "touch") {
			if h.Bits&Fetched != 0 { // the first access is only marked
				h.Access = 99
			}
			h.Bits |= Fetched
			it.Touch(99)
		}
		if got := it.Head(); got != h || it.Size() != size || buf[size/8] != 0xABCD {
			t.Fatalf("changed to %+v, read %+v", h, got)
		}
	})
}

func newLog(t testing.TB, segments, reserve int) (*Log, *mem.Budget) {
	b := &mem.Budget{}
	b.SetLimit(int64(segments) << 14)
	l, err := New(Config{Addresses: 4 * int64(segments) << 14, Shift: 14, Reserve: reserve, Budget: b})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	return l, b
}

// fill appends items until the segment is full and seals it.
func fill(t testing.TB, l *Log, w *Writer, now int64) (refs []uint64) {
	t.Helper()
	if !w.Open(0, now, false) {
		t.Fatal("no segment")
	}
	h := Head{KLen: 3, VLen: 1000}
	h.Normalize()
	for w.Has(h.Size(), 0) {
		_, ref := w.Put(&h, []byte("key"))
		refs = append(refs, ref)
	}
	w.Seal()
	return refs
}

func audit(t testing.TB, l *Log, refs []uint64, w ...*Writer) {
	t.Helper()
	var k Linked
	for _, r := range refs {
		if err := l.Reach(&k, r); err != nil {
			t.Fatal(err)
		}
	}
	if err := l.Check(&k, w); err != nil {
		t.Fatal(err)
	}
}

func TestSegments(t *testing.T) {
	l, b := newLog(t, 10, 2)
	if b.Used() != 2<<14 {
		t.Errorf("%d bytes charged for the reserve", b.Used())
	}
	w := l.NewWriter(evict.Small)
	var all []uint64
	for range 8 {
		all = append(all, fill(t, l, &w, 1000)...)
	}
	audit(t, l, all, &w)
	if w.Open(0, 1000, false) {
		t.Fatal("a writer took the reserve")
	}
	r := l.NewWriter(evict.Main)
	if !r.Open(0, 1000, true) || !l.Tight(1) {
		t.Fatal("no reserve for moving items")
	}

	// Nothing is dead: nothing to clean, the oldest of small goes.
	v := l.Victim(false)
	if v.Seg >= 0 {
		t.Errorf("segment %d is to be cleaned", v.Seg)
	}
	v = l.Victim(true)
	if v.What != Evict || v.Queue != evict.Small || v.Seg != l.Segment(all[0]) {
		t.Errorf("victim %+v, the oldest is %d", v, l.Segment(all[0]))
	}
	n := 0
	for _, ref, size, ok := l.Next(&v); ok; _, ref, size, ok = l.Next(&v) {
		if ref != all[n] {
			t.Fatalf("item %d of the victim at %d, want %d", n, ref, all[n])
		}
		l.Kill(ref, size)
		n++
	}
	all = all[n:]
	seg := v.Seg
	l.Free(seg)
	audit(t, l, all, &w, &r)

	// A pin keeps a segment from being used again.
	pinned := all[0]
	s := l.Pin(pinned)
	if v = l.Victim(true); v.Seg == s {
		t.Fatal("a pinned segment is to be evicted")
	}
	l.Free(v.Seg)
	for i, ref := range all {
		if l.Segment(ref) == v.Seg {
			all[i] = 0
		}
	}
	drained := all[:0]
	for _, ref := range all {
		if ref != 0 {
			drained = append(drained, ref)
		}
	}
	all = drained
	audit(t, l, all, &w, &r)
	l.Unpin(s)

	// Dead bytes make a segment worth cleaning.
	for i, ref := range all[:12] {
		l.Kill(ref, l.At(ref).Size())
		all[i] = 0
	}
	all = all[12:]
	if v = l.Victim(true); v.What != Clean || v.Seg != s {
		t.Errorf("victim %+v, the one with garbage is %d", v, s)
	}
	l.Pin(pinned)
	l.Free(s)
	if l.segs[s].state != waiting {
		t.Error("a pinned segment was freed")
	}
	l.Unpin(s)
	l.Shrink(0)
	for _, ref := range all {
		if l.Segment(ref) == s {
			all = all[1:]
		}
	}
	audit(t, l, all, &w, &r)

	b.SetLimit(4 << 14)
	l.Shrink(0)
	if c := l.Counts(); c.Spare != 2 {
		t.Errorf("%d spare segments after shrinking, the reserve is 2", c.Spare)
	}
	audit(t, l, all, &w, &r)
}

// A full segment whose end is too short for the next item has nothing to gain: cleaning it would never end.
func TestEndsAreNoGarbage(t *testing.T) {
	l, _ := newLog(t, 10, 2)
	w := l.NewWriter(evict.Small)
	refs := fill(t, l, &w, 0)
	if c := l.Counts(); c.Garbage != 0 {
		t.Errorf("%d bytes of garbage", c.Garbage)
	}
	w.Open(0, 0, false)
	h := Head{KLen: 3, VLen: 1000}
	_, ref := w.Put(&h, []byte("key"))
	w.Seal()
	if c := l.Counts(); c.Garbage != 1<<14-int64(h.Size()) {
		t.Errorf("%d bytes of garbage in a segment sealed early", c.Garbage)
	}
	audit(t, l, append(refs, ref), &w)
}

func TestDue(t *testing.T) {
	for _, c := range []struct {
		in, passed int64 // ms
		due        bool
	}{
		{0, 0, true}, {500, 0, true}, {1500, 0, false}, {1500, 1000, true}, {5_000, 4_000, false}, {5_000, 7_000, true},
		{100_000, 50_000, false}, {100_000, 127_000, true}, {1 << 50, 1 << 40, true},
	} {
		l, _ := newLog(t, 10, 2)
		w := l.NewWriter(evict.Small)
		const now = 1_000_000
		w.Open(0, now, false)
		h := Head{KLen: 1, VLen: 100, Expiry: now + c.in}
		h.Normalize()
		it, ref := w.Put(&h, []byte("k"))
		if got := w.Aged(now+c.passed, false); got != c.due {
			t.Errorf("due in %d ms: after %d ms aged is %v", c.in, c.passed, got)
		}
		w.Seal()
		v := l.SweepNext(0, now+c.passed, 0, false)
		if (v.Seg == l.Segment(ref)) != c.due {
			t.Errorf("due in %d ms: after %d ms the sweep finds %d", c.in, c.passed, v.Seg)
		}
		if v.Seg >= 0 {
			var left Dues
			it.SetExpiry(now + c.passed + 1_000_000)
			l.Left(&left, &v, it, h.Size(), now+c.passed)
			l.Swept(&v, now+c.passed, &left)
			if v = l.SweepNext(0, now+c.passed, 0, false); v.Seg >= 0 {
				t.Errorf("due in %d ms: swept again at once", c.in)
			}
			if l.segs[l.Segment(ref)].pins != 0 {
				t.Error("still pinned")
			}
		}
	}
}

// What lies outside the Go heap holds no pointers: the collector would not see them.
func TestNoPointers(t *testing.T) {
	if err := noPointers(reflect.TypeOf(segment{})); err != nil {
		t.Error(err)
	}
}

func noPointers(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if err := noPointers(t.Field(i).Type); err != nil {
				return fmt.Errorf("%s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Array:
		return noPointers(t.Elem())
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Slice, reflect.String, reflect.Chan, reflect.Func, reflect.Interface:
		return fmt.Errorf("%v is a pointer", t)
	}
	return nil
}
