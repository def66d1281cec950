package keys

import "testing"

func TestScatterIsBijection(t *testing.T) {
	for n := uint64(1); n < 70_000; n = n*5/4 + 1 {
		s := newScatter(n - 1)
		seen := make([]bool, n)
		for i := range n {
			p := s.place(i)
			if p >= n || seen[p] {
				t.Fatalf("%d places: %d goes to %d, which is taken or outside", n, i, p)
			}
			seen[p] = true
		}
	}
	s := newScatter(top)
	if s.place(0) == s.place(1) {
		t.Error("all numbers: two go to one place")
	}
}

// The hottest ranks are spread over the range, and all keys have the frequency of their rank.
func TestScrambled(t *testing.T) {
	const n = 1000
	s := newScatter(n - 1)
	tenths := make([]int, 10)
	for rank := range uint64(100) {
		tenths[s.place(rank)/(n/10)]++
	}
	for i, c := range tenths {
		if c < 2 || c > 25 {
			t.Errorf("%d of the 100 hottest keys are in tenth %d", c, i)
		}
	}
	x := made(t)(Scrambled(50, 50+n-1, 0.99))
	counts := count(t, "scrambled", 300_000, n, 50, x.Next)
	ranked := make([]int, n)
	for rank := range uint64(n) {
		ranked[rank] = counts[s.place(rank)]
	}
	chiSquare(t, "scrambled", ranked, zipfWeights(n, 1, 0.99))
}

func TestFNV(t *testing.T) {
	// Keys that YCSB's load phase makes, in its own documentation and in many a log.
	for v, want := range map[uint64]uint64{0: 6284781860667377211, 1: 8517097267634966620} {
		if got := FNV(v); got != want {
			t.Errorf("FNV(%d) = %d, YCSB has %d", v, got, want)
		}
	}
	for i := range uint64(100_000) {
		if FNV(i) > 1<<63 {
			t.Fatalf("FNV(%d) is not an absolute value", i)
		}
	}
}
