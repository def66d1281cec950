package store

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	"github.com/zeebo/xxh3"

	"godwit/internal/clock"
	"godwit/internal/index"
	"godwit/internal/log"
	"godwit/internal/mem"
)

// Warm restart: with Config.File all data lies in a shared mapping of FILE, and Save writes FILE.meta with everything else
// that a later Open needs to go on. FILE.meta is consumed by the Open that reads it, so that after a crash nothing fits any
// more and the cache starts empty. It has checksums of itself and of the used parts of FILE.

// ErrMetaEmpty ends a start: FILE.meta exists and is empty, which no Save leaves behind.
var ErrMetaEmpty = errors.New("store: the restart metadata file is empty (remove it to start with an empty cache)")

func metaPath(file string) string { return file + ".meta" }

// maxMeta bounds what is read of FILE.meta. The largest parts are 20 bytes for each region of a page, 5 for each group of
// the index.
func maxMeta(limit int64) int64 { return 16<<20 + limit/32 }

// openFile is Open with a memory file: warm if FILE.meta fits, else empty.
func openFile(c Config) (*Store, error) {
	if c.Clock != nil {
		return nil, errors.New("store: with a memory file the clock is the store's (leave Config.Clock out, use Store.Clock)")
	}
	f, err := mem.OpenFile(c.File)
	if err != nil {
		return nil, err
	}
	if free, err := f.Free(); err == nil && free < c.Limit {
		f.Close()
		return nil, fmt.Errorf("store: memory file %s: the memory limit is %d bytes, its file system has room for %d (lower the limit or free space)", c.File, c.Limit, free)
	}
	m, reason, err := readMeta(c, f)
	if err != nil {
		f.Close()
		return nil, err
	}
	if m != nil {
		s, err := build(c, f, m)
		if err == nil {
			if _, err = f.Renew(); err == nil {
				err = os.Remove(metaPath(c.File))
			}
			if err == nil {
				s.restored = true
				s.begin()
				return s, nil
			}
		}
		if s != nil {
			s.unmap()
		}
		reason = err.Error()
	}
	if err := os.Remove(metaPath(c.File)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		f.Close()
		return nil, fmt.Errorf("store: old restart metadata: %w", err)
	}
	err = f.Format()
	if err == nil {
		var s *Store
		if s, err = build(c, f, nil); err == nil {
			s.reason = reason
			s.begin()
			return s, nil
		}
		if s != nil {
			s.unmap()
		}
	}
	f.Close()
	return nil, err
}

// readMeta gives the saved state if it belongs to the file and to the configuration, or the reason why there is none.
// Error: nothing should be started.
func readMeta(c Config, f *mem.File) (m *saved, reason string, err error) {
	path := metaPath(c.File)
	st, err := os.Stat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && f.Size() == 0:
		return nil, "", nil // the first start
	case errors.Is(err, fs.ErrNotExist):
		return nil, path + " is missing: the cache was not ended by a graceful stop", nil
	case err != nil:
		return nil, "", fmt.Errorf("store: restart metadata: %w", err)
	case st.Size() == 0:
		return nil, "", ErrMetaEmpty
	case st.Size() > maxMeta(c.Limit):
		return nil, fmt.Sprintf("%s has %d bytes, more than this memory limit can need", path, st.Size()), nil
	}
	b, err := os.ReadFile(path)
	if err != nil {
		return nil, "", fmt.Errorf("store: restart metadata: %w", err)
	}
	if m, err = decodeSaved(b); err != nil {
		return nil, fmt.Sprintf("%s is damaged: %v", path, err), nil
	}
	id, err := f.ID()
	now := time.Now().UnixMilli()
	switch {
	case err != nil:
		reason = err.Error()
	case id != m.file:
		reason = path + " belongs to another memory file"
	case f.Size() != m.size:
		reason = fmt.Sprintf("the memory file has %d bytes, had %d", f.Size(), m.size)
	case m.layout != layout():
		reason = fmt.Sprintf("saved by another version (%s, now %s)", m.layout, layout())
	case m.limit != c.Limit:
		reason = fmt.Sprintf("the memory limit was %d bytes, now %d", m.limit, c.Limit)
	case m.tag != c.Tag:
		reason = fmt.Sprintf("the settings were %q, now %q", m.tag, c.Tag)
	case c.Seed != 0 && c.Seed != m.seed:
		reason = "the hash seed differs"
	case now < m.unixMs:
		reason = fmt.Sprintf("the system clock has not advanced: saved at %d ms, now %d ms", m.unixMs, now)
	}
	if reason != "" {
		m = nil
	}
	return m, reason, nil
}

// layout names everything that the meaning of the bytes depends on.
func layout() string { return log.Layout() + ", " + index.Layout() + ", " + runtime.GOARCH }

// Restored says whether the items of an earlier process are there; if not although there is a memory file, why.
func (s *Store) Restored() (ok bool, reason string) { return s.restored, s.reason }

// Clock is the timeline of all expiries: Config.Clock, or with a memory file the store's own.
func (s *Store) Clock() *clock.Clock { return s.clock }

// load fills a store built over the file that m describes.
func (s *Store) load(m *saved) error {
	if s.file.Next() != m.fixed {
		return fmt.Errorf("the fixed part of the memory file ends at %d, was %d", s.file.Next(), m.fixed)
	}
	s.file.Skip()
	metas, err := s.metaBlocks(m.log.Next, m.groups)
	if err != nil {
		return err
	}
	damaged := errors.New("the memory file is damaged: checksums differ")
	if len(m.sums) < len(metas) || !slices.Equal(sums(metas), m.sums[:len(metas)]) {
		return damaged
	}
	if err := s.log.Load(&m.log); err != nil {
		return err
	}
	used := make([]bool, m.groups)
	for i := range m.stripes {
		for _, g := range m.stripes[i].groups {
			used[g.ID] = true
		}
	}
	if err := s.pool.Load(m.groups, func(id uint32) bool { return used[id] }); err != nil {
		return err
	}
	items := int64(0)
	for i := range m.stripes {
		st := &s.stripes[i]
		st.cas = m.stripes[i].cas
		if err := st.table.Load(s.pool, m.stripes[i].groups); err != nil {
			return err
		}
		items += int64(st.table.Items())
	}
	charged, err := s.regions.Load(m.regions)
	if err != nil {
		return err
	}
	s.budget.Charge(charged)
	if !slices.Equal(sums(s.dataBlocks(m.regions)), m.sums[len(metas):]) {
		return damaged
	}
	if err := s.loadRegions(charged); err != nil {
		return err
	}
	s.gen.Store(m.gen)
	s.stale.Store(m.stale)
	s.evicted.Store(m.evicted)
	s.flushAt.Store(m.flushAt)
	s.ghosts.SetCount(m.ghosts)
	s.items.Store(items)
	l := s.locals[0]
	for i, c := range m.classes {
		l.class[i].Items, l.class[i].Bytes = c.items, c.bytes
		items -= c.items
	}
	if items != 0 {
		return fmt.Errorf("%d more items in the index than counted", items)
	}
	l.total = uint64(s.items.Load())
	l.dirty = 1<<len(m.classes) - 1
	l.Publish()
	return nil
}

// loadRegions finds the items of all regions and which queue they weigh on.
func (s *Store) loadRegions(charged int64) (err error) {
	if charged == 0 {
		return nil
	}
	bytes := s.log.RegionBytes()
	_, left := s.regions.Used()
	s.largeItems(func(it log.Item, ref uint64) {
		bytes[s.log.Queue(ref)] += int64(it.Len())
		if left--; !s.regions.Holds(mem.Handle(it.Handle()), it.Len()) {
			err = errors.New("an item's large value is missing")
		}
	})
	if err == nil && left != 0 {
		err = fmt.Errorf("%d large values and items do not pair", left)
	}
	s.log.Weighed(bytes)
	return err
}

// largeItems calls fn for the items with a region that slots refer to. All segments are sealed, nothing else runs.
func (s *Store) largeItems(fn func(it log.Item, ref uint64)) {
	s.log.Large(func(it log.Item, ref uint64) {
		hash := s.hash(it.Key())
		if s.stripe(hash).table.FindRef(s.pool, index.Tag(hash), ref) != nil {
			fn(it, ref)
		}
	})
}

// metaBlocks are the used parts of the file that say where the others are.
func (s *Store) metaBlocks(segments int32, groups uint32) (out [][]byte, err error) {
	if err = s.log.Metas(segments, func(b []byte) { out = append(out, b) }); err != nil {
		return nil, err
	}
	b, err := s.pool.Metas(groups)
	return append(out, b), err
}

// dataBlocks are all others.
func (s *Store) dataBlocks(regions []mem.RegionClass) (out [][]byte) {
	add := func(b []byte) { out = append(out, b) }
	s.log.Blocks(add)
	s.pool.Blocks(add)
	add(s.ghostMem.Bytes(0, s.ghostMem.Size()))
	s.regions.Blocks(regions, add)
	return out
}

// sums of blocks, on all processors.
func sums(blocks [][]byte) []uint64 {
	out := make([]uint64, len(blocks))
	var next atomic.Int64
	var wg sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(blocks)) {
		wg.Go(func() {
			for i := next.Add(1) - 1; i < int64(len(blocks)); i = next.Add(1) - 1 {
				out[i] = xxh3.Hash(blocks[i])
			}
		})
	}
	wg.Wait()
	return out
}

// Save writes FILE.meta, so that the next Open with the same settings goes on with the items there are. No Local may be
// in use, nor be used again: after Save only Close is allowed. Pins that are still out are void.
func (s *Store) Save() error {
	if s.file == nil {
		return errors.New("store: save: there is no memory file")
	}
	s.sweep.stop()
	s.settleLanes()
	id, err := s.file.ID()
	if err != nil {
		return err
	}
	m := &saved{
		file: id, size: s.file.Size(), fixed: s.fixed, layout: layout(), tag: s.tag, limit: s.budget.Limit(), shift: s.log.Shift(),
		evicted: s.evicted.Load(), stale: s.stale.Load(), seed: s.seed, gen: s.gen.Load(),
		ms: s.clock.Ms(), unixMs: time.Now().UnixMilli(), flushAt: s.flushAt.Load(),
		ghosts: s.ghosts.Count(), groups: s.pool.Next(), log: s.log.Save(), stripes: make([]savedStripe, len(s.stripes)),
	}
	for i := range s.stripes {
		m.stripes[i] = savedStripe{s.stripes[i].cas, s.stripes[i].table.Save(s.pool)}
	}
	for _, l := range s.locals {
		for i := range m.classes {
			m.classes[i].items += l.class[i].Items
			m.classes[i].bytes += l.class[i].Bytes
		}
	}
	large := map[mem.Handle]bool{}
	if _, n := s.regions.Used(); n > 0 {
		s.largeItems(func(it log.Item, _ uint64) { large[mem.Handle(it.Handle())] = true })
	}
	m.regions = s.regions.Save(func(h mem.Handle) bool { return large[h] })
	metas, err := s.metaBlocks(m.log.Next, m.groups)
	if err != nil {
		return err
	}
	m.sums = sums(append(metas, s.dataBlocks(m.regions)...))
	return writeMeta(metaPath(s.path), m.encode())
}

// settleLanes empties all victims and seals all open segments.
func (s *Store) settleLanes() {
	for _, l := range s.locals {
		l.Turn(s.clock.Ms())
		l.enter()
		for l.lane.busy {
			l.step(1 << maxSegment)
		}
		l.leave()
	}
	for i := range s.lanes {
		for q := range s.lanes[i].w {
			s.lanes[i].w[q].Seal()
		}
	}
}

// writeMeta leaves the whole file or none: written under another name, synced, renamed.
func writeMeta(path string, b []byte) (err error) {
	tmp := path + ".tmp"
	os.Remove(tmp) // of a stop that was killed
	f, err := os.OpenFile(tmp, os.O_CREATE|os.O_EXCL|os.O_WRONLY, 0o600)
	if err != nil {
		return fmt.Errorf("store: save: %w", err)
	}
	_, err = f.Write(b)
	if err == nil {
		err = f.Sync()
	}
	err = errors.Join(err, f.Close())
	if err == nil {
		err = os.Rename(tmp, path)
	}
	if err != nil {
		os.Remove(tmp)
		return fmt.Errorf("store: save: %w", err)
	}
	if dir, err := os.Open(filepath.Dir(path)); err == nil {
		dir.Sync() // a matter of the file system: not all can
		dir.Close()
	}
	return nil
}
