package index

import (
	"fmt"
	"maps"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"pgregory.net/rapid"

	"godwit/internal/mem"
)

func newPool(t interface{ Fatal(...any) }, bytes int64) (*Pool, *mem.Budget) {
	b := &mem.Budget{}
	p, err := NewPool(nil, bytes, b)
	if err != nil {
		t.Fatal(err)
	}
	return p, b
}

// check verifies the structure, and that exactly the slots of the model are there.
func check(t interface{ Fatal(...any) }, tb *Table, p *Pool, model map[uint64]uint32) {
	seen := map[uint32]bool{}
	left := maps.Clone(model)
	err := tb.Check(p, seen, func(s Slot, tag uint32) error {
		if want, ok := left[s.Ref()]; !ok || want != tag {
			return fmt.Errorf("slot of reference %d, tag %x", s.Ref(), tag)
		}
		delete(left, s.Ref())
		return nil
	})
	if err != nil || len(left) != 0 {
		t.Fatal(err, len(left), "missing")
	}
	if err := p.Check(seen); err != nil {
		t.Fatal(err)
	}
	for ref, tag := range model {
		if tb.FindRef(p, tag, ref) == nil {
			t.Fatal("not found:", ref, tag)
		}
	}
}

// A table and a map of references to tags agree, however the tags are distributed.
func TestTableModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		p, budget := newPool(t, 8<<20)
		defer p.Close()
		var tb Table
		tb.Init(p)
		model := map[uint64]uint32{}
		ref := uint64(0)
		tags := []*rapid.Generator[uint32]{
			rapid.Uint32Range(0, 1<<tagBits-1),
			rapid.Just(uint32(0x1555555)),     // all equal
			rapid.Uint32Range(1<<12, 1<<12+7), // splits do not help before the last bits
			rapid.Uint32Range(0, 31),          // one group at any depth
			rapid.SampledFrom([]uint32{0, 1<<tagBits - 1}),
		}
		t.Repeat(map[string]func(*rapid.T){
			"insert": func(t *rapid.T) {
				gen := rapid.SampledFrom(tags).Draw(t, "kind")
				for range rapid.IntRange(1, 300).Draw(t, "n") {
					tag := gen.Draw(t, "tag")
					ref++
					before := tb.Items()
					if tb.Insert(p, tag, ref, ref%4) {
						model[ref] = tag
					} else if tb.Items() != before {
						t.Fatal("a refused insert changed the table")
					}
				}
			},
			"remove": func(t *rapid.T) {
				refs := slices.Sorted(maps.Keys(model))
				rng := rand.New(rand.NewPCG(rapid.Uint64().Draw(t, "seed"), 0))
				rng.Shuffle(len(refs), func(i, k int) { refs[i], refs[k] = refs[k], refs[i] })
				for _, r := range refs[:len(refs)*rapid.IntRange(0, 10).Draw(t, "tenths")/10] {
					s := tb.FindRef(p, model[r], r)
					if s == nil || s.Ctr() != r%4 {
						t.Fatal("lost", r)
					}
					tb.Remove(p, model[r], s)
					delete(model, r)
				}
			},
			"find": func(t *rapid.T) {
				tag := rapid.SampledFrom(tags).Draw(t, "kind").Draw(t, "tag")
				n := 0
				for s := tb.Find(p, tag); s != nil; s = tb.After(p, tag, s) {
					if model[s.Ref()] != tag {
						t.Fatal("found what is not there")
					}
					n++
				}
				for _, w := range model {
					if w == tag {
						n--
					}
				}
				if n != 0 {
					t.Fatal(n, "too many or too few with tag", tag)
				}
			},
			"walk": func(t *rapid.T) { // with changes in between: what stays is seen
				stay, seen := maps.Clone(model), map[uint64]bool{}
				for at := int64(0); at >= 0; {
					at = tb.Each(p, uint64(at), func(s Slot) { seen[s.Ref()] = true })
					if rapid.Bool().Draw(t, "grow") {
						for range 100 {
							ref++
							if tag := rapid.Uint32Range(0, 1<<tagBits-1).Draw(t, "tag"); tb.Insert(p, tag, ref, ref%4) {
								model[ref] = tag
							}
						}
					} else {
						for _, r := range slices.Sorted(maps.Keys(model))[:len(model)/2] {
							tb.Remove(p, model[r], tb.FindRef(p, model[r], r))
							delete(model, r)
							delete(stay, r)
						}
					}
				}
				for r := range stay {
					if !seen[r] {
						t.Fatal("the walk missed", r)
					}
				}
			},
			"": func(t *rapid.T) { check(t, &tb, p, model) },
		})
		groups := tb.Save(p)
		if err := CheckGroups(groups); err != nil {
			t.Fatal(err)
		}
		var again Table
		if err := again.Load(p, groups); err != nil || again.Items() != tb.Items() {
			t.Fatal(err, again.Items(), tb.Items())
		}
		check(t, &again, p, model)
		for r, tag := range model {
			tb.Remove(p, tag, tb.FindRef(p, tag, r))
		}
		check(t, &tb, p, nil)
		if budget.Used() != p.Bytes() {
			t.Fatal("charged", budget.Used(), "of", p.Bytes())
		}
	})
}

// A full pool refuses inserts into full groups and nothing else.
func TestPoolExhausted(t *testing.T) {
	p, _ := newPool(t, 0) // the smallest: 512 groups
	defer p.Close()
	var tb Table
	tb.Init(p)
	rng := rand.New(rand.NewPCG(1, 1))
	model := map[uint64]uint32{}
	refused := 0
	for ref := uint64(1); refused < 1000; ref++ {
		tag := rng.Uint32() >> (32 - tagBits)
		if tb.Insert(p, tag, ref, 0) {
			model[ref] = tag
		} else {
			refused++
		}
	}
	seen := map[uint32]bool{}
	if err := tb.Check(p, seen, func(Slot, uint32) error { return nil }); err != nil {
		t.Fatal(err)
	}
	for ref, tag := range model {
		if tb.FindRef(p, tag, ref) == nil {
			t.Fatal("lost", ref)
		}
	}
	t.Logf("%d items in %d groups", len(model), len(seen))
}

// Every table gets hashes, in shares that differ by at most two.
func TestSpread(t *testing.T) {
	for _, n := range []int{1, 2, 16, 100, 1024} {
		s := NewSpread(n)
		count := make([]int, n)
		const draws = 1 << 18
		last := 0
		for i := range uint64(draws) {
			k := s.Table(i << 46)
			if k < last || k >= n {
				t.Fatalf("%d tables: hash %x goes to %d after %d", n, i<<46, k, last)
			}
			last = k
			count[k]++
		}
		if lo, hi := slices.Min(count), slices.Max(count); lo == 0 || float64(hi) > 2.1*float64(lo) {
			t.Errorf("%d tables: from %d to %d of %d", n, lo, hi, draws)
		}
		if s.Table(1<<64-1) != n-1 || s.Table(0) != 0 {
			t.Errorf("%d tables: ends go to %d and %d", n, s.Table(0), s.Table(1<<64-1))
		}
	}
}

// What lies outside the Go heap holds no pointers: the collector would not see them.
func TestNoPointers(t *testing.T) {
	for _, v := range []any{group{}, groupMeta{}} {
		if err := noPointers(reflect.TypeOf(v)); err != nil {
			t.Errorf("%T: %v", v, err)
		}
	}
}

func noPointers(t reflect.Type) error {
	switch t.Kind() {
	case reflect.Struct:
		for i := range t.NumField() {
			if err := noPointers(t.Field(i).Type); err != nil {
				return fmt.Errorf("%s: %w", t.Field(i).Name, err)
			}
		}
	case reflect.Array:
		return noPointers(t.Elem())
	case reflect.Pointer, reflect.UnsafePointer, reflect.Map, reflect.Slice, reflect.String, reflect.Chan, reflect.Func, reflect.Interface:
		return fmt.Errorf("%v is a pointer", t)
	}
	return nil
}
