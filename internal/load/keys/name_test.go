package keys

import (
	"fmt"
	"testing"
)

func TestNames(t *testing.T) {
	for _, c := range []struct {
		names Names
		index uint64
		want  string
	}{
		{Names{Prefix: "memtier-"}, 0, "memtier-0"},
		{Names{Prefix: "memtier-"}, 10_000_000, "memtier-10000000"},
		{Names{Prefix: "foo"}, top, "foo18446744073709551615"},
		{Names{}, 7, "7"},
		{Names{Prefix: "user", Width: 6}, 42, "user000042"},
		{Names{Prefix: "user", Width: 1}, 42, "user42"},
		{Names{Prefix: "user", Width: 2}, 42, "user42"},
		{Names{Prefix: "user", Hashed: true}, 0, "user6284781860667377211"},
		{Names{Prefix: "user", Hashed: true, Width: 22}, 1, "user0008517097267634966620"},
	} {
		if got := string(c.names.Append([]byte("get "), c.index)); got != "get "+c.want {
			t.Errorf("%+v: %d is %q, want %q", c.names, c.index, got, c.want)
		}
		if longest := c.names.Longest(c.index); len(c.want) > longest || !c.names.Hashed && len(c.want) != longest {
			t.Errorf("%+v: %q is longer than the longest, %d", c.names, c.want, longest)
		}
	}
}

func TestDigits(t *testing.T) {
	check := func(v uint64) {
		if got, want := digits(v), len(fmt.Sprint(v)); got != want {
			t.Errorf("%d has %d digits, not %d", v, want, got)
		}
	}
	check(0)
	check(top)
	for v := uint64(1); v < top/10; v *= 10 {
		check(v - 1)
		check(v)
		check(v + 1)
	}
}

func TestNamesAllocateNothing(t *testing.T) {
	n, buf := Names{Prefix: "user", Hashed: true, Width: 21}, make([]byte, 0, 64)
	if a := testing.AllocsPerRun(100, func() { buf = n.Append(buf[:0], 77) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkNames(b *testing.B) {
	for name, n := range map[string]Names{
		"plain":  {Prefix: "memtier-"},
		"padded": {Prefix: "user", Width: 12},
		"hashed": {Prefix: "user", Hashed: true},
	} {
		b.Run(name, func(b *testing.B) {
			buf := make([]byte, 0, 64)
			for i := uint64(0); b.Loop(); i++ {
				buf = n.Append(buf[:0], 1_000_000+i&0xfffff)
			}
		})
	}
}
