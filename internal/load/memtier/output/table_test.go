package output

import (
	"regexp"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

// latencies hides percentiles where memtier_benchmark's histograms have other steps (8 µs) than ours.
func latencies(s string) string {
	return regexp.MustCompile(`(?m)^((?:Sets|Gets|Waits|Pings|Totals) .*?\d\.\d{5})((?: +\d+\.\d{5})+)`).ReplaceAllStringFunc(s, func(line string) string {
		m := regexp.MustCompile(`^(.*?\d\.\d{5})(.*)$`).FindStringSubmatch(line)
		return m[1] + regexp.MustCompile(`\d`).ReplaceAllString(m[2], "#")
	})
}

// What memtier_benchmark 2.3.0 printed for runs whose counts, bytes, windows and mean latencies are those given here.
func TestTablesOfMemtier(t *testing.T) {
	for _, c := range []struct {
		name string
		rep  Report
		want string
	}{
		{"requests", Report{Threads: 1, ClientsPerThread: 2, RequestsPerClient: 500, HideHistogram: true,
			Runs: []*result.Run{run(29231*time.Microsecond, sets, gets)}},
			`1         Threads
2         Connections per thread
500       Requests per client


ALL STATS
============================================================================================================================
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec 
----------------------------------------------------------------------------------------------------------------------------
Sets         3147.34          ---          ---         0.07148         #.#####         #.#####         #.#####       202.66 
Gets        31062.91       410.52     30652.39         0.05719         #.#####         #.#####         #.#####       687.01 
Waits           0.00          ---          ---             ---             ---             ---             ---          --- 
Totals      34210.26       410.52     30652.39         0.05850         #.#####         #.#####         #.#####       889.67 
`},
		{"percentiles", Report{Threads: 1, ClientsPerThread: 2, RequestsPerClient: 500, HideHistogram: true,
			Percentiles: []float64{50, 90, 99, 99.9, 99.99}, Runs: []*result.Run{run(14385*time.Microsecond,
				sample{name: "SET", count: 92, rx: 460, tx: 6434, sum: 92 * 31740, us: []int64{31}},
				sample{name: "GET", count: 908, hits: 12, misses: 896, rx: 4948, tx: 28032, sum: 908 * 29710, us: []int64{30}})}},
			`1         Threads
2         Connections per thread
500       Requests per client


ALL STATS
============================================================================================================================================================
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p90 Latency     p99 Latency   p99.9 Latency p99.990 Latency       KB/sec 
------------------------------------------------------------------------------------------------------------------------------------------------------------
Sets         6395.55          ---          ---         0.03174         #.#####         #.#####         #.#####         #.#####         #.#####       468.02 
Gets        63121.31       834.20     62287.10         0.02971         #.#####         #.#####         #.#####         #.#####         #.#####      2238.93 
Waits           0.00          ---          ---             ---             ---             ---             ---             ---             ---          --- 
Totals      69516.86       834.20     62287.10         0.02990         #.#####         #.#####         #.#####         #.#####         #.#####      2706.95 
`},
		{"seconds", Report{Threads: 1, ClientsPerThread: 2, Seconds: 2, HideHistogram: true, Runs: []*result.Run{run(2000223*time.Microsecond,
			sample{name: "SET", count: 13618, rx: 68090, tx: 951587, sum: 13618 * 28580, us: []int64{31}},
			sample{name: "GET", count: 136174, hits: 115885, misses: 20289, rx: 4620960, tx: 4205201, sum: 136174 * 28470, us: []int64{31}})}},
			`1         Threads
2         Connections per thread
2         Seconds


ALL STATS
============================================================================================================================
Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec 
----------------------------------------------------------------------------------------------------------------------------
Sets         6808.24          ---          ---         0.02858         #.#####         #.#####         #.#####       497.83 
Gets        68079.41     57936.04     10143.37         0.02847         #.#####         #.#####         #.#####      4309.17 
Waits           0.00          ---          ---             ---             ---             ---             ---          --- 
Totals      74887.65     57936.04     10143.37         0.02848         #.#####         #.#####         #.#####      4807.00 
`},
		// KB/sec of the totals was printed as 4678.88
		{"commands", Report{Threads: 1, ClientsPerThread: 2, RequestsPerClient: 500, HideHistogram: true, Commands: true,
			Runs: []*result.Run{run(22741*time.Microsecond,
				sample{name: "SET", count: 500, rx: 2500, tx: 34760, sum: 500 * 46030, us: []int64{47}},
				sample{name: "get", count: 250, rx: 1250, tx: 10718, sum: 250 * 43970, us: []int64{47}},
				sample{name: "PING", count: 250, rx: 1750, tx: 3500, sum: 250 * 47840, us: []int64{39}})}},
			`1         Threads
2         Connections per thread
500       Requests per client


ALL STATS
==================================================================================================
Type         Ops/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec 
--------------------------------------------------------------------------------------------------
Sets        21986.72         0.04603         #.#####         #.#####         #.#####      1600.05 
Gets        10993.36         0.04397         #.#####         #.#####         #.#####       513.94 
Pings       10993.36         0.04784         #.#####         #.#####         #.#####       225.45 
Totals      43973.44         0.04597         #.#####         #.#####         #.#####      2339.44 
`},
	} {
		got := latencies(text(t, &c.rep))
		if got != c.want {
			t.Errorf("%s:\n%s\n%s", c.name, diff(c.want, got), got)
		}
	}
}

func TestHeadsOfMemtier(t *testing.T) {
	head := func(rep Report, rows ...sample) string {
		rep.HideHistogram, rep.Runs = true, []*result.Run{run(time.Second, rows...)}
		lines := strings.Split(text(t, &rep), "\n")
		if lines[6] != strings.Repeat("=", len(lines[7])) || lines[8] != strings.Repeat("-", len(lines[7])) {
			t.Errorf("rules are not as long as\n%s", lines[7])
		}
		for _, l := range lines[9 : len(lines)-1] {
			if len(l) != len(lines[7]) {
				t.Errorf("not as long as\n%s:\n%s", lines[7], l)
			}
		}
		return lines[7]
	}
	for _, c := range []struct{ got, want string }{
		{head(Report{Cluster: true}),
			"Type         Ops/sec     Hits/sec   Misses/sec    MOVED/sec      ASK/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec "},
		{head(Report{Percentiles: []float64{50, 99.9, 99.99, 99.999, 12.345, 100, 0, 7.5}}),
			"Type         Ops/sec     Hits/sec   Misses/sec    Avg. Latency     p50 Latency   p99.9 Latency p99.990 Latency p99.999 Latency p12.345 Latency    p100 Latency      p0 Latency    p7.5 Latency       KB/sec "},
		{head(Report{Commands: true}, sample{name: "set"}, sample{name: "GEOSEARCHSTORE"}),
			"Type                 Ops/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec "},
		{head(Report{Commands: true}, sample{name: "SCAN 0"}, sample{name: "SCAN <cursor>"}),
			"Type                Ops/sec    Avg. Latency     p50 Latency     p99 Latency   p99.9 Latency       KB/sec "},
	} {
		if c.got != c.want {
			t.Errorf("want %s\ngot  %s", c.want, c.got)
		}
	}
}

func TestCells(t *testing.T) {
	r := run(time.Second, sample{name: "SET", count: 4, us: []int64{10}}, sample{name: "WAIT", count: 2, rx: 4096, us: []int64{75000}})
	r.Rows[0].Statuses[load.Moved], r.Rows[0].Statuses[load.Ask] = 2, 1
	got := text(t, &Report{Cluster: true, HideHistogram: true, Runs: []*result.Run{r}, Percentiles: []float64{}})
	for _, want := range []string{
		"Sets            4.00          ---          ---         2.00         1.00         0.01000         0.00 \n",
		"Gets            0.00         0.00         0.00         0.00         0.00             ---         0.00 \n",
		"Waits           2.00          ---          ---          ---          ---        75.00000          --- \n",
		"Totals          6.00         0.00         0.00         2.00         1.00        25.00667         4.00 \n",
	} {
		if !strings.Contains(got, want) {
			t.Errorf("no line\n%s in\n%s", want, got)
		}
	}
}

func TestLadder(t *testing.T) {
	r := run(time.Second, sample{name: "SET", count: 3, us: []int64{150, 198, 222}}, sample{name: "GET", count: 1, us: []int64{1261500}})
	got := text(t, &Report{Runs: []*result.Run{r}})
	_, got, _ = strings.Cut(got, "Request Latency Distribution\n")
	// as memtier_benchmark printed for such requests, but for the steps of its histograms: 0.151, 0.199, 0.223, 1261.567
	want := `Type     <= msec         Percent
------------------------------------------------------------------------
SET       0.150        0.000
SET       0.150        5.000
SET       0.150       10.000
SET       0.150       15.000
SET       0.150       20.000
SET       0.150       25.000
SET       0.150       30.000
SET       0.198       35.000
SET       0.198       40.000
SET       0.198       45.000
SET       0.198       50.000
SET       0.198       52.500
SET       0.198       55.000
SET       0.198       57.500
SET       0.198       60.000
SET       0.198       62.500
SET       0.198       65.000
SET       0.222       67.500
SET       0.222      100.000
---
GET    1262.486        0.000
GET    1262.486      100.000
---
WAIT      0.000      100.000
`
	if got != want {
		t.Errorf("%s\n%s", diff(want, got), got)
	}
	got = text(t, &Report{Commands: true, Runs: []*result.Run{run(time.Second, sample{name: "geosearchstore", count: 1, us: []int64{31}})}})
	if want := "GEOSEARCHSTORE    0.031        0.000\nGEOSEARCHSTORE    0.031      100.000\n---\n"; !strings.HasSuffix(got, want) {
		t.Errorf("does not end with\n%s:\n%s", want, got)
	}
}

func TestGolden(t *testing.T) {
	a := run(29231*time.Microsecond, sets, gets)
	b := run(40*time.Millisecond, sets, gets)
	one := &Report{Threads: 1, ClientsPerThread: 2, RequestsPerClient: 500, Runs: []*result.Run{a}, Config: []Setting{
		{"server", "127.0.0.1"}, {"port", 11211}, {"unix socket", nil}, {"tls", false}, {"data_size_range", Range{}},
		{"key_minimum", Wide(0)}, {"key_maximum", Wide(10000000000)}, {"key_stddev", 0.0},
	}}
	golden(t, "one.txt", text(t, one))
	golden(t, "one.json", jsonText(t, one))
	three := &Report{Threads: 1, ClientsPerThread: 2, RequestsPerClient: 500, Runs: []*result.Run{a, b, a}, PrintAllRuns: true, HideHistogram: true}
	golden(t, "three.txt", text(t, three))
	golden(t, "three.json", jsonText(t, three))
}
