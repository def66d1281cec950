package mc

import (
	"bytes"
	"testing"

	"godwit/internal/auth"
	"godwit/internal/proto/mcbin"
)

// FuzzBin feeds any bytes to a connection, whole and in pieces, with and without SASL: the answers are the same, they
// are packets, and nothing is kept that should not be.
func FuzzBin(f *testing.F) {
	s := new(binScript)
	for _, lines := range []string{
		"set key=k value=v\nget key=k\ngetk key=k\nnoop",
		"setq key=k value=v\ngetq key=k\ndeleteq key=k\nquitq",
		"incr key=n delta=1 initial=5\ndecr key=n delta=9\nget key=n",
		"append key=k value=v\nprepend key=k value=v\ntouch key=k exptime=1\ngat key=k exptime=0\ngatkq key=k",
		"flush\nflush exptime=5\nversion\nstat\nstat key=detail\nquit",
		`sasl_list_mechs` + "\n" + `sasl_auth key=PLAIN value=\x00a\x00pa` + "\nget key=k",
		"sasl_auth key=PLAIN\n" + `sasl_step key=PLAIN value=\x00a\x00pa` + "\nset key=k value=v",
		"0x50 key=k value=v\nnoop",
		"set key=k value=x*20000\nget key=k",
		"set key=k value=v keylen=9\nnoop",
		"get key=k bodylen=0xffffffff",
		"set key=k bodylen=0x7fffffff",
		"set key=k value=v bodylen=100000",
	} {
		f.Add(s.encode(f, lines), uint16(5), false)
		f.Add(s.encode(f, lines), uint16(27), true)
	}
	users := []auth.User{{Name: "a", Pass: "pa"}}
	w := binWorker(f)
	f.Fuzz(func(t *testing.T, in []byte, cut uint16, sasl bool) {
		answer := func(size int, sink bool) (got []byte, closed bool, p *pipe) {
			w.Store.Flush()
			p = binPipe(w, nil)
			if sasl {
				p = binPipe(w, users)
			}
			p.sink = sink
			for rest := in; len(rest) > 0; {
				n := min(size, len(rest))
				p.write(rest[:n])
				rest = rest[n:]
			}
			p.p.Drop(w)
			return dropCAS(t, p.got), p.closed(), p
		}
		whole, closed, p := answer(len(in), false)
		if !closed && len(p.in) > mcbin.HeaderLen+binWaitFor+255+mcbin.MaxKey {
			t.Fatalf("%d bytes are kept waiting", len(p.in))
		}
		size := 1 + int(cut)%300
		pieces, closedToo, _ := answer(size, cut%2 == 0)
		if !bytes.Equal(whole, pieces) || closed != closedToo {
			t.Fatalf("whole:\n%q, closed %v\nin pieces of %d:\n%q, closed %v", whole, closed, size, pieces, closedToo)
		}
	})
}

// dropCAS checks that the answer is made of whole packets, and gives them without what differs from run to run: CAS ids and
// statistics.
func dropCAS(t *testing.T, answer []byte) (same []byte) {
	for rest := answer; len(rest) > 0; {
		_, n, ok := mcbin.ParsePacket(rest, mcbin.MagicResponse, 1<<31)
		if !ok || n == 0 {
			t.Fatalf("not a packet: %q", rest)
		}
		clear(rest[16:24])
		if mcbin.Op(rest[1]).Info().Op != mcbin.Stat {
			same = append(same, rest[:n]...)
		}
		rest = rest[n:]
	}
	return same
}
