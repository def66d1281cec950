package mc

import (
	"strconv"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// The words of this file tune slabs, LRU queues and flash storage of memcached, which this engine does not have. They are
// checked and answered as memcached would, so that scripts run; nothing else happens.

// tune is one sub-command: its word and what may stand behind it.
type tune struct {
	word   string
	args   int // tokens that must follow
	accept func(w *Worker, r *mctext.Request, at int) string
}

// tuned answers r by the first row whose word r's begins.
func tuned(w *Worker, r *mctext.Request, rows []tune, out *bytesx.Out) Verdict {
	for i := range rows {
		row := &rows[i]
		if prefix(r.Tok(1), row.word) && r.Len() >= 2+row.args {
			reply(out, row.accept(w, r, 2))
			return More
		}
	}
	reply(out, mctext.Error)
	return More
}

var slabsRows = []tune{
	{"reassign", 2, slabsReassign},
	{"automove", 1, slabsAutomove},
}

func cmdSlabs(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return tuned(w, r, slabsRows, out)
}

// maxSlabClass is memcached's largest class with its defaults.
const maxSlabClass = 39

func slabsReassign(w *Worker, r *mctext.Request, at int) string {
	src, ok1 := mctext.I32(r.Tok(at))
	dst, ok2 := mctext.I32(r.Tok(at + 1))
	switch {
	case !w.Set.SlabReassign:
		return mctext.SlabsOff
	case !ok1 || !ok2:
		return mctext.BadFormat
	case src == dst:
		return mctext.SlabsSame
	case src < 0 || dst < 0 || src > maxSlabClass || dst > maxSlabClass:
		return mctext.SlabsClass
	}
	return mctext.SlabsSpare
}

func slabsAutomove(w *Worker, r *mctext.Request, at int) string {
	arg := r.Tok(at)
	switch {
	case prefix(arg, "ratio"), prefix(arg, "freeratio"):
		return okIf(isFloat(r.Tok(at + 1)))
	case prefix(arg, "window"):
		n, ok := mctext.U32(r.Tok(at + 1))
		if !ok {
			return mctext.BadFormat
		}
		if n < 3 || n > 1800 {
			return mctext.SlabsWindow
		}
		return mctext.OK
	}
	level, ok := mctext.U32(arg)
	if !ok {
		return mctext.BadFormat
	}
	return okIf(level <= 2)
}

var lruRows = []tune{
	{"tune", 4, lruTune},
	{"mode", 1, func(w *Worker, r *mctext.Request, at int) string {
		word := r.Tok(at)
		return okIf(w.Set.Maintainer && (prefix(word, "flat") || prefix(word, "segmented")))
	}},
	{"temp_ttl", 1, func(w *Worker, r *mctext.Request, at int) string {
		_, ok := mctext.I32(r.Tok(at))
		return okIf(w.Set.Maintainer && ok)
	}},
}

func cmdLRU(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return tuned(w, r, lruRows, out)
}

func lruTune(_ *Worker, r *mctext.Request, at int) string {
	const most = 80
	hot, ok1 := mctext.U32(r.Tok(at))
	warm, ok2 := mctext.U32(r.Tok(at + 1))
	hotAge, err1 := strconv.ParseFloat(string(r.Tok(at+2)), 64)
	warmAge, err2 := strconv.ParseFloat(string(r.Tok(at+3)), 64)
	switch {
	case !ok1 || !ok2 || err1 != nil || err2 != nil:
		return mctext.Error
	case uint64(hot)+uint64(warm) > most:
		return mctext.LRUPercent
	case hotAge <= 0 || warmAge <= 0:
		return mctext.LRUFactor
	}
	return mctext.OK
}

var extstoreRows = []tune{
	{"free_memchunks", 2, func(_ *Worker, r *mctext.Request, at int) string {
		class, ok1 := mctext.U32(r.Tok(at))
		_, ok2 := mctext.U32(r.Tok(at + 1))
		return okIf(ok1 && ok2 && class <= 63)
	}},
	{"item_size", 1, takesUint},
	{"item_age", 1, takesUint},
	{"low_ttl", 1, takesUint},
	{"recache_rate", 1, takesUint},
	{"compact_under", 1, takesUint},
	{"drop_under", 1, takesUint},
	{"max_sleep", 1, takesUint},
	{"max_frag", 1, func(_ *Worker, r *mctext.Request, at int) string { return okIf(isFloat(r.Tok(at))) }},
	{"drop_unread", 1, takesUint},
}

func cmdExtstore(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	return tuned(w, r, extstoreRows, out)
}

func takesUint(_ *Worker, r *mctext.Request, at int) string {
	_, ok := mctext.U32(r.Tok(at))
	return okIf(ok)
}

func isFloat(b []byte) bool {
	_, err := strconv.ParseFloat(string(b), 64)
	return err == nil
}

func okIf(ok bool) string {
	if ok {
		return mctext.OK
	}
	return mctext.Error
}
