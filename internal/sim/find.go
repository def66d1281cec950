package sim

import (
	"context"
	"fmt"
	"math"
)

// Opener gives a trace from its beginning.
type Opener func() (Source, error)

// Answer says how large a cache has to be for a miss ratio.
type Answer struct {
	Policy    string
	Target    float64
	Capacity  int64   // smallest found that has it; 0: none tried has
	MissRatio float64 // there, or at the largest tried
	Below     int64   // largest found that does not have it; 0: the smallest tried has it already

	tried map[int64]float64 // miss ratios by capacity
}

// findStep is how near the two ends of an answer come to each other.
const findStep = 1.02

// Find looks for the smallest capacities at which the policies have the miss ratios, between the first and the last of
// c.Capacities, which rise. It replays the trace a few times, each time at all points where the answers may lie.
func Find(ctx context.Context, open Opener, c Config, targets []float64) ([]Answer, error) {
	var out []Answer
	for _, p := range c.Policies {
		for _, t := range targets {
			if !(t >= 0 && t <= 1) {
				return nil, fmt.Errorf("find %v: not a miss ratio (0 to 1)", t)
			}
			out = append(out, Answer{Policy: p, Target: t, MissRatio: math.NaN()})
		}
	}
	points := make(map[Point]bool)
	for _, p := range c.Policies {
		for _, n := range c.Capacities {
			points[Point{p, n}] = true
		}
	}
	c.Policies, c.Capacities, c.Shards = nil, nil, 0
	for len(points) > 0 {
		c.Points = c.Points[:0]
		for p := range points {
			c.Points = append(c.Points, p)
		}
		src, err := open()
		if err != nil {
			return nil, err
		}
		res, err := Run(ctx, src, c)
		if err != nil {
			return nil, err
		}
		for i := range res.Rows {
			r := &res.Rows[i]
			for j := range out {
				out[j].learn(r.Point, r.MissRatio())
			}
		}
		clear(points)
		for i := range out {
			out[i].ask(points)
		}
	}
	return out, nil
}

// learn narrows the answer by a point. Points may come in any order, and curves may rise here and there: the smallest capacity
// tried that is enough counts, and below it the largest tried, which is not.
func (a *Answer) learn(p Point, miss float64) {
	if p.Policy != a.Policy || math.IsNaN(miss) {
		return
	}
	if a.tried == nil {
		a.tried = map[int64]float64{}
	}
	a.tried[p.Capacity] = miss
	a.Capacity, a.Below = 0, 0
	for n, m := range a.tried {
		if m <= a.Target && (a.Capacity == 0 || n < a.Capacity) {
			a.Capacity = n
		}
	}
	for n := range a.tried {
		if n > a.Below && (a.Capacity == 0 || n < a.Capacity) {
			a.Below = n
		}
	}
	if a.MissRatio = a.tried[a.Capacity]; a.Capacity == 0 {
		a.MissRatio = a.tried[a.Below]
	}
}

// ask for seven points between the ends, if they are not near enough.
func (a *Answer) ask(points map[Point]bool) {
	if a.Capacity == 0 || a.Below == 0 || a.Capacity <= a.Below+1 || float64(a.Capacity) <= findStep*float64(a.Below) {
		return
	}
	const n = 8
	some := false
	for i := 1; i < n; i++ {
		at := int64(float64(a.Below) * math.Pow(float64(a.Capacity)/float64(a.Below), float64(i)/n))
		if at > a.Below && at < a.Capacity {
			points[Point{a.Policy, at}] = true
			some = true
		}
	}
	if !some {
		points[Point{a.Policy, a.Below + (a.Capacity-a.Below)/2}] = true
	}
}

// Geometric gives n capacities from low to high, equally far apart on a logarithmic scale, without repetitions.
func Geometric(low, high int64, n int) []int64 {
	var out []int64
	for i := range n {
		f := float64(i) / float64(max(n-1, 1))
		v := int64(math.Round(float64(low) * math.Pow(float64(high)/float64(low), f)))
		if len(out) == 0 || v > out[len(out)-1] {
			out = append(out, v)
		}
	}
	return out
}
