package drive

import (
	"errors"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

var errUnasked = errors.New("the server sent something that it was not asked for")

// answers reads the complete answers of in.
func (c *client) answers(in []byte) (used int, err error) {
	for c.n > 0 {
		f := &c.q[c.head]
		if used == len(in) && !f.quiet {
			return used, nil
		}
		n, err := c.plan.Codec.Reply(in[used:], load.Want{Kind: f.kind, Keys: f.keys, Quiet: f.quiet}, &c.reply)
		if err != nil {
			return used, err
		}
		if n == 0 && !c.reply.Silent {
			return used, nil
		}
		used += n
		c.answered(f, n)
	}
	if used < len(in) {
		return used, errUnasked
	}
	return used, nil
}

// answered counts the answer to the oldest request, n bytes long.
func (c *client) answered(f *flight, n int) {
	c.last = c.w.t
	if f.check && c.reply.Hits > 0 && !c.checker.Check(f.id, c.reply.Value) {
		c.reply.Status = load.Mismatch
	}
	c.reply.Row, c.reply.Sent, c.reply.Planned = f.row, f.sent, f.planned
	if c.feedback != nil {
		c.feedback.Done(&c.reply)
	}
	if f.sent >= c.w.from && !f.aside {
		c.w.rec.reply(f, &c.reply, c.w.t, n)
		if c.own != nil {
			c.count(f, n)
		}
	}
	c.head = (c.head + 1) & (len(c.q) - 1)
	c.n--
	if c.spanner != nil {
		c.ended()
	}
}

// ended counts the operations that the last answer ended.
func (c *client) ended() {
	var s load.Span
	for c.spanner.Ended(&s) {
		if m := c.marks[s.Number]; m.sent >= c.w.from {
			c.w.rec.span(&s, m, c.w.t)
		}
		s = load.Span{}
	}
}

// count keeps the client's own account of an answer, n bytes long.
func (c *client) count(f *flight, n int) {
	row := &c.own[c.reply.Row]
	second := int((c.w.t - c.w.from) / int64(time.Second))
	for len(row.Seconds) <= second {
		row.Seconds = append(row.Seconds, result.Second{})
	}
	one := result.Counts{
		Count: 1, Keys: uint64(f.keys), Hits: uint64(c.reply.Hits), Misses: uint64(c.reply.Misses), RX: uint64(n), TX: uint64(f.tx),
	}
	t := c.w.t - f.sent
	if c.reply.Again {
		one, t = result.Counts{RX: one.RX, TX: one.TX}, 0
	}
	one.Statuses[c.reply.Status] = 1
	row.Counts.Add(&one)
	row.Sum += t
	row.Seconds[second].Counts.Add(&one)
	row.Seconds[second].Sum += t
	if !c.reply.Again {
		row.Service.RecordValue(result.Clamp(t))
	}
}
