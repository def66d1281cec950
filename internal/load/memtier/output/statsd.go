package output

import (
	"bytes"
	"fmt"
	"net"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Statsd sends the course of a run to a statsd server, one metric a datagram, and marks of its start and end to Graphite.
// Nothing waits for it longer than statsdPatience, and what goes wrong is reported once, for metrics and for events. One
// goroutine uses it.
type Statsd struct {
	conn        net.Conn
	client      http.Client
	events      string // URL
	prefix      string // of metrics
	label       string
	percentiles []float64
	report      func(error)
	told, mute  bool // metrics, events failed: it was reported; events are not tried again
}

const statsdPatience = 2 * time.Second

// NewStatsd sends to UDP port of host, and events to its HTTP port graphite (0: none). report is called with the first
// error of each; nil: nobody hears of it. percentiles nil: DefaultPercentiles. A host that is not known is an error.
func NewStatsd(host string, port, graphite int, prefix, label string, percentiles []float64, report func(error)) (*Statsd, error) {
	s := &Statsd{label: labelOf(label), percentiles: percentiles, report: report}
	if percentiles == nil {
		s.percentiles = DefaultPercentiles
	}
	s.prefix = prefix + "." + s.label + "."
	if graphite != 0 {
		s.events = "http://" + net.JoinHostPort(host, strconv.Itoa(graphite)) + "/events/"
	}
	s.client = http.Client{Timeout: statsdPatience, Transport: &http.Transport{DisableKeepAlives: true}}
	d := net.Dialer{Timeout: statsdPatience}
	conn, err := d.Dial("udp", net.JoinHostPort(host, strconv.Itoa(port)))
	if err != nil {
		return nil, fmt.Errorf("statsd: %w", err)
	}
	s.conn = conn
	return s, nil
}

// labelOf a run with what a metric's name may have.
func labelOf(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r >= 'a' && r <= 'z', r >= 'A' && r <= 'Z', r >= '0' && r <= '9', r == '_', r == '-':
			return r
		}
		return '_'
	}, s)
}

// fail reports an error unless one was told.
func (s *Statsd) fail(told *bool, err error) {
	if !*told && s.report != nil {
		s.report(err)
	}
	*told = true
}

// Metrics of a snapshot, in the order they are sent, without prefix.
func (s *Statsd) Metrics(x *Snapshot) []string {
	out := []string{
		fmt.Sprintf("ops_sec:%d|g", int64(x.Last.ops(x.Since))),
		fmt.Sprintf("ops_sec_avg:%d|g", int64(x.All.ops(x.Elapsed))),
		fmt.Sprintf("bytes_sec:%d|g", int64(x.Last.bytes(x.Since))),
		fmt.Sprintf("bytes_sec_avg:%d|g", int64(x.All.bytes(x.Elapsed))),
		fmt.Sprintf("latency_ms:%.3f|ms", average(x.Last.Sum, x.Last.Ops)),
		fmt.Sprintf("latency_avg_ms:%.3f|ms", average(x.All.Sum, x.All.Ops)),
		fmt.Sprintf("connections:%d|g", x.Connections),
		fmt.Sprintf("progress_pct:%.6f|g", x.percent()),
	}
	if x.ConnErrors > 0 {
		out = append(out, fmt.Sprintf("connection_errors:%d|g", x.ConnErrors))
	}
	if h := x.Latencies; h != nil && h.TotalCount() > 0 {
		list := slices.Clone(s.percentiles)
		slices.Sort(list)
		for _, p := range slices.Compact(list) {
			name := strings.ReplaceAll(strconv.FormatFloat(p, 'f', -1, 64), ".", "_")
			out = append(out, fmt.Sprintf("latency_p%s:%.6f|g", name, at(h, p)))
		}
	}
	return out
}

// Send the metrics of a snapshot.
func (s *Statsd) Send(x *Snapshot) { s.send(s.Metrics(x)) }

// Zero the gauges that would otherwise stay as they were when the run is over.
func (s *Statsd) Zero() {
	s.send([]string{"ops_sec:0|g", "ops_sec_avg:0|g", "bytes_sec:0|g", "bytes_sec_avg:0|g", "progress_pct:0|g"})
}

func (s *Statsd) send(metrics []string) {
	_ = s.conn.SetWriteDeadline(time.Now().Add(statsdPatience))
	for _, m := range metrics {
		packet := []byte(s.prefix + m)
		if _, err := s.conn.Write(packet); err != nil {
			s.fail(&s.told, fmt.Errorf("statsd: %w", err))
			_, _ = s.conn.Write(packet) // the error is often that nobody heard the one before
		}
	}
}

// Started marks the start of a run.
func (s *Statsd) Started(run, threads, clients int) {
	s.event("Benchmark Started", "start", fmt.Sprintf("threads=%d connections=%d run=%d", threads, clients, run))
}

// Completed marks the end of a run.
func (s *Statsd) Completed(run int) {
	s.event("Benchmark Completed", "end", fmt.Sprintf("run=%d", run))
}

func (s *Statsd) event(what, tag, data string) {
	if s.events == "" || s.mute {
		return
	}
	body := fmt.Sprintf(`{"what":%s,"tags":%s,"data":%s}`, quote(what), quote("memtier,"+tag+",run:"+s.label), quote(data))
	resp, err := s.client.Post(s.events, "application/json", bytes.NewReader([]byte(body)))
	if err == nil {
		resp.Body.Close()
		if resp.StatusCode >= 300 {
			err = fmt.Errorf("%s: %s", s.events, resp.Status)
		}
	}
	if err != nil {
		s.fail(&s.mute, fmt.Errorf("graphite: %w", err))
	}
}

// Close the sender.
func (s *Statsd) Close() error { return s.conn.Close() }
