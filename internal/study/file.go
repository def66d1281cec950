package study

import (
	"errors"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"time"

	"github.com/BurntSushi/toml"

	"godwit/internal/load/crusher"
	"godwit/internal/load/memtier"
	"godwit/internal/nearest"
)

// Searches that a study file can name.
const (
	Fixed       = "fixed"       // none: the load as it is, repeated
	Rate        = "rate"        // the highest planned rate
	Concurrency = "concurrency" // threads, clients, pipeline
	Instances   = "instances"   // servers beside each other
)

var searches = []string{Fixed, Rate, Concurrency, Instances}

// Faces that can make the load.
const (
	memtierFace = "memtier"
	crusherFace = "crusher"
)

// Duration is a time as study files have it: "500ms", "2m".
type Duration time.Duration

// UnmarshalText implements encoding.TextUnmarshaler.
func (d *Duration) UnmarshalText(text []byte) error {
	v, err := time.ParseDuration(string(text))
	if err != nil || v < 0 {
		return fmt.Errorf(`%q is no duration; write one like "500ms", "10s" or "2m"`, text)
	}
	*d = Duration(v)
	return nil
}

func (d Duration) seconds() float64 { return time.Duration(d).Seconds() }

// File is a study file.
type File struct {
	Name     string   `toml:"name"`
	Question string   `toml:"question"`
	Source   string   `toml:"source"` // what the study follows
	Chosen   []string `toml:"chosen"` // by us, where the source does not say
	Baseline string   `toml:"baseline"`

	Target Target   `toml:"target"`
	Load   Load     `toml:"load"`
	Search Search   `toml:"search"`
	Runs   Runs     `toml:"runs"`
	Quick  Quick    `toml:"quick"`
	Server []Server `toml:"server"`

	text string
}

// Target is what is promised.
type Target struct {
	P99    Duration `toml:"p99"`
	Errors float64  `toml:"errors"` // share of requests
}

// Load is what the clients do.
type Load struct {
	Face  string `toml:"face"`  // of godwit: memtier, or crusher
	Args  string `toml:"args"`  // of it; server, port, protocol and time are added
	Fill  string `toml:"fill"`  // the same, before anything is measured
	Cores int    `toml:"cores"` // for the clients; 0: those that the server leaves
}

// Search is what is varied.
type Search struct {
	By           string  `toml:"by"`
	Min          float64 `toml:"min"` // of rate
	Max          float64 `toml:"max"` // of rate and instances
	Start        float64 `toml:"start"`
	Resolution   float64 `toml:"resolution"`
	MaxThreads   int     `toml:"max_threads"`
	MaxClients   int     `toml:"max_clients"`
	MaxPipeline  int     `toml:"max_pipeline"`
	Probes       int     `toml:"probes"`
	OneDirection bool    `toml:"one_direction"` // without the pass that escapes the order of the dimensions
}

// Runs is how often and for how long.
type Runs struct {
	Repetitions int      `toml:"repetitions"`
	Warmup      Duration `toml:"warmup"`
	Window      Duration `toml:"window"`
	Order       string   `toml:"order"`
	Seed        uint64   `toml:"seed"`
}

// Quick replaces what is not zero in it with --quick.
type Quick struct {
	Repetitions int      `toml:"repetitions"`
	Warmup      Duration `toml:"warmup"`
	Window      Duration `toml:"window"`
	Args        string   `toml:"args"`
	Fill        string   `toml:"fill"`
	Max         float64  `toml:"max"`
	MaxThreads  int      `toml:"max_threads"`
	MaxClients  int      `toml:"max_clients"`
	MaxPipeline int      `toml:"max_pipeline"`
	Probes      int      `toml:"probes"`
	Resolution  float64  `toml:"resolution"`
}

// Server under test.
type Server struct {
	Name        string  `toml:"name"`
	Command     string  `toml:"command"` // {godwit}, {port} and {cores} are replaced
	Protocol    string  `toml:"protocol"`
	Cores       int     `toml:"cores"` // it is pinned to so many; 0: it is not pinned
	Optional    bool    `toml:"optional"`
	Price       float64 `toml:"price"` // per hour
	PriceSource string  `toml:"price_source"`
	Watts       float64 `toml:"watts"`
}

// Parse a study file. name is for errors, which say where and how to mend it.
func Parse(name, text string) (*File, error) {
	f := &File{text: text}
	meta, err := toml.Decode(text, f)
	if err != nil {
		if e, ok := errors.AsType[toml.ParseError](err); ok {
			return nil, fmt.Errorf("%s:%d: %s", name, e.Position.Line, e.Message)
		}
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	if extra := meta.Undecoded(); len(extra) > 0 {
		key := extra[0]
		last := key[len(key)-1]
		hint := "take it out"
		if known := nearest.Name(last, keys[strings.Join(key[:len(key)-1], ".")]); known != "" {
			hint = fmt.Sprintf("did you mean %q?", known)
		}
		return nil, fmt.Errorf("%s:%d: unknown key %q; %s", name, lineOf(text, key), key.String(), hint)
	}
	at := func(key toml.Key, format string, a ...any) error {
		return fmt.Errorf("%s:%d: %s: %s", name, lineOf(text, key), key, fmt.Sprintf(format, a...))
	}
	if err := f.check(at); err != nil {
		return nil, err
	}
	return f, nil
}

// keys of each table, for hints.
var keys = map[string][]string{
	"":       {"name", "question", "source", "chosen", "baseline", "target", "load", "search", "runs", "quick", "server"},
	"target": {"p99", "errors"},
	"load":   {"face", "args", "fill", "cores"},
	"search": {"by", "min", "max", "start", "resolution", "max_threads", "max_clients", "max_pipeline", "probes", "one_direction"},
	"runs":   {"repetitions", "warmup", "window", "order", "seed"},
	"quick":  {"repetitions", "warmup", "window", "args", "fill", "max", "max_threads", "max_clients", "max_pipeline", "probes", "resolution"},
	"server": {"name", "command", "protocol", "cores", "optional", "price", "price_source", "watts"},
}

// lineOf is where a key is in text, or its table; of servers the first that has it. 1 if it is nowhere.
func lineOf(text string, key toml.Key) int {
	table, found := "", 1
	for i, line := range strings.Split(text, "\n") {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			table = strings.Trim(strings.SplitN(line, "#", 2)[0], "[] \t")
			if table == key.String() {
				return i + 1
			}
			if len(key) > 1 && table == key[0] && found == 1 {
				found = i + 1
			}
			continue
		}
		word, _, ok := strings.Cut(line, "=")
		word = strings.Trim(word, " \t\"'")
		if ok && table == strings.Join(key[:len(key)-1], ".") && word == key[len(key)-1] {
			return i + 1
		}
	}
	return found
}

// check what the types do not, and fill in what is left out.
func (f *File) check(at func(key toml.Key, format string, a ...any) error) error {
	k := func(words ...string) toml.Key { return words }
	if f.Name == "" {
		return at(k("name"), `a study needs a name: name = "…"`)
	}
	if f.Search.By == "" {
		f.Search.By = Fixed
	}
	f.Runs.Repetitions = max(f.Runs.Repetitions, 0)
	if f.Runs.Repetitions == 0 {
		f.Runs.Repetitions = 3
	}
	if f.Runs.Window == 0 {
		f.Runs.Window = Duration(10 * time.Second)
	}
	s := &f.Search
	switch s.By {
	case Fixed:
	case Rate:
		if s.Min <= 0 || s.Max <= s.Min {
			return at(k("search", "max"), "a search by rate goes from min to max, requests per second: 0 < min < max; here %g and %g", s.Min, s.Max)
		}
	case Concurrency:
		if s.MaxThreads < 1 || s.MaxClients < 1 || s.MaxPipeline < 1 {
			return at(k("search", "by"), "a search by concurrency needs max_threads, max_clients and max_pipeline of at least 1")
		}
	case Instances:
		if s.Max < 1 || s.Max != float64(int(s.Max)) {
			return at(k("search", "max"), "a search by instances needs the most servers to start, a whole number from 1; here %g", s.Max)
		}
	default:
		return at(k("search", "by"), "unknown search %q; there are %s", s.By, strings.Join(searches, ", "))
	}
	if s.By != Fixed && f.Target.P99 == 0 {
		return at(k("target", "p99"), `a search needs a promise to keep: [target] p99 = "1ms"`)
	}
	if f.Target.Errors < 0 || f.Target.Errors > 1 {
		return at(k("target", "errors"), "a share of requests is from 0 to 1; here %g", f.Target.Errors)
	}
	switch f.Runs.Order {
	case "":
		f.Runs.Order = "abba"
	case "abba", "random":
	default:
		return at(k("runs", "order"), `unknown order %q; there are "abba" and "random"`, f.Runs.Order)
	}
	switch f.Load.Face {
	case "":
		f.Load.Face = memtierFace
	case memtierFace:
	case crusherFace:
		if s.By == Rate || s.By == Concurrency {
			return at(k("search", "by"), "%s varies what crusher's templates fix; it needs the face memtier", s.By)
		}
	default:
		return at(k("load", "face"), "unknown face %q; there are %s and %s", f.Load.Face, memtierFace, crusherFace)
	}
	if len(f.Server) == 0 {
		return at(k("server"), `no server to measure; add [[server]] with name, command and protocol`)
	}
	names := map[string]bool{}
	for i := range f.Server {
		sv := &f.Server[i]
		switch {
		case sv.Name == "":
			return at(k("server", "name"), "server %d has no name", i+1)
		case names[sv.Name]:
			return at(k("server", "name"), "two servers are called %q; measuring one twice needs two names", sv.Name)
		case !strings.Contains(sv.Command, "{port}"):
			return at(k("server", "command"), "%s: the command must have {port}, where the free port goes that is chosen; here %q", sv.Name, sv.Command)
		case sv.Cores < 0 || sv.Price < 0 || sv.Watts < 0:
			return at(k("server", "name"), "%s: cores, price and watts are not below 0", sv.Name)
		case sv.Price > 0 && sv.PriceSource == "":
			return at(k("server", "price"), `%s: a price needs its list and date: price_source = "on demand, USD, 2026-11"`, sv.Name)
		}
		names[sv.Name] = true
		if sv.Protocol == "" {
			sv.Protocol = "memcache_text"
		}
		if _, err := words(sv.Command); err != nil {
			return at(k("server", "command"), "%s: %v", sv.Name, err)
		}
		for key, args := range map[string]string{"args": f.Load.Args, "fill": f.Load.Fill} {
			if args == "" && key == "fill" {
				continue
			}
			w, err := words(args)
			if err == nil && f.Load.Face == crusherFace {
				err = templates(w)
			} else if err == nil {
				_, exit := memtier.Parse("memtier", loadArgs(memtierFace, w, sv.Protocol, 1, 1, Point0, key == "fill"))
				if exit != nil {
					err = errors.New(strings.TrimSpace(exit.Stderr + exit.Stdout))
				}
			}
			if err != nil {
				return at(k("load", key), "%s: %v", sv.Name, err)
			}
		}
	}
	if f.Baseline == "" {
		f.Baseline = f.Server[0].Name
	} else if !names[f.Baseline] {
		return at(k("baseline"), "no server is called %q", f.Baseline)
	}
	return nil
}

// templates says what is wrong with those among crusher's arguments.
func templates(args []string) error {
	var c crusher.Conf
	for i, a := range args {
		name, value, has := strings.Cut(a, "=")
		if name != "--template" {
			continue
		}
		if !has && i+1 < len(args) {
			value = args[i+1]
		}
		c.Read("template", value, false)
	}
	if len(c.Problems) > 0 {
		return c.Problems[0]
	}
	if len(c.Templates) == 0 {
		return errors.New("crusher needs a template: --template send=ascii_get,conns=50")
	}
	return nil
}

// quick makes f what --quick measures.
func (f *File) quick() {
	q := &f.Quick
	set := func(dst *int, v int) {
		if v > 0 {
			*dst = v
		}
	}
	setD := func(dst *Duration, v, otherwise Duration) {
		if v == 0 {
			v = min(*dst, otherwise)
		}
		*dst = v
	}
	set(&f.Runs.Repetitions, q.Repetitions)
	if q.Repetitions == 0 {
		f.Runs.Repetitions = min(f.Runs.Repetitions, 3)
	}
	setD(&f.Runs.Warmup, q.Warmup, Duration(time.Second))
	setD(&f.Runs.Window, q.Window, Duration(2*time.Second))
	set(&f.Search.MaxThreads, q.MaxThreads)
	set(&f.Search.MaxClients, q.MaxClients)
	set(&f.Search.MaxPipeline, q.MaxPipeline)
	set(&f.Search.Probes, q.Probes)
	if q.Max > 0 {
		f.Search.Max = q.Max
	}
	if q.Resolution > 0 {
		f.Search.Resolution = q.Resolution
	}
	if q.Args != "" {
		f.Load.Args = q.Args
	}
	if q.Fill != "" {
		f.Load.Fill = q.Fill
	}
}

// words of a command line: blanks part them, quotes of either kind keep them together.
func words(line string) (out []string, err error) {
	var word strings.Builder
	quote, in := rune(0), false
	for _, c := range line {
		switch {
		case quote != 0 && c == quote:
			quote = 0
		case quote != 0:
			word.WriteRune(c)
		case c == '\'' || c == '"':
			quote, in = c, true
		case c == ' ' || c == '\t' || c == '\n':
			if in {
				out = append(out, word.String())
				word.Reset()
				in = false
			}
		default:
			word.WriteRune(c)
			in = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("the quote %c is not closed in %q", quote, line)
	}
	if in {
		out = append(out, word.String())
	}
	return out, nil
}

// command of a server: its words with the placeholders filled in.
func (s *Server) command(self string, port, cores int) ([]string, error) {
	list, err := words(s.Command)
	if err != nil {
		return nil, err
	}
	r := strings.NewReplacer("{godwit}", self, "{port}", strconv.Itoa(port), "{cores}", strconv.Itoa(max(cores, 1)))
	for i := range list {
		list[i] = r.Replace(list[i])
	}
	return list, nil
}

// missing says why the server cannot be started here.
func (s *Server) missing(self string) string {
	list, err := s.command(self, 1, 1)
	if err != nil {
		return err.Error()
	}
	if _, err := exec.LookPath(list[0]); err != nil {
		return list[0] + " is not installed"
	}
	return ""
}
