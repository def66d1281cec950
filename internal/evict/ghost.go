package evict

import "sync/atomic"

// Ghosts remembers keys that left the small queue, by fingerprints. An entry of 4 bytes is
//
//	31            12 11          0
//	[ fingerprint 20 ][ time 12   ]    0 = empty
//
// in sets of four (16 bytes). Time counts evictions in steps of a 512th of the table, so that entries older than a chosen
// number of evictions are not believed. Entries are read and written with atomics and no lock: a lost or torn set costs
// one wrong guess about one key.
type Ghosts struct {
	entries []uint32
	sets    uint64
	step    uint64 // evictions per tick
	count   atomic.Uint64
}

const ghostTimeBits = 12

// NewGhosts works in memory of the caller's, a multiple of four zeros.
func NewGhosts(e []uint32) *Ghosts {
	return &Ghosts{entries: e, sets: uint64(len(e) / 4), step: max(uint64(len(e))/512, 1)}
}

func (g *Ghosts) place(hash uint64) (set []uint32, fp uint32) {
	i := (hash >> 32) * g.sets >> 32 * 4
	return g.entries[i : i+4 : i+4], uint32(hash)>>ghostTimeBits | 1
}

// Add remembers a key that was evicted. Evictions of one store come from several loops at once.
func (g *Ghosts) Add(hash uint64) {
	t := uint32(g.count.Add(1)/g.step) & (1<<ghostTimeBits - 1)
	set, fp := g.place(hash)
	oldest, at := uint32(0), 0
	for i := range set {
		e := atomic.LoadUint32(&set[i])
		if e == 0 || e>>ghostTimeBits == fp {
			at = i
			break
		}
		if age := (t - e) & (1<<ghostTimeBits - 1); age >= oldest {
			oldest, at = age, i
		}
	}
	atomic.StoreUint32(&set[at], fp<<ghostTimeBits|t)
}

// Take says whether the key was evicted less than within evictions ago, and forgets it.
func (g *Ghosts) Take(hash uint64, within int64) bool {
	set, fp := g.place(hash)
	for i := range set {
		e := atomic.LoadUint32(&set[i])
		if e>>ghostTimeBits != fp {
			continue
		}
		atomic.StoreUint32(&set[i], 0)
		age := (uint32(g.count.Load()/g.step) - e) & (1<<ghostTimeBits - 1)
		return int64(uint64(age)*g.step) <= within
	}
	return false
}
