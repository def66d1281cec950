package index

import (
	"sync"
	"unsafe"

	"godwit/internal/mem"
)

// Pool feeds the tables with groups. alloc and free take its lock, for a few instructions, under a stripe's lock.
type Pool struct {
	space *mem.Space
	base  unsafe.Pointer
	metas *mem.Space // a groupMeta per possible group
	mbase unsafe.Pointer

	mu     sync.Mutex
	budget *mem.Budget
	next   uint32 // groups never used so far start here
	ready  uint32 // groups below this have room in the file system
	most   uint32 // groups that the reservation has room for
	spare  []uint32
	inUse  int
}

const noGroup = 1<<32 - 1

// groupMeta is kept outside the group, so that readers touch one cache line of the index only. It belongs to the table
// that the group belongs to.
type groupMeta struct {
	items uint16
	depth uint8
}

// NewPool reserves room for maxBytes of groups, in file if that is not nil. What is used is charged to budget.
func NewPool(file *mem.File, maxBytes int64, budget *mem.Budget) (*Pool, error) {
	size := (maxBytes + 1<<20) &^ (mem.PageSize - 1)
	sp, err := mem.ReserveIn(file, size)
	if err != nil {
		return nil, err
	}
	ms, err := mem.ReserveIn(file, size/GroupBytes*int64(unsafe.Sizeof(groupMeta{})))
	if err != nil {
		sp.Close()
		return nil, err
	}
	p := &Pool{space: sp, base: sp.Base(), metas: ms, mbase: ms.Base(), most: uint32(size / GroupBytes), budget: budget}
	if err := ms.Commit(0, ms.Size()); err != nil {
		p.Close()
		return nil, err
	}
	if file == nil {
		p.ready = p.most
	}
	return p, nil
}

// Close gives the memory back.
func (p *Pool) Close() error {
	p.metas.Close()
	return p.space.Close()
}

func (p *Pool) group(id uint32) *group {
	return (*group)(unsafe.Add(p.base, uintptr(id)*GroupBytes))
}

func (p *Pool) meta(id uint32) *groupMeta {
	return (*groupMeta)(unsafe.Add(p.mbase, uintptr(id)*unsafe.Sizeof(groupMeta{})))
}

// alloc gives an empty group. Its memory is charged without asking: an item that was let in must be found again; the log
// gives way. noGroup: the reservation is used up, which takes more groups than half the limit has room for,
// or the file system is full.
func (p *Pool) alloc() uint32 {
	p.mu.Lock()
	var id uint32
	if n := len(p.spare); n > 0 {
		id, p.spare = p.spare[n-1], p.spare[:n-1]
	} else {
		if p.next == p.most || p.next >= p.ready && p.commit(p.next+1) != nil {
			p.mu.Unlock()
			return noGroup
		}
		id = p.next
		p.next++
		p.budget.Charge(GroupBytes)
	}
	p.inUse++
	p.mu.Unlock()
	*p.meta(id) = groupMeta{}
	return id
}

// Commit has room set aside for n groups, before the first Init.
func (p *Pool) Commit(n int) error {
	if uint32(n) <= p.ready {
		return nil
	}
	return p.commit(uint32(n))
}

// commit has the file system set room aside for the groups below n, and some more.
func (p *Pool) commit(n uint32) error {
	const step = 512
	n = min((n+step-1)/step*step, p.most)
	err := p.space.Commit(int64(p.ready)*GroupBytes, int64(n-p.ready)*GroupBytes)
	if err == nil {
		p.ready = n
	}
	return err
}

func (p *Pool) free(id uint32) {
	*p.group(id) = group{}
	p.mu.Lock()
	p.spare = append(p.spare, id)
	p.inUse--
	p.mu.Unlock()
}

// Bytes touched so far, spare groups included.
func (p *Pool) Bytes() int64 {
	p.mu.Lock()
	defer p.mu.Unlock()
	return int64(p.next) * GroupBytes
}
