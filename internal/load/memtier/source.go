package memtier

import (
	"math"
	"slices"

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

// Streams of random numbers besides those that package keys names. They are different, so that commands do not happen to
// find just the keys that an earlier run has set.
const (
	streamWaits = keys.Other + iota
	streamStarts
	streamCommands
	streamMonitor
)

// noLimit of a source's requests: time ends it.
const noLimit = math.MaxUint64

// ratioSource makes the sets and gets of one client: so many sets, then so many gets, again and again (--ratio), with waits
// behind the sets if asked for.
type ratioSource struct {
	left    uint64 // requests to make
	made    uint64 // sets so far
	turns   turns
	waits   waiter
	setKeys keys.Indices
	getKeys keys.Indices
	draw    draw
	importing

	key  []byte   // of a single request
	many [][]byte // of a multi-get
}

// turns is the order of sets and gets.
type turns struct {
	ratio Ratio
	multi uint64 // keys of a get; 0: one
	sets  uint64 // of the present round
	gets  uint64
}

// next says whether a set comes next, or a get and of how many keys.
func (t *turns) next() (set bool, keys uint64) {
	if t.sets < t.ratio.A {
		t.sets++
		set = true
	} else {
		keys = min(max(t.multi, 1), t.ratio.B-t.gets)
		t.gets += keys
	}
	if t.sets >= t.ratio.A && t.gets >= t.ratio.B {
		t.sets, t.gets = 0, 0
	}
	return set, keys
}

// draw makes keys, values and expiry times of indices.
type draw struct {
	names    keys.Names
	file     [][]byte // keys by index, from 1; nil: names
	sizes    keys.Sizes
	values   keys.Values
	verifier *keys.Verifier // values are derived from their keys, and so are their sizes; nil: they are not
	value    []byte         // of verifier
	weights  []Weighted     // of verifier, summed up; nil: sizes
	seed     uint64         // of verifier's sizes
	expiry   Range
	rand     keys.Rand // of expiry
	offset   int
}

// appendKey appends the key with this index.
func (d *draw) appendKey(dst []byte, index uint64) []byte {
	if d.file != nil {
		return append(dst, d.file[index-1]...)
	}
	return d.names.Append(dst, index)
}

// valueOf is a value for the key with this index. It is valid until the next call.
func (d *draw) valueOf(index uint64) []byte {
	if d.verifier == nil {
		return d.values.Next(d.sizes.Next(index))
	}
	d.value = d.value[:d.sizeOf(index)]
	d.verifier.Fill(d.value, index)
	return d.value
}

// sizeOf the value that belongs to the key with this index.
func (d *draw) sizeOf(index uint64) int {
	if d.weights == nil {
		d.sizes.Seed(d.seed, index)
		return d.sizes.Next(index)
	}
	var r keys.Rand
	r.Seed(d.seed, index)
	at := int(r.Below(uint64(d.weights[len(d.weights)-1].Weight)))
	i := 0
	for d.weights[i].Weight <= at {
		i++
	}
	return d.weights[i].Size
}

// summed replaces each weight by the sum up to it.
func summed(list []Weighted) []Weighted {
	list = slices.Clone(list)
	for i := 1; i < len(list); i++ {
		list[i].Weight += list[i-1].Weight
	}
	return list
}

func (d *draw) set(op *load.Op, key []byte, index uint64) {
	op.Kind, op.Key, op.Value, op.Offset = load.Set, key, d.valueOf(index), d.offset
	op.Expiry = d.expires()
}

// expires is a time to live, seconds; 0: for ever.
func (d *draw) expires() uint32 {
	if d.expiry.To == 0 {
		return 0
	}
	return uint32(d.expiry.From + d.rand.Below(d.expiry.To-d.expiry.From+1))
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
	if s.waits.due(op) {
		op.Row = rowWait
		return true
	}
	set, n := s.turns.next()
	if !set {
		op.Row = rowGet
		s.get(op, n)
		return true
	}
	op.Row = rowSet
	s.waits.noteSet()
	if s.made++; s.items != nil {
		return s.setItem(op)
	}
	i := s.setKeys.Next()
	s.key = s.draw.appendKey(s.key[:0], i)
	s.draw.set(op, s.key, i)
	return true
}

func (s *ratioSource) get(op *load.Op, n uint64) {
	if s.turns.multi == 0 {
		i := s.getKeys.Next()
		s.key = s.draw.appendKey(s.key[:0], i)
		s.draw.get(op, s.key, i)
		return
	}
	op.Kind = load.MGet
	for k := range s.many[:n] {
		s.many[k] = s.draw.appendKey(s.many[k][:0], s.getKeys.Next())
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
	if w.ratio.B == 0 || w.sets < max(w.ratio.A, 1) { // 0:1 is a wait behind each set, too
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
