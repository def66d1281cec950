package probe

import (
	"maps"
	"math"
	"strconv"
	"strings"
	"time"
)

// Totals only grow while a server runs. What a server does not tell is 0.
type Totals struct {
	Commands       uint64            `json:"commands"` // requests; with memcached each key of a retrieval is one
	Requests       map[string]uint64 `json:"requests"` // by kind: memcached's get, set, touch, …; commands of RESP
	Hits           uint64            `json:"hits"`
	Misses         uint64            `json:"misses"`
	TouchHits      uint64            `json:"touch_hits"` // memcached: retrievals that set an expiry are among these, not among Hits
	TouchMisses    uint64            `json:"touch_misses"`
	Evictions      uint64            `json:"evictions"`
	Expired        uint64            `json:"expired"`
	BytesIn        uint64            `json:"bytes_in"`
	BytesOut       uint64            `json:"bytes_out"`       // memcached counts an answer a moment after it is sent: the last ones may be missing
	Accepted       uint64            `json:"accepted"`        // connections
	Rejected       uint64            `json:"rejected"`        // connections over the limit
	ListenDisabled uint64            `json:"listen_disabled"` // memcached: times that it stopped to accept connections
	Yields         uint64            `json:"yields"`          // memcached: times that a connection had to wait for others (-R)
	Errors         uint64            `json:"errors"`          // RESP: error answers; memcached: values too large or without memory, failed authentications
	User           time.Duration     `json:"user_ns"`         // processor time
	System         time.Duration     `json:"system_ns"`
}

// Counters are what a server says of itself.
type Counters struct {
	Totals                    // as the server says them, our own requests included
	At          time.Time     `json:"at"`
	Family      string        `json:"family"`
	Version     string        `json:"version"`
	PID         uint64        `json:"pid"`
	Uptime      time.Duration `json:"uptime_ns"`
	Threads     uint64        `json:"threads"`
	Items       uint64        `json:"items"`
	Memory      uint64        `json:"memory"` // bytes used for items; RESP: for everything
	Limit       uint64        `json:"limit"`  // of Memory; 0: none
	Connections uint64        `json:"connections"`
	// Own is which part of Totals the probes of this process have caused since it began, if the server has run so long.
	Own Totals `json:"own"`
	// Greetings is how many commands each connection of the load begins with; the server counts them, the load does not.
	Greetings int `json:"greetings"`
	// Fields are all counters under the server's names.
	Fields map[string]string `json:"-"`
}

func (t *Totals) clone() Totals {
	c := *t
	c.Requests = maps.Clone(t.Requests)
	return c
}

// numbers are pointers to all that can be added.
func (t *Totals) numbers() []*uint64 {
	return []*uint64{
		&t.Commands, &t.Hits, &t.Misses, &t.TouchHits, &t.TouchMisses, &t.Evictions, &t.Expired, &t.BytesIn, &t.BytesOut, &t.Accepted,
		&t.Rejected, &t.ListenDisabled, &t.Yields, &t.Errors,
	}
}

// Add adds those of another server.
func (t *Totals) Add(o *Totals) {
	to, from := t.numbers(), o.numbers()
	for i := range to {
		*to[i] += *from[i]
	}
	if t.Requests == nil {
		t.Requests = map[string]uint64{}
	}
	for k, n := range o.Requests {
		t.Requests[k] += n
	}
	t.User += o.User
	t.System += o.System
}

// sub takes o away. It says whether something of o was larger: that becomes 0.
func (t *Totals) sub(o *Totals) (larger bool) {
	to, from := t.numbers(), o.numbers()
	for i := range to {
		larger = larger || *from[i] > *to[i]
		*to[i] = less(*to[i], *from[i])
	}
	for k, n := range o.Requests {
		larger = larger || n > t.Requests[k]
		if left := less(t.Requests[k], n); left > 0 {
			t.Requests[k] = left
		} else {
			delete(t.Requests, k)
		}
	}
	t.User, t.System = max(0, t.User-o.User), max(0, t.System-o.System)
	return larger
}

func less(a, b uint64) uint64 { return a - min(a, b) }

func (a *answer) count(names ...string) (n uint64) {
	for _, name := range names {
		v, err := strconv.ParseUint(a.fields[name], 10, 64)
		if err != nil || n+v < n {
			continue
		}
		n += v
	}
	return n
}

func (a *answer) seconds(name string) time.Duration {
	s, err := strconv.ParseFloat(a.fields[name], 64)
	if err != nil || !(s > 0) || s > math.MaxInt64/1e9 {
		return 0
	}
	return time.Duration(math.Round(s*1e6)) * time.Microsecond
}

func (a *answer) counters(family string) *Counters {
	c := &Counters{Family: family, Fields: a.fields}
	c.Requests = map[string]uint64{}
	if family == Redis {
		a.redis(c)
	} else {
		a.memcached(c)
	}
	return c
}

func (a *answer) memcached(c *Counters) {
	for kind, n := range map[string]uint64{
		"get": a.count("cmd_get"), "set": a.count("cmd_set"), "touch": a.count("cmd_touch"),
		"incr": a.count("incr_hits", "incr_misses"), "decr": a.count("decr_hits", "decr_misses"),
		"delete": a.count("delete_hits", "delete_misses"), "flush": a.count("cmd_flush"), "meta": a.count("cmd_meta"),
	} {
		if c.Commands += n; n > 0 {
			c.Requests[kind] = n
		}
	}
	c.Hits, c.Misses = a.count("get_hits"), a.count("get_misses")
	c.TouchHits, c.TouchMisses = a.count("touch_hits"), a.count("touch_misses")
	c.Evictions = a.count("evictions")
	c.Expired = a.count("get_expired", "reclaimed", "crawler_reclaimed")
	c.BytesIn, c.BytesOut = a.count("bytes_read"), a.count("bytes_written")
	c.Accepted, c.Rejected = a.count("total_connections"), a.count("rejected_connections")
	c.ListenDisabled, c.Yields = a.count("listen_disabled_num"), a.count("conn_yields")
	c.Errors = a.count("store_too_large", "store_no_memory", "auth_errors")
	c.User, c.System = a.seconds("rusage_user"), a.seconds("rusage_system")
	c.Version, c.PID, c.Uptime = a.fields["version"], a.count("pid"), a.seconds("uptime")
	c.Threads, c.Items = a.count("threads"), a.count("curr_items")
	c.Memory, c.Limit = a.count("bytes"), a.count("limit_maxbytes")
	c.Connections = a.count("curr_connections")
}

func (a *answer) redis(c *Counters) {
	c.Commands = a.count("total_commands_processed")
	for name, v := range a.fields {
		if kind, ok := strings.CutPrefix(name, "cmdstat_"); ok && kind != "" {
			if n := part(v, "calls"); n > 0 {
				c.Requests[kind] = n
			}
		} else if db, ok := strings.CutPrefix(name, "db"); ok {
			if _, err := strconv.ParseUint(db, 10, 32); err == nil {
				c.Items += part(v, "keys")
			}
		}
	}
	c.Hits, c.Misses = a.count("keyspace_hits"), a.count("keyspace_misses")
	c.Evictions, c.Expired = a.count("evicted_keys"), a.count("expired_keys")
	c.BytesIn, c.BytesOut = a.count("total_net_input_bytes"), a.count("total_net_output_bytes")
	c.Accepted, c.Rejected = a.count("total_connections_received"), a.count("rejected_connections")
	c.Errors = a.count("total_error_replies")
	c.User, c.System = a.seconds("used_cpu_user"), a.seconds("used_cpu_sys")
	c.Version, c.PID, c.Uptime = a.fields["redis_version"], a.count("process_id"), a.seconds("uptime_in_seconds")
	if v := a.fields["valkey_version"]; v != "" {
		c.Version = v
	}
	c.Threads = a.count("server_threads") // KeyDB's
	c.Memory, c.Limit = a.count("used_memory"), a.count("maxmemory")
	c.Connections = a.count("connected_clients")
}

// part of a value such as keys=3,expires=0.
func part(v, name string) uint64 {
	for p := range strings.SplitSeq(v, ",") {
		if k, x, ok := strings.Cut(p, "="); ok && k == name {
			n, _ := strconv.ParseUint(x, 10, 64)
			return n
		}
	}
	return 0
}

// Stat is a counter by the server's name for it. What this process has asked for itself is not in it.
func (c *Counters) Stat(name string) (float64, bool) {
	v, err := strconv.ParseFloat(c.Fields[name], 64)
	if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
		return 0, false
	}
	switch name {
	case "total_commands_processed":
		v -= float64(c.Own.Commands)
	case "total_connections", "total_connections_received":
		v -= float64(c.Own.Accepted)
	case "bytes_read", "total_net_input_bytes":
		v -= float64(c.Own.BytesIn)
	case "bytes_written", "total_net_output_bytes":
		v -= float64(c.Own.BytesOut)
	case "curr_connections", "connected_clients":
		v--
	}
	return v, true
}
