package netloop

import "godwit/internal/bytesx"

// outbox is an Out on its way into a socket: how far it is sent is kept beside it. References are released as soon as
// their last byte is sent.
type outbox struct {
	bytesx.Out
	b int // bytes of Buf sent
	d int // bytes of Refs[0].Data sent
}

// rest is the number of bytes still to send.
func (o *outbox) rest() int { return o.Len() - o.b - o.d }

// advance notes that n more bytes are sent.
func (o *outbox) advance(n int) {
	for {
		end := len(o.Buf)
		if len(o.Refs) > 0 {
			end = o.Refs[0].At
			if end == o.b {
				r := &o.Refs[0]
				k := min(n, len(r.Data)-o.d)
				o.d += k
				n -= k
				if o.d < len(r.Data) {
					return
				}
				own := r.Owner
				*r = bytesx.Ref{}
				o.Refs, o.d = o.Refs[1:], 0
				own.Release()
				continue
			}
		}
		k := min(n, end-o.b)
		o.b += k
		n -= k
		if len(o.Refs) == 0 || o.b < end {
			return
		}
	}
}

// pieces calls add with each run of bytes still to send, until add says that it has enough.
func (o *outbox) pieces(add func(p []byte) bool) {
	b, d := o.b, o.d
	for i := range o.Refs {
		r := &o.Refs[i]
		if b < r.At && !add(o.Buf[b:r.At]) {
			return
		}
		b = r.At
		if len(r.Data) > d && !add(r.Data[d:]) {
			return
		}
		d = 0
	}
	if b < len(o.Buf) {
		add(o.Buf[b:])
	}
}

// clear releases what is left.
func (o *outbox) clear() {
	o.Reset()
	o.b, o.d = 0, 0
}

// split takes what is left out of o, for a connection to keep, with the buffer of it that p lent (nil: none). o keeps
// nothing that it would release. give: its buffer may be given away, when much is left, instead of being copied from.
func (o *outbox) split(p *pool, give bool) (rest *outbox, lent []byte) {
	rest = &outbox{}
	flat := o.Buf[o.b:]
	if give && len(flat) > cap(o.Buf)/2 {
		*rest, *o = *o, outbox{}
		return rest, nil
	}
	if len(flat) > 0 {
		lent = p.get(len(flat))
		rest.Buf = lent[:copy(lent, flat)]
	}
	for _, r := range o.Refs {
		rest.Refs = append(rest.Refs, bytesx.Ref{At: r.At - o.b, Data: r.Data, Owner: r.Owner})
	}
	rest.d = o.d
	clear(o.Refs)
	o.Refs = o.Refs[:0]
	return rest, lent
}
