package mem

import (
	"bytes"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"os"
	"unsafe"
)

// File is a file whose ranges back Spaces, so that what they hold outlives the process (warm restart). It is sparse: only
// pages that were committed or touched take room. Its first page is
//
//	0   8  "godwit\x00M"
//	8   4  format version, little endian
//	12  4  0
//	16  16 random id, new each time the contents are begun anew or taken over
//
// A file belongs to one process at a time (flock). Not safe for concurrent use, except through Regions.
type File struct {
	f    *os.File
	size int64
	next int64 // Reserve gives ranges from here on
}

// FileID names one life of a file's contents.
type FileID [16]byte

const (
	fileMagic   = "godwit\x00M"
	fileVersion = 1
	fileHeader  = PageSize
	fileAlign   = 2 << 20 // ranges of that size and more begin at multiples of it
)

// OpenFile opens or creates the file and locks it. Its contents stay; see Format and ID.
func OpenFile(path string) (*File, error) {
	if !fileBacked {
		return nil, errors.New("mem: memory in a file is not supported on this system")
	}
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o600)
	if err != nil {
		return nil, fmt.Errorf("mem: memory file: %w", err)
	}
	st, err := f.Stat()
	switch {
	case err != nil:
	case !st.Mode().IsRegular():
		err = errors.New("is not a regular file")
	default:
		err = lockFile(f)
	}
	if err != nil {
		f.Close()
		return nil, fmt.Errorf("mem: memory file %s: %w", path, err)
	}
	return &File{f: f, size: st.Size(), next: fileHeader}, nil
}

// ID of the contents. Error: the file is not ours, or of another version.
func (f *File) ID() (id FileID, err error) {
	var b [32]byte
	if _, err := f.f.ReadAt(b[:], 0); err != nil || !bytes.Equal(b[:8], []byte(fileMagic)) {
		return id, errors.New("mem: the memory file is not one of godwit's")
	}
	if v := binary.LittleEndian.Uint32(b[8:]); v != fileVersion {
		return id, fmt.Errorf("mem: the memory file is of format %d, this program knows %d", v, fileVersion)
	}
	return FileID(b[16:]), nil
}

// Renew gives the contents a new id, so that no description of what they were before fits any more.
func (f *File) Renew() (id FileID, err error) {
	rand.Read(id[:])
	b := append([]byte(fileMagic), make([]byte, 8)...)
	binary.LittleEndian.PutUint32(b[8:], fileVersion)
	if _, err = f.f.WriteAt(append(b, id[:]...), 0); err != nil {
		return id, fmt.Errorf("mem: memory file: %w", err)
	}
	return id, nil
}

// Format empties the file.
func (f *File) Format() (err error) {
	if err = f.f.Truncate(0); err == nil {
		err = f.f.Truncate(fileHeader)
	}
	if err != nil {
		return fmt.Errorf("mem: memory file: %w", err)
	}
	f.size, f.next = fileHeader, fileHeader
	_, err = f.Renew()
	return err
}

// Size that the file seems to have; what it takes is less.
func (f *File) Size() int64 { return f.size }

// Free bytes of the file system, those that the file takes already included.
func (f *File) Free() (int64, error) { return freeBytes(f.f) }

// Reserve is like the function Reserve, with the next range of the file: zeros after Format. After OpenFile it gives again,
// called in the same order, the ranges and contents of the earlier life, until Skip.
func (f *File) Reserve(size int64) (*Space, error) {
	align := int64(PageSize)
	if size >= fileAlign {
		align = fileAlign
	}
	off := (f.next + align - 1) &^ (align - 1)
	end := (off + size + PageSize - 1) &^ (PageSize - 1)
	if end > f.size {
		if err := f.f.Truncate(end); err != nil {
			return nil, fmt.Errorf("mem: memory file: %w", err)
		}
		f.size = end
	}
	f.next = end
	return f.Map(off, size)
}

// Next is where the next range would be looked for.
func (f *File) Next() int64 { return f.next }

// Skip has Reserve go on at the end of the file, with zeros.
func (f *File) Skip() { f.next = f.size }

// Map gives a range of the file that Reserve gave in an earlier life.
func (f *File) Map(off, size int64) (*Space, error) {
	if off < fileHeader || off%PageSize != 0 || size <= 0 || off > f.size-size {
		return nil, fmt.Errorf("mem: memory file of %d bytes has no range of %d bytes at %d", f.size, size, off)
	}
	raw, err := mapFile(f.f, off, size)
	if err != nil {
		return nil, fmt.Errorf("mem: map %d bytes of the memory file: %w", size, err)
	}
	return &Space{raw: raw, base: unsafe.Pointer(unsafe.SliceData(raw)), file: f, off: off}, nil
}

// Close unlocks the file. Its Spaces are closed before.
func (f *File) Close() error { return f.f.Close() }

// ReserveIn is Reserve, in file if that is not nil.
func ReserveIn(file *File, size int64) (*Space, error) {
	if file != nil {
		return file.Reserve(size)
	}
	return Reserve(size)
}
