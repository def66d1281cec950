package memtier

import (
	"math"

	"godwit/internal/load"
	"godwit/internal/load/keys"
)

// The rows of results, unless commands are given.
const (
	rowSet = iota
	rowGet
	rowWait
)

var ratioRows = []string{rowSet: "SET", rowGet: "GET", rowWait: "WAIT"}

// noLimit of a source's requests: time ends it.
const noLimit = math.MaxUint64

// ratioSource makes the sets and gets of one client: so many sets, then so many gets, again and again (--ratio), with waits
// behind the sets if asked for.
type ratioSource struct {
	left    uint64 // requests to make
	ratio   Ratio
	sets    uint64 // of the present round
	gets    uint64
	waits   waiter
	multi   int // keys of a get; 0: one
	setKeys keys.Indices
	getKeys keys.Indices
	draw    draw

	key  []byte   // of a single request
	many [][]byte // of a multi-get
}

// draw makes keys, values and expiry times of indices.
type draw struct {
	names    keys.Names
	sizes    keys.Sizes
	values   keys.Values
	verifier *keys.Verifier // values are derived from their keys; nil: they are not
	value    []byte         // of verifier
	expiry   Range
	rand     keys.Rand // of expiry
	offset   int
}

// value for the key with this index. It is valid until the next call.
func (d *draw) valueOf(index uint64) []byte {
	n := d.sizes.Next(index)
	if d.verifier == nil {
		return d.values.Next(n)
	}
	d.value = d.value[:n]
	d.verifier.Fill(d.value, index)
	return d.value
}

func (d *draw) set(op *load.Op, key []byte, index uint64) {
	op.Kind, op.Key, op.Value, op.Offset = load.Set, key, d.valueOf(index), d.offset
	if d.expiry.To > 0 {
		op.Expiry = uint32(d.expiry.From + d.rand.Below(d.expiry.To-d.expiry.From+1))
	}
}

func (d *draw) get(op *load.Op, key []byte, index uint64) {
	op.Kind, op.Key, op.Offset = load.Get, key, d.offset
	op.Check, op.ID = d.verifier != nil, index
}

// Check implements load.Checker.
func (s *ratioSource) Check(index uint64, value []byte) bool {
	return s.draw.verifier.Check(value, index)
}

// Next implements load.Source.
func (s *ratioSource) Next(op *load.Op) bool {
	if s.left == 0 {
		return false
	}
	if s.left != noLimit {
		s.left--
	}
	switch {
	case s.waits.due(op):
		op.Row = rowWait
	case s.sets < s.ratio.A:
		s.sets++
		s.waits.noteSet()
		i := s.setKeys.Next()
		s.key = s.draw.names.Append(s.key[:0], i)
		s.draw.set(op, s.key, i)
		op.Row = rowSet
	default:
		s.get(op)
		op.Row = rowGet
	}
	if s.sets >= s.ratio.A && s.gets >= s.ratio.B {
		s.sets, s.gets = 0, 0
	}
	return true
}

func (s *ratioSource) get(op *load.Op) {
	if s.multi == 0 {
		s.gets++
		i := s.getKeys.Next()
		s.key = s.draw.names.Append(s.key[:0], i)
		s.draw.get(op, s.key, i)
		return
	}
	n := min(uint64(s.multi), s.ratio.B-s.gets)
	s.gets += n
	op.Kind = load.MGet
	for k := range s.many[:n] {
		s.many[k] = s.draw.names.Append(s.many[k][:0], s.getKeys.Next())
	}
	op.Keys = s.many[:n]
}

// waiter puts WAIT commands between the others (--wait-ratio): a round is so many sets, and so many waits behind them.
type waiter struct {
	ratio   Ratio // sets, waits; {}: none
	sets    uint64
	waits   uint64
	slaves  Range
	timeout Range
	rand    keys.Rand
	args    [3][]byte
}

func (w *waiter) noteSet() { w.sets++ }

// due says whether the next request is a WAIT, which op is then.
func (w *waiter) due(op *load.Op) bool {
	if w.ratio.B == 0 || w.sets < w.ratio.A {
		return false
	}
	if w.waits++; w.waits == w.ratio.B {
		w.sets, w.waits = 0, 0
	}
	w.args[0] = append(w.args[0][:0], "WAIT"...)
	w.args[1] = appendUint(w.args[1][:0], w.slaves.From+w.rand.Below(w.slaves.To-w.slaves.From+1))
	w.args[2] = appendUint(w.args[2][:0], w.normal())
	op.Kind, op.Args = load.Command, w.args[:]
	return true
}

// normal is a timeout in ms from a normal law around the middle of its range.
func (w *waiter) normal() uint64 {
	lo, span := float64(w.timeout.From), float64(w.timeout.To-w.timeout.From)
	sum := 0.0
	for range 12 { // Irwin and Hall: of 12 uniform numbers, mean 6 and variance 1
		sum += w.rand.Float64()
	}
	x := lo + span/2 + (sum-6)*span/6
	return uint64(min(max(x, lo), lo+span))
}
