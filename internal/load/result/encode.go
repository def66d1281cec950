package result

import (
	"encoding/binary"
	"hash/crc32"
	"math"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
)

// The form of a Run or Snapshot as bytes, for files and between machines:
//
//	"gwr" or "gws"   a Run, a Snapshot
//	version          1 byte: 1
//	statuses         1 byte: how many counts by status follow each other
//	fields           in the order of the declarations in this package, see the append functions below
//	check            CRC-32C of all before, 4 bytes, little endian
//
// Whole numbers are varints as in encoding/binary, signed ones zigzag. A list is its length and its elements. A text is its
// length in bytes and its bytes. A point in time is 0 if there is none, else 1 and nanoseconds since 1970. A fraction is the
// 8 bytes of a float64, little endian. A histogram is 0 if there is none, else 1, its lowest and highest value, its digits,
// how many of its counts are not zero, and of each of these the distance to the index of the one before (-1 at first) and the
// count. So nothing is rounded, and what is not there takes no room.
//
// A change of any of this, a field more included, is another version: decoders refuse what they do not know.
const (
	formatVersion = 1
	runMagic      = "gwr"
	snapMagic     = "gws"
	headLen       = 5
	checkLen      = 4
)

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

// Append appends the run as bytes to dst, from which DecodeRun makes its equal. Points in time keep the nanosecond, and lose
// their zone and their monotonic part.
func (r *Run) Append(dst []byte) []byte {
	e := newEncoder(dst, runMagic)
	for _, t := range []time.Time{r.Start, r.End, r.MeanStart, r.MeanEnd} {
		e.time(t)
	}
	e.rows(r.Rows)
	e.uint(uint64(len(r.Clients)))
	for i := range r.Clients {
		e.int(int64(r.Clients[i].Loop))
		e.rows(r.Clients[i].Rows)
	}
	e.uint(r.ConnErrors)
	e.uint(r.Reconnects)
	e.uint(r.Lost)
	e.uint(uint64(len(r.Texts)))
	for _, t := range r.Texts {
		e.text(t.Text)
		e.uint(t.N)
	}
	e.bool(r.Interrupted)
	e.self(&r.Self)
	e.uint(uint64(len(r.Machines)))
	for i := range r.Machines {
		m := &r.Machines[i]
		e.text(m.Name)
		e.int(int64(m.Clients))
		e.uint(m.Count)
		e.int(int64(m.Began))
		e.int(int64(m.Doubt))
		e.self(&m.Self)
	}
	return e.end()
}

// Append appends the snapshot as bytes to dst, from which DecodeSnapshot makes its equal.
func (s *Snapshot) Append(dst []byte) []byte {
	e := newEncoder(dst, snapMagic)
	e.int(int64(s.Elapsed))
	e.seconds(s.Second)
	e.uint(uint64(len(s.Total)))
	for i := range s.Total {
		e.counts(&s.Total[i])
	}
	e.int(s.Sum)
	e.histogram(s.Service)
	e.int(int64(s.Clients))
	e.uint(s.ConnErrors)
	e.float(s.Busiest)
	return e.end()
}

type encoder struct {
	b     []byte
	start int
}

func newEncoder(dst []byte, magic string) *encoder {
	e := &encoder{b: dst, start: len(dst)}
	e.b = append(append(e.b, magic...), formatVersion, byte(load.Statuses))
	return e
}

func (e *encoder) end() []byte {
	return binary.LittleEndian.AppendUint32(e.b, crc32.Checksum(e.b[e.start:], castagnoli))
}

func (e *encoder) uint(v uint64)   { e.b = binary.AppendUvarint(e.b, v) }
func (e *encoder) int(v int64)     { e.b = binary.AppendVarint(e.b, v) }
func (e *encoder) text(s string)   { e.uint(uint64(len(s))); e.b = append(e.b, s...) }
func (e *encoder) float(f float64) { e.b = binary.LittleEndian.AppendUint64(e.b, math.Float64bits(f)) }

func (e *encoder) bool(is bool) {
	b := byte(0)
	if is {
		b = 1
	}
	e.b = append(e.b, b)
}

func (e *encoder) time(t time.Time) {
	e.bool(!t.IsZero())
	if !t.IsZero() {
		e.int(t.UnixNano())
	}
}

func (e *encoder) rows(rows []Row) {
	e.uint(uint64(len(rows)))
	for i := range rows {
		r := &rows[i]
		e.text(r.Name)
		e.counts(&r.Counts)
		e.int(r.Sum)
		e.histogram(r.Service)
		e.histogram(r.Planned)
		e.seconds(r.Seconds)
	}
}

func (e *encoder) seconds(list []Second) {
	e.uint(uint64(len(list)))
	for i := range list {
		s := &list[i]
		e.counts(&s.Counts)
		e.int(s.Sum)
		e.histogram(s.Service)
	}
}

func (e *encoder) counts(c *Counts) {
	for _, v := range []uint64{c.Count, c.Keys, c.Hits, c.Misses} {
		e.uint(v)
	}
	for _, v := range c.Statuses {
		e.uint(v)
	}
	e.uint(c.RX)
	e.uint(c.TX)
}

func (e *encoder) self(s *Self) {
	e.int(int64(s.CPU))
	e.int(int64(s.Cores))
	e.int(int64(s.Loops))
	e.float(s.Busiest)
	e.text(s.Where)
	e.histogram(s.Late)
	e.text(s.Limit)
}

func (e *encoder) histogram(h *hdrhistogram.Histogram) {
	e.bool(h != nil)
	if h == nil {
		return
	}
	x := h.Export()
	e.uint(uint64(x.LowestTrackableValue))
	e.uint(uint64(x.HighestTrackableValue))
	e.uint(uint64(x.SignificantFigures))
	n := 0
	for _, c := range x.Counts {
		if c != 0 {
			n++
		}
	}
	e.uint(uint64(n))
	last := -1
	for i, c := range x.Counts {
		if c != 0 {
			e.uint(uint64(i - last))
			e.uint(uint64(c))
			last = i
		}
	}
}
