// Package store is the only door to the data: items in an off-heap log, found through an index of 8-byte slots, cut into
// stripes with a short lock each. (Contract first; the bodies follow.)
package store

import (
	"errors"

	"godwit/internal/clock"
)

// Errors of Build and of writes that need room.
var (
	ErrTooLarge = errors.New("store: item larger than the limit for one item")
	ErrNoMemory = errors.New("store: no memory can be freed for the item")
)

// Mark is a set of option bits of an item.
type Mark uint16

const (
	Stale     Mark = 1 << iota // meta: invalidated, kept for one winner to refresh
	WinSent                    // meta: somebody was told to refresh it
	Fetched                    // read at least once
	BinaryKey                  // the key came base64-coded (meta b)
	Evictable                  // belongs to a door whose items may be evicted (set by Build for the memcached door)
)

// Gone says why Lock found nothing although something was there.
type Gone uint8

const (
	NotGone Gone = iota
	Expired
	Flushed
)

// Config of a store.
type Config struct {
	Limit   int64 // bytes: log, regions of large values, index and ghosts together
	Locals  int   // how many Locals will be used at the same time (loops, plus background work)
	MaxItem int64 // largest value in bytes that Build takes (the caller applies memcached's own -I rule before)
	NoEvict bool  // -M: ErrNoMemory instead of evicting
	Seed    uint64
	Clock   *clock.Clock
}

// Store is safe for concurrent use through one Local per goroutine.
type Store struct{}

// Open reserves the memory and starts the background sweep.
func Open(cfg Config) (*Store, error) { panic("not yet") }
func (s *Store) Close() error         { panic("not yet") }

// Local is one loop's own door: open segments, counters, the time of the present turn. Not for concurrent use.
type Local struct{}

func (s *Store) Local(i int) *Local { panic("not yet") }

// Turn sets the time (timeline ms) that all calls until the next Turn go by, and runs a delayed flush that is due.
func (l *Local) Turn(nowMs int64) { panic("not yet") }

// Now is the time of the present turn, timeline ms.
func (l *Local) Now() int64 { panic("not yet") }

// Hash of a key; computed once per key and passed to the calls below.
func (l *Local) Hash(key []byte) uint64 { panic("not yet") }

// Lock finds key and holds its stripe until Unlock: short work only, no other store call, no system call in between.
// An expired or flushed item is unlinked on the way and counts as not found (Gone tells).
func (l *Local) Lock(key []byte, hash uint64) *Entry { panic("not yet") }

// LockWrite is Lock, with room made beforehand so that SetExpiry and Replace with at most 32 more value bytes than now
// (64 for a missing key) cannot fail. err is ErrNoMemory when no room could be made: then nothing is locked.
func (l *Local) LockWrite(key []byte, hash uint64) (*Entry, error) { panic("not yet") }

// LockLink is Lock, ready to Link p.
func (l *Local) LockLink(p *Pending, hash uint64) *Entry { panic("not yet") }

// Spec describes an item to build.
type Spec struct {
	Flags  uint32 // client flags
	Expiry int64  // timeline ms, 0: never
	Len    int    // bytes of the value
	Marks  Mark   // BinaryKey etc.
}

// Build makes an item that is not yet in the keyspace; the caller fills Value(). A small one must be linked or discarded
// before the next Build on this Local; a large one (Large()) may wait for its bytes over many turns, and is charged as
// Grow reports them. The key is copied. Errors: ErrTooLarge, ErrNoMemory.
func (l *Local) Build(key []byte, spec Spec) (*Pending, error) { panic("not yet") }

// Discard gives back what Build made.
func (l *Local) Discard(p *Pending) { panic("not yet") }

// Pending is an item under construction.
type Pending struct{}

func (p *Pending) Value() []byte { panic("not yet") } // Spec.Len bytes to fill
func (p *Pending) Key() []byte   { panic("not yet") }
func (p *Pending) Large() bool   { panic("not yet") }

// Grow charges n bytes of a large value that are about to arrive (a running total). ErrNoMemory: the upload must be
// swallowed and the Pending discarded. Small values are charged by Build.
func (l *Local) Grow(p *Pending, total int) error { panic("not yet") }

// Entry is a locked stripe with, if Found, the item under the key. It lives in the Local: valid until Unlock.
type Entry struct{}

func (e *Entry) Found() bool          { panic("not yet") }
func (e *Entry) Gone() Gone           { panic("not yet") }
func (e *Entry) Flags() uint32        { panic("not yet") }
func (e *Entry) CAS() uint64          { panic("not yet") }
func (e *Entry) Len() int             { panic("not yet") } // bytes of the value
func (e *Entry) Expiry() int64        { panic("not yet") } // timeline ms, 0: never
func (e *Entry) Access() int64        { panic("not yet") } // timeline ms (whole seconds) of the last access
func (e *Entry) Marks() Mark          { panic("not yet") }
func (e *Entry) Large() bool          { panic("not yet") } // the value lives in a region of its own
func (e *Entry) Value() []byte        { panic("not yet") } // until Unlock; copy out only a small one under the lock, Pin a large one
func (e *Entry) Pin() *Pin            { panic("not yet") } // keeps the value alive after Unlock, until Release
func (e *Entry) Bump()                { panic("not yet") } // counts as an access: Fetched, access time, eviction counter
func (e *Entry) Mark(set, clear Mark) { panic("not yet") }

// Ref identifies this very version of the item (0: none), to see after a second Lock whether it is still there.
func (e *Entry) Ref() uint64 { panic("not yet") }

// SetExpiry changes the expiry; only after LockWrite.
func (e *Entry) SetExpiry(ms int64) { panic("not yet") }

// SetCAS gives the item a new CAS id: cas, or the next one of the stripe if cas is 0. It returns the id given.
func (e *Entry) SetCAS(cas uint64) uint64 { panic("not yet") }

// Link puts p in place of what is there and gives it a CAS id (cas, or the next one if 0), which it returns.
func (e *Entry) Link(p *Pending, cas uint64) uint64 { panic("not yet") }

// Replace puts a new item under the same key (creating it if missing) and returns its value area to be filled before
// Unlock; the CAS id is given as in SetCAS; access data are kept, Marks are as in spec. Bytes got from Value before stay
// readable until Unlock. Only after LockWrite, within its room.
func (e *Entry) Replace(spec Spec, cas uint64) []byte { panic("not yet") }

func (e *Entry) Delete() { panic("not yet") }
func (e *Entry) Unlock() { panic("not yet") }

// Pin keeps value bytes readable without a lock.
type Pin struct{ Data []byte }

func (p *Pin) Release() { panic("not yet") }

// Flush makes every item stored so far dead. FlushAt does so when the timeline reaches ms (one is pending at a time).
func (s *Store) Flush()           { panic("not yet") }
func (s *Store) FlushAt(ms int64) { panic("not yet") }

// SetLimit changes the memory limit at run time; what is over it is given back in the background.
func (s *Store) SetLimit(bytes int64) error { panic("not yet") }
func (s *Store) Limit() int64               { panic("not yet") }

// View is what walks and events show of an item; its slices are valid during the call only.
type View struct {
	Key    []byte
	Value  []byte // nil for large values
	Len    int
	Flags  uint32
	CAS    uint64
	Expiry int64 // timeline ms
	Access int64 // timeline ms
	Marks  Mark
}

// Cursor is a place in a walk over all items; the zero value is the start.
type Cursor struct{ Stripe, Group int }

// Walk calls fn for the live items of the next group (a few hundred items at most), under the lock of its stripe: fn
// copies what it wants and calls nothing of the store. It returns false when the walk is over. Items there during the
// whole walk are seen at least once.
func (l *Local) Walk(c *Cursor, fn func(v *View)) bool { panic("not yet") }

// Event kinds for Observe.
type EventKind uint8

const (
	Evicted   EventKind = iota // memory was needed
	Reclaimed                  // expired, removed by the sweep
)

// Observe has fn called for events in the store, under a stripe lock and from any goroutine; nil ends it.
func (s *Store) Observe(fn func(k EventKind, v *View)) { panic("not yet") }

// Stats is the engine's own account, summed over Locals and stripes.
type Stats struct {
	Items, TotalItems         uint64 // live links now; links ever
	Bytes                     uint64 // memcached's measure: 48 + key + 1 + value + 2 (+8 with CAS, +4 with flags) per item
	Evictions                 uint64
	EvictedUnfetched          uint64
	EvictedActive             uint64
	ExpiredUnfetched          uint64
	Reclaimed                 uint64 // expired items removed by eviction and cleaning
	Swept                     uint64 // expired items removed by the background sweep
	SweptChecked              uint64
	OutOfMemory               uint64
	LogBytes, IndexBytes      uint64 // committed
	RegionBytes, GhostBytes   uint64
	Segments, FreeSegments    uint64
	CleanedBytes, CopiedBytes uint64
	Class                     [64]ClassStats // by memcached's slab class of the item (see SizeClass)
}

// ClassStats are the engine's counts for one of memcached's size classes.
type ClassStats struct {
	Items, Bytes                               int64
	Evicted, EvictedNonzero, EvictedUnfetched  uint64
	EvictedActive, ExpiredUnfetched, Reclaimed uint64
	OutOfMemory, Swept, SweptChecked           uint64
	EvictedTime                                uint64 // seconds since last access of the latest eviction
}

func (s *Store) Stats() Stats { panic("not yet") }
func (s *Store) ResetStats()  { panic("not yet") }

// Publish makes the counters of this Local visible to Stats. Called once per Feed, before the answer is sent.
func (l *Local) Publish() { panic("not yet") }

// Classes sets the sizes of memcached's classes that items are counted by (ascending chunk sizes; class i+1 has sizes[i]).
func (s *Store) SetClasses(sizes []int, casOverhead int) { panic("not yet") }

// Class of an item by memcached's measure; 0 if none.
func (s *Store) ClassOf(klen, vlen int, flags uint32) int { panic("not yet") }
