package crusher

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"math"
	"net"
	"strconv"
	"strings"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// statsPatience is how long a server may take to answer stats.
const statsPatience = 2 * time.Second

// counters are what a server answers to stats. Texts are left out.
type counters map[string]float64

// askStats reads the counters of a server.
func askStats(ctx context.Context, network, addr string) (counters, error) {
	ctx, cancel := context.WithTimeout(ctx, statsPatience)
	defer cancel()
	var d net.Dialer
	nc, err := d.DialContext(ctx, network, addr)
	if err != nil {
		return nil, err
	}
	defer nc.Close()
	stop := context.AfterFunc(ctx, func() { nc.SetDeadline(time.Unix(1, 0)) })
	defer stop()
	if _, err := nc.Write([]byte("stats\r\n")); err != nil {
		return nil, err
	}
	return readStats(bufio.NewReader(nc))
}

var errNoStats = errors.New("the answer to stats is none")

func readStats(r *bufio.Reader) (counters, error) {
	c := counters{}
	for {
		line, err := r.ReadString('\n')
		if err != nil {
			return nil, err
		}
		line = strings.TrimRight(line, "\r\n")
		if line == "END" {
			return c, nil
		}
		rest, ok := strings.CutPrefix(line, "STAT ")
		if !ok {
			return nil, fmt.Errorf("%w: %.60q", errNoStats, line)
		}
		name, value, _ := strings.Cut(rest, " ")
		if v, err := strconv.ParseFloat(value, 64); err == nil && !math.IsNaN(v) && !math.IsInf(v, 0) {
			c[name] = v
		}
	}
}

// witness is a server that counts, too.
type witness struct {
	target    *load.Target
	templates []int // whose requests it serves
	was, is   counters
	err       error
}

// witnesses are the servers of the plan, each once.
func (p *plan) witnesses() (list []*witness) {
	found := map[*load.Target]*witness{}
	for i, t := range p.targets {
		if p.conns[i] == 0 {
			continue
		}
		if found[t] == nil {
			found[t] = &witness{target: t}
			list = append(list, found[t])
		}
		found[t].templates = append(found[t].templates, i)
	}
	return list
}

func (w *witness) before(ctx context.Context) {
	w.was, w.err = askStats(ctx, w.target.Network, w.target.Address)
}

func (w *witness) after(ctx context.Context) {
	if w.err == nil {
		w.is, w.err = askStats(ctx, w.target.Network, w.target.Address)
	}
}

// delta is by how much a counter has grown.
func (w *witness) delta(name string) (d float64, ok bool) {
	was, a := w.was[name]
	is, b := w.is[name]
	return is - was, a && b
}

// sum is what one of the server's counters should show.
type sum struct {
	name  string
	n     uint64
	slack uint64 // errors, of which the server need not count any
}

// sums adds up what the server should have counted for its templates. Hits and misses are left out where some were not
// looked at.
func (w *witness) sums(p *plan, res *result.Run) (list []sum) {
	add := func(name string, n, slack uint64) {
		for i := range list {
			if list[i].name == name {
				list[i].n += n
				list[i].slack += slack
				return
			}
		}
		list = append(list, sum{name, n, slack})
	}
	blind := map[string]bool{}
	both := func(hits, misses string, row *result.Row, hit, miss uint64) {
		if row.Service.TotalCount() == 0 && row.Count > 0 {
			blind[hits], blind[misses] = true, true
		}
		add(hits, hit, row.Errors())
		add(misses, miss, row.Errors())
	}
	for _, i := range w.templates {
		row := &res.Rows[i]
		done, declined := row.Statuses[load.OK], row.Statuses[load.NotStored]
		failed := row.Errors()
		switch p.templates[i].Send.kind {
		case load.Get, load.MGet:
			add("cmd_get", row.Keys, failed*uint64(p.templates[i].keys()))
			both("get_hits", "get_misses", row, row.Hits, row.Misses)
		case load.Set:
			add("cmd_set", row.Count, failed)
		case load.Touch:
			add("cmd_touch", row.Count, failed)
			both("touch_hits", "touch_misses", row, done, declined)
		case load.Incr:
			both("incr_hits", "incr_misses", row, done, declined)
		case load.Decr:
			both("decr_hits", "decr_misses", row, done, declined)
		case load.Delete:
			both("delete_hits", "delete_misses", row, done, declined)
		}
	}
	var seen []sum
	for _, s := range list {
		if !blind[s.name] {
			seen = append(seen, s)
		}
	}
	return seen
}

// keys per request.
func (t *Template) keys() int {
	if t.Send.kind == load.MGet {
		return t.MgetCount
	}
	return 1
}

// tolerance is how far the server's counters and ours may be apart.
const tolerance = 0.001

// agrees says whether the server's number can be ours. lost requests may have been served or not.
func (s *sum) agrees(server float64, lost uint64) bool {
	n := float64(s.n)
	low, high := n-float64(s.slack), n+float64(lost)
	return server >= low-tolerance*n && server <= high+tolerance*n
}
