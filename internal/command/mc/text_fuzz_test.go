package mc

import (
	"bytes"
	"testing"

	"godwit/internal/proto/mctext"
)

// textSeeds are requests of every kind; the fuzzer mixes them.
var textSeeds = []string{
	"get a\r\nget a b c\r\ngets a\r\nget \r\n get a\r\n",
	"set a 0 0 1\r\nx\r\nset a 1 100 3 noreply\r\nabc\r\nset  a 0 0 1\r\nx\r\n",
	"set a 0 0 1\r\nxyz\r\nset a 4294967296 -1 2\r\nxx\r\nset a 0 0 -1\r\n",
	"set a 999999999 999999999 1\r\nx\r\nset a 1 1 1 \r\nx\r\nset a 1 1 1 noreplyx\r\nx\r\n",
	"add a 0 0 1\r\nx\r\nreplace a 0 0 1\r\n1\r\nappend a 0 0 1\r\n2\r\nprepend a 0 0 1\r\n3\r\ncas a 0 0 1 5\r\n9\r\n",
	"incr a 1\r\ndecr a 5\r\nincr a x\r\ntouch a 5\r\ngat 5 a b\r\ngats 5 a\r\ndelete a noreply\r\n",
	"ms a 1 T5 F3 c k O1 q\r\n5\r\nmg a s t c f h l k v O1\r\nma a N5 J3 D2 t v c\r\nmd a I T3\r\nmg a v\r\nme a\r\nmn\r\n",
	"ms Zm9v 3 b MA N5 I C3\r\nabc\r\nmg Zm9v b k v R30 N5\r\nmd Zm9v b x q\r\nmg {\r\nms a S2\r\n",
	"flush_all\r\nflush_all 5\r\nverbosity 1\r\nversion\r\nfoo HTTP/1.0\r\n",
	"set big 0 0 70000\r\n0123456789",
	"set big 0 0 2000000\r\n0123456789",
	"quit\r\n",
}

// FuzzText feeds the same bytes to three servers: at once, at once without the quick ways, and in pieces. The answers must
// be the same. What is kept of the input stays small.
func FuzzText(f *testing.F) {
	for _, s := range textSeeds {
		f.Add([]byte(s), uint16(3))
	}
	var servers []*Worker
	for range 3 {
		servers = append(servers, binWorker(f))
	}
	f.Fuzz(func(t *testing.T, data []byte, step uint16) {
		if len(data) > 1<<15 || unsplittable(data) {
			return
		}
		var got []*pipe
		for i, w := range servers {
			w.Store.Flush()
			w.Set.ReqsPerEvent = 20
			p := textPipe(w)
			switch i {
			case 1:
				p.p.(*Text).slow = true
				fallthrough
			case 0:
				p.write(data)
			case 2:
				for rest, n := data, int(step)%97+1; len(rest) > 0; rest = rest[min(n, len(rest)):] {
					p.write(rest[:min(n, len(rest))])
				}
			}
			p.p.Drop(w)
			if p.kept > waitFor+mctext.MaxLine+mctext.MaxKey {
				t.Errorf("%d bytes were kept", p.kept)
			}
			got = append(got, p)
		}
		for i, p := range got[1:] {
			if p.last != got[0].last || p.last != Abort && !bytes.Equal(p.got, got[0].got) {
				t.Errorf("server %d: verdict %d, answer %q\nbut at once: verdict %d, answer %q", i+1, p.last, p.got, got[0].last, got[0].got)
			}
		}
	})
}

// unsplittable says whether data has something whose answer may depend on how it is cut: lines too long to wait for,
// what must not stand behind other requests, what tells the time of day, and other limits.
func unsplittable(data []byte) bool {
	for rest := data; len(rest) > 0; {
		line, after, _ := bytes.Cut(rest, []byte("\n"))
		if len(line) > mctext.MaxLine-2 {
			return true
		}
		rest = after
	}
	for _, word := range []string{"stats", "watch", "lru_crawler", "cache_memlimit", "refresh_certs"} {
		if bytes.Contains(data, []byte(word)) {
			return true
		}
	}
	return false
}
