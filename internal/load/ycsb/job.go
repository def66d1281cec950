package ycsb

import (
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/keys"
)

// job is what the threads share. Only inserts, cursors and waiting change.
type job struct {
	*settings
	rows    *rows
	names   keys.Names
	table   int // bytes of names.Prefix that YCSB's binding puts in front of the key
	fieldsN [][]byte
	block   []byte
	inserts *keys.Inserts // in the load phase nil
	cursors []*keys.Cursor
	scans   keys.Sizes
	part    int // of several machines
	parts   int

	mu      sync.Mutex // guards waiting
	waiting [][]uint64 // by server: indices that were taken for an insert, but belong to this server
}

func maxLoops() int { return runtime.GOMAXPROCS(0) }

// names makes keys as they go on the wire. YCSB's memcached binding puts the table in front, its Redis binding does not.
func (s *settings) names() keys.Names {
	return keys.Names{Prefix: s.tablePrefix() + s.prefix, Width: s.padding, Hashed: s.hashed}
}

func (s *settings) tablePrefix() string {
	switch {
	case s.keyFormat == "go-ycsb":
		return s.table + "/"
	case s.keyFormat == "ycsb" && !s.redis:
		return s.table + "-"
	}
	return ""
}

// newJob makes what threads share, for the part-th of parts machines.
func newJob(s *settings, part, parts int) (*job, error) {
	if parts < 1 || part < 0 || part >= parts {
		return nil, fmt.Errorf("part %d of %d: count from 0", part, parts)
	}
	if s.threads < parts {
		return nil, fmt.Errorf("threads %d: fewer than the %d machines (use -threads %d or more)", s.threads, parts, parts)
	}
	j := &job{
		settings: s, rows: newRows(s), names: s.names(), table: len(s.tablePrefix()), part: part, parts: parts,
		fieldsN: fieldNames(s.fieldPrefix, s.fields), waiting: make([][]uint64, len(s.hosts)),
	}
	if !s.integrity {
		j.block = newBlock(s.seed, s.fieldMax)
	}
	if s.load {
		return j, j.everyHost()
	}
	j.inserts = keys.NewInserts(s.records)
	last := s.first + s.count - 1
	for range s.hosts {
		start := s.first + (s.count/uint64(parts))*uint64(part)
		c, err := keys.NewCursor(s.first, last, start)
		if err != nil {
			return nil, err
		}
		j.cursors = append(j.cursors, c)
	}
	var err error
	if s.scanLaw == "zipfian" {
		j.scans, err = keys.ZipfianSize(s.scanMin, s.scanMax, 0.99)
	} else {
		j.scans, err = keys.UniformSize(s.scanMin, s.scanMax)
	}
	if err != nil {
		return nil, err
	}
	return j, j.everyHost()
}

// everyHost makes sure that no thread looks in vain for a key of its server.
func (j *job) everyHost() error {
	n := len(j.hosts)
	if n == 1 {
		return nil
	}
	seen := make([]bool, n)
	var b []byte
	for i := uint64(0); i < j.count && i < uint64(1000*n); i++ {
		b = j.names.Append(b[:0], j.first+i)
		if h := j.host(b); !seen[h] {
			seen[h] = true
			if n--; n == 0 {
				return nil
			}
		}
	}
	return fmt.Errorf("memcached.hosts names %d servers, and %d of them have none of the %d records (use more records or fewer servers)",
		len(j.hosts), n, j.count)
}

// host is the server that a key belongs to: FNV-1a (64 bits) of the key, modulo the number of servers.
func (j *job) host(key []byte) int {
	if len(j.hosts) == 1 {
		return 0
	}
	h := uint64(0xcbf29ce484222325)
	for _, c := range key {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return int(h % uint64(len(j.hosts)))
}

// number is the index of the record that this machine knows as v: new records are dealt out to the machines in turn.
func (j *job) number(v uint64) uint64 {
	if j.parts == 1 || v < j.records || j.load {
		return v
	}
	return j.records + (v-j.records)*uint64(j.parts) + uint64(j.part)
}

// take gives an index for a new record on a server. false: too many are under way.
func (j *job) take(host int) (index uint64, ok bool) {
	if len(j.hosts) == 1 {
		return j.inserts.Take()
	}
	j.mu.Lock()
	defer j.mu.Unlock()
	var buf [256]byte
	for {
		if w := j.waiting[host]; len(w) > 0 {
			j.waiting[host] = w[1:]
			return w[0], true
		}
		if index, ok = j.inserts.Take(); !ok {
			return 0, false
		}
		h := j.host(j.names.Append(buf[:0], j.number(index)))
		j.waiting[h] = append(j.waiting[h], index)
	}
}

// share is how much of n the i-th of k gets; from is how much those before it get.
func share(n uint64, i, k int) (from, size uint64) {
	q, r := n/uint64(k), n%uint64(k)
	from = q*uint64(i) + min(uint64(i), r)
	if uint64(i) < r {
		q++
	}
	return from, q
}

// indices is the law of keys.
func (j *job) indices(host int) (x keys.Indices, err error) {
	s := j.settings
	last := s.first + s.count - 1
	switch s.dist {
	case "zipfian":
		more := uint64(2 * float64(s.operations) * s.shares[opInsert] / float64(j.parts))
		switch {
		case s.first+s.count < s.records: // what is above belongs to others
		case s.exact:
			last += more
		default:
			last += more + 1 // as in YCSB; the one above the last is never acknowledged
		}
		if s.exact {
			x, err = keys.Scrambled(s.first, last, s.constant)
		} else {
			x, err = keys.ScrambledYCSB(s.first, last, s.constant)
		}
		x.Within(j.inserts)
	case "latest":
		x, err = keys.Latest(s.first, j.inserts, s.constant)
	case "hotspot":
		x, err = keys.Hotspot(s.first, last, s.hotData, s.hotOps)
	case "exponential":
		x, err = keys.Exponential(s.first, j.inserts, s.records, s.expPct, s.expFrac)
	case "sequential":
		x, err = keys.Shared(j.cursors[host])
	default:
		x, err = keys.Uniform(s.first, last)
	}
	return x, err
}

// Plan makes the load.Plan of a command line: see load.Planner. With several machines each reads, of the records inserted
// during the run, its own ones only.
func Plan(args []string, run, part, parts int) (*load.Plan, error) {
	w, err := parseArgs(args)
	if err != nil {
		return nil, err
	}
	if w.help {
		return nil, fmt.Errorf("--help: is no load")
	}
	s, err := readSettings(w)
	if err != nil {
		return nil, err
	}
	s.seed += uint64(run)
	_, p, err := s.plan(part, parts)
	return p, err
}

var _ load.Planner = Plan

// plan makes the job and its Plan.
func (s *settings) plan(part, parts int) (*job, *load.Plan, error) {
	j, err := newJob(s, part, parts)
	if err != nil {
		return nil, nil, err
	}
	targets, err := s.targets()
	if err != nil {
		return nil, nil, err
	}
	from, size := share(uint64(s.threads), part, parts)
	p := &load.Plan{Rows: j.rows.names(), Loops: min(s.loops, int(size)), Duration: s.duration, Warmup: s.warmup}
	for i := int(from); i < int(from+size); i++ {
		t, err := newThread(j, i)
		if err != nil {
			return nil, nil, err
		}
		p.Clients = append(p.Clients, load.Client{
			Target: targets[t.host], Codec: s.codec(), Source: t, Pipeline: 1,
			Rate: s.target / float64(s.threads), Phase: float64(i) / float64(s.threads),
		})
	}
	return j, p, nil
}

func (s *settings) codec() load.Codec {
	switch {
	case s.redis:
		return codec.NewResp(2)
	case s.protocol == "binary":
		return codec.NewBinary()
	case s.protocol == "meta":
		return codec.NewMeta()
	}
	return codec.NewText()
}

// targets are the servers, with what a connection begins with.
func (s *settings) targets() ([]*load.Target, error) {
	var prologue []load.Greeting
	if s.redis && s.password != "" {
		prologue = append(prologue, codec.Auth(s.user, s.password))
	}
	if s.redis && s.database > 0 {
		prologue = append(prologue, codec.Select(s.database))
	}
	var out []*load.Target
	for _, h := range s.hosts {
		t := &load.Target{Network: s.network, Address: h, Prologue: prologue}
		if strings.HasPrefix(h, "/") {
			t.Network = "unix"
		}
		if s.tls.on() {
			var err error
			if t.TLS, err = s.tls.config(h); err != nil {
				return nil, err
			}
		}
		out = append(out, t)
	}
	return out, nil
}

func (f *tlsFiles) config(address string) (*tls.Config, error) {
	host, _, err := net.SplitHostPort(address)
	if err != nil {
		host = "localhost" // a unix socket
	}
	c := &tls.Config{ServerName: host, InsecureSkipVerify: f.skip} //nolint:gosec // asked for by name
	if f.ca != "" {
		pem, err := os.ReadFile(filepath.Clean(f.ca))
		if err != nil {
			return nil, fmt.Errorf("redis.tls_ca: %w", err)
		}
		c.RootCAs = x509.NewCertPool()
		if !c.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("redis.tls_ca: %s: no certificate in it", f.ca)
		}
	}
	if f.cert != "" || f.key != "" {
		pair, err := tls.LoadX509KeyPair(f.cert, f.key)
		if err != nil {
			return nil, fmt.Errorf("redis.tls_cert, redis.tls_key: %w", err)
		}
		c.Certificates = []tls.Certificate{pair}
	}
	return c, nil
}
