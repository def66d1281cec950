package ycsb

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"net"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"
)

// server is a real one, for as long as the test runs.
type server struct {
	redis bool
	addr  string
}

// start runs memcached, redis-server, keydb-server, or godwit as memcached, if there is one.
func start(t *testing.T, name string) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no servers")
	}
	binary := name
	if name == "godwit" {
		binary, _ = filepath.Abs("../../../bin/godwit")
	}
	binary, err := exec.LookPath(binary)
	if err != nil {
		t.Skipf("no %s: %v", name, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := &server{addr: l.Addr().String(), redis: name != "memcached" && name != "godwit"}
	l.Close()
	_, port, _ := net.SplitHostPort(s.addr)
	args := map[string][]string{
		"memcached":    {"-p", port, "-U", "0", "-l", "127.0.0.1", "-m", "64", "-u", "nobody"},
		"godwit":       {"serve", "-p", port, "-l", "127.0.0.1", "-m", "64"},
		"redis-server": {"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"},
	}[name]
	if name == "keydb-server" {
		args = []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}
	}
	cmd := exec.Command(binary, args...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 500 {
		if c, err := net.Dial("tcp", s.addr); err == nil {
			c.Close()
			return s
		}
		time.Sleep(10 * time.Millisecond) // it says nothing when it is ready
	}
	t.Fatalf("%s does not listen", name)
	return nil
}

// say sends a line and returns what comes up to the line end.
func (s *server) say(t *testing.T, line, end string) string {
	t.Helper()
	c, err := net.Dial("tcp", s.addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(20 * time.Second))
	fmt.Fprintf(c, "%s\r\n", line)
	var all strings.Builder
	for r := bufio.NewReader(c); ; {
		l, err := r.ReadString('\n')
		all.WriteString(l)
		if err != nil {
			t.Fatalf("%s: %v after %q", line, err, &all)
		}
		if strings.HasPrefix(l, end) {
			return all.String()
		}
	}
}

// counters of the commands that the server has carried out.
func (s *server) counters(t *testing.T) map[string]int {
	t.Helper()
	out := map[string]int{}
	ask, end, form := "stats", "END", `STAT (cmd_get|cmd_set|get_misses|curr_items) (\d+)`
	if s.redis {
		ask, end, form = "info commandstats", "\r\n", `cmdstat_(\w+):calls=(\d+)`
	}
	text := s.say(t, ask, end)
	for _, m := range regexp.MustCompile(form).FindAllStringSubmatch(text, -1) {
		out[m[1]], _ = strconv.Atoi(m[2])
	}
	return out
}

// flush empties the server, and its counters.
func (s *server) flush(t *testing.T) {
	t.Helper()
	if s.redis {
		s.say(t, "flushall", "+OK")
		s.say(t, "config resetstat", "+OK")
		return
	}
	s.say(t, "flush_all", "OK")
	s.say(t, "stats reset", "RESET")
}

// do runs a command line against the server and gives the numbers of its output.
func (s *server) do(t *testing.T, code int, line string) (numbers map[string]int, stderr string) {
	t.Helper()
	args := words2(line)
	_, port, _ := net.SplitHostPort(s.addr)
	if s.redis {
		args = append(args, "-p", "redis.host=127.0.0.1", "-p", "redis.port="+port)
	} else {
		args = append(args, "-p", "memcached.hosts="+s.addr)
	}
	var out, errs bytes.Buffer
	ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
	defer cancel()
	if got := run(ctx, "ycsb", args, &out, &errs); got != code {
		t.Fatalf("%s: exit status %d, want %d\n%s%s", line, got, code, &out, &errs)
	}
	numbers = map[string]int{}
	for _, m := range regexp.MustCompile(`(?m)^\[(.*)\], (.*), (\d+)$`).FindAllStringSubmatch(out.String(), -1) {
		numbers[m[1]+" "+m[2]], _ = strconv.Atoi(m[3])
	}
	return numbers, errs.String()
}

// agreed sees to it that the server did not count anything else.
func agreed(t *testing.T, line, stderr string) {
	t.Helper()
	if strings.Contains(stderr, "warning:") {
		t.Errorf("%s:\n%s", line, stderr)
	}
}

const smallLoad = " -p recordcount=300 -p operationcount=1200 -threads 3 -p dataintegrity=true"

// Workloads on memcached: all operations arrive, and what was stored is found.
func TestMemcached(t *testing.T) {
	for _, name := range []string{"memcached", "godwit"} {
		t.Run(name, func(t *testing.T) {
			s := start(t, name)
			for _, protocol := range []string{"text", "binary", "meta"} {
				for _, w := range []string{"a", "b", "c", "d", "f", "f -p memcached.update=merge -p memcached.encoding=compact"} {
					s.flush(t)
					more := w + smallLoad + " -p memcached.protocol=" + protocol
					n, stderr := s.do(t, 0, "load memcached "+more)
					agreed(t, more, stderr)
					c := s.counters(t)
					if n["INSERT Return=OK"] != 300 || c["cmd_set"] != 300 {
						t.Fatalf("%s: loaded %v, the server %v", more, n, c)
					}
					n, stderr = s.do(t, 0, "run memcached "+more)
					agreed(t, more, stderr)
					after := s.counters(t)
					gets, sets := n["READ Operations"], n["UPDATE Operations"]+n["INSERT Operations"]
					if strings.Contains(w, "merge") {
						gets += n["UPDATE Operations"]
					}
					ops := n["READ Operations"] + sets - n["READ-MODIFY-WRITE Operations"]
					if ops != 1200 || after["cmd_get"] != gets || after["cmd_set"]-300 != sets || after["get_misses"] != 0 {
						t.Errorf("%s: %v, the server %v", more, n, after)
					}
					if n["VERIFY Return=OK"] != n["READ Operations"] || n["VERIFY Return=UNEXPECTED_STATE"] != 0 {
						t.Errorf("%s: %v", more, n)
					}
				}
			}
		})
	}
}

// Workloads on Redis: two commands for each insert, one for each scan and one for each of its records.
func TestRedis(t *testing.T) {
	for _, name := range []string{"redis-server", "keydb-server"} {
		t.Run(name, func(t *testing.T) { redisWorkloads(t, start(t, name)) })
	}
}

func redisWorkloads(t *testing.T, s *server) {
	for _, w := range []string{"a", "b", "c", "d", "e -p maxscanlength=5", "f", "a -p readallfields=false", "f -p redis.datatype=string", "d -p redis.index=false"} {
		s.flush(t)
		more := w + smallLoad
		n, stderr := s.do(t, 0, "load redis "+more)
		agreed(t, more, stderr)
		c := s.counters(t)
		isString, index := strings.Contains(w, "string"), !strings.Contains(w, "index=false")
		switch {
		case n["INSERT Return=OK"] != 300,
			isString && c["set"] != 300, !isString && c["hmset"] != 300,
			!isString && index && c["zadd"] != 300, !index && c["zadd"] != 0:
			t.Fatalf("%s: loaded %v, the server %v", more, n, c)
		}
		n, stderr = s.do(t, 0, "run redis -p measurement.requests=true "+more)
		agreed(t, more, stderr)
		after := s.counters(t)
		reads, updates, inserts, scans := n["READ Operations"], n["UPDATE Operations"], n["INSERT Operations"], n["SCAN Operations"]
		if reads+updates+inserts+scans-n["READ-MODIFY-WRITE Operations"] != 1200 {
			t.Errorf("%s: %v", more, n)
		}
		wrong := false
		if isString {
			wrong = after["get"] != reads+updates || after["set"]-300 != updates
		} else {
			elements := n["REQUEST-HGETALL Operations"]
			wrong = after["hgetall"]+after["hmget"] != reads+elements || after["hmset"]-300 != updates+inserts || after["zrangebyscore"] != scans ||
				index && after["zadd"]-300 != inserts || scans > 0 && elements < 2*scans
		}
		if wrong {
			t.Errorf("%s: %v, the server %v", more, n, after)
		}
		if n["VERIFY Return=OK"] != reads {
			t.Errorf("%s: %v", more, n)
		}
	}
}

// Wrong data is found, and the program ends with a failure.
func TestWrongData(t *testing.T) {
	s := start(t, "memcached")
	s.do(t, 0, "load memcached c"+smallLoad+" -p insertorder=ordered")
	s.say(t, "set usertable-user7 0 0 17\r\n"+`{"field0":"fake"}`, "STORED")
	s.say(t, "delete usertable-user8", "DELETED")
	n, stderr := s.do(t, ExitFailed, "run memcached c"+smallLoad+" -p insertorder=ordered -p requestdistribution=sequential -p operationcount=300")
	if n["READ Operations"] != 298 || n["READ-FAILED Operations"] != 2 || n["READ Return=NOT_FOUND"] != 1 || n["READ Return=UNEXPECTED_STATE"] != 1 ||
		n["VERIFY Return=UNEXPECTED_STATE"] != 1 || !strings.Contains(stderr, "2 of 300 operations failed") {
		t.Errorf("%v\n%s", n, stderr)
	}
}

// Several servers, each with its keys.
func TestServers(t *testing.T) {
	a, b := start(t, "memcached"), start(t, "memcached")
	both := &server{addr: a.addr + "," + b.addr}
	both.do(t, 0, "load memcached d"+smallLoad)
	n, stderr := both.do(t, 0, "run memcached d"+smallLoad)
	agreed(t, "two servers", stderr)
	ca, cb := a.counters(t), b.counters(t)
	if ca["curr_items"] < 100 || cb["curr_items"] < 100 || ca["curr_items"]+cb["curr_items"] != 300+n["INSERT Operations"] ||
		ca["get_misses"]+cb["get_misses"] != 0 || n["READ Operations"]+n["INSERT Operations"] != 1200 {
		t.Errorf("%v, servers %v and %v", n, ca, cb)
	}
}

// No server: an error, not a result.
func TestNoServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	var out, errs bytes.Buffer
	code := run(t.Context(), "ycsb", []string{"run", "memcached", "c", "-p", "memcached.hosts=" + addr}, &out, &errs)
	if code != ExitFailed || out.Len() > 0 || !strings.Contains(errs.String(), "no connection") {
		t.Errorf("exit status %d, %q, %q", code, &out, &errs)
	}
}

// stalls is a memcached that has nothing but stops once for a while.
func stalls(t *testing.T, after int, pause time.Duration) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	go func() {
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer c.Close()
				r := bufio.NewReader(c)
				for n := 0; ; n++ {
					if _, err := r.ReadString('\n'); err != nil {
						return
					}
					if n == after {
						time.Sleep(pause)
					}
					fmt.Fprint(c, "END\r\n")
				}
			}()
		}
	}()
	return l.Addr().String()
}

// A pause of the server is seen from when operations were planned; the time from their sending hides it.
func TestIntended(t *testing.T) {
	s := &server{addr: stalls(t, 100, 300*time.Millisecond)}
	n, _ := s.do(t, 0, "run memcached c -p missesfail=false -target 500 -p operationcount=300 -p measurement.interval=both -p hdrhistogram.percentiles=90")
	if n["READ Operations"] != 300 || n["Intended-READ Operations"] != 300 {
		t.Fatal(n)
	}
	// 100 to 150 operations wait for up to 300 ms; one was sent then
	service, planned := n["READ 90thPercentileLatency(us)"], n["Intended-READ 90thPercentileLatency(us)"]
	if n["READ MaxLatency(us)"] < 300_000 || planned < 100_000 || service >= planned {
		t.Errorf("90th percentile: %d µs, planned %d µs", service, planned)
	}
}

// Operations of several requests are planned as one: the rate is that of operations.
func TestPlannedSpans(t *testing.T) {
	s := start(t, "redis-server")
	s.do(t, 0, "load redis f")
	n, _ := s.do(t, 0, "run redis f -p readproportion=0 -target 2000 -p operationcount=400 -threads 2 -p measurement.interval=both")
	for _, k := range []string{"READ", "UPDATE", "READ-MODIFY-WRITE", "Intended-READ", "Intended-UPDATE", "Intended-READ-MODIFY-WRITE"} {
		if n[k+" Operations"] != 400 {
			t.Errorf("%s: %d operations, want 400", k, n[k+" Operations"])
		}
	}
	// 400 operations at 2000/s take 200 ms less one interval, however fast the server is; 800 requests would take twice that
	if ms := n["OVERALL RunTime(ms)"]; ms < 195 {
		t.Errorf("%d ms for 400 operations at 2000/s", ms)
	}
}

// A run that is interrupted prints what it has.
func TestInterrupted(t *testing.T) {
	addr := stalls(t, -1, 0)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	var out bytes.Buffer
	errs := &firstLine{f: cancel}
	code := run(ctx, "ycsb", []string{"run", "memcached", "c", "-p", "missesfail=false", "-p", "memcached.hosts=" + addr, "-s",
		"-p", "status.interval=1", "-p", "operationcount=0", "-p", "maxexecutiontime=100", "-target", "200"}, &out, errs)
	if code != ExitInterrupted || !strings.Contains(out.String(), "[READ], Return=NOT_FOUND, ") {
		t.Errorf("exit status %d\n%s", code, &out)
	}
}

// firstLine calls f when something is written to it.
type firstLine struct{ f func() }

func (l *firstLine) Write(b []byte) (int, error) {
	l.f()
	return len(b), nil
}
