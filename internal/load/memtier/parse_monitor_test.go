package memtier

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"
	"testing/iotest"
)

func TestReadMonitor(t *testing.T) {
	long := strings.Repeat("x", 1<<17)
	for _, c := range []struct {
		file, want string
		whole      int
	}{
		{"", "", 0},
		{"OK\n\nPING\n", "", 0},
		{monitored, `2 SET ["SET" "a" "b c\x00\n\"q\\"]; 4 GET ["get" "a"]; 5 has a " at byte 7 that is not closed; add one at the end of the word`, 2},
		{"1 [0 a:1] \"ping\"", `1 PING ["ping"]`, 1},
		{"1 [0 a:1] \"ping\"\r\n", `1 PING ["ping"]`, 1},
		{"\"GET\" \"zz\" junk\n", `1 GET ["GET" "zz" "junk"]`, 1},
		{"1 [0 a:1] \"\"\n", "1 has an empty word for a command; mend or delete the line", 0},
		{"\"GET\" \"" + long + "\"\n", `1 GET ["GET" "` + long + `"]`, 1},
	} {
		m, err := ReadMonitor(iotest.OneByteReader(strings.NewReader(c.file)))
		if err != nil {
			t.Errorf("%q: %v", c.file, err)
			continue
		}
		var got []string
		for _, x := range m.Commands {
			if x.Bad != nil {
				got = append(got, fmt.Sprintf("%d %v", x.Line, x.Bad))
				continue
			}
			got = append(got, fmt.Sprintf("%d %s %q", x.Line, x.Verb, x.Args))
		}
		if s := strings.Join(got, "; "); s != c.want || m.Whole != c.whole {
			t.Errorf("%.200q: %d %.200s, want %.200s", c.file, m.Whole, s, c.want)
		}
	}
	broken := errors.New("broken disk")
	if _, err := ReadMonitor(io.MultiReader(strings.NewReader("\"PING\"\n"), iotest.ErrReader(broken))); !errors.Is(err, broken) || err.Error() != "line 2: broken disk" {
		t.Error(err)
	}
}

// FuzzMonitor: lines have numbers that grow, commands that are whole have a verb, and written again they are the same.
func FuzzMonitor(f *testing.F) {
	f.Add([]byte(monitored))
	f.Add([]byte("1700000000.123456 [0 127.0.0.1:50000] \"SET\" \"key\" \"value\\x00\"\r\n\"\"\n"))
	f.Fuzz(func(t *testing.T, file []byte) {
		m, err := ReadMonitor(bytes.NewReader(file))
		if err != nil {
			t.Fatal(err)
		}
		line, whole := 0, 0
		for _, c := range m.Commands {
			if c.Line <= line || (c.Bad == nil) != (c.Verb != "" && len(c.Args) > 0) {
				t.Fatalf("%+v behind line %d", c, line)
			}
			line = c.Line
			if c.Bad != nil {
				continue
			}
			whole++
			again, err := ReadMonitor(bytes.NewReader(append([]byte("1.5 [0 a:1] "), quoted(c.Args)...)))
			if err != nil || len(again.Commands) != 1 || !slices.EqualFunc(again.Commands[0].Args, c.Args, bytes.Equal) {
				t.Fatalf("%q: %+v, %v", c.Args, again, err)
			}
		}
		if whole != m.Whole || line > bytes.Count(file, []byte("\n"))+1 {
			t.Fatalf("%d of %d whole, %d lines", m.Whole, len(m.Commands), line)
		}
	})
}
