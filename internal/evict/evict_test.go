package evict

import "testing"

func TestFate(t *testing.T) {
	for _, c := range []struct {
		q    Queue
		ctr  uint64
		keep bool
		next uint64
	}{
		{Small, 0, false, 0}, {Small, 1, true, 0}, {Small, 3, true, 0}, {Main, 0, false, 0}, {Main, 1, true, 0}, {Main, 3, true, 2},
	} {
		if keep, next := Fate(c.q, c.ctr); keep != c.keep || next != c.next {
			t.Errorf("queue %d, counter %d: %v, %d", c.q, c.ctr, keep, next)
		}
	}
}

func TestFrom(t *testing.T) {
	p := New()
	for _, c := range []struct {
		small, main int64
		want        Queue
	}{{0, 0, Small}, {100, 0, Small}, {0, 100, Main}, {5, 95, Main}, {7, 93, Small}, {50, 50, Small}} {
		if got := p.From([Queues]int64{c.small, c.main}); got != c.want {
			t.Errorf("small %d, main %d: queue %d", c.small, c.main, got)
		}
	}
}

func TestNote(t *testing.T) {
	p := New()
	rest := p.Share()
	note := func(hits int64) { p.Note(10_000, hits, 10_000) }
	note(8000)
	if p.Note(100, 0, 10_000); p.Share() != rest {
		t.Errorf("share %v after a few requests", p.Share())
	}
	p = New()
	note(8000)
	note(7000) // the hot set moves
	if p.Share() != rest+growStep {
		t.Errorf("share %v after a fall", p.Share())
	}
	note(6990) // chance
	if p.Share() != rest+growStep-restStep {
		t.Errorf("share %v after a fall by chance", p.Share())
	}
	for hits := int64(6500); hits > 500; hits -= 500 {
		note(hits)
	}
	if p.Share() > maxShare || p.Share() < maxShare-growStep {
		t.Errorf("share %v after many falls", p.Share())
	}
	for range 100 {
		note(5000)
	}
	if p.Share() != rest {
		t.Errorf("share %v after a steady load", p.Share())
	}
	s := p.State()
	q := New()
	q.Load(s)
	if err := CheckState(s); err != nil || q.State() != s {
		t.Errorf("%v: %+v became %+v", err, s, q.State())
	}
}

func TestGhosts(t *testing.T) {
	g := NewGhosts(make([]uint32, 4096))
	hash := func(i int) uint64 { return uint64(i) * 0x9E3779B97F4A7C15 }
	for i := range 2000 {
		g.Add(hash(i))
	}
	if g.Count() != 2000 {
		t.Errorf("count %d", g.Count())
	}
	known := 0
	for i := range 2000 {
		if g.Take(hash(i), 4000) {
			known++
		}
	}
	if known < 1800 {
		t.Errorf("%d of 2000 remembered", known)
	}
	for i := range 2000 {
		if g.Take(hash(i), 4000) {
			t.Fatal("remembered after it was taken")
		}
	}
	g.Add(hash(1))
	for i := range 2000 {
		g.Add(hash(10_000 + i))
	}
	if g.Take(hash(1), 1000) {
		t.Error("believed although 2000 evictions ago")
	}
	wrong := 0
	for i := range 10_000 {
		if g.Take(hash(1_000_000+i), 1<<40) {
			wrong++
		}
	}
	if wrong > 20 {
		t.Errorf("%d of 10000 strangers taken for ghosts", wrong)
	}
}
