package codec

import (
	"godwit/internal/load"
	"godwit/internal/proto/mctext"
)

// Text is memcached's classic text protocol. A quiet request says noreply and is done when it is appended: whatever
// becomes of it, memcached does not tell.
type Text struct {
	spaced bool
	values mctext.Values
}

// NewText makes a codec of the text protocol.
func NewText() *Text { return &Text{} }

// NewCrusherText is NewText with the wire form of mc-crusher: get and delete have a space at the end of the line.
func NewCrusherText() *Text { return &Text{spaced: true} }

// Supports implements load.Codec.
func (c *Text) Supports(k load.Kind) bool { return k != load.Command && k < load.Kinds }

// Append implements load.Codec.
func (c *Text) Append(b []byte, op *load.Op) []byte {
	switch op.Kind {
	case load.Get:
		b = mctext.AppendGet(b, op.Key)
	case load.MGet:
		b = mctext.AppendMGet(b, op.Keys)
	case load.Set:
		return mctext.AppendSet(b, op.Key, op.Flags, op.Expiry, op.Value, op.Quiet)
	case load.Touch:
		return mctext.AppendTouch(b, op.Key, op.Expiry, op.Quiet)
	case load.Incr:
		return mctext.AppendIncr(b, op.Key, op.Delta, op.Quiet)
	case load.Decr:
		return mctext.AppendDecr(b, op.Key, op.Delta, op.Quiet)
	case load.Delete:
		b = mctext.AppendDelete(b, op.Key, op.Quiet)
		if op.Quiet {
			return b
		}
	default:
		panic("codec: Text cannot say this kind of request")
	}
	if c.spaced {
		b = mctext.Spaced(b)
	}
	return b
}

// Flush implements load.Codec: noreply needs nothing.
func (c *Text) Flush(b []byte) []byte { return b }

// Reset implements load.Codec.
func (c *Text) Reset() { c.values.Reset() }

// Reply implements load.Codec.
func (c *Text) Reply(in []byte, want load.Want, r *load.Reply) (n int, err error) {
	*r = load.Reply{}
	if want.Kind == load.Get || want.Kind == load.MGet {
		v := &c.values
		if n, err = v.Scan(in); n == 0 {
			return 0, err
		}
		r.Hits, r.Value = v.Hits, v.Value
		if v.Problem != nil {
			r.Status, r.Text = load.Failed, v.Problem
			return n, nil
		}
		r.Misses = max(0, int(want.Keys)-v.Hits)
		return n, nil
	}
	if want.Quiet {
		r.Silent = true
		return 0, nil
	}
	a, text, n, err := mctext.ScanLine(in)
	if n == 0 {
		return 0, err
	}
	switch a {
	case mctext.Problem:
		r.Status, r.Text = load.Failed, text
	case mctext.WasNotStored, mctext.WasExists, mctext.WasNotFound:
		r.Status = load.NotStored
	}
	return n, nil
}
