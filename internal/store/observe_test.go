package store

import (
	"fmt"
	"testing"
)

// While evictions are watched they go along with the writes that cause them: the next write into a full store is followed
// by one, whatever the size of values.
func TestEvictionFollowsWrite(t *testing.T) {
	for _, size := range []int{100, 1000, 11_000, 40_000, 300_000} {
		for _, loops := range []int{1, 2, 4} {
			t.Run(fmt.Sprintf("%d/%d", size, loops), func(t *testing.T) {
				s := open(t, 60<<20, loops)
				l := s.Local(loops - 1)
				v := make([]byte, size)
				for i := range 90 << 20 / (size + 50) {
					if err := set(l, fmt.Sprintf("key%d", i), v, 0); err != nil {
						t.Fatal(err)
					}
				}
				evicted := 0
				s.Observe(func(k EventKind, _ *View) {
					if k == Evicted {
						evicted++
					}
				})
				n := max(1, 2*reclaimEvery/size) // the work for small values is done in steps
				for i := range n {
					if err := set(l, fmt.Sprintf("more%d", i), v, 0); err != nil {
						t.Fatal(err)
					}
				}
				s.Observe(nil)
				if evicted == 0 {
					t.Errorf("no eviction after %d writes; %+v, left %d", n, s.log.Counts(), s.budget.Left())
				}
			})
		}
	}
}

// A full cache of large values stays full: a write evicts about as much as it needs, although the items of all values
// lie in one segment.
func TestLargeValuesFillTheLimit(t *testing.T) {
	for _, size := range []int{40_000, 300_000, 1 << 20} {
		s := open(t, 60<<20, 1)
		l := s.Local(0)
		v := make([]byte, size)
		for i := range 200 << 20 / size {
			if err := set(l, fmt.Sprintf("key%d", i), v, 0); err != nil {
				t.Fatal(err)
			}
			if left := s.budget.Left(); i > 70<<20/size && left > int64(2*size+6<<20) {
				t.Fatalf("%d bytes, value %d: %d bytes left over", size, i, left)
			}
		}
	}
}
