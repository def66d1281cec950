package netloop

// smallLeft is the size up to which unread input is copied in front of the loop's shared buffer at the next read. Longer
// rests stay in the connection's own buffer and are read behind, so that nothing is copied again and again.
const smallLeft = 2048

// inbuf is the unread input of a connection, in a buffer lent by the pool of its loop. It holds a buffer only while it
// holds bytes.
type inbuf struct {
	buf  []byte
	r, w int
}

func (q *inbuf) len() int      { return q.w - q.r }
func (q *inbuf) bytes() []byte { return q.buf[q.r:q.w] }

// drop forgets n bytes from the front and gives the buffer back when nothing is left.
func (q *inbuf) drop(n int, p *pool) {
	q.r += n
	if q.r == q.w {
		q.free(p)
	}
}

func (q *inbuf) free(p *pool) {
	if q.buf != nil {
		p.put(q.buf)
		q.buf, q.r, q.w = nil, 0, 0
	}
}

// set makes b, which is not in the buffer, the unread input.
func (q *inbuf) set(b []byte, p *pool) {
	if len(b) == 0 {
		q.free(p)
		return
	}
	if len(q.buf) < len(b) {
		q.free(p)
		q.buf = p.get(len(b))
	}
	q.r, q.w = 0, copy(q.buf, b)
}

// space is room behind the unread input, at least min bytes. The input moves to the front only when it is the smaller
// part, and otherwise to a buffer of twice the size: each byte is moved a bounded number of times on average.
func (q *inbuf) space(min int, p *pool) []byte {
	if len(q.buf)-q.w >= min {
		return q.buf[q.w:]
	}
	n := q.len()
	if q.buf != nil && q.r >= n && len(q.buf)-n >= min {
		copy(q.buf, q.buf[q.r:q.w])
		q.r, q.w = 0, n
		return q.buf[q.w:]
	}
	b := p.get(max(2*n, n+min))
	copy(b, q.bytes())
	if q.buf != nil {
		p.put(q.buf)
	}
	q.buf, q.r, q.w = b, 0, n
	return q.buf[q.w:]
}
