package mc

import (
	"os"
	"strconv"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/stats"
)

// cmdStats is stats; its sub-commands are to come.
func cmdStats(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	if r.Len() > 1 {
		reply(out, mctext.Error)
		return More
	}
	w.appendStats(out)
	reply(out, mctext.End)
	return More
}

// appendStats appends the counters of all loops and of the engine.
func (w *Worker) appendStats(out *bytesx.Out) {
	w.L.Publish()
	w.St.Publish()
	var c stats.Counters
	var s stats.Class
	for _, o := range w.Workers {
		one, classes := o.St.Snapshot()
		c.CmdTouch += one.CmdTouch
		c.CmdFlush += one.CmdFlush
		c.CmdMeta += one.CmdMeta
		c.GetMisses += one.GetMisses
		c.GetExpired += one.GetExpired
		c.GetFlushed += one.GetFlushed
		c.DeleteMisses += one.DeleteMisses
		c.ConnYields += one.ConnYields
		for i := range classes {
			s.GetHits += classes[i].GetHits
			s.SetCmds += classes[i].SetCmds
			s.DeleteHits += classes[i].DeleteHits
		}
	}
	e := w.Store.Stats()
	for _, row := range []struct {
		name string
		v    uint64
	}{
		{"pid", uint64(os.Getpid())},
		{"uptime", uint64((w.L.Now() - w.Clock.Started()) / 1000)},
		{"cmd_get", s.GetHits + c.GetMisses},
		{"cmd_set", s.SetCmds},
		{"cmd_flush", c.CmdFlush},
		{"cmd_touch", c.CmdTouch},
		{"cmd_meta", c.CmdMeta},
		{"get_hits", s.GetHits},
		{"get_misses", c.GetMisses},
		{"get_expired", c.GetExpired},
		{"get_flushed", c.GetFlushed},
		{"delete_misses", c.DeleteMisses},
		{"delete_hits", s.DeleteHits},
		{"limit_maxbytes", uint64(w.Store.Limit())},
		{"threads", uint64(len(w.Workers))},
		{"conn_yields", c.ConnYields},
		{"bytes", e.Bytes},
		{"curr_items", e.Items},
		{"total_items", e.TotalItems},
		{"evictions", e.Evictions},
		{"reclaimed", e.Reclaimed},
	} {
		out.Buf = mctext.AppendStat(out.Buf, row.name, strconv.FormatUint(row.v, 10))
	}
}
