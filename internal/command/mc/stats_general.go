package mc

import (
	"fmt"
	"os"

	"godwit/internal/config"
)

// statsGeneral is stats without a word. Where this engine has no such thing as the name says, the value is the nearest
// true one, or 0: docs/protocols/stats.md lists them.
func (w *Worker) statsGeneral(e emitter) {
	t := w.sinceReset()
	w.generalProcess(e, t)
	w.generalCommands(e, t)
	w.generalMachine(e, t)
	w.generalItems(e, t)
}

// eventLibrary stands where memcached names its event library.
const eventLibrary = "godwit"

func (w *Worker) generalProcess(e emitter, t *Totals) {
	user, system := cpuTimes()
	e.num("pid", uint64(os.Getpid()))
	e.int("uptime", max(0, (w.L.Now()-w.Clock.Started())/1000))
	e.int("time", w.Clock.Unix(w.L.Now()))
	e("version", config.MemcachedVersion)
	e("libevent", eventLibrary)
	e.num("pointer_size", 64)
	e("rusage_user", fmt.Sprintf("%d.%06d", user/1e6, user%1e6))
	e("rusage_system", fmt.Sprintf("%d.%06d", system/1e6, system%1e6))
	e.int("max_connections", int64(w.Set.MaxConns))
	e.num("curr_connections", t.Conn.Curr)
	e.num("total_connections", t.Conn.Total)
	if w.Set.MaxConnsFast {
		e.num("rejected_connections", t.Conn.Rejected)
	}
	e.num("connection_structures", t.Conn.Structures)
	e.num("response_obj_oom", t.C.ResponseObjOOM+t.Conn.WriteKills)
	e.num("response_obj_count", 0)
	e.num("response_obj_bytes", 0)
	e.num("read_buf_count", t.Conn.ReadBufs)
	e.num("read_buf_bytes", t.Conn.ReadBufBytes+t.Conn.ReadBufFree)
	e.num("read_buf_bytes_free", t.Conn.ReadBufFree)
	e.num("read_buf_oom", t.Conn.ReadKills)
	e.num("reserved_fds", t.Conn.Structures-t.Conn.Curr)
}

func (w *Worker) generalCommands(e emitter, t *Totals) {
	c, a := &t.C, &t.All
	e.num("cmd_get", a.GetHits+c.GetMisses)
	e.num("cmd_set", a.SetCmds)
	e.num("cmd_flush", c.CmdFlush)
	e.num("cmd_touch", c.CmdTouch)
	e.num("cmd_meta", c.CmdMeta)
	e.num("get_hits", a.GetHits)
	e.num("get_misses", c.GetMisses)
	e.num("get_expired", c.GetExpired)
	e.num("get_flushed", c.GetFlushed)
	e.num("delete_misses", c.DeleteMisses)
	e.num("delete_hits", a.DeleteHits)
	e.num("incr_misses", c.IncrMisses)
	e.num("incr_hits", a.IncrHits)
	e.num("decr_misses", c.DecrMisses)
	e.num("decr_hits", a.DecrHits)
	e.num("cas_misses", c.CasMisses)
	e.num("cas_hits", a.CasHits)
	e.num("cas_badval", a.CasBadval)
	e.num("touch_hits", a.TouchHits)
	e.num("touch_misses", c.TouchMisses)
	e.num("store_too_large", c.StoreTooLarge)
	e.num("store_no_memory", c.StoreNoMemory)
	e.num("auth_cmds", c.AuthCmds)
	e.num("auth_errors", c.AuthErrors)
	if w.Set.IdleTimeout > 0 {
		e.num("idle_kicks", c.IdleKicks)
	}
	e.num("bytes_read", c.BytesRead)
	e.num("bytes_written", c.BytesWritten)
}

func (w *Worker) generalMachine(e emitter, t *Totals) {
	e.int("limit_maxbytes", w.Store.Limit())
	e.num("accepting_conns", bit(t.Conn.Accepting))
	e.num("listen_disabled_num", t.Conn.ListenDisabled)
	e.num("time_in_listen_disabled_us", t.Conn.ListenDisabledUs)
	e.int("threads", int64(w.Set.Threads))
	e.num("conn_yields", t.C.ConnYields)
	e.int("hash_power_level", int64(w.hashPower(max(t.Store.Items, indexRoom(t.Store.IndexBytes)))))
	e.num("hash_bytes", t.Store.IndexBytes)
	e.num("hash_is_expanding", 0)
	if w.Set.SlabReassign {
		e.num("slab_reassign_rescues", 0)
		e.num("slab_reassign_chunk_rescues", 0)
		e.num("slab_reassign_inline_reclaim", 0)
		e.num("slab_reassign_busy_items", 0)
		e.num("slab_reassign_busy_deletes", 0)
		e.num("slab_reassign_busy_nomem", 0)
		e("slab_reassign_last_busy_status", "none")
		e.num("slab_reassign_running", 0)
		e.num("slabs_moved", 0)
	}
	if w.crawlerOn() {
		e.num("lru_crawler_running", bit(w.Store.Sweeping()))
		e.num("lru_crawler_starts", t.Crawls)
	}
	if w.Set.Maintainer {
		e.num("lru_maintainer_juggles", 0)
	}
	e.num("malloc_fails", 0)
	e.num("log_worker_dropped", 0)
	e.num("log_worker_written", t.Log.Written)
	e.num("log_watcher_skipped", t.Log.Skipped)
	e.num("log_watcher_sent", t.Log.Sent)
	e.num("log_watchers", t.Log.Watchers)
	if w.Set.TLS {
		if w.Set.SSLSessionCache {
			e.num("ssl_new_sessions", t.Conn.TLSNewSessions)
		}
		e.num("ssl_handshake_errors", t.Conn.TLSHandshakeErrors)
		e.num("ssl_proto_errors", t.Conn.TLSProtoErrors)
		e.int("time_since_server_cert_refresh", t.Conn.CertRefresh)
	}
	e.num("unexpected_napi_ids", 0)
	e.num("round_robin_fallback", 0)
}

func (w *Worker) generalItems(e emitter, t *Totals) {
	s := &t.Store
	e.num("bytes", s.Bytes)
	e.num("curr_items", s.Items)
	e.num("total_items", s.TotalItems)
	e.num("slab_global_page_pool", s.FreeSegments)
	e.num("expired_unfetched", s.ExpiredUnfetched)
	e.num("evicted_unfetched", s.EvictedUnfetched)
	if w.Set.Segmented {
		e.num("evicted_active", s.EvictedActive)
	}
	e.num("evictions", s.Evictions)
	e.num("reclaimed", s.Reclaimed)
	e.num("crawler_reclaimed", s.Swept)
	e.num("crawler_items_checked", s.SweptChecked)
	e.num("lrutail_reflocked", 0)
	if w.Set.Maintainer {
		e.num("moves_to_cold", 0)
		e.num("moves_to_warm", 0)
		e.num("moves_within_lru", 0)
		e.num("direct_reclaims", 0)
		e.num("lru_bumps_dropped", 0)
	}
}

// hashPower is the size, as a power of two, that memcached's hash table would have for so many items: it doubles when
// items are more than one and a half times its buckets.
func (w *Worker) hashPower(items uint64) int {
	const first = 16
	n := first
	if w.Set.HashpowerInit > 0 {
		n = w.Set.HashpowerInit
	}
	for items > 3<<n/2 {
		n++
	}
	return n
}

// indexRoom is how many items an index of so many bytes holds on average. Like memcached's hash table, the memory of the
// index grows and does not shrink.
func indexRoom(bytes uint64) uint64 { return bytes / 8 * 13 / 20 }

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
