package drive

import (
	"godwit/internal/bytesx"
	"godwit/internal/netloop"
)

// fenceEvery is after how many batches in a row a blind client waits until all of them have left: a server that does not
// read would have it fill the memory. To ask each time costs as much as the batch.
const fenceEvery = 16

// blindly sends a batch whenever anything came, or when one is planned, but not while many wait for room in the socket.
func (c *client) blindly(came bool, out *bytesx.Out) netloop.Verdict {
	if came {
		c.heard = true
		c.last = c.w.t
	} else {
		c.fenced = false
	}
	switch {
	case c.quitting:
		return netloop.More
	case c.dry || c.r.over.Load():
		return c.quit(out)
	case c.fenced:
		return netloop.Stream
	case c.interval > 0 && !c.isDue(), c.interval == 0 && c.seen && !c.heard:
		return netloop.More
	}
	c.batches++
	c.heard, c.fenced = false, c.interval > 0 || c.batches%fenceEvery == 0
	counted := c.w.t >= c.w.from
	c.rest = c.burst
	if c.interval == 0 {
		c.rest = c.plan.Pipeline
	}
	for c.rest > 0 {
		if !c.request(out) {
			c.dry = true
			break
		}
		if c.n = 0; counted {
			c.w.rec.silent(&c.q[c.head])
		}
	}
	out.Buf = c.plan.Codec.Flush(out.Buf)
	c.plan.Codec.Reset()
	if c.fenced || c.dry { // dry: perhaps with nothing to send, and nobody would wake it
		return netloop.Stream
	}
	return netloop.More
}

// quit ends a blind connection.
func (c *client) quit(out *bytesx.Out) netloop.Verdict {
	c.dry, c.quitting = true, true
	if c.plan.Quit == nil {
		return netloop.Close
	}
	out.Buf = append(out.Buf, c.plan.Quit...)
	return netloop.More
}
