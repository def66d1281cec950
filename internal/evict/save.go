package evict

import "fmt"

// State of a policy, to go on with later.
type State struct {
	Share, Ratio float64
	Gets, Hits   int64
}

// State at present.
func (p *Policy) State() State { return State{p.share, p.ratio, p.gets, p.hits} }

// Load goes on with a state that passed CheckState.
func (p *Policy) Load(s State) { p.share, p.ratio, p.gets, p.hits = s.Share, s.Ratio, s.Gets, s.Hits }

// CheckState says what is impossible about a state, if anything.
func CheckState(s State) error {
	if !(s.Share >= 0 && s.Share <= 1 && s.Ratio >= 0 && s.Ratio <= 1) || s.Gets < 0 || s.Hits < 0 || s.Hits > s.Gets {
		return fmt.Errorf("evict: share %v, hit ratio %v, %d hits of %d", s.Share, s.Ratio, s.Hits, s.Gets)
	}
	return nil
}

// Count of evictions remembered so far.
func (g *Ghosts) Count() uint64 { return g.count.Load() }

// SetCount goes on from a saved count, over the saved table.
func (g *Ghosts) SetCount(n uint64) { g.count.Store(n) }
