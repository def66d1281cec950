package mem

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// Ranges of a file come back in the order in which they were reserved; after Skip there are new ones.
func TestFile(t *testing.T) {
	if !fileBacked {
		t.Skip("memory in files is not supported on this system")
	}
	path := filepath.Join(t.TempDir(), "mem")
	f, err := OpenFile(path)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := f.ID(); err == nil {
		t.Error("an empty file has an id")
	}
	if err := f.Format(); err != nil {
		t.Fatal(err)
	}
	id, err := f.ID()
	if err != nil {
		t.Fatal(err)
	}
	if st, _ := os.Stat(path); st.Mode().Perm() != 0o600 {
		t.Errorf("mode %v", st.Mode())
	}
	sizes := []int64{100, 3 << 20, PageSize, 5000}
	var offsets []int64
	for i, n := range sizes {
		s, err := f.Reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		b := s.Bytes(0, n)
		for _, c := range b {
			if c != 0 {
				t.Fatal("not zero")
			}
		}
		for k := range b {
			b[k] = byte(i + 1)
		}
		offsets = append(offsets, s.Offset())
		if err := s.Close(); err != nil {
			t.Error(err)
		}
	}
	if _, err := OpenFile(path); err == nil || !strings.Contains(err.Error(), "another process") {
		t.Errorf("opened twice: %v", err)
	}
	f.Close()

	if f, err = OpenFile(path); err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if again, err := f.ID(); err != nil || again != id {
		t.Errorf("id %x, was %x: %v", again, id, err)
	}
	for i, n := range sizes {
		s, err := f.Reserve(n)
		if err != nil {
			t.Fatal(err)
		}
		if s.Offset() != offsets[i] || !bytes.Equal(s.Bytes(0, n), bytes.Repeat([]byte{byte(i + 1)}, int(n))) {
			t.Errorf("range %d at %d, was at %d", i, s.Offset(), offsets[i])
		}
		if n > 1<<20 {
			s.Release(PageSize, PageSize)
			b := s.Bytes(0, 3*PageSize)
			if b[PageSize-1] == 0 || !bytes.Equal(b[PageSize:2*PageSize], make([]byte, PageSize)) || b[2*PageSize] == 0 {
				t.Error("released the wrong page, or none")
			}
			s.Zero(n - 5)
			if b := s.Bytes(0, n); b[n-6] == 0 || b[n-5] != 0 || b[n-1] != 0 {
				t.Error("the end is not zero")
			}
			s.Zero(10_001)
			if b := s.Bytes(0, n); b[10_000] == 0 || !bytes.Equal(b[10_001:], make([]byte, n-10_001)) {
				t.Error("the tail is not zero")
			}
		}
		s.Close()
	}
	f.Skip()
	s, err := f.Reserve(PageSize)
	if err != nil || s.Offset() < offsets[len(offsets)-1]+5000 {
		t.Fatalf("after Skip: at %d, %v", s.Offset(), err)
	}
	s.Close()
	for _, r := range [][2]int64{{0, 10}, {PageSize + 1, 10}, {PageSize, f.Size()}, {1 << 62, 1 << 62}, {PageSize, -1}} {
		if _, err := f.Map(r[0], r[1]); err == nil {
			t.Errorf("mapped %d bytes at %d", r[1], r[0])
		}
	}
	if now, err := f.Renew(); err != nil || now == id {
		t.Errorf("renewed to %x, %v", now, err)
	}
}
