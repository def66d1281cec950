package crusher

import (
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/config"
	"godwit/internal/load"
	"godwit/internal/load/console"
	"godwit/internal/load/face"
	"godwit/internal/load/result"
)

// Report is what a run measured, as it is written by --json. Latencies are in microseconds.
type Report struct {
	Tool        string           `json:"tool"`
	Version     string           `json:"version"`
	Start       time.Time        `json:"start"`
	Seconds     float64          `json:"seconds"`
	Seed        uint64           `json:"seed"`
	Interrupted bool             `json:"interrupted,omitempty"`
	Connections int              `json:"connections"`
	Requests    uint64           `json:"requests"`
	Rate        float64          `json:"requests_per_second"`
	Templates   []TemplateReport `json:"templates"`
	Server      *face.Observed   `json:"server,omitempty"` // all servers together
	Client      ClientReport     `json:"client"`
	Machines    *face.Machines   `json:"machines,omitempty"` // that shared the load
	Broken      uint64           `json:"connections_lost"`
	Lost        uint64           `json:"requests_lost"`
	Texts       []Text           `json:"texts,omitempty"`
	Warnings    []string         `json:"warnings,omitempty"`
}

// Text of an error and how often it came.
type Text struct {
	Text string `json:"text"`
	N    uint64 `json:"n"`
}

// TemplateReport is what the connections of a template did.
type TemplateReport struct {
	Where       string   `json:"where"`
	Template    string   `json:"template"`
	Send        string   `json:"send"`
	Target      string   `json:"target"`
	Connections int      `json:"connections"`
	Blind       bool     `json:"blind"` // answers were not looked at: no hits, errors and latency
	Seconds     float64  `json:"seconds"`
	Requests    uint64   `json:"requests"`
	Keys        uint64   `json:"keys"`
	Rate        float64  `json:"requests_per_second"`
	Planned     float64  `json:"planned_per_second,omitempty"`
	Hits        uint64   `json:"hits"`
	Misses      uint64   `json:"misses"`
	Declined    uint64   `json:"declined"` // answers such as NOT_FOUND
	Errors      uint64   `json:"errors"`
	Sent        uint64   `json:"bytes_sent"`
	Received    uint64   `json:"bytes_received"`
	Service     *Latency `json:"service_us,omitempty"` // from the sending of a request to its answer
	Due         *Latency `json:"planned_us,omitempty"` // from when it should have been sent
}

// Latency of requests in microseconds.
type Latency struct {
	Mean float64 `json:"mean"`
	Min  float64 `json:"min"`
	P50  float64 `json:"p50"`
	P90  float64 `json:"p90"`
	P99  float64 `json:"p99"`
	P999 float64 `json:"p99.9"`
	Max  float64 `json:"max"`
}

// ClientReport is what this program took for it.
type ClientReport struct {
	CPU     float64  `json:"cpu_us_per_request"`
	Cores   float64  `json:"cores_used"`
	Of      int      `json:"cores"`
	Loops   int      `json:"loops"`
	Busiest float64  `json:"busiest_loop"` // share of its time, 0 to 1
	Late    *Latency `json:"late_us,omitempty"`
	Limit   string   `json:"limit,omitempty"`
}

func latency(h *hdrhistogram.Histogram) *Latency {
	if h == nil || h.TotalCount() == 0 {
		return nil
	}
	at := func(q float64) float64 { return float64(h.ValueAtQuantile(q)) / 1e3 }
	return &Latency{
		Mean: h.Mean() / 1e3, Min: float64(h.Min()) / 1e3, P50: at(50), P90: at(90), P99: at(99), P999: at(99.9), Max: float64(h.Max()) / 1e3,
	}
}

// report makes the Report of a run.
func (p *plan) report(res *result.Run, server *face.Observed) *Report {
	d := res.Duration().Seconds()
	total := res.Total()
	r := &Report{
		Tool: "godwit crusher", Version: config.Version, Start: res.Start, Seconds: d, Seed: p.o.seed, Interrupted: res.Interrupted,
		Connections: len(p.Clients), Requests: total.Count, Rate: per(total.Count, d), Broken: res.ConnErrors, Lost: res.Lost,
	}
	for _, t := range res.Texts {
		r.Texts = append(r.Texts, Text(t))
	}
	for i, t := range p.templates {
		r.Templates = append(r.Templates, p.templateReport(t, i, &res.Rows[i], d))
	}
	self := &res.Self
	r.Client = ClientReport{Of: self.Cores, Loops: self.Loops, Busiest: self.Busiest, Late: latency(self.Late), Limit: self.Limit}
	if total.Count > 0 {
		r.Client.CPU = self.CPU.Seconds() * 1e6 / float64(total.Count)
	}
	if d > 0 {
		r.Client.Cores = self.CPU.Seconds() / d
	}
	r.Server, r.Machines = server, face.MachinesOf(res)
	r.warn()
	return r
}

func (p *plan) templateReport(t *Template, i int, row *result.Row, d float64) TemplateReport {
	target := p.targets[i].Address
	// A template that stops early has the rate of the seconds that it was at work.
	last := 0
	for s := range row.Seconds {
		if row.Seconds[s].Count > 0 {
			last = s + 1
		}
	}
	if t.StopAfter > 0 {
		d = min(d, float64(last))
	}
	r := TemplateReport{
		Where: place(t), Template: t.Text, Send: t.Send.name, Target: target, Connections: p.conns[i], Seconds: d,
		Blind:    p.blind(t) && unseen(row),
		Requests: row.Count, Keys: row.Keys, Rate: per(row.Count, d), Hits: row.Hits, Misses: row.Misses,
		Declined: row.Statuses[load.NotStored], Errors: row.Errors(), Sent: row.TX, Received: row.RX,
	}
	r.Service = latency(row.Service)
	if t.Usleep > 0 {
		r.Planned = float64(p.conns[i]) * float64(t.Pipelines) * 1e6 / float64(t.Usleep)
		r.Due = latency(row.Planned)
	}
	return r
}

// warn collects what would mislead a reader of the numbers.
func (r *Report) warn() {
	say := func(s string) { r.Warnings = append(r.Warnings, s) }
	if r.Client.Limit != "" {
		say(r.Client.Limit)
		if r.Client.Busiest >= 0.9 && r.Client.Loops < r.Client.Of {
			say("--threads N, or thread=N in a template, uses more cores")
		}
	}
	const miss = " of the keys were not there: a miss is less work than a hit (store them first: crusher warmer)"
	blind := false
	var told []string // findings of the server's counters that are said here
	for i := range r.Templates {
		t := &r.Templates[i]
		blind = blind || t.Blind
		if manyMisses(t.Hits, t.Misses) {
			say(t.Where + ": " + share(t.Misses, t.Hits+t.Misses) + miss)
			told = []string{"hit ratio"}
		}
		if t.Errors > 0 {
			say(t.Where + ": " + share(t.Errors, t.Requests) + " of the requests were answered with an error")
		}
	}
	if r.Server != nil && r.Server.Counters != nil && blind {
		if c := r.Server.Counters; manyMisses(c.Hits, c.Misses) {
			say("server: " + share(c.Misses, c.Hits+c.Misses) + miss)
			told = []string{"hit ratio"}
		}
	}
	r.Warnings = append(r.Warnings, r.Server.Warnings(told...)...)
}

// manyMisses says whether more than a tenth of the keys that were looked for were not there.
func manyMisses(hits, misses uint64) bool { return misses > (hits+misses)/10 }

func share(n, of uint64) string { return console.Percent(float64(n) / float64(max(1, of))) }

func per(n uint64, d float64) float64 {
	if d <= 0 {
		return 0
	}
	return float64(n) / d
}
