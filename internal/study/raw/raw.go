// Package raw is the file that a study writes: one JSON object a line, only ever appended to. Each has the kind of what
// happened; what is measured is there before anything is computed from it. Written by study, read by report.
package raw

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"time"

	"godwit/internal/host"
	"godwit/internal/load/result"
)

// Format is the version of the lines.
const Format = 1

// Kinds of lines, in the order in which a file has them first.
const (
	KindStudy  = "study"  // what is to be measured; again when the study goes on with --resume
	KindHost   = "host"   // on what
	KindSkip   = "skip"   // a server that is left out, and why
	KindServer = "server" // a server was started
	KindProbe  = "probe"  // what is measured next, and why
	KindResult = "result" // what came out
	KindFound  = "found"  // what the search for a server came to
	KindEnd    = "end"    // nothing is left to do
	KindError  = "error"  // the study ended here, and why
)

// Phases of a study.
const (
	PhaseSearch  = "search"
	PhaseCompare = "compare" // interleaved runs of all servers, each at its best
)

// Event is a line. One of the pointers, that of its kind, is set; End has none.
type Event struct {
	Kind   string     `json:"event"`
	Time   time.Time  `json:"time"`
	Study  *Study     `json:"study,omitempty"`
	Host   *host.Host `json:"host,omitempty"`
	Skip   *Skip      `json:"skip,omitempty"`
	Server *Server    `json:"server,omitempty"`
	Probe  *Probe     `json:"probe,omitempty"`
	Result *Result    `json:"result,omitempty"`
	Found  *Found     `json:"found,omitempty"`
	Error  string     `json:"error,omitempty"`
}

// Study is what a file is about.
type Study struct {
	Format      int       `json:"format"`
	Program     string    `json:"program"` // version of godwit
	Name        string    `json:"name"`
	Question    string    `json:"question,omitempty"`
	Chosen      []string  `json:"chosen,omitempty"` // by us, where a published study does not say
	Quick       bool      `json:"quick,omitempty"`
	Search      string    `json:"search"`
	P99         float64   `json:"p99_ms"` // that is promised; 0: nothing is
	Warmup      float64   `json:"warmup_seconds"`
	Window      float64   `json:"window_seconds"`
	Repetitions int       `json:"repetitions"`
	Baseline    string    `json:"baseline,omitempty"`
	Load        []string  `json:"load"`
	Fill        []string  `json:"fill,omitempty"`
	Servers     []Subject `json:"servers"`
	Pinned      []string  `json:"pinned,omitempty"` // notes on who runs where
	Text        string    `json:"text"`             // of the study file
}

// Subject is a server under test.
type Subject struct {
	Name        string   `json:"name"`
	Command     string   `json:"command"` // as the study file has it
	Price       float64  `json:"price,omitempty"`
	PriceSource string   `json:"price_source,omitempty"`
	Watts       float64  `json:"watts,omitempty"`
	Cores       host.Set `json:"cores,omitempty"`
	Client      host.Set `json:"client_cores,omitempty"`
}

// Skip is a server that was left out.
type Skip struct {
	Server string `json:"server"`
	Why    string `json:"why"`
}

// Server that was started.
type Server struct {
	Server   string   `json:"server"`
	Instance int      `json:"instance"`
	Command  string   `json:"command"` // for a shell
	Cores    host.Set `json:"cores,omitempty"`
	PID      int      `json:"pid"`
	Filled   string   `json:"filled,omitempty"` // the command that filled it
}

// Point is a setting that is measured. Zero fields are those of the study's load.
type Point struct {
	Rate      float64 `json:"rate,omitempty"`
	Threads   int     `json:"threads,omitempty"`
	Clients   int     `json:"clients,omitempty"`
	Pipeline  int     `json:"pipeline,omitempty"`
	Instances int     `json:"instances,omitempty"`
}

func (p Point) String() string {
	switch {
	case p.Rate > 0:
		return fmt.Sprintf("%.0f requests/s", p.Rate)
	case p.Threads > 0:
		return fmt.Sprintf("%d threads x %d clients x %d in flight", p.Threads, p.Clients, p.Pipeline)
	case p.Instances > 0:
		return fmt.Sprintf("%d instances", p.Instances)
	}
	return "the load as it is given"
}

// Probe is a window of measurement.
type Probe struct {
	Number int    `json:"number"` // from 1, in the whole file
	Server string `json:"server"`
	Phase  string `json:"phase"`
	Round  int    `json:"round"` // of the comparison, from 0
	Point  Point  `json:"point"`
	Reason string `json:"reason"`
	// Commands repeat the probe, one for each server instance.
	Commands []string `json:"commands,omitempty"`
}

// Result of a probe.
type Result struct {
	Number int    `json:"number"`
	Server string `json:"server"`
	Phase  string `json:"phase"`
	Round  int    `json:"round"`
	Point  Point  `json:"point"`

	Pass    bool    `json:"pass"`
	Invalid string  `json:"invalid,omitempty"` // why it says nothing about the server
	Note    string  `json:"note,omitempty"`
	Ops     float64 `json:"ops_per_second"` // all instances together
	P50     float64 `json:"p50_ms"`
	P99     float64 `json:"p99_ms"` // over all operations; Parts have those of the instances
	P999    float64 `json:"p999_ms"`
	Errors  uint64  `json:"errors"`
	HitRate float64 `json:"hit_rate"`        // -1: nothing was looked for
	Blind   bool    `json:"blind,omitempty"` // answers were not looked at: Ops and HitRate are the server's
	Parts   []Part  `json:"parts"`

	ServerCPU float64     `json:"server_cpu_us_per_op,omitempty"` // user and system time of the processes
	ClientCPU float64     `json:"client_cpu_us_per_op,omitempty"`
	RSS       int64       `json:"rss_bytes,omitempty"` // of the servers
	Others    float64     `json:"others_cpus"`         // processors that neither server nor client nor interrupts kept busy
	Watts     float64     `json:"watts,omitempty"`
	WattsFrom string      `json:"watts_from,omitempty"`
	Usage     *host.Usage `json:"usage,omitempty"`
	// Cores is how busy each CPU was, second by second.
	Cores []Cores `json:"cores,omitempty"`
}

// Cores of one second.
type Cores struct {
	Second float64             `json:"second"` // since the start of the window
	CPUs   map[int]host.Shares `json:"cpus"`
}

// Part is what one instance did.
type Part struct {
	Run      []byte    `json:"run"` // a result.Run as its Append writes it: rows, seconds, histograms
	Counters *Counters `json:"counters,omitempty"`
	Problem  string    `json:"problem,omitempty"` // why there are no Counters
	Findings []string  `json:"findings,omitempty"`
	Ops      float64   `json:"ops_per_second"`
	P99      float64   `json:"p99_ms"`
	Pass     bool      `json:"pass"`
}

// memory that a Run may take to be read.
const memory = 512 << 20

// Decode is the run of a part.
func (p *Part) Decode() (*result.Run, error) { return result.DecodeRun(p.Run, memory) }

// Counters are what the server says of the window.
type Counters struct {
	Version    string  `json:"version"`
	Threads    uint64  `json:"threads"`
	Commands   uint64  `json:"commands"`
	Hits       uint64  `json:"hits"`
	Misses     uint64  `json:"misses"`
	Evictions  uint64  `json:"evictions"`
	CPUSeconds float64 `json:"cpu_seconds"`
	Items      uint64  `json:"items"`
	Memory     uint64  `json:"memory"`
}

// Found is where the search for a server ended.
type Found struct {
	Server string          `json:"server"`
	Status string          `json:"status"`
	Best   *Point          `json:"best,omitempty"`
	Below  *Point          `json:"below,omitempty"` // neighbours of the knee
	Above  *Point          `json:"above,omitempty"`
	Result json.RawMessage `json:"result,omitempty"` // of the search, with every point
}

// Writer appends events to a file. Each is on the disk when Append returns.
type Writer struct{ f *os.File }

// Create makes a new file, which must not be there.
func Create(name string) (*Writer, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o666)
	if errors.Is(err, os.ErrExist) {
		return nil, fmt.Errorf("study: %s is there already; go on with it by --resume, or name another file with --out", name)
	}
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return &Writer{f}, nil
}

// Continue opens a file that has whole lines up to size, and cuts off what is after them.
func Continue(name string, size int64) (*Writer, error) {
	f, err := os.OpenFile(name, os.O_WRONLY|os.O_APPEND, 0)
	if err == nil {
		err = f.Truncate(size)
	}
	if err != nil {
		return nil, fmt.Errorf("study: %w", err)
	}
	return &Writer{f}, nil
}

// Append writes an event. What has failed leaves at most a torn last line, which Read knows.
func (w *Writer) Append(e Event) error {
	e.Time = time.Now().UTC().Truncate(time.Millisecond)
	line, err := json.Marshal(e)
	if err == nil {
		_, err = w.f.Write(append(line, '\n'))
	}
	if err == nil {
		err = w.f.Sync()
	}
	if err != nil {
		return fmt.Errorf("study: writing results to %s: %w; what was measured before is kept, go on with --resume", w.f.Name(), err)
	}
	return nil
}

// Close the file.
func (w *Writer) Close() error { return w.f.Close() }

// Load reads a file of whole lines.
func Load(name string) (events []Event, size int64, err error) {
	f, err := os.Open(name)
	if err != nil {
		return nil, 0, err
	}
	defer f.Close()
	return Read(name, f)
}

// Read events. size is the length of the whole lines: a last one without an end, which a study that was killed leaves, is
// left out. Name is for errors.
func Read(name string, r io.Reader) (events []Event, size int64, err error) {
	b := bufio.NewReaderSize(r, 1<<16)
	for n := 1; ; n++ {
		line, err := b.ReadBytes('\n')
		if err == io.EOF {
			break
		}
		if err != nil {
			return events, size, fmt.Errorf("%s:%d: %w", name, n, err)
		}
		var e Event
		dec := json.NewDecoder(bytes.NewReader(line))
		if err := dec.Decode(&e); err != nil {
			return events, size, fmt.Errorf("%s:%d: damaged line: %w; take it out to read the rest", name, n, err)
		}
		if why := e.check(n == 1); why != "" {
			return events, size, fmt.Errorf("%s:%d: %s", name, n, why)
		}
		events = append(events, e)
		size += int64(len(line))
	}
	if len(events) == 0 {
		return nil, 0, fmt.Errorf("%s: no line of results; it should have been written by godwit study run", name)
	}
	return events, size, nil
}

// check says what is wrong with an event.
func (e *Event) check(first bool) string {
	there := map[string]bool{
		KindStudy: e.Study != nil, KindHost: e.Host != nil, KindSkip: e.Skip != nil, KindServer: e.Server != nil, KindProbe: e.Probe != nil,
		KindResult: e.Result != nil, KindFound: e.Found != nil, KindEnd: true, KindError: true,
	}
	switch has, known := there[e.Kind]; {
	case !known:
		return fmt.Sprintf("unknown event %q; the file may be of a later version of godwit", e.Kind)
	case !has:
		return fmt.Sprintf("event %q without what it tells of; take the line out to read the rest", e.Kind)
	case first && e.Kind != KindStudy:
		return fmt.Sprintf("the file begins with %q instead of %q; its first lines are missing", e.Kind, KindStudy)
	case e.Kind == KindStudy && e.Study.Format != Format:
		return fmt.Sprintf("format %d, which this godwit does not read (it reads %d)", e.Study.Format, Format)
	}
	return ""
}

// Shell is a command line that a shell takes apart into the words again.
func Shell(list []string) string {
	var b strings.Builder
	for i, w := range list {
		if i > 0 {
			b.WriteByte(' ')
		}
		if w == "" || strings.ContainsAny(w, " \t\n'\"\\$&|;<>()*?[]#~`!{}") {
			w = "'" + strings.ReplaceAll(w, "'", `'\''`) + "'"
		}
		b.WriteString(w)
	}
	return b.String()
}
