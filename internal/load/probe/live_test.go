package probe

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/drive"
	"godwit/internal/load/result"
)

// start runs a real server until the test is over and returns its address. It is ready when it says the words.
func start(t *testing.T, words, binary string, args func(port string) []string) string {
	t.Helper()
	if testing.Short() {
		t.Skip("short: no servers")
	}
	path, err := exec.LookPath(binary)
	if err != nil {
		t.Skipf("no %s to talk to: %v", binary, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(path, args(port)...)
	cmd.Dir = t.TempDir()
	r, w, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	cmd.Stdout, cmd.Stderr = w, w
	err = cmd.Start()
	w.Close()
	if err != nil {
		t.Skipf("%s does not start: %v", binary, err)
	}
	read := make(chan struct{})
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		<-read
		r.Close()
	})
	var said bytes.Buffer
	lines := bufio.NewReader(io.TeeReader(r, &said))
	for {
		line, err := lines.ReadString('\n')
		if err != nil {
			close(read)
			t.Fatalf("%s ended: %.1000s", binary, said.String())
		}
		if strings.Contains(line, words) {
			break
		}
	}
	go func() {
		io.Copy(io.Discard, r)
		close(read)
	}()
	return addr
}

func memcached(more ...string) func(port string) []string {
	return func(port string) []string {
		args := []string{"-vv", "-p", port, "-U", "0", "-l", "127.0.0.1", "-m", "64"}
		if me, err := user.Current(); err == nil {
			args = append(args, "-u", me.Username)
		}
		return append(args, more...)
	}
}

func redis(more ...string) func(port string) []string {
	return func(port string) []string {
		return append([]string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}, more...)
	}
}

// script is a Source of a known number of requests.
type script struct {
	ops []load.Op
	at  int
}

func (s *script) Next(op *load.Op) bool {
	if s.at == len(s.ops) {
		return false
	}
	*op = s.ops[s.at]
	s.at++
	return true
}

// requests of one connection: 30 sets, 30 gets that hit, 10 that miss, a multi-get of 5 keys that are there and 2 that are
// not, an increment of a key that is not there, 3 deletions.
func requests(c load.Codec, conn int) (ops []load.Op) {
	key := func(i int) []byte { return fmt.Appendf(nil, "c%d-%d", conn, i) }
	for i := range 30 {
		ops = append(ops, load.Op{Kind: load.Set, Key: key(i), Value: []byte("value"), Expiry: 1000})
	}
	for i := range 40 {
		ops = append(ops, load.Op{Kind: load.Get, Row: 1, Key: key(i)})
	}
	if c.Supports(load.MGet) {
		op := load.Op{Kind: load.MGet, Row: 1}
		for i := range 7 {
			op.Keys = append(op.Keys, key(25+i))
		}
		ops = append(ops, op)
	}
	for i := range 3 {
		ops = append(ops, load.Op{Kind: load.Delete, Row: 2, Key: key(i)})
	}
	return append(ops, load.Op{Kind: load.Touch, Row: 2, Key: key(9), Expiry: 100})
}

const conns = 3

func drives(t *testing.T, target *load.Target, protocol string) *result.Run {
	t.Helper()
	plan := &load.Plan{Rows: []string{"Sets", "Gets", "Others"}, Loops: 1, IO: "epoll"}
	for i := range conns {
		c, err := codec.New(protocol)
		if err != nil {
			t.Fatal(err)
		}
		plan.Clients = append(plan.Clients, load.Client{Target: target, Codec: c, Source: &script{ops: requests(c, i)}, Pipeline: 4})
	}
	run, err := drive.Run(context.Background(), plan, drive.Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return run
}

func finding(found []Finding, name string) *Finding {
	for i := range found {
		if found[i].Name == name {
			return &found[i]
		}
	}
	return nil
}

// exact runs a known load and expects the server to have counted it and nothing else, although the probes of this process
// ask all the time.
func exact(t *testing.T, target *load.Target, protocol string) {
	t.Helper()
	ctx := context.Background()
	p, err := Open(ctx, target, protocol)
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	take := func() *Counters {
		t.Helper()
		c, err := Take(ctx, target, protocol)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.Take(ctx); err != nil { // in between, to be taken out again
			t.Fatal(err)
		}
		return c
	}
	take()
	before := take()
	run := drives(t, target, protocol)
	take()
	after := take()
	d := Diff(before, after)
	wants := map[string]uint64{"operations": conns * 81, "hits": conns * 35, "misses": conns * 12}
	kinds := map[string]uint64{"set": 30, "get": 47, "touch": 1, "delete": 3}
	if c, _ := codec.New(protocol); !c.Supports(load.MGet) {
		wants = map[string]uint64{"operations": conns * 74, "hits": conns * 30, "misses": conns * 10}
		kinds["get"] = 40
	}
	if d.Family == Redis { // a request with several keys is one
		wants["operations"] = conns * 75
		kinds = map[string]uint64{"setex": 30, "get": 40, "mget": 1, "expire": 1, "del": 3}
		for i := range target.Prologue {
			kinds[word(target.Prologue[i].Send)] = 1
		}
	}
	for name, want := range wants {
		f := finding(Reconcile(d, run), name)
		if f == nil {
			t.Fatalf("%s: no finding", name)
		}
		if f.Level != Note || f.Numbers["server"] != float64(want) || f.Numbers["client"] != float64(want) {
			t.Errorf("%s: %+v, want %d on both sides", name, *f, want)
		}
	}
	for k, n := range d.Requests {
		if n != conns*kinds[k] {
			t.Errorf("%d requests of kind %s, want %d", n, k, conns*kinds[k])
		}
		delete(kinds, k)
	}
	if len(kinds) > 0 {
		t.Errorf("no requests of kinds %v", kinds)
	}
	if d.Accepted != conns {
		t.Errorf("%d connections accepted, want %d", d.Accepted, conns)
	}
	if total := run.Total(); len(target.Prologue) == 0 {
		if d.BytesIn != total.TX {
			t.Errorf("the server read %d bytes, the client wrote %d", d.BytesIn, total.TX)
		}
		if d.BytesOut != total.RX && d.Family == Redis { // memcached counts them when they are already on their way
			t.Errorf("the server wrote %d bytes, the client read %d", d.BytesOut, total.RX)
		}
	}
	if after.Version == "" || after.PID == 0 || after.Items == 0 || after.Memory == 0 || after.Uptime < 0 {
		t.Errorf("something is missing: %+v", after)
	}
	if d.Family == Memcached && after.Threads == 0 {
		t.Error("no threads")
	}
	if cpu, n, err := p.Used(ctx); err != nil || cpu < 0 || n < conns*74 {
		t.Errorf("Used: %v, %d, %v", cpu, n, err)
	}
}

func TestMemcached(t *testing.T) {
	addr := start(t, "server listening", "memcached", memcached())
	for _, protocol := range []string{"memcache_text", "memcache_meta", "memcache_binary"} {
		t.Run(protocol, func(t *testing.T) {
			exact(t, &load.Target{Network: "tcp", Address: addr}, protocol)
		})
	}
}

func TestMemcachedBinaryOnly(t *testing.T) {
	addr := start(t, "server listening", "memcached", memcached("-B", "binary"))
	exact(t, &load.Target{Network: "tcp", Address: addr}, "memcache_binary")
	ctx, cancel := context.WithTimeout(t.Context(), 100*time.Millisecond)
	defer cancel()
	if _, err := Take(ctx, &load.Target{Network: "tcp", Address: addr}, "memcache_text"); err == nil { // it waits for more
		t.Error("text was understood")
	}
}

func TestMemcachedAuthentication(t *testing.T) {
	file := filepath.Join(t.TempDir(), "users")
	if err := os.WriteFile(file, []byte("me:secret\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	addr := start(t, "server listening", "memcached", memcached("-Y", file))
	target := &load.Target{Network: "tcp", Address: addr, Prologue: []load.Greeting{codec.TextAuth("me", "secret")}}
	exact(t, target, "memcache_text")
	target = &load.Target{Network: "tcp", Address: addr, Prologue: []load.Greeting{codec.TextAuth("me", "wrong")}}
	if _, err := Take(t.Context(), target, "memcache_text"); err == nil || !strings.Contains(err.Error(), "authentication") {
		t.Errorf("a wrong password: %v", err)
	}
}

func TestRedis(t *testing.T) {
	addr := start(t, "Ready to accept", "redis-server", redis())
	for _, protocol := range []string{"redis", "resp3"} {
		t.Run(protocol, func(t *testing.T) {
			target := &load.Target{Network: "tcp", Address: addr}
			if protocol == "resp3" {
				target.Prologue = append(target.Prologue, codec.Hello(3), codec.Select(5))
			}
			exact(t, target, protocol)
		})
	}
}

func TestRedisPassword(t *testing.T) {
	addr := start(t, "Ready to accept", "redis-server", redis("--requirepass", "secret"))
	target := &load.Target{Network: "tcp", Address: addr, Prologue: []load.Greeting{codec.Auth("", "secret"), codec.Select(3)}}
	exact(t, target, "redis")
	if _, err := Take(t.Context(), &load.Target{Network: "tcp", Address: addr}, "redis"); err == nil || !strings.Contains(err.Error(), "NOAUTH") {
		t.Errorf("without a password: %v", err)
	}
}

// TestOthersAtWork has a second client, which must not go unnoticed.
func TestOthersAtWork(t *testing.T) {
	addr := start(t, "server listening", "memcached", memcached())
	target := &load.Target{Network: "tcp", Address: addr}
	before, err := Take(t.Context(), target, "memcache_text")
	if err != nil {
		t.Fatal(err)
	}
	run := drives(t, target, "memcache_text")
	drives(t, target, "memcache_text")
	after, err := Take(t.Context(), target, "memcache_text")
	if err != nil {
		t.Fatal(err)
	}
	f := finding(Reconcile(Diff(before, after), run), "operations")
	if f == nil || f.Level != Failure || !strings.Contains(f.Text, strconv.Itoa(conns*81*2)) {
		t.Errorf("%+v", f)
	}
}

func TestSamplerLive(t *testing.T) {
	addr := start(t, "Ready to accept", "redis-server", redis())
	target := &load.Target{Network: "tcp", Address: addr}
	p, err := Open(t.Context(), target, "redis")
	if err != nil {
		t.Fatal(err)
	}
	defer p.Close()
	s := NewSampler(p, "total_commands_processed", "total_connections_received")
	n := 0
	err = s.Run(t.Context(), 1, 3, func(rates []Rate) {
		n++
		for _, r := range rates {
			if r.Value != 0 || r.Last != 0 || r.Mean != 0 {
				t.Errorf("nobody but the sampler is at work, but %+v", r)
			}
		}
	})
	if err != nil || n != 3 {
		t.Errorf("%d times, %v", n, err)
	}
	if err := NewSampler(p, "nonsense").Run(t.Context(), 1, 1, nil); err == nil {
		t.Error("an unknown counter was found")
	}
}
