package store

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
)

// tinyDisk is a file system of so many bytes.
func tinyDisk(t *testing.T, size int) string {
	dir := t.TempDir()
	if err := syscall.Mount("tmpfs", dir, "tmpfs", 0, fmt.Sprintf("size=%d", size)); err != nil {
		t.Skipf("no file system of its own may be mounted: %v", err)
	}
	t.Cleanup(func() {
		if err := syscall.Unmount(dir, 0); err != nil {
			t.Error(err)
		}
	})
	return dir
}

// A memory file on a file system that others fill: the cache makes do with what there is, and takes more when there is some.
func TestFileSystemFull(t *testing.T) {
	const disk, limit = 24 << 20, 16 << 20
	dir := tinyDisk(t, disk)
	path := filepath.Join(dir, "memory")
	if s, err := Open(Config{Limit: 32 << 20, Locals: 1, MaxItem: 1 << 20, File: path}); err == nil {
		s.Close()
		t.Fatal("a limit of more than the file system has is let in")
	} else if !strings.Contains(err.Error(), "file system") || strings.Contains(err.Error(), "\n") {
		t.Errorf("error: %v", err)
	}
	s := fileCase{limit: limit, locals: 1, path: path}.open(t)
	defer func() { s.Close() }()
	l := s.Local(0)
	l.Turn(s.clock.Ms())

	other := filepath.Join(dir, "other")
	ballast, err := os.Create(other)
	if err != nil {
		t.Fatal(err)
	}
	free := func() int64 {
		n, err := s.file.Free()
		if err != nil {
			t.Fatal(err)
		}
		st, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		return n - st.Sys().(*syscall.Stat_t).Blocks*512
	}
	if _, err := ballast.Write(make([]byte, free()-4<<20)); err != nil { // 4 MiB are left
		t.Fatal(err)
	}
	ballast.Close()

	stored := 0
	fill := func() (items uint64) {
		refused := 0
		for i := range 60_000 {
			key := fmt.Sprintf("key:%d", i)
			v := value(nil, key, 0, 100+i%900)
			if i%100 == 0 {
				v = value(nil, key, 0, 100_000)
			}
			switch err := set(l, key, v, 0); err {
			case nil:
				stored++
				if got, ok := get(l, key); ok && !bytes.Equal(got, v) {
					t.Fatalf("%s is not what was stored", key)
				}
			case ErrNoMemory:
				refused++
			default:
				t.Fatal(err)
			}
		}
		l.Publish()
		st := s.Stats()
		t.Logf("%d refused, %d items, log %d KiB, regions %d KiB, index %d KiB, %d KiB lost, %d KiB free on disk", refused, st.Items,
			st.LogBytes>>10, st.RegionBytes>>10, st.IndexBytes>>10, s.budget.Lost()>>10, free()>>10)
		if refused > 10 {
			t.Errorf("%d sets were refused", refused)
		}
		return st.Items
	}
	small := fill()
	if small == 0 || s.budget.Lost() == 0 {
		t.Errorf("%d items, %d bytes lost", small, s.budget.Lost())
	}
	if err := os.Remove(other); err != nil {
		t.Fatal(err)
	}
	s.clock.Shift(regainEvery)
	s.sweepOnce()
	if s.budget.Lost() != 0 {
		t.Errorf("%d bytes are still lost", s.budget.Lost())
	}
	if now := fill(); now < 2*small {
		t.Errorf("%d items with room, %d without", now, small)
	}
	if err := s.Check(); err != nil {
		t.Error(err)
	}
	if err := s.Save(); err != nil {
		t.Fatal(err)
	}
	s.Close()
	s = fileCase{limit: limit, locals: 1, path: path}.open(t)
	if ok, why := s.Restored(); !ok {
		t.Errorf("not restored: %s", why)
	}
}
