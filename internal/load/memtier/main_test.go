package memtier

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"
)

// The tests of this file run whole command lines, against Debian's memcached and redis-server if they are installed, and
// against servers that misbehave.

// hang is how long nothing here may take.
const hang = time.Minute

// server is one that a test has started.
type server struct {
	t    *testing.T
	cmd  *exec.Cmd
	port string
}

func freePort(t *testing.T) string {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// start a server and wait until it listens.
func start(t *testing.T, name string, args ...string) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no servers")
	}
	binary, err := exec.LookPath(name)
	if err != nil {
		t.Skipf("no %s to talk to: %v", name, err)
	}
	s := &server{t: t, port: freePort(t)}
	for i := range args {
		args[i] = strings.ReplaceAll(args[i], "PORT", s.port)
	}
	s.cmd = exec.Command(binary, args...)
	s.cmd.Dir = t.TempDir()
	if err := s.cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", name, err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	for end := time.Now().Add(20 * time.Second); time.Now().Before(end); time.Sleep(10 * time.Millisecond) {
		if c, err := net.Dial("tcp", s.addr()); err == nil {
			c.Close()
			return s
		}
	}
	t.Fatalf("%s does not listen", name)
	return nil
}

func startMemcached(t *testing.T, args ...string) *server {
	t.Helper()
	return start(t, "memcached", append([]string{"-p", "PORT", "-U", "0", "-l", "127.0.0.1", "-m", "64", "-u", "nobody"}, args...)...)
}

func startRedis(t *testing.T) *server {
	t.Helper()
	return start(t, "redis-server", "--port", "PORT", "--bind", "127.0.0.1", "--save", "", "--appendonly", "no")
}

func (s *server) addr() string { return "127.0.0.1:" + s.port }

// talk sends text and reads lines until one that begins with end, or with END.
func (s *server) talk(text, end string) (lines []string) {
	s.t.Helper()
	c, err := net.Dial("tcp", s.addr())
	if err != nil {
		s.t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	io.WriteString(c, text)
	for r := bufio.NewScanner(c); r.Scan(); {
		l := r.Text()
		lines = append(lines, l)
		if strings.HasPrefix(l, end) {
			return lines
		}
	}
	s.t.Fatalf("%s: the answer has no line %s: %q", text, end, lines)
	return nil
}

// stats are memcached's counters.
func (s *server) stats() map[string]uint64 {
	s.t.Helper()
	m := map[string]uint64{}
	for _, l := range s.talk("stats\r\n", "END") {
		if f := strings.Fields(l); len(f) == 3 {
			m[f[1]], _ = strconv.ParseUint(f[2], 10, 64)
		}
	}
	return m
}

// calls are the commands that redis-server has served, by name.
func (s *server) calls() map[string]uint64 {
	s.t.Helper()
	m := map[string]uint64{}
	for _, l := range s.talk("INFO commandstats\r\nPING\r\n", "+PONG") {
		name, rest, ok := strings.Cut(strings.TrimPrefix(l, "cmdstat_"), ":calls=")
		if !ok {
			continue
		}
		n, _, _ := strings.Cut(rest, ",")
		m[name], _ = strconv.ParseUint(n, 10, 64)
	}
	return m
}

// outcome of a command line.
type outcome struct {
	code   int
	out    string
	errs   string
	json   map[string]any
	length time.Duration
}

// run a command line to its end. It gets a JSON file, too.
func run(t *testing.T, args ...string) *outcome {
	t.Helper()
	if !slices.ContainsFunc(args, func(s string) bool { return strings.HasPrefix(s, "--servers=") }) {
		args = append([]string{"-s127.0.0.1"}, args...)
	}
	file := filepath.Join(t.TempDir(), "out.json")
	var out, errs bytes.Buffer
	done := make(chan int, 1)
	begin := time.Now()
	go func() {
		done <- Main("memtier", append([]string{"--quiet", "--hide-histogram", "--json-out-file=" + file}, args...), &out, &errs)
	}()
	o := &outcome{}
	select {
	case o.code = <-done:
	case <-time.After(hang):
		t.Fatalf("%s: does not end", args)
	}
	o.length, o.out, o.errs = time.Since(begin), out.String(), errs.String()
	if text, err := os.ReadFile(file); err == nil && len(text) > 0 {
		if err := json.Unmarshal(text, &o.json); err != nil { // nan and inf are no JSON
			t.Errorf("%s: %v in %s", args, err, text)
		}
	}
	return o
}

// good is a run that must end well.
func good(t *testing.T, args ...string) *outcome {
	t.Helper()
	o := run(t, args...)
	if o.code != 0 {
		t.Errorf("%s: exit status %d: %s", args, o.code, o.errs)
	}
	return o
}

// number in the JSON.
func (o *outcome) number(path ...string) float64 {
	var v any = o.json
	for _, p := range path {
		m, _ := v.(map[string]any)
		v = m[p]
	}
	n, ok := v.(float64)
	if !ok {
		return -1
	}
	return n
}

func (o *outcome) all(row, name string) float64 { return o.number("ALL STATS", row, name) }

var memcacheProtocols = []string{"memcache_text", "memcache_binary", "memcache_meta"}

// T1, T2, T9: what the server counts is what was asked for, and what is reported.
func TestCountsOfMemcached(t *testing.T) {
	s := startMemcached(t)
	for _, protocol := range memcacheProtocols {
		for _, c := range []struct {
			args      string
			sets, get uint64 // per client
		}{
			{"-n 44", 4, 40},
			{"-n 45", 5, 40},
			{"-n 50 --ratio=1:1 --pipeline=7", 25, 25},
			{"-n 31 --ratio=1:0 --expiry-range=10-20", 31, 0},
			{"-n 31 --ratio=0:1", 0, 31},
			{"-n 50 --ratio=1:1 --reconnect-interval=7", 25, 25},
			{"-n 49 --ratio=1:1 --reconnect-interval=7 --pipeline=3 --random-data", 25, 24},
			{"-n 30 --ratio=1:9 --multi-key-get=4 --pipeline=2", 8, 22},
			{"-n 20 --ratio=1:1 --verify --key-prefix=verify- --data-size-range=1-3000", 10, 10},
			{"-n 20 --ratio=1:1 --thread-conn-start-max-jitter-micros=1000", 10, 10},
			{"-n 20 --ratio=1:1 --rate=2000", 10, 10},
		} {
			if protocol == "memcache_meta" && strings.Contains(c.args, "multi") {
				continue // its codec has none
			}
			before := s.stats()
			args := append([]string{"-p" + s.port, "-t2", "-c3", "-P" + protocol, "--key-maximum=1000"}, strings.Fields(c.args)...)
			o := good(t, args...)
			after := s.stats()
			keys := c.get
			if strings.Contains(c.args, "multi") {
				keys = 7*9 + 4 // 7 rounds, and a get of the next
			}
			if sets := after["cmd_set"] - before["cmd_set"]; sets != 6*c.sets || o.all("Sets", "Count") != float64(6*c.sets) {
				t.Errorf("%s %s: the server counts %d sets, we %v, should be %d", protocol, c.args, sets, o.all("Sets", "Count"), 6*c.sets)
			}
			if gets := after["cmd_get"] - before["cmd_get"]; gets != 6*keys || o.all("Gets", "Count") != float64(6*c.get) {
				t.Errorf("%s %s: the server counts %d gets, we %v, should be %d of %d keys", protocol, c.args, gets, o.all("Gets", "Count"), 6*c.get, 6*keys)
			}
			if o.all("Totals", "Count") != o.all("Sets", "Count")+o.all("Gets", "Count") || o.all("Totals", "KB/sec RX") <= 0 || o.all("Totals", "KB/sec TX") <= 0 {
				t.Errorf("%s %s: totals %v", protocol, c.args, o.json["ALL STATS"].(map[string]any)["Totals"])
			}
			if c.get > 0 {
				rate, hits, misses := o.all("Gets", "Ops/sec")*float64(keys)/float64(c.get), o.all("Gets", "Hits/sec"), o.all("Gets", "Misses/sec")
				if d := rate - hits - misses; d < -0.1 || d > 0.1 {
					t.Errorf("%s %s: %f keys per second, %f hits, %f misses", protocol, c.args, rate, hits, misses)
				}
			}
		}
	}
}

func TestCountsOfRedis(t *testing.T) {
	s := startRedis(t)
	for _, protocol := range []string{"redis", "resp2", "resp3"} {
		for _, c := range []struct {
			args string
			want string
		}{
			{"-n 44", "set 24, get 240"},
			{"-n 20 --ratio=1:1 --expiry-range=5-9 --select-db=3", "setex 60, get 60"},
			{"-n 20 --ratio=1:1 --data-offset=4", "setrange 60, getrange 60"},
			{"-n 20 --ratio=1:1 --reconnect-interval=3", "set 60, get 60"},
			{"-n 20 --ratio=1:9 --multi-key-get=9", "set 60, mget 60"},
			{"-n 15 --ratio=1:1 --wait-ratio=2:1 --num-slaves=0-1 --wait-timeout=1-1", "set 36, get 36, wait 18"},
			{"-n 9 --command=LPUSH|l:__key__|__data__ --command-ratio=2 --command=LLEN|l:__key__", "lpush 36, llen 18"},
			{"-n 9 --command=INCR|n --pipeline=9", "incr 54"},
		} {
			before := s.calls()
			args := []string{"-p" + s.port, "-t2", "-c3", "-P" + protocol, "--key-maximum=1000"}
			for _, a := range strings.Fields(c.args) {
				args = append(args, strings.ReplaceAll(a, "|", " "))
			}
			o := good(t, args...)
			after := s.calls()
			total := 0.0
			for _, w := range strings.Split(c.want, ", ") {
				var name string
				var n uint64
				fmt.Sscanf(w, "%s %d", &name, &n)
				if got := after[name] - before[name]; got != n {
					t.Errorf("%s %s: %d %s, not %d", protocol, c.args, got, name, n)
				}
				total += float64(n)
			}
			if got := o.all("Totals", "Count"); got != total {
				t.Errorf("%s %s: %v requests reported, not %v", protocol, c.args, got, total)
			}
			if strings.Contains(c.args, "--command") && strings.Contains(o.out, "Hits") {
				t.Errorf("%s %s: hits of commands", protocol, c.args)
			}
		}
	}
}

// T2: the server sees the requests in the order that they should have.
func TestOrderAtServer(t *testing.T) {
	s := startRedis(t)
	c, err := net.Dial("tcp", s.addr())
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(hang))
	io.WriteString(c, "MONITOR\r\n")
	r := bufio.NewScanner(c)
	r.Scan() // OK
	for _, x := range []struct {
		args []string
		want string
	}{
		{[]string{"-n5", "--ratio=2:1"}, `"SET" "k1" "xx"; "SET" "k2" "xx"; "GET" "k1"; "SET" "k3" "xx"; "SET" "k4" "xx"`},
		{[]string{"-n3", "--ratio=1:1", "--pipeline=3"}, `"SET" "k1" "xx"; "GET" "k1"; "SET" "k2" "xx"`},
		{[]string{"-n3", `--command=SETEX __key__ 9 "a\x00__key__"`, "--command-key-pattern=S"}, `"SETEX" "k1" "9" "a\x00k2"; "SETEX" "k3" "9" "a\x00k4"; "SETEX" "k5" "9" "a\x00k1"`},
	} {
		args := []string{"-p" + s.port, "-t1", "-c1", "-d2", "--key-prefix=k", "--key-minimum=1", "--key-maximum=5", "--no-server-stats"}
		if x.args[1][:5] == "--rat" {
			args = append(args, "--key-pattern=S:S")
		}
		good(t, append(args, x.args...)...)
		s.talk("ECHO over\r\n", "over")
		var got []string
		for r.Scan() {
			_, l, _ := strings.Cut(r.Text(), "] ")
			if strings.Contains(l, `"ECHO"`) || strings.Contains(l, `"echo"`) {
				break
			}
			got = append(got, l)
		}
		if g := strings.Join(got, "; "); g != x.want {
			t.Errorf("%s:\n got %s\nwant %s", x.args, g, x.want)
		}
	}
}

func TestScanOfRedis(t *testing.T) {
	s := startRedis(t)
	good(t, "-p"+s.port, "-t1", "-c1", "--ratio=1:0", "-nallkeys", "--key-pattern=P:P", "--key-minimum=1", "--key-maximum=200")
	before := s.calls()
	o := good(t, "-p"+s.port, "-t1", "-c2", "-n50", "--scan-incremental-iteration", "--scan-incremental-max-iterations=4", "--command=SCAN 0 COUNT 5")
	if n := s.calls()["scan"] - before["scan"]; n != 100 {
		t.Errorf("%d SCANs", n)
	}
	rows := o.json["ALL STATS"].(map[string]any)
	if a, b := o.all("Scan 0s", "Count"), o.all("Scan <cursor>s", "Count"); a != 20 || b != 80 {
		t.Errorf("%v from the start, %v with a cursor: %v", a, b, rows)
	}
}

// T6: a value that the server refuses is an error that is counted, and the run ends.
func TestTooLarge(t *testing.T) {
	s := startMemcached(t)
	for _, protocol := range memcacheProtocols {
		o := run(t, "-p"+s.port, "-t1", "-c2", "-n5", "--ratio=1:0", "-P"+protocol, "-d2000000")
		if o.code != ExitSetup || !strings.Contains(o.errs, "10 of 10 requests were answered with an error") {
			t.Errorf("%s: exit status %d: %s", protocol, o.code, o.errs)
		}
	}
	s = startRedis(t)
	o := run(t, "-p"+s.port, "-t1", "-c1", "-n6", "--command=LPUSH l a", "--command=INCR l")
	if o.code != ExitSetup || !strings.Contains(o.errs, "3 of 6 requests were answered with an error") || !strings.Contains(o.errs, "WRONGTYPE") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
}

// T7.
func TestRefused(t *testing.T) {
	o := run(t, "-p"+freePort(t), "-t2", "-c2", "-n5")
	if o.code == 0 || !strings.Contains(o.errs, "refused") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
}

// T8.
func TestRunCount(t *testing.T) {
	s := startMemcached(t)
	o := good(t, "-p"+s.port, "-t1", "-c1", "-n2000", "-x3", "--print-all-runs", "-Pmemcache_text")
	best, worst := o.number("BEST RUN RESULTS", "Totals", "Ops/sec"), o.number("WORST RUN RESULTS", "Totals", "Ops/sec")
	for i := 1; i <= 3; i++ {
		if r := o.number(fmt.Sprintf("RUN #%d RESULTS", i), "Totals", "Ops/sec"); r <= 0 || r > best || r < worst {
			t.Errorf("run %d: %f, best %f, worst %f", i, r, best, worst)
		}
	}
	if n := o.number("AGGREGATED AVERAGE RESULTS (3 runs)", "Totals", "Count"); n != 6000 {
		t.Errorf("%v requests in all", n)
	}
	if st := s.stats(); st["cmd_get"]+st["cmd_set"] != 6000 {
		t.Errorf("the server counts %d gets and %d sets", st["cmd_get"], st["cmd_set"])
	}
}

// T13.
func TestLongKey(t *testing.T) {
	for _, protocol := range memcacheProtocols {
		o := run(t, "-p1", "-P"+protocol, "--key-prefix="+strings.Repeat("k", 260))
		if o.code != ExitUsage || !strings.Contains(o.errs, "250") {
			t.Errorf("%s: exit status %d: %s", protocol, o.code, o.errs)
		}
	}
}

// T5: a server that stops does not stop us: the run ends after its time and the grace for answers, and what was not answered
// has the time that it waited.
func TestStoppedServer(t *testing.T) {
	t.Parallel()
	s := startMemcached(t)
	go func() {
		c, err := net.Dial("tcp", s.addr())
		if err != nil {
			return
		}
		defer c.Close()
		for r := bufio.NewReader(c); ; { // until the load is under way
			fmt.Fprint(c, "stats\r\n")
			for {
				l, err := r.ReadString('\n')
				if err != nil {
					return
				}
				if n, ok := strings.CutPrefix(l, "STAT cmd_get "); ok && len(strings.TrimSpace(n)) > 2 {
					s.cmd.Process.Signal(syscall.SIGSTOP)
					return
				}
				if strings.HasPrefix(l, "END") {
					break
				}
			}
		}
	}()
	o := run(t, "-p"+s.port, "-t2", "-c2", "--test-time=2", "-Pmemcache_text", "--ratio=1:1")
	s.cmd.Process.Signal(syscall.SIGCONT)
	if o.code == 0 || !strings.Contains(o.errs, "4 requests were not answered") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
	if o.length > 30*time.Second {
		t.Errorf("it took %v", o.length)
	}
	if most := o.all("Totals", "Max Latency"); most < 2000 {
		t.Errorf("the longest latency is %v ms", most)
	}
}

// liar listens and gives each connection to serve, which may close it.
func liar(t *testing.T, serve func(n int, c net.Conn)) (port string) {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for n := 0; ; n++ {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				serve(n, c)
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// gets answers so many gets, then returns.
func gets(c net.Conn, n int) {
	for r := bufio.NewReader(c); n > 0; n-- {
		if _, err := r.ReadString('\n'); err != nil {
			return
		}
		io.WriteString(c, "END\r\n")
	}
}

// Servers that send nonsense, nothing or an end are errors, and never a hang.
func TestMisbehavingServers(t *testing.T) {
	all := append([]string{"redis", "resp3"}, memcacheProtocols...)
	servers := map[string]func(int, net.Conn){
		"garbage": func(_ int, c net.Conn) {
			b := make([]byte, 1000)
			for i := range b {
				b[i] = byte(i*7 + 1)
			}
			io.Copy(io.Discard, io.TeeReader(c, writerFunc(func([]byte) { c.Write(b) })))
		},
		"lines": func(_ int, c net.Conn) {
			io.Copy(io.Discard, io.TeeReader(c, writerFunc(func([]byte) { io.WriteString(c, "HTTP/1.1 400 Bad Request\r\n\r\n") })))
		},
		"early": func(_ int, c net.Conn) { io.WriteString(c, "hello\r\n"); io.Copy(io.Discard, c) },
		"close": func(int, net.Conn) {},
		"read and close": func(_ int, c net.Conn) {
			c.Read(make([]byte, 10))
		},
		"half": func(_ int, c net.Conn) {
			c.Read(make([]byte, 10))
			io.WriteString(c, "$10\r\nab")
		},
	}
	for name, serve := range servers {
		port := liar(t, serve)
		for _, protocol := range all {
			o := run(t, "-p"+port, "-t1", "-c2", "-n10", "-P"+protocol)
			if o.code != ExitSetup || o.errs == "" {
				t.Errorf("%s, %s: exit status %d: %s", name, protocol, o.code, o.errs)
			}
		}
	}
}

type writerFunc func([]byte)

func (f writerFunc) Write(b []byte) (int, error) { f(b); return len(b), nil }

// --connection-timeout ends a connection that does not answer, --reconnect-on-error opens one that is lost again.
func TestTimeoutAndReconnect(t *testing.T) {
	t.Parallel()
	port := liar(t, func(_ int, c net.Conn) { io.Copy(io.Discard, c) })
	o := run(t, "-p"+port, "-t1", "-c2", "-n10", "--connection-timeout=1")
	if o.code != ExitSetup || !strings.Contains(o.errs, "silent for 1s") || !strings.Contains(o.errs, "2 connection errors") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
	o = run(t, "-p"+port, "-t1", "-c2", "-n10", "--connection-timeout=1", "-auser:password")
	if o.code != ExitSetup || !strings.Contains(o.errs, "silent for 1s") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
	port = liar(t, func(n int, c net.Conn) {
		if n == 0 {
			gets(c, 4)
		} else {
			gets(c, 1000)
		}
	})
	o = run(t, "-p"+port, "-t1", "-c1", "-n10", "-Pmemcache_text", "--ratio=0:1", "--reconnect-on-error", "--no-server-stats")
	answered, lost := o.all("Gets", "Count"), 0.0
	if strings.Contains(o.errs, "1 requests were not answered") {
		lost = 1
	}
	if o.code != ExitSetup || o.all("Totals", "Connection Errors") != 1 || answered+lost != 10 {
		t.Errorf("exit status %d, %v answers, %v lost: %s", o.code, answered, lost, o.errs)
	}
}

// Items of a file arrive, are read back, and one that is changed is found.
func TestDataVerify(t *testing.T) {
	var list []string
	for i := range 300 {
		list = append(list, fmt.Sprint("key-", i%290), strings.Repeat(fmt.Sprint("v", i, "\r\n,\""), i%50+1)) // ten keys come twice
	}
	var b strings.Builder
	b.WriteString(importHead)
	for i := 0; i < len(list); i += 2 {
		k, v := list[i], list[i+1]
		fmt.Fprintf(&b, "0, 0, 0, %d, 1, 0, 1, %d, %s, \"%s\"\n", len(v)+2, len(k), k, strings.ReplaceAll(v, `"`, `""`))
	}
	file := write(t, "items.csv", b.String())
	check := func(o *outcome, protocol string, good, failed int) {
		t.Helper()
		code := 0
		if failed > 0 {
			code = ExitSetup
		}
		v := "client verifications results"
		if o.code != code || o.number(v, "keys verified successfuly") != float64(good) || o.number(v, "keys failed") != float64(failed) {
			t.Errorf("%s: exit status %d, %v, not %d good and %d failed: %s", protocol, o.code, o.json[v], good, failed, o.errs)
		}
		if !strings.Contains(o.out, fmt.Sprintf("%-10d keys verified successfuly.\n%-10d keys failed.\n", good, failed)) {
			t.Errorf("%s: %s", protocol, o.out)
		}
	}
	for _, protocol := range append([]string{"redis", "resp3"}, memcacheProtocols...) {
		s := (*server)(nil)
		if strings.HasPrefix(protocol, "r") {
			s = startRedis(t)
		} else {
			s = startMemcached(t)
		}
		base := []string{"-p" + s.port, "-t2", "-c2", "-P" + protocol, "--data-import=" + file}
		with := func(more ...string) []string { return append(slices.Clone(base), more...) }
		check(run(t, with("--ratio=1:0", "-n100", "--verify-only")...), protocol, 0, 100)
		check(run(t, with("--ratio=1:1", "-n200", "--data-verify", "--pipeline=3")...), protocol, 100, 0)
		check(run(t, with("--ratio=1:0", "-n750", "--data-verify", "--key-pattern=S:S")...), protocol, 290, 0)
		check(run(t, with("--ratio=1:0", "-nallkeys", "--data-verify", "--key-pattern=P:P")...), protocol, 290, 0)
		// whoever comes last has set the second of the ten
		check(run(t, with("--ratio=1:0", "-n300", "--data-verify")...), protocol, 290, 0)
		check(run(t, with("--ratio=1:0", "-n300", "--verify-only")...), protocol, 290, 0)
		if strings.HasPrefix(protocol, "r") {
			s.talk("SET key-7 other\r\n", "+OK")
			s.talk("DEL key-8\r\n", ":1")
		} else {
			s.talk("set key-7 0 0 5\r\nother\r\n", "STORED")
			s.talk("delete key-8\r\n", "DELETED")
		}
		o := run(t, with("--ratio=1:0", "-n300", "--verify-only")...)
		check(o, protocol, 288, 2)
		for _, want := range []string{`key "key-7": its value, 5 bytes, is not the one that was set`, `key "key-8": it is not there`, "2 of 290 keys"} {
			if !strings.Contains(o.errs, want) {
				t.Errorf("%s: %q is missing: %s", protocol, want, o.errs)
			}
		}
		check(run(t, with("--ratio=1:2", "-n100", "--data-verify", "--generate-keys", "--key-minimum=1", "--key-maximum=50")...), protocol, len(generated(t, file)), 0)
	}
}

// generated are the keys that the last run of TestDataVerify sets.
func generated(t *testing.T, file string) map[string]bool {
	_, plan := planned(t, "-t2", "-c2", "--data-import="+file, "--ratio=1:2", "-n100", "--generate-keys", "--key-minimum=1", "--key-maximum=50")
	seen := map[string]bool{}
	for i := range plan.Clients {
		for _, l := range drain(plan.Clients[i].Source, 1000) {
			if f := strings.Fields(l); f[0] == "set" {
				seen[f[1]] = true
			}
		}
	}
	return seen
}

// A server that is gone when the values are to be read back is an error.
func TestVerifyWithoutServer(t *testing.T) {
	file := write(t, "items.csv", itemsOf("a", "1"))
	o := run(t, "-p"+freePort(t), "-t1", "-c1", "-n1", "--ratio=1:0", "--data-import="+file, "--verify-only")
	if o.code != ExitSetup || !strings.Contains(o.errs, "refused") {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
	port := liar(t, func(_ int, c net.Conn) { gets(c, 0) })
	o = run(t, "-p"+port, "-t1", "-c1", "-n1", "--ratio=1:0", "--data-import="+file, "--verify-only", "-Pmemcache_text")
	if o.code != ExitSetup || o.number("client verifications results", "keys failed") != 1 {
		t.Errorf("exit status %d: %s", o.code, o.errs)
	}
}

// The command lines of the published studies run unchanged but for their length. What a study does not say is chosen here:
// S1's and S3's clients and pipelines, the number of keys, S4's numbers of requests.
func TestStudies(t *testing.T) {
	t.Parallel()
	mc, redis := startMemcached(t, "-m", "1024"), startRedis(t)
	for _, x := range []struct {
		name, args string
		server     *server
		requests   float64
	}{
		{"S0, first trial, text", "--protocol=memcache_text --requests=50", mc, 200 * 50},
		{"S0, first trial, binary", "--protocol=memcache_binary --requests=50", mc, 200 * 50},
		{"S1", "--protocol=memcache_text --ratio=1:10 --data-size=128 --threads=2 --clients=8 --pipeline=32 --key-maximum=100000 --requests=500", mc, 16 * 500},
		{"S2", "--protocol=memcache_text --clients=100 --threads=5 --ratio=1:1 --key-pattern=R:R --key-minimum=16 --key-maximum=16 " +
			"--data-size=128 --requests=20 --run-count=2", mc, 0},
		{"S3", "--protocol=memcache_binary --data-size=32 --ratio=1:9 --key-pattern=R:R --threads=4 --clients=2 --pipeline=25 --requests=500", mc, 8 * 500},
		{"S4, fill", "--threads=4 --ratio=1:0 --requests=100", redis, 200 * 100},
		{"S4", "--threads=4 --requests=100", redis, 200 * 100},
	} {
		o := good(t, append([]string{"-p" + x.server.port}, strings.Fields(x.args)...)...)
		if x.requests > 0 && o.all("Totals", "Count") != x.requests {
			t.Errorf("%s: %v requests of %v", x.name, o.all("Totals", "Count"), x.requests)
		}
		if x.name == "S2" && o.number("AGGREGATED AVERAGE RESULTS (2 runs)", "Totals", "Count") != 2*500*20 {
			t.Errorf("%s: %v requests", x.name, o.number("AGGREGATED AVERAGE RESULTS (2 runs)", "Totals", "Count"))
		}
	}
}
