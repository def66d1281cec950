package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// Bits of Env.Watch: who wants to see what. 0 costs the hot path one untaken branch.
const (
	WatchFetchers  uint32 = 1 << iota // Logger.Fetch
	WatchMutations                    // Logger.Store
	WatchEvictions                    // Logger.evicted, from the store
	WatchConns                        // Env.ConnOpened, Env.ConnClosed
	WatchSystem                       // Logger.sweeps
	WatchDeletions                    // Logger.Delete
	WatchPrefixes                     // stats detail on: see Worker.Detail
)

// watchWords are the words behind watch, in the order in which they are compared, over the length that was sent.
var watchWords = []struct {
	word string
	bits uint32
}{
	{"rawcmds", 0}, // memcached has the word, and no line for it
	{"evictions", WatchEvictions},
	{"fetchers", WatchFetchers},
	{"mutations", WatchMutations},
	{"sysevents", WatchSystem},
	{"connevents", WatchConns},
	{"proxyreqs", 0},
	{"proxyevents", 0},
	{"proxyuser", 0},
	{"deletions", WatchDeletions},
}

// cmdWatch is watch [what ...]. The connection is a watcher from then on.
func cmdWatch(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	const tooMany = "WATCHER_TOO_MANY log watcher limit reached\r\n"
	if !w.Set.WatchEnabled {
		reply(out, mctext.NoWatch)
		return More
	}
	if !out.Empty() {
		reply(out, mctext.WatchPipeline)
		return More
	}
	bits, ok := watchBits(r)
	if !ok {
		reply(out, mctext.Error)
		return More
	}
	if t.Conn == nil || out.Framed { // a datagram has no connection to write to later
		reply(out, mctext.WatchFailed)
		return More
	}
	l := w.Log.watch(w.Env, t.Conn, bits)
	if l == nil {
		reply(out, tooMany)
		return More
	}
	reply(out, mctext.OK)
	t.long = l
	return Yield // what follows the command is the watcher's
}

func watchBits(r *mctext.Request) (bits uint32, ok bool) {
	if r.Len() == 1 {
		return WatchFetchers, true
	}
	for i := 1; i < r.Len(); i++ {
		known := false
		for _, word := range watchWords {
			if known = prefix(r.Tok(i), word.word); known {
				bits |= word.bits
				break
			}
		}
		if !known {
			return 0, false
		}
	}
	return bits, true
}

// FetchStatus is how a lookup ended.
type FetchStatus uint8

const (
	FetchMiss FetchStatus = iota
	FetchHit
	FetchFlushed
	FetchExpired
)

// FetchEvent is one lookup of a key, by any command.
type FetchEvent struct {
	Key         []byte
	Status      FetchStatus
	Class, Size int // of the item, when hit; Size is the value's length
}

// StoreEvent is one storage command after its value arrived, or when it was refused.
type StoreEvent struct {
	Key         []byte
	Code        Code
	Mode        Mode
	CAS         bool  // the command compares ids
	Expiry      int64 // timeline ms
	Class, Size int
}

// DeleteEvent is one delete command that found its item.
type DeleteEvent struct {
	Key         []byte
	Meta        bool
	Class, Size int
}

func (w *Worker) logHit(e *store.Entry, key []byte) {
	w.Log.Fetch(w, &FetchEvent{Key: key, Status: FetchHit, Class: e.Class(), Size: e.Len()})
}

func (w *Worker) logMiss(e *store.Entry, key []byte) {
	w.Log.Fetch(w, &FetchEvent{Key: key, Status: missStatus(e)})
}

func missStatus(e *store.Entry) FetchStatus {
	switch e.Gone() {
	case store.Expired:
		return FetchExpired
	case store.Flushed:
		return FetchFlushed
	}
	return FetchMiss
}

// logLookup logs the lookup that a changing command makes.
func (w *Worker) logLookup(e *store.Entry, key []byte) {
	if e.Found() {
		w.logHit(e, key)
	} else {
		w.logMiss(e, key)
	}
}

// logStore logs a storage command whose item has, or would have had, a value of vlen bytes and the given expiry.
func (w *Worker) logStore(op *StoreOp, code Code, vlen int, expiry int64) {
	if w.Watch.Load() == 0 {
		return
	}
	w.Log.Store(w, &StoreEvent{
		Key: op.Key, Code: code, Mode: op.Mode, CAS: op.Check, Expiry: expiry,
		Class: w.Store.ClassOf(len(op.Key), vlen, op.Flags), Size: vlen,
	})
}

// logDelete logs a delete and its lookup.
func (w *Worker) logDelete(op *DeleteOp, e *store.Entry) {
	if w.Watch.Load() == 0 {
		return
	}
	w.logLookup(e, op.Key)
	if e.Found() && !op.Stale && !op.Empty {
		w.Log.Delete(w, &DeleteEvent{Key: op.Key, Meta: op.Meta, Class: e.Class(), Size: e.Len()})
	}
}

// ConnEvent is a connection that opens or closes.
type ConnEvent struct {
	ID         int
	Transport  string // local, tcp or udp
	Host, Port string // of the client; "unix" and "0" for unix sockets
	Reason     string // why it closes: normal, error, idle_timeout or shutdown
}

// ConnOpened logs a new connection. The caller has seen that somebody watches WatchConns.
func (e *Env) ConnOpened(ev *ConnEvent) { e.Log.conn("conn_new", ev) }

// ConnClosed logs the end of a connection.
func (e *Env) ConnClosed(ev *ConnEvent) { e.Log.conn("conn_close", ev) }
