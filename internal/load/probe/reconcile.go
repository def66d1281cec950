package probe

import (
	"fmt"
	"math"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// Level of a Finding.
type Level string

// Levels.
const (
	Note    Level = "note"    // a number worth knowing
	Warning Level = "warning" // the load may not have measured what was meant
	Failure Level = "failure" // server and client contradict each other
)

// Finding is something that the server's counters say about a load.
type Finding struct {
	Level   Level              `json:"level"`
	Name    string             `json:"name"` // operations, hits, misses, reset, refused, …
	Text    string             `json:"text"`
	Numbers map[string]float64 `json:"numbers,omitempty"`
}

const (
	tolerance = 0.001 // share by which server and client may differ
	fewHits   = 0.01  // hit ratio from which on hits were measured
	oneKey    = 1000  // retrievals from which on one item is no accident
)

// Reconcile holds what the server counted against what the client measured.
func Reconcile(d *Delta, run *result.Run) []Finding {
	r := reconciler{d: d, c: tally(d.Family, run)}
	if d.Reset != "" {
		r.find(Failure, "reset", nil, "%s: nothing can be compared", d.Reset)
		return r.found
	}
	r.operations()
	r.hits()
	r.ratio()
	r.trouble()
	r.processor()
	return r.found
}

// span is from the least to the most that a number may be.
type span struct{ least, most uint64 }

// off is the distance of two spans and the number of each that is nearest to the other.
func (s span) off(o span) (distance, mine, others uint64) {
	switch {
	case s.least > o.most:
		return s.least - o.most, s.least, o.most
	case o.least > s.most:
		return o.least - s.most, s.most, o.least
	}
	both := max(s.least, o.least)
	return 0, both, both
}

// client is what the load generator counted, in the server's units.
type client struct {
	operations, hits, misses span
	looks                    bool // it knows hits from misses
}

func tally(family string, run *result.Run) (c client) {
	var widest uint64 = 1 // units of one request
	for i := range run.Rows {
		row := &run.Rows[i]
		if row.Count == 0 || row.Keys == 0 && row.TX == 0 {
			continue // operations of several requests, which have counted in other rows
		}
		n, wide := row.Count, uint64(1)
		if family == Memcached {
			n, wide = row.Keys, (row.Keys+row.Count-1)/row.Count
		}
		// Servers count some of the requests that they answer with an error, but not all.
		bad := row.Statuses[load.Failed] + row.Statuses[load.Moved] + row.Statuses[load.Ask]
		c.operations.least += less(n, bad*wide)
		c.operations.most += n
		c.hits.least += row.Hits
		c.misses.least += row.Misses
		c.hits.most += row.Hits + bad*wide
		c.misses.most += row.Misses + bad*wide
		widest = max(widest, wide, (row.Keys+row.Count-1)/row.Count)
	}
	c.looks = c.hits.least+c.misses.least > 0
	lost := run.Lost * widest // or were they served?
	c.operations.most += lost
	c.hits.most += lost
	c.misses.most += lost
	return c
}

type reconciler struct {
	d     *Delta
	c     client
	found []Finding
}

func (r *reconciler) find(l Level, name string, numbers map[string]float64, format string, a ...any) {
	r.found = append(r.found, Finding{Level: l, Name: name, Text: fmt.Sprintf(format, a...), Numbers: numbers})
}

// compare two numbers that must be the same.
func (r *reconciler) compare(name string, server, client span) {
	off, s, c := server.off(client)
	share := float64(off) / float64(max(s, c, 1))
	numbers := map[string]float64{"server": float64(s), "client": float64(c), "share": share}
	switch {
	case off == 0:
		r.find(Note, name, numbers, "server and client agree on %d %s", s, name)
	case share <= tolerance:
		r.find(Note, name, numbers, "the server counted %d %s, the client %d: a difference of %.3f %%", s, name, c, 100*share)
	case s > c:
		r.find(Failure, name, numbers, "the server counted %d %s, the client %d: %.2f %% more; other clients may be at work", s, name, c, 100*float64(off)/float64(max(c, 1)))
	default:
		r.find(Failure, name, numbers, "the server counted %d %s, the client %d: %.2f %% less; is this the server that the load went to?", s, name, c, 100*share)
	}
}

func exactly(n uint64) span { return span{n, n} }

func (r *reconciler) operations() {
	if r.d.Warmup {
		r.find(Note, "operations", map[string]float64{"server": float64(r.d.served()), "client": float64(r.c.operations.least)},
			"requests of the warm-up are in the server's numbers only: they are not compared")
		return
	}
	r.compare("operations", exactly(r.d.served()), r.c.operations)
}

func (r *reconciler) hits() {
	if r.d.Warmup || !r.c.looks {
		return
	}
	// Retrievals of memcached that set an expiry count as touches, and so do touches, which find nothing for the client.
	r.compare("hits", span{r.d.Hits, r.d.Hits + r.d.TouchHits}, r.c.hits)
	r.compare("misses", span{r.d.Misses, r.d.Misses + r.d.TouchMisses}, r.c.misses)
}

// ratio warns of loads that measure misses, or a single item.
func (r *reconciler) ratio() {
	hits, misses, who := r.c.hits.least, r.c.misses.least, "client"
	if !r.c.looks {
		hits, misses, who = r.d.Hits, r.d.Misses, "server"
	}
	all := hits + misses
	if all == 0 {
		return
	}
	ratio := float64(hits) / float64(all)
	numbers := map[string]float64{"hits": float64(hits), "misses": float64(misses), "ratio": ratio}
	switch {
	case hits == 0:
		r.find(Warning, "hit ratio", numbers, "none of %d keys was found, says the %s: misses were measured instead of hits; fill the server first", all, who)
	case ratio < fewHits:
		r.find(Warning, "hit ratio", numbers, "%.2f %% of %d keys were found, says the %s: misses were measured instead of hits; fill the server first", 100*ratio, all, who)
	default:
		r.find(Note, "hit ratio", numbers, "%.2f %% of %d keys were found", 100*ratio, all)
	}
	if r.d.Items == 1 && hits >= oneKey {
		r.find(Warning, "one key", map[string]float64{"items": 1, "hits": float64(hits)},
			"the server holds one item, which was found %d times: is the range of keys a single one by mistake?", hits)
	}
}

func (r *reconciler) trouble() {
	d := r.d
	one := func(l Level, name string, n uint64, format string) {
		if n > 0 {
			r.find(l, name, map[string]float64{"count": float64(n)}, format, n)
		}
	}
	one(Warning, "evictions", d.Evictions, "%d items were evicted during the load: they do not fit into the server's memory")
	one(Warning, "refused", d.Rejected, "%d connections were refused: the server's limit of connections is too low")
	one(Warning, "listen disabled", d.ListenDisabled, "%d times the server stopped to accept connections: its limit of connections is too low")
	one(Warning, "errors", d.Errors, "%d errors were counted by the server")
	one(Note, "yields", d.Yields, "%d times a connection had to wait because it had sent many requests at once (memcached's -R)")
	one(Note, "expired", d.Expired, "%d items expired during the load")
}

func (r *reconciler) processor() {
	n := r.d.served()
	if n == 0 || r.d.CPU() <= 0 {
		return
	}
	per := func(ns int64) float64 { return float64(ns) / 1e3 / float64(n) }
	user, system := per(int64(r.d.User)), per(int64(r.d.System))
	numbers := map[string]float64{"user": user, "system": system, "microseconds": user + system}
	text := fmt.Sprintf("the server used %.2f µs of processor time per operation (user %.2f, system %.2f)", user+system, user, system)
	if s := r.d.Elapsed.Seconds(); s > 0 {
		cores := r.d.CPU().Seconds() / s
		numbers["processors"] = math.Round(cores*1e4) / 1e4
		text += fmt.Sprintf(", %.2f processors on average", cores)
	}
	r.find(Note, "processor", numbers, "%s", text)
}
