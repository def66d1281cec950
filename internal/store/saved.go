package store

import (
	"encoding/binary"
	"errors"
	"fmt"
	"math"

	"github.com/zeebo/xxh3"

	"godwit/internal/evict"
	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// saved is the content of FILE.meta: everything about a store that does not lie in FILE. docs/formats/restart-file.md draws
// it.
type saved struct {
	file    mem.FileID
	size    int64 // of the file
	fixed   int64 // offset in the file behind the parts that every store has; extents of regions follow
	layout  string
	tag     string // the caller's
	limit   int64
	shift   uint8
	evicted bool
	stale   bool
	seed    uint64
	gen     uint32
	ms      int64 // timeline when it was saved
	unixMs  int64 // and the wall clock
	flushAt int64
	ghosts  uint64 // evictions counted
	log     log.Saved
	groups  uint32 // of the index, ever used
	stripes []savedStripe
	regions []mem.RegionClass
	classes [64]struct{ items, bytes int64 }
	sums    []uint64 // of the used parts of the file, in the order of Store.blocks
}

type savedStripe struct {
	cas    uint64
	groups []index.GroupRef
}

const (
	savedMagic   = "godwit\x00R"
	savedVersion = 1
	savedHead    = 8 + 4 + 4 // magic, version, zero
	savedSum     = 8
)

// encode gives the bytes of FILE.meta.
func (m *saved) encode() []byte {
	le := binary.LittleEndian
	b := []byte(savedMagic)
	b = le.AppendUint32(b, savedVersion)
	b = le.AppendUint32(b, 0)
	u64 := func(v ...uint64) {
		for _, x := range v {
			b = le.AppendUint64(b, x)
		}
	}
	i64 := func(v ...int64) {
		for _, x := range v {
			b = le.AppendUint64(b, uint64(x))
		}
	}
	u32 := func(v ...uint32) {
		for _, x := range v {
			b = le.AppendUint32(b, x)
		}
	}
	text := func(s string) {
		u32(uint32(len(s)))
		b = append(b, s...)
	}
	bit := func(v bool) {
		if v {
			b = append(b, 1)
		} else {
			b = append(b, 0)
		}
	}
	b = append(b, m.file[:]...)
	i64(m.size, m.fixed)
	text(m.layout)
	text(m.tag)
	i64(m.limit)
	b = append(b, m.shift)
	bit(m.evicted)
	bit(m.stale)
	u64(m.seed)
	u32(m.gen)
	i64(m.ms, m.unixMs, m.flushAt)
	u64(m.ghosts)
	u32(uint32(m.log.Next))
	for _, c := range m.log.Chains {
		u32(uint32(c[0]), uint32(c[1]))
	}
	p := m.log.Policy
	u64(math.Float64bits(p.Share), math.Float64bits(p.Ratio))
	i64(p.Gets, p.Hits)
	u32(m.groups, uint32(len(m.stripes)))
	for i := range m.stripes {
		st := &m.stripes[i]
		u64(st.cas)
		u32(uint32(len(st.groups)))
		for _, g := range st.groups {
			u32(g.ID)
			b = append(b, g.Depth)
		}
	}
	u32(uint32(len(m.regions)))
	for i := range m.regions {
		c := &m.regions[i]
		b = append(b, c.Class)
		u32(c.Next, uint32(len(c.Extents)))
		i64(c.Extents...)
		u32(uint32(len(c.Used)))
		for _, u := range c.Used {
			u32(u.Slot)
			i64(u.Bytes)
		}
	}
	for _, c := range m.classes {
		i64(c.items, c.bytes)
	}
	u32(uint32(len(m.sums)))
	u64(m.sums...)
	return le.AppendUint64(b, xxh3.Hash(b))
}

var errMetaShort = errors.New("it ends early")

// reader takes numbers off the front of b; after the end it gives zeros.
type reader struct {
	b     []byte
	short bool
}

func (r *reader) take(n int) []byte {
	if n < 0 || n > len(r.b) {
		r.short = true
		return nil
	}
	b := r.b[:n]
	r.b = r.b[n:]
	return b
}

func (r *reader) u8() uint8 {
	if b := r.take(1); b != nil {
		return b[0]
	}
	return 0
}

func (r *reader) u32() uint32 {
	if b := r.take(4); b != nil {
		return binary.LittleEndian.Uint32(b)
	}
	return 0
}

func (r *reader) u64() uint64 {
	if b := r.take(8); b != nil {
		return binary.LittleEndian.Uint64(b)
	}
	return 0
}

func (r *reader) i64() int64 { return int64(r.u64()) }

func (r *reader) text() string { return string(r.take(int(r.u32()))) }

func (r *reader) bit() bool {
	v := r.u8()
	if v > 1 {
		r.short = true
	}
	return v == 1
}

// count reads the number of elements that follow, each of at least size bytes.
func (r *reader) count(size int) int {
	n := int64(r.u32())
	if n*int64(size) > int64(len(r.b)) {
		r.short = true
		return 0
	}
	return int(n)
}

// decodeSaved reads FILE.meta. It takes memory in proportion to b, and what it returns passed check.
func decodeSaved(b []byte) (*saved, error) {
	if len(b) < savedHead+savedSum {
		return nil, errMetaShort
	}
	if string(b[:8]) != savedMagic {
		return nil, errors.New("it is not one of godwit's")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != savedVersion || binary.LittleEndian.Uint32(b[12:]) != 0 {
		return nil, fmt.Errorf("it is of format %d, this program knows %d", v, savedVersion)
	}
	body := b[:len(b)-savedSum]
	if xxh3.Hash(body) != binary.LittleEndian.Uint64(b[len(body):]) {
		return nil, errors.New("its checksum is wrong")
	}
	return decodeBody(body[savedHead:])
}

func decodeBody(b []byte) (*saved, error) {
	r := reader{b: b}
	m := &saved{}
	copy(m.file[:], r.take(len(m.file)))
	m.size, m.fixed = r.i64(), r.i64()
	m.layout, m.tag = r.text(), r.text()
	m.limit, m.shift = r.i64(), r.u8()
	m.evicted, m.stale = r.bit(), r.bit()
	m.seed, m.gen = r.u64(), r.u32()
	m.ms, m.unixMs, m.flushAt = r.i64(), r.i64(), r.i64()
	m.ghosts = r.u64()
	m.log.Next = int32(r.u32())
	for q := range m.log.Chains {
		m.log.Chains[q] = [2]int32{int32(r.u32()), int32(r.u32())}
	}
	m.log.Policy = evict.State{
		Share: math.Float64frombits(r.u64()), Ratio: math.Float64frombits(r.u64()), Gets: r.i64(), Hits: r.i64(),
	}
	m.groups = r.u32()
	m.stripes = make([]savedStripe, r.count(12))
	for i := range m.stripes {
		st := &m.stripes[i]
		st.cas = r.u64()
		st.groups = make([]index.GroupRef, r.count(5))
		for k := range st.groups {
			st.groups[k] = index.GroupRef{ID: r.u32(), Depth: r.u8()}
		}
	}
	m.regions = make([]mem.RegionClass, r.count(13))
	for i := range m.regions {
		c := &m.regions[i]
		c.Class, c.Next = r.u8(), r.u32()
		c.Extents = make([]int64, r.count(8))
		for k := range c.Extents {
			c.Extents[k] = r.i64()
		}
		c.Used = make([]mem.RegionUse, r.count(12))
		for k := range c.Used {
			c.Used[k] = mem.RegionUse{Slot: r.u32(), Bytes: r.i64()}
		}
	}
	for i := range m.classes {
		m.classes[i].items, m.classes[i].bytes = r.i64(), r.i64()
	}
	m.sums = make([]uint64, r.count(8))
	for i := range m.sums {
		m.sums[i] = r.u64()
	}
	if r.short {
		return nil, errMetaShort
	}
	if len(r.b) != 0 {
		return nil, fmt.Errorf("it has %d bytes too many", len(r.b))
	}
	return m, m.check()
}

// check says what is impossible in itself, if anything.
func (m *saved) check() error {
	if m.limit < MinLimit || m.size < 0 || m.fixed < 0 || m.fixed > m.size {
		return fmt.Errorf("limit %d, file of %d bytes, fixed part of %d", m.limit, m.size, m.fixed)
	}
	if m.shift < minSegment || m.shift > maxSegment {
		return fmt.Errorf("segments of 2^%d bytes", m.shift)
	}
	if n := stripesFor(m.limit); len(m.stripes) != n {
		return fmt.Errorf("%d stripes instead of %d", len(m.stripes), n)
	}
	if m.ms <= 0 || m.unixMs <= 0 || m.flushAt < 0 {
		return fmt.Errorf("saved at %d ms, wall %d ms, flush at %d ms", m.ms, m.unixMs, m.flushAt)
	}
	if err := log.CheckSaved(&m.log); err != nil {
		return err
	}
	groups := map[uint32]bool{}
	for i := range m.stripes {
		for _, g := range m.stripes[i].groups {
			if g.ID >= m.groups || groups[g.ID] {
				return fmt.Errorf("group %d of %d in two places", g.ID, m.groups)
			}
			groups[g.ID] = true
		}
		if err := index.CheckGroups(m.stripes[i].groups); err != nil {
			return err
		}
	}
	for i, c := range m.classes {
		if c.items < 0 || c.bytes < 0 {
			return fmt.Errorf("%d items of %d bytes in class %d", c.items, c.bytes, i)
		}
	}
	return mem.CheckRegions(m.regions, m.limit, m.fixed, m.size)
}
