package store

import (
	"bytes"
	"errors"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

type fileCase struct {
	limit  int64
	locals int
	path   string
	tag    string
}

func (c fileCase) open(t testing.TB) *Store {
	t.Helper()
	s, err := Open(Config{Limit: c.limit, Locals: c.locals, MaxItem: 1 << 20, File: c.path, Tag: c.tag})
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// memoryDir is a directory in memory if there is one, as users of -e choose it: elsewhere each sync waits for a disk.
func memoryDir(t testing.TB) string {
	dir, err := os.MkdirTemp("/dev/shm", "godwit")
	if err != nil {
		return t.TempDir()
	}
	t.Cleanup(func() { os.RemoveAll(dir) })
	return dir
}

// facts of all live items, by key.
func facts(t testing.TB, s *Store) map[string]string {
	l := s.Local(0)
	l.Turn(s.clock.Ms())
	var keys []string
	var c Cursor
	for more := true; more; {
		more = l.Walk(&c, func(v *View) { keys = append(keys, string(v.Key)) })
	}
	out := map[string]string{}
	for _, k := range keys {
		e := l.Lock([]byte(k), l.Hash([]byte(k)))
		if e.Found() {
			if err := checkValue(e.Value(), k); err != nil {
				t.Error(err)
			}
			out[k] = fmt.Sprint(e.Flags(), e.CAS(), e.Expiry(), e.Marks(), e.Access(), e.Len(), string(e.Value()))
		}
		e.Unlock()
	}
	return out
}

// load writes items of all kinds; with much set until something is evicted.
func loadItems(t testing.TB, s *Store, n int, seed uint64) {
	rng := rand.New(rand.NewPCG(seed, 1))
	var buf []byte
	for i := range n {
		l := s.Local(rng.IntN(len(s.locals) - 1))
		l.Turn(s.clock.Ms())
		key := fmt.Sprintf("key%d", rng.IntN(n))
		size := 40 + rng.IntN(500)
		if rng.IntN(100) == 0 {
			size = 5000 + rng.IntN(100_000)
		}
		buf = value(buf, key, uint64(i), size)
		sp := Spec{Len: size, Flags: uint32(rng.IntN(3)), Marks: []Mark{0, Stale, WinSent, BinaryKey}[rng.IntN(4)]}
		if rng.IntN(3) == 0 {
			sp.Expiry = l.Now() + 3_600_000 + int64(rng.IntN(1_000_000))
		}
		p, err := l.Build([]byte(key), sp)
		if err != nil {
			t.Fatal(err)
		}
		if err := l.Grow(p, size); err != nil {
			t.Fatal(err)
		}
		copy(p.Value(), buf)
		e := l.LockLink(p, l.Hash([]byte(key)))
		e.Link(p, []uint64{0, 0, 0, 5, 1 << 60}[rng.IntN(5)])
		e.Unlock()
		if rng.IntN(4) == 0 {
			get(l, fmt.Sprintf("key%d", rng.IntN(n)))
		}
		if rng.IntN(10) == 0 {
			del(l, fmt.Sprintf("key%d", rng.IntN(n)))
		}
	}
}

func counts(s *Store) (items, bytes uint64) {
	for _, l := range s.locals[:len(s.locals)-1] {
		l.Publish()
	}
	st := s.Stats()
	return st.Items, st.Bytes
}

func same(t testing.TB, got, want map[string]string) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%d items, want %d", len(got), len(want))
	}
	for k, w := range want {
		if got[k] != w {
			t.Fatalf("%q is %.80q, was %.80q", k, got[k], w)
		}
	}
}

func TestRestart(t *testing.T) {
	for _, c := range []struct {
		limit         int64
		before, after int // locals
		items         int
	}{{1 << 20, 1, 1, 200}, {1 << 20, 1, 4, 10_000}, {2 << 20, 32, 1, 10_000}, {16 << 20, 4, 4, 60_000}, {64 << 20, 2, 16, 30_000}, {1 << 20, 1, 1, 0}} {
		t.Run(fmt.Sprintf("%dMB,%d,%d,%d", c.limit>>20, c.before, c.after, c.items), func(t *testing.T) {
			f := fileCase{limit: c.limit, locals: c.before, path: filepath.Join(memoryDir(t), "mem"), tag: "a"}
			s := f.open(t)
			if ok, reason := s.Restored(); ok || reason != "" {
				t.Errorf("the first start says %v %q", ok, reason)
			}
			for life := range 3 {
				loadItems(t, s, c.items, uint64(life))
				// What is not the item's own reference is void after Save: a pin, an upload.
				l := s.Local(0)
				set(l, "pinned", value(nil, "pinned", 1, 50_000), 0)
				e := l.Lock([]byte("pinned"), l.Hash([]byte("pinned")))
				e.Pin()
				e.Unlock()
				del(l, "pinned")
				if p, err := l.Build([]byte("upload"), Spec{Len: 90_000}); err != nil || l.Grow(p, 40_000) != nil {
					t.Fatal(err)
				}
				s.sweep.stop() // Save does this and the next; both may change what is there
				s.settleLanes()
				before := facts(t, s)
				items, b := counts(s)
				budget := s.budget.Used()
				if err := s.Save(); err != nil {
					t.Fatal(err)
				}
				s.Close()
				f.locals = c.after
				s = f.open(t)
				if ok, reason := s.Restored(); !ok {
					t.Fatalf("life %d: cold: %s", life, reason)
				}
				if _, err := os.Stat(f.path + ".meta"); err == nil {
					t.Error("the metadata is still there")
				}
				if err := s.Check(); err != nil {
					t.Fatal(err)
				}
				same(t, facts(t, s), before)
				if n, nb := counts(s); n != items || nb != b {
					t.Errorf("%d items of %d bytes, were %d of %d", n, nb, items, b)
				}
				if used := s.budget.Used(); used > budget+int64(3*c.after+8)*int64(s.log.SegmentSize()) {
					t.Errorf("%d bytes used, were %d", used, budget)
				}
			}
			s.Close()
		})
	}
}

// The lives of items run on while the process is down; a flush that was to come comes.
func TestRestartTime(t *testing.T) {
	f := fileCase{limit: 1 << 20, locals: 1, path: filepath.Join(memoryDir(t), "mem")}
	s := f.open(t)
	l := s.Local(0)
	now := s.clock.Ms()
	l.Turn(now)
	set(l, "short", value(nil, "short", 1, 40), now+5_000)
	set(l, "long", value(nil, "long", 1, 40), now+60_000)
	s.FlushAt(now + 30_000)
	back := func(by int64) {
		if err := s.Save(); err != nil {
			t.Fatal(err)
		}
		s.Close()
		edit(t, f.path, func(m *saved) { m.unixMs -= by })
		s = f.open(t)
		l = s.Local(0)
		l.Turn(s.clock.Ms())
	}
	back(10_000)
	if _, ok := get(l, "short"); ok {
		t.Error("an item of 5 s is there after 10 s")
	}
	if _, ok := get(l, "long"); !ok {
		t.Error("an item of 60 s is gone after 10 s")
	}
	if at := s.clock.Ms() - now; at < 10_000 || at > 20_000 {
		t.Errorf("the timeline advanced by %d ms", at)
	}
	back(25_000)
	if _, ok := get(l, "long"); ok {
		t.Error("the delayed flush was lost")
	}
	s.Close()
}

func edit(t testing.TB, path string, fn func(*saved)) {
	t.Helper()
	b, err := os.ReadFile(path + ".meta")
	if err != nil {
		t.Fatal(err)
	}
	m, err := decodeSaved(b)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(m.encode(), b) {
		t.Fatal("the metadata changes when it is read and written")
	}
	fn(m)
	if err := os.WriteFile(path+".meta", m.encode(), 0o600); err != nil {
		t.Fatal(err)
	}
}

// snapshot is a saved cache on disk that can be put back.
type snapshot struct {
	fileCase
	data, meta []byte
	want       map[string]string
}

func takeSnapshot(t testing.TB) *snapshot {
	f := fileCase{limit: 1 << 20, locals: 1, path: filepath.Join(memoryDir(t), "mem"), tag: "a"}
	s := f.open(t)
	loadItems(t, s, 3000, 1)
	s.sweep.stop()
	s.settleLanes()
	sn := &snapshot{fileCase: f, want: facts(t, s)}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	sn.data, _ = os.ReadFile(f.path)
	sn.meta, _ = os.ReadFile(f.path + ".meta")
	return sn
}

func (sn *snapshot) put(t testing.TB, data, meta []byte) {
	if err := errors.Join(os.WriteFile(sn.path, data, 0o600), os.WriteFile(sn.path+".meta", meta, 0o600)); err != nil {
		t.Fatal(err)
	}
}

// cold opens and wants an empty cache that works, with a reason that contains want.
func (f fileCase) cold(t testing.TB, want string) {
	t.Helper()
	s := f.open(t)
	defer s.Close()
	ok, reason := s.Restored()
	if ok || !strings.Contains(reason, want) || strings.Contains(reason, "\n") {
		t.Errorf("restored %v, reason %q, want %q", ok, reason, want)
	}
	if n := len(facts(t, s)); n != 0 {
		t.Errorf("%d items after a cold start", n)
	}
	if err := set(s.Local(0), "k", value(nil, "k", 1, 40), 0); err != nil {
		t.Error(err)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
}

func TestRestartRefused(t *testing.T) {
	sn := takeSnapshot(t)
	for _, c := range []struct {
		name, want string
		do         func(t *testing.T, f *fileCase)
	}{
		{"limit", "memory limit was", func(t *testing.T, f *fileCase) { f.limit = 2 << 20 }},
		{"tag", "settings were", func(t *testing.T, f *fileCase) { f.tag = "b" }},
		{"clock", "clock has not advanced", func(t *testing.T, f *fileCase) { edit(t, f.path, func(m *saved) { m.unixMs += 1_000_000 }) }},
		{"layout", "another version", func(t *testing.T, f *fileCase) { edit(t, f.path, func(m *saved) { m.layout = "x" }) }},
		{"no meta", "is missing", func(t *testing.T, f *fileCase) { os.Remove(f.path + ".meta") }},
		{"foreign meta", "not one of godwit's", func(t *testing.T, f *fileCase) {
			os.WriteFile(f.path+".meta", []byte("Tversion 1.6.45\nKmaxbytes 1\n"), 0o600)
		}},
		{"foreign file", "not one of godwit's", func(t *testing.T, f *fileCase) {
			os.WriteFile(f.path, append(make([]byte, 64), sn.data[64:]...), 0o600)
		}},
		{"short file", "has", func(t *testing.T, f *fileCase) { os.Truncate(f.path, 1<<20) }},
		{"no file", "not one of godwit's", func(t *testing.T, f *fileCase) { os.Remove(f.path) }},
		{"huge meta", "more than this memory limit", func(t *testing.T, f *fileCase) { os.Truncate(f.path+".meta", 1<<30) }},
		{"other life", "another memory file", func(t *testing.T, f *fileCase) { // the id is at 16
			b := bytes.Clone(sn.data)
			b[20]++
			os.WriteFile(f.path, b, 0o600)
		}},
		{"twice", "is missing", func(t *testing.T, f *fileCase) {
			s := f.open(t)
			if ok, reason := s.Restored(); !ok {
				t.Error(reason)
			}
			s.Close() // without Save: as after a crash
		}},
		{"copy of old meta", "another memory file", func(t *testing.T, f *fileCase) {
			f.open(t).Close()
			os.WriteFile(f.path+".meta", sn.meta, 0o600)
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			sn.put(t, sn.data, sn.meta)
			f := sn.fileCase
			c.do(t, &f)
			f.cold(t, c.want)
		})
	}
	t.Run("empty meta", func(t *testing.T) {
		sn.put(t, sn.data, nil)
		_, err := Open(Config{Limit: sn.limit, Locals: 1, MaxItem: 1 << 20, File: sn.path, Tag: "a"})
		if !errors.Is(err, ErrMetaEmpty) {
			t.Error(err)
		}
	})
	t.Run("in use", func(t *testing.T) {
		os.Remove(sn.path + ".meta")
		s := sn.open(t)
		defer s.Close()
		if _, err := Open(Config{Limit: sn.limit, Locals: 1, MaxItem: 1 << 20, File: sn.path, Tag: "a"}); err == nil || !strings.Contains(err.Error(), "another process") {
			t.Error(err)
		}
		if err := s.SetLimit(2 << 20); err == nil {
			t.Error("the limit can change")
		}
	})
	t.Run("no directory", func(t *testing.T) {
		if _, err := Open(Config{Limit: 1 << 20, Locals: 1, File: "/nonexistent/mem"}); err == nil {
			t.Error("opened")
		}
		if _, err := Open(Config{Limit: 1 << 20, Locals: 1, File: t.TempDir()}); err == nil {
			t.Error("a directory opened")
		}
	})
	t.Run("no room", func(t *testing.T) {
		if _, err := Open(Config{Limit: 1 << 50, Locals: 1, File: sn.path}); err == nil {
			t.Error("opened")
		}
	})
}

// Whatever is cut off or flipped: the cache is empty then, or exactly what it was. Never wrong.
func TestRestartDamage(t *testing.T) {
	sn := takeSnapshot(t)
	rng := rand.New(rand.NewPCG(1, uint64(time.Now().UnixNano())))
	warm, refused := 0, 0
	try := func(what string, data, meta []byte) {
		sn.put(t, data, meta)
		s, err := Open(Config{Limit: sn.limit, Locals: 1, MaxItem: 1 << 20, File: sn.path, Tag: "a"})
		if err != nil {
			if len(meta) != 0 {
				t.Fatalf("%s: %v", what, err)
			}
			return
		}
		defer s.Close()
		if ok, reason := s.Restored(); !ok {
			if reason == "" {
				t.Fatalf("%s: cold without a reason", what)
			}
			refused++
			return
		}
		warm++
		if err := s.Check(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		same(t, facts(t, s), sn.want)
	}
	flip := func(b []byte, at int) []byte {
		b = bytes.Clone(b)
		b[at] ^= 1 << rng.IntN(8)
		return b
	}
	for range 60 {
		at := rng.IntN(len(sn.meta))
		try(fmt.Sprintf("meta flipped at %d", at), sn.data, flip(sn.meta, at))
		at = rng.IntN(len(sn.meta))
		try(fmt.Sprintf("meta cut at %d", at), sn.data, sn.meta[:at])
	}
	if warm != 0 {
		t.Errorf("%d damaged metadata files were believed", warm)
	}
	for range 60 {
		at := rng.IntN(len(sn.data))
		for sn.data[at] == 0 && rng.IntN(8) != 0 { // mostly where there is something
			at = rng.IntN(len(sn.data))
		}
		try(fmt.Sprintf("data flipped at %d", at), flip(sn.data, at), sn.meta)
		at = rng.IntN(len(sn.data))
		try(fmt.Sprintf("data cut at %d", at), sn.data[:at], sn.meta)
	}
	t.Logf("%d refused, %d warm", refused, warm)
}

// FuzzSaved: any bytes give an error or a state that passes its check and is written again as the same bytes.
func FuzzSaved(f *testing.F) {
	sn := takeSnapshot(f)
	f.Add(sn.meta[savedHead : len(sn.meta)-savedSum])
	f.Add([]byte{})
	f.Fuzz(func(t *testing.T, b []byte) {
		if m, err := decodeSaved(b); err == nil && !bytes.Equal(m.encode(), b) {
			t.Error("another encoding")
		}
		m, err := decodeBody(b)
		if err != nil {
			return
		}
		if err := m.check(); err != nil {
			t.Error(err)
		}
		if out := m.encode(); !bytes.Equal(out[savedHead:len(out)-savedSum], b) {
			t.Error("another encoding")
		}
	})
}
