// Package stats counts what the loops do. Each loop owns one Worker and adds to its plain fields; Publish makes them
// visible to whoever sums. Nothing on the hot path is shared.
package stats

import (
	"math/bits"
	"sync"
)

// Counters of memcached's threads, named as `stats` prints them (in its order). All are sums since start or reset.
type Counters struct {
	CmdFlush, CmdTouch, CmdMeta                     uint64
	GetMisses, GetExpired, GetFlushed               uint64
	DeleteMisses, IncrMisses, DecrMisses, CasMisses uint64
	TouchMisses                                     uint64
	StoreTooLarge, StoreNoMemory                    uint64
	AuthCmds, AuthErrors                            uint64
	BytesRead, BytesWritten                         uint64
	ConnYields, IdleKicks                           uint64
	ResponseObjOOM                                  uint64
}

// Class counts by memcached's slab class of the item, as `stats slabs` prints them; the totals of `stats` are their sums.
type Class struct {
	GetHits, SetCmds, DeleteHits, IncrHits, DecrHits, CasHits, CasBadval, TouchHits uint64
}

// Worker is one loop's own counters. Only the loop touches C and its classes.
type Worker struct {
	C     Counters
	class [64]Class
	dirty uint64 // classes changed since Publish

	mu       sync.Mutex
	pub      Counters
	pubClass [64]Class
}

// Class gives the counters of a class to add to.
func (w *Worker) Class(i int) *Class {
	i &= 63
	w.dirty |= 1 << i
	return &w.class[i]
}

// Publish makes what was counted visible to Snapshot. The loop calls it before it sends the answers of a Feed, so that
// whoever has seen an answer finds it counted.
func (w *Worker) Publish() {
	w.mu.Lock()
	w.pub = w.C
	for d := w.dirty; d != 0; d &= d - 1 {
		i := bits.TrailingZeros64(d)
		w.pubClass[i] = w.class[i]
	}
	w.mu.Unlock()
	w.dirty = 0
}

// Snapshot is what was last published.
func (w *Worker) Snapshot() (Counters, [64]Class) {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.pub, w.pubClass
}
