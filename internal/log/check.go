package log

import (
	"fmt"
	"sync/atomic"

	"godwit/internal/evict"
)

// Linked is what slots refer to, counted by the caller of Check.
type Linked struct {
	Bytes  []int64 // by segment
	Region [evict.Queues]int64
}

// Reach adds an item that a slot refers to. Error: it lies where no item can be.
func (l *Log) Reach(k *Linked, ref uint64) error {
	s := l.Segment(ref)
	if k.Bytes == nil {
		k.Bytes = make([]int64, len(l.segs))
	}
	if int(s) >= len(l.segs) {
		return fmt.Errorf("log: reference %d is beyond the log", ref)
	}
	g := &l.segs[s]
	it := l.At(ref)
	end := int64(ref*8) - int64(s)<<l.shift + int64(it.Size())
	switch {
	case g.state != open && g.state != sealed && g.state != draining:
		return fmt.Errorf("log: reference %d into segment %d of state %d", ref, s, g.state)
	case end > 1<<l.shift || g.state != open && end > int64(g.used):
		return fmt.Errorf("log: reference %d: item ends at %d of segment %d, used %d", ref, end, s, g.used)
	}
	k.Bytes[s] += int64(it.Size())
	if it.Has(InRegion) {
		k.Region[g.queue] += int64(it.Len())
	}
	return nil
}

// Check verifies the accounts of all segments against what is linked. Nobody may write meanwhile; writers are all there are.
func (l *Log) Check(k *Linked, writers []*Writer) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	if k.Bytes == nil {
		k.Bytes = make([]int64, len(l.segs))
	}
	pos := map[int32]uint32{}
	for _, w := range writers {
		if w.seg >= 0 {
			pos[w.seg] = w.pos
		}
	}
	var count [waiting + 1]int
	for s := range l.segs {
		g := &l.segs[s]
		count[g.state]++
		if s >= int(l.next) && g.state != unused {
			return fmt.Errorf("log: segment %d of state %d was never taken", s, g.state)
		}
		linked, dead := k.Bytes[s], int64(atomic.LoadUint32(&l.dead[s]))
		switch g.state {
		case open:
			p, ok := pos[int32(s)]
			if !ok {
				return fmt.Errorf("log: segment %d is open and no writer's", s)
			}
			if int64(p)-dead != linked {
				return fmt.Errorf("log: open segment %d: %d bytes, %d dead, but %d linked", s, p, dead, linked)
			}
		case sealed:
			if l.live(int32(s)) != linked {
				return fmt.Errorf("log: segment %d: %d bytes, %d dead, but %d linked", s, g.used, dead, linked)
			}
		case draining: // moved items are not counted as dead
		default:
			if linked != 0 {
				return fmt.Errorf("log: segment %d of state %d has %d bytes linked", s, g.state, linked)
			}
		}
	}
	if count[open] != len(pos) {
		return fmt.Errorf("log: %d segments open, %d writers with one", count[open], len(pos))
	}
	chained := 0
	for q, c := range l.chains {
		bytes, prev := int64(0), int32(-1)
		for s := c.first; s >= 0; s = l.segs[s].next {
			if g := &l.segs[s]; g.state != sealed || int(g.queue) != q || g.prev != prev {
				return fmt.Errorf("log: chain %d: segment %d of state %d, queue %d, after %d instead of %d", q, s, g.state, g.queue, prev, g.prev)
			}
			bytes += 1 << l.shift
			chained++
			prev = s
		}
		if c.last != prev || l.bytes[q] != bytes {
			return fmt.Errorf("log: chain %d ends at %d instead of %d, with %d bytes instead of %d", q, prev, c.last, bytes, l.bytes[q])
		}
		if n := l.regionBytes[q].Load(); n != k.Region[q] {
			return fmt.Errorf("log: queue %d has %d bytes in regions, counted %d", q, k.Region[q], n)
		}
	}
	if chained != count[sealed] || len(l.spare) != count[free] || len(l.waits) != count[waiting] {
		return fmt.Errorf("log: segments by state %d; in chains %d, spare %d, waiting %d", count, chained, len(l.spare), len(l.waits))
	}
	if len(l.gone)+len(l.segs)-int(l.next) != count[unused] {
		return fmt.Errorf("log: segments by state %d; given back %d, never used %d", count, len(l.gone), len(l.segs)-int(l.next))
	}
	for st, list := range map[state][]int32{free: l.spare, waiting: l.waits, unused: l.gone} {
		for _, s := range list {
			if l.segs[s].state != st {
				return fmt.Errorf("log: segment %d of state %d in the list of those of state %d", s, l.segs[s].state, st)
			}
		}
	}
	return nil
}
