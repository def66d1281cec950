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
