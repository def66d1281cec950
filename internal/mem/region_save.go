package mem

import (
	"cmp"
	"fmt"
	"slices"
)

// RegionClass is what has to be known of the regions of one size to find them again in the file.
type RegionClass struct {
	Class   uint8
	Next    uint32  // slots never used start here
	Extents []int64 // offsets in the file
	Used    []RegionUse
}

// RegionUse is a region that holds a value.
type RegionUse struct {
	Slot  uint32
	Bytes int64 // charged
}

// InFile has the regions kept in a file, with less address space at a time when the limit is small. Before the first Alloc.
func (r *Regions) InFile(file *File, limit int64) {
	r.file, r.extent = file, min(max(limit/32, 1<<20), extentBytes)&^(PageSize-1)
}

// Save describes the regions in use. Those that no item refers to (replies never sent, uploads never finished) are freed.
func (r *Regions) Save(linked func(Handle) bool) (out []RegionClass) {
	for c := range r.classes {
		cl := &r.classes[c]
		p := cl.extents.Load()
		if p == nil {
			continue
		}
		rc := RegionClass{Class: uint8(c), Next: cl.next}
		for _, e := range *p {
			rc.Extents = append(rc.Extents, e.space.Offset())
		}
		for slot := range cl.next {
			h := Handle(uint64(c+1)<<32 | uint64(slot))
			e, i := r.at(h)
			if e.refs[i].Load() == 0 {
				continue
			}
			if !linked(h) {
				e.space.Release(int64(i)*regionSize(c), e.bytes[i])
				continue
			}
			rc.Used = append(rc.Used, RegionUse{slot, e.bytes[i]})
		}
		out = append(out, rc)
	}
	return out
}

// CheckRegions says what is impossible about a description, if anything. limit is that of InFile; extents lie between the
// offsets from and to of the file.
func CheckRegions(classes []RegionClass, limit, from, to int64) error {
	var r Regions
	var ranges [][2]int64
	r.InFile(nil, limit)
	for i := range classes {
		c := &classes[i]
		if int(c.Class) >= regionClasses || i > 0 && c.Class <= classes[i-1].Class {
			return fmt.Errorf("mem: region class %d in place %d", c.Class, i)
		}
		per := uint64(r.slots(int(c.Class)))
		if n := uint64(len(c.Extents)); uint64(c.Next) > n*per || n > 0 && uint64(c.Next) <= (n-1)*per {
			return fmt.Errorf("mem: %d extents for %d regions of class %d", n, c.Next, c.Class)
		}
		bytes := int64(per) * regionSize(int(c.Class))
		for _, off := range c.Extents {
			if off < from || off%PageSize != 0 || bytes > to || off > to-bytes {
				return fmt.Errorf("mem: extent at %d, the file has room from %d to %d", off, from, to)
			}
			ranges = append(ranges, [2]int64{off, off + bytes})
		}
		for k, u := range c.Used {
			if u.Slot >= c.Next || k > 0 && u.Slot <= c.Used[k-1].Slot || u.Bytes <= 0 || u.Bytes%PageSize != 0 || u.Bytes > regionSize(int(c.Class)) {
				return fmt.Errorf("mem: region %d of class %d with %d bytes", u.Slot, c.Class, u.Bytes)
			}
		}
	}
	slices.SortFunc(ranges, func(a, b [2]int64) int { return cmp.Compare(a[0], b[0]) })
	for i := range ranges {
		if i > 0 && ranges[i][0] < ranges[i-1][1] {
			return fmt.Errorf("mem: two extents at %d", ranges[i][0])
		}
	}
	return nil
}

// Load is the opposite of Save: each region described has one reference. It returns the bytes charged.
func (r *Regions) Load(classes []RegionClass) (charged int64, err error) {
	for i := range classes {
		s := &classes[i]
		cl := &r.classes[s.Class]
		per := r.slots(int(s.Class))
		var list []*extent
		for _, off := range s.Extents {
			sp, err := r.file.Map(off, int64(per)*regionSize(int(s.Class)))
			if err != nil {
				return 0, err
			}
			list = append(list, newExtent(sp, per))
			cl.extents.Store(&list)
		}
		cl.next = s.Next
		used := s.Used
		for slot := range s.Next {
			if len(used) == 0 || used[0].Slot != slot {
				cl.free = append(cl.free, slot)
				continue
			}
			e, k := r.at(Handle(uint64(s.Class+1)<<32 | uint64(slot)))
			e.refs[k].Store(1)
			e.bytes[k] = used[0].Bytes
			charged += used[0].Bytes
			r.count.Add(1)
			used = used[1:]
		}
		slices.Reverse(cl.free)
	}
	r.bytes.Store(charged)
	return charged, nil
}

// Holds says whether h is a region in use with room for n bytes.
func (r *Regions) Holds(h Handle, n int) bool {
	c := int(h>>32) - 1
	if c < 0 || c >= regionClasses {
		return false
	}
	p := r.classes[c].extents.Load()
	if p == nil || uint32(h) >= r.classes[c].next {
		return false
	}
	e, i := r.at(h)
	return e.refs[i].Load() > 0 && int64(n) <= e.bytes[i]
}

// Blocks calls fn for the bytes of all regions that Save describes, in its order.
func (r *Regions) Blocks(classes []RegionClass, fn func([]byte)) {
	for i := range classes {
		for _, u := range classes[i].Used {
			fn(r.Bytes(Handle(uint64(classes[i].Class+1)<<32|uint64(u.Slot)), int(u.Bytes)))
		}
	}
}
