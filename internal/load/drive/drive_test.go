package drive

import (
	"bytes"
	"context"
	"net"
	"strconv"
	"strings"
	"testing"

	"godwit/internal/load"
	"godwit/internal/load/result"
	"godwit/internal/netloop"
	"godwit/internal/netloop/echo"
)

// lines is a protocol of lines: a request is its key, the answer whatever line comes back.
type lines struct{}

func (lines) Append(dst []byte, op *load.Op) []byte {
	return append(append(append(dst, op.Key...), op.Value...), '\n')
}

func (lines) Reply(in []byte, _ load.Want, r *load.Reply) (int, error) {
	*r = load.Reply{Hits: 1}
	return bytes.IndexByte(in, '\n') + 1, nil
}

func (lines) Supports(load.Kind) bool { return true }
func (lines) Flush(dst []byte) []byte { return dst }
func (lines) Reset()                  {}

// counter gives n requests, or for ever if n is negative.
type counter struct {
	n     int
	value []byte
	buf   []byte
}

func (c *counter) Next(op *load.Op) bool {
	if c.n == 0 {
		return false
	}
	c.n--
	c.buf = strconv.AppendInt(append(c.buf[:0], "key-"...), int64(c.n), 10)
	op.Key, op.Kind, op.Value = c.buf, load.Get, c.value
	return true
}

// echoServer answers each line.
func echoServer(t *testing.T, answer string) (addr string) {
	return serve(t, &echo.Handler{Answer: []byte(answer + "\n")})
}

func serve(t *testing.T, h netloop.Handler) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr = l.Addr().String()
	l.Close()
	s, err := netloop.New(netloop.Config{Loops: 1, Listeners: []*netloop.Listener{{Addr: addr}}}, h)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Stop(false) })
	return addr
}

func plan(addr string, clients, n, pipeline int) *load.Plan {
	p := &load.Plan{Rows: []string{"GET"}, Loops: 2}
	target := &load.Target{Network: "tcp", Address: addr}
	for range clients {
		p.Clients = append(p.Clients, load.Client{Target: target, Codec: lines{}, Source: &counter{n: n}, Pipeline: pipeline})
	}
	return p
}

var drivers = []string{"auto", "epoll", "std"}

// Every request is answered and counted, once.
func TestCounts(t *testing.T) {
	addr := echoServer(t, "yes")
	for _, io := range drivers {
		for _, pipeline := range []int{1, 7, 100} {
			p := plan(addr, 5, 1000, pipeline)
			p.IO, p.PerClient = io, true
			r := run1(t, p)
			row := r.Rows[0]
			if row.Count != 5000 || row.Hits != 5000 || row.RX != 5*1000*4 || row.Service.TotalCount() != 5000 {
				t.Errorf("%s, pipeline %d: %d answers, %d hits, %d bytes, %d latencies of 5000", io, pipeline, row.Count, row.Hits, row.RX, row.Service.TotalCount())
			}
			var seconds uint64
			for _, s := range row.Seconds {
				seconds += s.Count
			}
			var own uint64
			for _, c := range r.Clients {
				own += c.Rows[0].Count
			}
			if own != 5000 {
				t.Errorf("%s, pipeline %d: the clients count %d", io, pipeline, own)
			}
			if seconds != 5000 || r.Lost != 0 || r.ConnErrors != 0 || len(r.Texts) > 0 {
				t.Errorf("%s, pipeline %d: %d in seconds, %d lost, %d errors %v", io, pipeline, seconds, r.Lost, r.ConnErrors, r.Texts)
			}
		}
	}
}

func run1(t *testing.T, p *load.Plan) *result.Run {
	t.Helper()
	r, err := Run(context.Background(), p, Hooks{})
	if err != nil {
		t.Fatal(err)
	}
	return r
}

// A connection whose both directions are full goes on: neither side waits for the other.
func TestBothWaysFull(t *testing.T) {
	addr := echoServer(t, strings.Repeat("a", 200_000))
	for _, io := range drivers {
		p := plan(addr, 2, 200, 100)
		p.IO = io
		for i := range p.Clients {
			p.Clients[i].Source = &counter{n: 200, value: bytes.Repeat([]byte("v"), 200_000)}
		}
		if r := run1(t, p); r.Rows[0].Count != 400 {
			t.Errorf("%s: %d answers of 400", io, r.Rows[0].Count)
		}
	}
}
