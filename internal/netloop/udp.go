package netloop

import (
	"encoding/binary"
	"net"
	"net/netip"
	"time"
)

const (
	udpHeader  = 8                      // request id, sequence number, datagrams in the message, reserved: 16 bits each
	udpPacket  = 1400                   // bytes of a datagram at most
	udpPayload = udpPacket - udpHeader  // of an answer
	udpWait    = 500 * time.Millisecond // how long an answer may be parked
	udpReaders = 4                      // goroutines per socket at most
)

// udpConn answers the datagrams of a socket, one at a time. Each datagram is a connection of its own to the session: it
// is opened, fed once the whole datagram, and closed, so that nothing of one request can leak into the next, and text
// and binary clients can share the port.
//
// Amplification: whoever forges sender addresses can make the server send its answers to a victim. An answer is never
// longer than Config.UDPReply bytes, over all its datagrams; a longer one is not sent at all. That bounds the damage of
// one request but does not remove it, which is why UDP is off unless asked for.
type udpConn struct {
	base
	l    *stdLoop
	pc   *net.UDPConn
	ring chan struct{} // Wake
	out  outbox
	in   []byte // one datagram
	flat []byte // one message
	pkt  [udpPacket]byte
}

// Wake implements Conn.
func (c *udpConn) Wake() {
	select {
	case c.ring <- struct{}{}:
	default:
	}
}

func (s *Server) startUDP(k *sock) {
	for i := range min(len(s.std), udpReaders) {
		c := &udpConn{l: s.std[i], pc: k.pc, ring: make(chan struct{}, 1), in: make([]byte, 64<<10)}
		c.srv, c.sock, c.id, c.loop = s, k, k.id, s.std[i].id
		c.out.Framed = true
		s.wg.Go(c.serve)
	}
}

// serve reads datagrams until the socket is closed. Those that are no single-datagram request are dropped silently.
func (c *udpConn) serve() {
	for {
		n, from, err := c.pc.ReadFromUDPAddrPort(c.in)
		if err != nil {
			if c.srv.stopping.Load() {
				return
			}
			time.Sleep(time.Millisecond) // an error of an earlier answer, as a rule; never spin
			continue
		}
		if n <= udpHeader || binary.BigEndian.Uint16(c.in[4:]) != 1 {
			continue
		}
		c.peer = netip.AddrPortFrom(from.Addr().Unmap(), from.Port())
		c.answer(c.in[udpHeader:n], from)
	}
}

// answer runs the requests of one datagram.
func (c *udpConn) answer(in []byte, from netip.AddrPort) {
	c.touch()
	reason := ReasonNormal
	sent := 0 // bytes of answers to this datagram
	c.l.turn(func() { c.sess = c.srv.h.Open(c) })
	for going := true; going; {
		var v Verdict
		var used int
		c.l.turn(func() {
			n, short := c.fill(in)
			in = in[n:]
			if short {
				return // the rest of the value is missing: not a single-datagram request
			}
			used, v = c.sess.Feed(in, &c.out.Out)
			if v == More && used < len(in) && len(c.sess.Sink()) > 0 {
				v = Yield
			}
		})
		in = in[used:]
		if sent += c.out.Len(); v == Abort || sent > c.srv.cfg.UDPReply {
			c.srv.udpDrops.Add(1)
			reason = ReasonError
			break
		}
		c.send(from)
		switch v {
		case Yield, Stream:
		case Park:
			if going = c.parked(); !going {
				c.srv.udpDrops.Add(1)
			}
		case Shut, ShutGraceful:
			c.srv.ask(v)
			going = false
		case Close:
			if sent == 0 {
				c.frame(0, 0, nil, from)
			}
			going = false
		default:
			going = false
		}
	}
	c.out.clear()
	c.l.turn(func() { c.sess.Closed(reason) })
}

// parked waits for Wake, but not for long: other datagrams wait too.
func (c *udpConn) parked() bool {
	t := time.NewTimer(udpWait)
	defer t.Stop()
	select {
	case <-c.ring:
		return true
	case <-t.C:
	case <-c.srv.quit:
	}
	return false
}

// send sends each response object as a message with sequence numbers of its own. A lent piece at the very end of a
// message belongs to that message: no response starts with lent memory.
func (c *udpConn) send(to netip.AddrPort) {
	o := &c.out
	from, refs := 0, 0
	for i := 0; i <= len(o.Bounds); i++ {
		end := len(o.Buf) // what follows the last bound is a message too
		if i < len(o.Bounds) {
			end = o.Bounds[i]
		}
		c.flat = c.flat[:0]
		for refs < len(o.Refs) && o.Refs[refs].At <= end {
			r := &o.Refs[refs]
			c.flat = append(append(c.flat, o.Buf[from:r.At]...), r.Data...)
			from = r.At
			refs++
		}
		c.flat = append(c.flat, o.Buf[from:end]...)
		from = end
		c.message(to)
	}
	o.clear()
}

// message sends flat.
func (c *udpConn) message(to netip.AddrPort) {
	total := (len(c.flat) + udpPayload - 1) / udpPayload
	rest := c.flat
	for seq := range total {
		n := min(len(rest), udpPayload)
		c.frame(seq, total, rest[:n], to)
		rest = rest[n:]
	}
}

// frame sends one datagram. The request id is still in the request's header.
func (c *udpConn) frame(seq, total int, body []byte, to netip.AddrPort) {
	p := c.pkt[:udpHeader+copy(c.pkt[udpHeader:], body)]
	copy(p, c.in[:2])
	binary.BigEndian.PutUint16(p[2:], uint16(seq))
	binary.BigEndian.PutUint16(p[4:], uint16(total))
	binary.BigEndian.PutUint16(p[6:], 0)
	c.pc.WriteToUDPAddrPort(p, to) // lost is lost
}

var _, _ Conn = (*udpConn)(nil), (*stdConn)(nil)
