package ycsb

import (
	"fmt"
	"maps"
	"math"
	"net"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/nearest"
)

// settings are a command line with its properties, checked.
type settings struct {
	load  bool
	redis bool

	// How much, how fast, how long.
	threads    int
	loops      int
	target     float64 // operations per second of all threads together; 0: as fast as answers come
	records    uint64
	first      uint64 // insertstart
	count      uint64 // insertcount
	operations uint64 // of all threads together; 0: until the time is over
	duration   time.Duration
	warmup     time.Duration
	seed       uint64

	// What is done to which key.
	shares   [5]float64 // by operation, read to rmw
	dist     string
	constant float64
	exact    bool // zipfian over the keys themselves
	hotData  float64
	hotOps   float64
	expPct   float64
	expFrac  float64
	scanMin  int
	scanMax  int
	scanLaw  string

	// Records.
	table       string
	prefix      string
	padding     int
	hashed      bool
	keyFormat   string
	fields      int
	fieldPrefix string
	fieldMin    int
	fieldMax    int
	fieldLaw    string
	histogram   *lengthHistogram
	readAll     bool
	writeAll    bool
	integrity   bool
	missFails   bool

	// Where to.
	network  string
	hosts    []string
	protocol string
	encoding encoding
	merge    bool
	expiry   uint32
	hash     bool // a record is a Redis hash
	index    bool // and in a sorted set
	user     string
	password string
	database int
	tls      tlsFiles

	// Output.
	label       string
	status      bool
	interval    time.Duration // of status lines
	intended    string        // op, intended, both
	measure     string
	granularity int // ms
	buckets     int // ms
	verbose     bool
	percentiles []float64
	hdr         bool
	hdrPath     string
	exportFile  string
	exporter    string
	style       string
	eachError   bool
	tracked     []string
	requests    bool // sections for requests of operations with several
	serverStats bool // the servers' own counters are held against ours

	warn []string
}

type tlsFiles struct {
	ca, cert, key string
	skip          bool
}

// on says whether TLS is asked for.
func (t *tlsFiles) on() bool { return *t != tlsFiles{} }

// reader takes settings from properties. It remembers the first error and which names it was asked for.
type reader struct {
	props map[string]property
	known map[string]bool
	err   error
}

func (r *reader) get(name string) (p property, given bool) {
	r.known[name] = true
	p, given = r.props[name]
	return p, given && p.value != ""
}

func (r *reader) fail(p *property, format string, args ...any) {
	if r.err == nil {
		r.err = fmt.Errorf("%s: %s %q: %s", p.where, p.name, p.value, fmt.Sprintf(format, args...))
	}
}

func (r *reader) text(name, def string) string {
	if p, ok := r.get(name); ok {
		return p.value
	}
	return def
}

func (r *reader) choice(name, def string, of ...string) string {
	p, ok := r.get(name)
	if !ok {
		return def
	}
	v := strings.ToLower(p.value)
	if !slices.Contains(of, v) {
		r.fail(&p, "unknown (use %s)", strings.Join(of, ", "))
	}
	return v
}

func (r *reader) bool(name string, def bool) bool {
	p, ok := r.get(name)
	switch {
	case !ok:
		return def
	case strings.EqualFold(p.value, "true"):
		return true
	case !strings.EqualFold(p.value, "false"):
		r.fail(&p, "neither true nor false")
	}
	return false
}

func (r *reader) integer(name string, def, low, high uint64) uint64 {
	p, ok := r.get(name)
	if !ok {
		return def
	}
	v, err := strconv.ParseUint(p.value, 10, 64)
	if err != nil || v < low || v > high {
		r.fail(&p, "no whole number from %d to %d", low, high)
		return def
	}
	return v
}

func (r *reader) number(name string, def, low, high float64) float64 {
	p, ok := r.get(name)
	if !ok {
		return def
	}
	v, err := strconv.ParseFloat(p.value, 64)
	if err != nil || !(v >= low && v <= high) {
		r.fail(&p, "no number from %g to %g", low, high)
		return def
	}
	return v
}

func (r *reader) seconds(name string, def float64) time.Duration {
	return time.Duration(r.number(name, def, 0, 1e9) * float64(time.Second))
}

const (
	mostKeys   = math.MaxInt64
	mostFields = 10_000
	mostBytes  = 1 << 30
)

// readSettings makes settings of what a command line says.
func readSettings(w *words) (*settings, error) {
	r := &reader{props: map[string]property{}, known: map[string]bool{}}
	for _, p := range w.props {
		r.props[p.name] = p
	}
	s := &settings{load: w.load, redis: w.redis, warn: w.warn}
	s.readLoad(r)
	s.readKeys(r)
	s.readRecords(r)
	s.readServer(r)
	s.readOutput(r)
	if err := s.unknown(w, r); err != nil {
		return nil, err
	}
	if r.err != nil {
		return nil, r.err
	}
	return s, s.check()
}

// unknown finds properties that nothing asked for.
func (s *settings) unknown(w *words, r *reader) error {
	told := map[string]bool{}
	for i := range w.props {
		p := &w.props[i]
		if r.known[p.name] || told[p.name] {
			continue
		}
		told[p.name] = true
		text := warning(p)
		if text == "" {
			hint := ""
			if n := nearest.Name(p.name, slices.Sorted(maps.Keys(r.known))); n != "" {
				hint = fmt.Sprintf(" (did you mean %s?)", n)
			}
			return fmt.Errorf("%s: property %s: unknown%s", p.where, p.name, hint)
		}
		s.warn = append(s.warn, text)
	}
	return nil
}

func (s *settings) readLoad(r *reader) {
	s.threads = int(r.integer("threadcount", 1, 1, 1<<20))
	s.loops = int(r.integer("loops", 0, 0, 1<<12))
	s.target = r.number("target", 0, 0, 1e12)
	s.records = r.integer("recordcount", 0, 0, mostKeys)
	s.first = r.integer("insertstart", 0, 0, mostKeys)
	if s.first > s.records {
		p, _ := r.get("insertstart")
		r.fail(&p, "above recordcount, %d", s.records)
		s.first = 0
	}
	s.count = r.integer("insertcount", s.records-s.first, 0, mostKeys)
	if s.count > s.records-s.first {
		p, _ := r.get("insertcount")
		r.fail(&p, "insertstart and insertcount together are above recordcount, %d", s.records)
	}
	s.operations = r.integer("operationcount", 0, 0, mostKeys)
	s.duration = r.seconds("maxexecutiontime", 0)
	s.warmup = r.seconds("warmuptime", 0)
	s.seed = r.integer("seed", 1, 0, math.MaxUint64)
	for _, name := range []string{"core_workload_insertion_retry_limit", "batch.size", "dropdata"} {
		if p, ok := r.get(name); ok && p.value != "0" && p.value != "false" && !(name == "batch.size" && p.value == "1") {
			r.fail(&p, "not supported")
		}
	}
	if p, ok := r.get("workload"); ok {
		class := p.value[strings.LastIndexByte(p.value, '.')+1:]
		if class != "core" && class != "CoreWorkload" {
			r.fail(&p, "not supported (only core, which is YCSB's CoreWorkload)")
		}
	}
}

func (s *settings) readKeys(r *reader) {
	s.shares = [5]float64{
		opRead:   r.number("readproportion", 0.95, 0, 1e9),
		opUpdate: r.number("updateproportion", 0.05, 0, 1e9),
		opInsert: r.number("insertproportion", 0, 0, 1e9),
		opScan:   r.number("scanproportion", 0, 0, 1e9),
		opRMW:    r.number("readmodifywriteproportion", 0, 0, 1e9),
	}
	s.dist = r.choice("requestdistribution", "uniform", "uniform", "zipfian", "latest", "hotspot", "exponential", "sequential")
	s.constant = r.number("zipfianconstant", 0.99, 0, 5)
	s.exact = r.choice("zipfian", "ycsb", "ycsb", "exact") == "exact"
	s.hotData = r.number("hotspotdatafraction", 0.2, 0, 1)
	s.hotOps = r.number("hotspotopnfraction", 0.8, 0, 1)
	s.expPct = r.number("exponential.percentile", 95, 0, 100)
	s.expFrac = r.number("exponential.frac", 0.8571428571, 0, 1e9)
	s.scanMin = int(r.integer("minscanlength", 1, 1, 1<<20))
	s.scanMax = int(r.integer("maxscanlength", 1000, 1, 1<<20))
	s.scanLaw = r.choice("scanlengthdistribution", "uniform", "uniform", "zipfian")
	if s.scanMin > s.scanMax {
		p, _ := r.get("minscanlength")
		r.fail(&p, "above maxscanlength, %d", s.scanMax)
	}
}

func (s *settings) readRecords(r *reader) {
	s.table = r.text("table", "usertable")
	s.prefix = r.text("keyprefix", "user")
	s.padding = int(r.integer("zeropadding", 1, 0, 200))
	s.hashed = r.choice("insertorder", "hashed", "hashed", "ordered") == "hashed"
	s.keyFormat = r.choice("keyformat", "ycsb", "ycsb", "go-ycsb", "plain")
	s.fields = int(r.integer("fieldcount", 10, 1, mostFields))
	s.fieldPrefix = r.text("fieldnameprefix", "field")
	s.fieldMax = int(r.integer("fieldlength", 100, 0, mostBytes))
	s.fieldMin = int(r.integer("minfieldlength", min(1, uint64(s.fieldMax)), 0, mostBytes))
	s.fieldLaw = r.choice("fieldlengthdistribution", "constant", "constant", "uniform", "zipfian", "histogram")
	name := r.text("fieldlengthhistogram", "hist.txt")
	if s.fieldLaw == "histogram" && r.err == nil {
		s.histogram, r.err = readLengthHistogram(name)
	}
	if s.fieldMin > s.fieldMax {
		p, _ := r.get("minfieldlength")
		r.fail(&p, "above fieldlength, %d", s.fieldMax)
	}
	s.readAll = r.bool("readallfields", true)
	s.writeAll = r.bool("writeallfields", false)
	s.missFails = r.bool("missesfail", true)
	if s.integrity = r.bool("dataintegrity", false); s.integrity && s.fieldLaw != "constant" {
		p, _ := r.get("dataintegrity")
		r.fail(&p, "needs fields of constant length (leave fieldlengthdistribution alone)")
	}
	if strings.ContainsFunc(s.fieldPrefix, func(c rune) bool { return c <= ' ' || c == '"' || c == '\\' || c > '~' }) {
		p, _ := r.get("fieldnameprefix")
		r.fail(&p, `only printable ASCII without blanks, " and \ can be part of a field's name`)
	}
}

func (s *settings) readServer(r *reader) {
	m, d := s.readMemcached(r), s.readRedis(r)
	if s.redis {
		s.hosts = d
		return
	}
	s.hosts, s.network = m, "tcp"
}

// readMemcached reads the properties of memcached, also those of a file that is used with Redis now.
func (s *settings) readMemcached(r *reader) (hosts []string) {
	p, ok := r.get("memcached.hosts")
	if !ok {
		p.value = "localhost"
	}
	for h := range strings.SplitSeq(p.value, ",") {
		if h = strings.TrimSpace(h); strings.HasPrefix(h, "/") {
			hosts = append(hosts, h)
			continue
		}
		at, err := address(h, "11211")
		if err != nil {
			r.fail(&p, "%v", err)
		}
		hosts = append(hosts, at)
	}
	s.protocol = r.choice("memcached.protocol", "text", "text", "binary", "meta")
	e := r.choice("memcached.encoding", "json", "json", "compact")
	if e == "compact" && !s.redis {
		s.encoding = compact
	}
	merge := r.choice("memcached.update", "replace", "replace", "merge") == "merge"
	s.merge = merge || s.redis
	expiry := uint32(r.integer("memcached.objectExpirationTime", math.MaxInt32, 0, math.MaxInt32))
	if !s.redis {
		s.expiry = expiry
	}
	return hosts
}

// readRedis reads YCSB's and go-ycsb's properties of Redis.
func (s *settings) readRedis(r *reader) (hosts []string) {
	host, port := r.text("redis.host", "localhost"), r.integer("redis.port", 6379, 1, 65535)
	at := net.JoinHostPort(host, strconv.FormatUint(port, 10))
	s.network = r.choice("redis.network", "tcp", "tcp", "unix")
	if p, ok := r.get("redis.addr"); ok {
		at = p.value
		if strings.ContainsAny(at, ";,") {
			r.fail(&p, "clusters are not supported (name one server)")
		}
		if s.network == "tcp" {
			var err error
			if at, err = address(at, "6379"); err != nil {
				r.fail(&p, "%v", err)
			}
		}
	}
	for _, name := range []string{"redis.cluster", "redis.mode"} {
		if p, ok := r.get(name); ok && s.redis && p.value != "false" && p.value != "single" {
			r.fail(&p, "clusters are not supported")
		}
	}
	s.user, s.password = r.text("redis.username", ""), r.text("redis.password", "")
	s.database = int(r.integer("redis.db", 0, 0, math.MaxInt32))
	switch kind := r.choice("redis.datatype", "hash", "hash", "string", "json"); {
	case kind == "json" && s.redis:
		p, _ := r.get("redis.datatype")
		r.fail(&p, "not supported: it needs a module in the server (use hash, or string for the same text)")
	case kind == "hash":
		s.hash = s.redis
	}
	s.index = r.bool("redis.index", true)
	s.tls = tlsFiles{r.text("redis.tls_ca", ""), r.text("redis.tls_cert", ""), r.text("redis.tls_key", ""), r.bool("redis.tls_insecure_skip_verify", false)}
	return []string{at}
}

// address completes a host with a port.
func address(at, port string) (string, error) {
	if h, p, err := net.SplitHostPort(at); err == nil {
		if n, err := strconv.Atoi(p); err != nil || n < 1 || n > 65535 {
			return "", fmt.Errorf("port %q: no number from 1 to 65535", p)
		}
		return net.JoinHostPort(h, p), nil
	}
	at = strings.TrimSuffix(strings.TrimPrefix(at, "["), "]")
	if at == "" {
		return "", fmt.Errorf("an empty address (write host:port)")
	}
	return net.JoinHostPort(at, port), nil
}

func (s *settings) readOutput(r *reader) {
	s.label = r.text("label", "")
	s.status = r.bool("status", false)
	s.interval = r.seconds("status.interval", 10)
	s.intended = r.choice("measurement.interval", "op", "op", "intended", "both")
	p, ok := r.get("measurementtype")
	s.measure = "hdrhistogram"
	if ok {
		switch s.measure = strings.ToLower(p.value); s.measure {
		case "hdrhistogram", "histogram", "hdrhistogram+histogram", "timeseries":
		case "raw", "hdrhistogram+raw", "csv":
			r.fail(&p, "not supported: single latencies are not kept (use hdrhistogram, and hdrhistogram.fileoutput for files)")
		default:
			r.fail(&p, "unknown (use hdrhistogram, histogram, hdrhistogram+histogram, timeseries)")
		}
	}
	if p, ok := r.get("measurement.output_file"); ok {
		r.fail(&p, "single latencies are not kept (use exportfile, or hdrhistogram.fileoutput)")
	}
	s.granularity = int(r.integer("timeseries.granularity", 1000, 1000, 1e9))
	s.buckets = int(r.integer("histogram.buckets", 1000, 1, 1e6))
	s.verbose = r.bool("measurement.histogram.verbose", false)
	s.percentiles = []float64{50, 95, 99}
	if p, ok := r.get("hdrhistogram.percentiles"); ok {
		s.percentiles = nil
		for f := range strings.SplitSeq(p.value, ",") {
			v, err := strconv.ParseFloat(strings.TrimSpace(f), 64)
			if err != nil || !(v >= 0 && v <= 100) {
				r.fail(&p, "%q is no number from 0 to 100 (write 50,95,99.9)", f)
			}
			s.percentiles = append(s.percentiles, v)
		}
	}
	s.hdr = r.bool("hdrhistogram.fileoutput", false)
	s.hdrPath = r.text("hdrhistogram.output.path", "")
	s.exportFile = r.text("exportfile", "")
	switch p, ok := r.get("exporter"); {
	case !ok:
		s.exporter = "text"
	default:
		class := p.value[strings.LastIndexByte(p.value, '.')+1:]
		switch strings.ToLower(strings.TrimSuffix(class, "MeasurementsExporter")) {
		case "text":
			s.exporter = "text"
		case "json":
			s.exporter = "json"
		case "jsonarray":
			s.exporter = "jsonarray"
		default:
			r.fail(&p, "unknown (use text, json, jsonarray, or the names of YCSB's classes)")
		}
	}
	s.style = r.choice("outputstyle", "", "plain", "table", "json")
	s.eachError = r.bool("reportlatencyforeacherror", false)
	for f := range strings.SplitSeq(r.text("latencytrackederrors", ""), ",") {
		if f = strings.TrimSpace(f); f != "" {
			s.tracked = append(s.tracked, f)
		}
	}
	s.requests = r.bool("measurement.requests", false)
	s.serverStats = r.bool("godwit.serverstats", true)
	for _, name := range []string{"histogram.percentiles.export"} {
		if p, ok := r.get(name); ok && !strings.EqualFold(p.value, "false") {
			r.fail(&p, "not supported (use hdrhistogram.fileoutput)")
		}
	}
	r.get("histogram.percentiles.export.filepath")
	if s.interval > 0 && s.interval < time.Second {
		s.interval = time.Second
	}
}

// check finds what does not go together.
func (s *settings) check() error {
	what := "run"
	if s.load {
		what = "load"
	}
	sum := 0.0
	for _, x := range s.shares {
		sum += x
	}
	switch {
	case s.records == 0:
		return fmt.Errorf("recordcount: not given (how many records are there? give a workload such as a, or -p recordcount=1000)")
	case s.count == 0:
		return fmt.Errorf("insertcount 0: no record is left to %s", what)
	case !s.load && s.operations == 0 && s.duration == 0:
		return fmt.Errorf("operationcount: not given, nor maxexecutiontime: there is no end (give one of them)")
	case !s.load && sum == 0:
		return fmt.Errorf("readproportion and all other proportions are 0: nothing to do")
	case !s.load && s.shares[opScan] > 0 && !s.redis:
		return fmt.Errorf("scanproportion %g: memcached has no order of keys to scan in (use redis, or a workload without scans: a, b, c, d, f)",
			s.shares[opScan])
	case !s.load && s.shares[opScan] > 0 && !(s.hash && s.index):
		return fmt.Errorf("scanproportion %g: needs the index of redis.datatype=hash with redis.index=true, at load, too", s.shares[opScan])
	case !s.load && s.intended != "op" && s.target == 0:
		s.warn = append(s.warn, "measurement.interval: without -target nothing is planned, and there are no intended latencies")
		s.intended = "op"
	}
	if s.target == 0 {
		s.intended = "op"
	}
	n := len(s.hosts)
	if n > 1 && s.threads < n {
		return fmt.Errorf("memcached.hosts names %d servers for %d threads: each thread keeps to one server (use -threads %d or more)", n, s.threads, n)
	}
	if n > 255 {
		return fmt.Errorf("memcached.hosts names %d servers: at most 255", n)
	}
	if s.loops == 0 {
		s.loops = maxLoops()
	}
	if !s.redis && s.tls.on() {
		s.tls = tlsFiles{}
	}
	names := s.names()
	if longest := names.Longest(s.records + s.operations); !s.redis && longest > 250 {
		return fmt.Errorf("keys of up to %d bytes: memcached takes 250 (shorten table, keyprefix or zeropadding)", longest)
	}
	if !s.redis && strings.ContainsFunc(names.Prefix, func(c rune) bool { return c <= ' ' || c == 0x7f }) {
		return fmt.Errorf("keys beginning with %q: memcached takes no blanks and control characters (change table or keyprefix)", names.Prefix)
	}
	if s.fieldLaw == "histogram" {
		s.fieldMax = s.histogram.largest()
	}
	return nil
}

// readLengthHistogram reads YCSB's file: BlockSize and a number, then lines of a bucket and its weight.
func readLengthHistogram(name string) (*lengthHistogram, error) {
	text, err := os.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("fieldlengthhistogram: %w", err)
	}
	h := &lengthHistogram{}
	number := 0
	for line := range strings.Lines(string(text)) {
		number++
		f := strings.Fields(line)
		if len(f) == 0 {
			continue
		}
		var a, b uint64
		if len(f) == 2 {
			b, err = strconv.ParseUint(f[1], 10, 31)
			if h.block > 0 && err == nil {
				a, err = strconv.ParseUint(f[0], 10, 20)
			}
		}
		switch {
		case len(f) != 2 || err != nil || h.block == 0 && (f[0] != "BlockSize" || b == 0):
			return nil, fmt.Errorf("fieldlengthhistogram: %s:%d: %.40q (the first line is BlockSize and a number, all others a bucket and a weight)",
				name, number, strings.TrimSpace(line))
		case h.block == 0:
			h.block = int(b)
		default:
			for uint64(len(h.weights)) <= a {
				h.weights = append(h.weights, 0)
			}
			h.weights[a] = b
			h.total += b
		}
	}
	if h.total == 0 || h.largest() > mostBytes {
		return nil, fmt.Errorf("fieldlengthhistogram: %s: no weights, or lengths above %d", name, mostBytes)
	}
	return h, nil
}
