package keys

import (
	"fmt"
	"sync"
	"sync/atomic"
)

// Window is how many inserts may be under way between the oldest that is not acknowledged and the newest.
const Window = 1 << 20

// Inserts numbers new keys and knows up to which index all of them are there, while acknowledgements come in any order
// (YCSB's AcknowledgedCounterGenerator). All methods may be called at the same time.
type Inserts struct {
	acked atomic.Uint64 // all indices below are acknowledged
	_     [56]byte
	next  atomic.Uint64 // the index that is taken next
	_     [56]byte

	mu   sync.Mutex
	done []uint64 // bit i%Window: i is acknowledged; acked <= i < acked+Window
}

// NewInserts counts from first on. All indices below it count as acknowledged: in YCSB first is recordcount.
func NewInserts(first uint64) *Inserts {
	s := &Inserts{done: make([]uint64, Window/64)}
	s.acked.Store(first)
	s.next.Store(first)
	return s
}

// Acked is the lowest index that is not acknowledged: the newest of YCSB plus 1. It never falls.
func (s *Inserts) Acked() uint64 { return s.acked.Load() }

// Take gives the index for a new key, to be acknowledged with Ack. false: Window inserts are under way; wait for
// acknowledgements.
func (s *Inserts) Take() (index uint64, ok bool) {
	for {
		index = s.next.Load()
		if index-s.acked.Load() >= Window {
			return 0, false
		}
		if s.next.CompareAndSwap(index, index+1) {
			return index, true
		}
	}
}

// Ack says that the insert of an index that Take gave has ended. Like in YCSB a failed insert must be acknowledged, too:
// else nothing newer is ever read, and Take ends with false.
func (s *Inserts) Ack(index uint64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	end, next := s.acked.Load(), s.next.Load()
	if index-end >= next-end { // also when below end
		return fmt.Errorf("keys: acknowledged insert %d: not under way, which are %d to below %d (acknowledge each once)",
			index, end, next)
	}
	word, bit := &s.done[index%Window/64], uint64(1)<<(index%64)
	if *word&bit != 0 {
		return fmt.Errorf("keys: acknowledged insert %d: it was already (acknowledge each once)", index)
	}
	*word |= bit
	if index != end {
		return nil
	}
	for {
		word, bit = &s.done[end%Window/64], uint64(1)<<(end%64)
		if *word&bit == 0 {
			break
		}
		*word &^= bit
		end++
	}
	s.acked.Store(end)
	return nil
}
