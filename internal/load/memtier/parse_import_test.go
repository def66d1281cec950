package memtier

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
	"testing/iotest"
)

// importCases: items as line:key=data, and at the end EOF or the error.
var importCases = []struct{ file, want string }{
	{itemsHead, "EOF"},
	{strings.TrimSpace(itemsHead), "EOF"},
	{"dumpflags, time, exptime\n0, 0, 0, 5, 0, 0, 1, 1, a, xyz\n", `2:"a"="xyz" EOF`},
	{"dumpflags,time,exptime,nbytes\r\n0,0,0,5,0,0,1,1,a,xyz\r\n", `2:"a"="xyz" EOF`},
	{itemsHead + "0, 0, 0, 5, 0, 0, 1, 1, a, xyz", `2:"a"="xyz" EOF`},
	{itemsHead + "0, 0, 0, 5, 0, 0, 1, 1, \"a\", \"xyz\"", `2:"a"="xyz" EOF`},
	{itemsHead + "\n0, 0, 0, 2, 0, 0, 1, 1, a, \n\n0, 0, 0, 2, 0, 0, 1, 1, b, \"\"\n\n", `3:"a"="" 5:"b"="" EOF`},
	{itemsHead + "0, 0, 0, 5, 0, 0, 1, 1, \"a\", \"x\"\"z\"\n0, 0, 0, 5, 0, 0, 1, 3, \"a\"\"b\", \"x\nz\"\n0,0,0,4,0,0,1,2,a,,,\"\n",
		`2:"a"="x\"z" 3:"a\"b"="x\nz" 5:"a,"=",\"" EOF`},
	{itemsHead + "0, 0, 0, 6, 0, 0, 1, 2, \x00\xff, a\r\n\x00\n", `2:"\x00\xff"="a\r\n\x00" EOF`},
	{"", "f:1: the file is empty; its first line must be dumpflags, time, exptime, nbytes, nsuffix, it_flags, clsid, nkey, key, data"},
	{"foo\n", "f:1: the first line is not dumpflags, time, exptime, nbytes, nsuffix, it_flags, clsid, nkey, key, data"},
	{"dumpflags, time\n", "f:1: the first line is not *"},
	{"dumpflags, time, exptime, key\n", "f:1: the first line is not *"},
	{strings.TrimSpace(itemsHead) + ", more\n", "f:1: the first line is not *"},
	{strings.Repeat("x", 1<<17), "f:1: the first line is not *"},
	{itemsHead + "0, 0, 0, 5\n", "f:2: column nbytes: the line ends here; complete or delete it"},
	{itemsHead + "0, 0, 0, 5", "f:2: column nbytes: the file ends here; complete or delete the line"},
	{itemsHead + "x, 0, 0, 5, 0, 0, 1, 1, a, xyz\n", `f:2: column dumpflags: "x" is not a whole number; use 0 to 9223372036854775807`},
	{itemsHead + "0, 0, -1, 5, 0, 0, 1, 1, a, xyz\n", `f:2: column exptime: " -1" is too little; use 0 to 9223372036854775807`},
	{itemsHead + "0, 99999999999999999999999999, 0", `f:2: column time: " 99999999999999999999999" and so on is no number`},
	{itemsHead + "0, 0, 0, 1, 0, 0, 1, 1, a, xyz\n", "f:2: column nbytes: 1; it is the length of the data and 2 more, from 2 to 1073741824"},
	{itemsHead + "0, 0, 0, 5, 0, 0, 1, 0, , xyz\n", "f:2: column nkey: 0; it is the length of the key, from 1 to 1073741824"},
	{itemsHead + "0, 0, 0, 5, 0, 0, 1, 1, a, xyz\n0, 0, 0, 9, 0, 0, 1, 1, \"a\", \"xyz\"\n",
		`2:"a"="xyz" f:3: column data: it ends after 3 bytes, and nbytes less 2 says 7; mend the length, or write "" for a quote within`},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1, \"a\", \"xyz\"\n", "f:2: column data: no quote closes it after the 1 bytes of nbytes less 2; mend the length"},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1, a, xyz\n", "f:2: column data: it goes on after the 1 bytes of nbytes less 2; mend the length"},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1, ab, xyz\n", "f:2: column key: it goes on after the 1 bytes of nkey; mend the length"},
	{itemsHead + "0, 0, 0, 9, 0, 0, 1, 1, a, xyz\n", "f:3: column data: the file ends after 4 of the 7 bytes of nbytes less 2; complete or delete the line"},
	{itemsHead + "0, 0, 0, 1000000000, 0, 0, 1, 1, a, x", "f:2: column data: the file ends after 1 of the 999999998 bytes of nbytes less 2; *"},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1, a, \"x", "f:2: column data: the file ends after 1 of the 1 bytes of nbytes less 2; *"},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1, a", "f:2: column key: the file ends after 1 of the 1 bytes of nkey; *"},
	{itemsHead + "0, 0, 0, 3, 0, 0, 1, 1,", "f:2: column key: the file ends after 0 of the 1 bytes of nkey; *"},
}

func readAll(r io.Reader) string {
	im, err := NewImporter(r, "f")
	s := ""
	for err == nil {
		var it *Item
		if it, err = im.Next(); err == nil {
			s += fmt.Sprintf("%d:%q=%q ", it.Line, it.Key, it.Data)
		}
	}
	return s + err.Error()
}

func TestImporter(t *testing.T) {
	for _, c := range importCases {
		for _, r := range []io.Reader{strings.NewReader(c.file), iotest.OneByteReader(strings.NewReader(c.file)), iotest.DataErrReader(strings.NewReader(c.file))} {
			got := readAll(r)
			if start, ok := strings.CutSuffix(c.want, "*"); got != c.want && !(ok && strings.HasPrefix(got, start)) {
				t.Errorf("%.300q:\n got %s\nwant %s", c.file, got, c.want)
			}
		}
	}
}

func TestImporterFields(t *testing.T) {
	im, err := NewImporter(strings.NewReader(itemsHead+"1, 2, 3, 5, 4, 6, 7, 1, a, xyz\n"), "f")
	if err != nil {
		t.Fatal(err)
	}
	it, err := im.Next()
	if err != nil || it.DumpFlags != 1 || it.Time != 2 || it.Expiry != 3 || it.SuffixLength != 4 || it.ItemFlags != 6 || it.ClassID != 7 {
		t.Fatalf("%+v %v", it, err)
	}
	broken := errors.New("broken disk")
	if im, err = NewImporter(io.MultiReader(strings.NewReader(itemsHead), iotest.ErrReader(broken)), "f"); err == nil {
		_, err = im.Next()
	}
	if !errors.Is(err, broken) || err.Error() != "f:2: broken disk" {
		t.Error(err)
	}
}

func TestImportKeys(t *testing.T) {
	var b bytes.Buffer
	b.WriteString(itemsHead)
	for i := range 20000 {
		key := fmt.Sprintf("key-%d", i)
		fmt.Fprintf(&b, "0, 0, 0, 3, 0, 0, 1, %d, %s, x\n", len(key), key)
	}
	keys, err := ImportKeys(&b, "f")
	if err != nil || len(keys) != 20000 {
		t.Fatal(len(keys), err)
	}
	for i, key := range keys {
		if want := fmt.Sprintf("key-%d", i); string(key) != want || cap(key) != len(key) {
			t.Fatalf("%s, want %s", key, want)
		}
	}
}

func TestImporterAllocs(t *testing.T) {
	line := "0, 0, 0, 5, 0, 0, 1, 1, \"a\", \"xyz\"\n"
	im, err := NewImporter(strings.NewReader(itemsHead+strings.Repeat(line, 200)), "f")
	if err != nil {
		t.Fatal(err)
	}
	if n := testing.AllocsPerRun(100, func() {
		if _, err := im.Next(); err != nil {
			t.Fatal(err)
		}
	}); n > 0 {
		t.Errorf("%v allocations per item", n)
	}
}

// FuzzImport: what is read and written again, all in quotes, is read as the same items; errors name the file and a line
// that it has.
func FuzzImport(f *testing.F) {
	for _, c := range importCases {
		if len(c.file) < 1000 {
			f.Add([]byte(c.file))
		}
	}
	f.Fuzz(func(t *testing.T, file []byte) {
		im, err := NewImporter(bytes.NewReader(file), "f")
		var b bytes.Buffer
		b.WriteString(itemsHead)
		n := 0
		for err == nil {
			var it *Item
			if it, err = im.Next(); err == nil {
				n++
				quote := func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`"`), []byte(`""`)) }
				fmt.Fprintf(&b, "%d, %d, %d, %d, 0, 0, 0, %d, \"%s\", \"%s\"\n", it.DumpFlags, it.Time, it.Expiry, len(it.Data)+2, len(it.Key), quote(it.Key), quote(it.Data))
			}
		}
		if e, ok := errors.AsType[*ImportError](err); ok && (e.File != "f" || e.Line < 1 || e.Line > bytes.Count(file, []byte("\n"))+2) || !ok && err != io.EOF {
			t.Fatal(err)
		}
		if n == 0 {
			return
		}
		again, err := NewImporter(&b, "f")
		if err != nil {
			t.Fatal(err)
		}
		im, _ = NewImporter(bytes.NewReader(file), "f")
		for range n {
			x, err := im.Next()
			if err != nil {
				t.Fatal(err)
			}
			y, err := again.Next()
			if err != nil || !bytes.Equal(x.Key, y.Key) || !bytes.Equal(x.Data, y.Data) || x.Expiry != y.Expiry {
				t.Fatalf("%+v %+v %v", x, y, err)
			}
		}
	})
}
