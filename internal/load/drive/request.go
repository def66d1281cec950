package drive

import (
	"cmp"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/netloop"
)

// most bytes of requests that one Feed appends: memory stays bounded with long pipelines of long values.
const mostOut = 1 << 20

// under says whether the next request goes on with an operation.
func (c *client) under() bool { return c.spanner != nil && c.sent > 0 && c.spanner.Under() }

// requests fills the pipeline, as far as the plan says.
func (c *client) requests(out *bytesx.Out) netloop.Verdict {
	before := len(out.Buf)
	v := c.more(out)
	if len(out.Buf) > before {
		out.Buf = c.plan.Codec.Flush(out.Buf)
	}
	return v
}

// more appends the requests that may be sent now.
func (c *client) more(out *bytesx.Out) netloop.Verdict {
	every := c.plan.ReconnectEvery
	for !c.dry && !c.closing {
		switch {
		case c.n == 0 && c.under():
			c.request(out)
		case c.r.over.Load():
			c.dry = true
		case every > 0 && c.sent >= every:
			c.closing = true
		case c.n >= c.plan.Pipeline:
			return netloop.More
		case len(out.Buf) >= mostOut:
			return netloop.Stream
		case c.patient != nil && c.patient.Ready():
			if !c.request(out) {
				return netloop.More
			}
		case c.rest <= 0 && !c.begin():
			return netloop.More
		default:
			if c.request(out) {
				break
			}
			if c.patient != nil && c.interval > 0 && c.op.Planned == 0 {
				c.stepped() // another connection sends it
				break
			}
			if c.patient != nil && c.patient.Waiting() {
				return netloop.More
			}
			c.dry = true
		}
	}
	if c.n > 0 {
		return netloop.More
	}
	return netloop.Close
}

// begin begins a burst, if it may be sent now.
func (c *client) begin() bool {
	if c.interval > 0 && !c.isDue() || c.interval == 0 && c.n+c.burst > c.plan.Pipeline {
		return false
	}
	c.rest = c.burst
	return true
}

// request sends one, if the Source has one.
func (c *client) request(out *bytesx.Out) bool {
	op := &c.op
	*op = load.Op{}
	goes := c.under()
	planned := c.interval > 0 && !goes && (c.patient == nil || !c.patient.Ready())
	if planned {
		op.Planned = int64(c.plannedT)
	}
	if !c.plan.Source.Next(op) {
		return false
	}
	if c.n == 0 {
		c.since = c.w.t
	}
	before := len(out.Buf)
	out.Buf = c.plan.Codec.Append(out.Buf, op)
	f := flight{sent: c.w.t, tx: uint32(len(out.Buf) - before), keys: 1, kind: op.Kind, row: op.Row, quiet: op.Quiet, check: op.Check, id: op.ID, goes: goes, aside: op.Aside}
	if op.Kind == load.MGet {
		f.keys = uint32(len(op.Keys))
	}
	switch {
	case goes:
		f.planned = c.marks[0].planned
	case planned:
		f.planned = int64(c.plannedT)
		c.stepped()
	case c.interval > 0 || op.Sent > 0:
		f.planned = op.Planned
		f.sent = cmp.Or(op.Sent, f.sent)
	default:
		c.rest--
	}
	for i := range c.marks {
		if op.Begins>>i&1 != 0 {
			c.marks[i] = mark{f.planned, f.sent}
		}
	}
	if !op.Aside {
		c.sent++
		c.seen = true
		if c.first == 0 {
			c.first = c.w.t
		}
	}
	c.q[(c.head+c.n)&(len(c.q)-1)] = f
	c.n++
	return true
}

// stepped goes on in the schedule behind a request.
func (c *client) stepped() {
	if c.rest--; c.rest == 0 {
		c.step()
	}
}
