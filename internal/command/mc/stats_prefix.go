package mc

import (
	"bytes"
	"slices"
	"strings"
	"sync"

	"godwit/internal/bytesx"
)

// maxPrefixes bounds what stats detail remembers: clients choose the keys.
const maxPrefixes = 65536

// prefixCount is what stats detail counts for the keys that begin alike.
type prefixCount struct{ get, hit, set, del uint64 }

// prefixes counts classic commands by what stands before the delimiter in their keys. It has a lock of its own, never
// taken under a stripe: it is meant for a look at a server, not for every day.
type prefixes struct {
	mu sync.Mutex
	m  map[string]*prefixCount
}

// Detail says whether stats detail is on. Verbs ask it before they count: off, it costs one untaken branch.
func (w *Worker) Detail() bool { return w.Watch.Load()&WatchPrefixes != 0 }

// SetDetail switches stats detail on or off. What was counted stays.
func (e *Env) SetDetail(on bool) {
	if on {
		e.Watch.Or(WatchPrefixes)
	} else {
		e.Watch.And(^WatchPrefixes)
	}
}

// CountGet counts a lookup for a classic get, or its kin, in stats detail.
func (w *Worker) CountGet(key []byte, hit bool) {
	w.prefix(key, func(c *prefixCount) {
		c.get++
		if hit {
			c.hit++
		}
	})
}

// CountSet counts a classic storage command in stats detail.
func (w *Worker) CountSet(key []byte) { w.prefix(key, func(c *prefixCount) { c.set++ }) }

// CountDelete counts a classic delete in stats detail, whether it found something or not.
func (w *Worker) CountDelete(key []byte) { w.prefix(key, func(c *prefixCount) { c.del++ }) }

func (w *Worker) prefix(key []byte, count func(c *prefixCount)) {
	n := bytes.IndexByte(key, w.Set.PrefixDelim)
	if n < 0 {
		return
	}
	p := &w.admin.prefixes
	p.mu.Lock()
	defer p.mu.Unlock()
	c := p.m[string(key[:n])]
	if c == nil {
		if len(p.m) >= maxPrefixes {
			return
		}
		if p.m == nil {
			p.m = map[string]*prefixCount{}
		}
		c = &prefixCount{}
		p.m[string(key[:n])] = c
	}
	count(c)
}

func (p *prefixes) clear() {
	p.mu.Lock()
	p.m = nil
	p.mu.Unlock()
}

// dump appends a line per prefix, in the order of their names, and END.
func (p *prefixes) dump(b []byte) []byte {
	type row struct {
		name string
		prefixCount
	}
	p.mu.Lock()
	rows := make([]row, 0, len(p.m))
	for name, c := range p.m {
		rows = append(rows, row{name, *c})
	}
	p.mu.Unlock()
	slices.SortFunc(rows, func(a, b row) int { return strings.Compare(a.name, b.name) })
	for i := range rows {
		r := &rows[i]
		b = append(append(b, "PREFIX "...), r.name...)
		b = bytesx.AppendUint(append(b, " get "...), r.get)
		b = bytesx.AppendUint(append(b, " hit "...), r.hit)
		b = bytesx.AppendUint(append(b, " set "...), r.set)
		b = bytesx.AppendUint(append(b, " del "...), r.del)
		b = append(b, "\r\n"...)
	}
	return append(b, "END\r\n"...)
}
