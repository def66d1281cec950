package mctext

import (
	"bytes"
	"strings"
	"testing"
)

func TestCut(t *testing.T) {
	for in, want := range map[string]struct {
		line string
		n    int
	}{
		"":             {"", 0},
		"get a":        {"", 0},
		"get a\r":      {"", 0},
		"\n":           {"", 1},
		"\r\n":         {"", 2},
		"get a\nx":     {"get a", 6},
		"get a\r\nx":   {"get a", 7},
		"get a\r\r\nx": {"get a\r", 8},
		"\r\r\n":       {"\r", 3},
	} {
		line, n := Cut([]byte(in))
		if string(line) != want.line || n != want.n {
			t.Errorf("%q: %q %d", in, line, n)
		}
	}
}

func TestEndless(t *testing.T) {
	for in, want := range map[string]bool{
		"get ":                            true,
		"gets ":                           true,
		"get":                             false,
		"getx ":                           false,
		"gat ":                            false,
		strings.Repeat(" ", 100) + "get ": true,
		strings.Repeat(" ", 101) + "get ": false,
		"\x00get ":                        false,
	} {
		if Endless([]byte(in)) != want {
			t.Errorf("%q", in)
		}
	}
}

func TestRequest(t *testing.T) {
	var r Request
	for in, want := range map[string]string{
		"":                                       "",
		"   ":                                    "",
		"get":                                    "get",
		" get":                                   "get",
		"get a  b ":                              "get|a|b",
		"a\tb c\x00":                             "a\tb|c\x00",
		"x noreply":                              "x|noreply",
		strings.Repeat("t ", 30):                 strings.Repeat("t|", MaxTokens-1) + "t",
		strings.Repeat(" ", 65534):               "",
		"a " + strings.Repeat("b", 70000) + " c": "a|" + strings.Repeat("b", MaxOffset-2),
	} {
		r.Parse([]byte(in))
		var got []string
		for i := range r.Len() {
			got = append(got, string(r.Tok(i)))
		}
		if s := strings.Join(got, "|"); s != want {
			t.Errorf("%.40q: %.60q, want %.60q", in, s, want)
		}
		if r.Tok(r.Len()) != nil || r.NoReply() != strings.HasSuffix(want, "noreply") {
			t.Errorf("%.40q: end", in)
		}
	}
}

// TestNumbers has for each reader what it takes, and what it refuses after the bar.
func TestNumbers(t *testing.T) {
	for name, c := range map[string]struct {
		read     func(b []byte) (int64, bool)
		yes, not string
	}{
		"U64":     {func(b []byte) (int64, bool) { v, ok := U64(b); return int64(v), ok }, "0 7 18446744073709551615 0000000000000000000001", "+1 -1 x 1x 18446744073709551616 00000000000000000000001"},
		"U32":     {func(b []byte) (int64, bool) { v, ok := U32(b); return int64(v), ok }, "0 4294967295 00000000001", "4294967296 -1 +1 000000000001"},
		"I32":     {func(b []byte) (int64, bool) { v, ok := I32(b); return int64(v), ok }, "0 -0 - 2147483647 -2147483648 00000000001", "2147483648 -2147483649 +1 1x -1x -00000000001"},
		"Size":    {func(b []byte) (int64, bool) { v, ok := Size(b); return int64(v), ok }, "0 2147483645", "2147483646 -1 x +1"},
		"Flags":   {func(b []byte) (int64, bool) { v, ok := Flags(b); return int64(v), ok }, "0 +5 4294967296 18446744073709551615 000000000000000000000000001 1\x00x", "-1 -0 18446744073709551616 1x x +"},
		"Exptime": {func(b []byte) (int64, bool) { v, ok := Exptime(b); return int64(v), ok }, "0 +5 -1 99999999999 -9223372036854775808 9223372036854775807", "9223372036854775808 -9223372036854775809 1x x -"},
	} {
		for _, s := range strings.Fields(c.yes) {
			if _, ok := c.read([]byte(s)); !ok {
				t.Errorf("%s refuses %q", name, s)
			}
		}
		for _, s := range append(strings.Fields(c.not), "") {
			if v, ok := c.read([]byte(s)); ok {
				t.Errorf("%s takes %q as %d", name, s, v)
			}
		}
	}
	if v, _ := Flags([]byte("4294967297")); v != 1 {
		t.Errorf("flags are cut to %d", v)
	}
	if v, _ := Exptime([]byte("2147483648")); v != -1<<31 {
		t.Errorf("exptime is cut to %d", v)
	}
}

func TestMeta(t *testing.T) {
	var r Request
	var m Meta
	r.Parse([]byte("mg key s T30 N-1 R5 C9 E10 F7 D3 J4 MA O12 q"))
	if e := m.Parse(&r, 2); e != "" {
		t.Fatal(e)
	}
	if e := m.Tokens(&r); e != "" {
		t.Fatal(e)
	}
	if m.TTL != 30 || m.Auto != -1 || m.Rare != 5 || m.CAS != 9 || m.NewCAS != 10 || m.Flags != 7 || m.Delta != 3 || m.Init != 4 || m.Mode != 'A' {
		t.Errorf("%+v", m)
	}
	for _, c := range []byte("sTNRCEFDJMOq") {
		if !m.Has(c) {
			t.Errorf("%c is missing", c)
		}
	}
	if m.Has('v') || m.Has('b') || m.Has('k') {
		t.Error("flags that are not there")
	}
}

// FuzzRequest compares the tokeniser with a plain one, and the quick way of set with the general one.
func FuzzRequest(f *testing.F) {
	for _, s := range []string{
		"get a b", " set  a 0 0 1 ", "set key 5 100 12 noreply", "set key 5 -100 12", "set k 0 0 1 ", "set k 0 0 1  noreply",
		"set k 9999999999 0 1", "set k 0 0 1 x", "set \x00 0 0 0", "set k 0 0 ", "set k 0 0", "mg k v O1 T30",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		if len(line) > MaxOffset {
			return
		}
		var r Request
		r.Parse(line)
		plain := bytes.FieldsFunc(line, func(c rune) bool { return c == ' ' })
		if r.Len() != min(len(plain), MaxTokens) {
			t.Fatalf("%d tokens, want %d", r.Len(), len(plain))
		}
		for i := range r.Len() {
			if !bytes.Equal(r.Tok(i), plain[i]) {
				t.Fatalf("token %d: %q, want %q", i, r.Tok(i), plain[i])
			}
		}
		var m Meta
		if m.Parse(&r, min(2, r.Len())) == "" {
			m.Tokens(&r)
		}
		if !bytes.HasPrefix(line, []byte("set ")) {
			return
		}
		s, ok := ParseSet(line)
		if !ok {
			return
		}
		flags, ok1 := Flags(r.Tok(2))
		exptime, ok2 := Exptime(r.Tok(3))
		size, ok3 := Size(r.Tok(4))
		if !ok1 || !ok2 || !ok3 || len(s.Key) > MaxKey ||
			!bytes.Equal(s.Key, r.Tok(1)) || s.Flags != flags || s.Exptime != exptime || s.Size != size || s.NoReply != r.NoReply() {
			t.Fatalf("%q: %+v", line, s)
		}
	})
}

func TestAllocs(t *testing.T) {
	line := []byte("set key:0000000001 5 100 12 noreply")
	var r Request
	if n := testing.AllocsPerRun(100, func() {
		r.Parse(line)
		ParseSet(line)
	}); n != 0 {
		t.Errorf("%.1f allocations", n)
	}
}

func BenchmarkParse(b *testing.B) {
	line := []byte("set key:0000000001 5 100 12")
	var r Request
	for b.Loop() {
		r.Parse(line)
	}
}

func BenchmarkParseSet(b *testing.B) {
	line := []byte("set key:0000000001 5 100 12")
	for b.Loop() {
		ParseSet(line)
	}
}
