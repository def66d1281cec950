package stat

import (
	"errors"
	"fmt"
	"math/rand/v2"
)

// Order is how the runs of several subjects take turns.
type Order int

// The orders. In both each subject runs once in each round, and the runs of one round belong together.
const (
	// ABBA runs the subjects forwards in one round and backwards in the next: AB BA AB BA. What drifts evenly favours none.
	ABBA Order = iota
	// Random shuffles each round. What comes and goes with a period of its own favours none, on average.
	Random
)

func (o Order) String() string {
	switch o {
	case ABBA:
		return "ABBA"
	case Random:
		return "random blocks"
	}
	return fmt.Sprintf("order %d", int(o))
}

// Turn is one run of a schedule.
type Turn struct {
	Round   int `json:"round"`   // from 0
	Subject int `json:"subject"` // from 0
}

// Schedule is the order in which to run a number of subjects, each rounds times. The seed is that of Random.
func Schedule(order Order, subjects, rounds int, seed uint64) ([]Turn, error) {
	if subjects < 1 || rounds < 1 {
		return nil, fmt.Errorf("stat: a schedule of %d subjects and %d rounds has no runs", subjects, rounds)
	}
	rnd := rand.New(rand.NewPCG(seed, 0x73636865))
	turns := make([]Turn, 0, subjects*rounds)
	for round := range rounds {
		block := make([]Turn, subjects)
		for i := range block {
			block[i] = Turn{round, i}
			if order == ABBA && round%2 == 1 {
				block[i].Subject = subjects - 1 - i
			}
		}
		if order == Random {
			rnd.Shuffle(subjects, func(i, j int) { block[i], block[j] = block[j], block[i] })
		}
		turns = append(turns, block...)
	}
	return turns, nil
}

// Collect sorts what the turns of a schedule measured by subject, each in the order of rounds, so that those of two subjects
// are pairs for Compare. Fewer values than turns are those of a run that was ended: rounds that are not whole are left out.
func Collect(turns []Turn, values []float64) ([][]float64, error) {
	if len(values) > len(turns) {
		return nil, fmt.Errorf("stat: %d values of %d turns", len(values), len(turns))
	}
	subjects := 0
	for _, t := range turns {
		if t.Subject < 0 || t.Round < 0 {
			return nil, errors.New("stat: a turn before the first")
		}
		subjects = max(subjects, t.Subject+1)
	}
	if subjects == 0 {
		return nil, nil
	}
	out := make([][]float64, subjects)
	whole := len(values) / subjects
	for i, v := range values[:whole*subjects] {
		s := turns[i].Subject
		out[s] = append(out[s], v)
	}
	for s, v := range out {
		if len(v) != whole {
			return nil, fmt.Errorf("stat: subject %d has %d turns in %d rounds", s, len(v), whole)
		}
	}
	return out, nil
}
