package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// row is one verb of the text protocol.
type row struct {
	name string
	// run answers a request that is complete with its line.
	run func(t *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict
	// storage answers a request that has a value behind its line of n bytes, and says how much of in it used.
	storage func(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) (used int)
	// quiet: noreply as the last word hides every answer. (Storage commands see to it themselves.)
	quiet bool
	// least number of tokens: with fewer the line is malformed, which noreply does not hide.
	least int
	// flagsAt is the first token of a meta command's flags.
	flagsAt int
	// slow verbs are found by their first token; the others by the bytes before the first space, so that a leading
	// space makes them unknown.
	slow bool
}

// table is every verb.
var table = [...]row{
	{name: "get", run: cmdGet},
	{name: "gets", run: cmdGets},
	{name: "gat", run: cmdGat, least: 3},
	{name: "gats", run: cmdGats, least: 3},

	{name: "set", storage: cmdSet},
	{name: "add", storage: cmdAdd},
	{name: "replace", storage: cmdReplace},
	{name: "append", storage: cmdAppend},
	{name: "prepend", storage: cmdPrepend},
	{name: "cas", storage: cmdCas},

	{name: "delete", run: cmdDelete, quiet: true, least: 2},
	{name: "incr", run: cmdIncr, quiet: true, least: 3},
	{name: "decr", run: cmdDecr, quiet: true, least: 3},
	{name: "touch", run: cmdTouch, quiet: true, least: 3},

	{name: "mg", run: cmdMetaGet, least: 2, flagsAt: 2},
	{name: "ms", storage: cmdMetaSet, flagsAt: 3},
	{name: "md", run: cmdMetaDelete, least: 2, flagsAt: 2},
	{name: "ma", run: cmdMetaArith, least: 2, flagsAt: 2},
	{name: "me", run: cmdMetaDebug, least: 2, flagsAt: 2},
	{name: "mn", run: cmdMetaNoop},

	{name: "version", run: cmdVersion},
	{name: "quit", run: cmdQuit},
	{name: "stats", run: cmdStats},
	{name: "watch", run: cmdWatch},

	{name: "flush_all", run: cmdFlushAll, quiet: true, slow: true},
	{name: "verbosity", run: cmdVerbosity, quiet: true, slow: true},
	{name: "shutdown", run: cmdShutdown, quiet: true, slow: true},
	{name: "cache_memlimit", run: cmdCacheMemlimit, quiet: true, slow: true},
	{name: "refresh_certs", run: cmdRefreshCerts, quiet: true, slow: true},
	{name: "lru_crawler", run: cmdLRUCrawler, quiet: true, slow: true},
	{name: "slabs", run: cmdSlabs, quiet: true, slow: true},
	{name: "lru", run: cmdLRU, quiet: true, slow: true},
	{name: "extstore", run: cmdExtstore, quiet: true, slow: true},
	{name: "debugtime", run: cmdDebugTime, quiet: true, slow: true},
	{name: "debugitem", run: cmdDebugItem, quiet: true, slow: true},
}

// maxVerb is the longest name.
const maxVerb = 14

// byLength has the rows of the table by the length of their names: a verb is compared with two to five others.
var byLength [maxVerb + 1][]*row

func init() {
	for i := range table {
		r := &table[i]
		byLength[len(r.name)] = append(byLength[len(r.name)], r)
	}
}

// lookup finds the row of a request, nil if there is none.
func lookup(verb, first []byte) *row {
	if r := named(verb); r != nil {
		return r
	}
	if r := named(first); r != nil && r.slow {
		return r
	}
	return nil
}

func named(name []byte) *row {
	if len(name) > maxVerb {
		return nil
	}
	for _, r := range byLength[len(name)] {
		if string(name) == r.name {
			return r
		}
	}
	return nil
}
