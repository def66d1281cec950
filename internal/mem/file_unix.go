//go:build unix

package mem

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

const fileBacked = true

func lockFile(f *os.File) error {
	err := unix.Flock(int(f.Fd()), unix.LOCK_EX|unix.LOCK_NB)
	if errors.Is(err, unix.EWOULDBLOCK) {
		return errors.New("another process uses it")
	}
	return err
}

func freeBytes(f *os.File) (int64, error) {
	var fs unix.Statfs_t
	if err := unix.Fstatfs(int(f.Fd()), &fs); err != nil {
		return 0, err
	}
	var st unix.Stat_t
	if err := unix.Fstat(int(f.Fd()), &st); err != nil {
		return 0, err
	}
	return int64(fs.Bavail)*int64(fs.Bsize) + st.Blocks*512, nil
}

func mapFile(f *os.File, off, size int64) ([]byte, error) {
	raw, err := unix.Mmap(int(f.Fd()), off, int(size), unix.PROT_READ|unix.PROT_WRITE, unix.MAP_SHARED)
	if err != nil {
		return nil, err
	}
	adviseFile(raw)
	return raw, nil
}

func unmapFile(raw []byte) error { return unix.Munmap(raw) }
