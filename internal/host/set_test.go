package host

import (
	"encoding/json"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

func TestParseSet(t *testing.T) {
	for _, c := range []struct {
		text string
		want Set
		list string
	}{
		{"0-3,8", Set{0, 1, 2, 3, 8}, "0-3,8"}, {"", Set{}, ""}, {"5", Set{5}, "5"}, {" 1, 0\n", Set{0, 1}, "0-1"},
		{"0-7:2", Set{0, 2, 4, 6}, "0,2,4,6"}, {"3,1-4,2", Set{1, 2, 3, 4}, "1-4"}, {"65535", Set{65535}, "65535"},
	} {
		got, err := ParseSet(c.text)
		if err != nil || !slices.Equal(got, c.want) || got.String() != c.list {
			t.Errorf("%q: %v %q, %v, want %v %q", c.text, []int(got), got, err, []int(c.want), c.list)
		}
	}
	for _, bad := range []string{"a", "1-", "-1", "3-1", "1,,2", "65536", "0-99999999999", "1:2", "0-4:0", "0-4:x", "1 2", "+1"} {
		if got, err := ParseSet(bad); err == nil {
			t.Errorf("%q is taken as %v", bad, got)
		}
	}
}

func TestSets(t *testing.T) {
	cpus := rapid.Map(rapid.SliceOf(rapid.IntRange(0, 200)), func(l []int) Set { return NewSet(l...) })
	rapid.Check(t, func(t *rapid.T) {
		a, b := cpus.Draw(t, "a"), cpus.Draw(t, "b")
		again, err := ParseSet(a.String())
		if err != nil || !slices.Equal(again, a) {
			t.Fatalf("%v %v", again, err)
		}
		text, _ := json.Marshal(map[string]Set{"s": a})
		var m map[string]Set
		if err := json.Unmarshal(text, &m); err != nil || !slices.Equal(m["s"], a) {
			t.Fatalf("%s %v", text, err)
		}
		both, only := a.And(b), a.Without(b)
		if len(both)+len(only) != len(a) {
			t.Fatal(both, only)
		}
		for _, cpu := range a {
			if both.Has(cpu) != b.Has(cpu) || only.Has(cpu) == b.Has(cpu) {
				t.Fatal(cpu, both, only)
			}
		}
	})
}

func FuzzParseSet(f *testing.F) {
	for _, s := range []string{"0-3,8", "0-31:2", "7,1", "1-", "0-65535,0-65535"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		s, err := ParseSet(text)
		if err != nil {
			return
		}
		again, err := ParseSet(s.String())
		if err != nil || !slices.Equal(again, s) || !slices.IsSorted(s) || len(s) > maxCPU+1 {
			t.Fatalf("%q: %v, %v", text, s, err)
		}
	})
}

// machine with siblings numbered as on x86: all first threads, then all second ones.
func threadsOf(nodes, cores, threads int) (out []Thread) {
	for cpu := range nodes * cores * threads {
		core := cpu % (nodes * cores)
		out = append(out, Thread{cpu, core, core / cores, core / cores})
	}
	return out
}

func TestSplit(t *testing.T) {
	for _, c := range []struct {
		name     string
		topology []Thread
		allowed  string
		want     []int
		sets     []string
		notes    int
	}{
		{"siblings stay together", threadsOf(1, 4, 2), "", []int{4, 4}, []string{"0-1,4-5", "2-3,6-7"}, 0},
		{"rounded up to cores", threadsOf(1, 4, 2), "", []int{3, 1}, []string{"0-1,4-5", "2,6"}, 0},
		{"each on a node", threadsOf(2, 2, 2), "", []int{4, 4}, []string{"0-1,4-5", "2-3,6-7"}, 0},
		{"where it fits", threadsOf(2, 4, 1), "1-7", []int{4, 3}, []string{"4-7", "1-3"}, 0},
		{"the fuller node first", threadsOf(2, 4, 1), "1-7", []int{2, 4}, []string{"1-2", "4-7"}, 0},
		{"over two nodes", threadsOf(2, 2, 1), "", []int{3, 1}, []string{"0-2", "3"}, 1},
		{"halves of cores", threadsOf(1, 1, 2), "", []int{1, 1}, []string{"0", "1"}, 1},
		{"allowed halves", threadsOf(1, 2, 2), "0-1", []int{1, 1}, []string{"0", "1"}, 0},
		{"two cores", threadsOf(1, 2, 1), "", []int{1, 1}, []string{"0", "1"}, 0},
	} {
		var allowed Set
		if c.allowed != "" {
			allowed, _ = ParseSet(c.allowed)
		}
		p, err := Split(c.topology, allowed, c.want...)
		var got []string
		for _, s := range p.Sets {
			got = append(got, s.String())
		}
		if err != nil || !slices.Equal(got, c.sets) || len(p.Notes) != c.notes {
			t.Errorf("%s: %q %q, %v, want %q", c.name, got, p.Notes, err, c.sets)
		}
	}
	for _, want := range [][]int{{3, 2}, {0}, {-1, 2}} {
		if p, err := Split(threadsOf(1, 2, 2), nil, want...); err == nil {
			t.Errorf("%v: %v", want, p)
		}
	}
}

func TestSplitHolds(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		topology := threadsOf(rapid.IntRange(1, 4).Draw(t, "nodes"), rapid.IntRange(1, 6).Draw(t, "cores"), rapid.IntRange(1, 3).Draw(t, "threads"))
		want := rapid.SliceOfN(rapid.IntRange(1, 8), 1, 4).Draw(t, "want")
		total := 0
		for _, n := range want {
			total += n
		}
		p, err := Split(topology, nil, want...)
		if (err == nil) != (total <= len(topology)) {
			t.Fatalf("%v of %d: %v", want, len(topology), err)
		}
		if err != nil {
			return
		}
		owner := map[int]int{}
		for i, s := range p.Sets {
			if len(s) < want[i] {
				t.Fatalf("%v for %d", s, want[i])
			}
			for _, cpu := range s {
				if _, taken := owner[cpu]; taken {
					t.Fatalf("CPU %d twice in %v", cpu, p.Sets)
				}
				owner[cpu] = i
			}
		}
		for _, th := range topology {
			a, ok1 := owner[th.CPU]
			b, ok2 := owner[th.Core]
			if ok1 && ok2 && a != b && len(p.Notes) == 0 {
				t.Fatalf("siblings %d and %d in %v, and no note", th.CPU, th.Core, p.Sets)
			}
		}
	})
}
