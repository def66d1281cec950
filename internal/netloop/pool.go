package netloop

import (
	"math/bits"
	"sync/atomic"
)

const (
	poolMin   = 11      // 2 KiB: the smallest buffer
	poolMax   = 17      // 128 KiB: bigger ones are made when needed and left to the collector
	poolCache = 1 << 20 // bytes of free buffers a pool keeps
)

// pool lends the buffers that connections need when a request is incomplete or a reply is not sent at once. One loop
// owns it (or a lock of its owner guards it); the counters may be read by anyone.
type pool struct {
	free   [poolMax - poolMin + 1][][]byte
	limit  int64 // bytes lent for input at most; 0: no limit
	lent   atomic.Int64
	count  atomic.Int64
	cached atomic.Int64
}

// get lends a buffer of at least n bytes (its length is its capacity).
func (p *pool) get(n int) []byte {
	k := max(poolMin, bits.Len(uint(n-1)))
	p.lent.Add(1 << k)
	p.count.Add(1)
	if k <= poolMax {
		if f := p.free[k-poolMin]; len(f) > 0 {
			b := f[len(f)-1]
			f[len(f)-1] = nil
			p.free[k-poolMin] = f[:len(f)-1]
			p.cached.Add(-1 << k)
			return b
		}
	}
	return make([]byte, 1<<k)
}

// allows says whether n more bytes may be lent for input.
func (p *pool) allows(n int) bool { return p.limit == 0 || p.lent.Load()+int64(n) <= p.limit }

// put takes a buffer of get back.
func (p *pool) put(b []byte) {
	b = b[:cap(b)]
	p.lent.Add(-int64(len(b)))
	p.count.Add(-1)
	k := bits.Len(uint(len(b) - 1))
	if k > poolMax || p.cached.Load() >= poolCache {
		return
	}
	p.free[k-poolMin] = append(p.free[k-poolMin], b)
	p.cached.Add(1 << k)
}
