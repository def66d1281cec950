package admin

import (
	"strconv"

	"github.com/prometheus/client_golang/prometheus"

	"godwit/internal/command/mc"
	"godwit/internal/config"
)

const prefix = "godwit_"

// metric is one number about the whole server. Counters run since the start of the process: stats reset does not touch
// them, since a counter that falls back looks like a restart.
type metric struct {
	name, help string
	counter    bool
	value      func(t *mc.Totals) float64
}

func counter[T uint64 | int64](name, help string, get func(t *mc.Totals) T) metric {
	return metric{prefix + name + "_total", help, true, func(t *mc.Totals) float64 { return float64(get(t)) }}
}

func gauge[T uint64 | int64 | float64](name, help string, get func(t *mc.Totals) T) metric {
	return metric{prefix + name, help, false, func(t *mc.Totals) float64 { return float64(get(t)) }}
}

// metrics have the names of memcached's statistics where there is one.
var metrics = []metric{
	counter("cmd_get", "Keys looked up by get and its kin.", func(t *mc.Totals) uint64 { return t.All.GetHits + t.C.GetMisses }),
	counter("cmd_set", "Storage commands whose value was taken.", func(t *mc.Totals) uint64 { return t.All.SetCmds }),
	counter("cmd_flush", "flush_all commands.", func(t *mc.Totals) uint64 { return t.C.CmdFlush }),
	counter("cmd_touch", "Keys touched, by touch and by gat.", func(t *mc.Totals) uint64 { return t.C.CmdTouch }),
	counter("cmd_meta", "Meta commands.", func(t *mc.Totals) uint64 { return t.C.CmdMeta }),
	counter("get_hits", "Lookups that found an item.", func(t *mc.Totals) uint64 { return t.All.GetHits }),
	counter("get_misses", "Lookups that found none.", func(t *mc.Totals) uint64 { return t.C.GetMisses }),
	counter("get_expired", "Lookups that found an expired item.", func(t *mc.Totals) uint64 { return t.C.GetExpired }),
	counter("get_flushed", "Lookups that found a flushed item.", func(t *mc.Totals) uint64 { return t.C.GetFlushed }),
	counter("delete_hits", "Deletes that found an item.", func(t *mc.Totals) uint64 { return t.All.DeleteHits }),
	counter("delete_misses", "Deletes that found none.", func(t *mc.Totals) uint64 { return t.C.DeleteMisses }),
	counter("incr_hits", "Increments that found an item.", func(t *mc.Totals) uint64 { return t.All.IncrHits }),
	counter("incr_misses", "Increments that found none.", func(t *mc.Totals) uint64 { return t.C.IncrMisses }),
	counter("decr_hits", "Decrements that found an item.", func(t *mc.Totals) uint64 { return t.All.DecrHits }),
	counter("decr_misses", "Decrements that found none.", func(t *mc.Totals) uint64 { return t.C.DecrMisses }),
	counter("cas_hits", "Stores with a CAS id that was the item's.", func(t *mc.Totals) uint64 { return t.All.CasHits }),
	counter("cas_badval", "Stores with a CAS id that was not.", func(t *mc.Totals) uint64 { return t.All.CasBadval }),
	counter("cas_misses", "Stores with a CAS id that found no item.", func(t *mc.Totals) uint64 { return t.C.CasMisses }),
	counter("touch_hits", "Touches that found an item.", func(t *mc.Totals) uint64 { return t.All.TouchHits }),
	counter("touch_misses", "Touches that found none.", func(t *mc.Totals) uint64 { return t.C.TouchMisses }),
	counter("store_too_large", "Values refused for their size.", func(t *mc.Totals) uint64 { return t.C.StoreTooLarge }),
	counter("store_no_memory", "Values refused for want of memory.", func(t *mc.Totals) uint64 { return t.C.StoreNoMemory }),
	counter("auth_cmds", "Authentications tried.", func(t *mc.Totals) uint64 { return t.C.AuthCmds }),
	counter("auth_errors", "Authentications failed.", func(t *mc.Totals) uint64 { return t.C.AuthErrors }),
	counter("read_bytes", "Bytes of requests.", func(t *mc.Totals) uint64 { return t.C.BytesRead }),
	counter("written_bytes", "Bytes of answers.", func(t *mc.Totals) uint64 { return t.C.BytesWritten }),
	counter("conn_yields", "Turns that ended before a client's requests did.", func(t *mc.Totals) uint64 { return t.C.ConnYields }),
	counter("idle_kicks", "Connections closed by the idle timeout.", func(t *mc.Totals) uint64 { return t.C.IdleKicks }),

	gauge("connections", "Open connections.", func(t *mc.Totals) uint64 { return t.Conn.Curr }),
	gauge("connections_accepting", "1 while connections are accepted.", func(t *mc.Totals) uint64 { return bit(t.Conn.Accepting) }),
	counter("connections_opened", "Connections and listening sockets opened.", func(t *mc.Totals) uint64 { return t.Conn.Total }),
	counter("connections_rejected", "Connections refused at the limit.", func(t *mc.Totals) uint64 { return t.Conn.Rejected }),
	counter("connections_read_kills", "Connections closed for too much unread input.", func(t *mc.Totals) uint64 { return t.Conn.ReadKills }),
	counter("connections_write_kills", "Connections closed for too much unsent output.", func(t *mc.Totals) uint64 { return t.Conn.WriteKills }),
	counter("listen_disabled", "Times that accepting was suspended.", func(t *mc.Totals) uint64 { return t.Conn.ListenDisabled }),
	counter("listen_disabled_microseconds", "Time for which it was.", func(t *mc.Totals) uint64 { return t.Conn.ListenDisabledUs }),
	gauge("read_buffers", "Read buffers lent to connections.", func(t *mc.Totals) uint64 { return t.Conn.ReadBufs }),
	gauge("read_buffer_bytes", "Bytes in them.", func(t *mc.Totals) uint64 { return t.Conn.ReadBufBytes }),
	gauge("read_buffer_free_bytes", "Bytes of read buffers that are free.", func(t *mc.Totals) uint64 { return t.Conn.ReadBufFree }),
	counter("tls_sessions", "TLS sessions that were not resumed.", func(t *mc.Totals) uint64 { return t.Conn.TLSNewSessions }),
	counter("tls_handshake_errors", "TLS handshakes that failed.", func(t *mc.Totals) uint64 { return t.Conn.TLSHandshakeErrors }),
	counter("tls_protocol_errors", "Connections that broke the TLS protocol.", func(t *mc.Totals) uint64 { return t.Conn.TLSProtoErrors }),
	gauge("tls_certificate_age_seconds", "Time since certificates were loaded; 0 without TLS.", func(t *mc.Totals) int64 { return t.Conn.CertRefresh }),

	gauge("items", "Items, those expired but not yet removed included.", func(t *mc.Totals) uint64 { return t.Store.Items }),
	gauge("item_bytes", "Their size by memcached's measure.", func(t *mc.Totals) uint64 { return t.Store.Bytes }),
	counter("items_stored", "Items ever stored.", func(t *mc.Totals) uint64 { return t.Store.TotalItems }),
	counter("evictions", "Items that gave way to others.", func(t *mc.Totals) uint64 { return t.Store.Evictions }),
	counter("evicted_unfetched", "Those of them that nobody had read.", func(t *mc.Totals) uint64 { return t.Store.EvictedUnfetched }),
	counter("expired_unfetched", "Items that expired and nobody had read.", func(t *mc.Totals) uint64 { return t.Store.ExpiredUnfetched }),
	counter("reclaimed", "Expired items removed on the way of other work.", func(t *mc.Totals) uint64 { return t.Store.Reclaimed }),
	counter("swept", "Expired items removed by the background sweep.", func(t *mc.Totals) uint64 { return t.Store.Swept }),
	counter("swept_checked", "Items the sweep looked at.", func(t *mc.Totals) uint64 { return t.Store.SweptChecked }),
	counter("out_of_memory", "Items that found no room.", func(t *mc.Totals) uint64 { return t.Store.OutOfMemory }),
	counter("copied_bytes", "Bytes of items moved by cleaning and eviction.", func(t *mc.Totals) uint64 { return t.Store.CopiedBytes }),
	gauge("log_bytes", "Memory of the log of items.", func(t *mc.Totals) uint64 { return t.Store.LogBytes }),
	gauge("log_garbage_bytes", "Bytes in it that belong to no item.", func(t *mc.Totals) uint64 { return t.Store.GarbageBytes }),
	gauge("log_segments", "Segments of the log.", func(t *mc.Totals) uint64 { return t.Store.Segments }),
	gauge("log_segments_free", "Segments that are free.", func(t *mc.Totals) uint64 { return t.Store.FreeSegments }),
	gauge("index_bytes", "Memory of the index.", func(t *mc.Totals) uint64 { return t.Store.IndexBytes }),
	gauge("region_bytes", "Memory of large values.", func(t *mc.Totals) uint64 { return t.Store.RegionBytes }),
	gauge("regions", "Large values.", func(t *mc.Totals) uint64 { return t.Store.Regions }),
	gauge("ghost_bytes", "Memory of the fingerprints of evicted keys.", func(t *mc.Totals) uint64 { return t.Store.GhostBytes }),
	gauge("small_queue_share", "Share of memory that new items have.", func(t *mc.Totals) float64 { return t.Store.SmallShare }),

	gauge("watchers", "Clients that watch the log.", func(t *mc.Totals) uint64 { return t.Log.Watchers }),
	counter("watch_lines", "Lines of the log.", func(t *mc.Totals) uint64 { return t.Log.Written }),
	counter("watch_lines_sent", "Lines handed to watchers.", func(t *mc.Totals) uint64 { return t.Log.Sent }),
	counter("watch_lines_skipped", "Lines that slow watchers missed.", func(t *mc.Totals) uint64 { return t.Log.Skipped }),
	counter("crawls", "Crawls asked for.", func(t *mc.Totals) uint64 { return t.Crawls }),
}

// classMetric is a number for each of memcached's slab classes that has been used.
type classMetric struct {
	name, help string
	counter    bool
	value      func(t *mc.Totals, class int) float64
}

var classMetrics = []classMetric{
	{"class_items", "Items by slab class.", false, func(t *mc.Totals, c int) float64 { return float64(t.Store.Class[c].Items) }},
	{"class_item_bytes", "Their size.", false, func(t *mc.Totals, c int) float64 { return float64(t.Store.Class[c].Bytes) }},
	{"class_get_hits_total", "Lookups that found an item, by its class.", true, func(t *mc.Totals, c int) float64 { return float64(t.Class[c].GetHits) }},
	{"class_cmd_set_total", "Storage commands by class.", true, func(t *mc.Totals, c int) float64 { return float64(t.Class[c].SetCmds) }},
	{"class_evictions_total", "Evictions by class.", true, func(t *mc.Totals, c int) float64 { return float64(t.Store.Class[c].Evicted) }},
}

// collector reads all counters when Prometheus asks.
type collector struct {
	env                    *mc.Env
	descs, classDescs      []*prometheus.Desc
	limit, loops, up, info *prometheus.Desc
}

func newCollector(env *mc.Env) *collector {
	c := &collector{
		env:   env,
		limit: prometheus.NewDesc(prefix+"limit_bytes", "Memory limit.", nil, nil),
		loops: prometheus.NewDesc(prefix+"loops", "Event loops.", nil, nil),
		up:    prometheus.NewDesc(prefix+"uptime_seconds", "Time since the start.", nil, nil),
		info: prometheus.NewDesc(prefix+"build_info", "1, with the versions as labels.", nil,
			prometheus.Labels{"version": config.Version, "memcached": config.MemcachedVersion}),
	}
	for i := range metrics {
		c.descs = append(c.descs, prometheus.NewDesc(metrics[i].name, metrics[i].help, nil, nil))
	}
	for i := range classMetrics {
		m := &classMetrics[i]
		c.classDescs = append(c.classDescs, prometheus.NewDesc(prefix+m.name, m.help, []string{"class"}, nil))
	}
	return c
}

// Describe implements prometheus.Collector.
func (c *collector) Describe(out chan<- *prometheus.Desc) {
	for _, list := range [][]*prometheus.Desc{c.descs, c.classDescs, {c.limit, c.loops, c.up, c.info}} {
		for _, d := range list {
			out <- d
		}
	}
}

// Collect implements prometheus.Collector.
func (c *collector) Collect(out chan<- prometheus.Metric) {
	t := c.env.Totals()
	for i := range metrics {
		m := &metrics[i]
		out <- prometheus.MustNewConstMetric(c.descs[i], kind(m.counter), m.value(t))
	}
	for class := range t.Class {
		if t.Store.Class[class].Items == 0 && t.Class[class].SetCmds == 0 {
			continue
		}
		label := strconv.Itoa(class)
		for i := range classMetrics {
			m := &classMetrics[i]
			out <- prometheus.MustNewConstMetric(c.classDescs[i], kind(m.counter), m.value(t, class), label)
		}
	}
	now := c.env.Clock.Ms()
	for d, v := range map[*prometheus.Desc]float64{
		c.limit: float64(c.env.Store.Limit()), c.loops: float64(len(c.env.Workers)),
		c.up: float64(now-c.env.Clock.Started()) / 1000, c.info: 1,
	} {
		out <- prometheus.MustNewConstMetric(d, prometheus.GaugeValue, v)
	}
}

func kind(counter bool) prometheus.ValueType {
	if counter {
		return prometheus.CounterValue
	}
	return prometheus.GaugeValue
}

func bit(v bool) uint64 {
	if v {
		return 1
	}
	return 0
}
