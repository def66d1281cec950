package memtier

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"os"
	"sync"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/keys"
)

// importFile is the file of --data-import while it is used: all clients read it, each where it is.
type importFile struct {
	file *os.File
	name string
	now  func() time.Time

	parts  int     // that places has
	places []place // of the first items of the parts that clients take

	mu  sync.Mutex
	err error // the first; guarded by mu
}

func openImport(name string) (*importFile, error) {
	file, err := os.Open(name)
	if err != nil {
		return nil, fmt.Errorf("--data-import=%s: %w", quoteBytes(name), because(err))
	}
	return &importFile{file: file, name: name, now: time.Now}, nil
}

// reader from the start of the file.
func (f *importFile) reader() (*Importer, error) {
	return NewImporter(io.NewSectionReader(f.file, 0, math.MaxInt64), f.name)
}

// place of an item in the file.
type place struct {
	item   uint64 // from 0
	offset int64
	line   int
}

// readerAt is one that begins with an item.
func (f *importFile) readerAt(p place) *Importer {
	return &Importer{r: bufio.NewReaderSize(io.NewSectionReader(f.file, p.offset, math.MaxInt64-p.offset), 1<<16), file: f.name, line: p.line}
}

// part is the place where the part-th of parts begins, and its last item. The file has so many items.
func (f *importFile) part(part, parts int, items uint64) (p place, last uint64, err error) {
	if f.parts != parts { // one pass for all clients: else each would read what comes before its part
		var places []place
		for i := range parts {
			first, _, err := keys.Part(0, items-1, i, parts)
			if err != nil {
				return p, 0, err
			}
			places = append(places, place{item: first})
		}
		if err := f.locate(places); err != nil {
			return p, 0, err
		}
		f.parts, f.places = parts, places
	}
	_, last, err = keys.Part(0, items-1, part, parts)
	return f.places[part], last, err
}

// locate finds where items are, which are in order.
func (f *importFile) locate(places []place) error {
	section := io.NewSectionReader(f.file, 0, math.MaxInt64)
	r, err := NewImporter(section, f.name)
	for n := uint64(0); err == nil && len(places) > 0; n++ {
		if n == places[0].item {
			at, _ := section.Seek(0, io.SeekCurrent)
			places[0].offset, places[0].line = at-int64(r.r.Buffered()), r.line
			places = places[1:]
		}
		_, err = r.Next()
	}
	if err != nil {
		return fmt.Errorf("--data-import: %w", err)
	}
	return nil
}

// fail ends a client for an error of the file: Sources have no way to tell.
func (f *importFile) fail(err error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.err == nil {
		f.err = err
	}
}

// failure is the first error that clients met with.
func (f *importFile) failure() error {
	if f == nil {
		return nil
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.err
}

// items gives those of a file one after the other, and again from the first; or only those of a part of it.
type items struct {
	f     *importFile
	first place  // zero: the whole file
	last  uint64 // from 0, included; math.MaxUint64: to the end of the file
	at    uint64 // number of the next item
	r     *Importer
}

// next item. Its bytes are valid until the next call.
func (s *items) next() (*Item, error) {
	again := s.r != nil
	for {
		if s.r == nil {
			if err := s.begin(); err != nil {
				return nil, fmt.Errorf("--data-import: %w", err)
			}
		}
		it, err := s.r.Next()
		switch {
		case err == io.EOF && again:
			s.r, again = nil, false
			continue
		case err == io.EOF:
			return nil, fmt.Errorf("--data-import: %s: has no item %d any more; do not change the file during the run", s.f.name, s.first.item+1)
		case err != nil:
			return nil, fmt.Errorf("--data-import: %w", err)
		}
		if s.at++; s.at > s.last {
			s.r = nil // the next call starts again
		}
		return it, nil
	}
}

func (s *items) begin() (err error) {
	if s.at = s.first.item; s.at > 0 {
		s.r = s.f.readerAt(s.first)
		return nil
	}
	s.r, err = s.f.reader()
	return err
}

// month is the longest time to live, seconds; higher numbers are points of time (memcached's rule, which the files follow).
const month = 60 * 60 * 24 * 30

// ttl is the expiry time of an item as the protocol wants it. RESP knows only times to live here: what lies in the past
// gets a second.
func (f *importFile) ttl(expiry int64, resp bool) uint32 {
	if resp && expiry > month {
		expiry = max(1, expiry-f.now().Unix())
	}
	return uint32(min(expiry, math.MaxUint32))
}

// importing is what a ratioSource needs to set items.
type importing struct {
	items    *items // nil: values are made
	resp     bool
	noExpiry bool
	generate bool // keys are not those of the file
}

// imports says whether sets take items from a file.
func (o *Options) imports() bool { return o.DataImport != "" && len(o.Commands) == 0 }

// fileKeys are the keys of requests, by index from 1; nil: they are generated.
func (o *Options) fileKeys() [][]byte {
	if !o.imports() || o.GenerateKeys {
		return nil
	}
	return o.ImportedKeys
}

// importing of client n of all.
func (p *planner) importing(n, all int) (importing, error) {
	o := p.o
	im := importing{
		items: &items{f: p.imported, last: math.MaxUint64}, resp: o.Protocol.RESP(), noExpiry: o.NoExpiry, generate: o.GenerateKeys,
	}
	if o.SetPattern == 'P' && !o.GenerateKeys {
		var err error
		if im.items.first, im.items.last, err = p.imported.part(n, all, uint64(len(o.ImportedKeys))); err != nil {
			return im, err
		}
	}
	return im, nil
}

// setItem makes op the set of the next item. false: the file is of no use any more.
func (s *ratioSource) setItem(op *load.Op) bool {
	it, err := s.items.next()
	if err != nil {
		s.items.f.fail(err)
		s.left = 0
		return false
	}
	op.Kind, op.Key, op.Value, op.Offset = load.Set, it.Key, it.Data, s.draw.offset
	if s.generate {
		s.key = s.draw.appendKey(s.key[:0], s.setKeys.Next())
		op.Key = s.key
	}
	switch {
	case s.draw.expiry.To > 0:
		op.Expiry = s.draw.expires()
	case !s.noExpiry:
		op.Expiry = s.items.f.ttl(it.Expiry, s.resp)
	}
	return true
}
