package mc

import (
	"sync"
	"sync/atomic"

	"godwit/internal/stats"
	"godwit/internal/store"
)

// Totals are all counters of a server, summed over its loops.
type Totals struct {
	C      stats.Counters
	Class  [64]stats.Class
	All    stats.Class // sum over the classes
	Store  store.Stats
	Conn   ConnStats
	Log    LogStats
	Crawls uint64 // crawls that a client asked for
}

// adminState is what the verbs of this family remember between requests.
type adminState struct {
	mu       sync.Mutex
	base     *Totals           // what stats reset takes away; nil: nothing
	settings map[string]string // settings that were changed at run time, as stats settings shows them

	crawls   atomic.Uint64
	prefixes prefixes
}

// Totals sums up what was counted since the start, stats reset or not. It may be called from any goroutine; loops show
// what they counted once per Feed.
func (e *Env) Totals() *Totals {
	t := &Totals{Store: e.Store.Stats(), Conn: ConnStats{Accepting: true}, Log: e.Log.stats(), Crawls: e.admin.crawls.Load()}
	if e.Server != nil {
		t.Conn = e.Server.ConnStats()
	}
	for _, w := range e.Workers {
		c, classes := w.St.Snapshot()
		t.C.Add(&c)
		for i := range classes {
			t.Class[i].Add(&classes[i])
		}
	}
	for i := range t.Class {
		t.All.Add(&t.Class[i])
	}
	return t
}

// ResetStats has the statistics that clients see start anew. The counters themselves run on.
func (e *Env) ResetStats() {
	t := e.Totals()
	e.admin.mu.Lock()
	e.admin.base = t
	e.admin.mu.Unlock()
	e.admin.prefixes.clear()
}

// sinceReset is Totals less what was counted before the last reset.
func (e *Env) sinceReset() *Totals {
	t := e.Totals()
	e.admin.mu.Lock()
	base := e.admin.base
	e.admin.mu.Unlock()
	if base != nil {
		t.sub(base)
	}
	return t
}

// sub takes the counters of o away; what is no count of events stays.
func (t *Totals) sub(o *Totals) {
	t.C.Sub(&o.C)
	t.All.Sub(&o.All)
	for i := range t.Class {
		t.Class[i].Sub(&o.Class[i])
		subStoreClass(&t.Store.Class[i], &o.Store.Class[i])
	}
	less(&t.Crawls, o.Crawls)
	s, so := &t.Store, &o.Store
	less(&s.TotalItems, so.TotalItems)
	less(&s.Evictions, so.Evictions)
	less(&s.EvictedUnfetched, so.EvictedUnfetched)
	less(&s.EvictedActive, so.EvictedActive)
	less(&s.ExpiredUnfetched, so.ExpiredUnfetched)
	less(&s.Reclaimed, so.Reclaimed)
	less(&s.Swept, so.Swept)
	less(&s.SweptChecked, so.SweptChecked)
	less(&s.OutOfMemory, so.OutOfMemory)
	c, co := &t.Conn, &o.Conn
	less(&c.Total, co.Total)
	less(&c.Rejected, co.Rejected)
	less(&c.ListenDisabled, co.ListenDisabled)
	less(&c.ListenDisabledUs, co.ListenDisabledUs)
	less(&c.ReadKills, co.ReadKills)
	less(&c.WriteKills, co.WriteKills)
	less(&c.TLSNewSessions, co.TLSNewSessions)
	less(&c.TLSHandshakeErrors, co.TLSHandshakeErrors)
	less(&c.TLSProtoErrors, co.TLSProtoErrors)
	less(&t.Log.Written, o.Log.Written)
	less(&t.Log.Skipped, o.Log.Skipped)
	less(&t.Log.Sent, o.Log.Sent)
}

func subStoreClass(c, o *store.ClassStats) {
	less(&c.Evicted, o.Evicted)
	less(&c.EvictedNonzero, o.EvictedNonzero)
	less(&c.EvictedUnfetched, o.EvictedUnfetched)
	less(&c.EvictedActive, o.EvictedActive)
	less(&c.ExpiredUnfetched, o.ExpiredUnfetched)
	less(&c.Reclaimed, o.Reclaimed)
	less(&c.OutOfMemory, o.OutOfMemory)
	less(&c.Swept, o.Swept)
	less(&c.SweptChecked, o.SweptChecked)
	if c.Evicted == 0 {
		c.EvictedTime = 0
	}
}

func less(v *uint64, base uint64) { *v -= base }

// setting remembers a setting changed at run time.
func (e *Env) setting(name, value string) {
	e.admin.mu.Lock()
	defer e.admin.mu.Unlock()
	if e.admin.settings == nil {
		e.admin.settings = map[string]string{}
	}
	e.admin.settings[name] = value
}

// changed is a setting that was changed at run time.
func (e *Env) changed(name string) (value string, ok bool) {
	e.admin.mu.Lock()
	defer e.admin.mu.Unlock()
	value, ok = e.admin.settings[name]
	return value, ok
}
