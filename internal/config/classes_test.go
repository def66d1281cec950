package config

import (
	"fmt"
	"testing"
)

func TestClasses(t *testing.T) {
	for _, tc := range []struct{ args, want string }{
		{"", "[96 120 152 192 240 304 384 480 600 752 944 1184 1480 1856 2320 2904 3632 4544 5680 7104 8880 11104 13880 17352 21696 " +
			"27120 33904 42384 52984 66232 82792 103496 129376 161720 202152 252696 315872 394840 524288]"},
		{"-f 1.5 -n 64", "[112 168 256 384 576 864 1296 1944 2920 4384 6576 9864 14800 22200 33304 49960 74944 112416 168624 252936 524288]"},
		{"-o slab_sizes=96-200-301", "[96 200 304 524288]"},
		{"-f 2 -o slab_chunk_max=1", "[96 192 384 1024]"},
		{"-n 300000", "[300048 375064 524288]"},
	} {
		m, exit := ParseMemcached("memcached", split(t, tc.args))
		if exit != nil {
			t.Fatal(exit)
		}
		if got := fmt.Sprint(m.Classes()); got != tc.want {
			t.Errorf("%s:\ngot  %s\nwant %s", tc.args, got, tc.want)
		}
	}
	m, _ := ParseMemcached("memcached", []string{"-f", "1.01"})
	if n := len(m.Classes()); n != 63 {
		t.Errorf("-f 1.01: %d classes", n)
	}
}
