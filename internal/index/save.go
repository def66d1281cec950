package index

import (
	"errors"
	"fmt"
	"unsafe"
)

// GroupRef is a place of a directory: a group and how many bits of the tag it covers.
type GroupRef struct {
	ID    uint32
	Depth uint8
}

// Save describes the table's directory: its groups in order.
func (t *Table) Save(p *Pool) (out []GroupRef) {
	for i := uint32(0); i < 1<<t.depth(); {
		id := *at(directory(t.dir), 1+i)
		depth := p.meta(id).depth
		out = append(out, GroupRef{id, depth})
		i += 1 << (t.depth() - uint32(depth))
	}
	return out
}

// CheckGroups says what is impossible about a saved directory, if anything.
func CheckGroups(groups []GroupRef) error {
	at := uint64(0) // of 1<<maxDepth
	for _, g := range groups {
		if g.Depth > maxDepth {
			return fmt.Errorf("index: group %d of %d bits", g.ID, g.Depth)
		}
		width := uint64(1) << (maxDepth - g.Depth)
		if at%width != 0 {
			return fmt.Errorf("index: group %d of %d bits is out of place", g.ID, g.Depth)
		}
		at += width
	}
	if at != 1<<maxDepth {
		return errors.New("index: a directory of groups that do not add up")
	}
	return nil
}

// Load is the opposite of Save, instead of Init. The groups passed CheckGroups.
func (t *Table) Load(p *Pool, groups []GroupRef) error {
	t.dir = unsafe.Pointer(&t.inline)
	depth := uint8(0)
	for _, g := range groups {
		depth = max(depth, g.Depth)
	}
	for t.depth() < uint32(depth) {
		t.double()
	}
	prefix := uint64(0) // of 1<<maxDepth
	for _, g := range groups {
		m := p.meta(g.ID)
		if m.depth != g.Depth || m.items > groupSlots {
			return fmt.Errorf("index: group %d says %d bits and %d items, its table %d bits", g.ID, m.depth, m.items, g.Depth)
		}
		t.items += int32(m.items)
		t.point(uint32(prefix>>(maxDepth-g.Depth)), g.Depth, g.ID)
		prefix += 1 << (maxDepth - g.Depth)
	}
	return nil
}

// Next is the number of groups ever used.
func (p *Pool) Next() uint32 { return p.next }

// Load takes the groups below next into use again; used says which of them belong to tables. Before any table's Load.
func (p *Pool) Load(next uint32, used func(id uint32) bool) error {
	if next > p.most {
		return fmt.Errorf("index: %d groups, room for %d", next, p.most)
	}
	p.next = next
	p.budget.Charge(int64(next) * GroupBytes)
	for id := range next {
		if used(id) {
			p.inUse++
			continue
		}
		*p.group(id) = group{}
		p.spare = append(p.spare, id)
	}
	p.space.Zero(int64(next) * GroupBytes)
	p.ready = 0
	return nil
}

// Metas are the bytes of what is known of the groups below next.
func (p *Pool) Metas(next uint32) ([]byte, error) {
	if next > p.most {
		return nil, fmt.Errorf("index: %d groups, room for %d", next, p.most)
	}
	return p.metas.Bytes(0, int64(next)*int64(unsafe.Sizeof(groupMeta{}))), nil
}

// Blocks calls fn for the bytes of all groups ever used.
func (p *Pool) Blocks(fn func([]byte)) {
	const most = 1 << 20
	for off, end := int64(0), int64(p.next)*GroupBytes; off < end; off += most {
		fn(p.space.Bytes(off, min(most, end-off)))
	}
}

// Layout names what the meaning of the bytes of groups depends on.
func Layout() string {
	return fmt.Sprintf("index %d/%d/%d/%d", GroupBytes, tagBits, unsafe.Sizeof(groupMeta{}), slotsPerBucket)
}
