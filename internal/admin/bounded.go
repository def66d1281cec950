package admin

import (
	"net"
	"sync"
)

// bounded is a listener with a limit on open connections: those above it are closed at once, so that they cannot use up
// the descriptors that cache clients need.
type bounded struct {
	net.Listener
	slots chan struct{}
}

func (b *bounded) Accept() (net.Conn, error) {
	for {
		c, err := b.Listener.Accept()
		if err != nil {
			return nil, err
		}
		select {
		case b.slots <- struct{}{}:
			return &slotConn{Conn: c, slots: b.slots}, nil
		default:
			c.Close()
		}
	}
}

type slotConn struct {
	net.Conn
	slots chan struct{}
	once  sync.Once
}

func (c *slotConn) Close() error {
	c.once.Do(func() { <-c.slots })
	return c.Conn.Close()
}
