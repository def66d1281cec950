package keys

import (
	"bytes"
	"testing"
)

func TestConstantValues(t *testing.T) {
	b, err := ConstantBlock('x', 32)
	if err != nil {
		t.Fatal(err)
	}
	v := NewValues(b, 1, Stream(0, Contents))
	for _, n := range []int{0, 1, 32} {
		if got := v.Next(n); !bytes.Equal(got, bytes.Repeat([]byte{'x'}, n)) {
			t.Errorf("%d bytes are %q", n, got)
		}
	}
}

func TestRandomValues(t *testing.T) {
	b, err := RandomBlock(1, 100)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for client := range 50 {
		v, again := NewValues(b, 1, Stream(client, Contents)), NewValues(b, 1, Stream(client, Contents))
		for range 20 {
			s := string(v.Next(100))
			seen[s]++
			if s != string(again.Next(100)) {
				t.Fatal("the same stream gave different bytes")
			}
		}
	}
	if len(seen) < 990 { // 2 of the 1000 fall together on average
		t.Errorf("50 clients sent %d different values of 1000", len(seen))
	}
	other, _ := RandomBlock(2, 100)
	if bytes.Equal(b.bytes, other.bytes) {
		t.Error("another seed gave the same bytes")
	}
	var counts [256]int
	for _, c := range b.bytes {
		counts[c]++
	}
	chiSquare(t, "bytes", counts[:], flat(256))
}

func TestLargestIsRefused(t *testing.T) {
	if _, err := RandomBlock(1, -1); err == nil {
		t.Error("a negative size was taken")
	}
	if _, err := ConstantBlock(0, 1<<31); err == nil {
		t.Error("2 GiB were taken")
	}
}

func TestValuesAllocateNothing(t *testing.T) {
	b, _ := RandomBlock(1, 1000)
	v := NewValues(b, 1, 1)
	if a := testing.AllocsPerRun(100, func() { sink += uint64(v.Next(777)[0]) }); a != 0 {
		t.Errorf("%v allocations", a)
	}
}

func BenchmarkRandomValues(b *testing.B) {
	block, _ := RandomBlock(1, 1000)
	v := NewValues(block, 1, 1)
	for b.Loop() {
		sink += uint64(v.Next(1000)[0])
	}
}
