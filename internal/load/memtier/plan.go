package memtier

import (
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/binary"
	"fmt"
	"math"
	"net"
	"os"
	"strconv"
	"time"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/keys"
)

func appendUint(b []byte, n uint64) []byte { return bytesx.AppendUint(b, n) }

// planner makes the Plans of all runs of a command line.
type planner struct {
	o      *Options
	seed   uint64
	target *load.Target // one of the servers
	fleet  *servers     // of the present plan
	block  *keys.Block  // of values that are not derived from keys

	imported *importFile    // nil: none
	monitor  *monitorCursor // of the present plan; nil: none
	writers  []writer       // of all plans, with --data-verify
}

// newPlanner looks up what all runs have in common: certificates, the seed, the bytes of values.
func newPlanner(o *Options) (*planner, error) {
	p := &planner{o: o, seed: o.Seed}
	if o.Randomize {
		var b [8]byte
		rand.Read(b[:])
		p.seed = binary.LittleEndian.Uint64(b[:])
	}
	var err error
	if p.target, err = o.target(); err != nil {
		return nil, err
	}
	sizes, err := o.sizes()
	if err != nil {
		return nil, err
	}
	if o.RandomData {
		p.block, err = keys.RandomBlock(p.seed, sizes.Largest())
	} else {
		p.block, err = keys.ConstantBlock('x', sizes.Largest())
	}
	if err == nil && o.imports() {
		p.imported, err = openImport(o.DataImport)
	}
	return p, err
}

// plan of the run-th run, and of it the part-th of parts.
func (p *planner) plan(run, part, parts int) (*load.Plan, error) {
	o := p.o
	var err error
	if p.fleet, err = newServers(o, p.target); err != nil {
		return nil, err
	}
	plan := &load.Plan{
		Rows: o.rows(), Loops: o.Threads, Duration: time.Duration(o.TestTime) * time.Second, Warmup: o.Warmup,
		Blind: o.Blind, IO: o.IO, PerClient: o.ClientStats != "",
		Retry: load.Retry{
			On: o.ReconnectOnError, Most: o.ReconnectMost, Factor: o.BackoffFactor, Timeout: time.Duration(o.ConnectionTimeout) * time.Second,
		},
	}
	if o.Ramp != nil {
		plan.Ramp = o.Ramp.At
	}
	if o.Monitor != nil {
		_, _, rows := o.CommandRows()
		p.monitor = newMonitorCursor(o.Monitor, rows, o.MonitorRandom, part, parts)
	}
	start := newStarts(o, p.seed)
	all := o.Connections() * parts
	for i := range o.Connections() {
		begin, ever := start.begin(i)
		if !ever {
			continue
		}
		n := part*o.Connections() + i
		c, err := p.client(run, n, all)
		if err != nil {
			return nil, err
		}
		c.Begin = begin
		conns, err := p.fleet.connect(o, n, c)
		if err != nil {
			return nil, err
		}
		plan.Clients = append(plan.Clients, conns...)
	}
	return plan, nil
}

// ticksPerSecond of memtier_benchmark's rate limiting: a connection sends what is due since the last tick at once.
const ticksPerSecond = 50

// client n of all.
func (p *planner) client(run, n, all int) (load.Client, error) {
	o := p.o
	c := load.Client{Pipeline: o.Pipeline, ReconnectEvery: o.ReconnectInterval, Poisson: o.Poisson, Phase: float64(n) / float64(all)}
	switch {
	case o.Rate > 0:
		c.Rate = o.Rate / float64(all)
	case o.ConnectionRate > 0:
		c.Rate = float64(o.ConnectionRate)
	}
	if o.Ticks {
		c.Burst, c.Phase = int(math.Ceil(c.Rate/ticksPerSecond)), 0
	}
	var err error
	if c.Codec, err = codec.New(string(o.Protocol)); err != nil {
		return c, err
	}
	if o.MultiKeyGet > 0 && !c.Codec.Supports(load.MGet) {
		return c, fmt.Errorf("%s: the protocol %s has no get of several keys here; leave it out, or use --protocol=memcache_text", o.is("multi-key-get"), o.Protocol)
	}
	c.Source, err = p.source(run, n, all)
	return c, err
}

// source of client n of all in a run. Runs repeat each other.
func (p *planner) source(run, n, all int) (load.Source, error) {
	o := p.o
	left, err := o.requestsOf(n, all)
	if err != nil {
		return nil, err
	}
	if len(o.Commands) > 0 {
		return p.commandSource(n, all, left)
	}
	s := &ratioSource{left: left, turns: turns{ratio: o.Ratio, multi: uint64(o.MultiKeyGet)}, many: make([][]byte, o.MultiKeyGet)}
	if s.setKeys, err = p.setIndices(n, all); err != nil {
		return nil, err
	}
	if s.getKeys, err = o.indices(o.GetPattern, n, all); err != nil {
		return nil, err
	}
	s.getKeys.Seed(p.seed, keys.Stream(n, keys.Reads))
	if s.draw, err = p.draw(n); err != nil {
		return nil, err
	}
	s.waits = waiter{ratio: o.WaitRatio, slaves: o.NumSlaves, timeout: o.WaitTimeout}
	s.waits.rand.Seed(p.seed, keys.Stream(n, streamWaits))
	if p.imported != nil {
		if s.importing, err = p.importing(n, all); err != nil {
			return nil, err
		}
	}
	if o.DataVerify {
		p.writers = append(p.writers, writer{n: n, all: all, source: s})
	}
	return s, nil
}

// setIndices are those of the keys that client n of all sets.
func (p *planner) setIndices(n, all int) (keys.Indices, error) {
	x, err := p.o.indices(p.o.SetPattern, n, all)
	x.Seed(p.seed, keys.Stream(n, keys.Writes))
	return x, err
}

func (p *planner) names() keys.Names { return keys.Names{Prefix: p.o.KeyPrefix} }

// draw of client n.
func (p *planner) draw(n int) (draw, error) {
	o := p.o
	sizes, err := o.sizes()
	if err != nil {
		return draw{}, err
	}
	d := draw{names: p.names(), file: o.fileKeys(), sizes: sizes, expiry: o.Expiry, offset: o.DataOffset}
	d.sizes.Seed(p.seed, keys.Stream(n, keys.Lengths))
	d.values = keys.NewValues(p.block, p.seed, keys.Stream(n, keys.Contents))
	d.rand.Seed(p.seed, keys.Stream(n, keys.Expiries))
	if o.Verify {
		d.verifier = keys.NewVerifier(p.seed)
		d.value = make([]byte, sizes.Largest())
		if d.seed = p.seed; len(o.DataSizeList) > 0 {
			d.weights = summed(o.DataSizeList)
		}
	}
	return d, nil
}

// requestsOf client n of all; noLimit: as many as the time allows.
func (o *Options) requestsOf(n, all int) (uint64, error) {
	switch {
	case o.TestTime > 0:
		return noLimit, nil
	case o.AllKeys:
		return o.allKeys(n, all)
	}
	return o.Requests, nil
}

// allKeys is how many requests client n of all makes with --requests=allkeys.
func (o *Options) allKeys(n, all int) (uint64, error) {
	if !o.parted() {
		n, all = 0, 1
	}
	low, high := o.bounds()
	return keys.AllKeys(low, high, n, all)
}

// parted says whether each client keeps to its part of the keys.
func (o *Options) parted() bool {
	for i := range o.Commands {
		if c := &o.Commands[i]; c.Pattern == 'P' && c.Keys() > 0 {
			return true // and so have all others with keys
		}
	}
	return o.SetPattern == 'P'
}

// bounds of the keys' indices.
func (o *Options) bounds() (low, high uint64) {
	if file := o.fileKeys(); file != nil {
		return 1, uint64(len(file))
	}
	return o.KeyMin, o.KeyMax
}

// indices that a client draws by a pattern.
func (o *Options) indices(p Pattern, n, all int) (keys.Indices, error) {
	low, high := o.bounds()
	switch p {
	case 'G':
		return keys.Gauss(low, high, o.KeyStddev, o.KeyMedian)
	case 'Z':
		return keys.MemtierZipf(low, high, o.KeyZipfExp)
	case 'S':
		return keys.Sequential(low, high, low)
	case 'P':
		return keys.Partition(low, high, n, all)
	}
	return keys.Uniform(low, high)
}

// sizes of values. Those that are checked depend on the key alone.
func (o *Options) sizes() (keys.Sizes, error) {
	switch {
	case len(o.DataSizeList) > 0:
		list := make([]keys.Weighted, len(o.DataSizeList))
		for i, w := range o.DataSizeList {
			list[i] = keys.Weighted{Size: w.Size, Weight: uint64(w.Weight)}
		}
		return keys.RotatedSize(list)
	case o.DataSizes.To > 0 && o.SizePattern == 'S':
		return keys.LinearSize(int(o.DataSizes.From), int(o.DataSizes.To), o.KeyMin, o.KeyMax)
	case o.DataSizes.To > 0:
		return keys.UniformSize(int(o.DataSizes.From), int(o.DataSizes.To))
	}
	return keys.FixedSize(o.DataSize)
}

// rows of results.
func (o *Options) rows() []string {
	if len(o.Commands) == 0 {
		return ratioRows
	}
	names, _, _ := o.CommandRows()
	return names
}

// target is the server with all that a connection begins with.
func (o *Options) target() (*load.Target, error) {
	t := &load.Target{Network: "tcp", Address: net.JoinHostPort(o.Server, strconv.Itoa(o.Port))}
	switch o.Family {
	case IPv4:
		t.Network = "tcp4"
	case IPv6:
		t.Network = "tcp6"
	}
	if o.Servers != nil { // servers has them all
		t.Address = o.Servers[0]
	}
	if o.UnixSocket != "" {
		t.Network, t.Address = "unix", o.UnixSocket
	}
	switch {
	case !o.Authenticate:
	case o.Protocol.RESP():
		t.Prologue = append(t.Prologue, codec.Auth(o.User, o.Password))
	case o.Protocol == Binary:
		t.Prologue = append(t.Prologue, codec.SASL(o.User, o.Password))
	default:
		t.Prologue = append(t.Prologue, codec.TextAuth(o.User, o.Password))
	}
	if o.DB > 0 {
		t.Prologue = append(t.Prologue, codec.Select(o.DB))
	}
	switch o.Protocol {
	case Resp2:
		t.Prologue = append(t.Prologue, codec.Hello(2))
	case Resp3:
		t.Prologue = append(t.Prologue, codec.Hello(3))
	}
	if !o.TLS {
		return t, nil
	}
	var err error
	t.TLS, err = o.tls()
	return t, err
}

// tls is the client's side of TLS as the options want it.
func (o *Options) tls() (*tls.Config, error) {
	cfg := &tls.Config{ServerName: o.SNI, InsecureSkipVerify: o.TLSSkipVerify, MinVersion: o.TLSMin, MaxVersion: o.TLSMax}
	if cfg.ServerName == "" {
		cfg.ServerName = o.Server
	}
	if o.Cert != "" {
		pair, err := tls.LoadX509KeyPair(o.Cert, o.Key)
		if err != nil {
			return nil, fmt.Errorf("--cert %s, --key %s: %w", o.Cert, o.Key, err)
		}
		cfg.Certificates = []tls.Certificate{pair}
	}
	if o.CACert != "" {
		pem, err := os.ReadFile(o.CACert)
		if err != nil {
			return nil, fmt.Errorf("--cacert: %w", err)
		}
		cfg.RootCAs = x509.NewCertPool()
		if !cfg.RootCAs.AppendCertsFromPEM(pem) {
			return nil, fmt.Errorf("--cacert %s: no certificate in it (PEM wanted)", o.CACert)
		}
	}
	return cfg, nil
}
