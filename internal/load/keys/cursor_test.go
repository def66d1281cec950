package keys

import (
	"sync"
	"testing"
)

func TestCursorShared(t *testing.T) {
	c, err := NewCursor(10, 109, 10)
	if err != nil {
		t.Fatal(err)
	}
	var wg sync.WaitGroup
	counts := make([][100]int, 4)
	for g := range counts {
		wg.Go(func() {
			x, _ := Shared(c)
			for range 2500 {
				counts[g][x.Next()-10]++
			}
		})
	}
	wg.Wait()
	for i := range 100 {
		n := 0
		for g := range counts {
			n += counts[g][i]
		}
		if n != 100 {
			t.Errorf("index %d came %d times in 100 rounds", i+10, n)
		}
	}
}

func TestCursorRefuses(t *testing.T) {
	for _, c := range [][3]uint64{{2, 1, 1}, {1, 2, 0}, {1, 2, 3}} {
		if _, err := NewCursor(c[0], c[1], c[2]); err == nil {
			t.Errorf("%v is no cursor", c)
		}
	}
}
