// Package output writes what memtier_benchmark writes: the tables, the JSON file, HDR files, a CSV file per client, the
// progress line, statsd gauges and Graphite events. Each is a function from what load/result measured to an io.Writer. It
// runs nothing and knows no options; load/memtier calls it. Scripts made for memtier_benchmark 2.3.0 read the outputs
// unchanged: names, order, widths and even the misspelt "Time-Serie" are those of the original. What the original gets
// wrong is right here, and what it does not tell stands at the ends of JSON objects:
//
// Rates are counts over a window. memtier_benchmark takes the mean of the clients' starts to the mean of their ends, and
// so do the tables and the JSON rows when the Run has these (Run.MeanStart, MeanEnd); else it is the first request to the
// end. "Runtime" of the JSON has both windows, and the rate of the whole run in each.
//
// Latencies are those of all requests, exact sums over exact counts, in ms with 5 decimals (10 ns), never cut to whole
// ms or µs. Percentiles come from histograms of 3 digits. Without requests they are 0 in JSON and --- in tables.
//
// BEST and WORST are the runs with the most and fewest operations per second. In AGGREGATED AVERAGE counts are sums over
// the runs, rates are the arithmetic means of the runs' rates, and latencies are of all requests of all runs with
// histograms added, not averaged. The section says so under "Averages".
//
// A bucket of Time-Serie is a second of the run. The last one is usually shorter: when it covers less than a twentieth of
// a second, it is counted in the one before, and each bucket that is not one second long says in "Seconds" how long it is.
// Buckets add up to the row. In AGGREGATED AVERAGE they are added over the runs, and so is "Seconds".
//
// Connection errors belong to no row: they are in Totals.
package output

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// Report is all that tables and JSON are made of.
type Report struct {
	Config            []Setting // for JSON
	Threads           int
	ClientsPerThread  int
	RequestsPerClient uint64        // if Seconds is 0
	Seconds           int           // --test-time
	Runs              []*result.Run // in the order they ran
	Percentiles       []float64     // nil: DefaultPercentiles
	PrintAllRuns      bool          // a section per run besides the best, the worst and the average
	HideHistogram     bool          // no ladders
	Cluster           bool          // columns of MOVED and ASK
	// Commands: the rows are the commands of --command, one row of the Run per command, named by its verb. Else the rows
	// SET, GET and WAIT are shown, also those the Run does not have.
	Commands bool
	ByLine   bool // Commands: rows of the same verb are kept apart, else they are added up
	// ActiveClients of a staircase: clients per thread that the plan has in each second. nil: no staircase.
	ActiveClients []int
	Verified      *Verified // --data-verify
	// Servers are JSON values: what the server counted during each run, and what that says.
	Servers [][]byte
}

// Verified counts the values that were compared after the runs. (The outputs misspell it as the original does.)
type Verified struct{ Good, Failed uint64 }

// DefaultPercentiles of --print-percentiles.
var DefaultPercentiles = []float64{50, 99, 99.9}

func (rep *Report) percentiles() []float64 {
	if rep.Percentiles == nil {
		return DefaultPercentiles
	}
	return rep.Percentiles
}

// section is a table, and an object of the JSON.
type section struct {
	title   string
	runs    []*result.Run // more than one: their average
	average bool
	rows    []row
	total   row
	spans   []float64 // seconds that each bucket of Time-Serie covers, of all runs
}

// row of a section: key is its name in ladders and files (GET), title that in tables (Gets).
type row struct {
	key, title string
	result.Row
	rates
	conn uint64 // connection errors
}

// rates per second.
type rates struct{ ops, hits, misses, moved, ask, rx, tx, conn float64 }

func (r *rates) kb() float64 { return (r.rx + r.tx) / 1024 }

// sections that a report shows, in order.
func (rep *Report) sections() []section {
	n := len(rep.Runs)
	switch n {
	case 0:
		return nil
	case 1:
		return []section{rep.section("ALL STATS", rep.Runs)}
	}
	singles := make([]section, n)
	best, worst := 0, 0
	for i, run := range rep.Runs {
		singles[i] = rep.section(fmt.Sprintf("RUN #%d RESULTS", i+1), []*result.Run{run})
		if singles[i].total.ops > singles[best].total.ops {
			best = i
		}
		if singles[i].total.ops < singles[worst].total.ops {
			worst = i
		}
	}
	var out []section
	if rep.PrintAllRuns {
		out = append(out, singles...)
	}
	b, w := singles[best], singles[worst]
	b.title, w.title = "BEST RUN RESULTS", "WORST RUN RESULTS"
	return append(out, b, w, rep.section(fmt.Sprintf("AGGREGATED AVERAGE RESULTS (%d runs)", n), rep.Runs))
}

// section of one run, or the average of several.
func (rep *Report) section(title string, runs []*result.Run) section {
	s := section{title: title, runs: runs, average: len(runs) > 1}
	rows := make([][]row, len(runs)) // by run
	for i, run := range runs {
		var spans []float64
		rows[i], spans = rep.rows(run)
		for k, x := range spans {
			if k == len(s.spans) {
				s.spans = append(s.spans, 0)
			}
			s.spans[k] += x
		}
	}
	s.rows = rows[0]
	if s.average {
		s.rows = join(rows)
	}
	if len(s.rows) == 0 {
		s.total = row{key: "Totals", title: "Totals"}
	}
	all := make([]result.Row, len(s.rows))
	for i := range s.rows {
		all[i] = s.rows[i].Row
		s.total.rates.add(&s.rows[i].rates)
	}
	s.total.key, s.total.title, s.total.Row = "Totals", "Totals", result.Merge("Totals", all)
	for _, run := range runs {
		s.total.conn += run.ConnErrors
		if w := window(run).seconds(); w > 0 {
			s.total.rates.conn += float64(run.ConnErrors) / w / float64(len(runs))
		}
	}
	return s
}

// join the rows of several runs: Rows are added, rates averaged.
func join(runs [][]row) []row {
	var out []row
	at := map[string]int{}
	same := map[string][]result.Row{}
	for _, rows := range runs {
		for i := range rows {
			r := &rows[i]
			k, ok := at[r.key]
			if !ok {
				k = len(out)
				at[r.key] = k
				out = append(out, row{key: r.key, title: r.title})
			}
			out[k].rates.add(&r.rates)
			same[r.key] = append(same[r.key], r.Row)
		}
	}
	for i := range out {
		out[i].Row = result.Merge(out[i].key, same[out[i].key])
		out[i].rates.scale(1 / float64(len(runs)))
	}
	return out
}

func (r *rates) add(x *rates) {
	r.ops += x.ops
	r.hits += x.hits
	r.misses += x.misses
	r.moved += x.moved
	r.ask += x.ask
	r.rx += x.rx
	r.tx += x.tx
}

func (r *rates) scale(f float64) {
	for _, p := range []*float64{&r.ops, &r.hits, &r.misses, &r.moved, &r.ask, &r.rx, &r.tx} {
		*p *= f
	}
}

// perSecond are the rates of counts over w seconds.
func perSecond(c *result.Counts, w float64) (r rates) {
	if w <= 0 {
		return r
	}
	return rates{
		ops: float64(c.Count) / w, hits: float64(c.Hits) / w, misses: float64(c.Misses) / w,
		moved: float64(c.Statuses[load.Moved]) / w, ask: float64(c.Statuses[load.Ask]) / w,
		rx: float64(c.RX) / w, tx: float64(c.TX) / w,
	}
}

// rows of a run as a report shows them, with the lengths of their buckets.
func (rep *Report) rows(run *result.Run) ([]row, []float64) {
	out := rep.named(run.Rows)
	var all []*result.Row
	for i := range out {
		all = append(all, &out[i].Row)
	}
	spans := buckets(all, run.Duration())
	w := window(run).seconds()
	for i := range out {
		out[i].rates = perSecond(&out[i].Counts, w)
	}
	return out, spans
}

// named gives the rows their names, which are distinct, and adds up what is to be one row.
func (rep *Report) named(rows []result.Row) []row {
	var out []row
	if !rep.Commands {
		for _, key := range []string{"SET", "GET", "WAIT"} {
			var same []result.Row
			for i := range rows {
				if strings.EqualFold(rows[i].Name, key) {
					same = append(same, rows[i])
				}
			}
			out = append(out, row{key: key, title: title(key), Row: one(key, same)})
		}
		return out
	}
	used := map[string]bool{}
	for _, name := range reserved {
		used[name] = true
	}
	groups := map[string][]result.Row{}
	var order []string
	for i := range rows {
		key := strings.ToUpper(rows[i].Name)
		if rep.ByLine {
			key = fmt.Sprint(i, " ", key)
		}
		if groups[key] == nil {
			order = append(order, key)
		}
		groups[key] = append(groups[key], rows[i])
	}
	for _, g := range order {
		name := strings.ToUpper(groups[g][0].Name)
		key, t := name, title(name)
		for n := 2; used[key] || used[t]; n++ {
			key, t = fmt.Sprintf("%s-%d", name, n), fmt.Sprintf("%s-%d", title(name), n)
		}
		used[key], used[t] = true, true
		out = append(out, row{key: key, title: t, Row: one(key, groups[g])})
	}
	return out
}

// reserved are the names in a section of the JSON that no command may take.
var reserved = []string{"Runtime", "Totals", "Active Clients", "Errors", "Client", "Averages"}

// title of a row: Gets for GET. Keys are in upper case.
func title(key string) string {
	_, n := utf8.DecodeRuneInString(key)
	return key[:n] + strings.ToLower(key[n:]) + "s"
}

// one row out of several. It shares no list of seconds with them.
func one(key string, rows []result.Row) result.Row {
	if len(rows) != 1 {
		return result.Merge(key, rows)
	}
	r := rows[0]
	r.Seconds = slices.Clone(r.Seconds)
	return r
}

// short is the length under which a last bucket is counted in the one before.
const short = 0.05

// buckets gives all rows the same number of seconds and tells how long these are.
func buckets(rows []*result.Row, whole time.Duration) []float64 {
	n := 0
	for _, r := range rows {
		for i := range r.Seconds {
			if r.Seconds[i].Counts != (result.Counts{}) {
				n = max(n, i+1)
			}
		}
	}
	n = max(n, int(math.Ceil(whole.Seconds()-short)), 1) // also seconds without an answer
	rest := whole.Seconds() - float64(n-1)
	fold := n > 1 && rest < short
	for _, r := range rows {
		for len(r.Seconds) < n {
			r.Seconds = append(r.Seconds, result.Second{})
		}
		if r.Seconds = r.Seconds[:n]; fold {
			r.Seconds[n-2] = sum(&r.Seconds[n-2], &r.Seconds[n-1])
			r.Seconds = r.Seconds[:n-1]
		}
	}
	spans := make([]float64, n)
	for i := range spans {
		spans[i] = 1
	}
	spans[n-1] = max(0, min(1, rest))
	if fold {
		spans[n-2] += max(0, rest)
		spans = spans[:n-1]
	}
	return spans
}

func sum(a, b *result.Second) result.Second {
	m := result.Merge("", []result.Row{{Seconds: []result.Second{*a}}, {Seconds: []result.Second{*b}}})
	return m.Seconds[0]
}

// span of time over which rates are taken.
type span struct{ from, to time.Time }

func (s span) seconds() float64 { return max(0, s.to.Sub(s.from).Seconds()) }

// window of the rates of a run.
func window(run *result.Run) span {
	if m := (span{run.MeanStart, run.MeanEnd}); !m.from.IsZero() && m.seconds() > 0 {
		return m
	}
	return span{run.Start, run.End}
}

// average latency in ms.
func average(sum int64, count uint64) float64 {
	if count == 0 {
		return 0
	}
	return float64(sum) / float64(count) / 1e6
}

func ms(ns int64) float64 { return float64(ns) / 1e6 }
