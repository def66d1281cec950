package probe

import (
	"context"
	"fmt"
	"time"
)

// Rate of a counter, per second.
type Rate struct {
	Name  string
	Value float64 // the counter
	Last  float64 // rate of the last period
	Mean  float64 // rate since the first sample
}

// String is the form of mc-crusher's bench-sample: the rate of the last period, and in brackets the mean.
func (r Rate) String() string { return fmt.Sprintf("%s: %.0f (%.0f)", r.Name, r.Last, r.Mean) }

// Sampler follows counters of a server, under the server's names for them.
type Sampler struct {
	probe       *Probe
	names       []string
	first, last *Counters
}

// NewSampler of counters that p reads.
func NewSampler(p *Probe, names ...string) *Sampler { return &Sampler{probe: p, names: names} }

// Sample reads the counters. The first time there are no rates yet.
func (s *Sampler) Sample(ctx context.Context) ([]Rate, error) {
	c, err := s.probe.Take(ctx)
	if err != nil {
		return nil, err
	}
	return s.add(c)
}

func (s *Sampler) add(c *Counters) (rates []Rate, err error) {
	for _, name := range s.names {
		if _, ok := c.Stat(name); !ok {
			return nil, fmt.Errorf("counter %q: the server has none of this name", name)
		}
	}
	if s.first != nil && (c.PID != s.last.PID || c.Uptime < s.last.Uptime) {
		s.first = nil
	}
	if s.first == nil {
		s.first, s.last = c, c
		return nil, nil
	}
	for _, name := range s.names {
		now, _ := c.Stat(name)
		rates = append(rates, Rate{Name: name, Value: now, Last: c.rate(s.last, name), Mean: c.rate(s.first, name)})
	}
	s.last = c
	return rates, nil
}

// rate of a counter since an earlier reading.
func (c *Counters) rate(from *Counters, name string) float64 {
	now, _ := c.Stat(name)
	then, _ := from.Stat(name)
	if d := c.At.Sub(from.At).Seconds(); d > 0 {
		return (now - then) / d
	}
	return 0
}

// Run samples once per period and gives the rates to show, n times; 0: until ctx is done, which is no error.
func (s *Sampler) Run(ctx context.Context, period time.Duration, n int, show func([]Rate)) error {
	t := time.NewTicker(period)
	defer t.Stop()
	for shown := 0; ; {
		rates, err := s.Sample(ctx)
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		if rates != nil {
			show(rates)
			if shown++; shown == n {
				return nil
			}
		}
		select {
		case <-t.C:
		case <-ctx.Done():
			return nil
		}
	}
}
