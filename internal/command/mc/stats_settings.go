package mc

import (
	"fmt"
	"strconv"

	"godwit/internal/config"
)

// settingRow is one line of stats settings.
type settingRow struct {
	name  string
	value func(w *Worker, s *config.Memcached) string
}

// The kinds of values.

func asYes(get func(s *config.Memcached) bool) func(*Worker, *config.Memcached) string {
	return func(_ *Worker, s *config.Memcached) string { return yesNo(get(s)) }
}

func asNumber[T int | int64 | uint32](get func(s *config.Memcached) T) func(*Worker, *config.Memcached) string {
	return func(_ *Worker, s *config.Memcached) string { return strconv.FormatInt(int64(get(s)), 10) }
}

func asFraction(get func(s *config.Memcached) float64) func(*Worker, *config.Memcached) string {
	return func(_ *Worker, s *config.Memcached) string { return strconv.FormatFloat(get(s), 'f', 2, 64) }
}

// asText is a string, or what memcached prints for one that is not set.
func asText(unset string, get func(s *config.Memcached) string) func(*Worker, *config.Memcached) string {
	return func(_ *Worker, s *config.Memcached) string {
		if v := get(s); v != "" {
			return v
		}
		return unset
	}
}

func always(v string) func(*Worker, *config.Memcached) string {
	return func(*Worker, *config.Memcached) string { return v }
}

const (
	null   = "NULL"
	noText = "(null)"
)

var protocolNames = [...]string{config.Auto: "auto-negotiate", config.ASCII: "ascii", config.Binary: "binary"}

var tlsVersions = [...]string{"tlsv1.0", "tlsv1.1", "tlsv1.2", "tlsv1.3"}

// settingRows are in memcached's order. Flash storage is not there: its settings have the values memcached shows when it
// is off.
var settingRows = [...]settingRow{
	{"maxbytes", func(w *Worker, _ *config.Memcached) string { return strconv.FormatInt(w.Store.Limit(), 10) }},
	{"maxconns", asNumber(func(s *config.Memcached) int { return s.MaxConns })},
	{"tcpport", asNumber(func(s *config.Memcached) int { return s.Port })},
	{"udpport", asNumber(func(s *config.Memcached) int { return s.UDPPort })},
	{"inter", asText(null, func(s *config.Memcached) string { return s.InterText })},
	{"verbosity", func(w *Worker, _ *config.Memcached) string { return strconv.Itoa(int(w.Verbose.Load())) }},
	{"oldest", always("0")},
	{"evictions", func(_ *Worker, s *config.Memcached) string {
		if s.Evict {
			return "on"
		}
		return "off"
	}},
	{"domain_socket", asText(null, func(s *config.Memcached) string { return s.Socket })},
	{"umask", func(_ *Worker, s *config.Memcached) string { return strconv.FormatUint(uint64(s.SocketMode), 8) }},
	{"shutdown_command", asYes(func(s *config.Memcached) bool { return s.Shutdown })},
	{"growth_factor", asFraction(func(s *config.Memcached) float64 { return s.GrowthFactor })},
	{"chunk_size", asNumber(func(s *config.Memcached) int { return s.ChunkSize })},
	{"num_threads", asNumber(func(s *config.Memcached) int { return s.Threads })},
	{"num_threads_per_udp", asNumber(func(s *config.Memcached) int { return s.Threads })},
	{"stat_key_prefix", func(_ *Worker, s *config.Memcached) string { return string([]byte{s.PrefixDelim}) }},
	{"detail_enabled", func(w *Worker, _ *config.Memcached) string { return yesNo(w.Detail()) }},
	{"reqs_per_event", asNumber(func(s *config.Memcached) int { return s.ReqsPerEvent })},
	{"cas_enabled", asYes(func(s *config.Memcached) bool { return s.CAS })},
	{"tcp_backlog", asNumber(func(s *config.Memcached) int { return s.Backlog })},
	{"binding_protocol", func(_ *Worker, s *config.Memcached) string { return protocolNames[s.Protocol] }},
	{"auth_enabled_sasl", asYes(func(s *config.Memcached) bool { return s.SASL })},
	{"auth_enabled_ascii", asText("no", func(s *config.Memcached) string { return s.AuthFile })},
	{"item_size_max", asNumber(func(s *config.Memcached) int64 { return s.ItemSizeMax })},
	{"maxconns_fast", asYes(func(s *config.Memcached) bool { return s.MaxConnsFast })},
	{"hashpower_init", asNumber(func(s *config.Memcached) int { return s.HashpowerInit })},
	{"slab_reassign", asYes(func(s *config.Memcached) bool { return s.SlabReassign })},
	{"slab_automove", asNumber(func(s *config.Memcached) int { return s.SlabAutomove })},
	{"slab_automove_ratio", asFraction(func(s *config.Memcached) float64 { return s.SlabAutomoveRatio })},
	{"slab_automove_window", asNumber(func(s *config.Memcached) int { return s.SlabAutomoveWindow })},
	{"slab_chunk_max", asNumber(func(s *config.Memcached) int { return s.SlabChunkMax })},
	{"lru_crawler", asYes(func(s *config.Memcached) bool { return s.Crawler })},
	{"lru_crawler_sleep", asNumber(func(s *config.Memcached) int { return s.CrawlerSleep })},
	{"lru_crawler_tocrawl", asNumber(func(s *config.Memcached) uint32 { return s.CrawlerToCrawl })},
	{"tail_repair_time", asNumber(func(s *config.Memcached) int { return s.TailRepairTime })},
	{"flush_enabled", asYes(func(s *config.Memcached) bool { return s.FlushEnabled })},
	{"dump_enabled", asYes(func(s *config.Memcached) bool { return s.DumpEnabled })},
	{"hash_algorithm", asText("murmur3", func(s *config.Memcached) string { return s.HashAlgorithm })},
	{"lru_maintainer_thread", asYes(func(s *config.Memcached) bool { return s.Maintainer })},
	{"lru_segmented", asYes(func(s *config.Memcached) bool { return s.Segmented })},
	{"hot_lru_pct", asNumber(func(s *config.Memcached) int { return s.HotPct })},
	{"warm_lru_pct", asNumber(func(s *config.Memcached) int { return s.WarmPct })},
	{"hot_max_factor", asFraction(func(s *config.Memcached) float64 { return s.HotMaxFactor })},
	{"warm_max_factor", asFraction(func(s *config.Memcached) float64 { return s.WarmMaxFactor })},
	{"temp_lru", asYes(func(s *config.Memcached) bool { return s.TempLRU })},
	{"temporary_ttl", asNumber(func(s *config.Memcached) int { return s.TemporaryTTL })},
	{"idle_timeout", asNumber(func(s *config.Memcached) int { return s.IdleTimeout })},
	{"watcher_logbuf_size", asNumber(func(s *config.Memcached) int { return s.WatcherLogbuf })},
	{"worker_logbuf_size", asNumber(func(s *config.Memcached) int { return s.WorkerLogbuf })},
	{"read_buf_mem_limit", asNumber(func(s *config.Memcached) int64 { return s.ReadBufMemLimit })},
	{"track_sizes", asYes(func(s *config.Memcached) bool { return s.TrackSizes })},
	{"inline_ascii_response", always("no")},
	{"ext_item_size", always("512")},
	{"ext_item_age", always("4294967295")},
	{"ext_low_ttl", always("0")},
	{"ext_recache_rate", always("2000")},
	{"ext_wbuf_size", always("4194304")},
	{"ext_compact_under", always("0")},
	{"ext_drop_under", always("0")},
	{"ext_max_sleep", always("1000000")},
	{"ext_max_frag", always("0.80")},
	{"slab_automove_freeratio", always("0.010")},
	{"ext_drop_unread", always("no")},
	{"ssl_enabled", asYes(func(s *config.Memcached) bool { return s.TLS })},
	{"ssl_chain_cert", asText(noText, func(s *config.Memcached) string { return s.SSLChainCert })},
	{"ssl_key", asText(noText, func(s *config.Memcached) string { return s.SSLKey })},
	{"ssl_verify_mode", asNumber(func(s *config.Memcached) int { return s.SSLVerifyMode })},
	{"ssl_keyformat", asNumber(func(s *config.Memcached) int { return s.SSLKeyFormat })},
	{"ssl_ciphers", asText(null, func(s *config.Memcached) string { return s.SSLCiphers })},
	{"ssl_ca_cert", asText(null, func(s *config.Memcached) string { return s.SSLCACert })},
	{"ssl_wbuf_size", asNumber(func(s *config.Memcached) int { return s.SSLWbufSize })},
	{"ssl_session_cache", asYes(func(s *config.Memcached) bool { return s.SSLSessionCache })},
	{"ssl_kernel_tls", asYes(func(s *config.Memcached) bool { return s.SSLKernelTLS })},
	{"ssl_min_version", func(_ *Worker, s *config.Memcached) string {
		if v := s.SSLMinVersion; v >= 0 && v < len(tlsVersions) {
			return tlsVersions[v]
		}
		return fmt.Sprint(s.SSLMinVersion)
	}},
	{"num_napi_ids", asNumber(func(s *config.Memcached) int { return s.NapiIDs })},
	{"memory_file", asText(noText, func(s *config.Memcached) string { return s.MemoryFile })},
	{"client_flags_size", always("4")},
}

// statsSettings is stats settings: the command line, and what verbs have changed since.
func (w *Worker) statsSettings(e emitter) {
	for i := range settingRows {
		row := &settingRows[i]
		if v, ok := w.changed(row.name); ok {
			e(row.name, v)
		} else {
			e(row.name, row.value(w, w.Set))
		}
	}
}
