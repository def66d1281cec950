package session

import (
	"strings"
	"testing"

	"godwit/internal/bytesx"
	"godwit/internal/netloop"
)

// read_buf_mem_limit, a loop's share of it: a retrieval of too many keys is answered with an error, too many answers
// stacked by a pipeline end the connection, and both are counted.
func TestAnswersOverLimit(t *testing.T) {
	w, cfg := newWorker(t, "-t", "32", "-R", "500", "-o", "read_buf_mem_limit=1")
	s := New(w, cfg, fakeConn{})
	var out bytesx.Out
	many := "get " + strings.Repeat("foo ", 500) + "\r\n"
	for _, c := range []struct {
		name, in, out string
		verdict       netloop.Verdict
		count         uint64
	}{
		{"few keys", "get foo foo\r\n", "END\r\n", netloop.More, 0},
		{"many keys", many, "SERVER_ERROR out of memory writing get response\r\n", netloop.More, 1},
		{"usable afterwards", "mn\r\n", "MN\r\n", netloop.More, 1},
		{"gat", "gat 0" + many[3:], "SERVER_ERROR out of memory writing get response\r\n", netloop.More, 2},
		{"stacked", strings.Repeat("mg foo v\r\n", 500), "", netloop.Abort, 3},
	} {
		out.Reset()
		_, v := s.Feed([]byte(c.in), &out)
		if v != c.verdict || c.verdict != netloop.Abort && string(out.Buf) != c.out {
			t.Errorf("%s: verdict %d, answer %q", c.name, v, out.Buf)
		}
		if n := w.St.C.ResponseObjOOM; n != c.count {
			t.Errorf("%s: response_obj_oom %d, want %d", c.name, n, c.count)
		}
	}
}

// A retrieval of many keys is answered in parts, each of bounded size, and the parts together are the answer. A key that
// is too long spoils it all the same, as long as nothing was sent.
func TestRetrievalInParts(t *testing.T) {
	w, cfg := newWorker(t)
	value := strings.Repeat("x", 8000)
	for _, verb := range []string{"get", "gets", "gat 0", "gats 0"} {
		s := New(w, cfg, fakeConn{})
		ask := func(in string) (answer string, longest int) {
			var out bytesx.Out
			for rest := []byte(in); ; {
				used, v := s.Feed(rest, &out)
				rest = rest[used:]
				answer += string(out.Buf)
				longest = max(longest, len(out.Buf))
				out.Reset()
				if v != netloop.Stream && len(rest) == 0 {
					return answer, longest
				}
			}
		}
		one, _ := ask("set k 7 0 8000\r\n" + value + "\r\n" + verb + " k\r\n")
		one = strings.TrimSuffix(strings.TrimPrefix(one, "STORED\r\n"), "END\r\n")
		const times = 1000
		got, longest := ask(verb + strings.Repeat(" k", times) + "\r\nmn\r\n")
		if got != strings.Repeat(one, times)+"END\r\nMN\r\n" {
			t.Errorf("%s: answer of %d bytes, want %d", verb, len(got), times*len(one)+9)
		}
		if longest > 2<<20 {
			t.Errorf("%s: a part of %d bytes", verb, longest)
		}
		got, _ = ask(verb + strings.Repeat(" k", times) + " " + strings.Repeat("k", 251) + "\r\nmn\r\n")
		if !strings.HasPrefix(got, "CLIENT_ERROR bad command line format\r\n") {
			t.Errorf("%s with a long key at the end: answer begins %.60q", verb, got)
		}
	}
}
