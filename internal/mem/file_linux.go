package mem

import (
	"os"

	"golang.org/x/sys/unix"
)

func adviseFile(raw []byte) {
	_ = unix.Madvise(raw, unix.MADV_DONTDUMP)
}

// releaseFile punches a hole at off, where b is mapped; file systems without holes get zeros. It asks for the hole through
// the file: emulators take madvise for a hint.
func releaseFile(f *os.File, off int64, b []byte) {
	const hole = unix.FALLOC_FL_PUNCH_HOLE | unix.FALLOC_FL_KEEP_SIZE
	if len(b) != 0 && unix.Fallocate(int(f.Fd()), hole, off, int64(len(b))) != nil {
		clear(b)
	}
}

// commitFile allocates blocks. File systems that cannot do that ahead are trusted to have them later.
func commitFile(f *os.File, off, n int64) error {
	for {
		switch err := unix.Fallocate(int(f.Fd()), unix.FALLOC_FL_KEEP_SIZE, off, n); err {
		case unix.EINTR: // the runtime's signal to a thread that has been at work for 10 ms
		case unix.EOPNOTSUPP, unix.ENOSYS:
			return nil
		default:
			return err
		}
	}
}
