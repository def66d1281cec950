package probe

import (
	"maps"
	"testing"

	"godwit/internal/proto/mcbin"
)

// FuzzAnswer reads anything as an answer, whole and in pieces: both must come to the same, within the bounds.
func FuzzAnswer(f *testing.F) {
	kinds := []byte{0, 1, 2, 2}
	for i, name := range []string{"memcached-1.6.18", "binary-1.6.18", "redis-7.0.15", "keydb-made-up"} {
		_, in := recorded(f, name)
		f.Add(kinds[i], in)
		f.Add(kinds[i]+18, in[:len(in)/2])
	}
	f.Add(byte(0), []byte("STAT a\r\nSTAT b \nSTAT  c\r\nEND\r\nmore"))
	f.Add(byte(0), []byte("SERVER_ERROR no\r\n"))
	r := mcbin.Reply{Op: mcbin.Stat}
	f.Add(byte(1), r.AppendStat(r.AppendStat(nil, "rusage_user", "-1e999"), "", ""))
	f.Add(byte(1), r.AppendError(nil, mcbin.AuthError))
	f.Add(byte(2), []byte("=20\r\ntxt:db0:keys=5,x=1\r\n\r\n"))
	f.Add(byte(2), []byte("-NOAUTH Authentication required.\r\n"))
	f.Add(byte(2), []byte("|1\r\n+a\r\n+b\r\n$5\r\na:1\r\n\r\n"))
	f.Fuzz(func(t *testing.T, how byte, in []byte) {
		make1 := func() (*answer, func([]byte) (int, error)) {
			a := &answer{fields: map[string]string{}}
			return a, []func([]byte) (int, error){a.text, a.binary, a.info}[how%3]
		}
		whole, scan := make1()
		n, err := scan(in)
		if n < 0 || n > len(in) {
			t.Fatalf("%d of %d bytes", n, len(in))
		}
		pieces, scan := make1()
		step := 1 + int(how)/3
		var m int
		var err2 error
		for end := 0; m == 0 && err2 == nil && end < len(in); {
			end = min(len(in), end+step)
			m, err2 = scan(in[:end])
		}
		if err == nil && n > 0 && (m != n || err2 != nil) || (err == nil) != (err2 == nil) && n == 0 {
			t.Fatalf("whole: %d, %v; in pieces: %d, %v", n, err, m, err2)
		}
		if n > 0 && err == nil && !maps.Equal(whole.fields, pieces.fields) {
			t.Fatal("the fields are others in pieces")
		}
		if len(whole.fields) > mostFields {
			t.Fatal("too many fields")
		}
		for k, v := range whole.fields {
			if k == "" || len(k) > longName || len(v) > longValue {
				t.Fatalf("%q: %q", k, v)
			}
		}
		for _, family := range []string{Memcached, Redis} {
			c := whole.counters(family)
			if c.User < 0 || c.System < 0 || c.Uptime < 0 {
				t.Fatalf("%+v", c)
			}
			for name := range whole.fields {
				c.Stat(name)
			}
			Diff(c, c)
		}
	})
}
