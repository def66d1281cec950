package mc

import (
	"bytes"
	"fmt"
	"strings"
	"testing"
	"time"

	"godwit/internal/bytesx"
)

// TestDumpInSlices: a dump of many items comes in parts of bounded size and shows every item once; requests that arrive
// meanwhile are answered behind it, and a client that goes away in the middle leaves nothing.
func TestDumpInSlices(t *testing.T) {
	w := binWorker(t)
	const n = 30_000
	for i := range n {
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "key:%d", i)}, []byte("value"))
	}
	text := &Text{Conn: &sleeper{id: 1}}
	var out bytesx.Out
	in := []byte("lru_crawler metadump all\r\nmn\r\n")
	var got []byte
	parts := 0
	for {
		used, v := text.Feed(w, in, &out)
		in = in[used:]
		if len(out.Buf) > 2*partBytes {
			t.Fatalf("a part of %d bytes", len(out.Buf))
		}
		got = append(got, out.Buf...)
		out.Reset()
		parts++
		if v == More {
			break
		}
		if v != Stream && v != Yield {
			t.Fatalf("verdict %d", v)
		}
		if v == Stream && bytes.Contains(got, []byte("MN")) {
			t.Fatal("answered before its turn")
		}
	}
	if parts < 20 {
		t.Errorf("%d parts", parts)
	}
	s := string(got)
	if !strings.HasPrefix(s, "OK\r\n") || !strings.HasSuffix(s, "END\r\nMN\r\n") {
		t.Errorf("%.40q … %q", s, s[max(0, len(s)-40):])
	}
	seen := map[string]bool{}
	for line := range strings.Lines(s) {
		if key, _, ok := strings.Cut(strings.TrimPrefix(line, "key="), " "); ok {
			seen[key] = true
		}
	}
	if len(seen) != n || strings.Count(s, "key=") != n {
		t.Errorf("%d keys on %d lines, want %d", len(seen), strings.Count(s, "key="), n)
	}

	used, v := text.Feed(w, []byte("lru_crawler mgdump all\r\n"), &out)
	if used == 0 || v != Stream {
		t.Fatalf("used %d, verdict %d", used, v)
	}
	text.Drop(w)
	if !text.Idle() {
		t.Error("dropped, but not idle")
	}
}

// TestCachedumpLimit: the answer is bounded whatever the cache holds.
func TestCachedumpLimit(t *testing.T) {
	w := binWorker(t, "-m", "200")
	long := strings.Repeat("k", 200)
	for i := range 20_000 {
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "%s%d", long, i)}, nil)
	}
	class := w.Store.ClassOf(205, 0, 0)
	text := &Text{}
	var out bytesx.Out
	total := 0
	in := fmt.Appendf(nil, "stats cachedump %d 0\r\n", class)
	for {
		used, v := text.Feed(w, in, &out)
		in = in[used:]
		total += len(out.Buf)
		out.Reset()
		if v == More {
			break
		}
	}
	if total < 2<<20 || total > 2<<20+1000 {
		t.Errorf("%d bytes", total)
	}
}

// TestCrawlClasses: a crawl takes what expired in the classes it is given, however little that is, and nothing else.
func TestCrawlClasses(t *testing.T) {
	w := binWorker(t)
	const n = 50
	for i := range n {
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "small%d", i), Expiry: w.Expiry(100)}, nil)
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "large%d", i), Expiry: w.Expiry(100)}, make([]byte, 500))
		w.Put(&StoreOp{Key: fmt.Appendf(nil, "stays%d", i), Expiry: w.Expiry(1000)}, make([]byte, 1000))
	}
	small, large := w.Store.ClassOf(7, 0, 0), w.Store.ClassOf(7, 500, 0)
	w.Clock.Shift(101_000)
	w.L.Turn(w.Clock.Ms())
	crawl := func(classes string) {
		t.Helper()
		var out bytesx.Out
		(&Text{}).Feed(w, []byte("lru_crawler crawl "+classes+"\r\n"), &out)
		if got := string(out.Buf); got != "OK\r\n" {
			t.Fatalf("crawl %s: %q", classes, got)
		}
		for until := time.Now().Add(10 * time.Second); w.Store.Sweeping(); time.Sleep(time.Millisecond) {
			if time.Now().After(until) {
				t.Fatal("the crawl does not end")
			}
		}
	}
	swept := func() (int, int, uint64) {
		s := w.Store.Stats()
		return int(s.Class[small].Swept), int(s.Class[large].Swept), s.Swept
	}
	crawl(fmt.Sprintf("%d,63", large))
	if s, l, all := swept(); s != 0 || l != n || all != n {
		t.Errorf("of class %d: swept %d small, %d large, %d in all", large, s, l, all)
	}
	crawl("all")
	if s, l, all := swept(); s != n || l != n || all != 2*n {
		t.Errorf("of all classes: swept %d small, %d large, %d in all", s, l, all)
	}
	if s := w.Store.Stats(); s.Class[small].SweptChecked < 2*n || s.Items != n {
		t.Errorf("%d items, %d of class %d were looked at", s.Items, s.Class[small].SweptChecked, small)
	}
}

// TestPrefixesAreBounded: clients cannot have stats detail remember any number of prefixes.
func TestPrefixesAreBounded(t *testing.T) {
	w := binWorker(t)
	w.SetDetail(true)
	for i := range maxPrefixes + 1000 {
		w.CountGet(fmt.Appendf(nil, "%d:x", i), false)
	}
	w.CountGet([]byte("1:y"), true)
	if n := len(w.admin.prefixes.m); n != maxPrefixes {
		t.Errorf("%d prefixes", n)
	}
	if c := w.admin.prefixes.m["1"]; c.get != 2 || c.hit != 1 {
		t.Errorf("%+v", c)
	}
	w.ResetStats()
	if n := len(w.admin.prefixes.m); n != 0 {
		t.Errorf("%d prefixes after reset", n)
	}
}

func TestHashPower(t *testing.T) {
	w := binWorker(t)
	for items, want := range map[uint64]int{0: 16, 98304: 16, 98305: 17, 131072: 17, 196609: 18, 1 << 40: 40} {
		if got := w.hashPower(items); got != want {
			t.Errorf("%d items: %d, want %d", items, got, want)
		}
	}
}
