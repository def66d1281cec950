// Package store is the only door to the data. It joins the index and the log, and owns what neither knows: the stripes
// and their locks, time, CAS ids, flush generations, the memory limit and who gives way when it is reached.
//
// A stripe holds a share of the keys: a lock and a small table of slots. Reads and writes hold it for about a tenth of a
// microsecond: find the slot, compare the key, copy a small value out or swing the slot to an item that was built before.
// So bytes in the log need no other protection: whoever uses a segment again has unlinked its last item under that item's
// stripe. docs/locks.md has the order of all locks and the rules.
//
// Callers: command packages, through one Local per loop. The store knows no protocol.
package store

import (
	"errors"
	"fmt"
	"math/rand/v2"
	"sync"
	"sync/atomic"
	"unsafe"

	"github.com/zeebo/xxh3"

	"godwit/internal/clock"
	"godwit/internal/evict"
	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// Errors of Build and of writes that need room.
var (
	ErrTooLarge = errors.New("store: item larger than the limit for one item")
	ErrNoMemory = errors.New("store: no memory can be freed for the item")
)

// Mark is a set of option bits of an item.
type Mark = log.Bits

// The marks that callers see.
const (
	Stale     = log.Stale     // meta: invalidated, kept for one winner to refresh
	WinSent   = log.WinSent   // meta: somebody was told to refresh it
	Fetched   = log.Fetched   // read at least once
	BinaryKey = log.BinaryKey // the key came base64-coded (meta b)
	Evictable = log.Evictable // belongs to a door whose items may be evicted
)

// Config of a store.
type Config struct {
	Limit   int64 // bytes: log, regions of large values, index and ghosts together
	Locals  int   // how many Locals will be used at the same time
	Writers int   // how many of them write most of the time (loops); 0: Locals
	MaxItem int64 // largest value in bytes that Build takes (memcached's own -I rule is the caller's)
	NoEvict bool  // -M: ErrNoMemory instead of evicting
	Seed    uint64
	Clock   *clock.Clock // nil with File: see Store.Clock
	File    string       // all data lies in this file, for a warm restart; see Save
	Tag     string       // with File: settings of the caller that must be the same after a restart
}

// Bounds of the engine's own sizes.
const (
	MinLimit      = 1 << 20
	minSegment    = 14 // log2: 16 KiB
	maxSegment    = 20 // log2: 1 MiB
	stripePer     = 256 << 10
	minStripes    = 16
	maxStripes    = 16384
	ghostShare    = 64 // one part in so many of the limit is for ghosts
	largeFraction = 8  // values of more than a segment divided by this, or maxSmall, live in regions
	maxSmall      = 64 << 10
)

// Store is safe for concurrent use through one Local per goroutine.
type Store struct {
	stripes []stripe
	spread  index.Spread
	pool    *index.Pool
	log     *log.Log
	seed    uint64
	gen     atomic.Uint32 // flush generation: segments of older ones hold nothing alive
	stale   atomic.Bool   // segments of an older generation are still about; cleared only under flushing
	observe atomic.Pointer[func(EventKind, *View)]
	ghosts  *evict.Ghosts
	evicted atomic.Bool // something was evicted: ghosts are worth asking
	noEvict bool
	flushAt atomic.Int64 // timeline ms of the delayed flush, 0: none
	clock   *clock.Clock
	large   int // values longer than this live in regions
	maxItem int64

	_        [64]byte // what is above is read by every request, what is below gets written
	regions  mem.Regions
	budget   mem.Budget
	flushing sync.Mutex   // held while gen and stale change
	items    atomic.Int64 // roughly: Locals add what changed when they open a segment
	classes  classes
	ghostMem *mem.Space

	locals []*Local
	lanes  []lane
	sweep  sweeper

	file     *mem.File // nil: memory that ends with the process
	path     string
	tag      string
	fixed    int64 // offset in file behind the parts that do not grow
	restored bool
	reason   string
}

// stripe is one lock and what it guards: a cache line of its own.
type stripe struct {
	mu    sync.Mutex
	table index.Table
	cas   uint64
}

var _ [64]byte = [unsafe.Sizeof(stripe{})]byte{}

// Open reserves the memory and starts the background sweep. With Config.File it goes on with what Save left there, if
// that fits; see Restored.
func Open(c Config) (*Store, error) {
	if c.Limit < MinLimit {
		return nil, fmt.Errorf("store: memory limit %d bytes: below the smallest, %d", c.Limit, MinLimit)
	}
	if c.Writers == 0 {
		c.Writers = c.Locals
	}
	if c.File != "" {
		return openFile(c)
	}
	s, err := build(c, nil, nil)
	if err != nil {
		return nil, err
	}
	s.begin()
	return s, nil
}

// build makes a store, in file if that is not nil, with what m describes if that is not nil. It does not run yet. After an
// error the store is there only to be unmapped.
func build(c Config, file *mem.File, m *saved) (s *Store, err error) {
	s = &Store{
		seed: c.Seed, clock: c.Clock, noEvict: c.NoEvict, maxItem: min(c.MaxItem, log.MaxValue), file: file, path: c.File, tag: c.Tag,
	}
	s.budget.SetLimit(c.Limit)
	s.sweep.wake, s.sweep.quit = make(chan struct{}, 1), make(chan struct{})
	lanes, shift := geometry(c.Limit, c.Writers)
	addr := addresses(c.Limit)
	lc := log.Config{Budget: &s.budget, File: file}
	if file != nil {
		addr = (c.Limit + 2<<maxSegment) &^ (1<<maxSegment - 1) // the limit cannot change
		s.regions.InFile(file, c.Limit)
		if s.clock == nil {
			s.clock = clock.New()
		}
	}
	if m != nil {
		if uint(m.shift) != shift {
			shift = uint(m.shift)
			lanes = lanesFor(c.Limit, lanes, shift)
		}
		s.seed, s.clock, lc.Saved = m.seed, clock.Resume(m.ms, m.unixMs), &m.log
	}
	if s.seed == 0 {
		s.seed = rand.Uint64()
	}
	lc.Addresses, lc.Shift = addr, shift
	lc.Reserve, lc.Keep = min(2*(lanes+1), int(c.Limit>>shift)/16+2), int64(2*lanes+4)<<shift
	if s.log, err = log.New(lc); err != nil {
		return s, err
	}
	if s.pool, err = index.NewPool(file, addr/2, &s.budget); err != nil {
		return s, err
	}
	g := (c.Limit/ghostShare + mem.PageSize) &^ (mem.PageSize - 1)
	if s.ghostMem, err = mem.ReserveIn(file, g); err != nil {
		return s, err
	}
	if file != nil {
		s.fixed = file.Next()
	}
	if err = s.ghostMem.Commit(0, g); err != nil {
		return s, err
	}
	s.budget.Charge(g)
	s.ghosts = evict.NewGhosts(s.ghostMem.Words())
	s.large = min(1<<shift/largeFraction, maxSmall)
	n := stripesFor(c.Limit)
	s.spread = index.NewSpread(n)
	s.stripes = make([]stripe, n)
	s.lanes = make([]lane, lanes+1) // the last one is the background's
	for i := range s.lanes {
		s.lanes[i].init(s.log)
	}
	s.locals = make([]*Local, c.Locals+1)
	for i := range s.locals {
		ln := &s.lanes[i%lanes]
		if i == c.Locals {
			ln = &s.lanes[lanes]
		}
		s.locals[i] = &Local{s: s, lane: ln, now: s.clock.Ms()}
		s.locals[i].e.l = s.locals[i]
		s.locals[i].small.l = s.locals[i]
	}
	if m != nil {
		return s, s.load(m)
	}
	if err = s.pool.Commit(n); err != nil {
		return s, err
	}
	for i := range s.stripes {
		s.stripes[i].table.Init(s.pool)
	}
	return s, nil
}

// begin starts the background sweep.
func (s *Store) begin() { s.sweep.start(s, s.locals[len(s.locals)-1]) }

func stripesFor(limit int64) int { return int(min(max(limit/stripePer, minStripes), maxStripes)) }

// geometry chooses how many lanes write at the same time and how large segments are: two open segments of each lane
// together stay near 1 % of the limit (3 % where that would make them smaller than 16 KiB).
func geometry(limit int64, writers int) (lanes int, shift uint) {
	lanes = max(writers, 1)
	for shift = maxSegment; shift > minSegment && int64(2*lanes)<<shift > limit/100; shift-- {
	}
	if shift == minSegment {
		lanes = lanesFor(limit, lanes, shift)
	}
	return lanes, shift
}

// lanesFor is how many of the lanes wanted the limit allows with segments of that size.
func lanesFor(limit int64, want int, shift uint) int {
	return min(want, max(int(limit*3/100>>(shift+1)), 1))
}

// Close ends the sweep and gives the memory back. No Local may be in use.
func (s *Store) Close() error {
	s.sweep.stop()
	err := s.unmap()
	if s.file != nil {
		err = errors.Join(err, s.file.Close())
	}
	return err
}

// unmap gives the memory back, that of a store built only in part, too.
func (s *Store) unmap() (err error) {
	s.regions.Close()
	if s.ghostMem != nil {
		err = s.ghostMem.Close()
	}
	if s.pool != nil {
		err = errors.Join(err, s.pool.Close())
	}
	if s.log != nil {
		err = errors.Join(err, s.log.Close())
	}
	return err
}

// Local of a loop, 0 to Locals-1.
func (s *Store) Local(i int) *Local { return s.locals[i] }

// Limit is the memory limit in bytes.
func (s *Store) Limit() int64 { return s.budget.Limit() }

// SetLimit changes the memory limit; what is over it is given back in the background. The sizes of segments and stripes
// stay those of the first limit. Error: more than the address space set aside at start can hold.
func (s *Store) SetLimit(n int64) error {
	if n < MinLimit {
		return fmt.Errorf("store: memory limit %d bytes: below the smallest, %d", n, MinLimit)
	}
	if s.file != nil {
		if n != s.Limit() {
			return errors.New("store: the memory limit cannot change while the memory is a file")
		}
		return nil
	}
	if most := s.log.Addresses(); n > most {
		return fmt.Errorf("store: memory limit %d bytes: this process set addresses for %d aside at start (restart with the new limit)", n, most)
	}
	s.budget.SetLimit(n)
	s.sweep.kick()
	return nil
}

// hash of a key in the keyspace of the memcached door.
func (s *Store) hash(key []byte) uint64 { return xxh3.HashSeed(key, s.seed) }

func (s *Store) stripe(hash uint64) *stripe { return &s.stripes[s.spread.Table(hash)] }

// nextCAS gives ids that rise per stripe, and so per key, without a line that all share. The stripe is held.
func (s *Store) nextCAS(st *stripe, hash uint64) uint64 {
	st.cas++
	return st.cas*uint64(len(s.stripes)) + uint64(s.spread.Table(hash)) + 1
}

// EventKind for Observe.
type EventKind uint8

const (
	Stored    EventKind = iota // linked, or changed in place
	Deleted                    // by a command
	Evicted                    // memory was needed
	Reclaimed                  // expired or flushed, removed on the way
)

// Observe has fn called for each change, under the stripe of the key and from any loop: fn copies what it wants, and
// neither waits nor calls the store. nil ends it. While nobody observes, a write pays one untaken branch.
func (s *Store) Observe(fn func(k EventKind, v *View)) {
	if fn == nil {
		s.observe.Store(nil)
		return
	}
	s.observe.Store(&fn)
}

func (s *Store) emit(k EventKind, it log.Item) {
	if fn := s.observe.Load(); fn != nil {
		v := s.view(it)
		(*fn)(k, &v)
	}
}
