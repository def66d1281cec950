package sim

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
)

// options of the command line.
type options struct {
	trace    string
	format   string
	itemSize string
	rate     float64

	policies   string
	capacities string
	find       string
	bytes      bool
	objects    bool
	overhead   string
	noFill     bool
	warmup     string
	seed       uint64
	shards     int

	csv, json, svg string
	workers        int
	quiet          bool
	list           bool
	help           bool
}

// parseArgs takes options before and after the trace.
func parseArgs(args []string) (*options, error) {
	o := &options{}
	f := flag.NewFlagSet("sim", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	str := func(to *string, value string, names ...string) {
		for _, n := range names {
			f.StringVar(to, n, value, "")
		}
	}
	yes := func(to *bool, names ...string) {
		for _, n := range names {
			f.BoolVar(to, n, false, "")
		}
	}
	str(&o.format, "auto", "format", "f")
	str(&o.itemSize, "0", "item-size")
	f.Float64Var(&o.rate, "rate", 1000, "")
	str(&o.policies, "all", "policy", "p")
	str(&o.capacities, "", "capacity", "c")
	str(&o.find, "", "find")
	yes(&o.bytes, "bytes", "b")
	yes(&o.objects, "objects")
	str(&o.overhead, "28", "overhead")
	yes(&o.noFill, "no-fill")
	str(&o.warmup, "0", "warmup")
	f.Uint64Var(&o.seed, "seed", 42, "")
	f.IntVar(&o.shards, "shards", 0, "")
	str(&o.csv, "", "csv")
	str(&o.json, "", "json")
	str(&o.svg, "", "svg")
	f.IntVar(&o.workers, "workers", 0, "")
	yes(&o.quiet, "quiet", "q")
	yes(&o.list, "list")
	yes(&o.help, "help", "h")
	for {
		if err := f.Parse(args); err != nil {
			return nil, err
		}
		if args = f.Args(); len(args) == 0 {
			break
		}
		if o.trace != "" {
			return nil, fmt.Errorf("trace %q: there is one already, %q (one at a time)", args[0], o.trace)
		}
		o.trace, args = args[0], args[1:]
	}
	switch {
	case o.help || o.list:
		return o, nil
	case o.trace == "":
		return nil, errors.New("no trace: a file, - for stdin or a made one such as zipf (try --help)")
	case o.bytes && o.objects:
		return nil, errors.New("bytes and objects: capacities are one or the other")
	case o.shards < 0 || o.shards > 1<<24:
		return nil, fmt.Errorf("shards %d: not a number of samples (such as 8192)", o.shards)
	case o.workers < 0:
		return nil, fmt.Errorf("workers %d: less than none (0: as many as processors)", o.workers)
	case !(o.rate > 0) || math.IsInf(o.rate, 0):
		return nil, fmt.Errorf("rate %v: not a number of requests a second", o.rate)
	}
	return o, nil
}

// job is what the options say, all checked.
type job struct {
	*options
	Config
	targets []float64
	gen     *Gen // nil: a file
	reader  ReaderOptions
	last    *File // opened last
}

func newJob(o *options) (*job, error) {
	j := &job{options: o}
	var err error
	if j.gen, _, err = ParseGen(o.trace, o.seed); err != nil {
		return nil, err
	}
	if j.gen == nil {
		if _, err := FormatByName(o.format, o.trace); err != nil {
			return nil, err
		}
		name, _, _ := strings.Cut(o.trace, ":")
		if _, err := os.Stat(o.trace); err != nil && o.trace != "-" {
			return nil, fmt.Errorf("trace %q: neither a file nor a made one (%s)", name, strings.Join(Presets(), ", "))
		}
	}
	c := &j.Config
	if c.Policies, err = parsePolicies(o.policies); err != nil {
		return nil, err
	}
	if o.find != "" {
		for t := range strings.SplitSeq(o.find, ",") {
			v, err := strconv.ParseFloat(strings.TrimSuffix(t, "%"), 64)
			if strings.HasSuffix(t, "%") {
				v /= 100
			}
			if err != nil || !(v >= 0 && v <= 1) {
				return nil, fmt.Errorf("find %q: not a miss ratio (such as 0.05 or 5%%)", t)
			}
			j.targets = append(j.targets, v)
		}
	}
	c.Bytes = o.bytes || o.find != "" && !o.objects
	c.NoFill, c.Seed, c.Shards, c.Workers = o.noFill, o.seed, o.shards, o.workers
	if c.Overhead, err = parseBytes(o.overhead); err != nil {
		return nil, fmt.Errorf("overhead: %w", err)
	}
	if c.Warmup, err = parseCount(o.warmup); err != nil {
		return nil, fmt.Errorf("warmup: %w", err)
	}
	if j.reader.Size, err = parseBytes(o.itemSize); err != nil {
		return nil, fmt.Errorf("item-size: %w", err)
	}
	j.reader.Rate = o.rate
	if o.trace == "-" && (o.find != "" || o.capacities == "" || strings.Contains(o.capacities, "%")) {
		return nil, errors.New("stdin is read once: give capacities as numbers, without find (or use a file)")
	}
	if o.capacities != "" { // mistakes are told before the trace is read
		if _, err := parseCapacities(o.capacities, c.Bytes, 1<<30); err != nil {
			return nil, err
		}
	}
	return j, nil
}

func parsePolicies(text string) ([]string, error) {
	if text == "all" {
		return Policies(), nil
	}
	var out []string
	for p := range strings.SplitSeq(text, ",") {
		if _, err := New(p, Setup{Capacity: 1}); err != nil {
			return nil, err
		}
		if !slices.Contains(out, p) {
			out = append(out, p)
		}
	}
	return out, nil
}

// parseCapacities reads a list of capacities and ranges LO..HI or LO..HI/N. whole is what percentages are of.
func parseCapacities(text string, bytes bool, whole float64) ([]int64, error) {
	one := func(v string) (int64, error) {
		var n int64
		var err error
		if p, ok := strings.CutSuffix(v, "%"); ok {
			f, e := strconv.ParseFloat(p, 64)
			if e != nil || !(f > 0 && f <= 1000) {
				return 0, fmt.Errorf("capacity %q: not a share of the whole (such as 10%%)", v)
			}
			return max(int64(f/100*whole), 1), nil
		}
		if bytes {
			n, err = parseBytes(v)
		} else {
			n, err = parseCount(v)
		}
		if err == nil && n < 1 {
			err = errors.New("nothing fits into it")
		}
		if err == nil && !bytes && n > math.MaxInt32 {
			err = errors.New("too many objects (give --bytes for a capacity in bytes)")
		}
		if err != nil {
			return 0, fmt.Errorf("capacity %q: %w", v, err)
		}
		return n, nil
	}
	var out []int64
	for part := range strings.SplitSeq(text, ",") {
		low, rest, ranged := strings.Cut(part, "..")
		a, err := one(low)
		if err != nil {
			return nil, err
		}
		if !ranged {
			out = append(out, a)
			continue
		}
		high, count, has := strings.Cut(rest, "/")
		n := 10
		if has {
			if n, err = strconv.Atoi(count); err != nil || n < 2 || n > 1000 {
				return nil, fmt.Errorf("capacity %q: %q is not a number of steps (2 to 1000)", part, count)
			}
		}
		b, err := one(high)
		if err != nil {
			return nil, err
		}
		if b < a {
			return nil, fmt.Errorf("capacity %q: ends below its beginning", part)
		}
		out = append(out, Geometric(a, b, n)...)
	}
	slices.Sort(out)
	return slices.Compact(out), nil
}

// open the trace from its beginning.
func (j *job) open() (Source, error) {
	if j.gen != nil {
		g := *j.gen
		return &g, g.Start()
	}
	if err := j.close(); err != nil {
		return nil, err
	}
	f, err := Open(j.trace, j.format, j.reader)
	if err != nil {
		return nil, err
	}
	j.last = f
	return f, nil
}

func (j *job) close() error {
	if j.last == nil {
		return nil
	}
	err := j.last.Close()
	j.last = nil
	return err
}
