package mctext

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
			out = append(out, lineEnd...)
		}
	}
	return out
}

// scanners read one answer and say what they read.
var scanners = map[string]func(in []byte) (n int, said string, err error){
	"line": func(in []byte) (int, string, error) {
		a, text, n, err := ScanLine(in)
		return n, fmt.Sprintf("answer %d %q", a, text), err
	},
	"values": func(in []byte) (int, string, error) {
		var v Values
		n, err := v.Scan(in)
		return n, fmt.Sprintf("hits %d, value %.20q of %d, problem %q", v.Hits, v.Value, len(v.Value), v.Problem), err
	},
	"meta": func(in []byte) (int, string, error) {
		var a MetaAnswer
		n, err := ScanMeta(in, &a)
		o, ok := a.Flag('O')
		return n, fmt.Sprintf("answer %d, flags %q, opaque %q %v, value %.20q, line %q", a.Answer, a.Flags, o, ok, a.Value, a.Line), err
	},
}

// prefixes checks what must hold for every answer: nothing is found before it is whole, whatever is behind it changes
// nothing, and what is no answer stays none.
func prefixes(t testing.TB, in []byte, scan func([]byte) (int, string, error)) (n int, said string, err error) {
	n, said, err = scan(in)
	if n < 0 || n > len(in) || n > 0 && err != nil {
		t.Fatalf("%q: %d of %d bytes, %v", in, n, len(in), err)
	}
	step := max(1, len(in)/500)
	wrong := false
	for i := 0; i < len(in); i += step {
		k, what, e := scan(in[:i:i])
		switch {
		case wrong && e == nil:
			t.Fatalf("%q: %d bytes are no answer, but %d are", in, i-step, i)
		case e != nil && err == nil:
			t.Fatalf("%q: the first %d bytes: %v", in, i, e)
		case k != 0 && (k != n || i < n || what != said):
			t.Fatalf("%q: the first %d bytes: %d %s, all: %d %s", in, i, k, what, n, said)
		case k == 0 && e == nil && n > 0 && i >= n:
			t.Fatalf("%q: the first %d bytes: 0, all: %d", in, i, n)
		}
		wrong = wrong || e != nil
	}
	return n, said, err
}

// TestAnswers reads testdata/answers: a command is the name of a scanner, its input what the server sends.
func TestAnswers(t *testing.T) {
	datadriven.Walk(t, "testdata/answers", func(t *testing.T, path string) {
		datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
			scan := scanners[d.Cmd]
			if scan == nil {
				d.Fatalf(t, "no scanner is called so")
			}
			in := wire(t, d.Input)
			n, said, err := prefixes(t, in, scan)
			if err != nil {
				return "error: " + err.Error()
			}
			if n == 0 {
				return "incomplete"
			}
			if d.Cmd == "values" {
				pieces(t, in[:n])
			}
			if n < len(in) {
				said += fmt.Sprintf(", %d bytes left", len(in)-n)
			}
			return said
		})
	})
}

// pieces gives one Values an answer byte by byte: it must find the same as at once, and be ready for the next.
func pieces(t testing.TB, in []byte) {
	var whole, v Values
	if n, err := whole.Scan(in); n != len(in) || err != nil {
		t.Fatalf("%q: %d %v", in, n, err)
	}
	for round := range 2 {
		for i := range in {
			if n, err := v.Scan(bytes.Clone(in[:i])); n != 0 || err != nil {
				t.Fatalf("%q: %d bytes: %d %v", in, i, n, err)
			}
		}
		n, err := v.Scan(in)
		if n != len(in) || err != nil || v.Hits != whole.Hits || !bytes.Equal(v.Value, whole.Value) || !bytes.Equal(v.Problem, whole.Problem) {
			t.Fatalf("%q in pieces, round %d: %d %v %+v, want %+v", in, round, n, err, v, whole)
		}
	}
}

// TestLargeValue: the head of a large value is enough to know that there is nothing to do yet.
func TestLargeValue(t *testing.T) {
	in := append([]byte("VALUE k 0 1073741824\r\n"), make([]byte, 1<<20)...)
	var v Values
	if n := testing.AllocsPerRun(10000, func() {
		if n, err := v.Scan(in); n != 0 || err != nil {
			t.Fatal(n, err)
		}
	}); n != 0 {
		t.Error(n, "allocations")
	}
}

func TestRequestsOfClients(t *testing.T) {
	k, v := []byte("key"), []byte("val")
	keys := [][]byte{[]byte("k1"), []byte("k2")}
	for _, c := range []struct {
		got  []byte
		want string
	}{
		{AppendGet(nil, k), "get key\r\n"},
		{AppendMGet(nil, keys), "get k1 k2\r\n"},
		{Spaced(AppendGet(nil, k)), "get key \r\n"},
		{Spaced(AppendMGet(nil, keys)), "get k1 k2 \r\n"},
		{Spaced(AppendDelete(nil, k, false)), "delete key \r\n"},
		{AppendSet(nil, k, 0, 0, v, false), "set key 0 0 3\r\nval\r\n"},
		{AppendSet(nil, k, 1<<32-1, 1<<32-1, nil, true), "set key 4294967295 4294967295 0 noreply\r\n\r\n"},
		{AppendTouch(nil, k, 30, false), "touch key 30\r\n"},
		{AppendTouch(nil, k, 0, true), "touch key 0 noreply\r\n"},
		{AppendIncr(nil, k, 1<<64-1, false), "incr key 18446744073709551615\r\n"},
		{AppendDecr(nil, k, 1, true), "decr key 1 noreply\r\n"},
		{AppendDelete(nil, k, true), "delete key noreply\r\n"},
		{AppendMetaEnd(AppendMeta(nil, "mg", k)), "mg key\r\n"},
		{AppendMetaEnd(AppendMark(AppendWords(AppendMeta(nil, "mg", k), []byte("s v")), 'q')), "mg key s v q\r\n"},
		{AppendMetaEnd(append(AppendMetaEnd(AppendFlag(AppendMetaSet(nil, k, 3), 'T', 9)), v...)), "ms key 3 T9\r\nval\r\n"},
		{AppendMetaEnd(AppendWords(AppendMeta(nil, "md", k), nil)), "md key\r\n"},
	} {
		if string(c.got) != c.want {
			t.Errorf("%q, want %q", c.got, c.want)
		}
	}
}

func FuzzAnswers(f *testing.F) {
	for _, s := range []string{
		"STORED\r\n", "NOT_STORED\r\n", "EXISTS\r\n", "NOT_FOUND\r\n", "TOUCHED\r\n", "DELETED\r\n", "OK\r\n", "12 \r\n", "ERROR\r\n",
		TooLarge, BadFormatTwo, "END\r\n", "VALUE k 1 2\r\nab\r\nEND\r\n", "VALUE k 1 2 7\r\nab\r\nVALUE l 0 0\r\n\r\nEND\r\n",
		"VALUE k 0 2\r\nab\r\n" + NoMemoryGet, "\r\nEND\r\n", "HD\r\n", "HD O1 q\r\n", "VA 2 s2 O7\r\nab\r\n", "EN\r\n", "NF O1\r\n", "NS\r\n",
		"EX\r\n", "MN\r\n", "ME k exp=-1\r\n", "VALUE k 0 99999999999\r\n", "VALUE k 0 2147483645\r\n", "VALUE  0 1\r\n", "END\n", "\n",
	} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		for name, scan := range scanners {
			n, _, _ := prefixes(t, in, scan)
			if n > 0 && name == "values" && len(in) < 1000 {
				pieces(t, in[:n])
			}
			if n > 0 {
				prefixes(t, append(in[:n:n], "VALUE x"...), scan)
			}
		}
	})
}

func BenchmarkScanMeta(b *testing.B) {
	in := []byte("VA 128\r\n" + strings.Repeat("x", 128) + "\r\nMN\r\n")
	var a MetaAnswer
	for b.Loop() {
		if n, err := ScanMeta(in, &a); n == 0 || err != nil {
			b.Fatal(n, err)
		}
	}
}

// BenchmarkValues100 is a multi-get of 100 keys that comes in pieces of 1 KiB: each value is read once.
func BenchmarkValues100(b *testing.B) {
	var in []byte
	for i := range 100 {
		in = fmt.Appendf(in, "VALUE key:%d 0 128\r\n%0128d\r\n", i, i)
	}
	in = append(in, End...)
	var v Values
	for b.Loop() {
		n := 0
		for i := 1024; n == 0; i += 1024 {
			n, _ = v.Scan(in[:min(i, len(in))])
		}
	}
}
