package route

import (
	"godwit/internal/load"
)

// ring is a queue that grows and does not shrink.
type ring[T any] struct {
	a       []T // its length is a power of two, or 0
	head, n int
}

func (r *ring[T]) push(x T) {
	if r.n == len(r.a) {
		a := make([]T, max(8, 2*len(r.a)))
		for i := range r.n {
			a[i] = *r.at(i)
		}
		r.a, r.head = a, 0
	}
	r.a[(r.head+r.n)&(len(r.a)-1)] = x
	r.n++
}

// at is the i-th from the front.
func (r *ring[T]) at(i int) *T { return &r.a[(r.head+i)&(len(r.a)-1)] }

func (r *ring[T]) pop() (x T) {
	p := r.at(0)
	*p, x = x, *p
	r.head = (r.head + 1) & (len(r.a) - 1)
	r.n--
	return x
}

// entry is a request with bytes of its own: one that waits for its connection, or that may have to be sent again.
type entry struct {
	op    load.Op
	buf   []byte
	list  [][]byte
	split *split
	hops  int  // times it was redirected
	ask   bool // ASKING goes before it
}

// split is a request that was made several of: the answer to it adds up.
type split struct {
	left  int // parts without answer
	lost  bool
	reply load.Reply
	text  []byte
}

// set makes e a copy of op, with keys in place of op.Keys.
func (e *entry) set(op *load.Op, keys [][]byte) {
	e.op = *op
	n := len(op.Key) + len(op.Value) + len(op.Words)
	for _, k := range keys {
		n += len(k)
	}
	for _, a := range op.Args {
		n += len(a)
	}
	if n > cap(e.buf) {
		e.buf = make([]byte, 0, n)
	}
	e.buf, e.list = e.buf[:0], e.list[:0]
	e.op.Key, e.op.Value, e.op.Words = e.own(op.Key), e.own(op.Value), e.own(op.Words)
	e.op.Keys, e.op.Args = e.ownAll(keys), e.ownAll(op.Args)
	e.split, e.hops, e.ask = nil, 0, false
}

func (e *entry) own(b []byte) []byte {
	if b == nil {
		return nil
	}
	n := len(e.buf)
	e.buf = append(e.buf, b...)
	return e.buf[n:len(e.buf):len(e.buf)]
}

// ownAll copies keys or arguments: a request has but one of them.
func (e *entry) ownAll(list [][]byte) [][]byte {
	if len(list) == 0 {
		return nil
	}
	n := len(e.list)
	for _, b := range list {
		e.list = append(e.list, e.own(b))
	}
	return e.list[n:]
}

// Entries that are not in use are kept, up to so many bytes.
const mostFree = 4 << 20

type entries struct {
	free  []*entry
	bytes int
}

func (p *entries) get() *entry {
	if len(p.free) == 0 {
		return &entry{}
	}
	e := p.free[len(p.free)-1]
	p.free = p.free[:len(p.free)-1]
	p.bytes -= cap(e.buf)
	return e
}

func (p *entries) put(e *entry) {
	if p.bytes+cap(e.buf) > mostFree {
		return
	}
	p.bytes += cap(e.buf)
	p.free = append(p.free, e)
}
