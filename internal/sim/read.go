package sim

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"

	"godwit/internal/bytesx"
)

// Format of a trace file.
type Format struct {
	name, summary string
	extensions    []string
	parse         func(r *Reader, line []byte, q *Req) (bool, error)
}

// Formats of files. The first is what a file is taken for whose name tells nothing.
var Formats = []Format{
	{"keys", "a key on each line, all of one size, reads", nil, parseKey},
	{"csv", "key,size[,ttl[,op]]: bytes of key and value, seconds, get set add replace append delete ...", []string{".csv"}, parseCSV},
	{"twitter", "timestamp,key,key size,value size,client id,operation,TTL (twitter/cache-trace)", []string{".twr", ".twitter"}, parseTwitter},
	{"arc", "start count ...: reads of blocks of 512 bytes (ARC, SPC)", []string{".lis"}, parseARC},
}

// FormatByName, or by a file's name if name is "" or "auto".
func FormatByName(name, file string) (*Format, error) {
	if name == "" || name == "auto" {
		file, _ = packed(file)
		i := slices.IndexFunc(Formats, func(f Format) bool { return slices.Contains(f.extensions, strings.ToLower(filepath.Ext(file))) })
		return &Formats[max(i, 0)], nil
	}
	var names []string
	for i := range Formats {
		if Formats[i].name == name {
			return &Formats[i], nil
		}
		names = append(names, Formats[i].name)
	}
	return nil, fmt.Errorf("format %q: not known (auto, %s)", name, strings.Join(names, ", "))
}

// packed cuts the extension of a compression off a file's name.
func packed(file string) (rest, kind string) {
	switch ext := strings.ToLower(filepath.Ext(file)); ext {
	case ".gz", ".zst", ".zstd":
		return file[:len(file)-len(ext)], ext[1:]
	}
	return file, ""
}

// maxLine is the longest line of a trace, bytes.
const maxLine = 64 << 10

// Reader is a Source out of a stream of lines. Its memory is one line.
type Reader struct {
	name   string
	format *Format
	in     *bufio.Reader
	line   int64
	err    error

	size int64 // of objects in formats that have none
	rate float64
	done int64

	run  Req   // a request for several objects in a row (arc): what comes next
	left int64 // and how many are left
}

// ReaderOptions are what formats leave open.
type ReaderOptions struct {
	Size int64   // bytes of each object, where lines have none. Blocks of arc have 512 without it
	Rate float64 // requests a second, where lines have no time; 0: 1000
}

// NewReader of a trace. name is for errors.
func NewReader(name string, in io.Reader, f *Format, o ReaderOptions) *Reader {
	r := &Reader{name: name, format: f, in: bufio.NewReaderSize(in, maxLine), size: o.Size, rate: o.Rate}
	if r.rate <= 0 {
		r.rate = 1000
	}
	if r.size <= 0 {
		if r.size = 100; f.name == "arc" {
			r.size = 512
		}
	}
	return r
}

// Read is Source's. Errors name file and line and stay.
func (r *Reader) Read(dst []Req) (n int, err error) {
	for n < len(dst) {
		if r.left > 0 {
			dst[n] = r.run
			dst[n].Time = int64(float64(r.done) / r.rate)
			dst[n].Key = mix(r.run.Key)
			r.run.Key++
			r.left--
			n++
			r.done++
			continue
		}
		if r.err == nil {
			r.err = r.next(&dst[n], &n)
		}
		if r.err != nil {
			if n > 0 {
				return n, nil
			}
			return 0, r.err
		}
	}
	return n, nil
}

// next reads a line into q and counts it in n if it is a request by itself.
func (r *Reader) next(q *Req, n *int) error {
	line, err := r.in.ReadSlice('\n')
	if err != nil && (err != io.EOF || len(line) == 0) {
		if err == io.EOF {
			return err
		}
		r.line++
		if errors.Is(err, bufio.ErrBufferFull) {
			err = fmt.Errorf("longer than %d bytes", maxLine)
		}
		return fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
	r.line++
	line = bytes.TrimRight(line, "\r\n")
	if len(line) == 0 {
		return nil
	}
	*q = Req{Time: int64(float64(r.done) / r.rate), Size: r.size}
	whole, err := r.format.parse(r, line, q)
	if err != nil {
		return fmt.Errorf("%s:%d: %w", r.name, r.line, err)
	}
	if whole {
		*n++
		r.done++
	}
	return nil
}

func parseKey(_ *Reader, line []byte, q *Req) (bool, error) {
	q.Key = xxh3.Hash(line)
	return true, nil
}

func parseCSV(r *Reader, line []byte, q *Req) (bool, error) {
	var f [5][]byte
	n := split(line, f[:])
	if n < 2 || n > 4 {
		return false, fmt.Errorf("%d fields: not a line of key,size[,ttl[,op]]", n)
	}
	if r.line == 1 && string(f[1]) == "size" {
		return false, nil // a heading
	}
	q.Key = xxh3.Hash(f[0])
	var err error
	if q.Size, err = field("size", f[1]); err != nil {
		return false, err
	}
	if len(f[2]) > 0 {
		if q.TTL, err = field("ttl", f[2]); err != nil {
			return false, err
		}
	}
	if len(f[3]) > 0 {
		q.Op, err = opOf(f[3])
	}
	return err == nil, err
}

// parseTwitter allows for commas in keys.
func parseTwitter(_ *Reader, line []byte, q *Req) (bool, error) {
	at, rest, ok := bytes.Cut(line, []byte{','})
	var f [5][]byte
	for i := len(f) - 1; ok && i >= 0; i-- {
		c := bytes.LastIndexByte(rest, ',')
		if ok = c >= 0; ok {
			rest, f[i] = rest[:c], rest[c+1:]
		}
	}
	if !ok {
		return false, errors.New("not a line of timestamp,key,key size,value size,client id,operation,TTL")
	}
	q.Key = xxh3.Hash(rest)
	var klen, vlen int64
	var err error
	for _, x := range []struct {
		name string
		text []byte
		to   *int64
	}{{"timestamp", at, &q.Time}, {"key size", f[0], &klen}, {"value size", f[1], &vlen}, {"TTL", f[4], &q.TTL}} {
		if *x.to, err = field(x.name, x.text); err != nil {
			return false, err
		}
	}
	q.Size = klen + vlen
	q.Op, err = opOf(f[3])
	return err == nil, err
}

// maxBlocks is how many blocks a line may ask for.
const maxBlocks = 1 << 24

func parseARC(r *Reader, line []byte, q *Req) (bool, error) {
	f := bytes.Fields(line)
	if len(f) < 2 {
		return false, errors.New("not a line of start and count of blocks")
	}
	start, err := field("start", f[0])
	if err != nil {
		return false, err
	}
	count, err := field("count", f[1])
	if err == nil && count > maxBlocks {
		err = fmt.Errorf("count %d: too many blocks (at most %d)", count, maxBlocks)
	}
	if err != nil {
		return false, err
	}
	r.run, r.left = *q, count
	r.run.Key = uint64(start)
	return false, nil
}

// split at commas. The result may be more than there is room for: then it is one too many.
func split(line []byte, f [][]byte) (n int) {
	for {
		var more bool
		f[n], line, more = bytes.Cut(line, []byte{','})
		n++
		if !more {
			return n
		}
		if n == len(f) {
			return n
		}
	}
}

// maxNumber keeps sums of sizes and times within an int64.
const maxNumber = 1 << 40

func field(name string, text []byte) (int64, error) {
	n, ok := bytesx.Uint(bytes.TrimSpace(text))
	if !ok || n > maxNumber {
		return 0, fmt.Errorf("%s %q: not a decimal number up to %d", name, clip(text), int64(maxNumber))
	}
	return int64(n), nil
}

// clip is text for an error.
func clip(text []byte) []byte { return text[:min(len(text), 40)] }

func opOf(text []byte) (Op, error) {
	switch string(text) {
	case "get", "gets", "read", "GET":
		return Get, nil
	case "set", "write", "SET":
		return Set, nil
	case "add":
		return Add, nil
	case "replace", "cas", "append", "prepend", "incr", "decr", "change":
		return Change, nil
	case "delete", "DEL":
		return Delete, nil
	}
	return Get, fmt.Errorf("operation %q: not known (get, gets, set, add, replace, cas, append, prepend, incr, decr, delete)", clip(text))
}

// File is a trace in a file.
type File struct {
	Reader
	closers []func() error
	size    int64
	read    counter
}

// Open a file; "-" is stdin. Compression goes by the extension.
func Open(name, format string, o ReaderOptions) (*File, error) {
	f, err := FormatByName(format, name)
	if err != nil {
		return nil, err
	}
	out := &File{}
	in := os.Stdin
	if name != "-" {
		if in, err = os.Open(name); err != nil {
			return nil, err
		}
		out.closers = append(out.closers, in.Close)
		if st, err := in.Stat(); err == nil && st.Mode().IsRegular() {
			out.size = st.Size()
		}
	}
	out.read.r = in
	var body io.Reader = &out.read
	switch _, kind := packed(name); kind {
	case "gz":
		z, err := gzip.NewReader(bufio.NewReaderSize(body, 256<<10))
		if err != nil {
			out.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		body = z
	case "zst", "zstd":
		z, err := zstd.NewReader(body, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(128<<20))
		if err != nil {
			out.Close()
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out.closers = append(out.closers, func() error { z.Close(); return nil })
		body = z
	}
	out.Reader = *NewReader(name, body, f, o)
	return out, nil
}

// Close the file.
func (f *File) Close() error {
	var err error
	for _, c := range slices.Backward(f.closers) {
		err = errors.Join(err, c())
	}
	return err
}

// Part of the file that is read, 0 to 1; 0 if its size is not known. Another goroutine may ask.
func (f *File) Part() float64 {
	if f.size == 0 {
		return 0
	}
	return min(float64(f.read.n.Load())/float64(f.size), 1)
}

// counter counts what passes.
type counter struct {
	r io.Reader
	n atomic.Int64
}

func (c *counter) Read(b []byte) (int, error) {
	n, err := c.r.Read(b)
	c.n.Add(int64(n))
	return n, err
}
