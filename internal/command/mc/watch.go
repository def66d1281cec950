package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// Bits of Env.Watch: who wants to see what. 0 costs the hot path one untaken branch.
const (
	WatchFetchers  uint32 = 1 << iota // Log.Fetch
	WatchMutations                    // Log.Store
	WatchEvictions
	WatchConns
	WatchSystem
	WatchDeletions // Log.Delete
	WatchRaw
	WatchPrefixes // stats detail on: all three
)

// Log sees what the verbs do. It is called under the stripe lock of the item, with slices that are valid during the
// call only, when Env.Watch is not 0.
type Log interface {
	Fetch(w *Worker, ev *FetchEvent)
	Store(w *Worker, ev *StoreEvent)
	Delete(w *Worker, ev *DeleteEvent)
}

// FetchStatus is how a lookup ended.
type FetchStatus uint8

const (
	FetchMiss FetchStatus = iota
	FetchHit
	FetchFlushed
	FetchExpired
)

// FetchEvent is one lookup of a key.
type FetchEvent struct {
	Key         []byte
	Status      FetchStatus
	Class, Size int  // of the item, when hit; Size is the value's length
	Internal    bool // the lookup that a storage command makes: no client asked for the value
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

// DeleteEvent is one delete command.
type DeleteEvent struct {
	Key         []byte
	Found       bool
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

func (w *Worker) logStore(op *StoreOp, code Code, vlen int) {
	if w.Watch.Load() == 0 {
		return
	}
	w.Log.Store(w, &StoreEvent{
		Key: op.Key, Code: code, Mode: op.Mode, CAS: op.Check, Expiry: op.Expiry,
		Class: w.Store.ClassOf(len(op.Key), vlen, op.Flags), Size: vlen,
	})
}

// logLookup logs the lookup that a changing command makes.
func (w *Worker) logLookup(e *store.Entry, key []byte) {
	ev := FetchEvent{Key: key, Internal: true}
	if e.Found() {
		ev.Status, ev.Class, ev.Size = FetchHit, e.Class(), e.Len()
	} else {
		ev.Status = missStatus(e)
	}
	w.Log.Fetch(w, &ev)
}

func (w *Worker) logDelete(op *DeleteOp, e *store.Entry) {
	if w.Watch.Load() == 0 {
		return
	}
	ev := DeleteEvent{Key: op.Key, Meta: op.Meta}
	if e.Found() {
		ev.Found, ev.Class, ev.Size = true, e.Class(), e.Len()
	}
	w.Log.Delete(w, &ev)
}

// cmdWatch finds no log to watch yet.
func cmdWatch(_ *Text, w *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	switch {
	case !w.Set.WatchEnabled:
		reply(out, mctext.NoWatch)
	case !out.Empty():
		reply(out, mctext.WatchPipeline)
	default:
		reply(out, mctext.WatchFailed)
	}
	return More
}
