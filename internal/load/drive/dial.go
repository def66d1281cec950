package drive

import (
	"context"
	"crypto/tls"
	"math"
	"net"
	"time"

	"godwit/internal/netloop"
)

// connectTimeout is how long connecting may take when the plan does not say.
const connectTimeout = 10 * time.Second

// dial connects the client after a delay, on a goroutine of its own.
func (c *client) dial(after time.Duration) {
	r := c.r
	r.dialers.Go(func() {
		for after > 0 && r.ctx.Err() == nil && !c.finished() {
			d := after
			if c.patient != nil {
				d = min(d, 100*time.Millisecond)
			}
			after -= d
			t := time.NewTimer(d)
			select {
			case <-t.C:
			case <-r.ctx.Done():
			}
			t.Stop()
		}
		select {
		case r.sem <- struct{}{}:
			defer func() { <-r.sem }()
		case <-r.ctx.Done():
		}
		if r.ctx.Err() != nil || c.finished() {
			c.end()
			return
		}
		first := r.started.Load() == 0 || c.tries == 0 && !c.here
		nc, err := c.connect()
		if err == nil {
			t := c.plan.Target
			l := &netloop.Listener{Addr: t.Address, Tag: c}
			if t.Network == "unix" {
				l.Transport = netloop.Unix
			}
			if err = r.srv.Adopt(c.w.id, nc, l); err == nil && !first {
				r.col.reconnected()
			}
		}
		switch {
		case err == nil:
		case r.ctx.Err() != nil:
			c.end()
		default:
			c.broken(err.Error())
		}
	})
}

func (c *client) connect() (net.Conn, error) {
	t := c.plan.Target
	timeout := c.r.plan.Retry.Timeout
	if timeout == 0 {
		timeout = connectTimeout
	}
	ctx, cancel := context.WithTimeout(c.r.ctx, timeout)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, t.Network, t.Address)
	if err != nil || t.TLS == nil {
		return nc, err
	}
	tc := tls.Client(nc, t.TLS)
	if err := tc.HandshakeContext(ctx); err != nil {
		nc.Close()
		return nil, err
	}
	return tc, nil
}

// finished says that others did the rest of the work that it shares. From any goroutine.
func (c *client) finished() bool { return c.patient != nil && !c.patient.Waiting() }

// broken follows the loss of a connection, or a failure to make one.
func (c *client) broken(why string) {
	c.r.col.connError(why)
	retry := &c.r.plan.Retry
	c.tries++
	if !retry.On || c.finished() || c.r.over.Load() || retry.Most > 0 && c.tries > retry.Most {
		c.end()
		return
	}
	c.arrive() // the start waits no longer
	if c.patient != nil {
		c.patient.Down(false)
	}
	d := retry.Delay
	if d == 0 {
		d = time.Second
	}
	if retry.Factor > 1 {
		d = time.Duration(min(float64(d)*math.Pow(retry.Factor, float64(c.tries-1)), float64(time.Minute)))
	}
	c.dial(d)
}
