package bytesx

import (
	"encoding/base64"
	"strconv"
	"strings"
	"testing"
)

// FuzzUint compares with strconv, which is stricter in nothing but signs and underscores.
func FuzzUint(f *testing.F) {
	for _, s := range []string{"", "0", "18446744073709551615", "18446744073709551616", "-1", "+1", "1_0", "99999999999999999999"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		v, ok := Uint([]byte(s))
		want, err := strconv.ParseUint(s, 10, 64)
		if wantOK := err == nil && s[0] != '+'; ok != wantOK || ok && v != want {
			t.Errorf("Uint %q: %d %v", s, v, ok)
		}
		i, ok := Int32([]byte(s))
		wantI, err := strconv.ParseInt(s, 10, 32)
		if wantOK := err == nil && s[0] != '+'; ok != wantOK || ok && int64(i) != wantI {
			t.Errorf("Int32 %q: %d %v", s, i, ok)
		}
		if strings.TrimLeft(s, "+-0123456789") == "" {
			l, ok := LooseInt([]byte(s))
			wantL, err := strconv.ParseInt(s, 10, 64)
			if ok != (err == nil) || ok && l != wantL {
				t.Errorf("LooseInt %q: %d %v", s, l, ok)
			}
		}
	})
}

func TestLooseUint(t *testing.T) {
	for s, want := range map[string]int64{
		"12": 12, " 12": 12, "12 ": 12, "1 2": 1, "\t\n\v\f\r 7\tx": 7, "+3": 3, "-0": 0, "5\x00x": 5, "007": 7,
		"": -1, " ": -1, "x": -1, "12x": -1, "-1": -1, "+": -1, "-": -1, "+-1": -1, "0x10": -1, "18446744073709551616": -1,
	} {
		v, ok := LooseUint([]byte(s))
		if ok != (want >= 0) || ok && v != uint64(want) {
			t.Errorf("%q: %d %v", s, v, ok)
		}
	}
}

func TestDecodeBase64(t *testing.T) {
	for s, want := range map[string]string{
		"Zm9v": "foo", "Zg==": "f", "Zm8=": "fo", "Zm9vYmFy": "foobar", "Zm9=": "fo", "Zh==": "f", "Zm=v": "f`",
		"=m9v": "\x02o", "Zg==Zm9v": "f",
		"": "!", "Z": "!", "Zm9": "!", "Z===": "!", "====": "!", "Zm_v": "!", "Zm9v\rm9v": "!", "Zm9vZ===": "!",
	} {
		got, ok := DecodeBase64(nil, []byte(s))
		if ok != (want != "!") || ok && string(got) != want {
			t.Errorf("%q: %q %v", s, got, ok)
		}
	}
}

// FuzzBase64 compares with the standard library where that accepts the text, too.
func FuzzBase64(f *testing.F) {
	f.Add([]byte("foo"), "Zm9v")
	f.Fuzz(func(t *testing.T, key []byte, text string) {
		if got, ok := DecodeBase64(nil, AppendBase64(nil, key)); len(key) > 0 && (!ok || string(got) != string(key)) {
			t.Errorf("%q comes back as %q", key, got)
		}
		want, err := base64.StdEncoding.DecodeString(text)
		if got, ok := DecodeBase64(nil, []byte(text)); err == nil && text != "" && !strings.ContainsAny(text, "\r\n") && (!ok || string(got) != string(want)) {
			t.Errorf("%q: %q, want %q", text, got, want)
		}
	})
}
