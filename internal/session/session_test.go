package session

import (
	"bytes"
	"fmt"
	"strings"
	"testing"

	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/netloop"
)

// TestSniff: the first byte decides once, unless the listener does.
func TestSniff(t *testing.T) {
	noop := "\x80\x0a" + strings.Repeat("\x00", 22)
	noopAnswer := "\x81\x0a" + strings.Repeat("\x00", 22)
	strange := "\x80\x0b" + strings.Repeat("\x00", 22) + "\n" // a text line
	const ok = netloop.More
	for _, c := range []struct {
		name, args, in, want string
		end                  netloop.Verdict
	}{
		{"text", "", "mn\r\n" + strange, "MN\r\nERROR\r\n", ok},
		{"binary", "", noop + noop, noopAnswer + noopAnswer, ok},
		{"binary for life", "", noop + "version\r\n" + strings.Repeat("x", 30), noopAnswer, netloop.Abort},
		{"text only", "-B ascii", strange, "ERROR\r\n", ok},
		{"binary only", "-B binary", "version\r\n" + strings.Repeat("x", 30), "", netloop.Abort},
		{"password", "-Y testdata/users", strange, "CLIENT_ERROR unauthenticated\r\n", ok},
	} {
		w, cfg := newWorker(t, strings.Fields(c.args)...)
		p := newPipe(w, cfg, 30)
		p.write([]byte(c.in))
		closed := p.verdict == netloop.Abort || p.verdict == netloop.Close
		if string(p.got) != c.want || closed != (c.end != ok) {
			t.Errorf("%s: %q, verdict %d", c.name, p.got, p.verdict)
		}
	}
	w, cfg := newWorker(t)
	cfg.SASL = new(auth.Table)
	cfg.SASL.Set([]auth.User{{Name: "a", Pass: "b"}})
	p := newPipe(w, cfg, 30)
	p.write([]byte(noop))
	if p.verdict != netloop.Close || !bytes.Contains(p.got, []byte("Auth failure.")) {
		t.Errorf("SASL: %q, verdict %d", p.got, p.verdict)
	}
}

// TestYield: a connection gets -R requests at a time.
func TestYield(t *testing.T) {
	for _, c := range []struct{ share, requests, yields int }{
		{1, 10, 9}, {20, 20, 0}, {20, 21, 1}, {20, 100, 4},
	} {
		w, cfg := newWorker(t, "-R", fmt.Sprint(c.share))
		p := newPipe(w, cfg, 30)
		p.write(bytes.Repeat([]byte("mn\r\n"), c.requests))
		if p.yields != c.yields || len(p.got) != c.requests*len("MN\r\n") {
			t.Errorf("%+v: %d yields, %q", c, p.yields, p.got)
		}
		if n, _ := w.St.Snapshot(); int(n.ConnYields) != c.yields {
			t.Errorf("%+v: counted %d", c, n.ConnYields)
		}
	}
}

// TestMessages: over datagrams each object of an answer is a message, END goes with the last value, and what is not
// answered is no message.
func TestMessages(t *testing.T) {
	w, cfg := newWorker(t)
	for _, c := range []struct {
		in   string
		want []string
	}{
		{"set a 0 0 1\r\nx\r\nset b 0 0 1\r\ny\r\n", []string{"STORED\r\n", "STORED\r\n"}},
		{"get a\r\n", []string{"VALUE a 0 1\r\nx\r\nEND\r\n"}},
		{"get a zz b\r\n", []string{"VALUE a 0 1\r\nx\r\n", "VALUE b 0 1\r\ny\r\nEND\r\n"}},
		{"gats 0 zz\r\n", []string{"END\r\n"}},
		{"gat 0 a a\r\nmn\r\n", []string{"VALUE a 0 1\r\nx\r\n", "VALUE a 0 1\r\nx\r\nEND\r\n", "MN\r\n"}},
		{"get a b " + strings.Repeat("k", 251) + "\r\n", []string{"CLIENT_ERROR bad command line format\r\n\r\n"}},
		{"set a 0 0 1 noreply\r\nx\r\nmg zz q\r\nmg a v\r\n", []string{"VA 1\r\nx\r\n"}},
		{"delete zz noreply\r\n", nil},
		{"foo\r\nquit\r\n", []string{"ERROR\r\n"}},
	} {
		out := bytesx.Out{Framed: true}
		s := New(w, cfg, fakeConn{1})
		s.Feed([]byte(c.in), &out)
		s.Closed(netloop.ReasonNormal)
		var got []string
		from := 0
		for _, to := range out.Bounds {
			got = append(got, string(out.Buf[from:to]))
			from = to
		}
		if from < len(out.Buf) {
			t.Errorf("%q: not in a message: %q", c.in, out.Buf[from:])
		}
		if fmt.Sprint(got) != fmt.Sprint(c.want) {
			t.Errorf("%q: %q", c.in, got)
		}
		out.Reset()
	}
}

// TestUploads: a connection that ends in the middle of a value leaves nothing behind; Idle is false meanwhile.
func TestUploads(t *testing.T) {
	w, cfg := newWorker(t, "-m", "8")
	for i := range 200 {
		p := newPipe(w, cfg, 30+i)
		p.write([]byte("set k 0 0 600000\r\n" + strings.Repeat("x", 500_000)))
		if p.s.Idle() || len(p.in) > 0 {
			t.Fatalf("%d: idle in an upload, %d bytes kept", i, len(p.in))
		}
		p.s.Closed(netloop.ReasonError)
		if !p.s.Idle() {
			t.Fatal("not idle after it was closed")
		}
	}
	p := newPipe(w, cfg, 30)
	p.write([]byte("set k 0 0 600000\r\n" + strings.Repeat("y", 600_000) + "\r\nget k\r\n"))
	if !bytes.HasPrefix(p.got, []byte("STORED\r\nVALUE k 0 600000\r\nyyy")) {
		t.Errorf("afterwards: %.60q", p.got)
	}
	p = newPipe(w, cfg, 30)
	p.write([]byte("set k 0 0 60"))
	if !p.s.Idle() {
		t.Error("half a line is no request yet")
	}
}

// TestFullStore: -M answers errors, takes away what was to be replaced, and goes on.
func TestFullStore(t *testing.T) {
	w, cfg := newWorker(t, "-M", "-m", "2")
	p := newPipe(w, cfg, 30)
	value := strings.Repeat("v", 20_000)
	full := false
	for i := range 400 {
		p.got = nil
		p.write(fmt.Appendf(nil, "add k%d 0 0 %d\r\n%s\r\n", i, len(value), value))
		if full = string(p.got) == "SERVER_ERROR out of memory storing object\r\n"; full {
			break
		}
		if string(p.got) != "STORED\r\n" {
			t.Fatalf("%q", p.got)
		}
	}
	if !full {
		t.Fatal("2 MB took 8 MB")
	}
	for _, c := range []struct{ in, want string }{
		{"append k0 0 0 5000\r\n" + value[:5000] + "\r\n", "NOT_STORED\r\n"},
		{"ms k0 5000 MA k\r\n" + value[:5000] + "\r\n", "NS kk0\r\n"},
		{"add k0 0 0 20000 noreply\r\n" + value + "\r\n", ""},
		{"mg k0 s\r\n", "HD s20000\r\n"},
		{"set k0 0 0 60000\r\n" + strings.Repeat("w", 60_000) + "\r\nget k0\r\n", "SERVER_ERROR out of memory storing object\r\nEND\r\n"},
		{"mg k1 s\r\nms k1 60000 ME q O5\r\n" + strings.Repeat("w", 60_000) + "\r\nmg k1 s\r\n", "HD s20000\r\nSERVER_ERROR out of memory storing object\r\nEN\r\n"},
	} {
		p.got = nil
		p.write([]byte(c.in))
		if string(p.got) != c.want {
			t.Errorf("%.40q: %.200q, want %q", c.in, p.got, c.want)
		}
	}
}

// TestIdleKick: a connection that was closed for being idle is counted.
func TestIdleKick(t *testing.T) {
	w, cfg := newWorker(t)
	New(w, cfg, fakeConn{1}).Closed(netloop.ReasonIdle)
	newPipe(w, cfg, 2).s.Closed(netloop.ReasonNormal)
	if c, _ := w.St.Snapshot(); c.IdleKicks != 1 {
		t.Errorf("%d idle kicks", c.IdleKicks)
	}
}
