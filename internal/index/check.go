package index

import "fmt"

// Check verifies the table's structure and calls fn for each slot with its tag. It adds the table's groups to seen. For
// tests; the stripe is held.
func (t *Table) Check(p *Pool, seen map[uint32]bool, fn func(s Slot, tag uint32) error) error {
	d := directory(t.dir)
	depth := t.depth()
	if depth > maxDepth {
		return fmt.Errorf("index: directory of %d bits", depth)
	}
	items := 0
	for i := uint32(0); i < 1<<depth; {
		id := *at(d, 1+i)
		m := p.meta(id)
		if id >= p.next || seen[id] {
			return fmt.Errorf("index: group %d of %d is in two places", id, p.next)
		}
		seen[id] = true
		if uint32(m.depth) > depth {
			return fmt.Errorf("index: group %d of %d bits in a directory of %d", id, m.depth, depth)
		}
		width := uint32(1) << (depth - uint32(m.depth))
		for j := i; j < i+width; j++ {
			if i%width != 0 || *at(d, 1+j) != id {
				return fmt.Errorf("index: group %d of %d bits does not fill its part of the directory at %d", id, m.depth, i)
			}
		}
		n := 0
		for k, s := range p.group(id) {
			if s == 0 {
				continue
			}
			n++
			tag := uint32(s >> tagShift)
			if tag>>(tagBits-uint32(m.depth)) != i/width {
				return fmt.Errorf("index: tag %x in group %d of prefix %x", tag, id, i/width)
			}
			for at := home(tag); at%groupSlots != uint32(k); at++ {
				if p.group(id)[at%groupSlots] == 0 {
					return fmt.Errorf("index: tag %x in group %d cannot be found behind a gap", tag, id)
				}
			}
			if err := fn(s, tag); err != nil {
				return err
			}
		}
		if n != int(m.items) {
			return fmt.Errorf("index: group %d holds %d items, counted %d", id, n, m.items)
		}
		items += n
		i += width
	}
	if items != int(t.items) {
		return fmt.Errorf("index: table holds %d items, counted %d", items, t.items)
	}
	return nil
}

// Check verifies that the groups seen in all tables and the spare ones are all there are.
func (p *Pool) Check(seen map[uint32]bool) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, id := range p.spare {
		if seen[id] {
			return fmt.Errorf("index: group %d is used and spare", id)
		}
		seen[id] = true
		if *p.group(id) != (group{}) {
			return fmt.Errorf("index: spare group %d is not empty", id)
		}
	}
	if len(seen) != int(p.next) || p.inUse != len(seen)-len(p.spare) {
		return fmt.Errorf("index: %d groups, of which %d are somewhere, %d spare and %d counted in use", p.next, len(seen), len(p.spare), p.inUse)
	}
	return nil
}
