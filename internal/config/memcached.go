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
	Verbosity                   int      // -v; changed at run time through Env, not here
	Evict                       bool     // not -M
	Socket                      string   // -s
	SocketMode                  uint32   // -a, permission bits
	Shutdown                    bool     // -A
	GrowthFactor                float64  // -f
	ChunkSize                   int      // -n
	Threads                     int      // -t
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
	Admin string // --admin ADDR: metrics, health, pprof
	IO    string // --io=auto|epoll|io_uring|std
}

// Listen is one entry of -l.
type Listen struct {
	Host  string // "" or "*": any
	Port  int    // 0: the port of -p
	Proto Protocol
	TLS   ListenTLS
	Tag   string
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
