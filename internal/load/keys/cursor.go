package keys

import (
	"fmt"
	"math"
	"sync/atomic"
)

// Cursor walks from start to high and on from low for all who call Next: each index goes to one of them. mc-crusher has one
// per template and thread, YCSB one for all.
type Cursor struct {
	min, span uint64
	offset    uint64 // start - min
	_         [40]byte
	taken     atomic.Uint64 // on a cache line of its own
	_         [56]byte
}

// NewCursor makes a cursor that gives start first.
func NewCursor(low, high, start uint64) (*Cursor, error) {
	if low > high {
		return nil, fmt.Errorf("keys: minimum %d: above the maximum %d (swap them)", low, high)
	}
	if start < low || start > high {
		return nil, fmt.Errorf("keys: cursor start %d: outside the range %d to %d (start within it)", start, low, high)
	}
	c := &Cursor{min: low, span: high - low, offset: start - low}
	c.taken.Store(c.offset)
	return c, nil
}

// Next takes the next index.
func (c *Cursor) Next() uint64 {
	n := c.taken.Add(1) - 1
	if c.span < math.MaxUint64 {
		n %= c.span + 1
	}
	return c.min + n
}
