package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

func cmdVersion(_ *Text, _ *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	reply(out, mctext.Version)
	return More
}

func cmdQuit(_ *Text, _ *Worker, _ *mctext.Request, _ *bytesx.Out) Verdict {
	return Close
}

// cmdVerbosity is verbosity <n> [noreply].
func cmdVerbosity(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	const most = 2
	n, ok := mctext.U32(r.Tok(1))
	if !ok {
		reply(out, mctext.BadFormat)
		return More
	}
	w.Verbose.Store(int32(min(n, most)))
	reply(out, mctext.OK)
	return More
}

// cmdShutdown is shutdown [graceful].
func cmdShutdown(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	switch {
	case !w.Set.Shutdown:
		reply(out, mctext.NoShutdown)
	case r.Len() == 1:
		return Shut
	case r.Len() == 2 && prefix(r.Tok(1), "graceful"):
		return ShutGraceful
	default:
		reply(out, mctext.BadShutdown)
	}
	return More
}

// prefix says whether a client's word is word, or its beginning: memcached compares sub-commands over the length of what
// was sent.
func prefix(sent []byte, word string) bool {
	return len(sent) > 0 && len(sent) <= len(word) && string(sent) == word[:len(sent)]
}

// cmdCacheMemlimit is cache_memlimit <megabytes> [noreply].
func cmdCacheMemlimit(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	const least, most = 8, 1_000_000_000
	n, ok := mctext.U32(r.Tok(1))
	switch {
	case !ok:
		reply(out, mctext.Error)
	case n < least:
		reply(out, mctext.MemSmall)
	case n > most:
		reply(out, mctext.MemNotMB)
	case w.Set.LargePages || w.Set.MemoryFile != "" || w.Store.SetLimit(int64(n)<<20) != nil:
		reply(out, mctext.MemRefused)
	default:
		reply(out, mctext.OK)
	}
	return More
}

func cmdRefreshCerts(_ *Text, w *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	if err := w.Server.RefreshCerts(); err != nil {
		reply(out, err.Error())
		reply(out, "\r\n")
		return More
	}
	reply(out, mctext.OK)
	return More
}
