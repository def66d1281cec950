package nearest

import "testing"

func TestName(t *testing.T) {
	known := []string{"conns", "mget_count", "key_count", "port", "host", "recv", "requests"}
	for _, c := range []struct{ name, want string }{
		{"mget_cuont", "mget_count"}, {"keycount", "key_count"}, {"key_counts", "key_count"}, {"reqests", "requests"}, {"requests", "requests"},
		{"prt", "port"}, {"post", "port"}, {"Host", "host"}, {"conn", "conns"}, // port and host are as near: the first
		{"", ""}, {"x", ""}, {"xy", ""}, {"haste", ""}, {"whatever", ""}, {"mget", ""}, {"requestsomething", ""},
	} {
		if got := Name(c.name, known); got != c.want {
			t.Errorf("%q: %q, not %q", c.name, got, c.want)
		}
	}
	if got := Name("host", nil); got != "" {
		t.Errorf("of none: %q", got)
	}
}

// The twin is slow and plain.
func TestDistance(t *testing.T) {
	var plain func(a, b string) int
	plain = func(a, b string) int {
		switch {
		case a == "" || b == "":
			return len(a) + len(b)
		case a[0] == b[0]:
			return plain(a[1:], b[1:])
		}
		return 1 + min(plain(a[1:], b), plain(a, b[1:]), plain(a[1:], b[1:]))
	}
	var words []string
	for n := range 3 * 3 * 3 * 3 * 3 {
		w := ""
		for x := n; x > 0; x /= 3 {
			w += string(rune('a' + x%3))
		}
		words = append(words, w)
	}
	for _, a := range words {
		for _, b := range words {
			for _, most := range []int{1, 2, 3, 9} {
				if got, want := distance(a, b, most), min(plain(a, b), most); got != want {
					t.Fatalf("%q, %q, at most %d: %d, not %d", a, b, most, got, want)
				}
			}
		}
	}
}
