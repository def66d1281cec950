package codec

import (
	"fmt"
	"math"

	"godwit/internal/load"
	"godwit/internal/proto/mcbin"
)

// Binary is memcached's binary protocol. Each request has its number as opaque; MGet is a row of GETKQ and a NOOP with the
// same number. TOUCH has no quiet form and is always answered.
type Binary struct {
	q    quiet
	at   int // bytes of the answer to an MGet that are read
	hits int // keys found in them
	from int // where the last value lies
	to   int
	text []byte // error among them
}

// NewBinary makes a codec of the binary protocol.
func NewBinary() *Binary { return &Binary{} }

// Supports implements load.Codec.
func (c *Binary) Supports(k load.Kind) bool { return k != load.Command && k < load.Kinds }

// isQuiet says whether a request that is marked so can be quiet.
func (c *Binary) isQuiet(k load.Kind, quiet bool) bool {
	return quiet && k != load.Touch && k != load.MGet
}

// pick gives the loud or the quiet opcode.
func pick(quiet bool, q, loud mcbin.Op) mcbin.Op {
	if quiet {
		return q
	}
	return loud
}

// Append implements load.Codec.
func (c *Binary) Append(b []byte, op *load.Op) []byte {
	quiet := c.isQuiet(op.Kind, op.Quiet)
	n := c.q.take(quiet)
	switch op.Kind {
	case load.Get:
		return mcbin.AppendGet(b, pick(quiet, mcbin.GetQ, mcbin.Get), op.Key, n)
	case load.MGet:
		for _, k := range op.Keys {
			b = mcbin.AppendGet(b, mcbin.GetKQ, k, n)
		}
		return appendNoop(b, n)
	case load.Set:
		return mcbin.AppendStore(b, pick(quiet, mcbin.SetQ, mcbin.Set), op.Key, op.Value, op.Flags, op.Expiry, n, 0)
	case load.Touch:
		return mcbin.AppendTouch(b, mcbin.Touch, op.Key, op.Expiry, n)
	case load.Incr:
		return mcbin.AppendDelta(b, pick(quiet, mcbin.IncrQ, mcbin.Incr), op.Key, op.Delta, 0, mcbin.NoCreate, n, 0)
	case load.Decr:
		return mcbin.AppendDelta(b, pick(quiet, mcbin.DecrQ, mcbin.Decr), op.Key, op.Delta, 0, mcbin.NoCreate, n, 0)
	case load.Delete:
		return mcbin.AppendGet(b, pick(quiet, mcbin.DeleteQ, mcbin.Delete), op.Key, n)
	}
	panic("codec: Binary cannot say this kind of request")
}

func appendNoop(b []byte, opaque uint32) []byte {
	return mcbin.AppendHeader(b, &mcbin.Header{Magic: mcbin.MagicRequest, Op: mcbin.Noop, Opaque: opaque})
}

// Flush implements load.Codec.
func (c *Binary) Flush(b []byte) []byte {
	if !c.q.open {
		return b
	}
	c.q.close()
	return appendNoop(b, c.q.last())
}

// Reset implements load.Codec.
func (c *Binary) Reset() {
	c.q.reset()
	c.at, c.hits, c.text = 0, 0, nil
}

// packet reads one packet.
func packet(in []byte) (p mcbin.Packet, n int, err error) {
	p, n, ok := mcbin.ParsePacket(in, mcbin.MagicResponse, math.MaxUint32)
	if !ok {
		return p, 0, fmt.Errorf("memcached binary: %.24x begins no answer", in)
	}
	return p, n, nil
}

// Reply implements load.Codec.
func (c *Binary) Reply(in []byte, want load.Want, r *load.Reply) (n int, err error) {
	*r = load.Reply{}
	if want.Kind == load.MGet {
		return c.row(in, want, r)
	}
	quiet := c.isQuiet(want.Kind, want.Quiet)
	if quiet && len(in) >= mcbin.HeaderLen && in[0] == mcbin.MagicResponse {
		h := mcbin.ParseHeader(in)
		if h.Op == mcbin.Noop || c.q.later(h.Opaque) {
			return c.silent(&h, want, r)
		}
	}
	p, n, err := packet(in)
	if n == 0 {
		return 0, err
	}
	if p.Opaque != c.q.head {
		return 0, fmt.Errorf("memcached binary: an answer to request %d came in the place of %d", p.Opaque, c.q.head)
	}
	if quiet && c.q.endsRow() {
		// the nop behind belongs to this answer: nobody would wait for it
		nop, k, err := packet(in[n:])
		if k == 0 {
			return 0, err
		}
		if nop.Op != mcbin.Noop || nop.Opaque != c.q.head {
			return 0, fmt.Errorf("memcached binary: NOOP %d is not answered, but %s %d", c.q.head, nop.Op, nop.Opaque)
		}
		c.q.popNop()
		n += k
	}
	c.q.done()
	c.judge(&p, want.Kind, r)
	return n, nil
}

// silent ends a quiet request that has no answer: h is the head of that to a later one.
func (c *Binary) silent(h *mcbin.Header, want load.Want, r *load.Reply) (n int, err error) {
	if h.Op == mcbin.Noop && h.Opaque == c.q.head {
		if !c.q.endsRow() || h.BodyLen != 0 {
			return 0, fmt.Errorf("memcached binary: NOOP %d was not sent", h.Opaque)
		}
		c.q.popNop()
		n = mcbin.HeaderLen
	} else if c.q.endsRow() {
		return 0, fmt.Errorf("memcached binary: NOOP %d is not answered, but %s %d", c.q.head, h.Op, h.Opaque)
	} else if !c.q.later(h.Opaque) {
		return 0, fmt.Errorf("memcached binary: NOOP %d came in the place of an answer to %d", h.Opaque, c.q.head)
	}
	c.q.done()
	r.Silent = true
	if want.Kind == load.Get {
		r.Misses = 1
	}
	return n, nil
}

// judge says what a packet means.
func (c *Binary) judge(p *mcbin.Packet, k load.Kind, r *load.Reply) {
	switch p.Status {
	case mcbin.OK:
		if k == load.Get {
			r.Hits, r.Value = 1, p.Value
		}
	case mcbin.NotFound:
		if k == load.Get {
			r.Misses = 1
		} else {
			r.Status = load.NotStored
		}
	case mcbin.Exists, mcbin.NotStored:
		r.Status = load.NotStored
	default:
		r.Status, r.Text = load.Failed, errorText(p)
	}
}

// errorText is what the server says, or what it means if it says nothing.
func errorText(p *mcbin.Packet) []byte {
	if len(p.Value) > 0 {
		return p.Value
	}
	if t := p.Status.Text(); t != "" {
		return []byte(t)
	}
	return fmt.Appendf(nil, "status %#x", uint16(p.Status))
}

// row reads the answer to an MGet: packets of the keys that were found and the NOOP.
func (c *Binary) row(in []byte, want load.Want, r *load.Reply) (n int, err error) {
	if c.at == 0 {
		c.hits, c.from, c.to, c.text = 0, 0, 0, nil
	}
	for {
		p, n, err := packet(in[c.at:])
		if n == 0 {
			return 0, err
		}
		if p.Opaque != c.q.head || p.Op != mcbin.GetKQ && p.Op != mcbin.Noop {
			return 0, fmt.Errorf("memcached binary: %s %d came in the place of a key of multi-get %d", p.Op, p.Opaque, c.q.head)
		}
		c.at += n
		switch {
		case p.Op == mcbin.Noop:
			n = c.at
			c.at = 0
			c.q.done()
			r.Hits, r.Text = c.hits, c.text
			if r.Hits > 0 {
				r.Value = in[c.from:c.to]
			}
			if r.Text != nil {
				r.Status = load.Failed
			} else {
				r.Misses = max(0, int(want.Keys)-c.hits)
			}
			return n, nil
		case p.Status == mcbin.OK:
			c.hits++
			c.to = c.at
			c.from = c.at - len(p.Value)
		case p.Status != mcbin.NotFound:
			c.text = append(c.text[:0], errorText(&p)...)
		}
	}
}
