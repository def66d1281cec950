package mem

import (
	"testing"

	"pgregory.net/rapid"
)

// The size class of a region is the smallest that is large enough.
func TestRegionClass(t *testing.T) {
	for pages := int64(1); pages < 300_000; pages++ {
		c := regionClassOf(pages * PageSize)
		if regionSize(c) < pages*PageSize || c > 0 && regionSize(c-1) >= pages*PageSize {
			t.Fatalf("%d pages: class %d of %d pages", pages, c, regionSize(c)/PageSize)
		}
	}
	if c := regionClassOf(1 << 30); c >= regionClasses {
		t.Errorf("1 GiB would be class %d", c)
	}
}

// Regions keep their bytes apart, are counted by references and charged by what is filled.
func TestRegions(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var r Regions
		defer r.Close()
		type region struct {
			n, refs int
			fill    byte
			charged int64
		}
		have := map[Handle]*region{}
		var order []Handle
		pick := func(t *rapid.T) Handle {
			for len(order) > 0 {
				i := rapid.IntRange(0, len(order)-1).Draw(t, "region")
				if have[order[i]] != nil {
					return order[i]
				}
				order = append(order[:i], order[i+1:]...)
			}
			t.Skip("none")
			return 0
		}
		fill := byte(0)
		t.Repeat(map[string]func(*rapid.T){
			"alloc": func(t *rapid.T) {
				n := rapid.SampledFrom([]int{1, 4096, 4097, 40_000, 300_000}).Draw(t, "n")
				h, err := r.Alloc(int64(n))
				if err != nil || h == 0 || have[h] != nil {
					t.Fatal(h, err)
				}
				for _, c := range r.Bytes(h, n) {
					if c != 0 {
						t.Fatal("not zero")
					}
				}
				fill++
				have[h] = &region{n: n, refs: 1, fill: fill}
				order = append(order, h)
				have[h].charged += r.Resize(h, int64(n))
				b := r.Bytes(h, n)
				for i := range b {
					b[i] = fill
				}
			},
			"retain": func(t *rapid.T) {
				h := pick(t)
				r.Retain(h)
				have[h].refs++
			},
			"release": func(t *rapid.T) {
				h := pick(t)
				w := have[h]
				for _, c := range r.Bytes(h, w.n) {
					if c != w.fill {
						t.Fatal("overwritten")
					}
				}
				freed := r.Release(h)
				if w.refs--; w.refs == 0 {
					if freed != w.charged {
						t.Fatal("freed", freed, "charged", w.charged)
					}
					delete(have, h)
				} else if freed != 0 {
					t.Fatal("freed although there are references")
				}
			},
			"": func(t *rapid.T) {
				var sum int64
				for h, w := range have {
					sum += w.charged
					if r.Refs(h) != w.refs || r.Charged(h) != w.charged || w.charged < int64(w.n) || w.charged >= int64(w.n)+PageSize {
						t.Fatal(*w, r.Refs(h), r.Charged(h))
					}
				}
				if b, n := r.Used(); b != sum || n != int64(len(have)) {
					t.Fatal(b, n, sum, len(have))
				}
			},
		})
	})
}

func TestBudget(t *testing.T) {
	var b Budget
	b.SetLimit(100)
	if !b.TryCharge(60) || b.TryCharge(41) || !b.TryCharge(40) || b.Left() != 0 {
		t.Error(b.Used())
	}
	b.Charge(5)
	if b.Left() != -5 || b.TryCharge(0) {
		t.Error(b.Left())
	}
	b.Refund(105)
	if b.Used() != 0 {
		t.Error(b.Used())
	}
}
