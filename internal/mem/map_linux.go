//go:build linux && !race

package mem

import "golang.org/x/sys/unix"

func reserve(size int64) ([]byte, error) {
	raw, err := unix.Mmap(-1, 0, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_ANON|unix.MAP_PRIVATE|unix.MAP_NORESERVE)
	if err != nil {
		return nil, err
	}
	_ = unix.Madvise(raw, unix.MADV_NOHUGEPAGE) // see docs/decisions/0005; kernels without them refuse: nothing lost
	_ = unix.Madvise(raw, unix.MADV_DONTDUMP)   // a core dump of the cache helps nobody
	return raw, nil
}

func release(b []byte)         { _ = unix.Madvise(b, unix.MADV_DONTNEED) }
func unreserve(b []byte) error { return unix.Munmap(b) }
