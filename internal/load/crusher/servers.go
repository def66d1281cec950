package crusher

import (
	"slices"
	"strings"

	"godwit/internal/load"
	"godwit/internal/load/face"
	"godwit/internal/load/result"
)

// servers of the plan, each once.
func (p *plan) servers() (list []face.Server) {
	for i, t := range p.targets {
		protocol := "memcache_text"
		if strings.HasPrefix(p.templates[i].Send.name, "bin_") {
			protocol = "memcache_binary"
		}
		at := slices.IndexFunc(list, func(s face.Server) bool { return s.Target == t })
		switch {
		case at < 0:
			list = append(list, face.Server{Target: t, Protocol: protocol})
		case protocol == "memcache_text":
			list[at].Protocol = protocol // a server may know but one of the two
		}
	}
	return list
}

// seen is the run as the servers' counters can be held against it: if some gets were not looked at, hits and misses of the
// others are not those of the server.
func (p *plan) seen(res *result.Run) *result.Run {
	blind := false
	for i, t := range p.templates {
		blind = blind || p.blind(t) && t.Send.gets() && unseen(&res.Rows[i])
	}
	if !blind {
		return res
	}
	r := *res
	r.Rows = slices.Clone(res.Rows)
	for i := range r.Rows {
		r.Rows[i].Hits, r.Rows[i].Misses = 0, 0
	}
	return &r
}

func (s *send) gets() bool { return s.kind == load.Get || s.kind == load.MGet }

// unseen says whether a row has no answer that was looked at.
func unseen(row *result.Row) bool {
	return row.Count == 0 || row.Service == nil || row.Service.TotalCount() == 0
}

// requests that the load makes; 0: it has no end.
func (p *plan) requests() (n uint64) {
	for i, t := range p.templates {
		if t.StopAfter == 0 {
			return 0
		}
		per := uint64(1)
		if t.Send.kind == load.MGet {
			per = uint64(t.MgetCount)
		}
		n += (p.limits[i] + per - 1) / per
	}
	return n
}
