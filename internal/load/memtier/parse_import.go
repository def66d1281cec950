package memtier

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
)

// Item is a line of a file for --data-import.
type Item struct {
	Line                             int // in the file, from 1
	DumpFlags, Time, Expiry, Flags   int64
	SuffixLength, ItemFlags, ClassID int64
	Key, Data                        []byte // until the next Next
}

// ImportError is a file for --data-import that is wrong.
type ImportError struct {
	File   string
	Line   int
	Column string // "": the whole line
	Cause  string
	Err    error // of the reading; nil: the file itself is wrong
}

func (e *ImportError) Error() string {
	column := ""
	if e.Column != "" {
		column = ": column " + e.Column
	}
	return fmt.Sprintf("%s:%d%s: %s", e.File, e.Line, column, e.Cause)
}

func (e *ImportError) Unwrap() error { return e.Err }

// columns of the file, and the least of them that the first line has.
var columns = []string{"dumpflags", "time", "exptime", "nbytes", "nsuffix", "it_flags", "clsid", "nkey", "key", "data"}

const leastColumns = 3

// Importer reads the items of a file one after the other. The lengths of key and data stand before them, so that both may
// have any bytes; in quotes, "" stands for ". A comma may be followed by a space.
type Importer struct {
	r    *bufio.Reader
	file string
	line int // at the point of reading
	item Item
	word [24]byte
	key  []byte
	data []byte
}

// NewImporter reads the first line, which names the columns. name is that of the file, for error texts.
func NewImporter(r io.Reader, name string) (*Importer, error) {
	im := &Importer{r: bufio.NewReaderSize(r, 1<<16), file: name, line: 1}
	head, err := im.r.ReadSlice('\n')
	if err != nil && err != io.EOF && err != bufio.ErrBufferFull {
		return nil, im.bad("", "%w", err)
	}
	if len(head) == 0 {
		return nil, im.bad("", "the file is empty; its first line must be %s", strings.Join(columns, ", "))
	}
	names := bytes.Split(bytes.TrimRight(head, "\r\n"), []byte(","))
	same := len(names) >= leastColumns && len(names) <= len(columns)
	for i := 0; same && i < len(names); i++ {
		same = string(bytes.TrimSpace(names[i])) == columns[i]
	}
	if !same {
		return nil, im.bad("", "the first line is not %s", strings.Join(columns, ", "))
	}
	im.line = 2
	return im, nil
}

func (im *Importer) bad(column, format string, a ...any) error {
	err := fmt.Errorf(format, a...)
	return &ImportError{File: im.file, Line: im.line, Column: column, Cause: err.Error(), Err: errors.Unwrap(err)}
}

// maxImport bounds key and data.
const maxImport = 1 << 30

// Next reads an item. Its error is io.EOF at the end of the file, else an *ImportError.
func (im *Importer) Next() (*Item, error) {
	for { // empty lines
		b, err := im.r.Peek(1)
		switch {
		case err == io.EOF:
			return nil, io.EOF
		case err != nil:
			return nil, im.bad("", "%w", err)
		}
		if b[0] != '\n' && b[0] != '\r' {
			break
		}
		if b[0] == '\n' {
			im.line++
		}
		im.r.Discard(1)
	}
	it := &im.item
	*it = Item{Line: im.line}
	var nbytes, nkey int64
	for i, to := range []*int64{&it.DumpFlags, &it.Time, &it.Expiry, &nbytes, &it.SuffixLength, &it.ItemFlags, &it.ClassID, &nkey} {
		if err := im.number(columns[i], to); err != nil {
			return nil, err
		}
	}
	if nbytes < 2 || nbytes > maxImport {
		return nil, im.bad("nbytes", "%d; it is the length of the data and 2 more, from 2 to %d", nbytes, maxImport)
	}
	if nkey < 1 || nkey > maxImport {
		return nil, im.bad("nkey", "%d; it is the length of the key, from 1 to %d", nkey, maxImport)
	}
	var err error
	if im.key, err = im.bytes("key", im.key[:0], int(nkey), "nkey", ','); err != nil {
		return nil, err
	}
	if im.data, err = im.bytes("data", im.data[:0], int(nbytes-2), "nbytes less 2", '\n'); err != nil {
		return nil, err
	}
	it.Key, it.Data = im.key, im.data
	return it, nil
}

// number reads a column of digits, with its comma.
func (im *Importer) number(column string, to *int64) error {
	word := im.word[:0]
	for {
		c, err := im.r.ReadByte()
		switch {
		case err == io.EOF:
			return im.bad(column, "the file ends here; complete or delete the line")
		case err != nil:
			return im.bad(column, "%w", err)
		case c == '\n':
			return im.bad(column, "the line ends here; complete or delete it")
		case c == ',':
			return im.value(column, word, to)
		case len(word) == cap(word):
			return im.bad(column, "%q and so on is no number", word)
		}
		word = append(word, c)
	}
}

func (im *Importer) value(column string, word []byte, to *int64) error {
	v := int64(0)
	digits := bytes.TrimSpace(word)
	plain := len(digits) > 0 && len(digits) < 19 // below maxKey
	for _, c := range digits {
		plain = plain && c >= '0' && c <= '9'
		v = v*10 + int64(c-'0')
	}
	if !plain { // slow, to tell why it is wrong
		var err error
		if v, err = whole(string(digits), 0, maxKey); err != nil {
			return im.bad(column, "%q %w", word, err)
		}
	}
	*to = v
	return nil
}

// bytes reads a column of size bytes, which may be in quotes, and the separator behind it.
func (im *Importer) bytes(column string, dst []byte, size int, length string, end byte) ([]byte, error) {
	c, err := im.r.ReadByte()
	if err == nil && c == ' ' {
		c, err = im.r.ReadByte()
	}
	quoted := err == nil && c == '"'
	if err == nil && !quoted {
		err = im.r.UnreadByte()
	}
	for err == nil && len(dst) < size {
		if c, err = im.r.ReadByte(); err != nil {
			break
		}
		if quoted && c == '"' {
			if c, err = im.r.ReadByte(); err != nil {
				break
			}
			if c != '"' {
				return dst, im.bad(column, "it ends after %d bytes, and %s says %d; mend the length, or write \"\" for a quote within", len(dst), length, size)
			}
		}
		if c == '\n' {
			im.line++
		}
		dst = append(dst, c)
	}
	if err == nil && quoted {
		if c, err = im.r.ReadByte(); err == nil && c != '"' {
			return dst, im.bad(column, "no quote closes it after the %d bytes of %s; mend the length", size, length)
		}
	}
	closed := err == nil
	if err == nil {
		c, err = im.r.ReadByte()
		if err == nil && c == '\r' && end == '\n' {
			c, err = im.r.ReadByte()
		}
	}
	switch {
	case err == io.EOF && closed && end == '\n':
		return dst, nil // the last line may lack its end
	case err == io.EOF:
		return dst, im.bad(column, "the file ends after %d of the %d bytes of %s; complete or delete the line", len(dst), size, length)
	case err != nil:
		return dst, im.bad(column, "%w", err)
	case c != end:
		return dst, im.bad(column, "it goes on after the %d bytes of %s; mend the length", size, length)
	case c == '\n':
		im.line++
	}
	return dst, nil
}

// ImportKeys reads all keys of a file, for gets.
func ImportKeys(r io.Reader, name string) ([][]byte, error) {
	im, err := NewImporter(r, name)
	if err != nil {
		return nil, err
	}
	var keys [][]byte
	var block []byte // keys share blocks, to be few objects
	for {
		it, err := im.Next()
		if err == io.EOF {
			return keys, nil
		}
		if err != nil {
			return nil, err
		}
		if len(block)+len(it.Key) > cap(block) {
			block = make([]byte, 0, max(1<<16, len(it.Key)))
		}
		at := len(block)
		block = append(block, it.Key...)
		keys = append(keys, block[at:len(block):len(block)])
	}
}
