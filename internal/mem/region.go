package mem

import (
	"math/bits"
	"sync"
	"sync/atomic"
)

// Regions are pieces of memory for single big values. Each has a slot of addresses of its size class to itself and touches
// only the pages it fills; when it is freed its pages go back to the system, so nothing fragments. A region is counted by
// references: one of the item's, one of each reply that is being sent from it.
type Regions struct {
	mu      sync.Mutex
	classes [regionClasses]regionClass
	bytes   atomic.Int64
	count   atomic.Int64
	file    *File // nil: memory that ends with the process
	extent  int64 // bytes of addresses taken at a time; 0: extentBytes
}

// Handle names a region; 0 is none.
type Handle uint64

const (
	regionClasses = 80
	extentBytes   = 16 << 20
)

type regionClass struct {
	extents atomic.Pointer[[]*extent] // grows by copy under mu
	free    []uint32                  // slot numbers
	next    uint32
}

type extent struct {
	space *Space
	refs  []atomic.Int32
	bytes []int64 // charged, by slot; the owner's until shared, then constant
}

func newExtent(sp *Space, slots uint32) *extent {
	return &extent{space: sp, refs: make([]atomic.Int32, slots), bytes: make([]int64, slots)}
}

// regionSize of a class: 4 KiB steps up to 32 KiB, then four steps to the doubling.
func regionSize(class int) int64 {
	if class < 8 {
		return int64(class+1) * PageSize
	}
	k := class - 8
	return PageSize * (5 + int64(k%4)) * 2 << (k / 4)
}

func regionClassOf(n int64) int {
	pages := max((n+PageSize-1)/PageSize, 1)
	if pages <= 8 {
		return int(pages - 1)
	}
	e := bits.Len64(uint64(pages-1)) - 3 // pages is in (4<<e, 8<<e]
	return 8 + (e-1)*4 + int((pages-1)>>e) - 4
}

func (r *Regions) slots(class int) uint32 {
	n := int64(extentBytes)
	if r.extent != 0 {
		n = r.extent
	}
	return uint32(max(n/regionSize(class), 1))
}

// Alloc gives n bytes of zeros with one reference. Nothing is charged yet: Resize says how much of it is filled.
func (r *Regions) Alloc(n int64) (Handle, error) {
	c := regionClassOf(n)
	cl := &r.classes[c]
	per := r.slots(c)
	r.mu.Lock()
	defer r.mu.Unlock()
	var slot uint32
	if k := len(cl.free); k > 0 {
		slot, cl.free = cl.free[k-1], cl.free[:k-1]
	} else {
		slot = cl.next
		var list []*extent
		if p := cl.extents.Load(); p != nil {
			list = *p
		}
		if int(slot/per) == len(list) {
			sp, err := ReserveIn(r.file, int64(per)*regionSize(c))
			if err != nil {
				return 0, err
			}
			list = append(list[:len(list):len(list)], newExtent(sp, per))
			cl.extents.Store(&list)
		}
		cl.next++
	}
	h := Handle(uint64(c+1)<<32 | uint64(slot))
	e, i := r.at(h)
	e.refs[i].Store(1)
	r.count.Add(1)
	return h, nil
}

func (r *Regions) at(h Handle) (*extent, uint32) {
	c := int(h>>32) - 1
	per := r.slots(c)
	return (*r.classes[c].extents.Load())[uint32(h)/per], uint32(h) % per
}

// Bytes of the region, n of them. Valid as long as a reference is held.
func (r *Regions) Bytes(h Handle, n int) []byte {
	e, i := r.at(h)
	return e.space.Bytes(int64(i)*regionSize(int(h>>32)-1), int64(n))
}

// Charged bytes of a region.
func (r *Regions) Charged(h Handle) int64 {
	e, i := r.at(h)
	return e.bytes[i]
}

// Resize notes that the first n bytes are in use, in whole pages, and returns by how much that changes what is charged.
// The caller settles it with the budget. Only the owner of an unshared region calls it.
func (r *Regions) Resize(h Handle, n int64) (more int64) {
	e, i := r.at(h)
	n = (n + PageSize - 1) &^ (PageSize - 1)
	more = n - e.bytes[i]
	e.bytes[i] = n
	r.bytes.Add(more)
	return more
}

// Commit has the file system set room aside for the bytes from from to to, the pages they begin in not included.
func (r *Regions) Commit(h Handle, from, to int64) error {
	e, i := r.at(h)
	up := func(n int64) int64 { return (n + PageSize - 1) &^ (PageSize - 1) }
	return e.space.Commit(int64(i)*regionSize(int(h>>32)-1)+up(from), up(to)-up(from))
}

// Retain adds a reference. The caller has one, or holds the lock of the item that has.
func (r *Regions) Retain(h Handle) {
	e, i := r.at(h)
	e.refs[i].Add(1)
}

// Refs is the number of references at present.
func (r *Regions) Refs(h Handle) int {
	e, i := r.at(h)
	return int(e.refs[i].Load())
}

// Release drops a reference; the last one frees the region. It returns the bytes that the caller refunds to the budget.
func (r *Regions) Release(h Handle) (freed int64) {
	e, i := r.at(h)
	if e.refs[i].Add(-1) != 0 {
		return 0
	}
	c := int(h>>32) - 1
	freed = e.bytes[i]
	e.bytes[i] = 0
	e.space.Release(int64(i)*regionSize(c), freed)
	r.bytes.Add(-freed)
	r.count.Add(-1)
	r.mu.Lock()
	r.classes[c].free = append(r.classes[c].free, uint32(h))
	r.mu.Unlock()
	return freed
}

// Used is the number of bytes in regions, and of regions.
func (r *Regions) Used() (bytes, count int64) { return r.bytes.Load(), r.count.Load() }

// Close gives all memory back.
func (r *Regions) Close() {
	for c := range r.classes {
		if p := r.classes[c].extents.Load(); p != nil {
			for _, e := range *p {
				e.space.Close()
			}
		}
	}
}
