package echo

import (
	"bytes"
	"fmt"
	"io"
	"net"
	"runtime"
	"testing"

	"godwit/internal/netloop"
)

func start(tb testing.TB, io string) (*netloop.Server, string) {
	old := runtime.GOMAXPROCS(runtime.NumCPU() + 2) // as the server does: loops may hold their P
	s, err := netloop.New(netloop.Config{
		Listeners: []*netloop.Listener{{Addr: "127.0.0.1:0"}}, Loops: 1, IO: io,
	}, &Handler{Answer: []byte("END\r\n")})
	if err != nil {
		tb.Fatal(err)
	}
	if s.IO() != io {
		tb.Skipf("no %s here", io)
	}
	s.Start()
	tb.Cleanup(func() {
		s.Stop(false)
		runtime.GOMAXPROCS(old)
	})
	return s, s.Addrs()[0].Addr
}

type client struct {
	nc       net.Conn
	req, ans []byte
}

func dial(tb testing.TB, addr string, pipeline int) *client {
	nc, err := net.Dial("tcp", addr)
	if err != nil {
		tb.Fatal(err)
	}
	tb.Cleanup(func() { nc.Close() })
	return &client{nc, bytes.Repeat([]byte("get foobar\r\n"), pipeline), make([]byte, 5*pipeline)}
}

func (c *client) trip(tb testing.TB) {
	if _, err := c.nc.Write(c.req); err != nil {
		tb.Fatal(err)
	}
	if _, err := io.ReadFull(c.nc, c.ans); err != nil {
		tb.Fatal(err)
	}
}

// The way from socket to socket allocates nothing.
func TestNoAllocation(t *testing.T) {
	for _, io := range []string{"epoll", "io_uring", "std"} {
		t.Run(io, func(t *testing.T) {
			_, addr := start(t, io)
			c := dial(t, addr, 10)
			for range 100 {
				c.trip(t)
			}
			// testing.AllocsPerRun would set GOMAXPROCS to 1, which is no way to run loops.
			var before, after runtime.MemStats
			runtime.ReadMemStats(&before)
			for range 2000 {
				c.trip(t)
			}
			runtime.ReadMemStats(&after)
			if n := after.Mallocs - before.Mallocs; n > 500 {
				t.Errorf("%d allocations in 2000 round trips", n)
			}
		})
	}
}

// BenchmarkEcho is the floor: one operation is one line answered, over loopback, client and server in this process.
func BenchmarkEcho(b *testing.B) {
	for _, io := range []string{"epoll", "io_uring", "std"} {
		for _, pipeline := range []int{1, 10, 100} {
			b.Run(fmt.Sprintf("%s/pipeline=%d", io, pipeline), func(b *testing.B) {
				_, addr := start(b, io)
				const conns = 8
				done := make(chan bool)
				n := b.N/pipeline/conns + 1
				b.ResetTimer()
				for range conns {
					c := dial(b, addr, pipeline)
					go func() {
						for range n {
							c.trip(b)
						}
						done <- true
					}()
				}
				for range conns {
					<-done
				}
			})
		}
	}
}
