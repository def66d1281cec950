package config

import (
	"math"
	"strings"
)

// options are the letters and long names, in the order of -h; the words of -o are in words.go. Texts of errors and of
// -h are memcached's, byte for byte: scripts match on them.
var options = []Row{
	{Short: 'p', Long: "port", Arg: Required, Meta: "num", Default: "11211", Bounds: "-1 … 65535",
		Help: "-p, --port=<num>          TCP port to listen on (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.Port} },
		Doc:  "TCP port to listen on. 0 turns TCP off, -1 takes a free port.",
		set: func(p *parser, arg string) *Exit {
			p.tcpGiven = true
			p.m.Port = atoi(arg)
			return nil
		}},
	{Short: 'U', Long: "udp-port", Arg: Required, Meta: "num", Default: "0, off", Bounds: "-1 … 65535",
		Help: "-U, --udp-port=<num>      UDP port to listen on (default: %d, off)\n",
		show: func(m *Memcached) []any { return []any{m.UDPPort} },
		Doc:  "UDP port to listen on. Given without -p, TCP uses the same number. -1 takes a free port.",
		set: func(p *parser, arg string) *Exit {
			p.udpGiven = true
			p.m.UDPPort = atoi(arg)
			return nil
		}},
	{Short: 's', Long: "unix-socket", Arg: Required, Meta: "file",
		Help: "-s, --unix-socket=<file>  UNIX socket to listen on (disables network support)\n",
		Doc:  "Unix socket to listen on, instead of TCP and UDP. A socket left over at that path is removed first.",
		set:  text(func(m *Memcached) *string { return &m.Socket })},
	{Short: 'a', Long: "unix-mask", Arg: Required, Meta: "mask", Default: "700",
		Help: "-a, --unix-mask=<mask>    access mask for UNIX socket, in octal (default: %o)\n",
		show: func(m *Memcached) []any { return []any{m.SocketMode} },
		Doc:  "Permissions of the unix socket, in octal.",
		set: func(p *parser, arg string) *Exit {
			p.m.SocketMode = octal(arg)
			return nil
		}},
	{Short: 'A', Long: "enable-shutdown",
		Help: "-A, --enable-shutdown     enable ascii \"shutdown\" command\n",
		Doc:  "Allow the shutdown command.",
		set:  to(func(m *Memcached) *bool { return &m.Shutdown }, true)},
	{Short: 'l', Long: "listen", Arg: Required, Meta: "addr", Default: "any",
		Help: "-l, --listen=<addr>       interface to listen on (default: INADDR_ANY)\n" +
			"                          can specify multiple comma separated listeners configured with different protocols\n" +
			"                          format: proto[<protcol>]:tag[<name>]:ip:port\n" +
			"                          i.e -l proto[binary]:tag[services]:127.0.0.1:11211,proto[ascii]:tag_tools_:127.0.0.1:11212\n" +
			"                          if TLS/SSL is enabled, 'notls', 'btls', 'mtls' prefix can be used to\n" +
			"                          specify for specific listeners no tls, basic tls, or peer-auth tls (i.e -l mtls:proto[ascii]:tag_tools_:127.0.0.1:11212\n",
		Doc: "Addresses to listen on, separated by commas or semicolons; may be repeated. Each is " +
			"[notls:|btls:|mtls:][proto[ascii|binary|negotiating]:][tag[name]:]host[:port], the host an IPv4 address, an " +
			"IPv6 address in brackets, a name, or * for any. The first prefix says, with -Z, whether the listener is plain, " +
			"TLS without client certificates, or TLS with required ones.",
		set: func(p *parser, arg string) *Exit {
			switch {
			case p.m.InterText == "":
				p.m.InterText = arg
			case !strings.Contains(p.m.InterText, arg): // repeated on purpose or by wrappers: once is enough
				p.m.InterText += "," + arg
			}
			p.listenGiven = true
			return nil
		}},
	{Short: 'd', Long: "daemon",
		Help: "-d, --daemon              run as a daemon\n",
		Doc: "Run in the background. The command returns once the server listens, with the exit status of the server if " +
			"it does not come that far. The working directory becomes / (not with -r), output goes to /dev/null (not with -v).",
		set: to(func(m *Memcached) *bool { return &m.Daemon }, true)},
	{Short: 'r', Long: "enable-coredumps",
		Help: "-r, --enable-coredumps    maximize core file limit\n",
		Doc:  "Raise the limit for core files and dump one on a crash.",
		set:  to(func(m *Memcached) *bool { return &m.CoreDumps }, true)},
	{Short: 'u', Long: "user", Arg: Required, Meta: "user",
		Help: "-u, --user=<user>         assume identity of <username> (only when run as root)\n",
		Doc:  "User to become once the addresses are bound. Required when started by root.",
		set:  text(func(m *Memcached) *string { return &m.User })},
	{Short: 'm', Long: "memory-limit", Arg: Required, Meta: "num", Default: "64",
		Help: "-m, --memory-limit=<num>  item memory in megabytes (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.MaxBytes >> 20} },
		Doc:  "Memory for items, index included, in megabytes.",
		set: func(p *parser, arg string) *Exit {
			p.m.MaxBytes = int64(atoi(arg)) << 20
			if p.m.MaxBytes < 0 { // taken as unsigned by memcached: without a limit
				p.m.MaxBytes = noLimit
			}
			return nil
		}},
	{Short: 'M', Long: "disable-evictions",
		Help: "-M, --disable-evictions   return error on memory exhausted instead of evicting\n",
		Doc:  "When memory is used up answer writes with an error instead of evicting items.",
		set:  to(func(m *Memcached) *bool { return &m.Evict }, false)},
	{Short: 'c', Long: "conn-limit", Arg: Required, Meta: "num", Default: "1024", Bounds: "≥ 1",
		Help: "-c, --conn-limit=<num>    max simultaneous connections (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.MaxConns} },
		Doc:  "Connections at the same time. The limit for open files is raised to match.",
		set: number(func(m *Memcached) *int { return &m.MaxConns }, 1, math.MaxInt32,
			"Maximum connections must be greater than 0", "")},
	{Short: 'k', Long: "lock-memory",
		Help: "-k, --lock-memory         lock down all paged memory\n",
		Doc:  "Lock the memory of the process, so that it is never swapped out.",
		set:  to(func(m *Memcached) *bool { return &m.LockMemory }, true)},
	{Short: 'v', Long: "verbose", Arg: Optional,
		Help: "-v, --verbose             verbose (print errors/warnings while in event loop)\n" +
			"-vv                       very verbose (also print client commands/responses)\n" +
			"-vvv                      extremely verbose (internal state transitions)\n",
		Doc: "Say more on standard error; repeat for more.",
		set: func(p *parser, _ string) *Exit { p.m.Verbosity++; return nil }},
	{Short: 'h', Long: "help",
		Help: "-h, --help                print this help and exit\n",
		Doc:  "Print all options and exit.",
		set:  func(p *parser, _ string) *Exit { return &Exit{Stdout: p.usage(p.m)} }},
	{Short: 'i', Long: "license",
		Help: "-i, --license             print memcached and libevent license\n",
		Doc:  "Print the licence and exit.",
		set: func(*parser, string) *Exit {
			return &Exit{Stdout: "memcached " + MemcachedVersion + "\n\n" + License}
		}},
	{Short: 'V', Long: "version",
		Help: "-V, --version             print version and exit\n",
		Doc:  "Print the version of memcached that this server equals, and exit.",
		set:  func(*parser, string) *Exit { return &Exit{Stdout: "memcached " + MemcachedVersion + "\n"} }},
	{Short: 'P', Long: "pidfile", Arg: Required, Meta: "file",
		Help: "-P, --pidfile=<file>      save PID in <file>, only used with -d option\n",
		Doc:  "Write the process id to this file once the server listens. With -d the file is removed at exit.",
		set:  text(func(m *Memcached) *string { return &m.PidFile })},
	{Short: 'f', Long: "slab-growth-factor", Arg: Required, Meta: "num", Default: "1.25", Bounds: "> 1",
		Help: "-f, --slab-growth-factor=<num> chunk size growth factor (default: %2.2f)\n",
		show: func(m *Memcached) []any { return []any{m.GrowthFactor} },
		Doc:  "Growth of the size classes. Items are counted by class in the statistics; memory is not cut by it.",
		set: ratio(func(m *Memcached) *float64 { return &m.GrowthFactor }, 1, math.MaxFloat64,
			"Factor must be greater than 1")},
	{Short: 'n', Long: "slab-min-size", Arg: Required, Meta: "bytes", Default: "48", Bounds: "≥ 1",
		Help: "-n, --slab-min-size=<bytes> min space used for key+value+flags (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.ChunkSize} },
		Doc:  "Size of the smallest class (see -f).",
		set: number(func(m *Memcached) *int { return &m.ChunkSize }, 1, math.MaxInt32,
			"Chunk size must be greater than 0", "")},
	{Short: 'L', Long: "enable-largepages",
		Help:     "-L, --enable-largepages  try to use large memory pages (if available)\n",
		Doc:      "Use large memory pages.",
		NoEffect: "large pages are used wherever they fit the limit",
		set:      to(func(m *Memcached) *bool { return &m.LargePages }, true)},
	{Short: 'D', Arg: Required, Meta: "char", Default: ":",
		Help: "-D <char>     Use <char> as the delimiter between key prefixes and IDs.\n" +
			"              This is used for per-prefix stats reporting. The default is\n" +
			"              \"%c\" (colon). If this option is specified, stats collection\n" +
			"              is turned on automatically; if not, then it may be turned on\n" +
			"              by sending the \"stats detail on\" command to the server.\n",
		show: func(m *Memcached) []any { return []any{m.PrefixDelim} },
		Doc:  "Delimiter between the prefix of a key and the rest, for stats detail, which this turns on.",
		set: func(p *parser, arg string) *Exit {
			if arg == "" {
				return bad(1, "No delimiter specified")
			}
			p.m.PrefixDelim, p.m.Detail = arg[0], true
			return nil
		}},
	{Short: 't', Long: "threads", Arg: Required, Meta: "num", Default: "4", Bounds: "≥ 1",
		Help: "-t, --threads=<num>       number of threads to use (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.Threads} },
		Doc: "Event loops, each on a thread of its own. Without this option there are no more than the machine has " +
			"cores.",
		set: func(p *parser, arg string) *Exit {
			if p.m.Threads = atoi(arg); p.m.Threads <= 0 {
				return bad(1, "Number of threads must be greater than 0")
			}
			if p.m.Threads > 64 {
				p.warnings.WriteString("WARNING: Setting a high number of workerthreads is not recommended.\n" +
					" Set this value to the number of cores in your machine or less.\n")
			}
			p.m.ThreadsGiven = true
			return nil
		}},
	{Short: 'R', Long: "max-reqs-per-event", Arg: Required, Meta: "num", Default: "20", Bounds: "≥ 1",
		Help: "-R, --max-reqs-per-event  maximum number of requests per event, limits the\n" +
			"                          requests processed per connection to prevent \n" +
			"                          starvation (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.ReqsPerEvent} },
		Doc:  "Requests of one connection that are answered before others get their turn.",
		set: number(func(m *Memcached) *int { return &m.ReqsPerEvent }, 1, math.MaxInt32,
			"Number of requests per event must be greater than 0", "")},
	{Short: 'C', Long: "disable-cas",
		Help: "-C, --disable-cas         disable use of CAS\n",
		Doc:  "Keep no CAS ids: gets shows 0 and every cas answers EXISTS.",
		set:  to(func(m *Memcached) *bool { return &m.CAS }, false)},
	{Short: 'b', Long: "listen-backlog", Arg: Required, Meta: "num", Default: "1024",
		Help: "-b, --listen-backlog=<num> set the backlog queue limit (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.Backlog} },
		Doc:  "Connections that may wait to be accepted.",
		set:  any32(func(m *Memcached) *int { return &m.Backlog })},
	{Short: 'B', Long: "protocol", Arg: Required, Meta: "name", Default: "auto", Bounds: "auto, ascii, binary",
		Help: "-B, --protocol=<name>     protocol - one of ascii, binary, or auto (default: %s)\n",
		show: func(m *Memcached) []any { return []any{m.Protocol.String()} },
		Doc:  "Protocol of the listeners; auto goes by the first byte of each connection.",
		set: func(p *parser, arg string) *Exit {
			proto, ok := map[string]Protocol{"auto": Auto, "ascii": ASCII, "binary": Binary}[arg]
			if !ok {
				return bad(ExitUsage, "Invalid value for binding protocol: %s\n"+
					" -- should be one of auto, binary, or ascii", arg)
			}
			p.m.Protocol, p.protocolGiven = proto, true
			return nil
		}},
	{Short: 'I', Long: "max-item-size", Arg: Required, Meta: "num", Default: "1m", Bounds: "1k … 1024m, at most half of -m",
		Help: "-I, --max-item-size=<num> adjusts max item size\n" +
			"                          (default: %dm, min: 1k, max: 1024m)\n",
		show: func(m *Memcached) []any { return []any{m.ItemSizeMax >> 20} },
		Doc:  "Largest item, in bytes or with k or m behind the number. More than 1m must be a multiple of slab_chunk_max.",
		set: func(p *parser, arg string) *Exit {
			v := int32(atoi(arg)) // products wrap as they do in memcached
			switch {
			case arg == "":
			case strings.ContainsAny(arg[len(arg)-1:], "kK"):
				v <<= 10
			case strings.ContainsAny(arg[len(arg)-1:], "mM"):
				v <<= 20
			}
			p.m.ItemSizeMax = int64(v)
			return nil
		}},
	{Short: 'S', Long: "enable-sasl",
		Help: "-S, --enable-sasl         turn on Sasl authentication\n",
		Doc:  "Require SASL authentication (binary protocol only). Users come from the file that MEMCACHED_SASL_PWDB names.",
		set:  to(func(m *Memcached) *bool { return &m.SASL }, true)},
	{Short: 'F', Long: "disable-flush-all",
		Help: "-F, --disable-flush-all   disable flush_all command\n",
		Doc:  "Refuse flush_all.",
		set:  to(func(m *Memcached) *bool { return &m.FlushEnabled }, false)},
	{Short: 'X', Long: "disable-dumping",
		Help: "-X, --disable-dumping     disable stats cachedump, stats detail, and lru_crawler metadump\n",
		Doc:  "Refuse stats cachedump, stats detail, lru_crawler metadump and mgdump.",
		set:  to(func(m *Memcached) *bool { return &m.DumpEnabled }, false)},
	{Short: 'W', Long: "disable-watch",
		Help: "-W  --disable-watch       disable watch commands (live logging)\n",
		Doc:  "Refuse watch.",
		set:  to(func(m *Memcached) *bool { return &m.WatchEnabled }, false)},
	{Short: 'Y', Long: "auth-file", Arg: Required, Meta: "file",
		Help: "-Y, --auth-file=<file>    (EXPERIMENTAL) enable ASCII protocol authentication. format:\n" +
			"                          user:pass\\nuser2:pass2\\n\n",
		Doc: "Require authentication by the text protocol. The file has one user:password per line, at most eight, and is " +
			"read again on SIGHUP.",
		set: text(func(m *Memcached) *string { return &m.AuthFile })},
	{Short: 'e', Long: "memory-file", Arg: Required, Meta: "file",
		Help: "-e, --memory-file=<file>  (EXPERIMENTAL) mmap a file for item memory.\n" +
			"                          use only in ram disks or persistent memory mounts!\n" +
			"                          enables restartable cache (stop with SIGUSR1)\n",
		Doc: "Keep all items in this file, so that a server that was stopped by SIGUSR1 and is started again with the same " +
			"settings has them still. The file belongs on a RAM disk: it is written all the time. What else is needed goes to " +
			"a second file, with .meta at the end of its name, when the server stops.",
		set: text(func(m *Memcached) *string { return &m.MemoryFile })},
	{Short: 'Z', Long: "enable-ssl",
		Help: "-Z, --enable-ssl          enable TLS/SSL\n",
		Doc:  "Speak TLS on all TCP listeners. Needs -o ssl_chain_cert and, if the key is not in that file, ssl_key.",
		set:  to(func(m *Memcached) *bool { return &m.TLS }, true)},
	{Short: 'o', Long: "extended", Arg: Required, Meta: "list",
		Help: "-o, --extended            comma separated list of extended options\n" +
			"                          most options have a 'no_' prefix to disable\n",
		Doc: "Extended settings, separated by commas; see below.",
		set: (*parser).extended},
	{Short: 'N', Long: "napi-ids", Arg: Required, Meta: "num", Default: "0", Bounds: "1 … threads",
		Help:     "-N, --napi_ids            number of napi ids. see doc/napi_ids.txt for more details\n",
		Doc:      "Deal connections to threads by the receive queue of the network card.",
		NoEffect: "connections are dealt to the loop with the fewest",
		set: number(func(m *Memcached) *int { return &m.NapiIDs }, 1, math.MaxInt32,
			"Maximum number of NAPI IDs must be greater than 0", "")},
	{Long: "admin", Arg: Required, Meta: "addr", Default: "off",
		Help: "--admin=<addr>            HTTP address for metrics, health and profiles (default: off)\n",
		Doc:  "Serve metrics, health and profiles over HTTP on this address. Keep it away from strangers.",
		set:  text(func(m *Memcached) *string { return &m.Admin })},
	{Long: "io", Arg: Required, Meta: "driver", Default: "auto", Bounds: "auto, epoll, io_uring, std",
		Help: "--io=<driver>             network driver: auto, epoll, io_uring or std (default: %s)\n",
		show: func(m *Memcached) []any { return []any{m.IO} },
		Doc:  "Network driver. auto is io_uring where the kernel allows it, else epoll; outside Linux std, a goroutine for each connection.",
		set: func(p *parser, arg string) *Exit {
			if !strings.Contains("|auto|epoll|io_uring|std|", "|"+arg+"|") {
				return bad(ExitUsage, "Invalid value for io: %s\n -- should be one of auto, epoll, io_uring, or std", arg)
			}
			p.m.IO = arg
			return nil
		}},
}

// noLimit is more memory than any machine has, and still far from the end of an int64.
const noLimit = 1 << 44
