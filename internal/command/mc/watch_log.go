package mc

import (
	"sync"
	"time"

	"godwit/internal/bytesx"
	"godwit/internal/store"
)

const (
	maxWatchers = 20
	// Watchers are told about new lines so often, instead of once per line: telling may take a system call, which must
	// not be made under the lock of a stripe.
	tellEvery = 5 * time.Millisecond
	// The sweeper is looked at so often for what it did; it makes a pass a second.
	sweepsEvery = time.Second
)

// Logger hands lines about what happens to the clients that watch. The zero value is ready. Lines are made under mu, which
// is taken under stripes, so it is held shortly: nothing waits and nothing is sent under it.
type Logger struct {
	mu       sync.Mutex
	watchers []*watcher
	gid      uint64
	line     []byte // the line being made
	count    LogStats
	telling  bool // the goroutine that tells watchers runs
}

// LogStats are the counters of the log, in lines.
type LogStats struct {
	Written, Skipped, Sent uint64
	Watchers               uint64 // now
}

// watcher is one client that watches: a ring of lines between the log and its connection.
type watcher struct {
	env     *Env
	conn    Conn
	bits    uint32
	ring    ring   // this and the rest: under Logger.mu
	skipped uint64 // lines that found no room since the last one that did
	news    bool   // lines that the connection has not been told about
}

func (l *Logger) stats() LogStats {
	l.mu.Lock()
	defer l.mu.Unlock()
	s := l.count
	s.Watchers = uint64(len(l.watchers))
	return s
}

// watch adds a watcher; nil: there are enough.
func (l *Logger) watch(e *Env, c Conn, bits uint32) *watcher {
	w := &watcher{env: e, conn: c, bits: bits, ring: ring{max: e.Set.WatcherLogbuf}}
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.watchers) >= maxWatchers {
		return nil
	}
	l.watchers = append(l.watchers, w)
	l.changed(e)
	if !l.telling {
		l.telling = true
		go l.tell(e) // ends with the last watcher
	}
	return w
}

// changed sets what is to be logged, after a watcher came or went.
func (l *Logger) changed(e *Env) {
	var bits uint32
	for _, w := range l.watchers {
		bits |= w.bits
	}
	e.Watch.Or(bits)
	e.Watch.And(bits | WatchPrefixes)
	if bits&WatchEvictions == 0 {
		e.Store.Observe(nil)
		return
	}
	e.Store.Observe(func(k store.EventKind, v *store.View) {
		if k == store.Evicted {
			l.evicted(e, v)
		}
	})
}

func (l *Logger) watching(id int) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, w := range l.watchers {
		if w.conn.ID() == id {
			return true
		}
	}
	return false
}

// tell wakes the connections of watchers that have news, and logs what the sweeper does, as long as there are watchers.
func (l *Logger) tell(e *Env) {
	t := time.NewTicker(tellEvery)
	defer t.Stop()
	var conns []Conn
	var seen *store.Stats
	var next time.Time
	for now := range t.C {
		if e.Watch.Load()&WatchSystem == 0 {
			seen = nil
		} else if seen == nil || !now.Before(next) {
			next = now.Add(sweepsEvery)
			seen = l.sweeps(e, seen)
		}
		l.mu.Lock()
		if len(l.watchers) == 0 {
			l.telling = false
			l.mu.Unlock()
			return
		}
		conns = conns[:0]
		for _, w := range l.watchers {
			if w.news {
				w.news = false
				conns = append(conns, w.conn)
			}
		}
		l.mu.Unlock()
		for _, c := range conns {
			c.Wake()
		}
	}
}

// next sends what has collected. What the client says is ignored: it is a watcher until it goes.
func (x *watcher) next(_ *Worker, in []byte, out *bytesx.Out) (used int, v Verdict, done bool) {
	l := &x.env.Log
	l.mu.Lock()
	l.count.Sent += x.ring.lines
	out.Buf = x.ring.take(out.Buf)
	l.mu.Unlock()
	return len(in), More, false
}

func (x *watcher) drop(*Worker) {
	l := &x.env.Log
	l.mu.Lock()
	defer l.mu.Unlock()
	for i, w := range l.watchers {
		if w == x {
			l.watchers = append(l.watchers[:i:i], l.watchers[i+1:]...)
			break
		}
	}
	l.changed(x.env)
}

// log makes a line and gives it to the watchers that want it. fill appends what stands behind the type.
func (l *Logger) log(bits uint32, kind string, fill func(b []byte) []byte) {
	now := time.Now()
	l.mu.Lock()
	defer l.mu.Unlock()
	l.gid++
	l.count.Written++
	b := append(l.line[:0], "ts="...)
	b = bytesx.AppendInt(b, now.Unix())
	b = bytesx.AppendUint(append(b, '.'), uint64(now.Nanosecond()/1000)) // not padded, as in memcached
	b = bytesx.AppendUint(append(b, " gid="...), l.gid)
	b = append(append(b, " type="...), kind...)
	b = append(fill(b), '\n')
	l.line = b
	for _, w := range l.watchers {
		if w.bits&bits != 0 && !w.put(b) {
			l.count.Skipped++
		}
	}
}

// put adds a line to the ring, or counts it as skipped. The next line that fits is preceded by their number.
func (x *watcher) put(line []byte) bool {
	const most = len("skipped=18446744073709551615\n")
	room := x.ring.room()
	if x.skipped > 0 {
		room -= most
	}
	if len(line) > room {
		x.skipped++
		return false
	}
	if x.skipped > 0 {
		var b [most]byte
		x.ring.put(append(bytesx.AppendUint(append(b[:0], "skipped="...), x.skipped), '\n'))
		x.skipped = 0
	}
	x.ring.put(line)
	x.ring.lines++
	x.news = true
	return true
}

// ring is a queue of bytes that are taken all at once: it needs no second end.
type ring struct {
	max   int
	buf   []byte
	lines uint64
}

func (r *ring) room() int       { return r.max - len(r.buf) }
func (r *ring) put(line []byte) { r.buf = append(r.buf, line...) }

// take moves everything to the end of b.
func (r *ring) take(b []byte) []byte {
	b = append(b, r.buf...)
	r.buf, r.lines = r.buf[:0], 0
	return b
}
