package mcbin

import (
	"bytes"
	"encoding/hex"
	"math"
	"testing"
)

func TestHeaderRoundTrip(t *testing.T) {
	h := Header{
		Magic: MagicRequest, Op: GATKQ, ExtLen: 4, DataType: 9, KeyLen: 0x1234, Status: 0x5678, BodyLen: 0xfedcba98,
		Opaque: 0xdeadbeef, CAS: 0x0123456789abcdef,
	}
	b := AppendHeader(nil, &h)
	if got, want := hex.EncodeToString(b), "8024"+"1234"+"0409"+"5678"+"fedcba98"+"deadbeef"+"0123456789abcdef"; got != want {
		t.Errorf("header\n got %s\nwant %s", got, want)
	}
	if got := ParseHeader(b); got != h {
		t.Errorf("parsed %+v, want %+v", got, h)
	}
}

// lengths of a packet that need not agree, as hostile clients send them.
func TestLengths(t *testing.T) {
	for _, c := range []struct {
		key  uint16
		ext  uint8
		body uint32
		want int64 // ValueLen
	}{
		{0, 0, 0, 0},
		{1, 0, 0, -1},
		{math.MaxUint16, math.MaxUint8, 0, -math.MaxUint16 - math.MaxUint8},
		{math.MaxUint16, math.MaxUint8, math.MaxUint32, math.MaxUint32 - math.MaxUint16 - math.MaxUint8},
		{1, 8, math.MaxInt32, math.MaxInt32 - 9},
		{1, 8, math.MaxInt32 + 1, math.MaxInt32 + 1 - 9},
		{1, 8, 8, -1},
		{1, 8, 9, 0},
	} {
		h := Header{KeyLen: c.key, ExtLen: c.ext, BodyLen: c.body}
		if got := h.ValueLen(); got != c.want {
			t.Errorf("key %d ext %d body %d: value %d, want %d", c.key, c.ext, c.body, got, c.want)
		}
		if got, want := h.Len(), HeaderLen+int64(c.body); got != want {
			t.Errorf("body %d: packet %d, want %d", c.body, got, want)
		}
	}
}

// TestShapes tries every opcode with every length of extras, with and without key and value. The sheet is restated
// here as a rule per opcode, independent of the table under test.
func TestShapes(t *testing.T) {
	type rule struct {
		ext        []int
		key, value string // "no", "must", "may"
	}
	rules := map[Op]rule{}
	same := func(r rule, ops ...Op) {
		for _, op := range ops {
			rules[op] = r
		}
	}
	same(rule{[]int{0}, "must", "no"}, Get, GetQ, GetK, GetKQ, Delete, DeleteQ)
	same(rule{[]int{8}, "must", "may"}, Set, SetQ, Add, AddQ, Replace, ReplaceQ)
	same(rule{[]int{0}, "must", "may"}, Append, AppendQ, Prepend, PrependQ, SASLAuth, SASLStep)
	same(rule{[]int{20}, "must", "no"}, Incr, IncrQ, Decr, DecrQ)
	same(rule{[]int{4}, "must", "no"}, Touch, GAT, GATQ, GATK, GATKQ)
	same(rule{[]int{0}, "no", "no"}, Quit, QuitQ, Noop, Version, SASLList)
	same(rule{[]int{0, 4}, "no", "no"}, Flush, FlushQ)
	same(rule{[]int{0}, "may", "no"}, Stat)
	for op := range 256 {
		r, known := rules[Op(op)]
		info := Op(op).Info()
		if info.Known != known {
			t.Errorf("opcode %#x: known %v, want %v", op, info.Known, known)
			continue
		}
		for ext := range 256 {
			for _, key := range []int{0, 1, 250} {
				for _, value := range []int{0, 1, 1 << 20} {
					want := true
					if known {
						want = false
						for _, e := range r.ext {
							want = want || e == ext
						}
						want = want && !(key == 0 && r.key == "must") && !(key > 0 && r.key == "no")
						want = want && !(value > 0 && r.value == "no")
					}
					h := Header{Op: Op(op), ExtLen: uint8(ext), KeyLen: uint16(key), BodyLen: uint32(ext + key + value)}
					if got := info.Fits(&h); got != want {
						t.Fatalf("%s: ext %d key %d value %d: fits %v, want %v", info.Name, ext, key, value, got, want)
					}
				}
			}
		}
	}
}

func TestQuietTwins(t *testing.T) {
	twins := map[Op]Op{
		GetQ: Get, GetKQ: GetK, SetQ: Set, AddQ: Add, ReplaceQ: Replace, DeleteQ: Delete, IncrQ: Incr, DecrQ: Decr,
		QuitQ: Quit, FlushQ: Flush, AppendQ: Append, PrependQ: Prepend, GATQ: GAT, GATKQ: GATK,
	}
	for op := range 256 {
		info := Op(op).Info()
		want, quiet := twins[Op(op)]
		if !quiet {
			want = Op(op)
		}
		if info.Quiet != quiet || info.Op != want {
			t.Errorf("%#x %s: quiet %v of %s, want %v of %s", op, info.Name, info.Quiet, info.Op, quiet, want)
		}
		if quiet && info.Name != want.String()+"q" {
			t.Errorf("%#x is called %s", op, info.Name)
		}
	}
}

func TestResponses(t *testing.T) {
	r := Reply{Op: GetKQ, Opaque: 0x01020304}
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"hit", append(r.AppendHit(nil, 0xaabbccdd, []byte("key"), 2, 7), "vv"...), "810d 0003 0400 0000 00000009 01020304 0000000000000007 aabbccdd 6b6579 7676"},
		{"empty", r.AppendEmpty(nil, 9), "810d 0000 0000 0000 00000000 01020304 0000000000000009"},
		{"error", r.AppendError(nil, NotFound), "810d 0000 0000 0001 00000009 01020304 0000000000000000 4e6f7420666f756e64"},
		{"number", r.AppendNumber(nil, math.MaxUint64, 3), "810d 0000 0000 0000 00000008 01020304 0000000000000003 ffffffffffffffff"},
		{"stat", r.AppendStat(nil, "pid", "1"), "810d 0003 0000 0000 00000004 01020304 0000000000000000 706964 31"},
		{"last stat", r.AppendStat(nil, "", ""), "810d 0000 0000 0000 00000000 01020304 0000000000000000"},
		{"missing key", append(r.AppendStart(nil, NotFound, 0, 1, 0, 0), 'k'), "810d 0001 0000 0001 00000001 01020304 0000000000000000 6b"},
	} {
		if got, want := hex.EncodeToString(c.got), unspace(c.want); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
		p, n, ok := ParsePacket(c.got, MagicResponse, MaxBody)
		if !ok || n != len(c.got) || p.Opaque != r.Opaque || p.Op != r.Op {
			t.Errorf("%s: parsed %+v, %d, %v", c.name, p, n, ok)
		}
	}
}

func TestRequests(t *testing.T) {
	for _, c := range []struct {
		name string
		got  []byte
		want string
	}{
		{"get", AppendGet(nil, Get, []byte("k"), 5), "8000 0001 0000 0000 00000001 00000005 0000000000000000 6b"},
		{"set", AppendStore(nil, Set, []byte("k"), []byte("val"), 6, 7, 5, 8), "8001 0001 0800 0000 0000000c 00000005 0000000000000008 00000006 00000007 6b 76616c"},
		{"gat", AppendTouch(nil, GAT, []byte("k"), 7, 5), "801d 0001 0400 0000 00000005 00000005 0000000000000000 00000007 6b"},
		{"incr", AppendDelta(nil, Incr, []byte("k"), 1, 2, NoCreate, 5, 8), "8005 0001 1400 0000 00000015 00000005 0000000000000008 0000000000000001 0000000000000002 ffffffff 6b"},
		{"append", AppendRequest(nil, Append, nil, []byte("k"), []byte("v"), 5, 8), "800e 0001 0000 0000 00000002 00000005 0000000000000008 6b 76"},
	} {
		if got, want := hex.EncodeToString(c.got), unspace(c.want); got != want {
			t.Errorf("%s\n got %s\nwant %s", c.name, got, want)
		}
		p, n, ok := ParsePacket(c.got, MagicRequest, MaxBody)
		if !ok || n != len(c.got) || !p.Op.Info().Fits(&p.Header) {
			t.Errorf("%s: parsed %+v, %d, %v", c.name, p, n, ok)
		}
		for cut := range c.got {
			if _, n, ok := ParsePacket(c.got[:cut], MagicRequest, MaxBody); n != 0 || !ok {
				t.Errorf("%s cut at %d: %d, %v", c.name, cut, n, ok)
			}
		}
	}
}

func TestParsePacketRefuses(t *testing.T) {
	for name, h := range map[string]Header{
		"magic":               {Magic: MagicResponse},
		"key beyond body":     {Magic: MagicRequest, KeyLen: 10, BodyLen: 9},
		"extras beyond body":  {Magic: MagicRequest, ExtLen: 255, BodyLen: 254},
		"both beyond body":    {Magic: MagicRequest, ExtLen: 5, KeyLen: 5, BodyLen: 9},
		"body over limit":     {Magic: MagicRequest, BodyLen: MaxBody + 1},
		"body 2^31-1":         {Magic: MagicRequest, BodyLen: math.MaxInt32},
		"body 2^31":           {Magic: MagicRequest, BodyLen: math.MaxInt32 + 1},
		"body 2^32-1":         {Magic: MagicRequest, BodyLen: math.MaxUint32},
		"all lengths maximal": {Magic: MagicRequest, ExtLen: 255, KeyLen: 65535, BodyLen: math.MaxUint32},
	} {
		b := append(AppendHeader(nil, &h), bytes.Repeat([]byte{1}, 400)...)
		if p, n, ok := ParsePacket(b, MagicRequest, MaxBody); ok || n != 0 {
			t.Errorf("%s: %+v, %d, %v", name, p, n, ok)
		}
	}
}

func TestTextsAreMemcacheds(t *testing.T) {
	for s, want := range map[Status]string{
		OK: "", NotFound: "Not found", Exists: "Data exists for key.", TooLarge: "Too large.",
		Invalid: "Invalid arguments", NotStored: "Not stored.", UnknownCommand: "Unknown command",
		NonNumeric: "Non-numeric server-side value for incr or decr", AuthError: "Auth failure.",
		AuthContinue: "", NoMemory: "Out of memory",
	} {
		if got := s.Text(); got != want {
			t.Errorf("status %#x: %q, want %q", uint16(s), got, want)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	key, value := []byte("some:key"), bytes.Repeat([]byte{'v'}, 100)
	buf := make([]byte, 0, 4096)
	n := testing.AllocsPerRun(100, func() {
		b := AppendStore(buf, Set, key, value, 1, 2, 3, 4)
		if _, n, ok := ParsePacket(b, MagicRequest, MaxBody); n != len(b) || !ok {
			t.Error("not a packet")
		}
		r := Reply{Op: Get}
		b = append(r.AppendHit(buf, 1, key, len(value), 1), value...)
		b = r.AppendError(b, NotFound)
		r.AppendNumber(b, 1, 1)
	})
	if n != 0 {
		t.Errorf("%v allocations", n)
	}
}

// FuzzParsePacket: any bytes give a packet that lies within them and encodes to the same bytes again, or none.
func FuzzParsePacket(f *testing.F) {
	f.Add(AppendGet(nil, Get, []byte("k"), 1))
	f.Add(AppendStore(nil, SetQ, []byte("k"), []byte("v"), 1, 2, 3, 4))
	f.Add(AppendHeader(nil, &Header{Magic: MagicRequest, ExtLen: 255, KeyLen: 65535, BodyLen: math.MaxUint32}))
	f.Add(AppendHeader(nil, &Header{Magic: MagicRequest, BodyLen: math.MaxInt32}))
	f.Fuzz(func(t *testing.T, in []byte) {
		p, n, ok := ParsePacket(in, MagicRequest, MaxBody)
		if n > len(in) || n > 0 && (!ok || n < HeaderLen) {
			t.Fatalf("%d bytes of %d, ok %v", n, len(in), ok)
		}
		if n == 0 {
			return
		}
		b := AppendHeader(nil, &p.Header)
		b = append(append(append(b, p.Extras...), p.Key...), p.Value...)
		if !bytes.Equal(b, in[:n]) {
			t.Fatalf("encodes to %x, was %x", b, in[:n])
		}
	})
}

func unspace(s string) string {
	return string(bytes.ReplaceAll([]byte(s), []byte(" "), nil))
}

func BenchmarkParseHeader(b *testing.B) {
	in := AppendGet(nil, Get, []byte("some:key"), 1)
	for b.Loop() {
		h := ParseHeader(in)
		if h.Op.Info().Fits(&h) != true {
			b.Fatal("shape")
		}
	}
}

func BenchmarkAppendHit(b *testing.B) {
	buf := make([]byte, 0, 256)
	r := Reply{Op: Get, Opaque: 1}
	for b.Loop() {
		r.AppendHit(buf, 1, nil, 100, 7)
	}
}
