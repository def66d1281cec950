// Package config holds the settings of the server: one row per setting with names, type, bounds, default, help text and
// effect. It parses memcached's command line exactly as memcached does.
package config

// Memcached are the settings of the memcached door, in the order of `stats settings`. Units are in the names or comments.
type Memcached struct {
	MaxBytes                    int64    // -m, bytes
	MaxConns                    int      // -c
	Port                        int      // -p; -1: ephemeral, 0: none
	UDPPort                     int      // -U; 0: off
	Inter                       []Listen // -l; empty: any
	InterText                   string   // -l as given (several joined by commas), for stats settings
	Verbosity                   int      // -v; changed at run time through Env, not here
	Evict                       bool     // not -M
	Socket                      string   // -s
	SocketMode                  uint32   // -a, permission bits
	Shutdown                    bool     // -A
	GrowthFactor                float64  // -f
	ChunkSize                   int      // -n
	Threads                     int      // -t
	ThreadsGiven                bool     // -t was given: start exactly so many loops, however few cores there are
	PrefixDelim                 byte     // -D
	Detail                      bool     // stats detail on from the start
	ReqsPerEvent                int      // -R
	CAS                         bool     // not -C
	Backlog                     int      // -b
	Protocol                    Protocol // -B
	SASL                        bool     // -S
	AuthFile                    string   // -Y
	ItemSizeMax                 int64    // -I, bytes
	MaxConnsFast                bool
	HashpowerInit               int
	SlabReassign                bool
	SlabAutomove                int
	SlabAutomoveRatio           float64
	SlabAutomoveWindow          int
	SlabChunkMax                int // bytes
	SlabSizes                   []int
	Crawler                     bool
	CrawlerSleep                int // microseconds
	CrawlerToCrawl              uint32
	TailRepairTime              int
	FlushEnabled                bool // not -F
	DumpEnabled                 bool // not -X
	WatchEnabled                bool // not -W
	HashAlgorithm               string
	Maintainer                  bool
	Segmented                   bool
	HotPct, WarmPct             int
	HotMaxFactor, WarmMaxFactor float64
	TempLRU                     bool
	TemporaryTTL                int
	IdleTimeout                 int   // seconds; 0: off
	WatcherLogbuf, WorkerLogbuf int   // bytes
	ReadBufMemLimit             int64 // bytes; 0: off
	TrackSizes                  bool
	DropPrivileges              bool

	TLS             bool // -Z
	SSLChainCert    string
	SSLKey          string
	SSLVerifyMode   int
	SSLKeyFormat    int
	SSLCiphers      string
	SSLCACert       string
	SSLWbufSize     int // bytes
	SSLSessionCache bool
	SSLKernelTLS    bool
	SSLMinVersion   int // 0: TLS1.0 … 3: TLS1.3

	MemoryFile   string // -e
	NapiIDs      int    // -N
	User         string // -u
	Daemon       bool   // -d
	PidFile      string // -P
	LockMemory   bool   // -k
	LargePages   bool   // -L
	CoreDumps    bool   // -r
	SockCookieID uint32

	// Ours
	Warnings string   // lines for stderr at once
	Notices  []string // lines for stderr once the server listens: options given that have no effect here
	Admin    string   // --admin ADDR: metrics, health, pprof
	IO       string   // --io=auto|epoll|io_uring|std
}

// Defaults are memcached's.
func Defaults() *Memcached {
	return &Memcached{
		MaxBytes: 64 << 20, MaxConns: 1024, Port: 11211, Evict: true, SocketMode: 0o700, GrowthFactor: 1.25, ChunkSize: 48,
		Threads: 4, PrefixDelim: ':', ReqsPerEvent: 20, CAS: true, Backlog: 1024, ItemSizeMax: 1 << 20, MaxConnsFast: true,
		SlabReassign: true, SlabAutomove: 1, SlabAutomoveRatio: 0.8, SlabAutomoveWindow: 10, SlabChunkMax: slabPage / 2,
		Crawler: true, CrawlerSleep: 100, FlushEnabled: true, DumpEnabled: true, WatchEnabled: true,
		HashAlgorithm: "murmur3", Maintainer: true, Segmented: true, HotPct: 20, WarmPct: 40, HotMaxFactor: 0.2,
		WarmMaxFactor: 2, TemporaryTTL: 61, WatcherLogbuf: 256 << 10, WorkerLogbuf: 64 << 10,
		SSLKeyFormat: 1, SSLWbufSize: 16 << 10, SSLMinVersion: 2, IO: "auto",
	}
}

// slabPage is the size of memcached's slab pages: limits of -I and slab_chunk_max derive from it.
const slabPage = 1 << 20

// Listen is one entry of -l.
type Listen struct {
	Host      string // "" or "*": any
	Port      int    // if PortGiven; else that of -p or -U. -1 and 0: a free one
	PortGiven bool
	Proto     Protocol
	TLS       ListenTLS
	Tag       string
}

// ListenTLS is the TLS prefix of an -l entry.
type ListenTLS uint8

const (
	TLSDefault ListenTLS = iota // TLS if -Z
	TLSNone                     // notls:
	TLSBasic                    // btls: without client certificates
	TLSMutual                   // mtls: client certificates required
)

// Protocol a listener speaks.
type Protocol uint8

const (
	Auto Protocol = iota
	ASCII
	Binary
)
