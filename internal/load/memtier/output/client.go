package output

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"godwit/internal/load/result"
)

// ClientPath is the file of --client-stats for a client: runs are counted from 1, threads and their clients from 0.
func ClientPath(prefix string, run, thread, client int) string {
	return fmt.Sprintf("%s-%d-%d-%d.csv", prefix, run, thread, client)
}

// ClientCSV writes what one client did, by second, and its ladders. Average latencies are in seconds. Seconds are those of
// the run, none is joined with another.
func ClientCSV(w io.Writer, rep *Report, c *result.Client) error {
	b := bufio.NewWriter(w)
	rows := rep.named(c.Rows)
	n := 0
	for i := range rows {
		n = max(n, len(rows[i].Seconds))
	}
	heads := []string{"Second"}
	for i := range rows {
		key := field(rows[i].key)
		heads = append(heads, key+" Requests", key+" Average Latency")
		if !rep.waits(&rows[i]) {
			heads = append(heads, key+" Total Bytes", key+" Total Bytes TX", key+" Total Bytes RX")
		}
		if rep.reads(&rows[i]) {
			heads = append(heads, key+" Misses", key+" Hits")
		}
	}
	if rep.Commands {
		b.WriteString("Per-Second Benchmark Arbitrary Commands Data\n")
	} else {
		b.WriteString("Per-Second Benchmark Data\n")
	}
	fmt.Fprintln(b, strings.Join(heads, ","))
	for sec := range n {
		fmt.Fprint(b, sec)
		for i := range rows {
			var x result.Second
			if sec < len(rows[i].Seconds) {
				x = rows[i].Seconds[sec]
			}
			fmt.Fprintf(b, ",%d,%.6f", x.Count, average(x.Sum, x.Count)/1e3)
			if !rep.waits(&rows[i]) {
				fmt.Fprintf(b, ",%d,%d,%d", x.RX+x.TX, x.TX, x.RX)
			}
			if rep.reads(&rows[i]) {
				fmt.Fprintf(b, ",%d,%d", x.Misses, x.Hits)
			}
		}
		b.WriteByte('\n')
	}
	if !rep.Commands {
		rows[0], rows[1] = rows[1], rows[0] // the ladder of GET comes first
	}
	for i := range rows {
		fmt.Fprintf(b, "\nFull-Test %s Latency\nLatency (<= msec),Percent\n", field(rows[i].key))
		for _, x := range ladder(rows[i].Service) {
			fmt.Fprintf(b, "%8.3f,%.3f\n", ms(x.ValueAt), x.Quantile)
		}
	}
	return b.Flush()
}

// waits says whether a row is that of WAIT, which has no bytes.
func (rep *Report) waits(r *row) bool { return !rep.Commands && r.key == "WAIT" }

// reads says whether a row has hits and misses.
func (rep *Report) reads(r *row) bool { return !rep.Commands && r.key == "GET" }

// field of a CSV file without what would divide it.
func field(s string) string {
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == ',' || r == '"' {
			return '_'
		}
		return r
	}, s)
}
