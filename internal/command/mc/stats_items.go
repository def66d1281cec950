package mc

import (
	"strconv"

	"godwit/internal/config"
	"godwit/internal/store"
)

// This file shows memory the way memcached's tools expect it: in slab classes and pages. The engine has neither. It counts
// items by the class that memcached would have put them in, and what depends on pages is derived from those counts.

// statsItems is stats items: rows for each class that holds items.
func (w *Worker) statsItems(e emitter) {
	t := w.sinceReset()
	ages := w.oldest()
	for i := range t.Store.Class {
		c := &t.Store.Class[i]
		if c.Items <= 0 {
			continue
		}
		w.itemsOf(e.under("items:"+strconv.Itoa(i)), c, t.Class[i].GetHits, ages[i])
	}
}

// under puts a prefix and a colon in front of the names.
func (e emitter) under(prefix string) emitter {
	return func(name, value string) { e(prefix+":"+name, value) }
}

func (w *Worker) itemsOf(e emitter, c *store.ClassStats, hits uint64, age int64) {
	queues, temp := w.Set.Segmented, w.Set.TempLRU
	e.int("number", c.Items)
	if queues {
		e.num("number_hot", 0)
		e.num("number_warm", 0)
		e.int("number_cold", c.Items)
		if temp {
			e.num("number_temp", 0)
		}
		e.num("age_hot", 0)
		e.num("age_warm", 0)
	}
	e.int("age", age)
	e.int("mem_requested", c.Bytes)
	e.num("evicted", c.Evicted)
	e.num("evicted_nonzero", c.EvictedNonzero)
	e.num("evicted_time", c.EvictedTime)
	e.num("outofmemory", c.OutOfMemory)
	e.num("tailrepairs", 0)
	e.num("reclaimed", c.Reclaimed)
	e.num("expired_unfetched", c.ExpiredUnfetched)
	e.num("evicted_unfetched", c.EvictedUnfetched)
	if queues {
		e.num("evicted_active", c.EvictedActive)
	}
	e.num("crawler_reclaimed", c.Swept)
	e.num("crawler_items_checked", c.SweptChecked)
	e.num("lrutail_reflocked", 0)
	if queues {
		e.num("moves_to_cold", 0)
		e.num("moves_to_warm", 0)
		e.num("moves_within_lru", 0)
		e.num("direct_reclaims", 0)
		e.num("hits_to_hot", 0)
		e.num("hits_to_warm", 0)
		e.num("hits_to_cold", hits)
		e.num("hits_to_temp", 0)
	}
}

// Bounds of the look at items that stats items takes, so that a large cache does not hold up its loop.
const (
	ageItems  = 8192
	ageGroups = 4096
)

// oldest is how many seconds ago the item of each class was used that has not been used for longest. Of a large cache it
// sees a part: keys are spread over it by their hash, so that is a random sample.
func (w *Worker) oldest() (ages [64]int64) {
	var at store.Cursor
	now := w.L.Now()
	seen := 0
	look := func(v *store.View) {
		seen++
		class := w.Store.ClassOf(len(v.Key), v.Len, v.Flags)
		ages[class] = max(ages[class], (now-v.Access)/1000)
	}
	for n := 0; n < ageGroups && seen < ageItems && w.L.Walk(&at, look); n++ {
	}
	return ages
}

// statsSlabs is stats slabs: rows for each class that has or had items, as if memory were cut into pages of chunks.
func (w *Worker) statsSlabs(e emitter) {
	t, all := w.sinceReset(), w.Totals()
	sizes := w.Set.Classes()
	active := 0
	for i, chunk := range sizes {
		class := i + 1
		c := &t.Store.Class[class]
		if c.Items <= 0 && all.Class[class].SetCmds == 0 {
			continue
		}
		active++
		used := max(0, c.Items)
		if class == len(sizes) { // large items are chains of chunks of the last class
			used = max(used, (c.Bytes+int64(chunk)-1)/int64(chunk))
		}
		perPage := int64(config.PerSlab(chunk))
		pages := max(1, (used+perPage-1)/perPage)
		k := &t.Class[class]
		e := e.under(strconv.Itoa(class))
		e.int("chunk_size", int64(chunk))
		e.int("chunks_per_page", perPage)
		e.int("total_pages", pages)
		e.int("total_chunks", pages*perPage)
		e.int("used_chunks", used)
		e.int("free_chunks", pages*perPage-used)
		e.num("free_chunks_end", 0)
		e.num("get_hits", k.GetHits)
		e.num("cmd_set", k.SetCmds)
		e.num("delete_hits", k.DeleteHits)
		e.num("incr_hits", k.IncrHits)
		e.num("decr_hits", k.DecrHits)
		e.num("cas_hits", k.CasHits)
		e.num("cas_badval", k.CasBadval)
		e.num("touch_hits", k.TouchHits)
	}
	e.int("active_slabs", int64(active))
	e.num("total_malloced", t.Store.LogBytes+t.Store.RegionBytes)
}
