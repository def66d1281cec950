package store

import (
	"godwit/internal/index"
	"godwit/internal/log"
)

// View is what walks and events show of an item; its slices are valid during the call only.
type View struct {
	Key    []byte
	Value  []byte // nil for large values
	Len    int
	Flags  uint32
	CAS    uint64
	Expiry int64 // timeline ms, 0: never
	Access int64 // timeline ms
	Marks  Mark
}

func (s *Store) view(it log.Item) View {
	return View{
		Key: it.Key(), Value: it.Value(), Len: it.Len(), Flags: it.Flags(), CAS: it.CAS(), Expiry: it.Expiry(),
		Access: accessMs(it, s.clock.Ms()), Marks: it.Bits(),
	}
}

// Cursor is a place in a walk over all items; the zero value is the start.
type Cursor struct {
	stripe int
	at     int64
}

// Walk calls fn for the live items of the next group (about two hundred), under the lock of its stripe: fn copies what it
// wants and calls nothing of the store. It returns false when the walk is over. Items that are there during the whole walk
// are seen at least once.
func (l *Local) Walk(c *Cursor, fn func(v *View)) bool {
	s := l.s
	if c.stripe >= len(s.stripes) {
		return false
	}
	st := &s.stripes[c.stripe]
	st.mu.Lock()
	c.at = st.table.Each(s.pool, uint64(c.at), func(slot index.Slot) {
		it := s.log.At(slot.Ref())
		if s.deadAs(it, slot.Ref(), l.now) == NotGone {
			v := s.view(it)
			fn(&v)
		}
	})
	st.mu.Unlock()
	if c.at < 0 {
		c.stripe, c.at = c.stripe+1, 0
	}
	return c.stripe < len(s.stripes)
}
