package probe

import (
	"fmt"
	"time"
)

// Delta is what a server did between two readings of its counters, without what the probes of this process asked for.
type Delta struct {
	Totals
	Family      string        `json:"family"`
	Version     string        `json:"version"`
	Threads     uint64        `json:"threads"`
	Elapsed     time.Duration `json:"elapsed_ns"`
	Items       uint64        `json:"items"` // at the end, as all that follow
	Memory      uint64        `json:"memory"`
	Limit       uint64        `json:"limit"`
	Connections uint64        `json:"connections"`
	Greetings   uint64        `json:"greetings"` // commands that began connections of the load; they are in Commands
	// Reset says why the numbers mean nothing: the server was started anew in between, or its counters were; "": they are good.
	Reset string `json:"reset,omitempty"`
	// Warmup is to be set if the run has requests that it did not count: then numbers of requests are not compared.
	Warmup bool `json:"warmup,omitempty"`
}

// Diff is the difference of two readings.
func Diff(before, after *Counters) *Delta {
	d := &Delta{
		Totals: after.clone(), Family: after.Family, Version: after.Version, Threads: after.Threads, Elapsed: after.At.Sub(before.At),
		Items: after.Items, Memory: after.Memory, Limit: after.Limit, Connections: after.Connections,
	}
	switch {
	case before.Family != after.Family:
		d.Reset = fmt.Sprintf("the counters are those of two servers, %s and %s", before.Family, after.Family)
	case before.PID != after.PID:
		d.Reset = fmt.Sprintf("the server was started anew during the load: its process was %d and is %d", before.PID, after.PID)
	case after.Uptime < before.Uptime:
		d.Reset = "the server was started anew during the load"
	}
	own := after.Own.clone()
	own.sub(&before.Own)
	if larger := d.sub(&before.Totals); larger && d.Reset == "" {
		d.Reset = "the counters of the server were reset during the load"
	}
	d.sub(&own)
	d.Greetings = min(d.Accepted*uint64(after.Greetings), d.Commands)
	return d
}

// Add adds what another server of the same load did.
func (d *Delta) Add(o *Delta) {
	d.Totals.Add(&o.Totals)
	d.Threads += o.Threads
	d.Elapsed = max(d.Elapsed, o.Elapsed)
	d.Items += o.Items
	d.Memory += o.Memory
	d.Limit += o.Limit
	d.Connections += o.Connections
	d.Greetings += o.Greetings
	d.Warmup = d.Warmup || o.Warmup
	if d.Reset == "" {
		d.Reset = o.Reset
	}
}

// CPU is the processor time that the server used.
func (d *Delta) CPU() time.Duration { return d.User + d.System }

// served is the number of requests of the load, and perhaps of others.
func (d *Delta) served() uint64 { return less(d.Commands, d.Greetings) }

// PerCommand is the processor time that the server used for a request; 0: there were none.
func (d *Delta) PerCommand() time.Duration {
	if n := d.served(); n > 0 {
		return d.CPU() / time.Duration(n)
	}
	return 0
}
