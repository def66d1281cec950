package store

import (
	"unsafe"

	"godwit/internal/index"
	"godwit/internal/mem"
)

// WarmBatch is how many keys Warm takes at a time.
const WarmBatch = 16

// Warm asks for the memory that requests for these keys (by their hashes, at most WarmBatch of them) will touch, one kind
// after the other, so that the waits for it overlap instead of adding up. It is a hint: it takes no lock and changes
// nothing.
func (l *Local) Warm(hashes []uint64) {
	if raceEnabled {
		return
	}
	s := l.s
	var st [WarmBatch]*stripe
	var buckets [WarmBatch]unsafe.Pointer
	for i, h := range hashes {
		st[i] = s.stripe(h)
		mem.Prefetch(unsafe.Pointer(st[i]))
	}
	for i, h := range hashes {
		buckets[i] = st[i].table.Warm(s.pool, index.Tag(h))
	}
	base := s.log.Base()
	for i, h := range hashes {
		index.WarmItem(buckets[i], base, index.Tag(h))
	}
}
