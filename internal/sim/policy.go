package sim

import (
	"fmt"
	"math"
	"slices"
	"strings"
)

// Policy is a cache that knows ids and sizes only. Sizes are in units of its capacity: objects (all of size 1) or bytes.
type Policy interface {
	// Get is a request for an object; true if it is resident. It counts as an access.
	Get(id uint64) bool
	// Put stores an object, over the one there if it is resident (which counts as an access). What does not fit is not kept.
	Put(id uint64, size int64)
	// Remove forgets an object, by command or because it expired.
	Remove(id uint64)
	// Has says whether an object is resident, without counting as an access.
	Has(id uint64) bool
	// Len is the number of resident objects.
	Len() int
	// Used is what they take, in units of the capacity, and never more than it.
	Used() int64
}

// Setup of a policy.
type Setup struct {
	Capacity int64
	Bytes    bool            // the capacity is in bytes, not in objects
	Seed     uint64          // of those that choose at random
	Gone     func(id uint64) // called for each object that leaves other than by Remove, even as it is put; may be nil
}

// kind is a row of the table of policies.
type kind struct {
	name, summary string
	make          func(Setup) Policy
}

// kinds in the order of outputs.
var kinds = []kind{
	{"godwit", "the server's own: S3-FIFO over segments of a log, small queue that grows when the hit ratio falls", newEngine},
	{"fifo", "the oldest leaves", func(s Setup) Policy { return newFIFO(s) }},
	{"lru", "the least recently used leaves", func(s Setup) Policy { return newLRU(s) }},
	{"memcached", "memcached's segmented LRU: HOT 20 %, WARM 40 %, COLD", func(s Setup) Policy { return newSegmented(s) }},
	{"lfu", "the least often used since it came leaves", func(s Setup) Policy { return newLFU(s) }},
	{"s3fifo", "S3-FIFO as in the paper: small queue of 10 %, ghosts", func(s Setup) Policy { return newS3FIFO(s) }},
	{"sieve", "SIEVE: one queue, one hand", func(s Setup) Policy { return newSieve(s) }},
	{"tinylfu", "W-TinyLFU with a fixed window of 1 %", func(s Setup) Policy { return newTinyLFU(s) }},
	{"random2", "the less recently used of two at random (pogocache)", func(s Setup) Policy { return newSampled(s, 2) }},
	{"sample5", "the least recently used of five at random (Redis, without its pool)", func(s Setup) Policy { return newSampled(s, 5) }},
	{"arc", "ARC: balances recency and frequency by its ghosts", func(s Setup) Policy { return newARC(s) }},
}

// Policies are the names that New takes.
func Policies() []string {
	out := make([]string, len(kinds))
	for i, k := range kinds {
		out[i] = k.name
	}
	return out
}

// New policy by name.
func New(name string, s Setup) (Policy, error) {
	if s.Capacity < 1 {
		return nil, fmt.Errorf("sim: capacity %d: nothing fits into it (at least 1)", s.Capacity)
	}
	i := slices.IndexFunc(kinds, func(k kind) bool { return k.name == name })
	if i < 0 {
		return nil, fmt.Errorf("sim: policy %q: not known (%s)", name, strings.Join(Policies(), ", "))
	}
	if !s.Bytes && s.Capacity > math.MaxInt32 {
		return nil, fmt.Errorf("sim: capacity %d: more objects than can be followed (at most %d)", s.Capacity, math.MaxInt32)
	}
	return kinds[i].make(s), nil
}

// mix makes 64 good bits of an id (the finalizer of splitmix64).
func mix(x uint64) uint64 {
	x = (x ^ x>>30) * 0xbf58476d1ce4e5b9
	x = (x ^ x>>27) * 0x94d049bb133111eb
	return x ^ x>>31
}
