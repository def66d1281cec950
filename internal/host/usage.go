package host

import (
	"fmt"
	"strconv"
	"strings"
)

// Usage is what happened between two samples. Absent is what one of them lacks.
type Usage struct {
	Seconds    float64                 `json:"seconds"`
	CPUs       map[int]Shares          `json:"cpus,omitempty"`
	All        Shares                  `json:"all"`                  // mean of all CPUs
	Switches   *float64                `json:"switches,omitempty"`   // context switches a second
	Interrupts *float64                `json:"interrupts,omitempty"` // a second
	Processes  map[int]ProcessUsage    `json:"processes,omitempty"`
	Network    map[string]NetworkUsage `json:"network,omitempty"`
	TCP        *TCPUsage               `json:"tcp,omitempty"`
	Available  *uint64                 `json:"available,omitempty"` // memory at the end, bytes
	MHz        map[int]float64         `json:"mhz,omitempty"`       // at the end
	Power      []Power                 `json:"power,omitempty"`
}

// Shares of the time of CPUs, from 0 to 1; their sum is 1, or 0 if no time has passed.
type Shares struct {
	User    float64 `json:"user"`
	Nice    float64 `json:"nice"`
	System  float64 `json:"system"`
	IRQ     float64 `json:"irq"`
	SoftIRQ float64 `json:"softirq"`
	Steal   float64 `json:"steal"`
	Idle    float64 `json:"idle"` // with Wait
}

// Busy is all but idle. Time that the hypervisor took away is in it: nobody could use it.
func (s Shares) Busy() float64 { return s.User + s.Nice + s.System + s.IRQ + s.SoftIRQ + s.Steal }

// ProcessUsage of one process. Threads that began within the time count from their beginning; those that ended count in the
// process alone.
type ProcessUsage struct {
	Name        string              `json:"name"`
	User        float64             `json:"user"`   // CPUs: 1.5 is one and a half kept busy
	System      float64             `json:"system"` // CPUs
	CPUSeconds  float64             `json:"cpu_seconds"`
	Voluntary   *float64            `json:"voluntary,omitempty"`   // switches a second
	Involuntary *float64            `json:"involuntary,omitempty"` // switches a second
	MinorFaults float64             `json:"minor_faults"`          // a second
	MajorFaults float64             `json:"major_faults"`          // a second
	RSS         int64               `json:"rss"`                   // bytes at the end
	Threads     map[int]ThreadUsage `json:"threads,omitempty"`
}

// ThreadUsage of one thread.
type ThreadUsage struct {
	Name        string  `json:"name"`
	User        float64 `json:"user"`        // share of one CPU
	System      float64 `json:"system"`      // share of one CPU
	Voluntary   float64 `json:"voluntary"`   // switches a second
	Involuntary float64 `json:"involuntary"` // switches a second
	CPU         int     `json:"cpu"`         // where it ran last
}

// NetworkUsage of one interface, each a second.
type NetworkUsage struct {
	RXBytes   float64 `json:"rx_bytes"`
	RXPackets float64 `json:"rx_packets"`
	TXBytes   float64 `json:"tx_bytes"`
	TXPackets float64 `json:"tx_packets"`
	Errors    float64 `json:"errors"` // both ways
	Drops     float64 `json:"drops"`  // both ways
}

// TCPUsage is each a second, but for Lost.
type TCPUsage struct {
	In          float64 `json:"in"`
	Out         float64 `json:"out"`
	Retransmits float64 `json:"retransmits"`
	Lost        float64 `json:"lost"` // retransmits for each segment sent
	InErrors    float64 `json:"in_errors"`
	Opened      float64 `json:"opened"`
	Accepted    float64 `json:"accepted"`
	Timeouts    float64 `json:"timeouts"`
	ListenDrops float64 `json:"listen_drops"`
}

// Power that one part of the machine drew, on average.
type Power struct {
	Zone   string  `json:"zone"` // of Energy; "machine" if given by hand
	Watts  float64 `json:"watts"`
	Source string  `json:"source"` // "rapl", "given: 95 W"
}

// Since is what happened between an earlier sample of the same Meter and s. Nil if no time lies between them.
func (s *Sample) Since(earlier *Sample) *Usage {
	seconds := s.Time.Sub(earlier.Time).Seconds()
	if seconds <= 0 {
		return nil
	}
	u := &Usage{Seconds: seconds, CPUs: map[int]Shares{}, Available: s.Available, MHz: s.MHz}
	var all Times
	for cpu, now := range s.CPUs {
		before, ok := earlier.CPUs[cpu]
		if !ok { // came online
			continue
		}
		d := now.since(before)
		u.CPUs[cpu] = d.shares()
		all = all.plus(d)
	}
	u.All = all.shares()
	rate := func(a, b uint64) float64 { return rise(a, b) / seconds }
	optional := func(a, b *uint64) *float64 {
		if a == nil || b == nil {
			return nil
		}
		r := rate(*a, *b)
		return &r
	}
	u.Switches, u.Interrupts = optional(earlier.Switches, s.Switches), optional(earlier.Interrupts, s.Interrupts)
	for pid, now := range s.Processes {
		before, ok := earlier.Processes[pid]
		if !ok || before.Started != now.Started {
			continue
		}
		if u.Processes == nil {
			u.Processes = map[int]ProcessUsage{}
		}
		p := ProcessUsage{Name: now.Name, User: (now.User - before.User) / seconds, System: (now.System - before.System) / seconds,
			CPUSeconds:  now.User + now.System - before.User - before.System,
			MinorFaults: rate(before.MinorFaults, now.MinorFaults), MajorFaults: rate(before.MajorFaults, now.MajorFaults), RSS: now.RSS}
		var voluntary, involuntary float64
		for tid, th := range now.Threads {
			old := before.Threads[tid] // zero for a new one
			t := ThreadUsage{th.Name, (th.User - old.User) / seconds, (th.System - old.System) / seconds,
				rate(old.Voluntary, th.Voluntary), rate(old.Involuntary, th.Involuntary), th.CPU}
			voluntary, involuntary = voluntary+t.Voluntary, involuntary+t.Involuntary
			if p.Threads == nil {
				p.Threads = map[int]ThreadUsage{}
			}
			p.Threads[tid] = t
		}
		if now.Threads != nil && before.Threads != nil {
			p.Voluntary, p.Involuntary = &voluntary, &involuntary
		}
		u.Processes[pid] = p
	}
	for name, now := range s.Network {
		before, ok := earlier.Network[name]
		if !ok {
			continue
		}
		if u.Network == nil {
			u.Network = map[string]NetworkUsage{}
		}
		u.Network[name] = NetworkUsage{rate(before.RXBytes, now.RXBytes), rate(before.RXPackets, now.RXPackets),
			rate(before.TXBytes, now.TXBytes), rate(before.TXPackets, now.TXPackets),
			rate(before.RXErrors, now.RXErrors) + rate(before.TXErrors, now.TXErrors),
			rate(before.RXDrops, now.RXDrops) + rate(before.TXDrops, now.TXDrops)}
	}
	if a, b := earlier.TCP, s.TCP; a != nil && b != nil {
		u.TCP = &TCPUsage{In: rate(a.In, b.In), Out: rate(a.Out, b.Out), Retransmits: rate(a.Retransmits, b.Retransmits),
			InErrors: rate(a.InErrors, b.InErrors), Opened: rate(a.Opened, b.Opened), Accepted: rate(a.Accepted, b.Accepted),
			Timeouts: rate(a.Timeouts, b.Timeouts), ListenDrops: rate(a.ListenDrops, b.ListenDrops)}
		if u.TCP.Out > 0 {
			u.TCP.Lost = u.TCP.Retransmits / u.TCP.Out
		}
	}
	for _, now := range s.Energy {
		for _, before := range earlier.Energy {
			if before.Zone == now.Zone {
				u.Power = append(u.Power, Power{now.Zone, (now.Joules - before.Joules) / seconds, now.Source})
			}
		}
	}
	if s.Watts > 0 {
		u.Power = append(u.Power, Power{"machine", s.Watts, "given: " + strconv.FormatFloat(s.Watts, 'g', -1, 64) + " W"})
	}
	return u
}

// rise of a counter; one that was set back has none.
func rise(a, b uint64) float64 {
	if b < a {
		return 0
	}
	return float64(b - a)
}

// since is b to t. The kernel sets idle and wait back at times, by a tick or two: that is no time.
func (t Times) since(b Times) Times {
	return Times{max(0, t.User-b.User), max(0, t.Nice-b.Nice), max(0, t.System-b.System), max(0, t.IRQ-b.IRQ),
		max(0, t.SoftIRQ-b.SoftIRQ), max(0, t.Steal-b.Steal), max(0, t.Idle-b.Idle), max(0, t.Wait-b.Wait)}
}

func (t Times) plus(b Times) Times {
	return Times{t.User + b.User, t.Nice + b.Nice, t.System + b.System, t.IRQ + b.IRQ, t.SoftIRQ + b.SoftIRQ, t.Steal + b.Steal,
		t.Idle + b.Idle, t.Wait + b.Wait}
}

// scaled to a sum of 1.
func (t Times) shares() Shares {
	sum := t.User + t.Nice + t.System + t.IRQ + t.SoftIRQ + t.Steal + t.Idle + t.Wait
	if sum == 0 {
		return Shares{}
	}
	return Shares{t.User / sum, t.Nice / sum, t.System / sum, t.IRQ / sum, t.SoftIRQ / sum, t.Steal / sum, (t.Idle + t.Wait) / sum}
}

// Of a set of CPUs, the mean of those that were measured.
func (u *Usage) Of(set Set) (mean Shares) {
	n := 0.0
	for _, cpu := range set {
		s, ok := u.CPUs[cpu]
		if !ok {
			continue
		}
		n++
		mean = Shares{mean.User + s.User, mean.Nice + s.Nice, mean.System + s.System, mean.IRQ + s.IRQ, mean.SoftIRQ + s.SoftIRQ,
			mean.Steal + s.Steal, mean.Idle + s.Idle}
	}
	if n == 0 {
		return Shares{}
	}
	return Shares{mean.User / n, mean.Nice / n, mean.System / n, mean.IRQ / n, mean.SoftIRQ / n, mean.Steal / n, mean.Idle / n}
}

// Busiest CPU of a set, or of all if it is nil, and how busy it was; -1 if none was measured.
func (u *Usage) Busiest(set Set) (cpu int, busy float64) {
	cpu = -1
	for c, s := range u.CPUs {
		if b := s.Busy(); (set == nil || set.Has(c)) && (cpu < 0 || b > busy || b == busy && c < cpu) {
			cpu, busy = c, b
		}
	}
	return cpu, busy
}

// Watts of the machine and where they come from: what was given by hand, which has the whole machine, or else the sum of the
// packages and their memory by RAPL, which leaves out fans, disks and the rest. Not ok if neither is there.
func (u *Usage) Watts() (watts float64, source string, ok bool) {
	var zones []string
	for _, p := range u.Power {
		switch {
		case p.Source != rapl:
			return p.Watts, p.Source, true
		case p.Zone != "psys": // it has the packages in it
			watts += p.Watts
			zones = append(zones, p.Zone)
		}
	}
	if zones == nil {
		return 0, "", false
	}
	return watts, fmt.Sprintf("%s: %s", rapl, strings.Join(zones, " + ")), true
}
