package codec

import (
	"bytes"
	"fmt"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
)

// peer is a server to talk to.
type peer struct {
	name, binary string
	args         func(port string) []string
	redis        bool
}

func peers() []peer {
	memcached := func(port string) []string {
		return []string{"-p", port, "-U", "0", "-l", "127.0.0.1", "-m", "64", "-u", "nobody"}
	}
	redis := func(port string) []string {
		return []string{"--port", port, "--bind", "127.0.0.1", "--save", "", "--appendonly", "no"}
	}
	own, _ := filepath.Abs("../../../bin/godwit")
	return []peer{
		{"memcached", "memcached", memcached, false},
		{"named memcached", os.Getenv("GODWIT_MEMCACHED"), memcached, false},
		{"godwit", own, func(port string) []string { return []string{"serve", "-p", port, "-l", "127.0.0.1", "-m", "64"} }, false},
		{"redis", "redis-server", redis, true},
		{"keydb", "keydb-server", redis, true},
	}
}

// start runs the server and returns its address.
func (p peer) start(t *testing.T) string {
	if testing.Short() {
		t.Skip("short: no servers")
	}
	binary, err := exec.LookPath(p.binary)
	if err != nil {
		t.Skipf("no %s to talk to: %v", p.name, err)
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	_, port, _ := net.SplitHostPort(addr)
	cmd := exec.Command(binary, p.args(port)...)
	cmd.Dir = t.TempDir()
	if err := cmd.Start(); err != nil {
		t.Skipf("%s does not start: %v", p.name, err)
	}
	t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
	})
	for range 200 {
		if c, err := net.Dial("tcp", addr); err == nil {
			c.Close()
			return addr
		}
		time.Sleep(20 * time.Millisecond)
	}
	t.Fatalf("%s does not listen", p.name)
	return ""
}

// TestLive sends random requests to real servers, in pipelines of random depth, loud and quiet, and cuts the answers into
// random pieces. A map knows what each answer has to be.
func TestLive(t *testing.T) {
	for _, p := range peers() {
		t.Run(p.name, func(t *testing.T) {
			addr := p.start(t)
			codecs := []string{"memcache_text", "memcache_binary", "memcache_meta", "crusher"}
			if p.redis {
				codecs = []string{"redis", "resp3"}
			}
			for _, name := range codecs {
				t.Run(name, func(t *testing.T) { talk(t, addr, name) })
			}
		})
	}
}

// expected is what the answer to a request must be.
type expected struct {
	op    string
	want  load.Want
	reply load.Reply
}

type talker struct {
	rng    *rand.Rand
	codec  load.Codec
	prefix string
	model  map[string][]byte
	redis  bool
	kinds  []load.Kind
}

func talk(t *testing.T, addr, name string) {
	conn, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer conn.Close()
	conn.SetDeadline(time.Now().Add(20 * time.Second))
	k := talker{rng: rand.New(rand.NewPCG(1, uint64(len(name)))), prefix: name, model: map[string][]byte{}}
	switch name {
	case "crusher":
		k.codec = NewCrusherText()
	default:
		if k.codec, err = New(name); err != nil {
			t.Fatal(err)
		}
	}
	_, k.redis = k.codec.(*Resp)
	if name == "resp3" {
		greet(t, conn, Hello(3))
	}
	if k.redis {
		greet(t, conn, Select(3))
		greet(t, conn, load.Greeting{Name: "FLUSHDB", Send: []byte("FLUSHDB\r\n"), Check: Select(3).Check})
	}
	for kind := load.Get; kind < load.Command; kind++ {
		if k.codec.Supports(kind) {
			k.kinds = append(k.kinds, kind)
		}
	}
	var in, out []byte
	var r load.Reply
	silent := 0
	for range 300 {
		var queue []expected
		out = out[:0]
		for range 1 + k.rng.IntN(40) {
			op, e := k.request()
			out = k.codec.Append(out, &op)
			queue = append(queue, e)
		}
		out = k.codec.Flush(out)
		if _, err := conn.Write(out); err != nil {
			t.Fatal(err)
		}
		for {
			for len(queue) > 0 {
				e := queue[0]
				n, err := k.codec.Reply(in, e.want, &r)
				if err != nil {
					t.Fatalf("%s: %v", e.op, err)
				}
				if n == 0 && !r.Silent {
					break
				}
				if r.Silent {
					silent++
				}
				in = in[n:]
				queue = queue[1:]
				x := e.reply
				if r.Status != x.Status || r.Hits != x.Hits || r.Misses != x.Misses || x.Value != nil && !bytes.Equal(r.Value, x.Value) {
					t.Fatalf("%s: got %+v %q, want %+v", e.op, r, r.Text, x)
				}
				if r.Silent && !e.want.Quiet {
					t.Fatalf("%s: silent", e.op)
				}
			}
			if len(queue) == 0 {
				break
			}
			buf := make([]byte, 1+k.rng.IntN(1<<k.rng.IntN(14)))
			n, err := conn.Read(buf)
			if err != nil {
				t.Fatalf("%s: %v (read so far: %.100q)", queue[0].op, err, in)
			}
			in = append(in, buf[:n]...)
		}
		if len(in) > 0 {
			t.Fatalf("%.100q is left", in)
		}
	}
	if silent == 0 && !k.redis {
		t.Error("no request was silent")
	}
}

func greet(t *testing.T, conn net.Conn, g load.Greeting) {
	t.Helper()
	if _, err := conn.Write(g.Send); err != nil {
		t.Fatal(err)
	}
	var in []byte
	for {
		buf := make([]byte, 7)
		n, err := conn.Read(buf)
		if err != nil {
			t.Fatal(g.Name, err)
		}
		in = append(in, buf[:n]...)
		if n, err = g.Check(in); err != nil {
			t.Fatal(g.Name, err)
		}
		if n > 0 {
			if n != len(in) {
				t.Fatalf("%s: %q is left", g.Name, in[n:])
			}
			return
		}
	}
}

// request makes a request and says what must come of it.
func (k *talker) request() (op load.Op, e expected) {
	op.Kind = k.kinds[k.rng.IntN(len(k.kinds))]
	key := func() string { return fmt.Sprintf("%s-%d", k.prefix, k.rng.IntN(30)) }
	name := key()
	op.Key = []byte(name)
	op.Quiet = k.rng.IntN(3) == 0
	old, exists := k.model[name]
	e.want = load.Want{Kind: op.Kind, Quiet: op.Quiet, Keys: 1}
	_, isText := k.codec.(*Text)
	blind := isText && op.Quiet // what comes of it is never known
	decline := func(yes bool) {
		if yes && !blind {
			e.reply.Status = load.NotStored
		}
	}
	switch op.Kind {
	case load.Get:
		if exists {
			e.reply.Hits, e.reply.Value = 1, old
		} else {
			e.reply.Misses = 1
		}
	case load.MGet:
		for range 1 + k.rng.IntN(10) {
			name = key()
			op.Keys = append(op.Keys, []byte(name))
			if v, ok := k.model[name]; ok {
				e.reply.Hits++
				e.reply.Value = v
			} else {
				e.reply.Misses++
			}
		}
		e.want.Keys = uint32(len(op.Keys))
	case load.Set:
		op.Value = []byte(strconv.Itoa(k.rng.IntN(1000)))
		switch k.rng.IntN(4) {
		case 0:
			op.Value = nil
		case 1:
			op.Value = bytes.Repeat([]byte("\r\nEND\r\n"), k.rng.IntN(1000))
		}
		if k.rng.IntN(2) == 0 {
			op.Expiry = 1000
		}
		op.Flags = uint32(k.rng.IntN(2)) * 12345
		if !k.redis && k.rng.IntN(50) == 0 {
			op.Value = make([]byte, 1<<20)
			if !blind {
				e.reply.Status = load.Failed
			}
			delete(k.model, name)
			break
		}
		k.model[name] = append([]byte{}, op.Value...)
	case load.Touch:
		op.Expiry = 1000
		decline(!exists)
	case load.Incr, load.Decr:
		op.Delta = 0
		if n, err := strconv.ParseUint(strings.TrimRight(string(old), " "), 10, 64); err != nil && exists {
			if !blind {
				e.reply.Status = load.Failed
			}
		} else {
			op.Delta = uint64(k.rng.IntN(3))
			if op.Kind == load.Decr {
				op.Delta = min(op.Delta, n)
				n -= op.Delta
			} else {
				n += op.Delta
			}
			v := []byte(strconv.FormatUint(n, 10))
			if k.redis || exists {
				for !k.redis && len(v) < len(old) {
					v = append(v, ' ')
				}
				k.model[name] = v
			}
			decline(!exists && !k.redis)
		}
	case load.Delete:
		decline(!exists)
		delete(k.model, name)
	}
	if _, ok := k.codec.(*Meta); ok && e.reply.Status == load.Failed {
		op.Quiet, e.want.Quiet = false, false // error texts do not say which quiet request they belong to
	}
	e.op = fmt.Sprintf("kind %d key %s quiet %v", op.Kind, op.Key, op.Quiet)
	return op, e
}
