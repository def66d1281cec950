package result

import (
	"encoding/binary"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"math/bits"
	"reflect"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
)

// DecodeRun reads what Append of a Run wrote, all of data. The bytes may be anybody's: whatever they are, what is made of
// them takes not much more than memory bytes. An hour of four rows with a tail of a second takes 250 MB.
func DecodeRun(data []byte, memory int64) (*Run, error) {
	d, err := newDecoder(data, runMagic, memory)
	if err != nil {
		return nil, fmt.Errorf("result of a load: %w", err)
	}
	r := &Run{Start: d.time(), End: d.time(), MeanStart: d.time(), MeanEnd: d.time()}
	r.Rows = d.rows()
	r.Clients = list(d, 2, func(c *Client) {
		c.Loop = d.small()
		c.Rows = d.rows()
	})
	r.ConnErrors, r.Reconnects, r.Lost = d.uint(), d.uint(), d.uint()
	r.Texts = list(d, 2, func(t *Text) {
		t.Text = d.text()
		t.N = d.uint()
	})
	r.Interrupted = d.bool()
	r.Self = d.self()
	r.Machines = list(d, 19, func(m *Machine) {
		m.Name = d.text()
		m.Clients = d.small()
		m.Count = d.uint()
		m.Began, m.Doubt = time.Duration(d.int()), time.Duration(d.int())
		m.Self = d.self()
	})
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("result of a load: %w", err)
	}
	return r, nil
}

// DecodeSnapshot reads what Append of a Snapshot wrote, as DecodeRun does.
func DecodeSnapshot(data []byte, memory int64) (*Snapshot, error) {
	d, err := newDecoder(data, snapMagic, memory)
	if err != nil {
		return nil, fmt.Errorf("snapshot of a load: %w", err)
	}
	s := &Snapshot{Elapsed: time.Duration(d.int()), Second: d.seconds()}
	s.Total = list(d, countsLen, func(c *Counts) { *c = d.counts() })
	s.Sum = d.int()
	s.Service = d.histogram()
	s.Clients = d.small()
	s.ConnErrors = d.uint()
	s.Busiest = d.float()
	if err := d.end(); err != nil {
		return nil, fmt.Errorf("snapshot of a load: %w", err)
	}
	return s, nil
}

// decoder reads fields. After the first error it gives zero values.
type decoder struct {
	b       []byte // not yet read, without the check
	size    int    // of all
	memory  int64  // that what is decoded may still take
	err     error
	scratch []int64 // counts of a histogram
}

var errShort = errors.New("it ends too early")

func newDecoder(data []byte, magic string, memory int64) (*decoder, error) {
	switch {
	case len(data) < headLen+checkLen:
		return nil, fmt.Errorf("%d bytes: %w", len(data), errShort)
	case string(data[:len(magic)]) != magic:
		return nil, fmt.Errorf("it begins with %q, not %q: this is something else", data[:len(magic)], magic)
	case data[3] != formatVersion || data[4] != byte(load.Statuses):
		return nil, fmt.Errorf("version %d.%d, but this program knows %d.%d: it is of another release", data[3], data[4],
			formatVersion, load.Statuses)
	}
	body := data[:len(data)-checkLen]
	if crc32.Checksum(body, castagnoli) != binary.LittleEndian.Uint32(data[len(body):]) {
		return nil, errors.New("its check sum is wrong: it was damaged")
	}
	return &decoder{b: body[headLen:], size: len(body), memory: memory}, nil
}

func (d *decoder) end() error {
	if d.err == nil && len(d.b) > 0 {
		d.fail(fmt.Errorf("%d bytes more than it should have", len(d.b)))
	}
	return d.err
}

func (d *decoder) fail(err error) {
	if d.err == nil {
		d.err = fmt.Errorf("at byte %d: %w", d.size-len(d.b), err)
	}
	d.b = nil
}

// charge accounts for memory that is about to be taken. false: there is not so much.
func (d *decoder) charge(n int64) bool {
	if d.err == nil && n > d.memory {
		d.fail(fmt.Errorf("%d bytes of memory more than it may take", n-d.memory))
	}
	d.memory -= n
	return d.err == nil
}

func (d *decoder) uint() uint64 {
	v, n := binary.Uvarint(d.b)
	return number(d, v, n)
}

func (d *decoder) int() int64 {
	v, n := binary.Varint(d.b)
	return number(d, v, n)
}

func number[T int64 | uint64](d *decoder, v T, n int) T {
	if n <= 0 {
		d.fail(errShort)
		return 0
	}
	d.b = d.b[n:]
	return v
}

// small is a number that fits everywhere.
func (d *decoder) small() int {
	v := d.int()
	if v < math.MinInt32 || v > math.MaxInt32 {
		d.fail(fmt.Errorf("%d is too large a number", v))
		return 0
	}
	return int(v)
}

func (d *decoder) bytes(n int) []byte {
	if n > len(d.b) {
		d.fail(errShort)
		return make([]byte, 8)[:min(n, 8)]
	}
	b := d.b[:n]
	d.b = d.b[n:]
	return b
}

func (d *decoder) bool() bool {
	b := d.bytes(1)[0]
	if b > 1 {
		d.fail(fmt.Errorf("%d is neither yes nor no", b))
	}
	return b == 1
}

func (d *decoder) text() string {
	n := d.uint()
	if n > uint64(len(d.b)) {
		d.fail(errShort)
		return ""
	}
	if !d.charge(int64(n)) {
		return ""
	}
	return string(d.bytes(int(n)))
}

func (d *decoder) float() float64 {
	f := math.Float64frombits(binary.LittleEndian.Uint64(d.bytes(8)))
	if math.IsNaN(f) || math.IsInf(f, 0) {
		d.fail(fmt.Errorf("%g is not a share", f))
		return 0
	}
	return f
}

func (d *decoder) time() time.Time {
	if !d.bool() {
		return time.Time{}
	}
	return time.Unix(0, d.int())
}

// list reads a list, each element of which takes at least so many bytes; nil if it is empty.
func list[T any](d *decoder, least int, read func(*T)) []T {
	n := d.uint()
	if n > uint64(len(d.b)/least) {
		d.fail(errShort)
	}
	if d.err != nil || n == 0 || !d.charge(int64(n)*int64(reflect.TypeFor[T]().Size())) {
		return nil
	}
	out := make([]T, n)
	for i := range out {
		if read(&out[i]); d.err != nil {
			return nil
		}
	}
	return out
}

// least lengths of Counts, and of a Second.
const (
	countsLen = 6 + int(load.Statuses)
	secondLen = countsLen + 2
)

func (d *decoder) rows() []Row {
	return list(d, secondLen+3, func(r *Row) {
		r.Name = d.text()
		r.Counts = d.counts()
		r.Sum = d.int()
		r.Service = d.histogram()
		r.Planned = d.histogram()
		r.Seconds = d.seconds()
	})
}

func (d *decoder) seconds() []Second {
	return list(d, secondLen, func(s *Second) {
		s.Counts = d.counts()
		s.Sum = d.int()
		s.Service = d.histogram()
	})
}

func (d *decoder) counts() (c Counts) {
	for _, v := range []*uint64{&c.Count, &c.Keys, &c.Hits, &c.Misses} {
		*v = d.uint()
	}
	for i := range c.Statuses {
		c.Statuses[i] = d.uint()
	}
	c.RX, c.TX = d.uint(), d.uint()
	return c
}

func (d *decoder) self() (s Self) {
	s.CPU = time.Duration(d.int())
	s.Cores, s.Loops = d.small(), d.small()
	s.Busiest = d.float()
	s.Where = d.text()
	s.Late = d.histogram()
	s.Limit = d.text()
	return s
}

// Bounds of histograms. They leave room for sums of many.
const (
	mostLow    = 1 << 30
	mostHigh   = 1 << 50
	mostCounts = 1 << 55
)

func (d *decoder) histogram() *hdrhistogram.Histogram {
	if !d.bool() {
		return nil
	}
	low, high, digits, n := d.uint(), d.uint(), d.uint(), d.uint()
	if d.err == nil && (low < 1 || low > mostLow || high < low || high > mostHigh || digits < 1 || digits > 5) {
		d.fail(fmt.Errorf("a histogram from %d to %d with %d digits", low, high, digits))
	}
	if n > uint64(len(d.b)/2) {
		d.fail(errShort)
	}
	if d.err != nil {
		return nil
	}
	steps := steps(low, high, int(digits))
	if !d.charge(160 + 8*int64(steps)) {
		return nil
	}
	counts := d.scratch[:0]
	var total uint64
	for range n {
		gap, c := d.uint(), d.uint()
		if d.err == nil && (gap == 0 || gap > uint64(steps-len(counts)) || c == 0 || c > mostCounts || total+c > mostCounts) {
			d.fail(fmt.Errorf("a histogram with %d samples %d steps after step %d of %d", c, gap, len(counts)-1, steps))
		}
		if d.err != nil {
			return nil
		}
		total += c
		counts = append(counts, make([]int64, gap-1)...)
		counts = append(counts, int64(c))
	}
	d.scratch = counts
	return hdrhistogram.Import(&hdrhistogram.Snapshot{
		LowestTrackableValue: int64(low), HighestTrackableValue: int64(high), SignificantFigures: int64(digits), Counts: counts,
	})
}

// steps is how many counts a histogram has, as hdrhistogram lays them out: half as many as a power of two that holds two
// times ten to the digits for each doubling of the value, and the same again for the first of them.
func steps(low, high uint64, digits int) int {
	pow := bits.Len64(2*uint64(math.Pow10(digits)) - 1)
	buckets := 1
	for top := uint64(1) << (pow + bits.Len64(low) - 1); top <= high; top <<= 1 {
		buckets++
	}
	return (buckets + 1) << (pow - 1)
}
