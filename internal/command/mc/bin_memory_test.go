package mc

import (
	"strings"
	"testing"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// TestBinNoMemory: where no memory can be freed the answer says so, the body is skipped, and the connection stays.
func TestBinNoMemory(t *testing.T) {
	w := binWorker(t, "-m", "4", "-M")
	p := binPipe(w, nil)
	var s binScript
	refused := 0
	for i := range 200 {
		p.got = nil
		key := string(bytesx.AppendUint([]byte("key"), uint64(i)))
		p.write(s.encode(t, "set key="+key+" value=x*50000"))
		if strings.Contains(string(p.got), mcbin.TextNoMemoryItem) {
			refused++
		}
	}
	if refused == 0 {
		t.Fatal("10 MB were stored in 4 MB")
	}
	p.got = nil
	in := s.encode(t, "set key=large value=y*900000")
	for len(in) > 0 {
		n := min(len(in), 10_000)
		p.write(in[:n])
		in = in[n:]
	}
	if got, want := s.decode(p.got, p.closed(), false), "set 0x82 value=Out of memory during read\n"; got != want {
		t.Errorf("a large value: %s, want %s", got, want)
	}
	p.got = nil
	p.write(s.encode(t, "get key=large\nadd key=tiny value=x*50000\nincr key=key0 delta=1\nnoop"))
	want := "get 0x1 value=Not found\nadd 0x82 value=Out of memory allocating item\nincr 0x6 value=Non-numeric server-side value for incr or decr\nnoop 0x0\n"
	if got := s.decode(p.got, p.closed(), false); got != want {
		t.Errorf("afterwards: %s, want %s", got, want)
	}
}
