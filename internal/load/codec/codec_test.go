package codec

import (
	"bytes"
	"encoding/hex"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"

	"godwit/internal/load"
	"godwit/internal/proto/mcbin"
	"godwit/internal/proto/resp"
)

var kinds = map[string]load.Kind{
	"get": load.Get, "mget": load.MGet, "set": load.Set, "touch": load.Touch, "incr": load.Incr, "decr": load.Decr,
	"delete": load.Delete, "command": load.Command,
}

var statuses = [...]string{
	load.OK: "ok", load.NotStored: "not stored", load.Mismatch: "mismatch", load.Failed: "failed", load.Moved: "moved", load.Ask: "ask",
}

// parseOp reads "get quiet key=k", as the data files have requests.
func parseOp(t testing.TB, line string) (op load.Op) {
	for i, w := range strings.Fields(line) {
		name, arg, _ := strings.Cut(w, "=")
		number := func() uint64 {
			n, err := strconv.ParseUint(arg, 10, 64)
			if err != nil {
				t.Fatal(line, err)
			}
			return n
		}
		switch {
		case i == 0:
			k, ok := kinds[name]
			if !ok {
				t.Fatalf("%q is no kind", name)
			}
			op.Kind = k
		case name == "quiet":
			op.Quiet = true
		case name == "key":
			op.Key = []byte(arg)
		case name == "keys":
			op.Keys = bytes.Split([]byte(arg), []byte(","))
		case name == "args":
			op.Args = bytes.Split([]byte(arg), []byte(","))
		case name == "value":
			op.Value = []byte(arg)
		case name == "words":
			op.Words = []byte(strings.ReplaceAll(arg, ",", " "))
		case name == "flags":
			op.Flags = uint32(number())
		case name == "expiry":
			op.Expiry = uint32(number())
		case name == "delta":
			op.Delta = number()
		case name == "offset":
			op.Offset = int(number())
		default:
			t.Fatalf("%q is no word of a request", w)
		}
	}
	return op
}

// wire makes bytes of lines: each ends with CRLF, unless it ends with a backslash; escapes are those of Go. Lines of the
// binary protocol are in hex.
func wire(t testing.TB, lines string, binary bool) (out []byte) {
	for l := range strings.Lines(lines) {
		l = strings.TrimSuffix(l, "\n")
		if binary {
			b, err := hex.DecodeString(strings.ReplaceAll(l, " ", ""))
			if err != nil {
				t.Fatal(l, err)
			}
			out = append(out, b...)
			continue
		}
		l, open := strings.CutSuffix(l, `\`)
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(l, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatal(l, err)
		}
		out = append(out, s...)
		if !open {
			out = append(out, "\r\n"...)
		}
	}
	return out
}

// TestConversations reads testdata/*:
//
//	codec name=n   a new connection
//	send           each line is a request; shows what goes out
//	flush          shows what goes out
//	answer         what comes in, byte by byte; shows the Reply of each request that is done by it
//	reset
func TestConversations(t *testing.T) {
	datadriven.Walk(t, "testdata/conversations", func(t *testing.T, path string) {
		var c load.Codec
		var binary bool
		var queue []load.Want
		var in []byte
		sent := func(b []byte) string {
			if binary {
				return hex.EncodeToString(b) + "\n"
			}
			return strings.ReplaceAll(strings.Trim(strconv.Quote(string(b)), `"`), `\r\n`, "\n")
		}
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			var out strings.Builder
			switch d.Cmd {
			case "codec":
				var name string
				d.ScanArgs(t, "name", &name)
				queue, in = nil, nil
				if name == "crusher" {
					c = NewCrusherText()
				} else {
					var err error
					if c, err = New(name); err != nil {
						return err.Error()
					}
				}
				_, binary = c.(*Binary)
			case "send":
				for _, l := range strings.Split(d.Input, "\n") {
					op := parseOp(t, l)
					out.WriteString(sent(c.Append(nil, &op)))
					want := load.Want{Kind: op.Kind, Quiet: op.Quiet, Keys: 1}
					if op.Kind == load.MGet {
						want.Keys = uint32(len(op.Keys))
					}
					queue = append(queue, want)
				}
			case "flush":
				out.WriteString(sent(c.Flush(nil)))
			case "reset":
				c.Reset()
				queue, in = nil, nil
			case "answer":
				all := append(in, wire(t, d.Input, binary)...)
				from, done := 0, 0
				for i := 0; i <= len(all); i++ {
					for len(queue) > 0 {
						var r load.Reply
						n, err := c.Reply(all[from:i:i], queue[0], &r)
						if err != nil {
							fmt.Fprintf(&out, "error: %v\n", err)
							return out.String()
						}
						if n == 0 && !r.Silent {
							break
						}
						if n > 0 && from+n != i {
							t.Errorf("%s: an answer of %d bytes was seen %d bytes late", d.Pos, n, i-from-n)
						}
						queue = queue[1:]
						from += n
						done++
						fmt.Fprintf(&out, "%d: %s", n, statuses[r.Status])
						if r.Hits+r.Misses > 0 {
							fmt.Fprintf(&out, ", %d hits, %d misses", r.Hits, r.Misses)
						}
						if r.Value != nil {
							fmt.Fprintf(&out, ", value %q", r.Value)
						}
						if r.Text != nil {
							fmt.Fprintf(&out, ", text %q", r.Text)
						}
						if r.Silent {
							out.WriteString(", silent")
						}
						out.WriteString("\n")
					}
				}
				in = bytes.Clone(all[from:])
				if len(in) > 0 {
					fmt.Fprintf(&out, "%d bytes left\n", len(in))
				}
				if len(queue) > 0 {
					fmt.Fprintf(&out, "%d unanswered\n", len(queue))
				}
			default:
				d.Fatalf(t, "unknown command")
			}
			return out.String()
		})
	})
}

func TestNew(t *testing.T) {
	for name, want := range map[string]string{
		"redis": "*codec.Resp", "resp2": "*codec.Resp", "resp3": "*codec.Resp", "memcache_text": "*codec.Text",
		"memcache_binary": "*codec.Binary", "memcache_meta": "*codec.Meta", "": "<nil>", "memcache": "<nil>",
	} {
		c, err := New(name)
		if got := fmt.Sprintf("%T", c); got != want || (err != nil) != (c == nil) {
			t.Errorf("%q: %s %v", name, got, err)
		}
	}
}

func TestSupports(t *testing.T) {
	for name, without := range map[string][]load.Kind{
		"redis":           nil,
		"resp3":           nil,
		"memcache_text":   {load.Command},
		"memcache_binary": {load.Command},
		"memcache_meta":   {load.Command},
	} {
		c, err := New(name)
		if err != nil {
			t.Fatal(err)
		}
		for k := load.Kind(0); k <= load.Kinds; k++ {
			want := k < load.Kinds && !slices.Contains(without, k)
			if c.Supports(k) != want {
				t.Errorf("%s: kind %d: %v", name, k, !want)
			}
			func() { // what is not supported is a mistake of the program, not of its user
				defer func() {
					if (recover() == nil) != want {
						t.Errorf("%s: Append of kind %d", name, k)
					}
				}()
				c.Append(nil, &load.Op{Kind: k})
			}()
		}
	}
}

// TestManyRows: numbers wrap around, and nops do not pile up.
func TestManyRows(t *testing.T) {
	for _, depth := range []int{1, 3, 100} { // rows of quiet requests that are on the way
		c := NewBinary()
		c.q.next = 1<<32 - 50
		c.Reset()
		var in []byte
		var buf [64]byte
		var r load.Reply
		get := load.Op{Kind: load.Get, Quiet: true, Key: []byte("k")}
		asked, done := 0, 0
		for row := range 1000 {
			for range 2 {
				c.Append(buf[:0], &get)
				asked++
			}
			c.Flush(buf[:0])
			in = mcbin.Reply{Op: mcbin.Noop, Opaque: c.q.last()}.AppendEmpty(in, 0)
			if row < depth {
				continue
			}
			for range 2 {
				n, err := c.Reply(in, load.Want{Kind: load.Get, Quiet: true, Keys: 1}, &r)
				if err != nil || !r.Silent || r.Misses != 1 {
					t.Fatal(row, n, err, r)
				}
				in = in[n:]
				done++
			}
		}
		if asked-done != 2*depth || len(in) != mcbin.HeaderLen*depth {
			t.Errorf("%d of %d done, %d bytes left", done, asked, len(in))
		}
		if cap(c.q.nops) > 64+4*depth+256 {
			t.Errorf("depth %d: room for %d nops", depth, cap(c.q.nops))
		}
	}
}

// conversation is a request and its answer, for allocations and benchmarks.
type conversation struct {
	name   string
	op     load.Op
	answer func(number uint32) []byte
}

var (
	someKey   = []byte("memtier-1234567")
	someValue = bytes.Repeat([]byte{'x'}, 128)
)

func conversations() map[string][]conversation {
	get := load.Op{Kind: load.Get, Key: someKey}
	set := load.Op{Kind: load.Set, Key: someKey, Value: someValue}
	mget := load.Op{Kind: load.MGet, Keys: [][]byte{someKey, someKey}}
	quiet := load.Op{Kind: load.Get, Key: someKey, Quiet: true}
	text := func(s string) func(uint32) []byte { return func(uint32) []byte { return []byte(s) } }
	value := string(someValue)
	bulk := "$128\r\n" + value + "\r\n"
	hit := "VALUE memtier-1234567 0 128\r\n" + value + "\r\n"
	resp := []conversation{
		{"get", get, text(bulk)},
		{"set", set, text("+OK\r\n")},
		{"mget", mget, text("*2\r\n" + bulk + bulk)},
	}
	return map[string][]conversation{
		"memcache_text": {
			{"get", get, text(hit + "END\r\n")},
			{"set", set, text("STORED\r\n")},
			{"mget", mget, text(hit + hit + "END\r\n")},
		},
		"memcache_meta": {
			{"get", get, text("VA 128\r\n" + value + "\r\n")},
			{"set", set, text("HD\r\n")},
		},
		"memcache_binary": {
			{"get", get, func(n uint32) []byte {
				return append(mcbin.Reply{Op: mcbin.Get, Opaque: n}.AppendHit(nil, 0, nil, 128, 7), someValue...)
			}},
			{"set", set, func(n uint32) []byte { return mcbin.Reply{Op: mcbin.Set, Opaque: n}.AppendEmpty(nil, 7) }},
			{"quiet", quiet, func(n uint32) []byte { return mcbin.Reply{Op: mcbin.Noop, Opaque: n}.AppendEmpty(nil, 0) }},
		},
		"redis": resp,
		"resp3": resp,
	}
}

// number makes the number of the oldest request the same for each turn, so that one answer fits all.
func number(c load.Codec) {
	switch c := c.(type) {
	case *Binary:
		c.q.next, c.q.head = 1, 1
	case *Meta:
		c.q.next, c.q.head = 1, 1
	}
}

func TestAllocations(t *testing.T) {
	buf := make([]byte, 0, 4096)
	for name, list := range conversations() {
		for _, x := range list {
			c, _ := New(name)
			in := x.answer(1)
			want := load.Want{Kind: x.op.Kind, Quiet: x.op.Quiet, Keys: uint32(max(1, len(x.op.Keys)))}
			var r load.Reply
			if allocs := testing.AllocsPerRun(100, func() {
				number(c)
				b := c.Append(buf, &x.op)
				c.Flush(b)
				n, err := c.Reply(in, want, &r)
				if n != len(in) || err != nil {
					t.Fatal(name, x.name, n, err)
				}
			}); allocs != 0 {
				t.Errorf("%s %s: %v allocations", name, x.name, allocs)
			}
		}
	}
}

// BenchmarkAppend and BenchmarkReply are one set and ten gets of 128 bytes; the time is for one request.
func BenchmarkAppend(b *testing.B) {
	bench(b, func(b *testing.B, c load.Codec, get, set conversation) {
		buf := make([]byte, 0, 4096)
		for i := 0; b.Loop(); i++ {
			if i%11 == 0 {
				c.Append(buf, &set.op)
			} else {
				c.Append(buf, &get.op)
			}
		}
	})
}

func BenchmarkReply(b *testing.B) {
	bench(b, func(b *testing.B, c load.Codec, get, set conversation) {
		g, s := get.answer(1), set.answer(1)
		wantG, wantS := load.Want{Kind: load.Get, Keys: 1}, load.Want{Kind: load.Set, Keys: 1}
		var r load.Reply
		number(c)
		q := new(quiet)
		if c, ok := c.(*Binary); ok {
			q = &c.q
		}
		for i := 0; b.Loop(); i++ {
			q.head = 1
			in, want := g, wantG
			if i%11 == 0 {
				in, want = s, wantS
			}
			if n, err := c.Reply(in, want, &r); n != len(in) || err != nil {
				b.Fatal(n, err)
			}
		}
	})
}

func bench(b *testing.B, run func(b *testing.B, c load.Codec, get, set conversation)) {
	all := conversations()
	for _, name := range []string{"memcache_text", "memcache_meta", "memcache_binary", "redis"} {
		b.Run(name, func(b *testing.B) {
			c, _ := New(name)
			run(b, c, all[name][0], all[name][1])
		})
	}
}

// FuzzReply: whatever comes in, for whatever requests, a codec returns lengths within its input, is done with a request
// at most once, and the same for input that comes in pieces.
func FuzzReply(f *testing.F) {
	for name, list := range conversations() {
		i := slices.Index(protocols, name)
		for _, x := range list {
			f.Add(byte(i), []byte{byte(x.op.Kind)}, x.answer(0))
		}
	}
	f.Add(byte(3), []byte{0x80, 0x82, 0}, mcbin.Reply{Op: mcbin.Noop, Opaque: 1}.AppendEmpty(nil, 0))
	f.Add(byte(4), []byte{0x80, 0x82, 0}, []byte("VA 1 O0\r\na\r\nMN\r\nHD\r\n"))
	f.Add(byte(4), []byte{0x80, 0x80, 0x80}, []byte("VA 1 O1\r\na\r\nMN\r\n"))
	f.Fuzz(func(t *testing.T, which byte, asked, in []byte) {
		if len(asked) > 20 || len(in) > 2000 {
			return
		}
		name := protocols[int(which)%len(protocols)]
		talk := func(step int) (said string) {
			c, err := New(name)
			if err != nil {
				t.Fatal(err)
			}
			var queue []load.Want
			for _, a := range asked {
				op := load.Op{Kind: load.Kind(a&0x7f) % load.Kinds, Quiet: a&0x80 != 0}
				if !c.Supports(op.Kind) {
					op.Kind = load.Get
				}
				c.Append(nil, &op)
				queue = append(queue, load.Want{Kind: op.Kind, Quiet: op.Quiet, Keys: 1})
			}
			c.Flush(nil)
			from := 0
			for i := 0; ; i = min(i+step, len(in)) {
				for len(queue) > 0 {
					var r load.Reply
					n, err := c.Reply(in[from:i:i], queue[0], &r)
					if n < 0 || n > i-from || err != nil && n != 0 {
						t.Fatalf("%d of %d, %v", n, i-from, err)
					}
					if err != nil {
						return said + " error"
					}
					if n == 0 && !r.Silent {
						break
					}
					if r.Silent && !queue[0].Quiet {
						t.Fatal("a loud request ended silently")
					}
					said += fmt.Sprintf(" %d %d %d %d %q %q %v", n, r.Status, r.Hits, r.Misses, r.Value, r.Text, r.Silent)
					from += n
					queue = queue[1:]
				}
				if i == len(in) {
					return said
				}
			}
		}
		whole, pieces := talk(max(1, len(in))), talk(1)
		if whole != pieces {
			t.Fatalf("%s %x %q\n at once: %s\nin pieces: %s", name, asked, in, whole, pieces)
		}
	})
}

var protocols = []string{"redis", "resp3", "memcache_text", "memcache_binary", "memcache_meta"}

func TestGreetings(t *testing.T) {
	plain := mcbin.Reply{Op: mcbin.SASLAuth}
	for _, c := range []struct {
		g               load.Greeting
		send            string
		accept, refused string
		problem         string
	}{
		{Auth("", "pw"), "*2\r\n$4\r\nAUTH\r\n$2\r\npw\r\n", "+OK\r\n", "-WRONGPASS no\r\n", `the server answered "WRONGPASS no"`},
		{Auth("me", "p:w"), "*3\r\n$4\r\nAUTH\r\n$2\r\nme\r\n$3\r\np:w\r\n", "+OK\r\n", "-ERR no\r\n", `the server answered "ERR no"`},
		{Select(12), "*2\r\n$6\r\nSELECT\r\n$2\r\n12\r\n", "+OK\r\n", "-ERR DB index is out of range\r\n", `the server answered "ERR DB index is out of range"`},
		{Hello(3), "*2\r\n$5\r\nHELLO\r\n$1\r\n3\r\n", "%1\r\n+proto\r\n:3\r\n", "-NOPROTO no\r\n", `the server answered "NOPROTO no"`},
		{
			SASL("me", "pw"), "\x80\x21\x00\x05\x00\x00\x00\x00\x00\x00\x00\x0b\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00\x00PLAIN\x00me\x00pw",
			string(plain.AppendText(nil, mcbin.OK, mcbin.TextAuthenticated)), string(plain.AppendError(nil, mcbin.AuthError)),
			`the server answered "Auth failure."`,
		},
		{TextAuth("me", "pw"), "set auth 0 0 5\r\nme pw\r\n", "STORED\r\n", "CLIENT_ERROR authentication failure\r\n", `the server answered "CLIENT_ERROR authentication failure"`},
	} {
		if string(c.g.Send) != c.send {
			t.Errorf("%s: %q", c.g.Name, c.g.Send)
		}
		for _, in := range []string{c.accept, c.refused} {
			for i := range in {
				if n, err := c.g.Check([]byte(in[:i])); n != 0 || err != nil {
					t.Errorf("%s: %q: %d %v", c.g.Name, in[:i], n, err)
				}
			}
		}
		if n, err := c.g.Check([]byte(c.accept + "\x81+")); n != len(c.accept) || err != nil {
			t.Errorf("%s: %d %v", c.g.Name, n, err)
		}
		if _, err := c.g.Check([]byte(c.refused)); err == nil || err.Error() != c.problem {
			t.Errorf("%s: %v", c.g.Name, err)
		}
		if _, err := c.g.Check([]byte("What?\r\n")); err == nil {
			t.Errorf("%s takes anything", c.g.Name)
		}
	}
	for in, want := range map[string]string{"pw": "|pw", "me:pw": "me|pw", ":p:w": "|p:w", "me:p:w": "me|p:w", "": "|"} {
		if user, pw := Credentials(in); user+"|"+pw != want {
			t.Errorf("%q: %q %q", in, user, pw)
		}
	}
}

// TestCommandValue: what a command answers can be walked.
func TestCommandValue(t *testing.T) {
	c := NewResp(2)
	var r load.Reply
	in := []byte("*2\r\n$1\r\n7\r\n*1\r\n$1\r\nk\r\n")
	if n, err := c.Reply(in, load.Want{Kind: load.Command, Keys: 1}, &r); n != len(in) || err != nil {
		t.Fatal(n, err)
	}
	var v, e resp.Value
	if _, err := resp.Parse(r.Value, &v); err != nil {
		t.Fatal(err)
	}
	it := v.Elements()
	if !it.Next(&e) || string(e.Text) != "7" || it.Left() != 1 {
		t.Errorf("%+v", e)
	}
}
