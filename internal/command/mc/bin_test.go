package mc

import (
	"bytes"
	"math/rand/v2"
	"strings"
	"testing"

	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// TestBinCounters has the counters that memcached 1.6.45 shows after the same packets.
func TestBinCounters(t *testing.T) {
	p := binPipe(binWorker(t), nil)
	w := p.w
	for _, c := range []struct {
		lines string
		want  string
	}{
		{"set key=k value=1", "cmd_set=1"},
		{"get key=k", "get_hits=1"},
		{"get key=m", "get_misses=1"},
		{"getq key=m", "get_misses=1"},
		{"gat key=k", "cmd_touch=1 touch_hits=1"},
		{"gat key=m", "cmd_touch=1 touch_misses=1"},
		{"touch key=k", "cmd_touch=1 touch_hits=1"},
		{"touch key=m", "cmd_touch=1 touch_misses=1"},
		{"add key=k value=1", "cmd_set=1"},
		{"replace key=m value=1", "cmd_set=1"},
		{"set key=m value=1 cas=5", "cmd_set=1 cas_misses=1"},
		{"set key=k value=1 cas=5", "cmd_set=1 cas_badval=1"},
		{"append key=k value=1", "cmd_set=1"},
		{"append key=m value=1", "cmd_set=1"},
		{"append key=m value=1 cas=3", "cmd_set=1"},
		{"append key=k value=1 cas=3", "cmd_set=1"},
		{"delete key=m", "delete_misses=1"},
		{"delete key=k cas=3", ""},
		{"delete key=k", "delete_hits=1"},
		{"incr key=n exptime=0xffffffff", "incr_misses=1"},
		{"decr key=n exptime=0xffffffff", "decr_misses=1"},
		{"incr key=n", ""},
		{"incr key=n", "incr_hits=1"},
		{"decr key=n", "decr_hits=1"},
		{"incr key=n cas=3", ""},
		{"flush", "cmd_flush=1"},
		{"flush exptime=5", "cmd_flush=1"},
		{"set key=k value=x*1100000", ""},
		{"set key=k value=x\nincr key=k", "cmd_set=1"},
		{strings.Repeat("noop\n", 20), ""},
		{strings.Repeat("noop\n", 25), "conn_yields=1"},
		{strings.Repeat("noop\n", 45), "conn_yields=2"},
	} {
		before := binCounters(w)
		p.write(new(binScript).encode(t, c.lines))
		got := ""
		for i, now := range binCounters(w) {
			if d := now.n - before[i].n; d != 0 {
				got += " " + now.name + "=" + string(bytesx.AppendUint(nil, d))
			}
		}
		if got = strings.TrimSpace(got); got != c.want {
			t.Errorf("%.40q: %s, want %s", c.lines, got, c.want)
		}
	}
}

type binCounter struct {
	name string
	n    uint64
}

func binCounters(w *Worker) []binCounter {
	c, classes := w.St.Snapshot()
	sum := classes[0]
	for _, k := range classes[1:] {
		sum.GetHits += k.GetHits
		sum.SetCmds += k.SetCmds
		sum.DeleteHits += k.DeleteHits
		sum.IncrHits += k.IncrHits
		sum.DecrHits += k.DecrHits
		sum.CasHits += k.CasHits
		sum.CasBadval += k.CasBadval
		sum.TouchHits += k.TouchHits
	}
	return []binCounter{
		{"cmd_set", sum.SetCmds}, {"cmd_flush", c.CmdFlush}, {"cmd_touch", c.CmdTouch},
		{"get_hits", sum.GetHits}, {"get_misses", c.GetMisses},
		{"delete_misses", c.DeleteMisses}, {"delete_hits", sum.DeleteHits},
		{"incr_misses", c.IncrMisses}, {"incr_hits", sum.IncrHits},
		{"decr_misses", c.DecrMisses}, {"decr_hits", sum.DecrHits},
		{"cas_misses", c.CasMisses}, {"cas_hits", sum.CasHits}, {"cas_badval", sum.CasBadval},
		{"touch_hits", sum.TouchHits}, {"touch_misses", c.TouchMisses},
		{"auth_cmds", c.AuthCmds}, {"auth_errors", c.AuthErrors}, {"conn_yields", c.ConnYields},
	}
}

func TestBinAuthCounters(t *testing.T) {
	p := binPipe(binWorker(t), []auth.User{{Name: "a", Pass: "pa"}})
	p.write(new(binScript).encode(t, `sasl_auth key=PLAIN value=\x00a\x00wrong
		sasl_auth key=PLAIN
		sasl_step key=PLAIN value=\x00a\x00pa
		sasl_list_mechs`))
	if c, _ := p.w.St.Snapshot(); c.AuthCmds != 2 || c.AuthErrors != 1 {
		t.Errorf("auth_cmds %d, auth_errors %d, want 2, 1", c.AuthCmds, c.AuthErrors)
	}
}

// TestBinNoAllocations: the hot path makes no garbage.
func TestBinNoAllocations(t *testing.T) {
	w := binWorker(t)
	var b Bin
	var out bytesx.Out
	key, value := []byte("some:key:1"), bytes.Repeat([]byte{'v'}, 100)
	out.Buf = make([]byte, 0, 1<<20)
	for name, in := range map[string][]byte{
		"set":       mcbin.AppendStore(nil, mcbin.Set, key, value, 1, 0, 1, 0),
		"setq":      mcbin.AppendStore(nil, mcbin.SetQ, key, value, 1, 100, 1, 0),
		"get":       mcbin.AppendGet(nil, mcbin.Get, key, 1),
		"getk":      mcbin.AppendGet(nil, mcbin.GetK, key, 1),
		"getq miss": mcbin.AppendGet(nil, mcbin.GetQ, []byte("none"), 1),
		"get miss":  mcbin.AppendGet(nil, mcbin.Get, []byte("none"), 1),
		"gat":       mcbin.AppendTouch(nil, mcbin.GAT, key, 100, 1),
		"delete":    mcbin.AppendGet(nil, mcbin.Delete, []byte("none"), 1),
		"incr":      mcbin.AppendDelta(nil, mcbin.Incr, []byte("n"), 1, 1, 0, 1, 0),
		"noop":      mcbin.AppendRequest(nil, mcbin.Noop, nil, nil, nil, 1, 0),
	} {
		n := testing.AllocsPerRun(200, func() {
			out.Reset()
			if used, v := b.Feed(w, in, &out); used != len(in) || v != More {
				t.Fatalf("%s: used %d of %d, verdict %d", name, used, len(in), v)
			}
		})
		if n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

// TestBinShare: a connection yields after its share of requests, and goes on where it was.
func TestBinShare(t *testing.T) {
	w := binWorker(t, "-R", "3")
	var b Bin
	var out bytesx.Out
	one := mcbin.AppendRequest(nil, mcbin.Noop, nil, nil, nil, 0, 0)
	in := bytes.Repeat(one, 7)
	for _, want := range []struct {
		requests int
		v        Verdict
	}{{3, Yield}, {3, Yield}, {1, More}} {
		used, v := b.Feed(w, in, &out)
		if used != want.requests*len(one) || v != want.v {
			t.Fatalf("used %d, verdict %d; want %d, %d", used, v, want.requests*len(one), want.v)
		}
		in = in[used:]
	}
	if got := len(out.Buf); got != 7*mcbin.HeaderLen {
		t.Errorf("%d bytes of answers", got)
	}
}

// TestBinUpload: a large value goes through Sink in steps, and is there when the last byte is.
func TestBinUpload(t *testing.T) {
	w := binWorker(t)
	var b Bin
	var out bytesx.Out
	value := make([]byte, 900_000)
	for i := range value {
		value[i] = byte(i * 7 >> 3)
	}
	in := mcbin.AppendStore(nil, mcbin.Set, []byte("k"), value, 5, 0, 9, 0)
	used, v := b.Feed(w, in[:100], &out)
	if used != 100 || v != More || b.Idle() {
		t.Fatalf("used %d, verdict %d, idle %v", used, v, b.Idle())
	}
	rest := in[100:]
	for len(rest) > 0 {
		sink := b.Sink()
		if len(sink) == 0 || len(sink) > chargeStep {
			t.Fatalf("%d bytes are missing, the sink has %d", len(rest), len(sink))
		}
		n := copy(sink, rest)
		rest = rest[n:]
		b.Sunk(w, n)
	}
	if b.Sink() != nil && len(b.Sink()) != 0 {
		t.Error("the sink is not full")
	}
	next := mcbin.AppendGet(nil, mcbin.Get, []byte("k"), 1)
	if used, v := b.Feed(w, next, &out); used != len(next) || v != More || !b.Idle() {
		t.Fatalf("used %d, verdict %d, idle %v", used, v, b.Idle())
	}
	want := mcbin.Reply{Op: mcbin.Set, Opaque: 9}.AppendEmpty(nil, 0)
	got := flatten(&out)
	if !bytes.Equal(got[:16], want[:16]) || !bytes.Equal(got[mcbin.HeaderLen+mcbin.HeaderLen+4:], value) {
		t.Error("the answer or the value is wrong")
	}
	out.Reset()
}

// TestBinDrop: a connection that goes away in the middle of an upload leaves nothing behind.
func TestBinDrop(t *testing.T) {
	w := binWorker(t)
	in := mcbin.AppendStore(nil, mcbin.Set, []byte("k"), make([]byte, 900_000), 0, 0, 0, 0)
	before := w.Store.Stats().RegionBytes
	for range 1000 {
		var b Bin
		var out bytesx.Out
		b.Feed(w, in[:500_000], &out)
		b.Drop(w)
		b.Drop(w)
		if !b.Idle() || b.Sink() != nil {
			t.Fatal("something is left")
		}
	}
	if after := w.Store.Stats().RegionBytes; after != before {
		t.Errorf("regions grew from %d to %d bytes", before, after)
	}
}

// TestBinLengths sends headers with every kind of length that does not fit, for every opcode. Whatever comes, the
// answer is an error or nothing, a following NOOP is answered exactly if the connection stays, and no body is believed
// to be there that is not.
func TestBinLengths(t *testing.T) {
	w := binWorker(t)
	keys := []uint16{0, 1, 4, 250, 251, 32767, 32768, 65535}
	bodies := []uint32{0, 1, 3, 8, 20, 23, 24, 250, 255, 65535, 65790, 1 << 20, 1<<30 - 1, 1 << 30, 1<<30 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	tail := bytes.Repeat([]byte("abcd"), 6)
	for op := range 256 {
		for ext := range 256 {
			if ext > 24 && ext < 254 && (op+ext)%16 != 0 {
				continue // each opcode meets every sixteenth of these
			}
			for _, key := range keys {
				for _, body := range bodies {
					p := binPipe(w, nil)
					h := mcbin.Header{Magic: mcbin.MagicRequest, Op: mcbin.Op(op), ExtLen: uint8(ext), KeyLen: key, BodyLen: body, Opaque: 7}
					p.write(append(mcbin.AppendHeader(nil, &h), tail...))
					if len(p.in) > mcbin.HeaderLen+binWaitFor {
						t.Fatalf("%+v: %d bytes are waiting", h, len(p.in))
					}
					first, n, ok := mcbin.ParsePacket(p.got, mcbin.MagicResponse, 1<<20)
					if n > 0 && (!ok || first.Op != h.Op || first.Opaque != 7) {
						t.Fatalf("%+v: answer %+v", h, first)
					}
					if wrong := h.ValueLen() < 0 || body > mcbin.MaxBody || key > mcbin.MaxKey; wrong {
						if !p.closed() || n == 0 || first.Status != mcbin.Invalid && first.Status != mcbin.UnknownCommand {
							t.Fatalf("%+v: answer %+v, closed %v", h, first, p.closed())
						}
					}
					p.p.Drop(w)
				}
			}
		}
	}
}

// TestBinTruncated cuts a conversation at every byte: what was complete is answered, what follows later as well.
func TestBinTruncated(t *testing.T) {
	lines := "set key=a flags=1 value=12\nget key=a\nincr key=a delta=1\ngetkq key=none\n0x50 value=junk\nappend key=a value=3\ntouch key=a exptime=9\nflush\nnoop"
	in := new(binScript).encode(t, lines)
	w := binWorker(t)
	run := func(parts ...[]byte) []byte {
		w.Store.Flush()
		p := binPipe(w, nil)
		for _, part := range parts {
			p.write(part)
		}
		return dropCAS(t, p.got)
	}
	want := run(in)
	for cut := range in {
		if got := run(in[:cut], in[cut:]); !bytes.Equal(got, want) {
			t.Fatalf("cut at %d: %q, want %q", cut, got, want)
		}
	}
}

// TestBinModel runs random storage packets against a plain map.
func TestBinModel(t *testing.T) {
	rnd := rand.New(rand.NewPCG(3, 4))
	p := binPipe(binWorker(t, "-m", "256"), nil)
	model := map[string][]byte{}
	for range 20_000 {
		key := []byte{'k', byte('a' + rnd.IntN(20))}
		old, there := model[string(key)]
		value := bytes.Repeat([]byte{byte(rnd.IntN(256))}, rnd.IntN(40)*rnd.IntN(200))
		op := []mcbin.Op{mcbin.Set, mcbin.Add, mcbin.Replace, mcbin.Append, mcbin.Prepend, mcbin.Delete, mcbin.Get}[rnd.IntN(7)]
		var in []byte
		switch op {
		case mcbin.Get, mcbin.Delete:
			in = mcbin.AppendGet(nil, op, key, 0)
		case mcbin.Append, mcbin.Prepend:
			in = mcbin.AppendRequest(nil, op, nil, key, value, 0, 0)
		default:
			in = mcbin.AppendStore(nil, op, key, value, 0, 0, 0, 0)
		}
		p.got = nil
		for len(in) > 0 {
			n := 1 + rnd.IntN(len(in))
			p.write(in[:n])
			in = in[n:]
		}
		got, _, _ := mcbin.ParsePacket(p.got, mcbin.MagicResponse, 1<<20)
		ok := there
		switch op {
		case mcbin.Set:
			ok = true
		case mcbin.Add:
			ok = !there
		case mcbin.Append:
			value = append(bytes.Clone(old), value...)
		case mcbin.Prepend:
			value = append(value, old...)
		}
		if (got.Status == mcbin.OK) != ok {
			t.Fatalf("%s %s: status %#x, there %v", op, key, got.Status, there)
		}
		switch {
		case op == mcbin.Get && ok && !bytes.Equal(got.Value, old):
			t.Fatalf("get %s: %d bytes, want %d", key, len(got.Value), len(old))
		case op == mcbin.Delete:
			delete(model, string(key))
		case op != mcbin.Get && ok:
			if len(value) > 200_000 {
				value = nil
				delete(model, string(key))
				p.write(mcbin.AppendGet(nil, mcbin.Delete, key, 0))
				continue
			}
			model[string(key)] = value
		}
	}
}

// TestBinManyGets: one value lent 70000 times over in one answer, which a counter of 16 bits would not survive.
func TestBinManyGets(t *testing.T) {
	const times = 70_000
	w := binWorker(t, "-R", "1000000")
	var b Bin
	var out bytesx.Out
	value := bytes.Repeat([]byte("large"), 4000)
	b.Feed(w, mcbin.AppendStore(nil, mcbin.SetQ, []byte("k"), value, 0, 0, 0, 0), &out)
	var in []byte
	for range times {
		in = mcbin.AppendGet(in, mcbin.GetKQ, []byte("k"), 0)
	}
	in = mcbin.AppendStore(in, mcbin.SetQ, []byte("k"), []byte("small"), 0, 0, 0, 0)
	in = mcbin.AppendGet(in, mcbin.Get, []byte("k"), 0)
	if used, v := b.Feed(w, in, &out); used != len(in) || v != More {
		t.Fatalf("used %d of %d, verdict %d", used, len(in), v)
	}
	if len(out.Refs) != times {
		t.Fatalf("%d values were lent", len(out.Refs))
	}
	for i, r := range out.Refs {
		if !bytes.Equal(r.Data, value) {
			t.Fatalf("value %d changed after it was lent", i)
		}
	}
	if !bytes.HasSuffix(out.Buf, []byte("small")) {
		t.Error("the new value is not in the last answer")
	}
	out.Reset()
}

// TestBinMessages: in a datagram each response is a message of its own, and silence is none.
func TestBinMessages(t *testing.T) {
	w := binWorker(t)
	var b Bin
	out := bytesx.Out{Framed: true}
	in := new(binScript).encode(t, `set key=a value=1
		setq key=b value=2
		getkq key=none
		getkq key=b
		incr key=a delta=1
		touch key=a
		version
		0x50
		delete key=none
		sasl_list_mechs
		noop
		quit`)
	b.Feed(w, in, &out)
	if len(out.Bounds) != 10 || out.Bounds[len(out.Bounds)-1] != len(out.Buf) {
		t.Fatalf("bounds %v of %d bytes", out.Bounds, len(out.Buf))
	}
	at := 0
	for _, end := range out.Bounds {
		if _, n, ok := mcbin.ParsePacket(out.Buf[at:], mcbin.MagicResponse, 1<<20); !ok || n != end-at {
			t.Errorf("the message from %d to %d is not one packet", at, end)
		}
		at = end
	}
}

// TestBinHugeAnnounced: a body that is announced but never sent costs little, and is given back.
func TestBinHugeAnnounced(t *testing.T) {
	w := binWorker(t, "-m", "1024", "-I", "200m")
	before := w.Store.Stats().RegionBytes
	var conns [5]Bin
	var out bytesx.Out
	h := mcbin.Header{Magic: mcbin.MagicRequest, Op: mcbin.Set, ExtLen: 8, KeyLen: 1, BodyLen: 180 << 20}
	in := append(mcbin.AppendHeader(nil, &h), "\x00\x00\x00\x00\x00\x00\x00\x00kbytes"...)
	for i := range conns {
		if used, v := conns[i].Feed(w, in, &out); used != len(in) || v != More {
			t.Fatalf("used %d, verdict %d", used, v)
		}
	}
	if cost := (w.Store.Stats().RegionBytes - before) / uint64(len(conns)); cost > 1<<20 {
		t.Errorf("each connection costs %d bytes", cost)
	}
	for i := range conns {
		conns[i].Drop(w)
	}
	if after := w.Store.Stats().RegionBytes; after != before {
		t.Errorf("regions grew from %d to %d bytes", before, after)
	}
	if !out.Empty() {
		t.Errorf("answer %q", out.Buf)
	}
}

// TestBinStats: every group comes as packets with a name, and one without at the end.
func TestBinStats(t *testing.T) {
	p := binPipe(binWorker(t), nil)
	for _, group := range []string{"", "settings", "items", "slabs"} {
		p.got = nil
		p.write(mcbin.AppendStore(nil, mcbin.SetQ, []byte("k"), []byte("v"), 0, 0, 0, 0))
		p.write(mcbin.AppendGet(nil, mcbin.Stat, []byte(group), 0xabcd))
		rows := 0
		for rest := p.got; len(rest) > 0; rows++ {
			r, n, ok := mcbin.ParsePacket(rest, mcbin.MagicResponse, 1<<20)
			if !ok || n == 0 || r.Op != mcbin.Stat || r.Opaque != 0xabcd || r.Status != mcbin.OK {
				t.Fatalf("%q: answer %+v", group, r)
			}
			rest = rest[n:]
			if last := len(rest) == 0; last != (len(r.Key) == 0) || last && len(r.Value) > 0 {
				t.Fatalf("%q: %s=%s, last %v", group, r.Key, r.Value, last)
			}
		}
		if rows < 10 {
			t.Errorf("%q: %d rows", group, rows)
		}
	}
}
