package session

import (
	"bytes"
	"testing"

	"godwit/internal/netloop"
)

// FuzzSession feeds the same bytes, text or binary, to two servers: at once and in pieces, with large values through the
// sink. Nothing panics, and what is kept of the input stays small. (That the answers are the same is FuzzText's and
// FuzzBin's business.)
func FuzzSession(f *testing.F) {
	for _, s := range []string{
		"mn\r\nget a\r\n", "set a 0 0 1\r\nx\r\nget a\r\n", "set a 0 0 70000\r\nxxxx", "ms a 100000 k c\r\nxxxxxxxxxx",
		"\x80\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00a",
		"\x80\x01\x00\x01\x08\x00\x00\x00\x00\x02\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00axx",
		"stats\r\nstats items\r\nstats slabs\r\nstats settings\r\nlru_crawler metadump all\r\nwatch\r\n",
	} {
		f.Add([]byte(s), uint16(3), false)
	}
	servers := newFleet(f, 2)
	guarded := newFleet(f, 2, "-Y", "testdata/users")
	f.Fuzz(func(t *testing.T, data []byte, step uint16, guard bool) {
		const most = 96 << 10
		if len(data) > 1<<15 || bytes.Contains(data, []byte("cache_memlimit")) {
			return
		}
		fl := servers
		if guard {
			fl = guarded
		}
		for i, m := range fl.members {
			p := newPipe(m.w, m.cfg, 30)
			p.sink = i == 1
			n := len(data)
			if i == 1 {
				n = int(step)%97 + 1
			}
			for rest := data; len(rest) > 0; rest = rest[min(n, len(rest)):] {
				p.write(rest[:min(n, len(rest))])
			}
			if p.open() {
				p.s.Closed(netloop.ReasonError)
			}
			if p.maxIn > most {
				t.Errorf("%d bytes were kept", p.maxIn)
			}
		}
	})
}
