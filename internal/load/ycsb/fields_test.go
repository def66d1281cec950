package ycsb

import (
	"bytes"
	"encoding/json"
	"testing"
)

func TestFields(t *testing.T) {
	for _, c := range []struct {
		e    encoding
		text string
		want string // name=value;
		bad  bool
	}{
		{jsonText, `{"a":"1","b":"22"}`, "a=1;b=22;", false},
		{jsonText, ` { "a" : "1" , "b" : "" } `, "a=1;b=;", false},
		{jsonText, `{"a":"x\"\\\u00e9\n"}`, "a=x\"\\é\n;", false},
		{jsonText, `{}`, "", false},
		{jsonText, ``, "", true},
		{jsonText, `{"a":"1"`, "a=1;", true},
		{jsonText, `{"a":"1",}`, "a=1;", true},
		{jsonText, `{"a":1}`, "", true},
		{jsonText, `{"a":"1"}x`, "a=1;", true},
		{jsonText, `["a"]`, "", true},
		{jsonText, `{"a":"\u00g1"}`, "", true},
		{jsonText, `{"a":"1\`, "", true},
		{compact, "\x01a\x011\x02bb\x00", "a=1;bb=;", false},
		{compact, "", "", true},
		{compact, "\x01a\x021", "", true},
		{compact, "\x80", "", true},
	} {
		var got bytes.Buffer
		it := c.e.walk([]byte(c.text))
		for it.next() {
			got.WriteString(string(it.name) + "=" + string(it.value) + ";")
		}
		if got.String() != c.want || it.bad != c.bad {
			t.Errorf("%q: %q bad %v, want %q %v", c.text, got.String(), it.bad, c.want, c.bad)
		}
	}
}

// Values are JSON that YCSB reads.
func TestJSONValue(t *testing.T) {
	th := threads(t, 0, 1, "load", "memcached", "a")[0]
	f := newFake()
	f.step(t, th)
	for key, v := range f.values {
		var got map[string]string
		if err := json.Unmarshal(v, &got); err != nil || len(got) != 10 || len(got["field9"]) != 100 {
			t.Errorf("%v: %.200q", err, v)
		}
		if key != "usertable-user6284781860667377211" {
			t.Errorf("key %q", key)
		}
	}
}

func FuzzFields(f *testing.F) {
	f.Add(true, []byte(`{"a":"1","b":"\u00e9"}`))
	f.Add(false, []byte("\x01a\x011"))
	f.Fuzz(func(t *testing.T, isJSON bool, value []byte) {
		e := compact
		if isJSON {
			e = jsonText
		}
		it := e.walk(value)
		n := 0
		for it.next() {
			n++
		}
		if it.next() {
			t.Fatal("goes on after the end")
		}
		if !isJSON || it.bad {
			return
		}
		// json.Valid takes control characters in strings for errors; this reader does not mind
		for _, c := range value {
			if c < ' ' {
				return
			}
		}
		if !json.Valid(value) {
			t.Fatalf("%q with %d fields is no JSON", value, n)
		}
	})
}
