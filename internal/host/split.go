package host

import (
	"cmp"
	"fmt"
	"slices"
)

// Placement is who runs where.
type Placement struct {
	Sets  []Set    `json:"sets"`            // in the order in which they were wanted, without common CPUs
	Notes []string `json:"notes,omitempty"` // what is not as it should be, for the report
}

// Split takes disjoint sets of CPUs out of those that are allowed: want[i] CPUs for the i-th, server first. Siblings stay
// together: a core belongs to one set, and is counted with all its allowed threads, so that a set may be larger than wanted.
// A set lies on as few NUMA nodes as it can, on the fullest that has room for it, and within its node on one socket.
//
// If there are CPUs enough but not cores, siblings are parted, and a note says so. Too few CPUs are an error. Allowed may be
// nil for all of the topology.
func Split(topology []Thread, allowed Set, want ...int) (Placement, error) {
	var p Placement
	total := 0
	for _, n := range want {
		if n < 1 {
			return p, fmt.Errorf("host: a set of %d CPUs: must be at least 1", n)
		}
		total += n
	}
	cores := coresOf(topology, allowed, false)
	if have := threads(cores); total > have {
		return p, fmt.Errorf("host: %d CPUs wanted in %d sets, %d are there: lower the number of threads or take another machine",
			total, len(want), have)
	}
	sets, ok := place(cores, want)
	if !ok {
		p.Notes = append(p.Notes, "too few cores: sets share the two halves of a core, and disturb each other")
		if sets, ok = place(coresOf(topology, allowed, true), want); !ok {
			return p, fmt.Errorf("host: %d CPUs do not divide into sets of %v", total, want)
		}
	}
	nodes := map[int]int{}
	for _, th := range topology {
		nodes[th.CPU] = th.Node
	}
	for i, s := range sets {
		var on []int
		for _, cpu := range s {
			if n := nodes[cpu]; !slices.Contains(on, n) {
				on = append(on, n)
			}
		}
		if len(on) > 1 {
			p.Notes = append(p.Notes, fmt.Sprintf("set %d, CPUs %v, spans %d NUMA nodes", i+1, s, len(on)))
		}
	}
	p.Sets = sets
	return p, nil
}

// core is CPUs that are not parted.
type core struct {
	node, socket int
	cpus         Set
}

// coresOf a topology, by node, socket and number; parted makes a core of each thread, siblings far from each other.
func coresOf(topology []Thread, allowed Set, parted bool) (out []core) {
	place := map[int]int{}
	for _, th := range topology {
		if allowed != nil && !allowed.Has(th.CPU) {
			continue
		}
		at, seen := place[th.Core]
		if !seen || parted {
			at = len(out)
			place[th.Core] = at
			out = append(out, core{node: th.Node, socket: th.Socket})
		}
		out[at].cpus = NewSet(append(out[at].cpus, th.CPU)...)
	}
	slices.SortStableFunc(out, func(a, b core) int {
		return cmp.Or(cmp.Compare(a.node, b.node), cmp.Compare(a.socket, b.socket), cmp.Compare(a.cpus[0], b.cpus[0]))
	})
	return out
}

func threads(cores []core) (n int) {
	for _, c := range cores {
		n += len(c.cpus)
	}
	return n
}

// place the wanted sets one after the other, each where it fits tightest.
func place(cores []core, want []int) ([]Set, bool) {
	free := slices.Clone(cores)
	var sets []Set
	for _, n := range want {
		var set Set
		for len(set) < n {
			if len(free) == 0 {
				return nil, false
			}
			node := choose(free, n-len(set))
			free = slices.DeleteFunc(free, func(c core) bool {
				take := c.node == node && len(set) < n
				if take {
					set = NewSet(append(set, c.cpus...)...)
				}
				return take
			})
		}
		sets = append(sets, set)
	}
	return sets, true
}

// choose the node with the least room that is enough, or else the most.
func choose(free []core, need int) (best int) {
	room := map[int]int{}
	var nodes []int
	for _, c := range free {
		if room[c.node] == 0 {
			nodes = append(nodes, c.node)
		}
		room[c.node] += len(c.cpus)
	}
	best = nodes[0]
	for _, n := range nodes[1:] {
		fits, better := room[n] >= need, room[best] >= need
		if fits && (!better || room[n] < room[best]) || !fits && !better && room[n] > room[best] {
			best = n
		}
	}
	return best
}
