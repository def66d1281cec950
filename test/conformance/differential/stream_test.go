//go:build unix

package differential

import (
	"bytes"
	"encoding/base64"
	"encoding/binary"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
)

// An op is what is sent in one go: a command with its data, or a piece of rubbish.
type op struct {
	Bin  bool   // on the connection for the binary protocol
	Pre  []byte // then the CAS id that Key has now, plus Off, if Key is set; then Post
	Key  []byte
	Off  int64
	Post []byte
	Sync bool // everything before is answered first
}

func (o op) String() string {
	s := fmt.Sprintf("%q", o.Pre)
	if len(o.Key) > 0 {
		s += fmt.Sprintf(" + CAS of %q%+d + %q", short(string(o.Key)), o.Off, o.Post)
	}
	if o.Bin {
		return "binary " + s
	}
	return "text   " + s
}

func short(s string) string {
	if len(s) > 60 {
		return fmt.Sprintf("%s…(%d bytes)", s[:40], len(s))
	}
	return s
}

// bytes are the op as it goes out, given the CAS id.
func (o op) bytes(cas uint64) []byte {
	if len(o.Key) == 0 {
		return o.Pre
	}
	out := bytes.Clone(o.Pre)
	if cas += uint64(o.Off); o.Bin {
		out = binary.BigEndian.AppendUint64(out, cas)
	} else {
		out = fmt.Append(out, cas)
	}
	return append(out, o.Post...)
}

// A stream is ops over a text and a binary connection, which starts with an empty store.
type stream struct {
	Seed uint64
	Ops  []op
	Cuts []int // sizes of the pieces that are sent, over and over; none: an op at a time
	Open bool  // it may end within a command
}

// style says what the generator may do.
type style struct {
	meta      bool // meta commands
	malformed bool // lines and packets that no client would send
}

type gen struct {
	*rand.Rand
	style
}

// ttls are the expiry times in use. All are far from any moment of the test.
var ttls = []string{"0", "0", "0", "0", "100", "1000", "2592000", "2147483647", "-1", "-100"}

// explicit are CAS ids that clients choose.
var explicit = []string{"1000000000000", "1000000000001", "3999999999999999"}

var keys = []string{
	"a", "b", "c", "foo", "key:1", "pre:x", strings.Repeat("k", 250), "\x01\xff\x7f", "tab\there", "0",
}

func generate(seed uint64, st style) stream {
	g := gen{rand.New(rand.NewPCG(seed, 7)), st}
	s := stream{Seed: seed}
	bin := []int{0, 0, 0, 1, 1, 2}[g.IntN(6)] // text, binary, both
	for range 1 + g.IntN(40) {
		b := bin == 1 || bin == 2 && g.IntN(2) == 0
		switch {
		case b:
			s.Ops = append(s.Ops, g.binary())
		default:
			s.Ops = append(s.Ops, g.text())
		}
	}
	for i, o := range s.Ops {
		s.Ops[i].Sync = o.Sync || counts(o)
	}
	if g.malformed && g.IntN(2) == 0 { // from here on the streams of commands and data may come apart
		for range 1 + g.IntN(8) {
			var o op
			if bin == 1 {
				o = g.rubbishBinary()
			} else {
				o = g.rubbishText()
			}
			o.Sync = false // there may be no answer
			s.Ops = append(s.Ops, o)
		}
		s.Open = true
		if bin != 1 { // for uploads that lack some bytes
			s.Ops = append(s.Ops, line("%s\r\n", strings.Repeat("p", 1900)), line("%s\r\n", strings.Repeat("p", 1900)))
		}
	}
	s.Ops = slices.DeleteFunc(s.Ops, avoided)
	if g.IntN(3) == 0 {
		for range 1 + g.IntN(7) {
			s.Cuts = append(s.Cuts, 1+g.IntN([]int{3, 30, 300}[g.IntN(3)]))
		}
	}
	return s
}

func pick[T any](g gen, from ...T) T { return from[g.IntN(len(from))] }

func (g gen) key() string { return keys[min(g.IntN(len(keys)), g.IntN(len(keys)))] }

// other is mostly the same key.
func (g gen) other(k string, same ...bool) string {
	if len(same) > 0 && same[0] { // ids of different items have no order
		return k
	}
	return pick(g, k, k, k, g.key())
}

// off is mostly 0, else so much that no CAS id of another item is met by chance.
func (g gen) off() int64 { return pick[int64](g, 0, 0, 0, 5000000) }

func (g gen) keyList(n int) string {
	var out []string
	for range n {
		out = append(out, g.key())
	}
	return strings.Join(out, " ")
}

func (g gen) value() string {
	switch g.IntN(12) {
	case 0:
		return ""
	case 1, 2, 3:
		return fmt.Sprint(g.IntN(200))
	case 4:
		return pick(g, "18446744073709551615", "18446744073709551614", "9999999999", "00012", "18446744073709551616")
	case 5:
		return pick(g, " 12", "12 ", "1 2", "-1", "+5", "1.5", "0x10", "12a", "\r\nx", "END\r\n", "12\r\n")
	case 6:
		return strings.Repeat("v", g.IntN(3000))
	case 7:
		b := make([]byte, g.IntN(300))
		for i := range b {
			b[i] = byte(g.IntN(256))
		}
		return string(b)
	case 8:
		if g.IntN(15) == 0 {
			return strings.Repeat("L", pick(g, 40000, 524288, 600000, 1048000, 1048500, 1048576, 1100000))
		}
		return "some more text"
	default:
		return pick(g, "x", "hello", "value of it", strings.Repeat("ab", 40))
	}
}

// small is a value that can be taken for a line without ending the connection.
func (g gen) small() string { v := g.value(); return v[:min(len(v), 1500)] }

func (g gen) flags() string { return pick(g, "0", "0", "0", "1", "5", "65535", "4294967295") }

func (g gen) noreply() string { return pick(g, "", "", "", "", " noreply") }

// eol ends a line.
func (g gen) eol() string { return pick(g, "\r\n", "\r\n", "\r\n", "\r\n", "\n") }

func (g gen) delta() string {
	return pick(g, "0", "1", "1", "5", "10", "99", "1000000", "18446744073709551615")
}

func line(format string, args ...any) op { return op{Pre: fmt.Appendf(nil, format, args...)} }

func (g gen) text() op {
	if g.malformed && g.IntN(12) == 0 {
		return g.badLine()
	}
	if g.meta && g.IntN(2) == 0 {
		return g.metaOp()
	}
	k, v := g.key(), g.value()
	switch g.IntN(16) {
	case 0, 1, 2, 3:
		verb := pick(g, "set", "set", "set", "add", "replace", "append", "prepend")
		return line("%s %s %s %s %d%s%s%s\r\n", verb, k, g.flags(), pick(g, ttls...), len(v), g.noreply(), g.eol(), v)
	case 4, 5:
		return op{
			Pre: fmt.Appendf(nil, "cas %s %s %s %d ", k, g.flags(), pick(g, ttls...), len(v)),
			Key: []byte(g.other(k)), Off: g.off(),
			Post: fmt.Appendf(nil, "%s%s%s\r\n", g.noreply(), g.eol(), v),
		}
	case 6, 7, 8:
		return line("%s %s%s", pick(g, "get", "get", "gets"), g.keyList(1+g.IntN(pick(g, 2, 6, 40))), g.eol())
	case 9:
		return line("%s %s %s%s", pick(g, "gat", "gats"), pick(g, ttls...), g.keyList(1+g.IntN(4)), g.eol())
	case 10:
		return line("delete %s%s%s", k, g.noreply(), g.eol())
	case 11, 12:
		return line("%s %s %s%s%s", pick(g, "incr", "decr"), k, g.delta(), g.noreply(), g.eol())
	case 13:
		return line("touch %s %s%s%s", k, pick(g, ttls...), g.noreply(), g.eol())
	case 14:
		if g.IntN(3) == 0 {
			return line("flush_all%s%s%s", pick(g, "", "", " 0", " 100000"), g.noreply(), g.eol())
		}
		return line("get %s%s", g.keyList(3), g.eol())
	default:
		return line("%s%s", pick(g, "version", "verbosity 0", "verbosity 0 noreply"), g.eol())
	}
}

// metaOp is a meta command with flags of all kinds, each at most once.
func (g gen) metaOp() op {
	verb := pick(g, "mg", "mg", "ms", "ms", "md", "ma", "me")
	k := g.key()
	if verb == "me" {
		return line("me %s\r\n", pick(g, k, "nothing"))
	}
	v := g.value()
	b64 := g.IntN(8) == 0
	name := k
	if b64 {
		name = base64.StdEncoding.EncodeToString([]byte(k))
	}
	var flags []string
	with := map[string]func() string{
		"mg": func() string {
			return pick(g, "s", "t", "c", "f", "h", "l", "k", "O"+pick(g, "1", "opaque"), "v", "v", "v", "u", "q", "T"+pick(g, ttls[:8]...), "N"+pick(g, ttls[:8]...), "R"+pick(g, "0", "30", "500"), "E"+pick(g, explicit...))
		},
		"ms": func() string {
			return pick(g, "c", "k", "s", "Oxy", "q", "F"+g.flags(), "T"+pick(g, ttls[:8]...), "E"+pick(g, explicit...), "I", "N"+pick(g, ttls[:8]...), "M"+pick(g, "E", "A", "P", "R", "S", "e", "a", "p", "r", "s", "append"))
		},
		"md": func() string {
			return pick(g, "q", "k", "Oz", "I", "x", "T"+pick(g, ttls[:8]...), "E"+pick(g, explicit...), "F"+g.flags())
		},
		"ma": func() string {
			return pick(g, "v", "v", "t", "c", "k", "O9", "q", "D"+g.delta(), "M"+pick(g, "I", "D", "+", "-", "i", "d", "incr"), "N"+pick(g, ttls[:8]...), "J"+g.delta(), "T"+pick(g, ttls[:8]...), "E"+pick(g, explicit...))
		},
	}[verb]
	seen := ""
	for range g.IntN(7) {
		f := with()
		if !strings.Contains(seen, f[:1]) {
			seen += f[:1]
			flags = append(flags, f)
		}
	}
	if b64 {
		flags = append(flags, "b")
	}
	g.Shuffle(len(flags), func(i, j int) { flags[i], flags[j] = flags[j], flags[i] })
	head := verb + " " + name
	if verb == "ms" {
		head += fmt.Sprintf(" %d", len(v))
	}
	tail := ""
	if verb == "ms" {
		tail = v + "\r\n"
	}
	all := strings.Join(append([]string{head}, flags...), " ")
	if g.IntN(4) == 0 {
		return op{
			Pre: []byte(all + " C"), Key: []byte(g.other(k, strings.Contains(seen, "I"))), Off: g.off(),
			Post: []byte(g.eol() + tail),
		}
	}
	return line("%s%s%s", all, g.eol(), tail)
}

// badLine is a wrong line without data after it, so that the next command is one again.
func (g gen) badLine() op {
	if g.IntN(20) == 0 { // only a retrieval may be longer than 2048 bytes
		return op{Sync: true, Pre: []byte(pick(g, "get "+strings.Repeat("a ", 1200)+"\r\n", "gets "+strings.Repeat("key ", 800)+"\n"))}
	}
	if !g.meta && g.IntN(2) == 0 {
		return line("%s\r\n", pick(g, "get", "incr a", "touch a", "nonsense", "delete", "GET a"))
	}
	words := strings.Fields("get gets gat gats delete incr decr touch mg md ma me verbosity flush_all cas set add ms " +
		"mg md ma mg md ma a b foo 1 0 -1 100 18446744073709551615 18446744073709551616 99999999999 noreply q v k O1 s t T C E " +
		"D10 M+ MX MI N0 J1 x I S5 b F c h l u T100 T-1 Cx Ex Nfoo R30 Rx z ! $ \xff P L Ooooooooooooooooooooooooooooooooooooo")
	words = append(words, "", strings.Repeat("k", 251), strings.Repeat("k", 300), "YQ==", "YQ=", "Zm9v", "====")
	out := pick(g, words[:23]...)
	switch out {
	case "ms":
		return line("ms%s%s", pick(g, "", " ", " a", " a b c", " a -1", " a 4294967296 v", " a  S5"), g.eol())
	case "set", "add", "cas": // with no length, so no data
		return line("%s%s%s", out, pick(g, "", " ", " a", " a 0", " a 0 0", " a b c", " a 0 0 -1", " a 0 0 1x", " a 0 0 4294967296", " a  S5"), g.eol())
	}
	for range g.IntN(7) {
		out += pick(g, " ", " ", " ", "  ") + pick(g, words...)
	}
	o := line("%s%s", out, g.eol())
	o.Sync = true
	return o
}

// rubbishCAS is larger than any CAS id that a server gives, also with a digit less.
const rubbishCAS = 4400000000000000

// rubbishText is anything: what follows may be taken for data, or the connection may be closed.
func (g gen) rubbishText() op {
	switch g.IntN(10) {
	case 0:
		return line("%s", pick(g,
			"\r\n", "\n", " \r\n", "    \r\n", "a\r\n", "\x00\r\n", "\r\r\n", "quit\r\n", "quit now\r\n", "mn\r\n", "mn foo\r\n",
			"  flush_all\r\n", " get a\r\n", "flush_all -1\r\n", "flush_all x\r\n", "verbosity\r\n", "verbosity x\r\n", "incr a 1 noreply noreply\r\n", "get noreply\r\n",
			"stats nonsense\r\n", "stats detail\r\n", "stats cachedump\r\n", "stats cachedump x y\r\n", "stats cachedump 99 1\r\n",
			"slabs\r\n", "slabs reassign\r\n", "slabs reassign x y\r\n", "slabs reassign 1 1\r\n", "slabs reassign 1 99\r\n", "slabs automove\r\n", "slabs automove 9\r\n",
			"lru\r\n", "lru mode\r\n", "lru tune 1\r\n", "lru tune 50 50 0.2 2\r\n", "lru temp_ttl\r\n", "lru_crawler\r\n", "lru_crawler sleep x\r\n", "lru_crawler sleep 9999999\r\n",
			"lru_crawler crawl 99\r\n", "lru_crawler nonsense\r\n", "watch nonsense\r\n", "cache_memlimit\r\n", "cache_memlimit x\r\n", "cache_memlimit 1\r\n",
			"shutdown\r\n", "refresh_certs\r\n", "extstore\r\n", "extstore foo 1\r\n", "get "+strings.Repeat(" ", 200)+"a b\r\n",
			"get "+strings.Repeat("x", 1500)+"\r\n"))
	case 1:
		return g.badLine()
	case 2: // data of another length than said
		v := g.small()
		return line("%s %s 0 0 %d%s\r\n%s%s", pick(g, "set", "add", "append"), g.key(), max(0, len(v)+g.IntN(5)-2), g.noreply(), v, pick(g, "\r\n", "\n", "", "\r", "xx"))
	case 3:
		return line("set %s %s %s %s%s\r\n%s\r\n", pick(g, g.key(), strings.Repeat("k", 251)), pick(g, "-1", "x", "4294967296", "99999999999999999999", "+5", "0"),
			pick(g, "x", "99999999999", "2147483648", "-2147483649", "1x", "0"), pick(g, "5", "05", "+5", "-5", "5x", "5"), g.noreply(), "hello")
	case 4:
		v := g.small()
		return line("ms %s %s%s\r\n%s\r\n", pick(g, g.key(), strings.Repeat("k", 251), ""), pick(g, fmt.Sprint(len(v)), fmt.Sprint(len(v)+1), "x", "-1", "S5"),
			pick(g, "", " MX", " z", " T", " Fx", " q q", " Cx", " M", " b", " I C0", " C0", " ME C5", " N"), v)
	default: // a command with bytes changed, lost or doubled
		o := g.text()
		b := o.bytes(rubbishCAS)
		if len(b) > 1500 { // more than 2048 bytes without a newline end a connection, depending on how they arrive
			b = b[:1500]
		}
		for range 1 + g.IntN(3) {
			if len(b) == 0 {
				break
			}
			i := g.IntN(min(len(b), pick(g, 12, 60, 4000)))
			switch g.IntN(4) {
			case 0:
				b[i] = byte(g.IntN(256))
			case 1:
				b[i] = " \r\n0-9azk"[g.IntN(9)]
			case 2:
				b = append(b[:i:i], b[i+1:]...)
			default:
				b = append(b[:i:i], append([]byte{pick(g, " \r\n01"[g.IntN(5)], byte(g.IntN(256)))}, b[i:]...)...)
			}
		}
		return op{Pre: b}
	}
}

// packet is a binary request.
func packet(opcode byte, extras, key, value string, opaque uint32) []byte {
	b := make([]byte, 24)
	b[0], b[1], b[4] = 0x80, opcode, byte(len(extras))
	binary.BigEndian.PutUint16(b[2:], uint16(len(key)))
	binary.BigEndian.PutUint32(b[8:], uint32(len(extras)+len(key)+len(value)))
	binary.BigEndian.PutUint32(b[12:], opaque)
	return append(b, extras+key+value...)
}

func u32(s string) string {
	var n uint32
	if _, err := fmt.Sscan(s, &n); err != nil {
		n = 0
	}
	return string(binary.BigEndian.AppendUint32(nil, n))
}

func u64(s string) string {
	var n uint64
	fmt.Sscan(s, &n)
	return string(binary.BigEndian.AppendUint64(nil, n))
}

func (g gen) binary() op {
	k, v, opaque := g.key(), g.value(), g.Uint32()
	exp := u32(pick(g, "0", "0", "0", "100", "1000", "2147483647", "4294967295"))
	var b []byte
	switch g.IntN(12) {
	case 0, 1, 2:
		b = packet(pick[byte](g, 1, 1, 1, 2, 3, 0x11, 0x11, 0x12, 0x13), u32(g.flags())+exp, k, v, opaque)
	case 3:
		b = packet(pick[byte](g, 0x0e, 0x0f, 0x19, 0x1a), "", k, v, opaque)
	case 4, 5:
		b = packet(pick[byte](g, 0, 9, 0x0c, 0x0d), "", k, "", opaque)
	case 6:
		b = packet(pick[byte](g, 4, 4, 0x14), "", k, "", opaque)
	case 7, 8:
		exp = u32(pick(g, "0", "0", "100", "4294967295"))
		b = packet(pick[byte](g, 5, 6, 0x15, 0x16), u64(g.delta())+u64(g.delta())+exp, k, "", opaque)
	case 9:
		b = packet(pick[byte](g, 0x1c, 0x1d, 0x1e, 0x23, 0x24), exp, k, "", opaque)
	case 10:
		if g.IntN(3) == 0 {
			b = packet(pick[byte](g, 8, 0x18), pick(g, "", u32("0"), u32("100000")), "", "", opaque)
		} else {
			b = packet(0x0a, "", "", "", opaque)
		}
	default:
		b = packet(pick[byte](g, 0x0b, 0x1b, 0x20, 0x30, 0x77, 0xff), "", "", "", opaque)
		if b[1] != 0x0b && !g.malformed {
			b[1] = 0x0a
		}
	}
	if g.IntN(6) == 0 {
		return op{Bin: true, Pre: b[:16:16], Key: []byte(g.other(k)), Off: g.off(), Post: b[24:]}
	}
	return op{Bin: true, Pre: b}
}

// rubbishBinary is a packet whose lengths do not fit, or that asks for the end of the connection.
func (g gen) rubbishBinary() (o op) {
	o = g.binary()
	b := o.bytes(rubbishCAS)
	if len(b) > 4000 {
		b = b[:4000]
	}
	defer func() { // memcached waits for key and extras before it looks at their lengths
		if want := 24 + int(binary.BigEndian.Uint16(b[2:])) + int(b[4]); len(b) < want {
			o.Pre = append(b[:len(b):len(b)], make([]byte, want-len(b))...)
		}
	}()
	switch g.IntN(8) {
	case 0:
		return op{Bin: true, Pre: packet(pick[byte](g, 7, 0x17), "", "", "", g.Uint32())}
	case 1:
		b[4] = byte(g.IntN(256))
	case 2:
		binary.BigEndian.PutUint16(b[2:], uint16(pick(g, 0, 1, 250, 251, 65535, g.IntN(300))))
	case 3:
		binary.BigEndian.PutUint32(b[8:], pick(g, 0, 1, 7, 8, 24, 1<<20, 1<<20+400, 1<<30, 1<<30+1, 1<<31-1, 1<<31, 1<<32-1, g.Uint32N(400)))
	case 4:
		b[1] = byte(g.IntN(256))
		if b[1] == 0x10 { // statistics differ
			b[1] = 0
		}
	case 5:
		b[pick(g, 5, 6, 7)] = byte(g.IntN(256)) // data type and vbucket mean nothing
	case 6:
		b[0] = byte(g.IntN(256))
	}
	o = op{Bin: true, Pre: b}
	return o
}
