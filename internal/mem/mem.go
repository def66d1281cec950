// Package mem hands out memory that the Go collector never sees: one large virtual reservation per use, touched page by
// page and given back to the system in pieces. Under the race detector, which does not watch mapped memory, a reservation
// is a Go slice instead, so that a real race on items or slots is reported.
//
// Nothing here locks. Callers: index, log and store.
package mem

import (
	"fmt"
	"sync/atomic"
	"unsafe"
)

// PageSize is the unit in which memory is touched and given back, bytes.
const PageSize = 4096

// Space is a reservation. Its pages read as zeros until they are written.
type Space struct {
	raw  []byte
	base unsafe.Pointer
	file *File // nil: memory that ends with the process
	off  int64 // in file
}

// Reserve sets size bytes of addresses aside without touching memory.  Error: the system refuses the reservation (a limit on address space, or strict overcommit).
func Reserve(size int64) (*Space, error) {
	raw, err := reserve(size)
	if err != nil {
		return nil, fmt.Errorf("mem: reserve %d bytes of address space: %w (raise ulimit -v, or lower the memory limit)", size, err)
	}
	return &Space{raw: raw, base: unsafe.Pointer(unsafe.SliceData(raw))}, nil
}

// Base is the address of byte 0. It stays valid until Close.
func (s *Space) Base() unsafe.Pointer { return s.base }

// Size of the reservation in bytes.
func (s *Space) Size() int64 { return int64(len(s.raw)) }

// Bytes is the range [off, off+n) of the reservation.
func (s *Space) Bytes(off, n int64) []byte { return s.raw[off : off+n : off+n] }

// Words is the whole reservation as 32-bit words.
func (s *Space) Words() []uint32 { return unsafe.Slice((*uint32)(s.base), len(s.raw)/4) }

// Release gives the pages of [off, off+n) back to the system; they read as zeros afterwards. Both are multiples of PageSize.
func (s *Space) Release(off, n int64) {
	if s.file != nil {
		releaseFile(s.file.f, s.off+off, s.raw[off:off+n])
		return
	}
	release(s.raw[off : off+n])
}

// Commit has the file system set blocks aside for [off, off+n), which nothing may be written to before: without a block a
// write kills the process (SIGBUS). Error: it is full. Without a file there is nothing to do.
func (s *Space) Commit(off, n int64) error {
	if s.file == nil {
		return nil
	}
	if err := commitFile(s.file.f, s.off+off, n); err != nil {
		return fmt.Errorf("mem: %d bytes of the memory file %s: %w", n, s.file.f.Name(), err)
	}
	return nil
}

// Offset of the range in the file, 0 without one.
func (s *Space) Offset() int64 { return s.off }

// Zero makes everything from off to the end zeros, giving whole pages back.
func (s *Space) Zero(off int64) {
	page := min((off+PageSize-1)&^(PageSize-1), s.Size())
	clear(s.raw[off:page])
	end := s.Size() &^ (PageSize - 1)
	if page < end {
		s.Release(page, end-page)
	}
	clear(s.raw[max(page, end):])
}

// Close gives everything back. Nothing that points into the space may be used any more.
func (s *Space) Close() error {
	raw := s.raw
	s.raw, s.base = nil, nil
	if s.file != nil {
		return unmapFile(raw)
	}
	return unreserve(raw)
}

// Budget is a limit in bytes and what is used of it, shared by everything that holds data.
type Budget struct {
	limit, used atomic.Int64
	lost        atomic.Int64 // part of used
}

// SetLimit changes the limit; what is used may then be above it.
func (b *Budget) SetLimit(n int64) { b.limit.Store(n) }

// Limit in bytes.
func (b *Budget) Limit() int64 { return b.limit.Load() }

// Used bytes.
func (b *Budget) Used() int64 { return b.used.Load() }

// Left is limit less used; negative when over it.
func (b *Budget) Left() int64 { return b.limit.Load() - b.used.Load() }

// Charge takes n bytes whether or not they are there (index pages: a write that was let in must be found again).
func (b *Budget) Charge(n int64) { b.used.Add(n) }

// TryCharge takes n bytes if the limit allows.
func (b *Budget) TryCharge(n int64) bool {
	if b.used.Add(n) <= b.limit.Load() {
		return true
	}
	b.used.Add(-n)
	return false
}

// Lose leaves n bytes charged although nobody has them, and all that is left with them: the file system is full. So
// everybody makes do with what there is.
func (b *Budget) Lose(n int64) {
	left := max(b.Left(), 0)
	b.used.Add(left)
	b.lost.Add(n + left)
}

// Lost bytes.
func (b *Budget) Lost() int64 { return b.lost.Load() }

// Regain gives back what was lost, for another try.
func (b *Budget) Regain() { b.used.Add(-b.lost.Swap(0)) }

// Refund gives n bytes back.
func (b *Budget) Refund(n int64) { b.used.Add(-n) }
