package netloop

import (
	"bytes"
	"crypto/ecdsa"
	"crypto/elliptic"
	"crypto/rand"
	"crypto/tls"
	"crypto/x509"
	"fmt"
	"hash/crc32"
	"math/big"
	"net"
	"os"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"godwit/internal/bytesx"
)

// toy is a line protocol that uses everything a session may ask for:
//
//	echo X        X
//	big N         N bytes in the flat buffer
//	lend N [N…]   for each N a line with the number, then N lent bytes
//	put N, bytes  checksum of the bytes, taken through a Sink
//	yield         "y", then Yield
//	stream K N    K times N bytes, with Stream between
//	park          parks; "woken" after Wake
//	watch         "w" for each Wake
//	quit abort shut shutg
type toy struct {
	h      *toyHandler
	c      Conn
	sink   []byte
	got    int
	stream int
	size   int
	parked bool
	watch  bool
	feeds  int
}

type toyHandler struct {
	mu     sync.Mutex
	opened chan *toy
	parked chan *toy
	closed chan Reason
	inLoop []atomic.Int32 // sessions of a loop must not overlap
	open   atomic.Int64   // sessions
	lent   atomic.Int64   // references out
	twice  atomic.Int64   // references released twice
	turns  atomic.Int64
	order  []string // what was served, under mu
}

func newToyHandler() *toyHandler {
	return &toyHandler{
		opened: make(chan *toy, 4096), parked: make(chan *toy, 4096), closed: make(chan Reason, 4096),
		inLoop: make([]atomic.Int32, 64),
	}
}

func (h *toyHandler) Open(c Conn) Session {
	t := &toy{h: h, c: c}
	h.open.Add(1)
	h.opened <- t
	return t
}

func (h *toyHandler) Turn(int) { h.turns.Add(1) }

func (h *toyHandler) record(what string) {
	h.mu.Lock()
	h.order = append(h.order, what)
	h.mu.Unlock()
}

func (h *toyHandler) served() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return slices.Clone(h.order)
}

type toyRef struct {
	h    *toyHandler
	once atomic.Bool
}

func (r *toyRef) Release() {
	if r.once.Swap(true) {
		r.h.twice.Add(1)
	}
	r.h.lent.Add(-1)
}

var pattern = func() []byte {
	b := make([]byte, 8<<20)
	for i := range b {
		b[i] = byte(i*7 + i>>8)
	}
	return b
}()

func (t *toy) Feed(in []byte, out *bytesx.Out) (int, Verdict) {
	if t.h.inLoop[t.c.Loop()].Add(1) != 1 {
		panic("two sessions of a loop at once")
	}
	defer t.h.inLoop[t.c.Loop()].Add(-1)
	t.feeds++
	if t.sink != nil {
		if t.got < len(t.sink) {
			return 0, More // waked in the middle
		}
		out.Buf = fmt.Appendf(out.Buf, "%08x\n", crc32.ChecksumIEEE(t.sink))
		out.EndMessage()
		t.sink = nil
	}
	if t.stream > 0 {
		t.stream--
		out.Buf = append(out.Buf, pattern[:t.size]...)
		if t.stream > 0 {
			return 0, Stream
		}
	}
	if t.parked {
		t.parked = false
		out.Buf = append(out.Buf, "woken\n"...)
	}
	if t.watch && len(in) == 0 {
		out.Buf = append(out.Buf, "w\n"...)
	}
	used := 0
	for {
		i := bytes.IndexByte(in[used:], '\n')
		if i < 0 {
			return used, More
		}
		f := strings.Fields(string(in[used : used+i]))
		used += i + 1
		num := func(i int) (n int) { fmt.Sscan(f[i], &n); return n }
		switch f[0] {
		case "echo":
			out.Buf = append(append(out.Buf, f[1]...), '\n')
			t.h.record(f[1])
		case "big":
			out.Buf = append(out.Buf, pattern[:num(1)]...)
		case "lend":
			for i := range f[1:] {
				out.Buf = append(append(out.Buf, f[1+i]...), '\n')
				t.h.lent.Add(1)
				out.Lend(pattern[:num(1+i)], &toyRef{h: t.h})
			}
		case "put":
			t.sink = make([]byte, num(1))
			t.got = copy(t.sink, in[used:])
			used += t.got
			if t.got < len(t.sink) {
				return used, More
			}
			out.Buf = fmt.Appendf(out.Buf, "%08x\n", crc32.ChecksumIEEE(t.sink))
			t.sink = nil
		case "yield":
			out.Buf = append(out.Buf, "y\n"...)
			t.h.record("y")
			return used, Yield
		case "stream":
			t.stream, t.size = num(1), num(2)
			return used, Stream
		case "park":
			t.parked = true
			t.h.parked <- t
			return used, Park
		case "watch":
			t.watch = true
			out.Buf = append(out.Buf, "ok\n"...)
		case "quit":
			out.Buf = append(out.Buf, "bye\n"...)
			return used, Close
		case "close":
			return used, Close
		case "abort":
			return used, Abort
		case "shut":
			out.Buf = append(out.Buf, "bye\n"...)
			return used, Shut
		case "shutg":
			return used, ShutGraceful
		case "silent":
		default:
			out.Buf = append(out.Buf, "ERROR\n"...)
		}
		out.EndMessage()
		if out.Len() > 1<<20 {
			return used, Yield // sessions bound what they answer at once
		}
	}
}

func (t *toy) Sink() []byte {
	if t.sink == nil {
		return nil
	}
	return t.sink[t.got:]
}
func (t *toy) Sunk(n int) { t.got += n }
func (t *toy) Idle() bool { return t.sink == nil && !t.parked && !t.watch }
func (t *toy) Closed(r Reason) {
	t.h.open.Add(-1)
	t.h.closed <- r
}

// rig is a server of toys.
type rig struct {
	t    *testing.T
	h    *toyHandler
	s    *Server
	tls  bool
	addr string
}

var cert = sync.OnceValue(func() tls.Certificate {
	key, err := ecdsa.GenerateKey(elliptic.P256(), rand.Reader)
	if err != nil {
		panic(err)
	}
	tmpl := &x509.Certificate{SerialNumber: big.NewInt(1), NotAfter: time.Now().Add(time.Hour), DNSNames: []string{"toy"}}
	der, err := x509.CreateCertificate(rand.Reader, tmpl, tmpl, &key.PublicKey, key)
	if err != nil {
		panic(err)
	}
	return tls.Certificate{Certificate: [][]byte{der}, PrivateKey: key}
})

func TestMain(m *testing.M) {
	runtime.GOMAXPROCS(runtime.NumCPU() + 2) // as the server does: loops may hold their P
	os.Exit(m.Run())
}

// drivers runs a test over all of them.
func drivers(t *testing.T, cfg Config, fn func(t *testing.T, r *rig)) {
	kinds := []string{"std", "tls"}
	if runtime.GOOS == "linux" {
		kinds = append([]string{"epoll", "epoll-polite", "io_uring", "io_uring-polite"}, kinds...)
	}
	for _, kind := range kinds {
		t.Run(kind, func(t *testing.T) {
			before := runtime.NumGoroutine()
			cfg := cfg
			cfg.IO, _, cfg.polite = strings.Cut(kind, "-")
			l := &Listener{Addr: "127.0.0.1:0"}
			if kind == "tls" {
				cfg.IO = "auto"
				conf := &tls.Config{Certificates: []tls.Certificate{cert()}}
				l.TLS = func() *tls.Config { return conf }
			}
			cfg.Listeners = append([]*Listener{l}, cfg.Listeners...)
			cfg.Logf = t.Logf
			if cfg.Loops == 0 {
				cfg.Loops = 2
			}
			h := newToyHandler()
			s, err := New(cfg, h)
			if err != nil {
				t.Fatal(err)
			}
			if s.IO() != cfg.IO && kind != "tls" {
				s.Stop(false)
				t.Skip("no io_uring here")
			}
			r := &rig{t: t, h: h, s: s, tls: kind == "tls", addr: s.Addrs()[0].Addr}
			s.Start()
			defer s.Stop(false)
			fn(t, r)
			s.Stop(false)
			if n := h.open.Load(); n != 0 {
				t.Errorf("%d sessions were not closed", n)
			}
			if n := h.lent.Load(); n != 0 || h.twice.Load() != 0 {
				t.Errorf("%d references not released, %d twice", n, h.twice.Load())
			}
			if st := s.Stats(); st.Curr != 0 || st.ReadBufs != 0 || st.ReadBufBytes != 0 {
				t.Errorf("after stop: %+v", st)
			}
			eventually(t, "goroutines end", func() bool { return runtime.NumGoroutine() <= before })
		})
	}
}

// eventually waits for what has no event to wait for.
func eventually(t *testing.T, what string, ok func() bool) {
	t.Helper()
	for end := time.Now().Add(10 * time.Second); !ok(); {
		if time.Now().After(end) {
			buf := make([]byte, 1<<20)
			t.Fatalf("%s: not in 10 s\n%s", what, buf[:runtime.Stack(buf, true)])
		}
		time.Sleep(time.Millisecond)
	}
}

// client is a connection with deadlines and checks.
type client struct {
	net.Conn
	t   *testing.T
	raw net.Conn
}

func (r *rig) dial() *client {
	r.t.Helper()
	c := r.dialAt("tcp", r.addr)
	if tc, ok := c.Conn.(*tls.Conn); ok {
		if err := tc.Handshake(); err != nil {
			r.t.Fatal(err)
		}
	}
	return c
}

func (r *rig) dialAt(network, addr string) *client {
	r.t.Helper()
	nc, err := net.Dial(network, addr)
	if err != nil {
		r.t.Fatal(err)
	}
	c := &client{Conn: nc, t: r.t, raw: nc}
	nc.SetDeadline(time.Now().Add(30 * time.Second))
	if r.tls && network == "tcp" {
		tc := tls.Client(nc, &tls.Config{InsecureSkipVerify: true})
		c.Conn = tc
	}
	r.t.Cleanup(func() { nc.Close() })
	return c
}

func (c *client) send(s string) {
	c.t.Helper()
	if _, err := c.Write([]byte(s)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) want(s string) {
	c.t.Helper()
	b := make([]byte, len(s))
	for n := 0; n < len(b); {
		k, err := c.Read(b[n:])
		n += k
		if string(b[:n]) != s[:n] {
			if n > 200 {
				c.t.Fatalf("got other bytes than wanted within %d", n)
			}
			c.t.Fatalf("got %q, want %q", b[:n], s)
		}
		if err != nil && n < len(b) {
			c.t.Fatalf("got %d of %d bytes, then %v", n, len(b), err)
		}
	}
}

func (c *client) wantEnd() {
	c.t.Helper()
	var b [64]byte
	n, err := c.Read(b[:])
	if n > 0 || err == nil {
		c.t.Fatalf("got %q, want the end", b[:n])
	}
	if e, ok := err.(net.Error); ok && e.Timeout() {
		c.t.Fatal("connection was not closed")
	}
}

func (h *toyHandler) wantClosed(t *testing.T, want Reason) {
	t.Helper()
	select {
	case r := <-h.closed:
		if r != want {
			t.Fatalf("closed for reason %d, want %d", r, want)
		}
	case <-time.After(10 * time.Second):
		t.Fatal("no session was closed")
	}
}
