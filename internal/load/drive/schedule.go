package drive

import (
	"math"
	"math/rand/v2"
)

// schedule is when requests are planned: of a client, or of several that share their requests and a loop.
type schedule struct {
	plannedT float64 // when the next request is planned, ns on the run's clock
	interval float64
	rng      *rand.Rand
	rest     int // of the present burst
	shared   bool
}

// schedule of a client.
func (r *run) schedule(c *client) *schedule {
	s := &schedule{}
	if c.plan.Rate == 0 {
		return s
	}
	if c.patient != nil && c.plan.Group != 0 {
		if got := r.schedules[c.plan.Group]; got != nil {
			return got
		}
		s.shared = true
		if r.schedules == nil {
			r.schedules = map[int]*schedule{}
		}
		r.schedules[c.plan.Group] = s
	}
	s.interval = float64(c.burst) * 1e9 / c.plan.Rate
	if c.plan.Poisson {
		s.rng = rand.New(rand.NewPCG(uint64(c.id), 0x706f6973))
	}
	return s
}

// isDue says whether the next planned request is due, and sees to being waked when it will be.
func (c *client) isDue() bool {
	w := c.w
	if c.plannedT == 0 {
		c.plannedT = float64(w.r.started.Load()) + float64(c.plan.Begin) + c.plan.Phase*c.interval
	}
	if end := w.r.end(); end > 0 && c.plannedT >= end {
		return false // the end wakes it
	}
	if c.plannedT <= float64(w.t) {
		return true
	}
	if !c.timed {
		c.due = int64(math.Ceil(c.plannedT))
		w.timers.push(c)
	}
	return false
}

// rampStep is the time, ns, for which the factor of a ramp is taken to be constant.
const rampStep = 5e6

// step goes on to the next planned requests: to where the rate, summed up over the time since the present ones, comes to 1,
// or to an exponential number whose mean is 1.
func (c *client) step() {
	d := c.interval
	if c.rng != nil {
		d *= c.rng.ExpFloat64()
	}
	ramp := c.r.plan.Ramp
	if ramp == nil {
		c.plannedT += d
		return
	}
	begin := float64(c.r.started.Load())
	last := begin + float64(c.r.plan.Warmup+c.r.plan.Duration) // with a factor of 0 there is no next one
	for c.plannedT <= last {
		f := ramp((c.plannedT - begin) / 1e9)
		if f*rampStep >= d {
			c.plannedT += d / f
			return
		}
		c.plannedT += rampStep
		d -= f * rampStep
	}
	c.plannedT = math.MaxInt64 / 2
}
