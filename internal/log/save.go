package log

import (
	"fmt"
	"unsafe"

	"godwit/internal/evict"
)

// Saved is what has to be known of a log, beside the file that its segments and their metas lie in, to go on with it.
type Saved struct {
	Next   int32 // segments never used start here
	Chains [evict.Queues][2]int32
	Policy evict.State
}

// Save describes the log. All writers are sealed and all victims empty; nobody reads any more, so pins are void.
func (l *Log) Save() Saved {
	l.mu.Lock()
	defer l.mu.Unlock()
	for s := range l.segs[:l.next] {
		l.segs[s].pins = 0
	}
	l.recheck()
	m := Saved{Next: l.next, Policy: l.policy.State()}
	for q, c := range l.chains {
		m.Chains[q] = [2]int32{c.first, c.last}
	}
	return m
}

// CheckSaved says what is impossible about a description, if anything.
func CheckSaved(m *Saved) error {
	for q, c := range m.Chains {
		if m.Next < 0 || (c[0] < 0) != (c[1] < 0) || c[0] < -1 || c[1] < -1 || c[0] >= m.Next || c[1] >= m.Next {
			return fmt.Errorf("log: chain %d from segment %d to %d of %d", q, c[0], c[1], m.Next)
		}
	}
	return evict.CheckState(m.Policy)
}

// Metas calls fn for the bytes of what is known of the segments below next.
func (l *Log) Metas(next int32, fn func([]byte)) error {
	if int(next) > len(l.segs) {
		return fmt.Errorf("log: %d segments, room for %d", next, len(l.segs))
	}
	if next > 0 {
		fn(unsafe.Slice((*byte)(unsafe.Pointer(&l.segs[0])), uintptr(next)*unsafe.Sizeof(segment{})))
		fn(unsafe.Slice((*byte)(unsafe.Pointer(&l.dead[0])), uintptr(next)*4))
	}
	return nil
}

// Load goes on with the log that m describes. The bytes that Metas gives are known to be sound.
func (l *Log) Load(m *Saved) error {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.next = m.Next
	sealedCount := 0
	for s := range l.segs[:l.next] {
		g := &l.segs[s]
		g.pins = 0
		switch g.state {
		case unused:
			l.gone = append(l.gone, int32(s))
		case free:
			l.spare = append(l.spare, int32(s))
		case sealed:
			sealedCount++
			if int64(g.used) > 1<<l.shift || l.dead[s] > g.used || g.queue >= evict.Queues {
				return fmt.Errorf("log: segment %d of queue %d has %d bytes, %d dead", s, g.queue, g.used, l.dead[s])
			}
		default:
			return fmt.Errorf("log: segment %d was saved in state %d", s, g.state)
		}
	}
	clear(l.segs[l.next:])
	clear(l.dead[l.next:])
	l.budget.Charge(int64(int(l.next)-len(l.gone)) << l.shift)
	for q, c := range m.Chains {
		prev := int32(-1)
		for s := c[0]; s >= 0; s = l.segs[s].next {
			if g := &l.segs[s]; s >= l.next || g.state != sealed || int(g.queue) != q || g.prev != prev || sealedCount == 0 {
				return fmt.Errorf("log: segment %d is not in the chain of queue %d", s, q)
			}
			sealedCount--
			l.bytes[q] += 1 << l.shift
			prev = s
		}
		if prev != c[1] {
			return fmt.Errorf("log: the chain of queue %d ends at segment %d instead of %d", q, prev, c[1])
		}
		l.chains[q] = chain{c[0], c[1]}
	}
	if sealedCount != 0 {
		return fmt.Errorf("log: %d segments in no chain", sealedCount)
	}
	l.policy.Load(m.Policy)
	l.stockUp()
	return nil
}

// Blocks calls fn for the bytes of all sealed segments.
func (l *Log) Blocks(fn func([]byte)) {
	for s := range l.segs[:l.next] {
		if g := &l.segs[s]; g.state == sealed {
			fn(l.space.Bytes(int64(s)<<l.shift, int64(g.used)))
		}
	}
}

// Large calls fn for each item with a region in sealed segments, dead or alive.
func (l *Log) Large(fn func(it Item, ref uint64)) {
	for s := range l.segs[:l.next] {
		g := &l.segs[s]
		if g.state != sealed {
			continue
		}
		v := Victim{Seg: int32(s), used: g.used, pos: first(int32(s))}
		for it, ref, _, ok := l.Next(&v); ok; it, ref, _, ok = l.Next(&v) {
			if it.Has(InRegion) {
				fn(it, ref)
			}
		}
	}
}

// Weighed sets the bytes in regions by queue, after Load.
func (l *Log) Weighed(bytes [evict.Queues]int64) {
	for q, n := range bytes {
		l.regionBytes[q].Store(n)
	}
}

// RegionBytes by queue.
func (l *Log) RegionBytes() (bytes [evict.Queues]int64) {
	for q := range bytes {
		bytes[q] = l.regionBytes[q].Load()
	}
	return bytes
}

// Layout names what the meaning of the bytes of segments and metas depends on.
func Layout() string {
	order := uint16(1)
	return fmt.Sprintf("log 2 %d/%d/%d", unsafe.Sizeof(segment{}), dueBuckets, *(*byte)(unsafe.Pointer(&order)))
}
