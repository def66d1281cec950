package mc

import (
	"strconv"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// The crawler of memcached looks for expired items. Here the engine's background sweep does that unasked; crawl has it
// look through everything of the named classes now. Enable, disable, sleep and tocrawl change what stats settings shows and whether the verbs
// are allowed.

// Answers of lru_crawler.
const (
	crawlerRuns    = "ERROR failed to start lru crawler thread\r\n"
	crawlerSleep   = "CLIENT_ERROR sleep must be one second or less\r\n"
	crawlerBusy    = "BUSY currently processing crawler request\r\n"
	crawlerClass   = "BADCLASS invalid class id\r\n"
	crawlerNone    = "NOTSTARTED no items to crawl\r\n"
	crawlerUnknown = "ERROR an unknown error happened\r\n"
	noMetadump     = "ERROR metadump not allowed\r\n"
	noMgdump       = "ERROR key dump not allowed\r\n"
	pipelinedMeta  = "ERROR cannot pipeline other commands before metadump\r\n"
	pipelinedKeys  = "ERROR cannot pipeline other commands before mgdump\r\n"
)

// crawlerRow is a sub-command of lru_crawler: its word, compared over the length sent, and the number of tokens that the
// whole command has.
type crawlerRow struct {
	word   string
	tokens int
	run    func(t *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict
}

var crawlerRows = []crawlerRow{
	{"crawl", 3, crawlerCrawl},
	{"metadump", 3, crawlerMetadump},
	{"mgdump", 3, crawlerMgdump},
	{"sleep", 3, crawlerSetSleep},
	{"tocrawl", 3, crawlerSetTocrawl},
	{"disable", 2, crawlerDisable},
	{"enable", 2, crawlerEnable},
}

// cmdLRUCrawler is lru_crawler <word> [argument].
func cmdLRUCrawler(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	for i := range crawlerRows {
		if row := &crawlerRows[i]; r.Len() == row.tokens && prefix(r.Tok(1), row.word) {
			return row.run(t, w, r.Tok(2), out)
		}
	}
	reply(out, mctext.Error)
	return More
}

// crawlerSetting is the name of the switch in stats settings.
const crawlerSetting = "lru_crawler"

func (e *Env) crawlerOn() bool {
	if v, ok := e.changed(crawlerSetting); ok {
		return v == yesNo(true)
	}
	return e.Set.Crawler
}

func crawlerEnable(_ *Text, w *Worker, _ []byte, out *bytesx.Out) Verdict {
	if w.crawlerOn() {
		reply(out, crawlerRuns)
		return More
	}
	w.setting(crawlerSetting, yesNo(true))
	reply(out, mctext.OK)
	return More
}

func crawlerDisable(_ *Text, w *Worker, _ []byte, out *bytesx.Out) Verdict {
	w.setting(crawlerSetting, yesNo(false))
	reply(out, mctext.OK)
	return More
}

func crawlerSetSleep(_ *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict {
	const most = 1_000_000 // microseconds
	n, ok := mctext.U32(arg)
	switch {
	case !ok:
		reply(out, mctext.BadFormat)
	case n > most:
		reply(out, crawlerSleep)
	default:
		w.setting("lru_crawler_sleep", strconv.FormatUint(uint64(n), 10))
		reply(out, mctext.OK)
	}
	return More
}

func crawlerSetTocrawl(_ *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict {
	n, ok := mctext.U32(arg)
	if !ok {
		reply(out, mctext.BadFormat)
		return More
	}
	w.setting("lru_crawler_tocrawl", strconv.FormatUint(uint64(n), 10))
	reply(out, mctext.OK)
	return More
}

func crawlerCrawl(_ *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict {
	classes, ok := classList(arg)
	switch {
	case !w.crawlerOn():
		reply(out, mctext.CrawlerOff)
	case string(arg) == "hash":
		reply(out, crawlerUnknown)
	case !ok:
		reply(out, crawlerClass)
	case classes == 0:
		reply(out, crawlerNone)
	case !w.Store.Sweep(classes):
		reply(out, crawlerBusy)
	default:
		w.admin.crawls.Add(1)
		reply(out, mctext.OK)
	}
	return More
}

func crawlerMetadump(t *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict {
	d := dump{row: (*dump).metadumpRow, end: mctext.End}
	return t.dump(w, arg, &d, noMetadump, pipelinedMeta, out)
}

func crawlerMgdump(t *Text, w *Worker, arg []byte, out *bytesx.Out) Verdict {
	d := dump{row: (*dump).mgdumpRow, end: mctext.MetaMiss}
	return t.dump(w, arg, &d, noMgdump, pipelinedKeys, out)
}

// dump starts d over the classes of arg, if it may.
func (t *Text) dump(w *Worker, arg []byte, d *dump, notAllowed, pipelined string, out *bytesx.Out) Verdict {
	var ok bool
	if string(arg) == "hash" {
		arg = []byte("all")
	}
	d.classes, ok = classList(arg)
	switch {
	case !w.crawlerOn():
		reply(out, mctext.CrawlerOff)
	case !w.Set.DumpEnabled:
		reply(out, notAllowed)
	case !out.Empty():
		reply(out, pipelined)
	case !ok:
		reply(out, crawlerClass)
	case d.classes == 0:
		reply(out, crawlerNone)
	default:
		reply(out, mctext.OK)
		return t.begins(w, d, out)
	}
	return More
}
