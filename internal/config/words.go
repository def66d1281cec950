package config

import "math"

// words are the settings of -o, in the order of -h. Those with an empty Help are accepted without being listed there,
// as in memcached.
var words = []Row{
	{Long: "maxconns_fast", Default: "on", set: to(func(m *Memcached) *bool { return &m.MaxConnsFast }, true),
		Help: "   - maxconns_fast:       immediately close new connections after limit (default: %s)\n",
		show: func(m *Memcached) []any { return []any{onOff(m.MaxConnsFast)} },
		Doc:  "Answer connections over the limit with an error and close them."},
	{Long: "no_maxconns_fast", set: to(func(m *Memcached) *bool { return &m.MaxConnsFast }, false),
		Doc: "Let connections over the limit wait until another one ends."},
	{Long: "hashpower", Arg: Required, Meta: "n", Default: "0", Bounds: "12 … 32",
		Missing: "Missing numeric argument for hashpower",
		Help: "   - hashpower:           an integer multiplier for how large the hash\n" +
			"                          table should be. normally grows at runtime. (default starts at: %d)\n" +
			"                          set based on \"STAT hash_power_level\"\n",
		show: func(m *Memcached) []any { return []any{m.HashpowerInit} },
		Doc:  "Size of the hash table at start, as a power of two.", NoEffect: indexGrows,
		set: number(func(m *Memcached) *int { return &m.HashpowerInit }, 12, 32,
			"Initial hashtable multiplier of %d is too low",
			"Initial hashtable multiplier of %d is too high\n"+
				"Choose a value based on \"STAT hash_power_level\" from a running instance")},
	{Long: "tail_repair_time", Arg: Required, Meta: "s", Default: "0, off", Bounds: "≥ 10",
		Missing: "Missing numeric argument for tail_repair_time",
		Help: "   - tail_repair_time:    time in seconds for how long to wait before\n" +
			"                          forcefully killing LRU tail item.\n" +
			"                          disabled by default; very dangerous option.\n",
		Doc: "Free stuck items at the end of the LRU.", NoEffect: "no item can be stuck: readers hold no counts on items",
		set: number(func(m *Memcached) *int { return &m.TailRepairTime }, 10, math.MaxInt32,
			"Cannot set tail_repair_time to less than 10 seconds", "")},
	{Long: "hash_algorithm", Arg: Required, Meta: "name", Default: "murmur3", Bounds: "jenkins, murmur3, xxh3",
		Missing: "Missing hash_algorithm argument",
		Help: "   - hash_algorithm:      the hash table algorithm\n" +
			"                          default is murmur3 hash.\n" +
			"                          options: jenkins, murmur3, xxh3\n",
		Doc: "Hash function of the table.", NoEffect: "keys are hashed with a seeded xxh3",
		set: func(p *parser, arg string) *Exit {
			if arg != "jenkins" && arg != "murmur3" && arg != "xxh3" {
				return bad(1, "Unknown hash_algorithm option (jenkins, murmur3, xxh3)")
			}
			p.m.HashAlgorithm = arg
			return nil
		}},
	{Long: "lru_crawler", Default: "on", set: to(func(m *Memcached) *bool { return &m.Crawler }, true),
		Doc: "Allow the lru_crawler commands."},
	{Long: "no_lru_crawler", set: to(func(m *Memcached) *bool { return &m.Crawler }, false),
		Help: "   - no_lru_crawler:      disable LRU Crawler background thread.\n",
		Doc:  "Start with the lru_crawler commands disabled. Expired items are swept all the same."},
	{Long: "lru_crawler_sleep", Arg: Required, Meta: "us", Default: "100", Bounds: "0 … 1000000",
		Missing: "Missing lru_crawler_sleep value",
		Help: "   - lru_crawler_sleep:   microseconds to sleep between items\n" +
			"                          default is %d.\n",
		show: func(m *Memcached) []any { return []any{m.CrawlerSleep} },
		Doc:  "Pause of the crawler between items.", NoEffect: sweepPaced,
		set: number(func(m *Memcached) *int { return &m.CrawlerSleep }, 0, 1000000,
			"LRU crawler sleep must be between 0 and 1 second", "LRU crawler sleep must be between 0 and 1 second")},
	{Long: "lru_crawler_tocrawl", Arg: Required, Meta: "n", Default: "0, all",
		Missing: "Missing lru_crawler_tocrawl value",
		Help: "   - lru_crawler_tocrawl: max items to crawl per slab per run\n" +
			"                          default is %d (unlimited)\n",
		show: func(m *Memcached) []any { return []any{m.CrawlerToCrawl} },
		Doc:  "Items the crawler looks at in one run.", NoEffect: sweepPaced,
		set: strict(func(m *Memcached) *uint32 { return &m.CrawlerToCrawl }, 1,
			"lru_crawler_tocrawl takes a numeric 32bit value")},
	{Long: "read_buf_mem_limit", Arg: Required, Meta: "MB", Default: "0, off",
		Missing: "Missing read_buf_mem_limit argument",
		Help: "   - read_buf_mem_limit:  limit in megabytes for connection read/response buffers.\n" +
			"                          do not adjust unless you have high (20k+) conn. limits.\n" +
			"                          0 means unlimited (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.ReadBufMemLimit} },
		Doc:  "Memory for the buffers of all connections together.",
		set: strict(func(m *Memcached) *int64 { return &m.ReadBufMemLimit }, 1<<20,
			"could not parse argument to read_buf_mem_limit")},
	{Long: "resp_obj_mem_limit", Doc: "Replaced by read_buf_mem_limit.", NoEffect: "replaced by read_buf_mem_limit", Quiet: true,
		set: func(p *parser, _ string) *Exit {
			p.warnings.WriteString("DEPRECATED: resp_obj_mem_limit no longer used. See read_buf_mem_limit,\n")
			return nil
		}},
	{Long: "lru_maintainer", Default: "on", Doc: "Segmented LRU.", NoEffect: oneEviction,
		set: func(p *parser, _ string) *Exit { p.m.Maintainer, p.m.Segmented = true, true; return nil }},
	{Long: "no_lru_maintainer",
		Help: "   - no_lru_maintainer:   disable new LRU system + background thread.\n",
		Doc:  "Flat LRU.", NoEffect: oneEviction,
		set: func(p *parser, _ string) *Exit { p.m.Maintainer, p.m.Segmented = false, false; return nil }},
	{Long: "hot_lru_pct", Arg: Required, Meta: "n", Default: "20", Bounds: "1 … 79", Missing: "Missing hot_lru_pct argument",
		Help: "   - hot_lru_pct:         pct of slab memory to reserve for hot lru.\n" +
			"                          (requires lru_maintainer, default pct: %d)\n",
		show: func(m *Memcached) []any { return []any{m.HotPct} },
		Doc:  "Share of the HOT segment.", NoEffect: oneEviction,
		set: number(func(m *Memcached) *int { return &m.HotPct }, 1, 79,
			"hot_lru_pct must be > 1 and < 80", "hot_lru_pct must be > 1 and < 80")},
	{Long: "warm_lru_pct", Arg: Required, Meta: "n", Default: "40", Bounds: "1 … 79", Missing: "Missing warm_lru_pct argument",
		Help: "   - warm_lru_pct:        pct of slab memory to reserve for warm lru.\n" +
			"                          (requires lru_maintainer, default pct: %d)\n",
		show: func(m *Memcached) []any { return []any{m.WarmPct} },
		Doc:  "Share of the WARM segment.", NoEffect: oneEviction,
		set: number(func(m *Memcached) *int { return &m.WarmPct }, 1, 79,
			"warm_lru_pct must be > 1 and < 80", "warm_lru_pct must be > 1 and < 80")},
	{Long: "hot_max_factor", Arg: Required, Meta: "f", Default: "0.2", Bounds: "> 0", Missing: "Missing hot_max_factor argument",
		Help: "   - hot_max_factor:      items idle > cold lru age * drop from hot lru. (default: %.2f)\n",
		show: func(m *Memcached) []any { return []any{m.HotMaxFactor} },
		Doc:  "Age at which items leave HOT.", NoEffect: oneEviction,
		set: ratio(func(m *Memcached) *float64 { return &m.HotMaxFactor }, 0, math.MaxFloat64, "hot_max_factor must be > 0")},
	{Long: "warm_max_factor", Arg: Required, Meta: "f", Default: "2.0", Bounds: "> 0", Missing: "Missing warm_max_factor argument",
		Help: "   - warm_max_factor:     items idle > cold lru age * this drop from warm. (default: %.2f)\n",
		show: func(m *Memcached) []any { return []any{m.WarmMaxFactor} },
		Doc:  "Age at which items leave WARM.", NoEffect: oneEviction,
		set: ratio(func(m *Memcached) *float64 { return &m.WarmMaxFactor }, 0, math.MaxFloat64, "warm_max_factor must be > 0")},
	{Long: "temporary_ttl", Arg: Required, Meta: "s", Default: "off", Missing: "Missing temporary_ttl argument",
		Help: "   - temporary_ttl:       TTL's below get separate LRU, can't be evicted.\n" +
			"                          (requires lru_maintainer, default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.TemporaryTTL} },
		Doc:  "Keep items with a shorter time to live in an LRU of their own.", NoEffect: oneEviction,
		set: func(p *parser, arg string) *Exit { p.m.TempLRU, p.m.TemporaryTTL = true, atoi(arg); return nil }},
	{Long: "idle_timeout", Arg: Required, Meta: "s", Default: "0, off", Missing: "Missing numeric argument for idle_timeout",
		Help: "   - idle_timeout:        timeout for idle connections. (default: %d, no timeout)\n",
		show: func(m *Memcached) []any { return []any{m.IdleTimeout} },
		Doc:  "Close TCP connections that have sent no command for so many seconds.",
		set:  any32(func(m *Memcached) *int { return &m.IdleTimeout })},
	{Long: "slab_chunk_max", Arg: Required, Meta: "KB", Default: "512", Bounds: "1 … 1024, a divisor of -I and of 1024",
		Missing: "Missing slab_chunk_max argument",
		Help:    "   - slab_chunk_max:      (EXPERIMENTAL) maximum slab size in kilobytes. use extreme care. (default: %d)\n",
		show:    func(m *Memcached) []any { return []any{m.SlabChunkMax >> 10} },
		Doc:     "Largest size class of the statistics (see -f).",
		set: func(p *parser, arg string) *Exit {
			v, ok := i32(arg)
			switch {
			case !ok:
				return bad(1, "could not parse argument to slab_chunk_max")
			case v <= 0:
				return bad(1, "slab_chunk_max must be >= 0")
			case v > 1<<10:
				return bad(1, "slab_chunk_max must be specified in kilobytes.")
			}
			p.m.SlabChunkMax, p.chunkMaxGiven = v<<10, true
			return nil
		}},
	{Long: "slab_sizes", Arg: Required, Meta: "a-b-…", Missing: "Missing slab_sizes argument",
		Doc: "Sizes of the classes of the statistics, ascending.",
		set: func(p *parser, arg string) *Exit { p.slabSizes, p.slabSizesGiven = arg, true; return nil }},
	{Long: "watcher_logbuf_size", Arg: Required, Meta: "KB", Default: "256", Missing: "Missing watcher_logbuf_size argument",
		Help: "   - watcher_logbuf_size: size in kilobytes of per-watcher write buffer. (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.WatcherLogbuf >> 10} },
		Doc:  "Lines kept for a watcher that reads slowly; more are skipped.",
		set: strict(func(m *Memcached) *int { return &m.WatcherLogbuf }, 1<<10,
			"could not parse argument to watcher_logbuf_size")},
	{Long: "worker_logbuf_size", Arg: Required, Meta: "KB", Default: "64", Missing: "Missing worker_logbuf_size argument",
		Help: "   - worker_logbuf_size:  size in kilobytes of per-worker-thread buffer\n" +
			"                          read by background thread, then written to watchers. (default: %d)\n",
		show: func(m *Memcached) []any { return []any{m.WorkerLogbuf >> 10} },
		Doc:  "Buffer of each thread for lines to watchers.", NoEffect: "lines go to the watchers' buffers at once",
		set: strict(func(m *Memcached) *int { return &m.WorkerLogbuf }, 1<<10,
			"could not parse argument to worker_logbuf_size")},
	{Long: "track_sizes", set: to(func(m *Memcached) *bool { return &m.TrackSizes }, true),
		Help: "   - track_sizes:         enable dynamic reports for 'stats sizes' command.\n" +
			"                          note that counts for each size are approximate.\n",
		Doc: "Count items by size for stats sizes."},
	{Long: "no_hashexpand", set: nothing, Doc: "Never grow the hash table.", NoEffect: indexGrows,
		Help: "   - no_hashexpand:       disables hash table expansion (dangerous)\n"},
	{Long: "modern", set: nothing, Doc: "Nothing, as in memcached.", NoEffect: "means nothing in memcached either", Quiet: true,
		Help: "   - modern:              enables options which will be default in future.\n" +
			"                          currently: nothing\n"},
	{Long: "no_modern", Doc: "Defaults of memcached 1.4: no maxconns_fast, statistics as of a flat LRU.",
		Help: "   - no_modern:           uses defaults of previous major version (1.4.x)\n",
		set: func(p *parser, _ string) *Exit {
			m := p.m
			if !p.chunkMaxGiven {
				m.SlabChunkMax = slabPage
			}
			m.SlabReassign, m.SlabAutomove, m.MaxConnsFast, m.Segmented = false, 0, false, false
			m.HashAlgorithm, m.Crawler, m.Maintainer = "jenkins", false, false
			return nil
		}},
	{Long: "sock_cookie_id", Arg: Required, Meta: "n", Missing: "Missing sock_cookie_id argument",
		Help: "   - sock_cookie_id:      attributes an ID to a socket for ip filtering/firewalls \n",
		Doc:  "Mark of the listening sockets, for packet filters.", NoEffect: "sockets are not marked",
		set: func(p *parser, arg string) *Exit {
			p.m.SockCookieID, _ = u32(arg)
			return nil
		}},

	{Long: "slab_reassign", Default: "on", set: to(func(m *Memcached) *bool { return &m.SlabReassign }, true),
		Doc: "Allow moving memory between size classes.", NoEffect: noSlabs},
	{Long: "no_slab_reassign", set: to(func(m *Memcached) *bool { return &m.SlabReassign }, false),
		Doc: "Move no memory between size classes.", NoEffect: noSlabs},
	{Long: "slab_automove", Arg: Optional, Meta: "n", Default: "1", Bounds: "0 … 2", Doc: "Move memory between size classes by itself.",
		NoEffect: noSlabs,
		set: func(p *parser, arg string) *Exit {
			if !p.valueGiven {
				p.m.SlabAutomove = 1
				return nil
			}
			return number(func(m *Memcached) *int { return &m.SlabAutomove }, 0, 2,
				"slab_automove must be between 0 and 2", "slab_automove must be between 0 and 2")(p, arg)
		}},
	{Long: "no_slab_automove", set: to(func(m *Memcached) *int { return &m.SlabAutomove }, 0),
		Doc: "Move no memory by itself.", NoEffect: noSlabs},
	{Long: "slab_automove_ratio", Arg: Required, Meta: "f", Default: "0.8", Bounds: "0 < f ≤ 1", Missing: "Missing slab_automove_ratio argument",
		Doc: "Difference in age that makes memory move.", NoEffect: noSlabs,
		set: ratio(func(m *Memcached) *float64 { return &m.SlabAutomoveRatio }, 0, 1, "slab_automove_ratio must be > 0 and < 1")},
	{Long: "slab_automove_window", Arg: Required, Meta: "n", Default: "10", Bounds: "3 … 1800", Missing: "Missing slab_automove_window argument",
		Doc: "Samples looked at before memory moves.", NoEffect: noSlabs,
		set: number(func(m *Memcached) *int { return &m.SlabAutomoveWindow }, 3, 1800,
			"slab_automove_window must be > 2 and < 1800", "slab_automove_window must be > 2 and < 1800")},
	{Long: "no_chunked_items", set: to(func(m *Memcached) *int { return &m.SlabChunkMax }, slabPage),
		Doc: "Largest size class of one megabyte."},
	{Long: "inline_ascii_resp", set: nothing, Doc: "Nothing, as in memcached.", NoEffect: "means nothing in memcached either", Quiet: true},
	{Long: "no_inline_ascii_resp", set: nothing, Doc: "Nothing, as in memcached.", NoEffect: "means nothing in memcached either", Quiet: true},
	{Long: "drop_privileges", set: to(func(m *Memcached) *bool { return &m.DropPrivileges }, true),
		Doc: "Forbid system calls that are not needed.", NoEffect: "use the sandbox of the service manager"},
	{Long: "no_drop_privileges", set: to(func(m *Memcached) *bool { return &m.DropPrivileges }, false), Doc: "The default.",
		NoEffect: "nothing is dropped", Quiet: true},
	{Long: "relaxed_privileges", set: nothing, Doc: "For memcached's tests.", NoEffect: "nothing is dropped", Quiet: true},

	ssl("ssl_chain_cert", "file", "", "", "   - ssl_chain_cert:      certificate chain file in PEM format\n",
		"Certificate of the server, with its chain, in PEM format.",
		text(func(m *Memcached) *string { return &m.SSLChainCert })),
	ssl("ssl_key", "file", "ssl_chain_cert", "", "   - ssl_key:             private key, if not part of the -ssl_chain_cert\n",
		"Private key of the certificate.", text(func(m *Memcached) *string { return &m.SSLKey })),
	ssl("ssl_keyformat", "n", "1", "1 PEM, 2 DER", "   - ssl_keyformat:       private key format (PEM, DER or ENGINE) (default: PEM)\n",
		"Format of the key file.",
		signed(func(m *Memcached) *int { return &m.SSLKeyFormat }, math.MinInt32, math.MaxInt32,
			"could not parse argument to ssl_keyformat", "")),
	ssl("ssl_verify_mode", "n", "0", "0 none, 1 request, 2 require, 3 once",
		"   - ssl_verify_mode:     peer certificate verification mode, default is 0(None).\n"+
			"                          valid values are 0(None), 1(Request), 2(Require)\n"+
			"                          or 3(Once)\n",
		"Whether clients must show a certificate.",
		signed(func(m *Memcached) *int { return &m.SSLVerifyMode }, 0, 3,
			"could not parse argument to ssl_verify_mode", "Invalid ssl_verify_mode. Use help to see valid options.")),
	ssl("ssl_ciphers", "list", "", "", "   - ssl_ciphers:         specify cipher list to be used\n",
		"Cipher suites up to TLS 1.2, by OpenSSL's or the standard's names, separated by colons.",
		text(func(m *Memcached) *string { return &m.SSLCiphers })),
	ssl("ssl_ca_cert", "file", "", "", "   - ssl_ca_cert:         PEM format file of acceptable client CA's\n",
		"Authorities that client certificates must come from.",
		text(func(m *Memcached) *string { return &m.SSLCACert })),
	noEffect("TLS records are written from the buffers of the connection",
		ssl("ssl_wbuf_size", "KB", "16", "", "   - ssl_wbuf_size:       size in kilobytes of per-connection SSL output buffer\n"+
			"                          (default: %d)\n", "Output buffer of a TLS connection.",
			strict(func(m *Memcached) *int { return &m.SSLWbufSize }, 1<<10, "could not parse argument to ssl_wbuf_size"))),
	{Long: "ssl_session_cache", Default: "off", set: to(func(m *Memcached) *bool { return &m.SSLSessionCache }, true),
		Help: "   - ssl_session_cache:   enable server-side SSL session cache, to support session\n" +
			"                          resumption\n",
		Doc: "Let clients resume TLS sessions."},
	{Long: "ssl_kernel_tls", Default: "off", set: to(func(m *Memcached) *bool { return &m.SSLKernelTLS }, true),
		Help: "   - ssl_kernel_tls:      enable kernel TLS offload\n",
		Doc:  "Leave the encryption to the kernel.", NoEffect: "encryption is done in the process"},
	ssl("ssl_min_version", "n", "2", "0 TLS 1.0, 1 TLS 1.1, 2 TLS 1.2, 3 TLS 1.3",
		"   - ssl_min_version:     minimum protocol version to accept (default: %s)\n"+
			"                          valid values are 0(tlsv1.0), 1(tlsv1.1), 2(tlsv1.2), or 3(tlsv1.3).\n",
		"Oldest version of TLS to accept.",
		signed(func(m *Memcached) *int { return &m.SSLMinVersion }, 0, 3,
			"could not parse argument to ssl_min_version", "Invalid ssl_min_version. Use help to see valid options.")),

	ext("ext_page_size", strictly), ext("ext_wbuf_size", strictly), ext("ext_threads", strictly), ext("ext_io_depth", strictly),
	ext("ext_item_size", strictly), ext("ext_item_age", strictly), ext("ext_low_ttl", strictly), ext("ext_recache_rate", strictly),
	ext("ext_compact_under", strictly), ext("ext_drop_under", strictly), ext("ext_max_sleep", strictly),
	ext("ext_max_frag", fractional), ext("slab_automove_freeratio", fractional),
	{Long: "ext_drop_unread", set: nothing, Doc: "Setting of external storage.", NoEffect: noExt},

	refused("ext_path", "there is no external storage in this server"),
	refused("proxy_config", noProxy), refused("proxy_arg", noProxy), refused("proxy_uring", noProxy), refused("proxy_memprofile", noProxy),
}

// Reasons for having no effect.
const (
	indexGrows  = "the index grows and shrinks by itself"
	sweepPaced  = "expired items are swept in steps that never hold up a request"
	oneEviction = "eviction is S3-FIFO, which has no such parts"
	noSlabs     = "memory is one log, there are no slabs to move"
	noExt       = "there is no external storage in this server"
	noProxy     = "there is no proxy in this server"
)

func onOff(v bool) string {
	if v {
		return "enabled"
	}
	return "disabled"
}

var tlsVersions = [...]string{"tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3"}

// ssl is the common shape of the TLS settings that take a value.
func ssl(word, meta, def, bounds, help, doc string, set setter) Row {
	r := Row{Long: word, Arg: Required, Meta: meta, Default: def, Bounds: bounds, Missing: "Missing " + word + " argument",
		Help: help, Doc: doc, set: set}
	switch word {
	case "ssl_wbuf_size":
		r.show = func(m *Memcached) []any { return []any{m.SSLWbufSize >> 10} }
	case "ssl_min_version":
		r.show = func(m *Memcached) []any { return []any{tlsVersions[m.SSLMinVersion]} }
	}
	return r
}

func noEffect(reason string, r Row) Row {
	r.NoEffect = reason
	return r
}

// ext is a setting of external storage, which memcached takes without ext_path, too.
func ext(word string, kind func(word string) setter) Row {
	return Row{Long: word, Arg: Required, Meta: "n", Missing: "Missing " + word + " argument", Doc: "Setting of external storage.",
		NoEffect: noExt, set: kind(word)}
}

func strictly(word string) setter {
	return func(_ *parser, arg string) *Exit {
		if _, ok := u32(arg); !ok {
			return bad(1, "could not parse argument to %s", word)
		}
		return nil
	}
}

func fractional(word string) setter {
	return func(_ *parser, arg string) *Exit {
		if _, ok := f64(arg); !ok {
			return bad(1, "could not parse argument to %s", word)
		}
		return nil
	}
}

// refused is a setting whose absence would be noticed too late: the server does not start.
func refused(word, reason string) Row {
	return Row{Long: word, Arg: Optional, Doc: "Refused: " + reason + ".",
		set: func(*parser, string) *Exit { return bad(1, "%s is not supported: %s", word, reason) }}
}
