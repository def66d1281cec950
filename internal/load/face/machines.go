package face

import (
	"fmt"
	"time"

	"godwit/internal/load/console"
	"godwit/internal/load/result"
)

// Machines are those that shared a load, for results.
type Machines struct {
	Spread float64   `json:"spread_us"` // by how much they may have begun at different times, as far as was measured,
	Doubt  float64   `json:"doubt_us"`  // and by how much more
	List   []Machine `json:"list"`
}

// Machine is one of them.
type Machine struct {
	Name        string  `json:"name"`
	Connections int     `json:"connections"`
	Requests    uint64  `json:"requests"`
	Began       float64 `json:"began_us"` // after the first of them
	Doubt       float64 `json:"doubt_us"` // of Began
	CPU         float64 `json:"cpu_seconds"`
	Busiest     float64 `json:"busiest_loop"` // share of its time, 0 to 1
	Limit       string  `json:"limit,omitempty"`
}

// MachinesOf a run; nil: there were not several.
func MachinesOf(r *result.Run) *Machines {
	if len(r.Machines) < 2 {
		return nil
	}
	spread, doubt := r.Spread()
	m := &Machines{Spread: micros(spread), Doubt: micros(doubt)}
	for i := range r.Machines {
		x := &r.Machines[i]
		m.List = append(m.List, Machine{
			Name: x.Name, Connections: x.Clients, Requests: x.Count, Began: micros(x.Began), Doubt: micros(x.Doubt),
			CPU: x.Self.CPU.Seconds(), Busiest: x.Self.Busiest, Limit: x.Self.Limit,
		})
	}
	return m
}

// Lines tell of the machines.
func (m *Machines) Lines() (list []string) {
	if m == nil {
		return nil
	}
	ns := func(us float64) string { return console.Duration(time.Duration(us * 1e3)) }
	list = append(list, fmt.Sprintf("%d machines, which began within %s of each other (known to %s)", len(m.List), ns(m.Spread), ns(m.Doubt)))
	for _, x := range m.List {
		line := fmt.Sprintf("%s: requests %d, connections %d", x.Name, x.Requests, x.Connections)
		if x.Busiest > 0 {
			line += ", busiest loop " + console.Percent(x.Busiest)
		}
		list = append(list, line)
	}
	return list
}

func micros(d time.Duration) float64 { return float64(d) / float64(time.Microsecond) }
