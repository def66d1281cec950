package ycsb

import (
	"fmt"
	"reflect"
	"strings"
	"testing"
)

func TestProperties(t *testing.T) {
	for _, c := range []struct {
		name, text string
		want       []string // name=value@line
		err        string
	}{
		{"separators", "a=1\nb:2\nc 3\nd\t=\t4\ne = : 5\nf", []string{"a=1@1", "b=2@2", "c=3@3", "d=4@4", "e=: 5@5", "f=@6"}, ""},
		{"comments", "# a=1\n  ! b=2\n\n \t\nc=3 # no comment\n", []string{"c=3 # no comment@5"}, ""},
		{"line ends", "a=1\rb=2\r\nc=3\n\rd=4", []string{"a=1@1", "b=2@2", "c=3@3", "d=4@5"}, ""},
		{"continuation", "a=1,\\\n   2,\\\r\n\t3\nb=4", []string{"a=1,2,3@1", "b=4@4"}, ""},
		{"even backslashes", `a=1\\` + "\nb=2", []string{`a=1\@1`, "b=2@2"}, ""},
		{"continued at the end", "a=1\\", []string{"a=1@1"}, ""},
		{"continued into a comment", "a=1\\\n#2", []string{"a=1#2@1"}, ""},
		{"comments are not continued", "# a\\\nb=2", []string{"b=2@2"}, ""},
		{"escapes", `a\ b\=\:=\t\n\r\f\q\\`, []string{"a b=:=\t\n\r\fq\\@1"}, ""},
		{"blanks after the value stay", "a=1 ", []string{"a=1 @1"}, ""},
		{"unicode", `a=\u00e9\uD83D\uDE00` + "\nb=é", []string{"a=é😀@1", "b=é@2"}, ""},
		{"half a pair", `a=\uD83Dx`, []string{"a=\ufffdx@1"}, ""},
		{"bad unicode", "\n" + `a=\u00g1`, nil, `f:2: \u00g1: four hexadecimal digits must follow \u`},
		{"short unicode", `a=\u12`, nil, `f:1: \u12: four hexadecimal digits must follow \u`},
		{"no name", "a=1\n = 2", nil, `f:2: "= 2" has no property name before its separator (write name=value)`},
	} {
		got, err := parseProperties("f", c.text)
		if fmt.Sprint(err) != c.err && !(err == nil && c.err == "") {
			t.Errorf("%s: error %v, want %s", c.name, err, c.err)
		}
		var list []string
		for _, p := range got {
			list = append(list, p.name+"="+p.value+"@"+strings.TrimPrefix(p.where, "f:"))
		}
		if !reflect.DeepEqual(list, c.want) {
			t.Errorf("%s: %q, want %q", c.name, list, c.want)
		}
	}
}

// write is the inverse of parseProperties.
func write(props []property) string {
	quote := func(s string, name bool) string {
		var b strings.Builder
		for i := range len(s) {
			switch c := s[i]; {
			case c == '\n':
				b.WriteString(`\n`)
			case c == '\r':
				b.WriteString(`\r`)
			case c == '\f':
				b.WriteString(`\f`)
			case c == '\t':
				b.WriteString(`\t`)
			case c == '\\', c == '#', c == '!', c == '=', c == ':', c == ' ' && (name || i == 0):
				b.WriteString(`\` + string(rune(c)))
			default:
				b.WriteByte(c)
			}
		}
		return b.String()
	}
	var b strings.Builder
	for _, p := range props {
		b.WriteString(quote(p.name, true) + "=" + quote(p.value, false) + "\n")
	}
	return b.String()
}

func FuzzProperties(f *testing.F) {
	for _, s := range []string{"a=1\nb: 2\r\n#c\nd\\\n e", `\u00e9=\uD83D\uDE00`, "a\\", "=", "a=\\u12", "a\f b"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		props, err := parseProperties("f", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "f:") {
				t.Fatalf("error without place: %v", err)
			}
			return
		}
		again, err := parseProperties("f", write(props))
		if err != nil || len(again) != len(props) {
			t.Fatalf("written and read again: %d properties of %d, %v", len(again), len(props), err)
		}
		for i := range props {
			if again[i].name != props[i].name || again[i].value != props[i].value {
				t.Fatalf("%q=%q became %q=%q", props[i].name, props[i].value, again[i].name, again[i].value)
			}
		}
	})
}
