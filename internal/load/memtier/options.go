// Package memtier is the command line of godwit memtier, which takes the options of memtier_benchmark 2.3.0 and some more.
// Parse reads it by the rules of getopt_long and checks all that can be checked without files and network; Prepare reads
// the files that the options name and looks up the servers. What comes out is an Options, of which run.go makes a
// load.Plan. Options are rows of one table (options_table.go): parsing, --help, the man page and the tests follow from it.
//
// Errors are one line that names the option, its value, the cause and the mend; memtier_benchmark prints its usage. Exit
// statuses are its: 2 for a command line that is wrong, 1 for something that it names and that is not there or not usable.
package memtier

import (
	"math"
	"slices"
	"strings"
	"time"

	"godwit/internal/config"
	"godwit/internal/load/memtier/output"
)

// Version of memtier_benchmark that the options and the outputs are those of.
const Version = "2.3.0"

// Exit statuses.
const (
	ExitSetup = 1
	ExitUsage = 2
)

// Protocol to speak, by its name on the command line.
type Protocol string

// The protocols. Redis says no HELLO, Resp2 and Resp3 do. Meta is ours.
const (
	Redis  Protocol = "redis"
	Resp2  Protocol = "resp2"
	Resp3  Protocol = "resp3"
	Text   Protocol = "memcache_text"
	Binary Protocol = "memcache_binary"
	Meta   Protocol = "memcache_meta"
)

// RESP says whether the protocol is one of Redis, else it is one of memcached.
func (p Protocol) RESP() bool { return p == Redis || p == Resp2 || p == Resp3 }

// Family of addresses, by its name in the configuration.
type Family string

// Families of addresses.
const (
	AnyFamily Family = "Unspecified"
	IPv4      Family = "AF_INET"
	IPv6      Family = "AF_INET6"
)

// Pattern of keys: one of R (uniform), G (Gauss), Z (zipf), S (sequential) and P (sequential, a part of the keys for each
// client).
type Pattern byte

// Ratio of two kinds of requests, such as Set:Get.
type Ratio struct{ A, B uint64 }

// Range of numbers, both included. From is not above To.
type Range = output.Range

// Weighted is a size of values and its weight.
type Weighted struct{ Size, Weight int }

// Ramp of the rates: they are multiplied by a factor that goes from Start to End over Over, and then stays.
type Ramp struct {
	Start, End float64
	Over       time.Duration
}

// At is the factor at t seconds after the start.
func (r *Ramp) At(t float64) float64 {
	over := r.Over.Seconds()
	if t >= over {
		return r.End
	}
	return r.Start + (r.End-r.Start)*max(t, 0)/over
}

// Options is a command line. Ranges and so on that are not given are zero, where the comment says nothing else.
type Options struct {
	// Where to.
	Server        string // "" with UnixSocket or Servers
	Port          int    // 0 with UnixSocket or Servers
	UnixSocket    string
	Servers       []string // host:port of several memcached servers, keys spread by ketama hashing
	Family        Family
	Protocol      Protocol
	User          string // "": only a password
	Password      string
	Authenticate  bool   // User and Password are to be sent
	URI           string // its parts are in the other fields
	DB            int
	Cluster       bool
	TLS           bool
	Cert          string
	Key           string // Cert if not given
	CACert        string
	TLSSkipVerify bool
	TLSMin        uint16 // as in crypto/tls
	TLSMax        uint16
	SNI           string

	// How much, how fast, how long.
	Requests       uint64 // per client; 0 with AllKeys or TestTime
	AllKeys        bool   // each key once: the whole range per client, with pattern P the client's part of it
	TestTime       int    // seconds; 0: by Requests
	Clients        int    // per thread
	Threads        int
	RunCount       int
	Ratio          Ratio // sets, gets
	Pipeline       int
	ConnectionRate uint64  // --rate-limiting: per connection and second; 0: none
	Rate           float64 // planned requests per second of all connections together; 0: none
	Poisson        bool    // arrivals of either rate
	Ticks          bool    // likewise: all connections together, ticksPerSecond times
	Ramp           *Ramp   // of either rate; nil: none
	Warmup         time.Duration
	ClientsStart   int // staircase; 0: none
	ClientsStep    int
	StepDuration   int // seconds
	MultiKeyGet    int // keys of a get; 0: one
	WaitRatio      Ratio
	NumSlaves      Range
	WaitTimeout    Range // ms
	JitterMin      int   // µs between the connections of a thread
	JitterMax      int

	// Connections that break.
	ReconnectInterval int // requests; 0: never
	ReconnectOnError  bool
	ReconnectMost     int     // attempts; 0: no limit
	BackoffFactor     float64 // 0: no growth
	ConnectionTimeout int     // seconds; 0: none

	// Keys.
	KeyPrefix     string
	KeyMin        uint64
	KeyMax        uint64
	SetPattern    Pattern
	GetPattern    Pattern
	KeyStddev     float64 // 0: a sixth of the range
	KeyMedian     float64 // 0: the middle of the range
	KeyZipfExp    float64
	Seed          uint64
	Randomize     bool // Seed is to be drawn
	DistinctSeeds bool // --distinct-client-seed; clients have distinct streams anyway

	// Values.
	DataSize     int // 0 with one of the next two
	DataSizes    Range
	DataSizeList []Weighted
	SizePattern  Pattern // R or S, of DataSizes
	DataOffset   int
	RandomData   bool
	Verify       bool  // values are derived from their keys, and checked when read; so are their sizes
	Expiry       Range // seconds
	DataImport   string
	DataVerify   bool // read what was set and compare, after the load; also with VerifyOnly
	VerifyOnly   bool // without the load
	GenerateKeys bool
	NoExpiry     bool

	// Commands instead of sets and gets.
	Commands       []Command
	ByLine         bool // --command-stats-breakdown=line
	MonitorInput   string
	MonitorRandom  bool
	Monitor        *Monitor // the commands of MonitorInput; nil before Prepare
	ScanIncrement  bool
	ScanIterations int // 0: to the end of the cursor

	// Outputs.
	OutFile        string
	JSONOutFile    string
	ClientStats    string
	HDRFilePrefix  string
	ShowConfig     bool
	HideHistogram  bool
	Percentiles    []float64
	PrintAllRuns   bool
	StatsdHost     string
	StatsdPort     int
	StatsdPrefix   string
	StatsdRunLabel string
	GraphitePort   int
	Debug          int
	Quiet          bool
	Top            bool
	MissRate       float64 // the run has failed when more than this percentage of keys is missed; negative: it has not
	// How this program does it.
	Blind          bool
	IO             string
	NoServerStats  bool
	Agents         []string // host:port
	AgentTokenFile string

	// What Prepare finds.
	Addresses    [][]string // host:port of each server, the host an IP address; nil with UnixSocket or Agents
	ImportedKeys [][]byte   // of DataImport, without GenerateKeys
	AgentToken   string

	Warnings []string // lines without program name and line end

	args  []string            // as given
	given map[string][]string // arguments by long name; "" for those that take none
}

// Defaults are the settings without any option.
func Defaults() *Options {
	return &Options{
		Server: "localhost", Port: 6379, Family: AnyFamily, Protocol: Redis,
		Requests: 10000, Clients: 50, Threads: 4, RunCount: 1, Ratio: Ratio{1, 10}, Pipeline: 1,
		KeyPrefix: "memtier-", KeyMax: 10000000, SetPattern: 'R', GetPattern: 'R', KeyZipfExp: 1, Seed: 1,
		DataSize: 32, SizePattern: 'R', Percentiles: slices.Clone(output.DefaultPercentiles),
		StatsdPort: 8125, StatsdPrefix: "memtier", StatsdRunLabel: "default", GraphitePort: 8080,
		MissRate: -1, IO: "auto",
		given: map[string][]string{},
	}
}

// Given says whether the option was on the command line.
func (o *Options) Given(long string) bool { return len(o.given[long]) > 0 }

// Args are the words that Parse was given.
func (o *Options) Args() []string { return o.args }

// Connections is the number of clients of all threads together.
func (o *Options) Connections() int { return o.Clients * o.Threads }

// Stairs are the numbers of clients per thread that a staircase has in each second of TestTime; nil: there is none.
func (o *Options) Stairs() []int {
	if o.ClientsStart == 0 {
		return nil
	}
	return o.staircase().Active()
}

// staircase that the options plan; ClientsStart is not 0.
func (o *Options) staircase() *output.Staircase {
	return &output.Staircase{Start: o.ClientsStart, Step: o.ClientsStep, Most: o.Clients, Every: o.StepDuration, Seconds: o.TestTime}
}

// Begin is when a client of a thread, counted from 0, starts in a staircase; never is false if the test is over before.
func (o *Options) Begin(client int) (at time.Duration, ever bool) {
	if o.ClientsStart == 0 || client < o.ClientsStart {
		return 0, true
	}
	steps := (client-o.ClientsStart)/o.ClientsStep + 1
	if steps > math.MaxInt32/o.StepDuration {
		return 0, false
	}
	return time.Duration(steps*o.StepDuration) * time.Second, steps*o.StepDuration < o.TestTime
}

// problem is a command line or a set-up that is wrong.
type problem struct {
	code int
	text string
}

func (p *problem) exit(prog string) *config.Exit {
	return &config.Exit{Code: p.code, Stderr: prog + ": " + oneLine(p.text) + "\n"}
}

// oneLine keeps what came with the command line from breaking the line or the terminal.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7f {
			return '?'
		}
		return r
	}, s)
}
