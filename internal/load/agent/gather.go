package agent

import (
	"fmt"
	"math"
	"time"

	"godwit/internal/load/result"
)

// mostQueued is how many seconds an agent may be behind before the others' snapshots are shown without it.
const mostQueued = 20

// gather makes one snapshot a second of those of all agents, which come when they come. It has no clock and no lock.
type gather struct {
	parts []gathered
	rows  map[string]int // rows of the sum
	shown time.Duration  // Elapsed of the last sum
}

// gathered is what has come from one agent.
type gathered struct {
	rows  []int              // of the sum, by the agent's rows
	queue []*result.Snapshot // not yet shown, oldest first
	last  *result.Snapshot   // the last one that was, without its Second; or what it came to in the end
	done  bool
}

func newGather(machines []machine) *gather {
	g := &gather{rows: map[string]int{}, shown: math.MinInt64}
	for i := range machines {
		var p gathered
		for _, name := range machines[i].ready.Rows {
			n, ok := g.rows[name]
			if !ok {
				n = len(g.rows)
				g.rows[name] = n
			}
			p.rows = append(p.rows, n)
		}
		g.parts = append(g.parts, p)
	}
	return g
}

// add a snapshot of an agent. What can be shown now is returned.
func (g *gather) add(part int, s *result.Snapshot) ([]*result.Snapshot, error) {
	p := &g.parts[part]
	if len(s.Total) != len(p.rows) || len(s.Second) != 0 && len(s.Second) != len(p.rows) {
		return nil, fmt.Errorf("a snapshot of %d and %d rows, not %d", len(s.Total), len(s.Second), len(p.rows))
	}
	if n := len(p.queue); n > 0 && p.queue[n-1].Elapsed >= s.Elapsed {
		return nil, fmt.Errorf("a snapshot at %v after one at %v", s.Elapsed, p.queue[n-1].Elapsed)
	}
	s = g.place(p.rows, s)
	if s.Elapsed <= g.shown { // too late for its own second
		s.Second = nil
		p.last = s
		return nil, nil
	}
	p.queue = append(p.queue, s)
	return g.show(), nil
}

// finish notes what an agent came to.
func (g *gather) finish(part int, run *result.Run) []*result.Snapshot {
	p := &g.parts[part]
	p.done = true
	var rows []*result.Snapshot
	for i := range run.Rows {
		row := &run.Rows[i]
		s := &result.Snapshot{Total: make([]result.Counts, len(g.rows)), Sum: row.Sum, Service: row.Service}
		if n, ok := g.rows[row.Name]; ok {
			s.Total[n] = row.Counts
		}
		rows = append(rows, s)
	}
	end := result.CombineSnapshots(rows)
	end.ConnErrors = run.ConnErrors
	p.queue = append(p.queue, end) // Elapsed 0 marks it
	return g.show()
}

// place puts the rows of a snapshot where they are in the sum.
func (g *gather) place(rows []int, s *result.Snapshot) *result.Snapshot {
	out := *s
	out.Total = make([]result.Counts, len(g.rows))
	out.Second = make([]result.Second, len(g.rows))
	for i, n := range rows {
		out.Total[n].Add(&s.Total[i])
		if len(s.Second) > 0 {
			out.Second[n] = s.Second[i]
		}
	}
	return &out
}

// show gives the sums of the seconds that all agents at work have told, or that some are too far behind with.
func (g *gather) show() (out []*result.Snapshot) {
	for {
		s := g.next()
		if s == nil {
			return out
		}
		out = append(out, s)
	}
}

// next is the sum of the oldest second that is not shown, or nil if that has to wait.
func (g *gather) next() *result.Snapshot {
	var oldest *result.Snapshot
	waiting, far := false, false
	for i := range g.parts {
		p := &g.parts[i]
		p.settle()
		if len(p.queue) == 0 {
			waiting = waiting || !p.done
			continue
		}
		if oldest == nil || p.queue[0].Elapsed < oldest.Elapsed {
			oldest = p.queue[0]
		}
		far = far || len(p.queue) > mostQueued
	}
	if oldest == nil || waiting && !far {
		return nil
	}
	var list []*result.Snapshot
	for i := range g.parts {
		p := &g.parts[i]
		if len(p.queue) > 0 && p.queue[0].Elapsed == oldest.Elapsed {
			s := p.queue[0]
			p.queue = p.queue[1:]
			list = append(list, s)
			past := *s
			past.Second = nil
			p.last = &past
		} else if p.last != nil {
			list = append(list, p.last)
		}
	}
	sum := result.CombineSnapshots(list)
	sum.Elapsed = oldest.Elapsed
	g.shown = sum.Elapsed
	return sum
}

// settle takes what the agent came to as its last when there is nothing before it any more.
func (p *gathered) settle() {
	if p.done && len(p.queue) == 1 {
		p.last, p.queue = p.queue[0], nil
	}
}
