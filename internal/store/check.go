package store

import (
	"fmt"

	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// Check verifies that index, log, regions, counters and budget agree. For tests: no Local may be in use, no large value
// may wait to be linked, and no pin be out for the accounts of regions to be right.
func (s *Store) Check() error {
	s.sweep.mu.Lock()
	defer s.sweep.mu.Unlock()
	var writers []*log.Writer
	for i := range s.lanes {
		ln := &s.lanes[i]
		ln.mu.Lock()
		defer ln.mu.Unlock()
		for q := range ln.w {
			writers = append(writers, &ln.w[q])
		}
	}
	for i := range s.stripes {
		s.stripes[i].mu.Lock()
		defer s.stripes[i].mu.Unlock()
	}
	var linked log.Linked
	var class [64]ClassStats
	var regions, regionBytes int64
	groups := map[uint32]bool{}
	for i := range s.stripes {
		st := &s.stripes[i]
		err := st.table.Check(s.pool, groups, func(slot index.Slot, tag uint32) error {
			if err := s.log.Reach(&linked, slot.Ref()); err != nil {
				return err
			}
			it := s.log.At(slot.Ref())
			hash := s.hash(it.Key())
			if index.Tag(hash) != tag || s.spread.Table(hash) != i {
				return fmt.Errorf("store: key %q is at tag %x of stripe %d, belongs to %x of %d", it.Key(), tag, i, index.Tag(hash), s.spread.Table(hash))
			}
			for o := st.table.Find(s.pool, tag); *o != slot; o = st.table.After(s.pool, tag, o) {
				if s.log.At(o.Ref()).Match(it.Key()) {
					return fmt.Errorf("store: key %q has two slots", it.Key())
				}
			}
			n := s.classes.itemBytes(it.KeyLen(), it.Len(), it.Has(log.HasFlags))
			c := &class[s.classes.of(n)]
			c.Items++
			c.Bytes += int64(n)
			if it.Has(log.InRegion) {
				regions++
				regionBytes += s.regions.Charged(mem.Handle(it.Handle()))
				if r := s.regions.Refs(mem.Handle(it.Handle())); r != 1 {
					return fmt.Errorf("store: value of %q has %d references", it.Key(), r)
				}
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	if err := s.pool.Check(groups); err != nil {
		return err
	}
	if err := s.log.Check(&linked, writers); err != nil {
		return err
	}
	for i := range class {
		var have ClassStats
		for _, l := range s.locals {
			have.Items += l.class[i].Items
			have.Bytes += l.class[i].Bytes
		}
		if have.Items != class[i].Items || have.Bytes != class[i].Bytes {
			return fmt.Errorf("store: class %d: %d items of %d bytes, counted %d of %d", i, class[i].Items, class[i].Bytes, have.Items, have.Bytes)
		}
	}
	if b, n := s.regions.Used(); b != regionBytes || n != regions {
		return fmt.Errorf("store: %d regions of %d bytes, counted %d of %d", regions, regionBytes, n, b)
	}
	c := s.log.Counts()
	parts := int64(c.Segments*s.log.SegmentSize()) + s.pool.Bytes() + s.ghostMem.Size() + regionBytes
	if used := s.budget.Used() - s.budget.Lost(); used != parts {
		return fmt.Errorf("store: budget says %d bytes, the parts are %d", used, parts)
	}
	return nil
}
