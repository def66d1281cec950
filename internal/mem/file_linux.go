package mem

import "golang.org/x/sys/unix"

func adviseFile(raw []byte, huge bool) {
	if huge {
		_ = unix.Madvise(raw, unix.MADV_HUGEPAGE) // a matter of the file system: nothing lost if refused
	}
	_ = unix.Madvise(raw, unix.MADV_DONTDUMP)
}

// releaseFile punches a hole; file systems without holes get zeros.
func releaseFile(b []byte) {
	if len(b) != 0 && unix.Madvise(b, unix.MADV_REMOVE) != nil {
		clear(b)
	}
}
