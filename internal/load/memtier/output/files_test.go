package output

import (
	"bytes"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load/result"
)

func TestHDRFiles(t *testing.T) {
	r := run(15*time.Millisecond, sample{name: "SET", count: 3, us: []int64{150, 198, 222}}, sample{name: "GET"})
	files := HDRFiles("p", &Report{Runs: []*result.Run{nil, r}}, 2)
	var paths []string
	for _, f := range files {
		paths = append(paths, f.Path)
	}
	if want := []string{"p_FULL_RUN_2.txt", "p_FULL_RUN_2.hgrm", "p_SET_command_run_2.txt", "p_SET_command_run_2.hgrm"}; !slices.Equal(paths, want) {
		t.Fatalf("%v, want %v", paths, want)
	}
	if got, want := files[0].Message, "Writing Full Run command HDR latency histogram results to p_FULL_RUN_2.txt..."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := files[3].Message, "Writing SET command HDR latency histogram results in HistogramLogProcessor format to p_SET_command_run_2.hgrm..."; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	var text, log bytes.Buffer
	if err := files[2].Write(&text); err != nil {
		t.Fatal(err)
	}
	// memtier_benchmark's, with the three decimals of three digits
	want := `       Value   Percentile   TotalCount 1/(1-Percentile)

       0.150     0.000000            1         1.00
       0.150     0.050000            1         1.05
       0.150     0.100000            1         1.11
       0.150     0.150000            1         1.18
       0.150     0.200000            1         1.25
       0.150     0.250000            1         1.33
       0.150     0.300000            1         1.43
       0.198     0.350000            2         1.54
       0.198     0.400000            2         1.67
       0.198     0.450000            2         1.82
       0.198     0.500000            2         2.00
       0.198     0.525000            2         2.11
       0.198     0.550000            2         2.22
       0.198     0.575000            2         2.35
       0.198     0.600000            2         2.50
       0.198     0.625000            2         2.67
       0.198     0.650000            2         2.86
       0.222     0.675000            3         3.08
       0.222     1.000000            3          inf
#[Mean    =        0.190, StdDeviation   =        0.030]
#[Max     =        0.222, Total count    =            3]
#[Buckets =           24, SubBuckets     =         2048]
`
	if text.String() != want {
		t.Errorf("%s\n%s", diff(want, text.String()), text.String())
	}
	if err := files[3].Write(&log); err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(log.String(), "\n")
	for i, want := range []string{
		"#[SET command HDR latency histogram results]",
		"#[Histogram log format version 1.2]",
		"#[StartTime: 1700000000.250 (seconds since epoch), Tue Nov 22:13:20 GMT 2023]",
		`"StartTimestamp","EndTimestamp","Interval_Max","Interval_Compressed_Histogram"`,
		"1700000000.250,1700000000.265,222.0,HISTFAAAA",
	} {
		if !strings.HasPrefix(lines[i], want) {
			t.Errorf("%s, want %s", lines[i], want)
		}
	}
	h, err := hdrhistogram.NewHistogramLogReader(&log).NextIntervalHistogram()
	if err != nil {
		t.Fatal(err)
	}
	if n, low, mid, high := h.TotalCount(), h.Min(), h.ValueAtPercentile(50), h.Max(); n != 3 || low != 150 || mid != 198 || high != 222 {
		t.Errorf("log has %d: %d %d %d", n, low, mid, high)
	}
}

func TestHDRFilesStayInTheirDirectory(t *testing.T) {
	r := run(time.Second, sample{name: "../x/y", count: 1, us: []int64{1}})
	for _, f := range HDRFiles("dir/p", &Report{Commands: true, Runs: []*result.Run{r}}, 1)[2:] {
		if !strings.HasPrefix(f.Path, "dir/p_.._X_Y_command_run_1.") {
			t.Error(f.Path)
		}
	}
}

func TestClientCSV(t *testing.T) {
	set, get := perBucket("SET", 2, 0), perBucket("GET", 1, 3)
	get.Seconds[1].Hits, get.Seconds[1].Misses = 1, 2
	for i := range get.Seconds {
		get.Seconds[i].Service, set.Seconds[i].Service = nil, nil
	}
	var b strings.Builder
	if err := ClientCSV(&b, &Report{}, &result.Client{Rows: []result.Row{set, get}}); err != nil {
		t.Fatal(err)
	}
	want := `Per-Second Benchmark Data
Second,SET Requests,SET Average Latency,SET Total Bytes,SET Total Bytes TX,SET Total Bytes RX,GET Requests,GET Average Latency,GET Total Bytes,GET Total Bytes TX,GET Total Bytes RX,GET Misses,GET Hits,WAIT Requests,WAIT Average Latency
0,2,0.000001,10,6,4,1,0.000001,5,3,2,0,0,0,0.000000
1,0,0.000000,0,0,0,3,0.000001,15,9,6,2,1,0,0.000000

Full-Test GET Latency
Latency (<= msec),Percent
   0.001,0.000
   0.001,100.000

Full-Test SET Latency
Latency (<= msec),Percent
   0.001,0.000
   0.001,100.000

Full-Test WAIT Latency
Latency (<= msec),Percent
   0.000,100.000
`
	if b.String() != want {
		t.Errorf("%s\n%s", diff(want, b.String()), b.String())
	}
	b.Reset()
	if err := ClientCSV(&b, &Report{Commands: true}, &result.Client{Rows: []result.Row{set, perBucket("a,b", 1)}}); err != nil {
		t.Fatal(err)
	}
	want = `Per-Second Benchmark Arbitrary Commands Data
Second,SET Requests,SET Average Latency,SET Total Bytes,SET Total Bytes TX,SET Total Bytes RX,A_B Requests,A_B Average Latency,A_B Total Bytes,A_B Total Bytes TX,A_B Total Bytes RX
0,2,0.000001,10,6,4,1,0.000001,5,3,2
1,0,0.000000,0,0,0,0,0.000000,0,0,0

Full-Test SET Latency
`
	if !strings.HasPrefix(b.String(), want) {
		t.Errorf("%s\n%s", diff(want, b.String()), b.String())
	}
	if got := ClientPath("x", 1, 0, 3); got != "x-1-0-3.csv" {
		t.Error(got)
	}
}

func TestProgress(t *testing.T) {
	for _, c := range []struct {
		s    Snapshot
		want string
	}{
		{Snapshot{Run: 1, Threads: 1, Clients: 2, Elapsed: time.Second, Whole: 2 * time.Second, Since: time.Second,
			All: Tally{75461, 4634706, 75461 * 29000}, Last: Tally{75461, 4634706, 75461 * 29000}},
			"[RUN #1 50%,   1 secs]  1 threads  2 conns:       75461 ops,   75461 (avg:   75461) ops/sec, 4.42MB/sec (avg: 4.42MB/sec),  0.03 (avg:  0.03) msec latency"},
		{Snapshot{Run: 1, Clients: 2, Elapsed: 29230 * time.Microsecond, Requests: 1000, All: Tally{1000, 26630, 1000 * 58000}},
			"[RUN #1 100%,   0 secs]  0 threads  2 conns:        1000 ops,       0 (avg:   34211) ops/sec, 0.00KB/sec (avg: 889.70KB/sec),  0.00 (avg:  0.06) msec latency"},
		{Snapshot{Run: 1, Threads: 1, Clients: 2, ConnErrors: 2, Elapsed: 2 * time.Second, Whole: 5 * time.Second, Since: time.Second,
			All: Tally{50660, 2207000, 50660 * 60000}}, // a second without an answer: -nan in the original
			"[RUN #1 40%,   2 secs]  1 threads  2 conns 2 conn errors:       50660 ops,       0 (avg:   25330) ops/sec, 0.00KB/sec (avg: 1.05MB/sec),  0.00 (avg:  0.06) msec latency"},
		{Snapshot{Run: 12, Threads: 16, Clients: 50, Elapsed: 9 * time.Second, Whole: 2 * time.Second},
			"[RUN #12 100%,   9 secs] 16 threads 50 conns:           0 ops,       0 (avg:       0) ops/sec, 0.00KB/sec (avg: 0.00KB/sec),  0.00 (avg:  0.00) msec latency"},
		{Snapshot{},
			"[RUN #0 0%,   0 secs]  0 threads  0 conns:           0 ops,       0 (avg:       0) ops/sec, 0.00KB/sec (avg: 0.00KB/sec),  0.00 (avg:  0.00) msec latency"},
	} {
		if got := c.s.String(); got != c.want {
			t.Errorf("want %s\ngot  %s", c.want, got)
		}
	}
	var b strings.Builder
	for _, last := range []bool{false, true} {
		_ = Progress(&b, &Snapshot{}, true, last)
		_ = Progress(&b, &Snapshot{}, false, last)
	}
	line := (&Snapshot{}).String()
	if want := line + "\r" + line + "\n" + line + "\n\n" + line + "\n"; b.String() != want {
		t.Errorf("%q, want %q", b.String(), want)
	}
	for b, want := range map[float64]string{0: "0.00KB", 1e6: "976.56KB", 1048576: "1.00MB", 3 << 30: "3.00GB"} {
		if got := volume(b); got != want {
			t.Errorf("%v: %s, want %s", b, got, want)
		}
	}
}

func TestStatsd(t *testing.T) {
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer udp.Close()
	events := make(chan string, 4)
	web := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		events <- r.Method + " " + r.URL.Path + " " + r.Header.Get("Content-Type") + " " + string(body)
	}))
	defer web.Close()
	u, _ := url.Parse(web.URL)
	graphite, _ := strconv.Atoi(u.Port())
	s, err := NewStatsd("127.0.0.1", udp.LocalAddr().(*net.UDPAddr).Port, graphite, "memtier", "a b/c", nil, func(err error) { t.Error(err) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Started(1, 2, 2)
	s.Completed(1)
	for _, want := range []string{
		`POST /events/ application/json {"what":"Benchmark Started","tags":"memtier,start,run:a_b_c","data":"threads=2 connections=2 run=1"}`,
		`POST /events/ application/json {"what":"Benchmark Completed","tags":"memtier,end,run:a_b_c","data":"run=1"}`,
	} {
		if got := <-events; got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	x := Snapshot{Run: 1, Connections: 4, Elapsed: 2 * time.Second, Whole: 4 * time.Second, Since: time.Second, ConnErrors: 3,
		All: Tally{200, 2000, 200 * 52000}, Last: Tally{80, 900, 80 * 53000}, Latencies: result.NewHistogram()}
	_ = x.Latencies.RecordValue(55000)
	s.Send(&x)
	s.Zero()
	buf := make([]byte, 1500)
	for _, want := range []string{"ops_sec:80|g", "ops_sec_avg:100|g", "bytes_sec:900|g", "bytes_sec_avg:1000|g", "latency_ms:0.053|ms", "latency_avg_ms:0.052|ms",
		"connections:4|g", "progress_pct:50.000000|g", "connection_errors:3|g", "latency_p50:0.055039|g", "latency_p99:0.055039|g", "latency_p99_9:0.055039|g",
		"ops_sec:0|g", "ops_sec_avg:0|g", "bytes_sec:0|g", "bytes_sec_avg:0|g", "progress_pct:0|g"} {
		_ = udp.SetReadDeadline(time.Now().Add(5 * time.Second))
		n, _, err := udp.ReadFrom(buf)
		if err != nil {
			t.Fatal(err)
		}
		if got := string(buf[:n]); got != "memtier.a_b_c."+want {
			t.Errorf("%s, want %s", got, want)
		}
	}
}

func TestStatsdReportsOnce(t *testing.T) {
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	port := udp.LocalAddr().(*net.UDPAddr).Port
	udp.Close() // nobody listens
	web := httptest.NewServer(http.NotFoundHandler())
	u, _ := url.Parse(web.URL)
	graphite, _ := strconv.Atoi(u.Port())
	defer web.Close()
	var told []string
	s, err := NewStatsd("127.0.0.1", port, graphite, "p", "l", nil, func(err error) { told = append(told, err.Error()) })
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	s.Started(1, 1, 1)
	s.Completed(1)
	for range 3 {
		s.Send(&Snapshot{})
		time.Sleep(5 * time.Millisecond)
	}
	graphites, statsds := 0, 0
	for _, x := range told {
		if strings.HasPrefix(x, "graphite: ") {
			graphites++
		} else {
			statsds++
		}
	}
	if graphites != 1 || statsds > 1 {
		t.Errorf("told %q", told)
	}
}

func TestConfig(t *testing.T) {
	var b strings.Builder
	_ = Config(&b, []Setting{{"server", "127.0.0.1"}, {"uri", ""}, {"unix socket", nil}, {"tls", false}, {"no-expiry", true},
		{"expiry_range", Range{1, 9}}, {"key_maximum", Wide(1000)}, {"key_stddev", 1.5}, {"port", 6379}})
	want := `server = 127.0.0.1
uri = 
unix socket = (null)
tls = no
no-expiry = yes
expiry_range = 1-9
key_maximum = 1000
key_stddev = 1.500000
port = 6379
`
	if b.String() != want {
		t.Errorf("%s\n%s", diff(want, b.String()), b.String())
	}
}

func TestStaircase(t *testing.T) {
	for _, c := range []struct {
		s    Staircase
		want string
	}{
		{Staircase{Start: 2, Step: 2, Most: 6, Every: 1, Seconds: 4}, `[RUN #1] Client staircase pattern (per thread x 1 threads):
  Step 0:   0s -   1s :   2 clients  ███████
  Step 1:   1s -   2s :   4 clients  ██████████████
  Step 2:   2s -   4s :   6 clients  ████████████████████  (max)
  Total max connections: 6 x 1 = 6
  Minimum time to reach max: 2s (test_time: 4s OK)

`},
		{Staircase{Start: 1, Step: 100, Most: 1000, Every: 1, Seconds: 2}, `[RUN #1] Client staircase pattern (per thread x 1 threads):
  Step 0:   0s -   1s :   1 clients  █
  Step 1:   1s -   2s : 101 clients  ███
  Total max connections: 1000 x 1 = 1000
  WARNING: test_time (2s) < time to reach max clients (10s), max will not be reached

`},
	} {
		var b strings.Builder
		_ = c.s.Print(&b, 1, 1)
		if b.String() != c.want {
			t.Errorf("%s\n%s", diff(c.want, b.String()), b.String())
		}
	}
}
