package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/store"
)

// The lines of the log: names and values in memcached's order.

var fetchNames = [...]string{FetchMiss: "not_found", FetchHit: "found", FetchFlushed: "flushed", FetchExpired: "expired"}

// Fetch logs a lookup.
func (l *Logger) Fetch(w *Worker, ev *FetchEvent) {
	if w.Watch.Load()&WatchFetchers == 0 {
		return
	}
	l.log(WatchFetchers, "item_get", func(b []byte) []byte {
		b = appendURI(append(b, " key="...), ev.Key)
		b = append(append(b, " status="...), fetchNames[ev.Status]...)
		return appendPlace(b, ev.Class, w.Conn, ev.Size)
	})
}

var storeNames = [...]string{
	OK: "stored", NotStored: "not_stored", Exists: "exists", NotFound: "not_found", TooLarge: "too_large", NoMemory: "no_memory",
	NonNumeric: "",
}

var modeNames = [...]string{Set: "set", Add: "add", Replace: "replace", Append: "append", Prepend: "prepend"}

// Store logs a storage command.
func (l *Logger) Store(w *Worker, ev *StoreEvent) {
	if w.Watch.Load()&WatchMutations == 0 {
		return
	}
	l.log(WatchMutations, "item_store", func(b []byte) []byte {
		cmd, size := modeNames[ev.Mode], ev.Size
		if ev.CAS {
			cmd = "cas"
		}
		if ev.Code == TooLarge || ev.Code == NoMemory {
			size = 0
		}
		b = appendURI(append(b, " key="...), ev.Key)
		b = append(append(b, " status="...), storeNames[ev.Code]...)
		b = append(append(b, " cmd="...), cmd...)
		b = append(b, " ttl="...)
		if ev.Expiry == 0 {
			b = append(b, '0')
		} else {
			b = bytesx.AppendUint(b, uint64(w.TTL(ev.Expiry)))
		}
		return appendPlace(b, ev.Class, w.Conn, size)
	})
}

func appendPlace(b []byte, class, conn, size int) []byte {
	b = bytesx.AppendInt(append(b, " clsid="...), int64(class))
	b = bytesx.AppendInt(append(b, " cfd="...), int64(conn))
	return bytesx.AppendInt(append(b, " size="...), int64(size))
}

// Delete logs the deletion of an item.
func (l *Logger) Delete(w *Worker, ev *DeleteEvent) {
	if w.Watch.Load()&WatchDeletions == 0 {
		return
	}
	l.log(WatchDeletions, "deleted", func(b []byte) []byte {
		b = appendURI(append(b, " key="...), ev.Key)
		cmd := " cmd=delete"
		if ev.Meta {
			cmd = " cmd=md"
		}
		b = append(b, cmd...)
		b = bytesx.AppendInt(append(b, " clsid="...), int64(ev.Class))
		return bytesx.AppendInt(append(b, " size="...), int64(ev.Size))
	})
}

// evicted logs an item that gave way to others.
func (l *Logger) evicted(e *Env, v *store.View) {
	now := e.Clock.Ms()
	l.log(WatchEvictions, "eviction", func(b []byte) []byte {
		b = appendURI(append(b, " key="...), v.Key)
		b = append(append(b, " fetch="...), yesNo(v.Marks&store.Fetched != 0)...)
		b = append(b, " ttl="...)
		if v.Expiry == 0 {
			b = append(b, "-1"...)
		} else {
			b = bytesx.AppendInt(b, (v.Expiry-now+999)/1000)
		}
		b = bytesx.AppendInt(append(b, " la="...), max(0, now-v.Access)/1000)
		b = bytesx.AppendInt(append(b, " clsid="...), int64(e.Store.ClassOf(len(v.Key), v.Len, v.Flags)))
		return bytesx.AppendInt(append(b, " size="...), int64(v.Len))
	})
}

// sweeps logs what the sweeper did since seen, in the words of memcached's crawler: a line for each class of which it looked
// at something. It gives what there is to see now; seen nil: nothing is logged.
func (l *Logger) sweeps(e *Env, seen *store.Stats) *store.Stats {
	now := e.Store.Stats()
	if seen == nil {
		return &now
	}
	for class := range now.Class {
		examined := now.Class[class].SweptChecked - seen.Class[class].SweptChecked
		if examined == 0 {
			continue
		}
		reclaimed := now.Class[class].Swept - seen.Class[class].Swept
		l.log(WatchSystem, "lru_crawler", func(b []byte) []byte {
			b = bytesx.AppendUint(append(b, " crawler="...), uint64(class))
			b = bytesx.AppendUint(append(b, " lru=cold low_mark="...), examined/100+1)
			b = bytesx.AppendUint(append(b, " next_reclaims=0 since_run=0 next_run=1 elapsed=0 examined="...), examined)
			return bytesx.AppendUint(append(b, " reclaimed="...), reclaimed)
		})
	}
	return &now
}

// conn logs a connection that opens or closes.
func (l *Logger) conn(kind string, ev *ConnEvent) {
	l.log(WatchConns, kind, func(b []byte) []byte {
		b = append(append(b, " rip="...), ev.Host...)
		b = append(append(b, " rport="...), ev.Port...)
		b = append(append(b, " transport="...), ev.Transport...)
		if ev.Reason != "" {
			b = append(append(b, " reason="...), ev.Reason...)
		}
		return bytesx.AppendInt(append(b, " cfd="...), int64(ev.ID))
	})
}
