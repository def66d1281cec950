//go:build !386

package netloop

import "syscall"

const maxIovecs = 128

// sender moves scattered memory to and from sockets without blocking. One loop owns it.
type sender struct {
	hdr syscall.Msghdr
	iov [maxIovecs]iovec
}

// send writes as much as the socket takes: done says that it was everything. Otherwise o has advanced by what was sent.
func (t *sender) send(fd int, o *outbox) (done bool, e syscall.Errno) {
	for {
		var n, total int
		if len(o.Refs) == 0 {
			total = len(o.Buf) - o.b
			n, e = rawSend(fd, o.Buf[o.b:])
		} else {
			k := 0
			o.pieces(func(p []byte) bool {
				setIovec(&t.iov[k], p)
				total += len(p)
				k++
				return k < maxIovecs
			})
			t.hdr.Iov = &t.iov[0]
			setLen(&t.hdr.Iovlen, k)
			n, e = rawSendmsg(fd, &t.hdr)
			clear(t.iov[:k])
		}
		if e != 0 {
			if e == syscall.EAGAIN {
				return false, 0
			}
			if e == syscall.EINTR {
				continue
			}
			return false, e
		}
		if n < total {
			o.advance(n)
			return false, 0
		}
		if total == o.rest() {
			return true, 0
		}
		o.advance(n)
	}
}

// recv2 receives into a and what does not fit there into b.
func (t *sender) recv2(fd int, a, b []byte) (int, syscall.Errno) {
	setIovec(&t.iov[0], a)
	setIovec(&t.iov[1], b)
	t.hdr.Iov = &t.iov[0]
	setLen(&t.hdr.Iovlen, 2)
	n, e := rawRecvmsg(fd, &t.hdr)
	clear(t.iov[:2])
	return n, e
}
