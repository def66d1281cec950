package sim

import (
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/klauspost/compress/zstd"
	"github.com/zeebo/xxh3"
)

func key(s string) uint64 { return xxh3.HashString(s) }

func formatOf(t testing.TB, name string) *Format {
	f, err := FormatByName(name, "")
	if err != nil {
		t.Fatal(err)
	}
	return f
}

func readAll(r *Reader) (out []Req, err error) {
	buf := make([]Req, 7)
	for {
		n, err := r.Read(buf)
		out = append(out, buf[:n]...)
		if err == io.EOF {
			return out, nil
		}
		if err != nil {
			return out, err
		}
	}
}

func TestFormats(t *testing.T) {
	for _, c := range []struct {
		format, text string
		want         []Req
		err          string
	}{
		{"keys", "a\nb,c\r\n\na", []Req{{Key: key("a"), Size: 100}, {Key: key("b,c"), Size: 100}, {Key: key("a"), Size: 100}}, ""},
		{"keys", strings.Repeat("x", maxLine+1) + "\n", nil, "t:1: longer than 65536 bytes"},
		{"csv", "key,size\na,10\nb,20,60\nc,30,,set\nd,0,5,delete\n", []Req{{Key: key("a"), Size: 10}, {Key: key("b"), Size: 20, TTL: 60},
			{Key: key("c"), Size: 30, Op: Set}, {Key: key("d"), TTL: 5, Op: Delete}}, ""},
		{"csv", "a,10\nb\n", []Req{{Key: key("a"), Size: 10}}, "t:2: 1 fields: not a line of key,size[,ttl[,op]]"},
		{"csv", "a,ten\n", nil, `t:1: size "ten": not a decimal number`},
		{"csv", "a,1,2,get,x,y\n", nil, "t:1: 5 fields"},
		{"csv", "a,1,2,steal\n", nil, `t:1: operation "steal": not known`},
		{"csv", "a,99999999999999999999\n", nil, "t:1: size"},
		{"twitter", "5,k1,2,10,1,get,0\n6,k,2,4,20,7,set,300\n7,q,1,0,1,delete,0\n8,q,1,1,1,prepend,0\n", []Req{
			{Key: key("k1"), Time: 5, Size: 12}, {Key: key("k,2"), Time: 6, Size: 24, Op: Set, TTL: 300},
			{Key: key("q"), Time: 7, Size: 1, Op: Delete}, {Key: key("q"), Time: 8, Size: 2, Op: Change}}, ""},
		{"twitter", "5,k,2,10,get,0\n", nil, "t:1: not a line of timestamp,key"},
		{"twitter", "x,k,2,10,1,get,0\n", nil, `t:1: timestamp "x"`},
		{"arc", "7 3 0 0\n1 1 0 1\n9 0 0 2\n", []Req{{Key: mix(7), Size: 512}, {Key: mix(8), Size: 512}, {Key: mix(9), Size: 512}, {Key: mix(1), Size: 512}}, ""},
		{"arc", "7\n", nil, "t:1: not a line of start and count"},
		{"arc", "7 99999999\n", nil, "t:1: count 99999999: too many blocks"},
	} {
		got, err := readAll(NewReader("t", iotest.OneByteReader(strings.NewReader(c.text)), formatOf(t, c.format), ReaderOptions{}))
		if !slices.Equal(got, c.want) {
			t.Errorf("%s %.40q: %+v, should be %+v", c.format, c.text, got, c.want)
		}
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) {
			t.Errorf("%s %.40q: error %v, should be %q", c.format, c.text, err, c.err)
		}
	}
}

func TestReaderStops(t *testing.T) {
	r := NewReader("t", iotest.ErrReader(errors.New("broken disk")), formatOf(t, "keys"), ReaderOptions{})
	for range 3 {
		if n, err := r.Read(make([]Req, 3)); n != 0 || err == nil || err.Error() != "t:1: broken disk" {
			t.Fatal(n, err)
		}
	}
}

func TestOpen(t *testing.T) {
	const text = "a,10\nb,20\n"
	dir := t.TempDir()
	var gz, zs bytes.Buffer
	z := gzip.NewWriter(&gz)
	io.WriteString(z, text)
	z.Close()
	s, err := zstd.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	io.WriteString(s, text)
	s.Close()
	for name, content := range map[string][]byte{"t.csv": []byte(text), "t.csv.gz": gz.Bytes(), "t.CSV.zst": zs.Bytes()} {
		path := filepath.Join(dir, name)
		if err := os.WriteFile(path, content, 0o666); err != nil {
			t.Fatal(err)
		}
		f, err := Open(path, "auto", ReaderOptions{})
		if err != nil {
			t.Fatal(err)
		}
		got, err := readAll(&f.Reader)
		if err != nil || len(got) != 2 || got[1].Size != 20 || f.Part() != 1 {
			t.Errorf("%s: %v, %v, part %v", name, got, err, f.Part())
		}
		if err := f.Close(); err != nil {
			t.Error(err)
		}
	}
	short := filepath.Join(dir, "short.csv.gz")
	os.WriteFile(short, gz.Bytes()[:gz.Len()-6], 0o666)
	f, err := Open(short, "", ReaderOptions{})
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if got, err := readAll(&f.Reader); err == nil || !strings.Contains(err.Error(), "short.csv.gz:") {
		t.Errorf("cut short: %v, %v", got, err)
	}
	os.WriteFile(short, []byte("not gzip"), 0o666)
	if _, err := Open(short, "", ReaderOptions{}); err == nil {
		t.Error("opened what is not gzip")
	}
	if _, err := Open(short, "xml", ReaderOptions{}); err == nil || !strings.Contains(err.Error(), `format "xml": not known (auto, keys, csv`) {
		t.Error(err)
	}
}

func fuzz(f *testing.F, format string, seeds ...string) {
	for _, s := range seeds {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, text []byte) {
		r := NewReader("f", bytes.NewReader(text), formatOf(t, format), ReaderOptions{Size: 9})
		buf := make([]Req, 64)
		lines, requests := int64(bytes.Count(text, []byte{'\n'})+1), 0
		for range 1 << 10 {
			n, err := r.Read(buf)
			requests += n
			for _, q := range buf[:n] {
				if q.Size < 0 || q.TTL < 0 || q.Time < 0 || q.Op > Delete || q.Size > 2*maxNumber {
					t.Fatalf("%+v", q)
				}
			}
			if err != nil {
				if n != 0 {
					t.Fatalf("%d requests and %v", n, err)
				}
				if err != io.EOF && !strings.HasPrefix(err.Error(), "f:") {
					t.Fatalf("error without its place: %v", err)
				}
				break
			}
			if n == 0 {
				t.Fatal("nothing, and no error")
			}
		}
		if r.line > lines || format != "arc" && int64(requests) > lines {
			t.Fatalf("%d requests, line %d of %d", requests, r.line, lines)
		}
	})
}

func FuzzKeys(f *testing.F) { fuzz(f, "keys", "a\nb\n\nc", "\r\n", "\x00\xff\n") }

func FuzzCSV(f *testing.F) {
	fuzz(f, "csv", "key,size\na,10\n", "a,1,2,set\nb,2,,incr\n", ",0\n", "a,1,2,3,4,5,6", "a,18446744073709551616")
}

func FuzzTwitter(f *testing.F) {
	fuzz(f, "twitter", "0,q:q:1:8WTfjZU14ee,17,213,4,get,0\n0,yDqF:3q:1,2,13,27,3,add,1209600\n", "1,,0,0,0,gets,0", ",,,,,,", "1,a,1,1,1,get")
}

func FuzzARC(f *testing.F) {
	fuzz(f, "arc", "230027 8 0 0\n1842745 64 0 1\n", "1 0\n2 1\n", "  5\t2  ", "1099511627776 16777216\n")
}
