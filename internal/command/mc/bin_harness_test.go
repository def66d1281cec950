package mc

import (
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"math/rand/v2"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/auth"
	"godwit/internal/clock"
	"godwit/internal/config"
	"godwit/internal/proto/mcbin"
	"godwit/internal/store"
)

// binWorker is a server of one loop without sockets, set up by memcached's command line. Its clock stands still.
func binWorker(t testing.TB, args ...string) *Worker {
	t.Helper()
	set, exit := config.ParseMemcached("memcached", args)
	if exit != nil {
		t.Fatalf("%v: %+v", args, exit)
	}
	c := clock.New()
	c.Pause()
	s, err := store.Open(store.Config{
		Limit: set.MaxBytes, Locals: 1, MaxItem: set.ItemSizeMax, NoEvict: !set.Evict, Seed: 1, Clock: c,
	})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	w := NewEnv(set, s, 1).Workers[0]
	w.L.Turn(c.Ms())
	return w
}

// binFleet is the same server several times, fed differently, which must not make a difference.
type binFleet struct {
	t     testing.TB
	users []auth.User // nil: no SASL
	pipes []*pipe
}

func newBinFleet(t testing.TB, users []auth.User, args ...string) *binFleet {
	f := &binFleet{t: t, users: users}
	for range 4 {
		f.pipes = append(f.pipes, binPipe(binWorker(t, args...), nil))
	}
	f.connect()
	return f
}

// connect opens a new connection to each server.
func (f *binFleet) connect() {
	for i, p := range f.pipes {
		p.p.Drop(p.w)
		f.pipes[i] = binPipe(p.w, f.users)
		f.pipes[i].sink = i%2 == 1
	}
}

// send gives in to all servers and returns the answer, which must be the same from all.
func (f *binFleet) send(in []byte) (answer []byte, closed bool) {
	rnd := rand.New(rand.NewPCG(1, uint64(len(in))))
	for i, p := range f.pipes {
		p.got = nil
		switch {
		case i < 2:
			p.write(in)
		case i == 2 && len(in) < 1<<16:
			for _, c := range in {
				p.write([]byte{c})
			}
		default:
			for rest := in; len(rest) > 0; {
				n := min(1+rnd.IntN(1+len(in)/4), len(rest))
				p.write(rest[:n])
				rest = rest[n:]
			}
		}
	}
	first := f.pipes[0]
	for i, p := range f.pipes[1:] {
		if string(p.got) != string(first.got) || p.closed() != first.closed() {
			f.t.Fatalf("fed in pieces (%d) the answer differs:\n%q, closed %v\n%q, closed %v", i+1, first.got, first.closed(), p.got, p.closed())
		}
	}
	return first.got, first.closed()
}

func (f *binFleet) advance(seconds int64) {
	for _, p := range f.pipes {
		p.w.Clock.Shift(seconds * 1000)
		p.w.L.Turn(p.w.Clock.Ms())
	}
}

// binNames gives opcodes by their names.
var binNames = func() map[string]mcbin.Op {
	m := map[string]mcbin.Op{}
	for i := range 256 {
		if op := mcbin.Op(i); op.Info().Known {
			m[op.String()] = op
		}
	}
	return m
}()

// binScript turns lines such as "set key=a value=x*100 flags=5" into packets, and packets into lines. CAS ids are
// letters in both, in the order in which they appear: servers choose them differently.
type binScript struct {
	cas []uint64
}

func (s *binScript) encode(t testing.TB, lines string) (in []byte) {
	t.Helper()
	for line := range strings.Lines(lines) {
		f := strings.Fields(line)
		if len(f) == 0 || f[0][0] == '#' {
			continue
		}
		if f[0] == "raw" {
			b, err := hex.DecodeString(strings.Join(f[1:], ""))
			if err != nil {
				t.Fatalf("%s: %v", line, err)
			}
			in = append(in, b...)
			continue
		}
		in = s.packet(t, in, f)
	}
	return in
}

func (s *binScript) packet(t testing.TB, in []byte, f []string) []byte {
	t.Helper()
	op, ok := binNames[f[0]]
	if !ok {
		op = mcbin.Op(number(t, f[0]))
	}
	arg := map[string]string{}
	for _, a := range f[1:] {
		k, v, _ := strings.Cut(a, "=")
		arg[k] = v
	}
	num := func(name string) uint64 {
		if v, ok := arg[name]; ok {
			return number(t, v)
		}
		return 0
	}
	var ext []byte
	switch op.Info().Extras {
	case 8:
		ext = binary.BigEndian.AppendUint32(ext, uint32(num("flags")))
		ext = binary.BigEndian.AppendUint32(ext, uint32(num("exptime")))
	case 20:
		ext = binary.BigEndian.AppendUint64(ext, num("delta"))
		ext = binary.BigEndian.AppendUint64(ext, num("initial"))
		ext = binary.BigEndian.AppendUint32(ext, uint32(num("exptime")))
	case 4:
		if _, ok := arg["exptime"]; ok || op.Info().Op != mcbin.Flush {
			ext = binary.BigEndian.AppendUint32(ext, uint32(num("exptime")))
		}
	}
	if v, ok := arg["ext"]; ok {
		ext, _ = hex.DecodeString(v)
	}
	key, value := expand(t, arg["key"]), expand(t, arg["value"])
	h := mcbin.Header{
		Magic: mcbin.MagicRequest, Op: op, ExtLen: uint8(len(ext)), KeyLen: uint16(len(key)),
		BodyLen: uint32(len(ext) + len(key) + len(value)), Opaque: uint32(num("opaque")), CAS: s.casOf(t, arg["cas"]),
	}
	for name, set := range map[string]func(n uint64){
		"magic":    func(n uint64) { h.Magic = byte(n) },
		"extlen":   func(n uint64) { h.ExtLen = uint8(n) },
		"keylen":   func(n uint64) { h.KeyLen = uint16(n) },
		"bodylen":  func(n uint64) { h.BodyLen = uint32(n) },
		"datatype": func(n uint64) { h.DataType = byte(n) },
		"vbucket":  func(n uint64) { h.Status = mcbin.Status(n) },
	} {
		if _, ok := arg[name]; ok {
			set(num(name))
		}
	}
	in = mcbin.AppendHeader(in, &h)
	return append(append(append(in, ext...), key...), value...)
}

// expand reads text with Go's escapes, where x*5 is five times x.
func expand(t testing.TB, s string) string {
	t.Helper()
	if text, n, ok := strings.Cut(s, "*"); ok {
		return strings.Repeat(text, int(number(t, n)))
	}
	u, err := strconv.Unquote(`"` + s + `"`)
	if err != nil {
		t.Fatalf("%s: %v", s, err)
	}
	return u
}

func number(t testing.TB, s string) uint64 {
	t.Helper()
	n, err := strconv.ParseUint(s, 0, 64)
	if err != nil {
		t.Fatal(err)
	}
	return n
}

// casOf is the id behind a letter, or a number as it stands.
func (s *binScript) casOf(t testing.TB, v string) uint64 {
	t.Helper()
	switch {
	case v == "":
		return 0
	case v[0] >= 'A' && v[0] <= 'Z':
		if int(v[0]-'A') >= len(s.cas) {
			t.Fatalf("CAS id %s has not been seen", v)
		}
		return s.cas[v[0]-'A']
	}
	return number(t, v)
}

func (s *binScript) letter(cas uint64) string {
	for i, c := range s.cas {
		if c == cas {
			return string(rune('A' + i))
		}
	}
	s.cas = append(s.cas, cas)
	return string(rune('A' + len(s.cas) - 1))
}

// decode shows an answer, one line per packet; withHex the bytes as well.
func (s *binScript) decode(answer []byte, closed, withHex bool) string {
	var sb strings.Builder
	for len(answer) > 0 {
		p, n, ok := mcbin.ParsePacket(answer, mcbin.MagicResponse, 1<<40)
		if !ok || n == 0 {
			fmt.Fprintf(&sb, "not a packet: %q\n", answer)
			break
		}
		fmt.Fprintf(&sb, "%s %#x", p.Op, uint16(p.Status))
		if !p.Op.Info().Known {
			fmt.Fprintf(&sb, " op=%#x", byte(p.Op))
		}
		if len(p.Extras) > 0 {
			fmt.Fprintf(&sb, " ext=%x", p.Extras)
		}
		if len(p.Key) > 0 {
			fmt.Fprintf(&sb, " key=%s", shorten(p.Key))
		}
		if base := p.Op.Info().Op; len(p.Value) == 8 && (base == mcbin.Incr || base == mcbin.Decr) {
			fmt.Fprintf(&sb, " number=%d", binary.BigEndian.Uint64(p.Value))
		} else if len(p.Value) > 0 {
			fmt.Fprintf(&sb, " value=%s", shorten(p.Value))
		}
		if p.CAS != 0 {
			fmt.Fprintf(&sb, " cas=%s", s.letter(p.CAS))
		}
		if p.Opaque != 0 {
			fmt.Fprintf(&sb, " opaque=%#x", p.Opaque)
		}
		if p.DataType != 0 {
			fmt.Fprintf(&sb, " datatype=%d", p.DataType)
		}
		sb.WriteByte('\n')
		if withHex {
			id := strings.Repeat("0", 16)
			if p.CAS != 0 {
				id = strings.Repeat(s.letter(p.CAS), 16)
			}
			sb.WriteString(strings.TrimRight(fmt.Sprintf("  %x %x %s %x", answer[:8], answer[8:16], id, answer[24:n]), " ") + "\n")
		}
		answer = answer[n:]
	}
	if closed {
		sb.WriteString("closed\n")
	}
	if sb.Len() == 0 {
		return "nothing\n"
	}
	return sb.String()
}

// shorten shows bytes as expand reads them.
func shorten(b []byte) string {
	if len(b) > 60 && strings.Count(string(b), string(b[:1])) == len(b) {
		return fmt.Sprintf("%c*%d", b[0], len(b))
	}
	q := strconv.Quote(string(b))
	return q[1 : len(q)-1]
}
