package crusher

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/probe"
	"godwit/internal/load/result"
)

// server is a memcached of the test's own.
type server struct {
	cmd  *exec.Cmd
	host string
	port string
}

func (s *server) addr() string { return net.JoinHostPort(s.host, s.port) }

func startMemcached(t *testing.T) *server {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no servers")
	}
	binary, err := exec.LookPath("memcached")
	if err != nil {
		t.Skipf("no memcached to load: %v", err)
	}
	s := &server{host: "127.0.0.1", port: freePort(t)}
	s.cmd = exec.Command(binary, "-p", s.port, "-U", "0", "-l", s.host, "-m", "128", "-t", "2", "-u", "nobody")
	if err := s.cmd.Start(); err != nil {
		t.Skipf("memcached does not start: %v", err)
	}
	t.Cleanup(func() {
		s.cmd.Process.Kill()
		s.cmd.Wait()
	})
	for range 500 {
		if c, err := net.Dial("tcp", s.addr()); err == nil {
			c.Close()
			return s
		}
		time.Sleep(10 * time.Millisecond)
	}
	t.Fatal("memcached does not listen")
	return nil
}

func freePort(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	_, port, _ := net.SplitHostPort(l.Addr().String())
	return port
}

// stats are the server's counters.
func (s *server) stats(t *testing.T) map[string]float64 {
	t.Helper()
	c, err := take(context.Background(), &load.Target{Network: "tcp", Address: s.addr()})
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]float64{}
	for name := range c.Fields {
		all[name], _ = c.Stat(name)
	}
	return all
}

// agreed says whether a server counted what the report has, with so many operations.
func agreed(r *Report) bool {
	if r.Server == nil || r.Server.Counters == nil {
		return false
	}
	operations := false
	for _, f := range r.Server.Findings {
		if f.Level == probe.Failure {
			return false
		}
		operations = operations || f.Name == "operations" && f.Numbers["server"] == f.Numbers["client"] && f.Numbers["client"] > 0
	}
	return operations
}

// crush runs the command line with --json and gives its report.
func crush(t *testing.T, want int, args ...string) (r Report, stdout, stderr string) {
	t.Helper()
	name := filepath.Join(t.TempDir(), "result.json")
	var out, err bytes.Buffer
	if rc := run(context.Background(), "crusher", append(args, "--json", name, "--quiet"), &out, &err); rc != want {
		t.Fatalf("%q: exit status %d, not %d\n%s%s", args, rc, want, out.String(), err.String())
	}
	if b, e := os.ReadFile(name); e == nil {
		if e := json.Unmarshal(b, &r); e != nil {
			t.Fatal(e)
		}
	}
	return r, out.String(), err.String()
}

func write(t *testing.T, text string) string {
	t.Helper()
	name := filepath.Join(t.TempDir(), "conf")
	if err := os.WriteFile(name, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// The confs of S0 run, and what is counted here is what the server counted, to the request: parsed, blind, and on any
// driver.
func TestS0(t *testing.T) {
	s := startMemcached(t)
	for _, how := range [][]string{{"--check"}, {}, {"--check", "--threads", "2"}, {"--io", "epoll"}, {"--io", "std"}} {
		get := strings.Replace(s0Get, "stop_after=200000", "stop_after=2003", 1)
		for _, conf := range []string{get, s0Set} {
			was := s.stats(t)
			r, out, _ := crush(t, 0, append(how, "--conf", write(t, conf), "--port", s.port, "--timeout", "0.5")...)
			is := s.stats(t)
			var gets, sets uint64
			for _, x := range r.Templates {
				switch x.Send {
				case "ascii_get":
					gets += x.Requests
				case "ascii_set":
					sets += x.Requests
				}
				// the driver std never is blind
				if read := len(how) > 1 && how[1] == "std" || len(how) > 0 && how[0] == "--check"; read == x.Blind || read != (x.Service != nil) {
					t.Errorf("%q: %s: blind %v, latency %v", how, x.Send, x.Blind, x.Service)
				}
				if !x.Blind && x.Send == "ascii_get" && x.Hits+x.Misses != x.Requests {
					t.Errorf("%q: %d hits and %d misses of %d", how, x.Hits, x.Misses, x.Requests)
				}
			}
			if n := is["cmd_get"] - was["cmd_get"]; n != float64(gets) {
				t.Errorf("%q: %d gets here, %.0f there", how, gets, n)
			}
			if n := is["cmd_set"] - was["cmd_set"]; n != float64(sets) || n == 0 {
				t.Errorf("%q: %d sets here, %.0f there", how, sets, n)
			}
			if conf == get && (sets > 2003 || gets == 0) { // on a busy machine the time is over first
				t.Errorf("%q: %d gets, %d sets, more than 2003", how, gets, sets)
			}
			if !agreed(&r) || !strings.Contains(out, "server and client agree") {
				t.Errorf("%q:\n%s", how, out)
			}
		}
	}
}

// Every kind of request is sent stop_after times and counted by the server, read or blind.
func TestSends(t *testing.T) {
	s := startMemcached(t)
	counter := map[string]string{
		"ascii_get": "cmd_get", "ascii_mget": "cmd_get", "ascii_mg": "cmd_get", "bin_get": "cmd_get", "bin_getq": "cmd_get",
		"ascii_set": "cmd_set", "bin_set": "cmd_set", "bin_setq": "cmd_set", "ascii_touch": "cmd_touch", "bin_touch": "cmd_touch",
		"ascii_incr": "incr_hits", "ascii_decr": "decr_hits", "ascii_delete": "delete_hits",
	}
	var out bytes.Buffer
	for i := range sends {
		x := &sends[i]
		for _, recv := range []string{"parse", "blind_read"} {
			for _, rest := range []string{"", ",usleep=1000", ",thread=2"} {
				// half of the keys are there, and all are numbers
				crush(t, 0, "--port", s.port, "--template", "send=ascii_set,value=1,stop_after=200,key_count=200")
				crush(t, 0, "--port", s.port, "--template", "send=ascii_delete,recv=parse,stop_after=100,key_prefix=foo1,key_count=100")
				was := s.stats(t)
				line := "send=" + x.name + ",recv=" + recv + ",conns=3,pipelines=5,stop_after=300,key_count=200" + rest
				r, text, _ := crush(t, 0, "--port", s.port, "--template", line)
				want := uint64(300)
				if strings.Contains(rest, "thread") {
					want = 600
				}
				if k := r.Templates[0].Keys; k != want {
					t.Errorf("%s: %d keys, not %d", line, k, want)
				}
				if !agreed(&r) {
					t.Errorf("%s\n%s", line, text)
				}
				name := counter[x.name]
				n := s.stats(t)[name] - was[name]
				if hits := strings.HasSuffix(name, "_hits"); !hits && n != float64(want) || hits && n == 0 {
					t.Errorf("%s: %s grew by %.0f", line, name, n)
				}
			}
		}
	}
	if rc := run(context.Background(), "crusher", []string{"stats", s.addr(), "-1", "0.01", "cmd_get", "cmd_set"}, &out, io.Discard); rc != 0 ||
		!strings.Contains(out.String(), "cmd_get: 0/s [0/s]  cmd_set: 0/s [0/s]\n") {
		t.Errorf("stats: %d, %s", rc, &out)
	}
}

// Hits of the gets that are looked at are not held against those of all.
func TestPartlyBlind(t *testing.T) {
	s := startMemcached(t)
	crush(t, 0, "--port", s.port, "--template", "send=ascii_set,value=x,stop_after=100,key_count=100")
	r, text, _ := crush(t, 0, "--port", s.port, "--template", "send=ascii_get,stop_after=200,key_count=200", "--template", "send=ascii_get,recv=blind_read,stop_after=100,key_count=100")
	if !agreed(&r) || r.Templates[0].Hits != 100 || !strings.Contains(text, "66.67 % of 300 keys were found") || strings.Contains(text, "the server counted") {
		t.Errorf("%s", text)
	}
}

// What made mc-crusher crash or hang: big values, many keys, skew 1, no recv.
func TestBig(t *testing.T) {
	s := startMemcached(t)
	for _, line := range []string{
		"send=ascii_set,recv=blind_read,conns=2,pipelines=3,value_size=1000000,key_count=20,stop_after=50",
		"send=ascii_get,recv=blind_read,conns=2,pipelines=3,key_count=20,stop_after=50",
		"send=ascii_get,conns=2,pipelines=20,key_count=20,stop_after=100",
		"send=bin_get,conns=2,pipelines=20,key_count=20,stop_after=100",
		"send=ascii_mget,conns=2,mget_count=20000,stop_after=100000",
		"send=ascii_get,live_rand_zipf=1,zipf_skew=1,stop_after=1000",
	} {
		r, text, _ := crush(t, 0, "--port", s.port, "--template", line)
		if r.Templates[0].Errors > 0 || !agreed(&r) {
			t.Errorf("%s\n%s", line, text)
		}
	}
	r, text, stderr := crush(t, exitFailed, "--port", s.port, "--template", "send=ascii_set,value_size=2000000,conns=2,stop_after=10")
	if r.Templates[0].Errors != 10 || len(r.Texts) != 1 || !strings.Contains(text, "10 x SERVER_ERROR object too large for cache") ||
		stderr != "crusher: 10 of 10 requests were answered with an error: SERVER_ERROR object too large for cache\n" {
		t.Errorf("values above the limit: %+v\n%s%s", r, text, stderr)
	}
}

// Error answers are a failure, but not the answers of those who ask for what is not there.
func TestErrors(t *testing.T) {
	s := startMemcached(t)
	for _, send := range []string{"get", "mget", "mg", "incr", "decr", "delete", "touch"} {
		crush(t, 0, "--port", s.port, "--template", "send=ascii_"+send+",stop_after=10,key_prefix=none")
	}
	crush(t, 0, "--port", s.port, "--template", "send=ascii_set,value=x,stop_after=10,key_count=5")
	_, _, stderr := crush(t, exitFailed, "--port", s.port, "--template", "send=ascii_incr,stop_after=10,key_count=10")
	if want := "5 of 10 requests were answered with an error: CLIENT_ERROR cannot increment or decrement non-numeric value"; !strings.Contains(stderr, want) {
		t.Error(stderr)
	}
}

// Nobody listens: the exit status says so.
func TestRefused(t *testing.T) {
	_, _, stderr := crush(t, exitFailed, "--port", freePort(t), "--template", "send=ascii_get,conns=3")
	if !strings.Contains(stderr, "refused") {
		t.Errorf("%s", stderr)
	}
}

// watched calls then when w has got a line that begins a second of progress.
type watched struct {
	mu   sync.Mutex
	buf  bytes.Buffer
	then func()
}

func (w *watched) Write(b []byte) (int, error) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.then != nil && bytes.Contains(b, []byte("ops/s")) {
		w.then()
		w.then = nil
	}
	return w.buf.Write(b)
}

// The server dies under the load: the run ends, says so, and prints what there is.
func TestKilled(t *testing.T) {
	for _, recv := range []string{"parse", "blind_read"} {
		s := startMemcached(t)
		stderr := &watched{then: func() { s.cmd.Process.Kill() }}
		var stdout bytes.Buffer
		rc := run(context.Background(), "crusher", []string{"--port", s.port, "--template", "send=ascii_get,conns=5,pipelines=3,recv=" + recv,
			"--template", "send=ascii_set,usleep=1000,recv=" + recv}, &stdout, stderr)
		if rc != exitFailed || !strings.Contains(stderr.buf.String(), "6 connections of 6 were refused or lost") || !strings.Contains(stdout.String(), " a second; ") ||
			!strings.Contains(stdout.String(), "warning: the server's counters are not compared") {
			t.Errorf("%s: %d\n%s%s", recv, rc, &stdout, &stderr.buf)
		}
	}
}

// An interrupt ends the run with what there is.
func TestInterrupt(t *testing.T) {
	s := startMemcached(t)
	for _, c := range []struct {
		args []string
		want int
	}{{nil, 0}, {[]string{"--timeout", "100"}, exitInterrupted}} {
		ctx, cancel := context.WithCancel(context.Background())
		stderr := &watched{then: cancel}
		var stdout bytes.Buffer
		rc := run(ctx, "crusher", append(c.args, "--port", s.port, "--template", "send=ascii_get,conns=5"), &stdout, stderr)
		if rc != c.want || !strings.Contains(stdout.String(), ", interrupted") || !strings.Contains(stdout.String(), "agree") {
			t.Errorf("%q: %d\n%s%s", c.args, rc, &stdout, &stderr.buf)
		}
		cancel()
	}
}

// An interrupt before the load began.
func TestInterruptedStart(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if rc := run(ctx, "crusher", []string{"--port", freePort(t), "--timeout", "10", "--template", "send=ascii_get"}, io.Discard, io.Discard); rc != exitInterrupted {
		t.Errorf("exit status %d", rc)
	}
}

// Keys that are not there are told of once, whether this side looked or the server.
func TestMisses(t *testing.T) {
	s := startMemcached(t)
	for _, recv := range []string{"parse", "blind_read"} {
		r, text, _ := crush(t, 0, "--port", s.port, "--template", "send=ascii_get,stop_after=100,recv="+recv)
		if len(r.Warnings) != 1 || !strings.Contains(r.Warnings[0], "100 % of the keys were not there") {
			t.Errorf("%s: %q\n%s", recv, r.Warnings, text)
		}
	}
}

// toy answers sets and gets of one line, and stats that are by a hundredth too high, or none.
func toy(t *testing.T, stats bool) (port string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	var mu sync.Mutex
	n := 0
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				for r := bufio.NewReader(nc); ; {
					line, err := r.ReadString('\n')
					mu.Lock()
					switch {
					case err != nil || line == "quit\r\n":
						mu.Unlock()
						return
					case line == "stats\r\n" && stats:
						fmt.Fprintf(nc, "STAT cmd_get %d\r\nSTAT version x\r\nEND\r\n", n+n/100)
					case strings.HasPrefix(line, "get "):
						n++
						io.WriteString(nc, "END\r\n")
					default:
						io.WriteString(nc, "ERROR\r\n")
					}
					mu.Unlock()
				}
			}()
		}
	}()
	_, port, _ = net.SplitHostPort(l.Addr().String())
	return port
}

// A server that counts otherwise is found out; one that does not count is no problem.
func TestTruth(t *testing.T) {
	r, text, _ := crush(t, 0, "--port", toy(t, true), "--template", "send=ascii_get,stop_after=1000")
	if r.Server == nil || r.Server.Counters.Requests["get"] != 1010 || !strings.Contains(text, "warning: the server counted 1010 operations, the client 1000: 1.00 % more") {
		t.Errorf("%+v\n%s", r.Server, text)
	}
	r, text, _ = crush(t, 0, "--port", toy(t, false), "--template", "send=ascii_get,stop_after=1000")
	if r.Requests != 1000 || r.Server.Problem == "" || !strings.Contains(text, "warning: the server's counters are not compared with those of the load: ") {
		t.Errorf("%+v\n%s", r.Server, text)
	}
	if r, _, _ = crush(t, 0, "--stats=false", "--port", toy(t, true), "--template", "send=ascii_get,stop_after=10"); r.Server != nil {
		t.Errorf("asked for no stats: %+v", r.Server)
	}
}

func TestWarmer(t *testing.T) {
	s := startMemcached(t)
	helper := func(want int, args ...string) string {
		var out, err bytes.Buffer
		if rc := run(context.Background(), "crusher", args, &out, &err); rc != want {
			t.Errorf("%q: %d, not %d\n%s%s", args, rc, want, &out, &err)
		}
		return out.String() + err.String()
	}
	if text := helper(0, "warmer", s.addr(), "w", "100", "5001"); !strings.Contains(text, "w0 to w5000, 100 bytes") ||
		!strings.Contains(text, "100 %") || !strings.Contains(text, "cmd_set +5001, curr_items +5001 to 5001") {
		t.Error(text)
	}
	// the keys are those of a template
	if r, _, _ := crush(t, 0, "--port", s.port, "--template", "send=ascii_get,key_prefix=w,key_count=5001,stop_after=5001"); r.Templates[0].Hits != 5001 {
		t.Errorf("%+v", r.Templates[0])
	}
	helper(0, "warmer", s.addr(), "one", "0", "1", "--quiet", "--from", "1")
	if text := helper(exitFailed, "warmer", s.addr(), "big", "2000000", "20"); !strings.Contains(text, "the server") {
		t.Error(text)
	}
	helper(exitFailed, "warmer", "127.0.0.1:"+freePort(t), "w", "1", "1")
	for _, args := range []string{"", "a b c", "a b x 1", "a b 1 0", "a b 1 1 1", "a " + strings.Repeat("k", 251) + " 1 1", "--no a b 1 1"} {
		helper(exitUsage, append([]string{"warmer"}, strings.Fields(args)...)...)
	}

	if text := helper(0, "sampler", "--port", s.port, "--prefix", "w", "--key_max", "5001", "--pace_time", "100", "--timeout", "0.2", "--dump_rate", "0.05", "--random"); !strings.Contains(text, " 0 misses") || !strings.Contains(text, "planned") || !strings.Contains(text, "  100us  ") {
		t.Error(text)
	}
	if text := helper(0, "sampler", "--port", s.port, "--pace_time", "0", "--timeout", "0.1", "--dump_rate", "0"); !strings.Contains(text, " 0 hits") || strings.Contains(text, "planned") {
		t.Error(text)
	}
	helper(exitFailed, "sampler", "--port", freePort(t))
	for _, args := range []string{"--key_max 0", "x", "--pace_time -1", "--dump_rate -1", "--nothing"} {
		helper(exitUsage, append([]string{"sampler"}, strings.Fields(args)...)...)
	}
	helper(exitFailed, "stats", s.addr(), "1", "0.01", "no_such_counter")
	helper(exitFailed, "stats", "127.0.0.1:"+freePort(t), "1")
	for _, args := range []string{"", "a", "a x", "a -2", "a 1 0"} {
		helper(exitUsage, append([]string{"stats"}, strings.Fields(args)...)...)
	}
}

func TestBalloon(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	out := &notify{then: cancel}
	if rc := run(ctx, "crusher", []string{"balloon", "3"}, out, io.Discard); rc != 0 || !strings.HasPrefix(out.text, "3 MB taken") {
		t.Errorf("%d, %q", rc, out.text)
	}
	for _, args := range [][]string{{}, {"0"}, {"x"}, {"1", "2"}} {
		if rc := run(context.Background(), "crusher", append([]string{"balloon"}, args...), io.Discard, io.Discard); rc != exitUsage {
			t.Errorf("%q: %d", args, rc)
		}
	}
}

// notify calls then when something is written.
type notify struct {
	text string
	then func()
}

func (n *notify) Write(b []byte) (int, error) {
	n.text += string(b)
	n.then()
	return len(b), nil
}

// Help names every option, key, request and helper.
func TestHelp(t *testing.T) {
	var out bytes.Buffer
	if rc := run(context.Background(), "crusher", []string{"--help"}, &out, io.Discard); rc != 0 {
		t.Fatal(rc)
	}
	for i := range table {
		if shown := strings.Contains(out.String(), "\n  "+table[i].name+" "); shown != (table[i].dead == "") {
			t.Errorf("key %s shown: %v", table[i].name, shown)
		}
	}
	for i := range sends {
		if !strings.Contains(out.String(), "\n  "+sends[i].name+" ") {
			t.Errorf("%s is missing", sends[i].name)
		}
	}
	for _, h := range helperNames() {
		var text bytes.Buffer
		if rc := run(context.Background(), "crusher", []string{h, "--help"}, &text, io.Discard); rc != 0 || !strings.Contains(text.String(), "usage: crusher "+h) {
			t.Errorf("%s: %s", h, &text)
		}
	}
}

// The decades hold everything, each in its place.
func TestDecades(t *testing.T) {
	s := sample{total: result.NewHistogram(), part: result.NewHistogram(), planned: result.NewHistogram()}
	for _, d := range []time.Duration{0, 2 * time.Microsecond, 500 * time.Microsecond, 5 * time.Millisecond, 200 * time.Second} {
		s.note(d, d, true)
	}
	var got []int64
	for _, d := range decades(s.total) {
		got = append(got, d.n)
	}
	if fmt.Sprint(got) != "[2 0 1 1 0 0 0 0 1]" {
		t.Errorf("%v", got)
	}
}
