// Package mrc estimates the miss-ratio curve of an LRU cache from one pass over its requests, in fixed memory: what the
// miss ratio would be at any size. It is SHARDS (Waldspurger and others, "Efficient MRC Construction with SHARDS", FAST
// 2015) with a fixed number of samples: keys are chosen by their hash, so that each request for a chosen key is seen; among
// them the reuse distance of a request is the number of others asked for since, divided by the share of keys chosen.
//
// It knows neither keys nor time and is not safe for concurrent use. Package sim sets its curve beside exact simulations; it
// is as well made to run inside a server, where a request for a key that is not sampled costs a multiplication and a
// comparison.
package mrc

import (
	"math"
	"math/bits"
)

// Shards is the estimator. Its memory is allocated by New and does not grow: about 70 bytes for each sample and 16 KiB.
type Shards struct {
	threshold uint64 // keys whose scrambled hash is below it are sampled
	reads     int64  // all of them

	entries []entry
	free    []int32
	table   []int32 // open addressing, linear probing: entry+1, 0 is empty
	mask    uint64
	heap    []int32 // entries, the highest hash first

	tree  []int64 // Fenwick tree of weights by place; places rise with the time of the last request
	order []int32 // entry+1 by place, 0: none
	last  int     // the place last given away
	total int64   // weight of all samples

	hist [buckets]float64 // reads by reuse distance, each counted for as many as it stands for
	seen float64          // reads that the samples stand for
}

type entry struct {
	hash   uint64 // scrambled
	weight int64
	place  int32 // in tree, from 1
	heap   int32 // in heap
}

const (
	subBits = 5 // 32 buckets an octave: sizes are told apart to 3 %
	buckets = (64 - subBits) << subBits
)

// Samples that are enough for errors of one to two points on average; at capacities of which the samples stand for a few
// objects only, more.
const Samples = 8192

// New estimator that keeps at most so many samples, and samples the share rate of all keys to begin with (1: all, until
// there are too many). A low rate from the start saves the work of the beginning.
func New(samples int, rate float64) *Shards {
	samples = max(samples, 16)
	size := 1 << bits.Len(uint(2*samples-1))
	s := &Shards{
		threshold: math.MaxUint64, entries: make([]entry, 0, samples), free: make([]int32, 0, samples), heap: make([]int32, 0, samples),
		table: make([]int32, size), mask: uint64(size - 1), tree: make([]int64, 2*samples+1), order: make([]int32, 2*samples+1),
	}
	if rate > 0 && rate < 1 {
		s.threshold = uint64(rate * math.MaxUint64)
	}
	return s
}

// scramble makes the choice of samples independent of other uses of the hash (stripes are chosen by its top bits).
func scramble(hash uint64) uint64 { return hash * 0x9e3779b97f4a7c15 }

// Rate is the share of keys that is sampled at present.
func (s *Shards) Rate() float64 { return float64(s.threshold) / math.MaxUint64 }

// Read notes a request for a key, hit or miss, whose item weighs so much: 1 for a curve over numbers of items, its bytes for
// one over bytes. All sizes of one curve are of one kind. The hash is of 64 good bits.
func (s *Shards) Read(hash uint64, weight int64) {
	s.reads++
	if h := scramble(hash); h < s.threshold {
		s.read(h, weight)
	}
}

// Write notes that an item was stored without being asked for: it counts as used, not as a request.
func (s *Shards) Write(hash uint64, weight int64) {
	if h := scramble(hash); h < s.threshold {
		if _, at, ok := s.find(h); ok {
			s.renew(at, weight)
		} else {
			s.add(h, weight)
		}
	}
}

// Delete notes that an item was removed: the next request for it misses at any size.
func (s *Shards) Delete(hash uint64) {
	if h := scramble(hash); h < s.threshold {
		if slot, at, ok := s.find(h); ok {
			s.drop(slot, at)
		}
	}
}

func (s *Shards) read(h uint64, weight int64) {
	rate := s.Rate()
	s.seen += 1 / rate
	_, at, ok := s.find(h)
	if !ok {
		s.add(h, weight)
		return
	}
	e := &s.entries[at]
	since := s.total - s.sum(e.place) // weight of what was asked for after it
	distance := float64(since)/rate + float64(e.weight)
	s.hist[bucket(uint64(min(distance, 1<<62)))] += 1 / rate
	s.renew(at, weight)
}

// MissRatio of a cache that holds items of so much weight together. Without requests it is NaN.
func (s *Shards) MissRatio(capacity int64) float64 {
	if s.reads == 0 {
		return math.NaN()
	}
	// The samples stand for more or fewer reads than there were, mostly because a very hot key is among them or is not. What
	// is missing or too much are reads with short distances: SHARDS-adj.
	hits := float64(s.reads) - s.seen
	b := bucket(uint64(max(capacity, 0)))
	for _, n := range s.hist[:b] {
		hits += n
	}
	low, high := bounds(b)
	hits += s.hist[b] * float64(uint64(max(capacity, 0))-low+1) / float64(high-low+1)
	if capacity <= 0 {
		hits = 0
	}
	return min(max(1-hits/float64(s.reads), 0), 1)
}

// Capacity is the smallest at which the miss ratio is at most ratio. ok is false if none is enough.
func (s *Shards) Capacity(ratio float64) (capacity int64, ok bool) {
	lo, hi := int64(0), int64(1)<<62
	if !(s.MissRatio(hi) <= ratio) {
		return 0, false
	}
	for lo < hi {
		if mid := lo + (hi-lo)/2; s.MissRatio(mid) <= ratio {
			hi = mid
		} else {
			lo = mid + 1
		}
	}
	return lo, true
}

// Footprint estimates how many keys there are and what they weigh together, of those not deleted.
func (s *Shards) Footprint() (keys, weight float64) {
	return float64(len(s.heap)) / s.Rate(), float64(s.total) / s.Rate()
}

// Reads noted so far.
func (s *Shards) Reads() int64 { return s.reads }

// Age halves the weight of all reads so far, so that a curve kept for long follows the load.
func (s *Shards) Age() {
	for i := range s.hist {
		s.hist[i] /= 2
	}
	s.seen /= 2
	s.reads /= 2
}

func bucket(d uint64) int {
	n := max(bits.Len64(d)-subBits-1, 0)
	return n<<subBits + int(d>>n)
}

// bounds of a bucket, both included.
func bounds(b int) (low, high uint64) {
	n := max(b>>subBits-1, 0)
	m := uint64(b - n<<subBits)
	return m << n, (m+1)<<n - 1
}

func (s *Shards) find(h uint64) (slot uint64, at int32, ok bool) {
	for slot = s.home(h); ; slot = (slot + 1) & s.mask {
		at = s.table[slot] - 1
		if at < 0 {
			return slot, at, false
		}
		if s.entries[at].hash == h {
			return slot, at, true
		}
	}
}

// home uses low bits, mixed with high ones: the highest bits of all samples are zeros.
func (s *Shards) home(h uint64) uint64 { return (h ^ h>>29) * 0xbf58476d1ce4e5b9 >> 20 & s.mask }

// add a sample, giving up those of the highest hash if there are too many.
func (s *Shards) add(h uint64, weight int64) {
	if len(s.heap) == cap(s.heap) {
		top := s.heap[0]
		s.threshold = s.entries[top].hash
		slot, _, _ := s.find(s.threshold)
		s.drop(slot, top)
		if h >= s.threshold {
			return
		}
	}
	var at int32
	if n := len(s.free); n > 0 {
		at = s.free[n-1]
		s.free = s.free[:n-1]
	} else {
		at = int32(len(s.entries))
		s.entries = s.entries[:at+1]
	}
	slot, _, _ := s.find(h)
	s.table[slot] = at + 1
	s.entries[at] = entry{hash: h, weight: weight, heap: int32(len(s.heap))}
	s.heap = append(s.heap, at)
	s.up(len(s.heap) - 1)
	s.total += weight
	s.put(at)
}

// renew makes a sample the one last asked for.
func (s *Shards) renew(at int32, weight int64) {
	e := &s.entries[at]
	s.change(e.place, -e.weight)
	s.order[e.place] = 0
	s.total += weight - e.weight
	e.weight = weight
	s.put(at)
}

// put gives a sample the next place. Once there is none left, the places are given anew, close together.
func (s *Shards) put(at int32) {
	if s.last == len(s.order)-1 {
		s.pack()
	}
	s.last++
	e := &s.entries[at]
	e.place = int32(s.last)
	s.order[s.last] = at + 1
	s.change(e.place, e.weight)
}

func (s *Shards) pack() {
	n := 0
	clear(s.tree)
	for p, o := range s.order {
		if o == 0 {
			continue
		}
		s.order[p] = 0
		n++
		s.order[n] = o
		s.entries[o-1].place = int32(n)
		s.tree[n] = s.entries[o-1].weight
	}
	s.last = n
	for i := 1; i < len(s.tree); i++ {
		if up := i + i&-i; up < len(s.tree) {
			s.tree[up] += s.tree[i]
		}
	}
}

func (s *Shards) drop(slot uint64, at int32) {
	e := &s.entries[at]
	s.change(e.place, -e.weight)
	s.order[e.place] = 0
	s.total -= e.weight
	i := int(e.heap)
	end := len(s.heap) - 1
	s.swap(i, end)
	s.heap = s.heap[:end]
	if i < end {
		s.down(i)
		s.up(i)
	}
	s.free = append(s.free, at)
	// close the gap in the table
	for next := slot; ; {
		next = (next + 1) & s.mask
		o := s.table[next]
		if o == 0 {
			break
		}
		if home := s.home(s.entries[o-1].hash); (next-home)&s.mask >= (next-slot)&s.mask {
			s.table[slot] = o
			slot = next
		}
	}
	s.table[slot] = 0
}

func (s *Shards) change(place int32, by int64) {
	for i := int(place); i < len(s.tree); i += i & -i {
		s.tree[i] += by
	}
}

// sum of the weights at the places up to place.
func (s *Shards) sum(place int32) (n int64) {
	for i := int(place); i > 0; i &= i - 1 {
		n += s.tree[i]
	}
	return n
}

func (s *Shards) above(i, j int) bool {
	return s.entries[s.heap[i]].hash > s.entries[s.heap[j]].hash
}

func (s *Shards) swap(i, j int) {
	h := s.heap
	h[i], h[j] = h[j], h[i]
	s.entries[h[i]].heap, s.entries[h[j]].heap = int32(i), int32(j)
}

func (s *Shards) up(i int) {
	for i > 0 && s.above(i, (i-1)/2) {
		s.swap(i, (i-1)/2)
		i = (i - 1) / 2
	}
}

func (s *Shards) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(s.heap) {
			return
		}
		if c+1 < len(s.heap) && s.above(c+1, c) {
			c++
		}
		if !s.above(c, i) {
			return
		}
		s.swap(i, c)
		i = c
	}
}
