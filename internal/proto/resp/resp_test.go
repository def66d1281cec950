package resp

import (
	"bytes"
	"fmt"
	"strconv"
	"strings"
	"testing"

	"github.com/cockroachdb/datadriven"
)

// wire makes bytes of lines: each ends with CRLF, unless it ends with a backslash; escapes are those of Go.
func wire(t testing.TB, lines string) (out []byte) {
	for l := range strings.Lines(lines) {
		l = strings.TrimSuffix(l, "\n")
		l, open := strings.CutSuffix(l, `\`)
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(l, `"`, `\"`) + `"`)
		if err != nil {
			t.Fatalf("%q: %v", l, err)
		}
		out = append(out, s...)
		if !open {
			out = append(out, crlf...)
		}
	}
	return out
}

// show writes v and all that is in it.
func show(v *Value) string {
	var b strings.Builder
	switch {
	case v.IsAggregate():
		fmt.Fprintf(&b, "%c[", v.Type)
		it := v.Elements()
		left := it.Left()
		var e Value
		for i := 0; it.Next(&e); i++ {
			if i > 0 {
				b.WriteString(" ")
			}
			b.WriteString(show(&e))
			left--
		}
		if left != 0 {
			fmt.Fprintf(&b, " ... %d are missing", left)
		}
		b.WriteString("]")
	case v.Type == Null:
		b.WriteString("null")
	case v.Type == Integer:
		fmt.Fprintf(&b, "%d", v.N)
	case v.Type == Bool:
		fmt.Fprintf(&b, "%v", v.N == 1)
	case v.Type == Double, v.Type == BigNumber:
		fmt.Fprintf(&b, "%c%s", v.Type, v.Text)
	default:
		fmt.Fprintf(&b, "%c%q", v.Type, v.Text)
	}
	return b.String()
}

// prefixes checks what must hold for every reply: nothing is found before it is whole, whatever is behind it changes
// nothing, what is no reply stays none, and a Scanner that gets it in pieces finds the same.
func prefixes(t testing.TB, in []byte, deep bool) (v Value, n int, err error) {
	n, err = Parse(in, &v)
	if n < 0 || n > len(in) || n > 0 && err != nil {
		t.Fatalf("%q: %d of %d bytes, %v", in, n, len(in), err)
	}
	var s Scanner
	wrong := false
	step := max(1, len(in)/300)
	for i := 0; i < len(in); i += step {
		var p Value
		k, e := Parse(in[:i:i], &p)
		switch {
		case wrong && e == nil:
			t.Fatalf("%q: %d bytes are no reply, but %d are", in, i-step, i)
		case e != nil && err == nil:
			t.Fatalf("%q: the first %d bytes: %v", in, i, e)
		case k != 0 && (k != n || i < n):
			t.Fatalf("%q: the first %d bytes: %d, all: %d", in, i, k, n)
		case k == 0 && e == nil && n > 0 && i >= n:
			t.Fatalf("%q: the first %d bytes: 0, all: %d", in, i, n)
		}
		wrong = wrong || e != nil
		if k == 0 && e == nil {
			if k, e = s.Scan(in[:i:i]); k != 0 || e != nil {
				t.Fatalf("%q in pieces, %d bytes: %d %v", in, i, k, e)
			}
		}
	}
	if n == 0 {
		return v, n, err
	}
	if k, e := s.Scan(in[:n]); k != n || e != nil || !s.Idle() {
		t.Fatalf("%q in pieces: %d %v, at once: %d", in, k, e, n)
	}
	if !bytes.Equal(in[s.Start:n], v.Raw) {
		t.Fatalf("%q in pieces: begins at %d", in, s.Start)
	}
	if deep {
		show(&v)
	}
	return v, n, err
}

// TestReplies reads testdata/replies: the input is what the server sends.
func TestReplies(t *testing.T) {
	datadriven.Walk(t, "testdata/replies", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			in := wire(t, d.Input)
			v, n, err := prefixes(t, in, false)
			switch {
			case err != nil:
				return "error: " + err.Error()
			case n == 0:
				return "incomplete"
			}
			said := show(&v)
			if n < len(in) {
				said += fmt.Sprintf(", %d bytes left", len(in)-n)
			}
			return said
		})
	})
}

func TestDepth(t *testing.T) {
	var v Value
	for depth, want := range map[int]bool{1: true, MaxDepth - 1: true, MaxDepth: false, 10000: false} {
		in := []byte(strings.Repeat("*1\r\n", depth) + ":1\r\n")
		if n, err := Parse(in, &v); (n == len(in)) != want || (err == nil) != want {
			t.Errorf("%d arrays: %d %v", depth, n, err)
		}
	}
	// what is empty is not entered
	in := []byte(strings.Repeat("*1\r\n", MaxDepth-1) + "*0\r\n")
	if n, err := Parse(in, &v); n != len(in) {
		t.Error(n, err)
	}
}

// TestLengths tries lengths at the limits of numbers.
func TestLengths(t *testing.T) {
	for in, want := range map[string]bool{
		"$281474976710656\r\n":      true,
		"$281474976710657\r\n":      false,
		"$9223372036854775807\r\n":  false,
		"$9223372036854775808\r\n":  false,
		"$18446744073709551616\r\n": false,
		"$-2\r\n":                   false,
		"!-1\r\n":                   false,
		"*1099511627776\r\n":        true,
		"*1099511627777\r\n":        false,
		"%1099511627776\r\n":        true,
		"%4611686018427387904\r\n":  false,
		"~-1\r\n":                   false,
		"*-2\r\n":                   false,
	} {
		var v Value
		if n, err := Parse([]byte(in), &v); n != 0 || (err == nil) != want {
			t.Errorf("%q: %d %v", in, n, err)
		}
	}
}

// TestPieces: a long array that comes in pieces is gone through once, not once for each piece.
func TestPieces(t *testing.T) {
	in := AppendArray(nil, 100000)
	for range 100000 {
		in = append(in, ":1\r\n"...)
	}
	var s Scanner
	for i := 0; i < len(in); i += 16 {
		if n, err := s.Scan(in[:i]); n != 0 || err != nil {
			t.Fatal(n, err)
		}
		if len(in[:i])-s.at > 16 {
			t.Fatalf("%d bytes, seen %d", i, s.at)
		}
	}
	if n, err := s.Scan(in); n != len(in) || err != nil {
		t.Fatal(n, err)
	}
}

func TestCommands(t *testing.T) {
	k, v := []byte("key"), []byte("val")
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendGet(nil, k), "GET key"},
		{AppendSet(nil, k, v), "SET key val"},
		{AppendSet(nil, k, nil), "SET key "},
		{AppendSetEx(nil, k, 1<<32-1, v), "SETEX key 4294967295 val"},
		{AppendGetRange(nil, k, 10, -1), "GETRANGE key 10 -1"},
		{AppendSetRange(nil, k, 10, v), "SETRANGE key 10 val"},
		{AppendMGet(nil, [][]byte{k, v}), "MGET key val"},
		{AppendDel(nil, k), "DEL key"},
		{AppendExpire(nil, k, 7), "EXPIRE key 7"},
		{AppendPersist(nil, k), "PERSIST key"},
		{AppendIncrBy(nil, k, 1<<64-1), "INCRBY key 18446744073709551615"},
		{AppendDecrBy(nil, k, 0), "DECRBY key 0"},
		{AppendWait(nil, 2, 1000), "WAIT 2 1000"},
		{AppendArgs(nil, [][]byte{k, v, k}), "key val key"},
		{AppendCommand(nil, "HELLO", "3"), "HELLO 3"},
		{AppendBulkInt(AppendArray(nil, 1), -1<<63), "-9223372036854775808"},
	} {
		var got []string
		var a, e Value
		if n, err := Parse(c.got, &a); n != len(c.got) || err != nil || a.Type != Array {
			t.Errorf("%q: %d %v", c.got, n, err)
		}
		for it := a.Elements(); it.Next(&e); {
			if e.Type != Bulk {
				t.Errorf("%q: %c", c.got, e.Type)
			}
			got = append(got, string(e.Text))
		}
		if s := strings.Join(got, " "); s != c.want {
			t.Errorf("%q: %q, want %q", c.got, s, c.want)
		}
	}
}

func TestTypes(t *testing.T) {
	for c := range 256 {
		in2 := strings.ContainsRune("+-:$*", rune(c))
		in3 := in2 || strings.ContainsRune("_,#(!=~>%|", rune(c))
		if Type(c).In(2) != in2 || Type(c).In(3) != in3 {
			t.Errorf("%q", rune(c))
		}
	}
}

func TestAllocations(t *testing.T) {
	in := []byte(">1\r\n+x\r\n%2\r\n+a\r\n*2\r\n:1\r\n$1\r\nx\r\n+b\r\n,1.5\r\n")
	key := []byte("key")
	buf := make([]byte, 0, 1024)
	var s Scanner
	var v, e Value
	if n := testing.AllocsPerRun(100, func() {
		n, err := s.Scan(in)
		if n != len(in) || err != nil {
			t.Fatal(n, err)
		}
		s.Value(in[:n], &v)
		for it := v.Elements(); it.Next(&e); {
		}
		b := AppendSetEx(buf, key, 1234567, key)
		b = AppendGetRange(b, key, 12345, -1)
		AppendCommand(b, "GET", "key")
	}); n != 0 {
		t.Error(n, "allocations")
	}
}

func FuzzParse(f *testing.F) {
	for _, s := range []string{
		"+OK\r\n", "-ERR x\r\n", ":-12\r\n", "$3\r\nabc\r\n", "$-1\r\n", "*-1\r\n", "*0\r\n", "*2\r\n:1\r\n*1\r\n$0\r\n\r\n", "_\r\n", "#t\r\n",
		",1.5e+10\r\n", ",-inf\r\n", "(123456789012345678901234567890\r\n", "!3\r\nERR\r\n", "=7\r\ntxt:abc\r\n", "%1\r\n+a\r\n:1\r\n",
		"~1\r\n+a\r\n", "|1\r\n+ttl\r\n:1\r\n+OK\r\n", ">2\r\n+message\r\n+x\r\n:1\r\n", "*1\r\n|0\r\n:1\r\n", "$?\r\n", "*?\r\n", "*1\r\n>0\r\n",
		"$9223372036854775807\r\n", "%4611686018427387904\r\n", "*1\r\n*1\r\n*1\r\n*1\r\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		_, n, _ := prefixes(t, in, true)
		if n > 0 {
			prefixes(t, append(in[:n:n], "$5\r\n"...), false)
		}
	})
}

func BenchmarkHead(b *testing.B) {
	in := AppendBulk(nil, bytes.Repeat([]byte{'x'}, 128))
	var v Value
	for b.Loop() {
		if n, err := Head(in, &v); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkScan100(b *testing.B) {
	in := AppendArray(nil, 100)
	for range 100 {
		in = AppendBulk(in, bytes.Repeat([]byte{'x'}, 128))
	}
	var s Scanner
	for b.Loop() {
		if n, err := s.Scan(in); n != len(in) || err != nil {
			b.Fatal(n, err)
		}
	}
}
