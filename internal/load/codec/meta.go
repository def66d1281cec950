package codec

import (
	"fmt"

	"godwit/internal/load"
	"godwit/internal/proto/mctext"
)

// Meta is memcached's meta protocol: mg, ms, md, ma; a Touch is mg with T and no value, an MGet quiet mgs and mn. Quiet requests have the flag q and
// their number as opaque, and are followed by mn; loud ones have neither. An error text has no opaque: among several quiet
// requests it is counted for the oldest that is open, which need not be the one that failed.
type Meta struct {
	q quiet
}

// NewMeta makes a codec of the meta protocol.
func NewMeta() *Meta { return &Meta{} }

// defaultGet are the flags of a meta get that names none.
var defaultGet = []byte("v")

// Supports implements load.Codec.
func (c *Meta) Supports(k load.Kind) bool {
	return k < load.Kinds && k != load.Command
}

// Append implements load.Codec. Op.Words must have neither q nor O: those come from Op.Quiet.
func (c *Meta) Append(b []byte, op *load.Op) []byte {
	if c.q.open && (!op.Quiet || op.Kind == load.MGet) {
		b = c.Flush(b) // so that an error text behind it is known to be of this request
	}
	if op.Kind == load.MGet {
		return c.several(b, op)
	}
	n := c.q.take(op.Quiet)
	switch op.Kind {
	case load.Get:
		b = mctext.AppendMeta(b, "mg", op.Key)
		b = mctext.AppendWords(b, getWords(op))
	case load.Touch:
		b = mctext.AppendMeta(b, "mg", op.Key)
		b = mctext.AppendFlag(b, 'T', uint64(op.Expiry))
	case load.Set:
		b = mctext.AppendMetaSet(b, op.Key, len(op.Value))
		if op.Flags != 0 {
			b = mctext.AppendFlag(b, 'F', uint64(op.Flags))
		}
		if op.Expiry != 0 {
			b = mctext.AppendFlag(b, 'T', uint64(op.Expiry))
		}
	case load.Incr, load.Decr:
		b = mctext.AppendMeta(b, "ma", op.Key)
		if op.Kind == load.Decr {
			b = append(b, " MD"...)
		}
		b = mctext.AppendFlag(b, 'D', op.Delta)
	case load.Delete:
		b = mctext.AppendMeta(b, "md", op.Key)
	default:
		panic("codec: Meta cannot say this kind of request")
	}
	if op.Quiet {
		b = mctext.AppendMark(b, 'q')
		b = mctext.AppendFlag(b, 'O', uint64(n))
	}
	b = mctext.AppendMetaEnd(b)
	if op.Kind == load.Set {
		b = append(b, op.Value...)
		b = mctext.AppendMetaEnd(b)
	}
	return b
}

func getWords(op *load.Op) []byte {
	if op.Words == nil {
		return defaultGet
	}
	return op.Words
}

// several appends a request for several keys: quiet gets, and a nop that ends their answers. It is one loud request.
func (c *Meta) several(b []byte, op *load.Op) []byte {
	c.q.take(false)
	for _, key := range op.Keys {
		b = mctext.AppendMeta(b, "mg", key)
		b = mctext.AppendWords(b, getWords(op))
		b = mctext.AppendMark(b, 'q')
		b = mctext.AppendMetaEnd(b)
	}
	return append(b, "mn\r\n"...)
}

// severals reads the answer to several.
func (c *Meta) severals(in []byte, want load.Want, r *load.Reply) (used int, err error) {
	for {
		var a mctext.MetaAnswer
		n, err := mctext.ScanMeta(in[used:], &a)
		if n == 0 {
			return 0, err
		}
		used += n
		switch a.Answer {
		case mctext.WasNop:
			if r.Status == load.OK {
				r.Misses = max(0, int(want.Keys)-r.Hits)
			}
			c.q.done()
			return used, nil
		case mctext.Problem:
			r.Status, r.Text = load.Failed, a.Line
		case mctext.WasValue, mctext.WasDone:
			r.Hits++
			r.Value = a.Value
		default:
			return 0, errMeta(a.Line)
		}
	}
}

// Flush implements load.Codec.
func (c *Meta) Flush(b []byte) []byte {
	if !c.q.open {
		return b
	}
	c.q.close()
	return append(b, "mn\r\n"...)
}

// Reset implements load.Codec.
func (c *Meta) Reset() { c.q.reset() }

// Reply implements load.Codec.
func (c *Meta) Reply(in []byte, want load.Want, r *load.Reply) (n int, err error) {
	*r = load.Reply{}
	if want.Kind == load.MGet {
		return c.severals(in, want, r)
	}
	var a mctext.MetaAnswer
	if n, err = mctext.ScanMeta(in, &a); n == 0 {
		return 0, err
	}
	if want.Quiet {
		return c.quiet(in, n, &a, want, r)
	}
	if a.Answer == mctext.WasNop || a.Answer == mctext.WasDebug {
		return 0, errMeta(a.Line)
	}
	c.q.done()
	c.judge(&a, want, r)
	return n, nil
}

func errMeta(line []byte) error {
	return fmt.Errorf("memcached meta: %.60q came in the place of an answer", line)
}

// quiet ends a quiet request. a is the next answer, n bytes long: its own, that of a later one, or MN.
func (c *Meta) quiet(in []byte, n int, a *mctext.MetaAnswer, want load.Want, r *load.Reply) (int, error) {
	ends := c.q.endsRow()
	own := a.Answer == mctext.Problem
	switch {
	case own:
	case a.Answer == mctext.WasNop:
		if _, sent := c.q.nop(); !sent {
			return 0, errMeta(a.Line)
		}
		if ends {
			c.q.popNop()
		} else {
			n = 0
		}
	default:
		arg, _ := a.Flag('O')
		opaque, ok := mctext.U32(arg)
		own = ok && opaque == c.q.head
		if !own && (!ok || ends || !c.q.later(opaque)) {
			return 0, errMeta(a.Line)
		}
		if !own {
			n = 0
		}
	}
	if !own {
		c.q.done()
		r.Silent = true
		switch want.Kind {
		case load.Get:
			r.Misses = 1
		case load.Touch: // an mg: q hides its miss, not its success
			r.Status = load.NotStored
		}
		return n, nil
	}
	if ends {
		// the MN behind belongs to this answer: nobody would wait for it
		var nop mctext.MetaAnswer
		k, err := mctext.ScanMeta(in[n:], &nop)
		if k == 0 {
			return 0, err
		}
		if nop.Answer != mctext.WasNop {
			return 0, errMeta(nop.Line)
		}
		c.q.popNop()
		n += k
	}
	c.q.done()
	c.judge(a, want, r)
	return n, nil
}

// judge says what an answer means.
func (c *Meta) judge(a *mctext.MetaAnswer, want load.Want, r *load.Reply) {
	switch a.Answer {
	case mctext.Problem:
		r.Status, r.Text = load.Failed, a.Line
	case mctext.WasDone, mctext.WasValue:
		if want.Kind == load.Get {
			r.Hits, r.Value = 1, a.Value
		}
	case mctext.WasMiss:
		if want.Kind == load.Get {
			r.Misses = 1
		} else {
			r.Status = load.NotStored
		}
	default:
		r.Status = load.NotStored
	}
}
