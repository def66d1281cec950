package mc

import (
	"bytes"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// statsRow is a sub-command of stats. Like memcached the words are compared over the length that the client sent, in this
// order, so that "stats s" is settings; those marked exact must be sent in full.
type statsRow struct {
	word  string
	exact bool
	run   func(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict
}

var statsRows []statsRow

func init() {
	group := func(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict { return w.statsGroup(r, out) }
	statsRows = []statsRow{
		{word: "reset", run: statsReset},
		{word: "detail", run: statsDetail},
		{word: "settings", run: func(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
			w.statsSettings(textStats(out))
			reply(out, mctext.End)
			return More
		}},
		{word: "cachedump", run: statsCachedump},
		{word: "conns", run: statsConns},
		{word: "extstore", run: statsExtstore},
		{word: "items", exact: true, run: group},
		{word: "slabs", exact: true, run: group},
		{word: "sizes", exact: true, run: statsSizes},
	}
}

// cmdStats is stats [group].
func cmdStats(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	if r.Len() == 1 {
		return w.statsGroup(r, out)
	}
	word := r.Tok(1)
	for i := range statsRows {
		row := &statsRows[i]
		if row.exact && string(word) == row.word || !row.exact && prefix(word, row.word) {
			return row.run(t, w, r, out)
		}
	}
	reply(out, mctext.Error)
	return More
}

// emitter takes one statistic after the other: text and binary write them differently.
type emitter func(name, value string)

func (e emitter) num(name string, v uint64) { e(name, strconv.FormatUint(v, 10)) }
func (e emitter) int(name string, v int64)  { e(name, strconv.FormatInt(v, 10)) }

func yesNo(v bool) string {
	if v {
		return "yes"
	}
	return "no"
}

func textStats(out *bytesx.Out) emitter {
	return func(name, value string) { out.Buf = mctext.AppendStat(out.Buf, name, value) }
}

// statsGroup answers the group that r's second word names in full.
func (w *Worker) statsGroup(r *mctext.Request, out *bytesx.Out) Verdict {
	w.Stats(string(r.Tok(1)), textStats(out))
	reply(out, mctext.End)
	return More
}

// groups are the statistics that are rows of names and values, by their names in full.
var groups = map[string]func(w *Worker, e emitter){
	"":         (*Worker).statsGeneral,
	"settings": (*Worker).statsSettings,
	"items":    (*Worker).statsItems,
	"slabs":    (*Worker).statsSlabs,
	"sizes":    (*Worker).statsSizesAtOnce,
	"reset":    func(w *Worker, _ emitter) { w.ResetStats() },
}

// Stats gives the statistics of a group to emit, in memcached's order. It says false to a group that is unknown or not
// allowed. It is what the binary protocol asks; "detail on", "detail off" and "detail dump" are groups there.
func (w *Worker) Stats(group string, emit func(name, value string)) bool {
	w.L.Publish() // what was counted earlier in this Feed
	w.St.Publish()
	if fn := groups[group]; fn != nil {
		fn(w, emit)
		return true
	}
	word, ok := strings.CutPrefix(group, "detail ")
	if !ok || !w.Set.DumpEnabled {
		return false
	}
	switch { // anything may follow the word
	case strings.HasPrefix(word, "on"):
		w.SetDetail(true)
	case strings.HasPrefix(word, "off"):
		w.SetDetail(false)
	case strings.HasPrefix(word, "dump"):
		emit("detailed", string(w.admin.prefixes.dump(nil)))
	default:
		return false
	}
	return true
}

func statsReset(_ *Text, w *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	w.L.Publish()
	w.St.Publish()
	w.ResetStats()
	reply(out, mctext.Reset)
	return More
}

// statsDetail is stats detail on|off|dump.
func statsDetail(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	const (
		usage      = "CLIENT_ERROR usage: stats detail on|off|dump\r\n"
		notAllowed = "CLIENT_ERROR stats detail not allowed\r\n"
	)
	word := r.Tok(2)
	switch {
	case !w.Set.DumpEnabled:
		reply(out, notAllowed)
	case prefix(word, "on"):
		w.SetDetail(true)
		reply(out, mctext.OK)
	case prefix(word, "off"):
		w.SetDetail(false)
		reply(out, mctext.OK)
	case prefix(word, "dump"):
		out.Buf = w.admin.prefixes.dump(out.Buf)
	default:
		reply(out, usage)
	}
	return More
}

// statsExtstore is the list of pages on flash, of which there are none.
func statsExtstore(_ *Text, _ *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	reply(out, mctext.End)
	return More
}

// statsConns has a few rows per socket and connection, in the order of their descriptors.
func statsConns(_ *Text, w *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	var conns []ConnInfo
	if w.Server != nil {
		w.Server.Conns(func(c ConnInfo) { conns = append(conns, c) })
	}
	slices.SortFunc(conns, func(a, b ConnInfo) int { return a.ID - b.ID })
	for i := range conns {
		c := &conns[i]
		e := textStats(out).under(strconv.Itoa(c.ID))
		if c.UDP {
			e("UDP", "UDP")
		}
		e("addr", c.Addr)
		if c.Listen != "" {
			e("listen_addr", c.Listen)
		}
		if w.Log.watching(c.ID) {
			c.State = "conn_watch"
		}
		e("state", c.State)
		e.int("secs_since_last_cmd", c.SinceLastCmd)
	}
	reply(out, mctext.End)
	return More
}

// classList reads "all" or a list of classes such as "1,2,5", as a set (bit c for class c); empty places in it do not matter.
func classList(arg []byte) (set uint64, ok bool) {
	if string(arg) == "all" {
		return store.AllClasses, true
	}
	for one := range bytes.SplitSeq(arg, []byte(",")) {
		if len(one) == 0 {
			continue
		}
		n, good := bytesx.LooseUint(one)
		if !good || one[0] == '-' || n < 1 || n > 63 {
			return 0, false
		}
		set |= 1 << n
	}
	return set, true
}
