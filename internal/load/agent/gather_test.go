package agent

import (
	"strings"
	"testing"
	"time"

	"godwit/internal/load/result"
)

func at(seconds int, counts ...uint64) *result.Snapshot {
	s := &result.Snapshot{Elapsed: time.Duration(seconds) * time.Second, Clients: 1, Service: result.NewHistogram()}
	for _, n := range counts {
		s.Total = append(s.Total, result.Counts{Count: n})
		s.Second = append(s.Second, result.Second{Counts: result.Counts{Count: n}})
	}
	return s
}

func TestGather(t *testing.T) {
	g := newGather([]machine{{ready: ready{Rows: []string{"GET", "SET"}}}, {ready: ready{Rows: []string{"SET", "DEL"}}}})
	add := func(part int, s *result.Snapshot) []*result.Snapshot {
		t.Helper()
		list, err := g.add(part, s)
		if err != nil {
			t.Fatal(err)
		}
		return list
	}
	check := func(name string, list []*result.Snapshot, elapsed int, clients int, seconds []uint64, totals ...uint64) {
		t.Helper()
		if len(list) != 1 {
			t.Fatalf("%s: %d snapshots", name, len(list))
		}
		s := list[0]
		if s.Elapsed != time.Duration(elapsed)*time.Second || s.Clients != clients {
			t.Errorf("%s: %v, %d clients", name, s.Elapsed, s.Clients)
		}
		for i := range totals {
			if s.Total[i].Count != totals[i] || s.Second[i].Count != seconds[i] {
				t.Errorf("%s: row %d: %d, in the last second %d", name, i, s.Total[i].Count, s.Second[i].Count)
			}
		}
	}
	if list := add(0, at(1, 1, 10)); len(list) != 0 {
		t.Error("one of two is shown")
	}
	check("both", add(1, at(1, 100, 1000)), 1, 2, []uint64{1, 110, 1000}, 1, 110, 1000)
	add(1, at(2, 1, 2)) // the other one has dropped this second
	check("one has dropped it", add(0, at(3, 5, 6)), 2, 2, []uint64{0, 1, 2}, 1, 11, 2)
	run := &result.Run{Rows: []result.Row{{Name: "DEL", Counts: result.Counts{Count: 50}}}}
	check("one is at its end", g.finish(1, run), 3, 1, []uint64{5, 6, 0}, 5, 6, 50)
	check("alone", add(0, at(4, 7, 8)), 4, 1, []uint64{7, 8, 0}, 7, 8, 50)
	if _, err := g.add(0, at(5, 1)); err == nil || !strings.Contains(err.Error(), "rows") {
		t.Errorf("rows are missing: %v", err)
	}
}

// One that is far behind is not waited for, and what it tells too late is no second of its own.
func TestGatherFarBehind(t *testing.T) {
	g := newGather([]machine{{ready: ready{Rows: []string{"GET"}}}, {ready: ready{Rows: []string{"GET"}}}})
	shown := 0
	for i := range mostQueued + 5 {
		list, err := g.add(0, at(i+1, 1))
		if err != nil {
			t.Fatal(err)
		}
		shown += len(list)
	}
	if shown != 5 {
		t.Errorf("%d shown", shown)
	}
	if list, err := g.add(1, at(1, 7)); err != nil || len(list) != 0 {
		t.Errorf("a late one: %v, %v", list, err)
	}
	list, err := g.add(1, at(6, 7))
	if err != nil || len(list) != 1 || list[0].Elapsed != 6*time.Second || list[0].Total[0].Count != 8 {
		t.Errorf("%v, %v", list, err)
	}
	g.add(1, at(9, 7))
	if _, err := g.add(0, at(3, 1)); err == nil {
		t.Error("time runs backwards")
	}
}
