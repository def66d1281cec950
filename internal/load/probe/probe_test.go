package probe

import (
	"context"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"math/big"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/result"
)

// pretend is a server that answers every request with the next of answers and then hangs up.
func pretend(t *testing.T, conf *tls.Config, answers ...string) *load.Target {
	t.Helper()
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	target := &load.Target{Network: "tcp", Address: l.Addr().String()}
	done := make(chan struct{})
	t.Cleanup(func() { l.Close(); <-done })
	go func() {
		defer close(done)
		for {
			c, err := l.Accept()
			if err != nil {
				return
			}
			if conf != nil {
				c = tls.Server(c, conf)
			}
			for _, a := range answers {
				if _, err := c.Read(make([]byte, 4096)); err != nil {
					break
				}
				c.Write([]byte(a))
			}
			c.Close()
		}
	}()
	return target
}

func TestPretended(t *testing.T) {
	greeting := codec.Auth("", "x")
	for _, c := range []struct {
		name, protocol string
		greet          bool
		answers        []string
		err            string
	}{
		{"good", "memcache_text", false, []string{"STAT pid 12\r\nSTAT cmd_get 5\r\nSTAT empty \r\nEND\r\n"}, ""},
		{"refused", "memcache_text", false, []string{"CLIENT_ERROR unauthenticated\r\n"}, "unauthenticated"},
		{"no answer", "memcache_text", false, []string{"STAT pid 1\r\n"}, "EOF"},
		{"more than an answer", "memcache_text", false, []string{"END\r\nEND\r\n"}, "after the answer"},
		{"endless", "memcache_text", false, []string{strings.Repeat("STAT a 1\r\n", answerLimit/10+1)}, "does not end"},
		{"endless line", "memcache_text", false, []string{strings.Repeat("x", 10000)}, "does not end"},
		{"not binary", "memcache_binary", false, []string{"ERROR\r\n"}, "begins no answer"},
		{"info", "redis", true, []string{"+OK\r\n", "$12\r\nprocess_id:1\r\n"}, ""},
		{"verbatim", "resp3", true, []string{"+OK\r\n", "=16\r\ntxt:process_id:1\r\n"}, ""},
		{"wrong password", "redis", true, []string{"-WRONGPASS no\r\n"}, "AUTH"},
		{"no info", "redis", true, []string{"+OK\r\n", "-NOPERM no\r\n"}, "NOPERM"},
		{"array", "redis", true, []string{"+OK\r\n", "*1\r\n:1\r\n"}, "no answer to INFO"},
		{"other protocol", "http", false, nil, "not known"},
	} {
		t.Run(c.name, func(t *testing.T) {
			target := pretend(t, nil, c.answers...)
			if c.greet {
				target.Prologue = []load.Greeting{greeting}
			}
			got, err := Take(t.Context(), target, c.protocol)
			switch {
			case c.err == "" && err != nil:
				t.Error(err)
			case c.err == "" && got.PID == 0:
				t.Errorf("%+v", got)
			case c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)):
				t.Errorf("%v, want %s", err, c.err)
			}
		})
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	l.Close()
	if _, err := Take(t.Context(), &load.Target{Network: "tcp", Address: l.Addr().String()}, "redis"); err == nil {
		t.Error("nobody listens")
	}
}

// TestCancelled gives up a server that does not answer.
func TestCancelled(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	asked, gone := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(gone)
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer c.Close()
		c.Read(make([]byte, 100))
		close(asked)
		c.Read(make([]byte, 100)) // until the other side closes
	}()
	ctx, cancel := context.WithCancelCause(t.Context())
	p, err := Open(ctx, &load.Target{Network: "tcp", Address: l.Addr().String()}, "memcache_text")
	if err != nil {
		t.Fatal(err)
	}
	waiting := make(chan error)
	go func() {
		_, err := p.Take(ctx)
		waiting <- err
	}()
	<-asked
	enough := errors.New("enough")
	cancel(enough)
	if err := <-waiting; !errors.Is(err, enough) {
		t.Error(err)
	}
	<-gone
	if _, err := p.Take(t.Context()); !errors.Is(err, enough) {
		t.Errorf("the connection is of no use, but was used: %v", err)
	}
}

func TestTLS(t *testing.T) {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		t.Fatal(err)
	}
	form := &x509.Certificate{
		SerialNumber: big.NewInt(1), IPAddresses: []net.IP{net.IPv4(127, 0, 0, 1)}, NotAfter: time.Now().Add(time.Hour), IsCA: true, BasicConstraintsValid: true,
	}
	der, err := x509.CreateCertificate(rand.Reader, form, form, &key.PublicKey, key)
	if err != nil {
		t.Fatal(err)
	}
	cert, err := x509.ParseCertificate(der)
	if err != nil {
		t.Fatal(err)
	}
	target := pretend(t, &tls.Config{Certificates: []tls.Certificate{{Certificate: [][]byte{der}, PrivateKey: key}}}, "STAT pid 7\r\nEND\r\n")
	pool := x509.NewCertPool()
	pool.AddCert(cert)
	target.TLS = &tls.Config{RootCAs: pool, ServerName: "127.0.0.1"}
	if c, err := Take(t.Context(), target, "memcache_text"); err != nil || c.PID != 7 {
		t.Errorf("%+v, %v", c, err)
	}
	target.TLS = &tls.Config{ServerName: "127.0.0.1"}
	if _, err := Take(t.Context(), target, "memcache_text"); err == nil {
		t.Error("a certificate of unknown origin was accepted")
	}
}

// recorded reads an answer of testdata/answers, whose first word is what speaks so.
func recorded(t testing.TB, name string) (family string, in []byte) {
	t.Helper()
	in, err := os.ReadFile(filepath.Join("testdata", "answers", name))
	if err != nil {
		t.Fatal(err)
	}
	return strings.Split(name, "-")[0], in
}

func read(t testing.TB, name string) *Counters {
	t.Helper()
	family, in := recorded(t, name)
	a := answer{fields: map[string]string{}}
	scan := map[string]func([]byte) (int, error){"memcached": a.text, "binary": a.binary, "redis": a.info, "keydb": a.info}[family]
	if n, err := scan(in); n != len(in) || err != nil {
		t.Fatalf("%s: %d of %d bytes read, %v", name, n, len(in), err)
	}
	if strings.Contains("redis keydb", family) {
		return a.counters(Redis)
	}
	return a.counters(Memcached)
}

func TestRecorded(t *testing.T) {
	for _, name := range []string{"memcached-1.6.18", "binary-1.6.18", "redis-7.0.15", "keydb-made-up"} {
		t.Run(name, func(t *testing.T) {
			got, err := json.MarshalIndent(read(t, name), "", "\t")
			if err != nil {
				t.Fatal(err)
			}
			golden(t, filepath.Join("testdata", "counters", name+".json"), string(got)+"\n")
		})
	}
}

func golden(t *testing.T, file, got string) {
	t.Helper()
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (UPDATE=1 writes it): got\n%s\nwant\n%s", file, got, want)
	}
}

func TestStat(t *testing.T) {
	c := read(t, "redis-7.0.15")
	c.Own = Totals{Commands: 3, Accepted: 1, BytesIn: 10, BytesOut: 20}
	raw := c.Commands
	if v, ok := c.Stat("total_commands_processed"); !ok || v != float64(raw-3) {
		t.Errorf("%g, %v, want %d", v, ok, raw-3)
	}
	if _, ok := c.Stat("redis_version"); ok {
		t.Error("a version is no number")
	}
}

func TestSampler(t *testing.T) {
	at := time.Unix(1000, 0)
	reading := func(s int, n string, pid uint64) *Counters {
		return &Counters{PID: pid, At: at.Add(time.Duration(s) * time.Second), Fields: map[string]string{"cmd_get": n}}
	}
	s := NewSampler(nil, "cmd_get")
	for _, c := range []struct {
		c    *Counters
		want string
	}{
		{reading(0, "100", 1), ""},
		{reading(2, "300", 1), "cmd_get: 100 (100)"},
		{reading(4, "900", 1), "cmd_get: 300 (200)"},
		{reading(6, "5", 2), ""}, // started anew
		{reading(8, "9", 2), "cmd_get: 2 (2)"},
	} {
		rates, err := s.add(c.c)
		got := ""
		if len(rates) > 0 {
			got = rates[0].String()
		}
		if err != nil || got != c.want {
			t.Errorf("%q, %v, want %q", got, err, c.want)
		}
	}
}

func TestReconcile(t *testing.T) {
	row := func(count, keys, hits, misses uint64) result.Row {
		r := result.Row{}
		r.Count, r.Keys, r.Hits, r.Misses, r.TX = count, keys, hits, misses, 1
		r.Statuses[load.OK] = count
		return r
	}
	run := func(lost uint64, rows ...result.Row) *result.Run { return &result.Run{Rows: rows, Lost: lost} }
	failing := row(1000, 1000, 900, 0)
	failing.Statuses[load.Failed] = 100
	steps := result.Row{}
	steps.Count = 500 // of several requests each: no bytes, no keys
	for _, c := range []struct {
		name string
		d    Delta
		run  *result.Run
		want string // levels and names of all but notes
	}{
		{"agree", Delta{Family: Memcached, Totals: Totals{Commands: 1000, Hits: 1000}}, run(0, row(1000, 1000, 1000, 0)), ""},
		{"one in a thousand", Delta{Family: Memcached, Totals: Totals{Commands: 1001, Hits: 1001}}, run(0, row(1000, 1000, 1000, 0)), ""},
		{"more", Delta{Family: Memcached, Totals: Totals{Commands: 1002, Hits: 1000}}, run(0, row(1000, 1000, 1000, 0)), "failure operations"},
		{"less", Delta{Family: Memcached, Totals: Totals{Commands: 998, Hits: 990}}, run(0, row(1000, 1000, 1000, 0)), "failure operations, failure hits"},
		{"keys count with memcached", Delta{Family: Memcached, Totals: Totals{Commands: 1000, Hits: 1000}}, run(0, row(100, 1000, 1000, 0)), ""},
		{"requests with RESP", Delta{Family: Redis, Totals: Totals{Commands: 100, Hits: 1000}}, run(0, row(100, 1000, 1000, 0)), ""},
		{"greetings", Delta{Family: Redis, Totals: Totals{Commands: 120, Hits: 100}, Greetings: 20}, run(0, row(100, 100, 100, 0)), ""},
		{"lost may be served", Delta{Family: Redis, Totals: Totals{Commands: 103, Hits: 102}}, run(5, row(100, 100, 100, 0)), ""},
		{"errors may be counted", Delta{Family: Redis, Totals: Totals{Commands: 1000, Hits: 900}}, run(0, failing), ""},
		{"or not", Delta{Family: Redis, Totals: Totals{Commands: 900, Hits: 900}}, run(0, failing), ""},
		{"operations of several requests", Delta{Family: Redis, Totals: Totals{Commands: 100, Hits: 100}}, run(0, row(100, 100, 100, 0), steps), ""},
		{"retrievals with expiry", Delta{Family: Memcached, Totals: Totals{Commands: 100, TouchHits: 90, TouchMisses: 10}}, run(0, row(100, 100, 90, 10)), ""},
		{"warm-up", Delta{Family: Memcached, Totals: Totals{Commands: 5000, Hits: 5000}, Warmup: true}, run(0, row(100, 100, 100, 0)), ""},
		{"reset", Delta{Family: Memcached, Totals: Totals{Commands: 5}, Reset: "reset"}, run(0, row(100, 100, 100, 0)), "failure reset"},
		{"only misses", Delta{Family: Memcached, Totals: Totals{Commands: 100, Misses: 100}}, run(0, row(100, 100, 0, 100)), "warning hit ratio"},
		{"few hits", Delta{Family: Memcached, Totals: Totals{Commands: 1000, Hits: 9, Misses: 991}}, run(0, row(1000, 1000, 9, 991)), "warning hit ratio"},
		{"only the server knows", Delta{Family: Memcached, Totals: Totals{Commands: 1000, Misses: 1000}}, run(0, row(1000, 1000, 0, 0)), "warning hit ratio"},
		{"one key", Delta{Family: Memcached, Totals: Totals{Commands: 2000, Hits: 2000}, Items: 1}, run(0, row(2000, 2000, 2000, 0)), "warning one key"},
		{"trouble", Delta{Family: Memcached, Totals: Totals{Commands: 10, Hits: 10, Evictions: 1, Rejected: 2, ListenDisabled: 3, Errors: 4, Yields: 5}}, run(0, row(10, 10, 10, 0)),
			"warning evictions, warning refused, warning listen disabled, warning errors"},
		{"nothing", Delta{}, run(0), ""},
	} {
		var got []string
		for _, f := range Reconcile(&c.d, c.run) {
			if f.Level != Note {
				got = append(got, string(f.Level)+" "+f.Name)
			}
		}
		if s := strings.Join(got, ", "); s != c.want {
			t.Errorf("%s: %q, want %q", c.name, s, c.want)
		}
	}
	d := &Delta{Family: Memcached, Elapsed: 2 * time.Second, Totals: Totals{Commands: 1000, User: 2 * time.Millisecond, System: 4 * time.Millisecond}}
	f := finding(Reconcile(d, run(0, row(1000, 1000, 0, 0))), "processor")
	if f == nil || !strings.HasPrefix(f.Text, "the server used 6.00 µs of processor time per operation (user 2.00, system 4.00)") || f.Numbers["processors"] != 0.003 {
		t.Errorf("%+v", f)
	}
	if d.PerCommand() != 6*time.Microsecond {
		t.Error(d.PerCommand())
	}
}

func TestDiff(t *testing.T) {
	at := time.Unix(1000, 0)
	reading := func(s int, commands, own uint64) *Counters {
		return &Counters{
			Family: Redis, PID: 1, Uptime: time.Duration(s) * time.Second, At: at.Add(time.Duration(s) * time.Second), Greetings: 1,
			Totals: Totals{Commands: commands, Accepted: commands / 10, Requests: map[string]uint64{"get": commands - own, "info": own}},
			Own:    Totals{Commands: own, Requests: map[string]uint64{"info": own}},
		}
	}
	a, b := reading(1, 100, 5), reading(4, 200, 8)
	d := Diff(a, b)
	if d.Commands != 97 || d.Requests["get"] != 97 || d.Requests["info"] != 0 || d.Elapsed != 3*time.Second || d.Greetings != 10 || d.Reset != "" {
		t.Errorf("%+v", d)
	}
	if a.Commands != 100 || b.Commands != 200 || b.Requests["get"] != 192 {
		t.Error("the readings were changed")
	}
	if d := Diff(b, a); d.Reset == "" {
		t.Error("going back in time was not noticed")
	}
	c := reading(5, 300, 9)
	if c.PID = 2; Diff(b, c).Reset == "" {
		t.Error("another process was not noticed")
	}
	c.PID = 1
	if c.Hits, b.Hits = 0, 1; Diff(b, c).Reset == "" {
		t.Error("counters that were reset were not noticed")
	}
	d.Add(&Delta{Totals: Totals{Commands: 3, Requests: map[string]uint64{"get": 3}}, Items: 2, Elapsed: time.Second, Reset: "x"})
	if d.Commands != 100 || d.Requests["get"] != 100 || d.Items != 2 || d.Elapsed != 3*time.Second || d.Reset != "x" {
		t.Errorf("%+v", d)
	}
}
