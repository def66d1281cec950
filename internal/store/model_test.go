package store

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/internal/clock"
	"godwit/internal/invariant"
	"godwit/internal/log"
)

// want is what a plain map knows of an item.
type want struct {
	val    []byte
	flags  uint32
	expiry int64
	cas    uint64
	marks  Mark
}

// model is a store and the map that it must agree with. Where things may be evicted, an item may be missing, but nothing
// else may differ.
type model struct {
	s       *Store
	clock   *clock.Clock
	locals  int
	exact   bool // nothing may be missing
	noEvict bool
	items   map[string]*want
	keys    map[string]bool
	flushAt int64
	pins    []heldPin
	version uint64
	steps   int
	base    int64
}

type heldPin struct {
	pin  *Pin
	want []byte
}

type modelConfig struct {
	limit          int64
	locals         int
	exact, noEvict bool
}

const modelTime = int64(1_800_000_000_000)

func newModel(t rapid.TB, c modelConfig) *model {
	ck := clock.New()
	ck.Pause()
	ck.Shift(modelTime - ck.Ms())
	s, err := Open(Config{Limit: c.limit, Locals: c.locals, MaxItem: 1 << 20, Seed: 7, Clock: ck, NoEvict: c.noEvict})
	if err != nil {
		t.Fatal(err)
	}
	s.SetClasses([]int{96, 120, 152, 192, 240, 304, 600, 1184, 2320, 8880, 16384, 524288}, 8)
	return &model{s: s, clock: ck, locals: c.locals, exact: c.exact, noEvict: c.noEvict, items: map[string]*want{}, keys: map[string]bool{}, base: s.budget.Used()}
}

// local is some loop at the start of a turn.
func (m *model) local(t *rapid.T) *Local {
	l := m.s.Local(rapid.IntRange(0, m.locals-1).Draw(t, "local"))
	l.Turn(m.clock.Ms())
	if m.flushAt != 0 && m.flushAt <= m.clock.Ms() {
		m.flushAt = 0
		clear(m.items)
	}
	return l
}

func (m *model) key(t *rapid.T) []byte {
	n := rapid.IntRange(0, 30).Draw(t, "key")
	k := fmt.Sprintf("k%d", n)
	if n == 30 {
		k += string(bytes.Repeat([]byte("x"), 240))
	}
	m.keys[k] = true
	return []byte(k)
}

// live is the item that must be there, nil if none is.
func (m *model) live(key []byte) *want {
	now := m.clock.Ms()
	w := m.items[string(key)]
	if w != nil && w.expiry != 0 && w.expiry <= now {
		delete(m.items, string(key))
		return nil
	}
	return w
}

// agree compares a locked entry with the model and returns what is there.
func (m *model) agree(t *rapid.T, e *Entry, key []byte) *want {
	w := m.live(key)
	if !e.Found() {
		if w != nil {
			if m.exact {
				t.Fatalf("%q is missing", key)
			}
			delete(m.items, string(key))
		}
		return nil
	}
	if w == nil {
		t.Fatalf("%q is there and should not be", key)
	}
	got := want{e.Value(), e.Flags(), e.Expiry(), e.CAS(), e.Marks() &^ (Evictable | log.HasExpiry | log.WideCAS | log.InRegion | log.HasFlags)}
	if !bytes.Equal(got.val, w.val) || got.flags != w.flags || got.expiry != w.expiry || got.cas != w.cas || got.marks != w.marks {
		t.Fatalf("%q: flags %x expiry %d cas %x marks %x of %d bytes; want flags %x expiry %d cas %x marks %x of %d bytes; values equal: %v", key,
			got.flags, got.expiry, got.cas, got.marks, len(got.val), w.flags, w.expiry, w.cas, w.marks, len(w.val), bytes.Equal(got.val, w.val))
	}
	return w
}

var (
	modelSizes  = []int{0, 1, 8, 30, 200, 900, 1100, 4096, 5000, 40_000, 130_000}
	modelCAS    = []uint64{0, 0, 0, 1, 1<<52 - 1, 1 << 52, 1<<64 - 1}
	modelMarks  = []Mark{0, Stale, WinSent, BinaryKey, Stale | WinSent}
	modelExpiry = []int64{0, 0, 1, 1000, 60_000, 100_000_000, -5}
	modelFlags  = []uint32{0, 0, 1, 1<<32 - 1}
)

func (m *model) expiry(t *rapid.T) int64 {
	if x := rapid.SampledFrom(modelExpiry).Draw(t, "ttl"); x != 0 {
		return m.clock.Ms() + x
	}
	return 0
}

func (m *model) value(n int) []byte {
	m.version++
	b := make([]byte, n)
	for i := range b {
		b[i] = byte(m.version*0x9E37 + uint64(i)*0x85EB>>3)
	}
	return b
}

func (m *model) set(t *rapid.T) { m.store(t, "set") }
func (m *model) add(t *rapid.T) { m.store(t, "add") }

// store is set, add, replace and set with a CAS id to compare, depending on what is drawn.
func (m *model) store(t *rapid.T, how string) {
	m.put(t, m.local(t), m.key(t), how, rapid.SampledFrom(modelSizes).Draw(t, "size"))
}

func (m *model) put(t *rapid.T, l *Local, key []byte, how string, size int) {
	w := &want{
		val: m.value(size), flags: rapid.SampledFrom(modelFlags).Draw(t, "flags"), expiry: m.expiry(t),
		marks: rapid.SampledFrom(modelMarks).Draw(t, "marks"),
	}
	p, err := l.Build(key, Spec{Flags: w.flags, Expiry: w.expiry, Len: size, Marks: w.marks})
	if err == nil {
		for part := size / 3; err == nil; part = min(part+size/3+1, size) {
			if err = l.Grow(p, part); err != nil {
				l.Discard(p)
			}
			if part == size {
				break
			}
		}
	}
	if err != nil {
		if !errors.Is(err, ErrNoMemory) || m.exact && !m.noEvict {
			t.Fatalf("set of %d bytes: %v", size, err)
		}
		return
	}
	copy(p.Value(), w.val)
	if rapid.IntRange(0, 9).Draw(t, "discard") == 0 {
		l.Discard(p)
		return
	}
	e := l.LockLink(p, l.Hash(key))
	defer func() {
		e.Unlock()
		l.Discard(p)
	}()
	had := m.agree(t, e, key)
	if how == "add" && had != nil || how == "replace" && had == nil {
		return
	}
	w.cas = rapid.SampledFrom(modelCAS).Draw(t, "cas")
	id := e.Link(p, w.cas)
	if w.cas != 0 && id != w.cas {
		t.Fatalf("cas id %x became %x", w.cas, id)
	}
	w.cas = id
	m.items[string(key)] = w
}

func (m *model) get(t *rapid.T) {
	l, key := m.local(t), m.key(t)
	e := l.Lock(key, l.Hash(key))
	defer e.Unlock()
	if w := m.agree(t, e, key); w != nil {
		e.Bump()
		w.marks |= Fetched
	}
}

func (m *model) delete(t *rapid.T) {
	l, key := m.local(t), m.key(t)
	e := l.Lock(key, l.Hash(key))
	defer e.Unlock()
	if m.agree(t, e, key) != nil {
		e.Delete()
		delete(m.items, string(key))
	}
}

// change makes up to two changes that LockWrite made room for.
func (m *model) change(t *rapid.T) {
	l, key := m.local(t), m.key(t)
	e, err := l.LockWrite(key, l.Hash(key))
	if err != nil {
		if m.exact && !m.noEvict {
			t.Fatal(err)
		}
		return
	}
	defer e.Unlock()
	w := m.agree(t, e, key)
	for range rapid.IntRange(1, 2).Draw(t, "changes") {
		switch what := rapid.IntRange(0, 3).Draw(t, "what"); {
		case what == 0 && (w == nil || !e.Large()):
			n := rapid.IntRange(0, 64).Draw(t, "len")
			if w != nil {
				n = len(w.val) + n - 32
			}
			nw := &want{val: m.value(max(n, 0)), flags: rapid.SampledFrom(modelFlags).Draw(t, "flags"), expiry: m.expiry(t)}
			old := e.Value
			var before []byte
			if w != nil {
				before = old()
			}
			copy(e.Replace(Spec{Flags: nw.flags, Expiry: nw.expiry, Len: len(nw.val)}, rapid.SampledFrom(modelCAS).Draw(t, "cas")), nw.val)
			if w != nil {
				if !bytes.Equal(before, w.val) {
					t.Fatal("the old value changed under the lock")
				}
				nw.marks = w.marks & Fetched
			}
			nw.cas = e.CAS()
			m.items[string(key)] = nw
			w = nw
		case w == nil:
		case what == 1:
			w.expiry = m.expiry(t)
			e.SetExpiry(w.expiry)
		case what == 2:
			w.cas = e.SetCAS(rapid.SampledFrom(modelCAS).Draw(t, "cas"))
		case what == 3:
			set, clear := rapid.SampledFrom(modelMarks).Draw(t, "set"), rapid.SampledFrom(modelMarks).Draw(t, "clear")
			e.Mark(set, clear)
			w.marks = w.marks&^clear | set
		}
		if w != nil && e.CAS() != w.cas {
			t.Fatalf("cas id %x, want %x", e.CAS(), w.cas)
		}
	}
}

func (m *model) flush(t *rapid.T) {
	if rapid.Bool().Draw(t, "now") {
		m.s.Flush()
		clear(m.items)
		return
	}
	m.local(t)
	m.flushAt = m.clock.Ms() + rapid.Int64Range(1, 100_000).Draw(t, "in")
	m.s.FlushAt(m.flushAt)
}

func (m *model) shift(t *rapid.T) {
	m.clock.Shift(rapid.SampledFrom([]int64{1, 1000, 30_000, 100_000_001}).Draw(t, "ms"))
	m.local(t)
	if rapid.Bool().Draw(t, "sweep") {
		m.s.sweep.kick()
	}
}

func (m *model) pin(t *rapid.T) {
	l, key := m.local(t), m.key(t)
	e := l.Lock(key, l.Hash(key))
	defer e.Unlock()
	if w := m.agree(t, e, key); w != nil && len(m.pins) < 5 {
		m.pins = append(m.pins, heldPin{e.Pin(), w.val})
	}
}

func (m *model) unpin(t *rapid.T) {
	if len(m.pins) == 0 {
		return
	}
	i := rapid.IntRange(0, len(m.pins)-1).Draw(t, "pin")
	p := m.pins[i]
	m.pins = slices.Delete(m.pins, i, i+1)
	if !bytes.Equal(p.pin.Data, p.want) {
		t.Fatal("a pinned value changed")
	}
	p.pin.Release()
}

func (m *model) setLimit(t *rapid.T) {
	if m.exact {
		return
	}
	if err := m.s.SetLimit(rapid.SampledFrom([]int64{1 << 20, 3 << 19, 2 << 20, 4 << 20}).Draw(t, "limit")); err != nil {
		t.Fatal(err)
	}
}

// fill writes enough to have something evicted.
func (m *model) fill(t *rapid.T) {
	if m.exact && !m.noEvict {
		return
	}
	l := m.local(t)
	n := rapid.SampledFrom([]int{500, 60, 3000}).Draw(t, "size")
	for i := range rapid.IntRange(1, 400).Draw(t, "items") {
		key := fmt.Appendf(nil, "fill%d", i)
		m.keys[string(key)] = true
		p, err := l.Build(key, Spec{Len: n})
		if err == nil {
			if err = l.Grow(p, n); err != nil {
				l.Discard(p)
			}
		}
		if err != nil {
			if !m.noEvict && len(m.pins) == 0 {
				t.Fatal(err)
			}
			return
		}
		w := &want{val: m.value(n)}
		copy(p.Value(), w.val)
		e := l.LockLink(p, l.Hash(key))
		m.agree(t, e, key)
		w.cas = e.Link(p, 0)
		e.Unlock()
		m.items[string(key)] = w
	}
}

func (m *model) walk(t *rapid.T) {
	l := m.local(t)
	seen := map[string]bool{}
	var c Cursor
	for more := true; more; {
		more = l.Walk(&c, func(v *View) {
			w := m.live(v.Key)
			if w == nil {
				t.Fatalf("the walk shows %q", v.Key)
			}
			if v.Value != nil && !bytes.Equal(v.Value, w.val) || v.Len != len(w.val) || v.CAS != w.cas || v.Flags != w.flags || v.Expiry != w.expiry {
				t.Fatalf("the walk shows %+v", v)
			}
			seen[string(v.Key)] = true
		})
	}
	for k := range m.items {
		if m.live([]byte(k)) != nil && !seen[k] {
			if m.exact {
				t.Fatalf("the walk misses %q", k)
			}
			delete(m.items, k)
		}
	}
}

// check runs after every step.
func (m *model) check(t *rapid.T) {
	if m.steps++; (invariant.Enabled || m.steps%16 == 0) && len(m.pins) == 0 {
		if err := m.s.Check(); err != nil {
			t.Fatal(err)
		}
	}
	if used, limit := m.s.budget.Used(), m.s.Limit(); used > 4<<20+4<<18 && used > limit+limit/10 {
		t.Fatalf("%d bytes used of %d", used, limit)
	}
}

// end compares everything, the statistics included, then empties the store and looks for what is left.
func (m *model) end(t *rapid.T) {
	m.local(t)
	for i := range m.locals {
		m.s.Local(i).Turn(m.clock.Ms())
	}
	for len(m.pins) > 0 {
		m.pins[0].pin.Release()
		m.pins = m.pins[1:]
	}
	if !m.exact { // the background evicts no more from here on
		m.s.SetLimit(8 << 20)
		m.s.sweep.settle()
	}
	l := m.s.Local(0)
	for k := range m.keys { // unlinks what is dead
		e := l.Lock([]byte(k), l.Hash([]byte(k)))
		m.agree(t, e, []byte(k))
		e.Unlock()
	}
	if err := m.s.Check(); err != nil {
		t.Fatal(err)
	}
	m.s.sweep.mu.Lock()
	for i := range m.locals {
		m.s.Local(i).Publish()
	}
	st := m.s.Stats()
	m.s.sweep.mu.Unlock()
	var classes [64]ClassStats
	for k, w := range m.items {
		n := 48 + len(k) + 1 + len(w.val) + 2 + 8
		if w.flags != 0 {
			n += 4
		}
		c := &classes[m.s.ClassOf(len(k), len(w.val), w.flags)]
		c.Items++
		c.Bytes += int64(n)
	}
	for i := range classes {
		if st.Class[i].Items != classes[i].Items || st.Class[i].Bytes != classes[i].Bytes {
			t.Fatalf("class %d: %d items of %d bytes, want %d of %d", i, st.Class[i].Items, st.Class[i].Bytes, classes[i].Items, classes[i].Bytes)
		}
	}
	if st.Items != uint64(len(m.items)) || m.exact && st.Evictions != 0 {
		t.Fatalf("%d items, want %d; %d evictions", st.Items, len(m.items), st.Evictions)
	}
	for _, k := range slices.Sorted(maps.Keys(m.items)) {
		del(l, k)
	}
	if err := m.s.Check(); err != nil {
		t.Fatal(err)
	}
	c := m.s.log.Counts()
	grown := int64(c.Segments*m.s.log.SegmentSize()) + m.s.pool.Bytes() + m.s.ghostMem.Size()
	if used := m.s.budget.Used(); used != grown {
		t.Fatalf("empty, but %d bytes are used, of which %d by segments, groups and ghosts", used, grown)
	}
}

func TestModel(t *testing.T) {
	configs := map[string]modelConfig{
		"1MB": {limit: 1 << 20, locals: 1}, "2MB/4": {limit: 2 << 20, locals: 4}, "2MB/32": {limit: 2 << 20, locals: 32},
		"1MB/noevict": {limit: 1 << 20, locals: 2, exact: true, noEvict: true},
	}
	if !raceEnabled { // there each store is a slice of all its addresses
		configs["64MB"] = modelConfig{limit: 64 << 20, locals: 1, exact: true}
		configs["64MB/4"] = modelConfig{limit: 64 << 20, locals: 4, exact: true}
	}
	for name, c := range configs {
		t.Run(name, rapid.MakeCheck(func(t *rapid.T) {
			m := newModel(t, c)
			defer m.s.Close()
			t.Repeat(map[string]func(*rapid.T){
				"set": m.set, "set2": m.set, "add": m.add, "replace": func(t *rapid.T) { m.store(t, "replace") },
				"get": m.get, "get2": m.get, "delete": m.delete, "change": m.change, "change2": m.change,
				"flush": m.flush, "shift": m.shift, "pin": m.pin, "unpin": m.unpin, "limit": m.setLimit,
				"fill": m.fill, "fill2": m.fill, "walk": m.walk, "": m.check,
			})
			m.end(t)
		}))
	}
}
