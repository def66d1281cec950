package keys

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

var verifySizes = []int{0, 1, 2, 7, 8, 9, 15, 16, 17, 24, 32, 100, 1000, 65551, 65552, 65553, 200_000}

func TestVerifier(t *testing.T) {
	v, same, other := NewVerifier(1), NewVerifier(1), NewVerifier(2)
	for _, n := range verifySizes {
		for _, index := range []uint64{0, 1, 77, top} {
			value := make([]byte, n)
			v.Fill(value, index)
			if !v.Check(value, index) || !same.Check(value, index) {
				t.Fatalf("%d bytes of %d do not pass", n, index)
			}
			if owner, ok := v.Owner(value); n >= 16 && (!ok || owner != index) {
				t.Errorf("%d bytes of %d belong to %d, %v", n, index, owner, ok)
			}
			if n < 7 { // chance may make them equal
				continue
			}
			if v.Check(value, index+1) {
				t.Errorf("%d bytes of %d pass for its neighbour's", n, index)
			}
			if other.Check(value, index) {
				t.Errorf("%d bytes of %d pass with another seed", n, index)
			}
			if v.Check(value[:n-1], index) {
				t.Errorf("%d bytes of %d pass when cut", n, index)
			}
			for _, at := range []int{0, n / 2, n - 1} { // one bit flipped
				value[at] ^= 4
				if v.Check(value, index) {
					t.Errorf("%d bytes of %d pass with byte %d wrong", n, index, at)
				}
				value[at] ^= 4
			}
		}
	}
}

func TestVerifierTellsKeysApart(t *testing.T) {
	v := NewVerifier(1)
	for _, n := range []int{8, 12, 16, 20, 40} {
		seen := map[string]uint64{}
		for index := range uint64(50_000) {
			value := make([]byte, n)
			v.Fill(value, index)
			if other, ok := seen[string(value)]; ok {
				t.Fatalf("%d bytes: %d and %d have the same", n, index, other)
			}
			seen[string(value)] = index
		}
	}
}

// Pieces of large values that have changed places are found out.
func TestVerifierPieces(t *testing.T) {
	v := NewVerifier(1)
	value := make([]byte, 16+2*verifyPiece)
	v.Fill(value, 5)
	swapped := slices.Concat(value[:16], value[16+verifyPiece:], value[16:16+verifyPiece])
	if v.Check(swapped, 5) {
		t.Error("swapped pieces pass")
	}
}

func TestVerifierAllocatesNothing(t *testing.T) {
	v, value := NewVerifier(1), make([]byte, 1000)
	a := testing.AllocsPerRun(100, func() {
		v.Fill(value, 5)
		if !v.Check(value, 5) {
			t.Fatal("does not pass")
		}
	})
	if a != 0 {
		t.Errorf("%v allocations", a)
	}
}

// integrity is YCSB's buildDeterministicValue, as slow as it stands there.
func integrity(key, field string, size int) string {
	s := key + ":" + field
	for len(s) < size {
		s += ":"
		h := int32(0)
		for _, c := range s {
			h = 31*h + c
		}
		s += fmt.Sprint(h)
	}
	return s[:size]
}

func TestIntegrity(t *testing.T) {
	for _, size := range []int{0, 5, 30, 31, 32, 100, 1000} {
		want := integrity("user6284781860667377211", "field0", size)
		got := string(AppendIntegrity([]byte("set "), []byte("user6284781860667377211"), []byte("field0"), size))
		if got != "set "+want {
			t.Errorf("%d bytes are %q, YCSB has %q", size, got, want)
		}
	}
	if s := integrity("a", "b", 9); !strings.HasPrefix(s, "a:b:") {
		t.Error(s)
	}
}

func BenchmarkVerifier(b *testing.B) {
	v := NewVerifier(1)
	for _, n := range []int{32, 1000, 100_000} {
		value := make([]byte, n)
		b.Run(fmt.Sprintf("fill/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for i := uint64(0); b.Loop(); i++ {
				v.Fill(value, i)
			}
		})
		v.Fill(value, 1)
		b.Run(fmt.Sprintf("check/%d", n), func(b *testing.B) {
			b.SetBytes(int64(n))
			for b.Loop() {
				if !v.Check(value, 1) {
					b.Fatal("does not pass")
				}
			}
		})
	}
}
