package memtier

import (
	"bytes"
	"fmt"
	"slices"
	"strings"
	"testing"
)

var splitCases = []struct {
	line string
	want []string
	bad  string
}{
	{"", nil, ""},
	{" \t\n\v\f\r ", nil, ""},
	{"  set   __key__    v  ", []string{"set", "__key__", "v"}, ""},
	{"set\ta\nb", []string{"set", "a", "b"}, ""},
	{`set "a\x41\n\r\t\b\a\"q\\z\0\x4" v`, []string{"set", "aA\n\r\t\b\a\"q\\z0x4", "v"}, ""},
	{`"\xZZ" "\X41" "\q"`, []string{"xZZ", "X41", "q"}, ""},
	{`'a\x41\n\'b'`, []string{`a\x41\n'b`}, ""},
	{`a b\ c \n`, []string{"a", `b\`, "c", `\n`}, ""},
	{`set "" '' v`, []string{"set", "", "", "v"}, ""},
	{`set x'y z' v`, []string{"set", "xy z", "v"}, ""},
	{`x"y z"`, []string{"xy z"}, ""},
	{"a \"b\nc\"", []string{"a", "b\nc"}, ""},
	{"\"a\x00b\xff\"", []string{"a\x00b\xff"}, ""},
	{`set a"b c"d v`, nil, `behind the closing " at byte 10`},
	{`echo "a"b`, nil, "behind the closing"},
	{`get "abc`, nil, `has a " at byte 5 that is not closed`},
	{`get 'abc\'`, nil, "has a ' at byte 5 that is not closed"},
	{`get "abc\`, nil, "not closed"},
	{`get "abc\"`, nil, "not closed"},
	{`get "abc\x`, nil, "not closed"},
}

func TestSplit(t *testing.T) {
	for _, c := range splitCases {
		got, err := split(nil, []byte(c.line))
		if c.bad != "" {
			if err == nil || !strings.Contains(err.Error(), c.bad) {
				t.Errorf("%q: %q, %v", c.line, got, err)
			}
			continue
		}
		if err != nil || len(got) != len(c.want) {
			t.Errorf("%q: %q, %v", c.line, got, err)
			continue
		}
		for i := range got {
			if string(got[i]) != c.want[i] {
				t.Errorf("%q: %q, want %q", c.line, got, c.want)
			}
		}
	}
}

// quoted writes words as redis-cli and MONITOR do.
func quoted(words [][]byte) []byte {
	var b []byte
	for i, w := range words {
		if i > 0 {
			b = append(b, ' ')
		}
		b = append(b, '"')
		for _, c := range w {
			switch {
			case c == '"' || c == '\\':
				b = append(b, '\\', c)
			case c == '\n':
				b = append(b, `\n`...)
			case c < ' ' || c >= 0x7f:
				b = fmt.Appendf(b, `\x%02x`, c)
			default:
				b = append(b, c)
			}
		}
		b = append(b, '"')
	}
	return b
}

// FuzzSplit: what is split and written again with quotes is split into the same words.
func FuzzSplit(f *testing.F) {
	for _, c := range splitCases {
		f.Add([]byte(c.line))
	}
	f.Fuzz(func(t *testing.T, line []byte) {
		got, err := split(nil, line)
		if err != nil {
			return
		}
		if again, err := split(nil, quoted(got)); err != nil || !slices.EqualFunc(got, again, bytes.Equal) {
			t.Fatalf("%q: %q, %q, %v", line, got, again, err)
		}
		if !bytes.ContainsAny(line, `"'`) && !slices.EqualFunc(got, bytes.FieldsFunc(line, func(r rune) bool { return r < 0x80 && isSpace(byte(r)) }), bytes.Equal) {
			t.Fatalf("%q: %q", line, got)
		}
	})
}

func TestCommand(t *testing.T) {
	o, exit := Parse("memtier", []string{"--command", `MSET a:{__key__}:__key__ __data__ "__key__" 'x y'`})
	if exit != nil {
		t.Fatal(exit.Stderr)
	}
	c := &o.Commands[0]
	if c.Keys() != 2 || c.Verb != "MSET" || len(c.Args) != 5 || !c.Args[1].Key() || c.Args[0].Key() || !c.Args[2].Data {
		t.Errorf("%+v", c)
	}
	var got []string
	for i := range c.Args {
		got = append(got, string(c.Args[i].Append(nil, []byte("k7"), []byte("val"))))
	}
	if want := []string{"MSET", "a:{k7}:k7", "val", "k7", "x y"}; !slices.Equal(got, want) {
		t.Errorf("%q, want %q", got, want)
	}
	many := make([]string, maxCommands+1)
	for i := range many {
		many[i] = "--command=PING"
	}
	if _, exit := Parse("memtier", many[1:]); exit != nil {
		t.Error(exit.Stderr)
	}
	if _, exit := Parse("memtier", many); exit == nil || exit.Code != ExitUsage {
		t.Errorf("%+v", exit)
	}
}

func TestCommandRows(t *testing.T) {
	monitor, err := ReadMonitor(strings.NewReader(monitored))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ args, names, rowOf, monitorRows string }{
		{"--command=set|a --command=GET|a", "[SET GET]", "[0 1]", "[]"},
		{"--command=get|a --command=GET|b", "[GET GET]", "[0 1]", "[]"},
		{"--command=get|a --command=set|a --command=GET|b --command-stats-breakdown=line", "[GET SET GET #2]", "[0 1 2]", "[]"},
		{"--command=__monitor_line1__ --command=PING --monitor-input=f", "[SET PING]", "[0 1]", "[]"},
		{"--command=__monitor_line@__ --command=GET|x --monitor-input=f", "[GET SET GET]", "[-1 0]", "[1 2 -1]"},
		{"--command=__monitor_line@__ --command=GET|x --monitor-input=f --command-stats-breakdown=line", "[GET SET GET #2]", "[-1 0]", "[1 2 -1]"},
		{"--scan-incremental-iteration --command=SCAN|0", "[SCAN 0 SCAN <cursor>]", "[0]", "[]"},
		{"", "[]", "[]", "[]"},
	} {
		o, exit := Parse("memtier", words(c.args))
		if exit != nil {
			t.Errorf("%s: %s", c.args, exit.Stderr)
			continue
		}
		if o.MonitorInput != "" {
			o.Monitor = monitor
		}
		names, rowOf, monitorRows := o.CommandRows()
		if fmt.Sprint(names) != c.names || fmt.Sprint(rowOf) != c.rowOf || fmt.Sprint(monitorRows) != c.monitorRows {
			t.Errorf("%s: %q %v %v", c.args, names, rowOf, monitorRows)
		}
	}
}
