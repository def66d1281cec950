package codec

import (
	"bytes"
	"testing"

	"godwit/internal/load"
)

var (
	benchKey   = []byte("memtier-1234567")
	benchValue = bytes.Repeat([]byte{'x'}, 128)
)

func BenchmarkTextAppendGet(b *testing.B) {
	c := NewText()
	buf := make([]byte, 0, 4096)
	op := load.Op{Kind: load.Get, Key: benchKey}
	for b.Loop() {
		c.Append(buf, &op)
	}
}

func BenchmarkTextReplyGet(b *testing.B) {
	c := NewText()
	in := []byte("VALUE memtier-1234567 0 128\r\n" + string(benchValue) + "\r\nEND\r\n")
	in = append(in, in...)
	var r load.Reply
	for b.Loop() {
		if n, err := c.Reply(in, load.Want{Kind: load.Get, Keys: 1}, &r); n != len(in)/2 || err != nil || r.Hits != 1 {
			b.Fatal(n, err)
		}
	}
}

func BenchmarkTextReplySet(b *testing.B) {
	c := NewText()
	in := []byte("STORED\r\nSTORED\r\n")
	var r load.Reply
	for b.Loop() {
		if n, err := c.Reply(in, load.Want{Kind: load.Set, Keys: 1}, &r); n != 8 || err != nil {
			b.Fatal(n, err)
		}
	}
}

func TestTextFirst(t *testing.T) {
	c := NewText()
	got := c.Append(nil, &load.Op{Kind: load.Set, Key: []byte("k"), Value: []byte("v"), Flags: 3, Expiry: 4})
	if string(got) != "set k 3 4 1\r\nv\r\n" {
		t.Errorf("%q", got)
	}
	var r load.Reply
	in := "VALUE k 3 1\r\nv\r\nEND\r\n"
	for i := range in {
		if n, err := c.Reply([]byte(in[:i]), load.Want{Kind: load.Get, Keys: 1}, &r); n != 0 || err != nil {
			t.Error(i, n, err)
		}
	}
	if n, err := c.Reply([]byte(in), load.Want{Kind: load.Get, Keys: 1}, &r); n != len(in) || err != nil || r.Hits != 1 || r.Misses != 0 || string(r.Value) != "v" {
		t.Error(n, err, r)
	}
}
