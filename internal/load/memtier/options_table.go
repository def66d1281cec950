package memtier

import (
	"math"
	"strconv"
)

// row is one option: all that parsing, --help, the man page and the tests know about it.
type row struct {
	Long    string
	Short   byte
	Alias   string // long name of the row that this is another name of
	Meta    string // what the value is; "": the option takes none
	Default string
	Bounds  string // if they are not Lo and Hi
	Lo, Hi  int64  // of whole numbers
	Example string // a value, where the default is none
	Group   group
	Own     bool // memtier_benchmark does not have it
	Help    string
	set     setter
	Only    family // protocols it is for
	OnlyWhy string
	Not     []rule // options it cannot be given with
	Needs   []rule // options that must be given with it: one of those in a rule
}

// rule about another option. Long names are separated by |.
type rule struct {
	Other string
	Code  int // exit status; 0: a warning
	Why   string
}

type family uint8

const (
	anyProtocol family = iota
	respOnly
	memcachedOnly
)

type group uint8

const (
	groupConnection group = iota
	groupResults
	groupLoad
	groupCommands
	groupObjects
	groupImported
	groupKeys
	groupWait
	groupEngine
	groups
)

// titles of groups in --help and the man page, with what there is to know of a group as a whole.
var titles = [groups]struct{ name, text string }{
	groupConnection: {"Connection", "Where to connect to, and how."},
	groupResults:    {"Results", "Tables go to standard output, progress and warnings to standard error."},
	groupLoad: {"Load", "Each thread has its own clients, each client one connection. Without a rate, requests follow answers: a slow " +
		"server is asked less. With one they are planned in advance, and latency counts from the planned time."},
	groupCommands: {"Commands", "Commands of Redis, instead of sets and gets. Each is sent as often in a row as its ratio says, in the " +
		"order given."},
	groupObjects:  {"Values", "What is stored."},
	groupImported: {"Imported data", "Keys and values from a file, as memcached's dump tools write it."},
	groupKeys: {"Keys", "A key is the prefix and a number. Patterns that choose the number: R uniform, G Gauss, Z zipf (low numbers " +
		"are the hot ones), S sequential, all clients alike, P sequential, each client its own part of the range."},
	groupWait:   {"WAIT", "Waiting for replicas after sets, with Redis."},
	groupEngine: {"How the load is made", "None of these is in memtier_benchmark."},
}

const (
	maxInt  = math.MaxInt32
	maxSize = 1 << 30
	maxKey  = math.MaxInt64
)

// Reasons that several rules share.
const (
	oneSize    = "there is one way to choose sizes of values"
	tcpOrUnix  = "connections go to one place"
	fileValues = "sizes and contents of values come from the file"
	fileKeys   = "keys come from the file; --generate-keys makes them of these options"
	noAnswers  = "answers are not looked at"
)

// table of options, in the order of --help.
var table = []row{
	{Long: "server", Short: 's', Meta: "ADDR", Default: "localhost", Group: groupConnection, Example: "10.0.0.1",
		Help: "Host name or address of the server. Of several addresses of a name, connections take turns.",
		set:  text(func(o *Options) *string { return &o.Server })},
	{Long: "host", Short: 'h', Alias: "server", Meta: "ADDR", Default: "localhost", Group: groupConnection, Example: "10.0.0.1",
		Help: "The same as --server. (-h is not help; --help is.)",
		set:  text(func(o *Options) *string { return &o.Server })},
	{Long: "port", Short: 'p', Meta: "PORT", Default: "6379", Lo: 1, Hi: 65535, Group: groupConnection,
		Help: "Port of the server. memcached listens on 11211.",
		set:  number(func(o *Options) *int { return &o.Port })},
	{Long: "unix-socket", Short: 'S', Meta: "FILE", Example: "/run/memcached.sock", Group: groupConnection,
		Help: "Unix socket to connect to, instead of host and port.",
		set:  text(func(o *Options) *string { return &o.UnixSocket }),
		Not:  []rule{{"server|port|uri", ExitSetup, tcpOrUnix}}},
	{Long: "servers", Meta: "LIST", Example: "10.0.0.1:11211,10.0.0.2:11211", Group: groupConnection, Own: true,
		Help: "Several memcached servers, host:port separated by commas. Keys are spread over them by ketama hashing.",
		set:  setServers, Only: memcachedOnly, OnlyWhy: "servers of Redis spread keys with --cluster-mode",
		Not: []rule{
			{"server|port|unix-socket|uri", ExitUsage, "the list says where all servers are"},
			{"data-verify|verify-only", ExitUsage, "values are read back from one server"},
			{"blind", ExitUsage, "each server is told apart by its answers"},
		}},
	{Long: "ipv4", Short: '4', Group: groupConnection, Help: "Look names up for IPv4 addresses only.",
		set: to(func(o *Options) *Family { return &o.Family }, IPv4),
		Not: []rule{{"ipv6", ExitUsage, "each excludes the addresses of the other"}}},
	{Long: "ipv6", Short: '6', Group: groupConnection, Help: "Look names up for IPv6 addresses only.",
		set: to(func(o *Options) *Family { return &o.Family }, IPv6)},
	{Long: "protocol", Short: 'P', Meta: "NAME", Default: "redis", Group: groupConnection,
		Bounds: "redis, resp2, resp3, memcache_text, memcache_binary, memcache_meta",
		Help: "Protocol to speak. resp2 and resp3 begin with HELLO, redis does not. memcache_meta, the meta commands, is not " +
			"in memtier_benchmark.",
		set: word(func(o *Options) *Protocol { return &o.Protocol }, Redis, Resp2, Resp3, Text, Binary, Meta)},
	{Long: "authenticate", Short: 'a', Meta: "CREDENTIALS", Example: "user:password", Group: groupConnection,
		Help: "password, user:password, or a colon and a password that has colons. memcache_binary wants user:password. " +
			"Reports show *** for the password.",
		set: setAuthenticate},
	{Long: "uri", Short: 'u', Meta: "URI", Example: "redis://user:password@localhost:6379/0", Group: groupConnection,
		Help: "redis://[[user]:password@]host[:port][/database], or rediss:// for TLS. %40 and the like stand for characters " +
			"with a meaning. What it says wins over --server, --port, --authenticate, --select-db and --tls.",
		set: text(func(o *Options) *string { return &o.URI }), Only: respOnly, OnlyWhy: "such addresses are for Redis"},
	{Long: "select-db", Meta: "NUMBER", Default: "0", Lo: 0, Hi: maxInt, Group: groupConnection,
		Help: "Database to select.",
		set:  number(func(o *Options) *int { return &o.DB }), Only: respOnly, OnlyWhy: "memcached has no databases"},
	{Long: "cluster-mode", Group: groupConnection,
		Help: "The server is a node of a Redis cluster: keys go to the shards that own them, one connection of each client " +
			"per shard.",
		set: to(func(o *Options) *bool { return &o.Cluster }, true), Only: respOnly,
		OnlyWhy: "clusters are of Redis; --servers names several of memcached",
		Not: []rule{
			{"reconnect-interval", ExitUsage, "connections of a cluster stay open"},
			{"multi-key-get", ExitUsage, "the keys of one request may be on different shards"},
			{"wait-ratio", ExitUsage, "WAIT would have to reach the shard of the set before it"},
			{"unix-socket", ExitUsage, "shards are found by TCP addresses"},
			{"monitor-input", ExitUsage, "the keys of recorded commands are not looked for"},
			{"scan-incremental-iteration", ExitSetup, "SCAN sees one shard"},
			{"data-import", ExitSetup, "keys of a file are not spread over shards"},
		}},
	{Long: "tls", Group: groupConnection, Help: "Encrypt connections, and check the server's certificate unless --tls-skip-verify.",
		set: to(func(o *Options) *bool { return &o.TLS }, true)},
	{Long: "cert", Meta: "FILE", Example: "client.pem", Group: groupConnection,
		Help: "Client certificate to show, PEM.",
		set:  text(func(o *Options) *string { return &o.Cert })},
	{Long: "key", Meta: "FILE", Example: "client.key", Group: groupConnection,
		Help: "Private key of the client certificate, PEM; without it the file of --cert has both.",
		set:  text(func(o *Options) *string { return &o.Key })},
	{Long: "cacert", Meta: "FILE", Example: "ca.pem", Group: groupConnection,
		Help: "Certificates of the authorities to trust, PEM; without it those of the system.",
		set:  text(func(o *Options) *string { return &o.CACert })},
	{Long: "tls-skip-verify", Group: groupConnection, Help: "Take any certificate of the server.",
		set: to(func(o *Options) *bool { return &o.TLSSkipVerify }, true)},
	{Long: "tls-protocols", Meta: "LIST", Default: "TLSv1.2,TLSv1.3", Bounds: "TLSv1, TLSv1.1, TLSv1.2, TLSv1.3, separated by commas",
		Group: groupConnection, Help: "Versions of TLS to offer.", set: setTLSProtocols},
	{Long: "sni", Meta: "NAME", Example: "cache.example.com", Group: groupConnection,
		Help: "Name to ask for when connecting, which the certificate must be for; without it that of --server.",
		set:  text(func(o *Options) *string { return &o.SNI })},
	{Long: "debug", Short: 'D', Group: groupConnection, Help: "Tell on standard error what happens; more if given more often.",
		set: func(o *Options, _ *row, _ string) error { o.Debug++; return nil }},
	{Long: "help", Group: groupConnection, Help: "Print this text.", set: setNothing},
	{Long: "version", Short: 'v', Group: groupConnection, Help: "Print the version.", set: setNothing},

	{Long: "out-file", Short: 'o', Meta: "FILE", Example: "results.txt", Group: groupResults,
		Help: "File for the tables instead of standard output.",
		set:  text(func(o *Options) *string { return &o.OutFile })},
	{Long: "json-out-file", Meta: "FILE", Example: "results.json", Group: groupResults,
		Help: "File for settings and results as JSON.",
		set:  text(func(o *Options) *string { return &o.JSONOutFile })},
	{Long: "client-stats", Meta: "PREFIX", Example: "clients", Group: groupResults,
		Help: "A CSV file per client, PREFIX-run-thread-client.csv, with a line per second.",
		set:  text(func(o *Options) *string { return &o.ClientStats })},
	{Long: "hdr-file-prefix", Meta: "PREFIX", Example: "latency", Group: groupResults,
		Help: "HDR histograms of latency, PREFIX_FULL_RUN_1.hgrm and .txt and so on.",
		set:  text(func(o *Options) *string { return &o.HDRFilePrefix })},
	{Long: "show-config", Group: groupResults, Help: "Print the settings before the run.",
		set: to(func(o *Options) *bool { return &o.ShowConfig }, true)},
	{Long: "hide-histogram", Group: groupResults, Help: "Leave out the ladders of percentiles, in tables and JSON.",
		set: to(func(o *Options) *bool { return &o.HideHistogram }, true)},
	{Long: "print-percentiles", Meta: "LIST", Default: "50,99,99.9", Bounds: "0 … 100, separated by commas", Group: groupResults,
		Help: "Percentiles of latency that tables, JSON and statsd have.", set: setPercentiles},
	{Long: "print-all-runs", Group: groupResults, Help: "With --run-count, results of each run too.",
		set: to(func(o *Options) *bool { return &o.PrintAllRuns }, true)},
	{Long: "command-stats-breakdown", Meta: "HOW", Default: "command", Bounds: "command, line", Group: groupResults,
		Help: "Results per verb (command), or per --command (line); there a verb that comes again gets #2 and so on.",
		set: func(o *Options, _ *row, arg string) error {
			by, err := oneOf(arg, "command", "line")
			o.ByLine = by == "line"
			return err
		}},
	{Long: "fail-on-miss-rate", Meta: "PERCENT", Example: "1", Bounds: "0 … 100", Group: groupResults, Own: true,
		Help: "The exit status is 1 when more than this percentage of the keys read was not found: a load of misses measures " +
			"something else than a load of hits.",
		set: decimal(func(o *Options) *float64 { return &o.MissRate }, 0, 100, true, true),
		Not: []rule{{"command", ExitUsage, "hits and misses of commands are not counted"}}},
	{Long: "quiet", Group: groupResults, Own: true, Help: "No progress on standard error; errors and warnings stay.",
		set: to(func(o *Options) *bool { return &o.Quiet }, true),
		Not: []rule{{"top", ExitUsage, "one is without progress and the other is all progress"}}},
	{Long: "top", Group: groupResults, Own: true, Help: "Progress as a screen with rates, latencies and errors, renewed each second.",
		set: to(func(o *Options) *bool { return &o.Top }, true)},
	{Long: "statsd-host", Meta: "HOST", Example: "localhost", Group: groupResults,
		Help: "Host for gauges over UDP each second, and for Graphite events at begin and end.",
		set:  text(func(o *Options) *string { return &o.StatsdHost })},
	{Long: "statsd-port", Meta: "PORT", Default: "8125", Lo: 1, Hi: 65535, Group: groupResults, Help: "UDP port of statsd.",
		set: number(func(o *Options) *int { return &o.StatsdPort })},
	{Long: "statsd-prefix", Meta: "PREFIX", Default: "memtier", Group: groupResults, Help: "First part of the gauges' names.",
		set: text(func(o *Options) *string { return &o.StatsdPrefix })},
	{Long: "statsd-run-label", Meta: "LABEL", Default: "default", Group: groupResults, Help: "Second part of the gauges' names.",
		set: text(func(o *Options) *string { return &o.StatsdRunLabel })},
	{Long: "graphite-port", Meta: "PORT", Default: "8080", Lo: 1, Hi: 65535, Group: groupResults, Help: "HTTP port for Graphite events.",
		set: number(func(o *Options) *int { return &o.GraphitePort })},

	{Long: "requests", Short: 'n', Meta: "NUMBER", Default: "10000", Lo: 1, Hi: 1e15, Bounds: "1 … 1000000000000000, or allkeys", Group: groupLoad,
		Help: "Requests of each client; the total is this times clients times threads. allkeys: one for each key, from the " +
			"lowest to the highest; with pattern P:P they are divided over the clients.",
		set: setRequests,
		Not: []rule{
			{"test-time", ExitUsage, "a run ends by number or by time"},
			{"clients-start|clients-step|step-duration", ExitUsage, "a staircase ends by time (--test-time)"},
		}},
	{Long: "test-time", Meta: "SECONDS", Example: "60", Lo: 1, Hi: maxInt, Group: groupLoad, Help: "Length of the run, instead of a number of requests.",
		set: func(o *Options, r *row, arg string) error {
			o.Requests = 0
			return number(func(o *Options) *int { return &o.TestTime })(o, r, arg)
		}},
	{Long: "clients", Short: 'c', Meta: "NUMBER", Default: "50", Lo: 1, Hi: 1e6, Group: groupLoad, Help: "Clients of each thread.",
		set: number(func(o *Options) *int { return &o.Clients })},
	{Long: "threads", Short: 't', Meta: "NUMBER", Default: "4", Lo: 1, Hi: 1e4, Group: groupLoad, Help: "Threads.",
		set: number(func(o *Options) *int { return &o.Threads })},
	{Long: "run-count", Short: 'x', Meta: "NUMBER", Default: "1", Lo: 1, Hi: maxInt, Group: groupLoad, Help: "Repetitions of the whole run.",
		set: number(func(o *Options) *int { return &o.RunCount })},
	{Long: "ratio", Meta: "SETS:GETS", Default: "1:10", Bounds: "whole numbers, not both 0", Group: groupLoad,
		Help: "So many sets, then so many gets, and again.", set: ratio(func(o *Options) *Ratio { return &o.Ratio })},
	{Long: "pipeline", Meta: "NUMBER", Default: "1", Lo: 1, Hi: 1e6, Group: groupLoad, Help: "Requests that a client may have unanswered.",
		set: number(func(o *Options) *int { return &o.Pipeline })},
	{Long: "multi-key-get", Meta: "NUMBER", Example: "10", Lo: 1, Hi: 1e5, Group: groupLoad,
		Help: "Keys in each get: a get of several keys, MGET with Redis, quiet gets with memcache_binary and memcache_meta. " +
			"memtier_benchmark has it for memcache_text only.",
		set: number(func(o *Options) *int { return &o.MultiKeyGet }),
		Not: []rule{{"command", 0, "commands have their keys written out"}}},
	{Long: "rate", Meta: "NUMBER", Example: "100000", Bounds: "above 0", Group: groupLoad, Own: true,
		Help: "Requests per second of all connections together, planned in advance. (memtier_benchmark takes --rate for a " +
			"shortened --rate-limiting.)",
		set: decimal(func(o *Options) *float64 { return &o.Rate }, 0, 1e12, false, true),
		Not: []rule{{"rate-limiting", ExitUsage, "one is the rate of all connections, the other that of each"}}},
	{Long: "rate-limiting", Meta: "NUMBER", Example: "1000", Lo: 1, Hi: maxInt, Group: groupLoad,
		Help: "Requests per second of each connection, planned in advance.",
		set:  number(func(o *Options) *uint64 { return &o.ConnectionRate })},
	{Long: "arrival", Meta: "HOW", Default: "constant", Bounds: "constant, poisson, ticks", Group: groupLoad, Own: true,
		Help: "Times between planned requests: equal, or exponentially distributed as those of independent users. With ticks all " +
			"connections send together, 50 times a second, as memtier_benchmark does: for numbers to be compared with its.",
		set: func(o *Options, _ *row, arg string) error {
			how, err := oneOf(arg, "constant", "poisson", "ticks")
			o.Poisson, o.Ticks = how == "poisson", how == "ticks"
			return err
		},
		Needs: []rule{{"rate|rate-limiting", ExitUsage, "without a rate requests follow answers"}}},
	{Long: "ramp", Meta: "START:END:SECONDS", Example: "0.1:1:30", Bounds: "factors, not both 0, and a time above 0", Group: groupLoad, Own: true,
		Help: "Multiply the rate by a factor that goes from START to END in SECONDS and then stays.",
		set:  setRamp, Needs: []rule{{"rate|rate-limiting", ExitUsage, "there is no rate that could grow"}}},
	{Long: "warmup", Meta: "SECONDS", Default: "0", Bounds: "0 … 86400", Group: groupLoad, Own: true,
		Help: "Time at the start of each run that is not counted.",
		set:  setWarmup},
	{Long: "clients-start", Meta: "NUMBER", Example: "10", Lo: 1, Hi: 1e6, Group: groupLoad,
		Help: "Staircase: so many clients per thread at first, below --clients. Needs --clients-step, --step-duration and --test-time.",
		set:  number(func(o *Options) *int { return &o.ClientsStart }), Needs: staircase},
	{Long: "clients-step", Meta: "NUMBER", Example: "10", Lo: 1, Hi: 1e6, Group: groupLoad, Help: "Staircase: so many more with each step.",
		set: number(func(o *Options) *int { return &o.ClientsStep }), Needs: staircase},
	{Long: "step-duration", Meta: "SECONDS", Example: "10", Lo: 1, Hi: maxInt, Group: groupLoad, Help: "Staircase: time between steps.",
		set: number(func(o *Options) *int { return &o.StepDuration }), Needs: staircase},
	{Long: "reconnect-interval", Meta: "NUMBER", Example: "1000", Lo: 1, Hi: maxInt, Group: groupLoad,
		Help: "Requests after which a client closes its connection and opens another.",
		set:  number(func(o *Options) *int { return &o.ReconnectInterval })},
	{Long: "reconnect-on-error", Group: groupLoad, Help: "Open lost connections again. Without it a lost connection ends its client.",
		set: to(func(o *Options) *bool { return &o.ReconnectOnError }, true)},
	{Long: "max-reconnect-attempts", Meta: "NUMBER", Default: "0", Lo: 0, Hi: maxInt, Group: groupLoad,
		Help: "Attempts in a row after which a client gives up; 0: none.",
		set:  number(func(o *Options) *int { return &o.ReconnectMost })},
	{Long: "reconnect-backoff-factor", Meta: "FACTOR", Example: "2", Bounds: "above 0, to 1000", Group: groupLoad,
		Help: "The time between attempts, 1 s at first, grows by this factor each time. Without it, it does not.",
		set:  decimal(func(o *Options) *float64 { return &o.BackoffFactor }, 0, 1000, false, true)},
	{Long: "connection-timeout", Meta: "SECONDS", Default: "0", Lo: 0, Hi: maxInt, Group: groupLoad,
		Help: "Time after which a connection that does not come or does not answer is lost; 0: none.",
		set:  number(func(o *Options) *int { return &o.ConnectionTimeout })},
	{Long: "thread-conn-start-min-jitter-micros", Meta: "NUMBER", Default: "0", Lo: 0, Hi: maxInt, Group: groupLoad,
		Help: "Shortest time in microseconds between the connections of a thread.",
		set:  number(func(o *Options) *int { return &o.JitterMin })},
	{Long: "thread-conn-start-max-jitter-micros", Meta: "NUMBER", Default: "0", Lo: 0, Hi: maxInt, Group: groupLoad,
		Help: "Longest time. Each is drawn at random between the two.",
		set:  number(func(o *Options) *int { return &o.JitterMax })},
	{Long: "seed", Meta: "NUMBER", Default: "1", Lo: 0, Hi: maxKey, Group: groupLoad, Own: true,
		Help: "Start of all that is random: the same seed gives the same requests again. Each client has a sequence of its own.",
		set:  number(func(o *Options) *uint64 { return &o.Seed }),
		Not:  []rule{{"randomize", ExitUsage, "one asks for the same requests again, the other for different ones"}}},
	{Long: "distinct-client-seed", Group: groupLoad,
		Help: "No effect: clients have different sequences anyway, in memtier_benchmark the same without this.",
		set:  to(func(o *Options) *bool { return &o.DistinctSeeds }, true)},
	{Long: "randomize", Group: groupLoad, Help: "Another seed with each start.",
		set: to(func(o *Options) *bool { return &o.Randomize }, true)},

	{Long: "command", Meta: "COMMAND", Example: "SET __key__ __data__", Group: groupCommands,
		Help: "Command to send; repeat it for several. Words may be quoted: \"...\" with \\n, \\r, \\t, \\b, \\a, \\xHH, or '...'. " +
			"__key__ stands for a key, also within a word; __data__, a word of its own, for a value; __monitor_line7__, the whole " +
			"command, for the 7th of --monitor-input and __monitor_line@__ for any.",
		set: setCommand, Only: respOnly, OnlyWhy: "commands are those of Redis",
		Not: []rule{
			{"ratio", ExitUsage, "each command has its --command-ratio"},
			{"key-pattern", ExitUsage, "each command has its --command-key-pattern"},
		}},
	{Long: "command-ratio", Meta: "NUMBER", Default: "1", Lo: 1, Hi: maxInt, Group: groupCommands,
		Help: "Times that the --command before it is sent in a row.", set: setCommandRatio},
	{Long: "command-key-pattern", Meta: "PATTERN", Default: "R", Bounds: "R, G, Z, S, P", Group: groupCommands,
		Help: "Pattern of the keys of the --command before it. P must be that of all commands with keys.", set: setCommandPattern},
	{Long: "monitor-input", Meta: "FILE", Example: "monitor.txt", Group: groupCommands,
		Help: "Commands as redis-cli monitor has printed them, for --command=__monitor_line1__ and the like.",
		set:  text(func(o *Options) *string { return &o.MonitorInput }), Only: respOnly, OnlyWhy: "MONITOR is of Redis"},
	{Long: "monitor-pattern", Meta: "PATTERN", Default: "S", Bounds: "S, R", Group: groupCommands,
		Help: "Order of __monitor_line@__: S as in the file, R at random.",
		set: func(o *Options, _ *row, arg string) error {
			p, err := oneOf(arg, "S", "R")
			o.MonitorRandom = p == "R"
			return err
		}},
	{Long: "scan-incremental-iteration", Group: groupCommands,
		Help: "With one --command=\"SCAN 0 ...\": follow the cursor of each answer to its end, and again. Results are those of " +
			"SCAN 0 and of SCAN <cursor>.",
		set: to(func(o *Options) *bool { return &o.ScanIncrement }, true)},
	{Long: "scan-incremental-max-iterations", Meta: "NUMBER", Default: "0", Lo: 0, Hi: maxInt, Group: groupCommands,
		Help:  "Start again after following the cursor so often; 0: at its end.",
		set:   number(func(o *Options) *int { return &o.ScanIterations }),
		Needs: []rule{{"scan-incremental-iteration", 0, "no cursor is followed"}}},

	{Long: "data-size", Short: 'd', Meta: "BYTES", Default: "32", Lo: 1, Hi: maxSize, Group: groupObjects, Help: "Size of values.",
		set: number(func(o *Options) *int { return &o.DataSize }),
		Not: []rule{{"data-size-range|data-size-list", ExitUsage, oneSize}, {"data-import", ExitSetup, fileValues}}},
	{Long: "data-size-range", Meta: "MIN-MAX", Example: "32-1024", Bounds: "1 … 1073741824", Group: groupObjects,
		Help: "Sizes of values, drawn at random; see --data-size-pattern.",
		set:  setSizes,
		Not:  []rule{{"data-size-list", ExitUsage, oneSize}, {"data-import", ExitSetup, fileValues}}},
	{Long: "data-size-list", Meta: "LIST", Example: "32:9,1024:1", Bounds: "SIZE:WEIGHT,..., sizes 1 … 1073741824", Group: groupObjects,
		Help: "Sizes of values in turn: the first WEIGHT times, then the second, and so on.",
		set:  setSizeList,
		Not:  []rule{{"data-import", ExitSetup, fileValues}}},
	{Long: "data-size-pattern", Meta: "PATTERN", Default: "R", Bounds: "R, S", Group: groupObjects,
		Help: "With --data-size-range: R at random, S growing with the number of the key.",
		set: func(o *Options, _ *row, arg string) error {
			p, err := oneOf(arg, "R", "S")
			o.SizePattern = Pattern(p[0])
			return err
		}},
	{Long: "data-offset", Meta: "BYTES", Default: "0", Lo: 0, Hi: 1<<29 - 1, Group: groupObjects,
		Help: "Write and read values from this offset, by SETRANGE and GETRANGE.",
		set:  number(func(o *Options) *int { return &o.DataOffset }), Only: respOnly, OnlyWhy: "memcached has whole values only",
		Not: []rule{{"expiry-range", ExitUsage, "SETRANGE sets no expiry"}}},
	{Long: "random-data", Short: 'R', Group: groupObjects, Help: "Values are random bytes, else all x.",
		set: to(func(o *Options) *bool { return &o.RandomData }, true),
		Not: []rule{{"data-import", ExitSetup, fileValues}}},
	{Long: "verify", Group: groupObjects, Own: true,
		Help: "Values are made of their keys, and every value read is compared; a wrong one is an error. Sizes of a range or list " +
			"are then those of the keys too. (memtier_benchmark takes --verify for a shortened --verify-only.)",
		set: to(func(o *Options) *bool { return &o.Verify }, true),
		Not: []rule{
			{"data-import", ExitUsage, "--data-verify compares what comes from a file"},
			{"data-offset", ExitUsage, "parts of values cannot be compared"},
			{"multi-key-get", ExitUsage, "values are compared one by one"},
			{"command", ExitUsage, "what commands answer cannot be compared"},
		}},
	{Long: "expiry-range", Meta: "MIN-MAX", Example: "60-3600", Bounds: "0 … 2147483647, not 0-0", Group: groupObjects,
		Help: "Seconds after which values expire, drawn at random.", set: span(func(o *Options) *Range { return &o.Expiry })},

	{Long: "data-import", Meta: "FILE", Example: "dump.csv", Group: groupImported,
		Help: "CSV file with keys and values: the first line is dumpflags, time, exptime, nbytes, nsuffix, it_flags, clsid, nkey, " +
			"key, data; nkey is the length of the key, nbytes that of the data and 2 more.",
		set: text(func(o *Options) *string { return &o.DataImport }),
		Not: []rule{{"command", 0, "commands do not take their keys and values from it"}}},
	{Long: "data-verify", Group: groupImported, Help: "After the run read all that was set, and compare.",
		set:   to(func(o *Options) *bool { return &o.DataVerify }, true),
		Needs: []rule{{"data-import", ExitSetup, "the file has what to compare with"}}},
	{Long: "verify-only", Group: groupImported, Help: "Do only what --data-verify does, without a load.",
		set: func(o *Options, _ *row, _ string) error {
			o.DataVerify, o.VerifyOnly = true, true
			return nil
		},
		Needs: []rule{{"data-import", ExitSetup, "the file has what to compare with"}}},
	{Long: "generate-keys", Group: groupImported, Help: "Keys as the options for keys say, and only values from the file.",
		set:   to(func(o *Options) *bool { return &o.GenerateKeys }, true),
		Needs: []rule{{"data-import", 0, "keys are generated anyway"}}},
	{Long: "no-expiry", Group: groupImported, Help: "Leave out the expiry times of the file.",
		set:   to(func(o *Options) *bool { return &o.NoExpiry }, true),
		Needs: []rule{{"data-import", ExitSetup, "the expiry times are those of the file"}}},

	{Long: "key-prefix", Meta: "PREFIX", Default: "memtier-", Group: groupKeys,
		Help: "First part of keys. memcached takes no more than 250 bytes of prefix and number.",
		set:  text(func(o *Options) *string { return &o.KeyPrefix })},
	{Long: "key-minimum", Meta: "NUMBER", Default: "0", Lo: 1, Hi: maxKey, Group: groupKeys, Example: "1", Help: "Lowest number of keys.",
		set: number(func(o *Options) *uint64 { return &o.KeyMin })},
	{Long: "key-maximum", Meta: "NUMBER", Default: "10000000", Lo: 1, Hi: maxKey, Group: groupKeys, Help: "Highest number of keys.",
		set: number(func(o *Options) *uint64 { return &o.KeyMax })},
	{Long: "key-pattern", Meta: "SET:GET", Default: "R:R", Bounds: "of each R, G, Z, S, P; P for both", Group: groupKeys,
		Help: "Patterns of the keys of sets and of gets. To fill a server once: --key-pattern=P:P --ratio=1:0 --requests=allkeys.",
		set:  setKeyPattern},
	{Long: "key-stddev", Meta: "NUMBER", Default: "a sixth of the range", Example: "1000", Bounds: "above 0", Group: groupKeys,
		Help: "Standard deviation of pattern G.",
		set:  decimal(func(o *Options) *float64 { return &o.KeyStddev }, 0, math.MaxFloat64, false, true)},
	{Long: "key-median", Meta: "NUMBER", Default: "the middle of the range", Example: "5000", Bounds: "above 0, within the range", Group: groupKeys,
		Help: "Median of pattern G.",
		set:  decimal(func(o *Options) *float64 { return &o.KeyMedian }, 0, math.MaxFloat64, false, true)},
	{Long: "key-zipf-exp", Meta: "NUMBER", Default: "1", Bounds: "above 0, below 5", Group: groupKeys,
		Help: "Exponent of pattern Z. The higher, the hotter the hot keys.",
		set:  decimal(func(o *Options) *float64 { return &o.KeyZipfExp }, 0, 5, false, false)},

	{Long: "wait-ratio", Meta: "SETS:WAITS", Example: "10:1", Bounds: "whole numbers, not both 0", Group: groupWait,
		Help: "So many sets, then so many WAITs.",
		set:  ratio(func(o *Options) *Ratio { return &o.WaitRatio }), Only: respOnly, OnlyWhy: "memcached has no replicas",
		Not: []rule{{"command", 0, "WAIT is a command like others then"}}},
	{Long: "num-slaves", Meta: "MIN-MAX", Example: "1-2", Bounds: "0 … 2147483647, not 0-0", Group: groupWait,
		Help: "Replicas to wait for, drawn at random.",
		set:  span(func(o *Options) *Range { return &o.NumSlaves }), Only: respOnly, OnlyWhy: "memcached has no replicas"},
	{Long: "wait-timeout", Meta: "MIN-MAX", Example: "10-100", Bounds: "0 … 2147483647, not 0-0", Group: groupWait,
		Help: "Milliseconds to wait for at most, drawn from a normal distribution around the middle.",
		set:  span(func(o *Options) *Range { return &o.WaitTimeout }), Only: respOnly, OnlyWhy: "memcached has no replicas"},

	{Long: "io", Meta: "DRIVER", Default: "auto", Bounds: "auto, epoll, io_uring, std", Group: groupEngine, Own: true,
		Help: "Event loop of the threads: the fastest there is, one by name, or Go's own.",
		set:  word(func(o *Options) *string { return &o.IO }, "auto", "epoll", "io_uring", "std")},
	{Long: "blind", Group: groupEngine, Own: true,
		Help: "Throw answers away unread, for the most load from the fewest cores. Only requests and bytes are counted: no " +
			"latency, hits or errors.",
		set: to(func(o *Options) *bool { return &o.Blind }, true),
		Not: []rule{
			{"rate|rate-limiting", ExitUsage, "planned requests are measured by their answers"},
			{"verify|data-verify|verify-only|fail-on-miss-rate", ExitUsage, noAnswers},
			{"scan-incremental-iteration|cluster-mode", ExitUsage, noAnswers},
		}},
	{Long: "no-server-stats", Group: groupEngine, Own: true,
		Help: "Do not ask the server for its counters (stats, INFO) before and after each run, in order to compare them with what " +
			"the load counted.",
		set: to(func(o *Options) *bool { return &o.NoServerStats }, true)},
	{Long: "agents", Meta: "LIST", Example: "10.0.0.8:9160,10.0.0.9:9160", Group: groupEngine, Own: true,
		Help: "Machines where godwit agent runs, host:port separated by commas: each makes all the connections, starting together, " +
			"with keys of its own; --rate is of all machines. The results are added up.",
		set: setAgents, Needs: []rule{{"agent-token-file", ExitUsage, "agents work only for those who know their token"}},
		Not: []rule{{"top", ExitUsage, "the screen shows the load of one machine"}}},
	{Long: "agent-token-file", Meta: "FILE", Example: "agent.token", Group: groupEngine, Own: true,
		Help:  "File with the token of the agents.",
		set:   text(func(o *Options) *string { return &o.AgentTokenFile }),
		Needs: []rule{{"agents", ExitUsage, "there is nobody to show it to"}}},
}

var staircase = []rule{
	{"clients-start", ExitUsage, "a staircase begins somewhere"},
	{"clients-step", ExitUsage, "a staircase has steps"},
	{"step-duration", ExitUsage, "the steps of a staircase last some time"},
	{"test-time", ExitSetup, "a staircase ends by time"},
}

var (
	byLong  = map[string]*row{}
	byShort = map[byte]*row{}
)

func init() {
	for i := range table {
		r := &table[i]
		byLong[r.Long] = r
		if r.Short != 0 {
			byShort[r.Short] = r
		}
	}
}

// bounds of the value, for people; "" if there are none.
func (r *row) bounds() string {
	switch {
	case r.Bounds != "":
		return r.Bounds
	case r.Hi != 0:
		return strconv.FormatInt(r.Lo, 10) + " … " + strconv.FormatInt(r.Hi, 10)
	}
	return ""
}

// name that given has the option under.
func (r *row) name() string {
	if r.Alias != "" {
		return r.Alias
	}
	return r.Long
}
