package netloop

import (
	"fmt"
	"hash/crc32"
	"io"
	"net"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

func TestPipelining(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		var req, want strings.Builder
		for i := range 20000 {
			fmt.Fprintf(&req, "echo %d\n", i)
			fmt.Fprintf(&want, "%d\n", i)
		}
		go c.Write([]byte(req.String()))
		c.want(want.String())
		if r.h.turns.Load() == 0 {
			t.Error("no Turn")
		}
	})
}

func TestByteByByte(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		for range 3 {
			for _, b := range "echo hello\nput 5\nabcdeecho bye\n" {
				c.send(string(b))
			}
			c.want(fmt.Sprintf("hello\n%08x\nbye\n", crc32.ChecksumIEEE([]byte("abcde"))))
		}
	})
}

// A long incomplete line arrives in small pieces: it grows in the connection's buffer and is given back afterwards.
func TestLongLine(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		word := strings.Repeat("x", 300_000)
		line := "echo " + word + "\n"
		for len(line) > 0 {
			n := min(1000, len(line))
			c.send(line[:n])
			line = line[n:]
		}
		c.want(word + "\n")
		c.send("echo a\n")
		c.want("a\n")
		if len(r.s.loops) > 0 && !r.tls {
			if st := r.s.Stats(); st.ReadBufBytes != 0 {
				t.Errorf("buffers kept: %+v", st)
			}
		}
	})
}

func TestInLimit(t *testing.T) {
	drivers(t, Config{InLimit: 100_000}, func(t *testing.T, r *rig) {
		c := r.dial()
		go io.Copy(c, strings.NewReader(strings.Repeat("x", 2_000_000)))
		c.wantEnd()
		r.h.wantClosed(t, ReasonError)
		if st := r.s.Stats(); st.InKills != 1 {
			t.Errorf("%+v", st)
		}
	})
}

func TestSlowReader(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		slow, quick := r.dial(), r.dial()
		n := 6 << 20
		slow.send(fmt.Sprintf("big %d\necho a\n", n))
		slow.send(fmt.Sprintf("lend %d 10 %d\necho b\n", n, n/2))
		slow.send(fmt.Sprintf("stream 3 %d\necho c\n", n/3))
		for i := range 100 { // others are not held up
			quick.send(fmt.Sprintf("echo %d\n", i))
			quick.want(fmt.Sprintf("%d\n", i))
		}
		slow.want(string(pattern[:n]) + "a\n")
		slow.want(fmt.Sprintf("%d\n", n) + string(pattern[:n]) + "10\n" + string(pattern[:10]) + fmt.Sprintf("%d\n", n/2) + string(pattern[:n/2]) + "b\n")
		slow.want(strings.Repeat(string(pattern[:n/3]), 3) + "c\n")
	})
}

// A client that sends and never reads: its requests stay in the socket, so that memory is bounded by one answer.
func TestBackpressure(t *testing.T) {
	drivers(t, Config{Loops: 1}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.raw.(*net.TCPConn).SetReadBuffer(4096)
		toy := <-r.h.opened
		c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		req := []byte(strings.Repeat("big 100000\n", 1000))
		for {
			if _, err := c.Write(req); err != nil {
				break // everything is full
			}
		}
		r.s.Stop(false)
		if toy.feeds > 1000 {
			t.Errorf("%d feeds without the client reading", toy.feeds)
		}
	})
}

func TestOutLimit(t *testing.T) {
	drivers(t, Config{OutLimit: 1 << 20}, func(t *testing.T, r *rig) {
		if len(r.s.loops) == 0 || r.tls {
			return // blocks instead
		}
		c := r.dial()
		c.send(fmt.Sprintf("lend %d\n", 8<<20))
		r.h.wantClosed(t, ReasonError)
		if st := r.s.Stats(); st.OutKills != 1 {
			t.Errorf("%+v", st)
		}
	})
}

func TestSink(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		for _, n := range []int{1, 100, 65536, 200_000, 5 << 20} {
			c.send(fmt.Sprintf("put %d\n", n))
			for p := pattern[:n]; len(p) > 0; {
				k := min(len(p), 50_000)
				c.send(string(p[:k]))
				p = p[k:]
			}
			c.send("echo after\n")
			c.want(fmt.Sprintf("%08x\nafter\n", crc32.ChecksumIEEE(pattern[:n])))
		}
	})
}

func TestYield(t *testing.T) {
	drivers(t, Config{Loops: 1}, func(t *testing.T, r *rig) {
		a, b := r.dial(), r.dial()
		n := 30000
		done := make(chan bool)
		go func() {
			a.send(strings.Repeat("yield\n", n))
			a.send("echo end\n")
			a.want(strings.Repeat("y\n", n) + "end\n")
			close(done)
		}()
		eventually(t, "first yield", func() bool { return len(r.h.served()) > 0 })
		b.send("echo b\n")
		b.want("b\n")
		if order := r.h.served(); slices.Contains(order[:slices.Index(order, "b")], "end") {
			t.Error("the other connection was served after the yielding one only")
		}
		<-done
	})
}

func TestParkWake(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.send("park\necho x\n")
		toy := <-r.h.parked
		for range 100 {
			c.send("echo y\n") // stays unread or unfed
		}
		toy.c.Wake()
		c.want("woken\nx\n" + strings.Repeat("y\n", 100))

		c.send("park\n")
		toy = <-r.h.parked
		var wg sync.WaitGroup
		for range 50 {
			wg.Go(toy.c.Wake)
		}
		wg.Wait()
		c.send("echo z\n")
		c.want("woken\nz\n")
	})
}

// Input after a disarmed park must be noticed again.
func TestParkManyTimes(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		for i := range 200 {
			c.send("park\n")
			toy := <-r.h.parked
			if i%2 == 0 {
				c.send("echo a\n")
				if i%4 == 0 {
					time.Sleep(time.Millisecond) // the loop sees it; either order must work
				}
			}
			toy.c.Wake()
			c.want("woken\n")
			if i%2 == 0 {
				c.want("a\n")
			}
		}
	})
}

func TestWakeWhileWaiting(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.send("watch\n")
		c.want("ok\n")
		toy := <-r.h.opened
		for range 100 {
			toy.c.Wake()
			c.want("w\n")
		}
		c.Close()
		r.h.wantClosed(t, ReasonNormal)
		toy.c.Wake() // too late, and harmless
	})
}

func TestCloseFlushes(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		n := 4 << 20
		c.send(fmt.Sprintf("big %d\nquit\necho never\n", n))
		c.want(string(pattern[:n]) + "bye\n")
		c.wantEnd()
		r.h.wantClosed(t, ReasonNormal)
		c = r.dial()
		c.send("abort\n")
		c.wantEnd()
		r.h.wantClosed(t, ReasonError)
	})
}

func TestHalfClose(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		n := 3 << 20
		c.send(fmt.Sprintf("yield\nbig %d\nyield\nlend %d\nstream 2 1000\necho end\nunfinis", n, n))
		c.Conn.(interface{ CloseWrite() error }).CloseWrite()
		c.want("y\n" + string(pattern[:n]) + "y\n" + fmt.Sprintf("%d\n", n) + string(pattern[:n]) + strings.Repeat(string(pattern[:1000]), 2) + "end\n")
		c.wantEnd()
		r.h.wantClosed(t, ReasonNormal)
	})
}

// A client that vanishes in all kinds of states must not leave references, buffers or sessions behind (drivers checks).
func TestVanish(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		for _, req := range []string{
			"", "echo a", "put 1000\nabc", "park\n", "watch\n",
			"lend 7000000 7000000\n", "big 7000000\n", "stream 5 3000000\n", strings.Repeat("lend 20000\n", 200),
			"echo " + strings.Repeat("x", 50000),
		} {
			for _, reset := range []bool{false, true} {
				c := r.dial()
				c.send(req)
				toy := <-r.h.opened
				if reset {
					c.raw.(*net.TCPConn).SetLinger(0)
				}
				c.raw.Close()
				if strings.HasPrefix(req, "park") {
					(<-r.h.parked).c.Wake()
					_ = toy
				}
				select {
				case <-r.h.closed:
				case <-time.After(10 * time.Second):
					t.Fatalf("%.20q (reset %v): not closed", req, reset)
				}
			}
		}
	})
}

func TestLimitFast(t *testing.T) {
	drivers(t, Config{MaxConns: 4, MaxConnsFast: true}, func(t *testing.T, r *rig) { // one of the four is the listening socket
		var cs []*client
		for range 3 {
			c := r.dial()
			c.send("echo a\n")
			c.want("a\n")
			cs = append(cs, c)
		}
		nc, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		if got, err := io.ReadAll(nc); string(got) != refusal {
			t.Errorf("got %q, %v", got, err)
		}
		nc.Close()
		if st := r.s.Stats(); st.Rejected != 1 || st.Curr != 3 || !st.Accepting {
			t.Errorf("%+v", st)
		}
		cs[0].Close()
		eventually(t, "room", func() bool { return r.s.Stats().Curr == 2 })
		c := r.dial()
		c.send("echo a\n")
		c.want("a\n")
	})
}

func TestLimitWait(t *testing.T) {
	drivers(t, Config{MaxConns: 3}, func(t *testing.T, r *rig) {
		a, b := r.dial(), r.dial()
		for _, c := range []*client{a, b} {
			c.send("echo a\n")
			c.want("a\n")
		}
		late := r.dialAt("tcp", r.addr) // with TLS: the handshake waits too
		got := make(chan bool)
		go func() {
			late.send("echo late\n")
			late.want("late\n")
			close(got)
		}()
		eventually(t, "not accepting", func() bool { return !r.s.Stats().Accepting })
		select {
		case <-got:
			t.Fatal("served above the limit")
		default:
		}
		a.Close()
		<-got
		if st := r.s.Stats(); st.ListenDisabled != 1 || st.ListenDisabledUs == 0 || !st.Accepting || st.Rejected != 0 {
			t.Errorf("%+v", st)
		}
	})
}

func TestIdleTimeout(t *testing.T) {
	drivers(t, Config{IdleTimeout: 500 * time.Millisecond}, func(t *testing.T, r *rig) {
		idle, busy, watch := r.dial(), r.dial(), r.dial()
		for _, c := range []*client{idle, busy} {
			c.send("echo a\n")
			c.want("a\n")
		}
		busy.send("put 100\nx") // in the middle of an upload: not idle
		watch.send("watch\n")
		watch.want("ok\n")
		idle.wantEnd()
		r.h.wantClosed(t, ReasonIdle)
		if st := r.s.Stats(); st.IdleKicks != 1 || st.Curr != 2 {
			t.Errorf("%+v", st)
		}
		busy.send(strings.Repeat("x", 99))
		busy.want(fmt.Sprintf("%08x\n", crc32.ChecksumIEEE([]byte(strings.Repeat("x", 100)))))
	})
}

func TestShut(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.send("shut\n")
		c.want("bye\n")
		c.wantEnd()
		if v := <-r.s.Done(); v != Shut {
			t.Errorf("asked for %d", v)
		}
		r.dial().send("shutg\n")
		if v := <-r.s.Done(); v != ShutGraceful {
			t.Errorf("asked for %d", v)
		}
	})
}

func TestGracefulStop(t *testing.T) {
	drivers(t, Config{DrainTimeout: 20 * time.Second}, func(t *testing.T, r *rig) {
		slow, idle, parked := r.dial(), r.dial(), r.dial()
		n := 7 << 20
		idle.send("echo a\n")
		idle.want("a\n")
		parked.send("park\n")
		<-r.h.parked
		slow.send(fmt.Sprintf("lend %d\n", n))
		slow.want(fmt.Sprintf("%d\n", n))
		done := make(chan bool)
		go func() {
			r.s.Stop(true)
			close(done)
		}()
		idle.wantEnd()
		parked.wantEnd()
		if nc, err := net.Dial("tcp", r.addr); err == nil {
			nc.Close()
			t.Error("still listening")
		}
		select {
		case <-done:
			t.Error("stopped before the answer was sent")
		default:
		}
		slow.want(string(pattern[:n]))
		slow.wantEnd()
		<-done
	})
}

// A client that never takes its answer holds a graceful stop up only for so long.
func TestGracefulStopBounded(t *testing.T) {
	drivers(t, Config{DrainTimeout: 200 * time.Millisecond}, func(t *testing.T, r *rig) {
		c := r.dial()
		c.send(fmt.Sprintf("lend %d\n", 8<<20))
		c.want(fmt.Sprintf("%d\n", 8<<20))
		r.s.Stop(true)
		r.h.wantClosed(t, ReasonShutdown)
	})
}

func TestManyConnections(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		n := 1000
		if r.tls {
			n = 200
		}
		for range 2 {
			cs := make([]*client, n)
			var wg sync.WaitGroup
			for i := range cs {
				cs[i] = r.dial()
			}
			for i, c := range cs {
				wg.Go(func() {
					c.send(fmt.Sprintf("echo %d\nlend 100\n", i))
					c.want(fmt.Sprintf("%d\n100\n", i) + string(pattern[:100]))
				})
			}
			wg.Wait()
			if st := r.s.Stats(); st.Curr != uint64(n) {
				t.Errorf("%+v", st)
			}
			per := map[int]int{}
			for range n {
				per[(<-r.h.opened).c.Loop()]++
			}
			for l, k := range per {
				if k < n/2-n/10 || l >= r.s.Loops() {
					t.Errorf("connections per loop: %v", per)
				}
			}
			for _, c := range cs {
				c.raw.Close()
			}
			for range n {
				<-r.h.closed
			}
		}
		eventually(t, "all gone", func() bool { return r.s.Stats().Curr == 0 })
	})
}

func TestConns(t *testing.T) {
	drivers(t, Config{}, func(t *testing.T, r *rig) {
		a, b, p, q := r.dial(), r.dial(), r.dial(), r.dial()
		a.send("echo a\n")
		a.want("a\n")
		b.send("put 100\nabc")
		p.send("park\n")
		<-r.h.parked
		find := func(addr string, st State) func() bool {
			return func() (ok bool) {
				r.s.Conns(func(c ConnInfo) { ok = ok || c.Remote == addr && c.State == st && c.Local == r.addr && c.ID > 0 })
				return ok
			}
		}
		eventually(t, "waiting", find(a.LocalAddr().String(), StateWaiting))
		eventually(t, "reading", find(b.LocalAddr().String(), StateReading))
		q.send("echo unfini")
		eventually(t, "reading", find(q.LocalAddr().String(), StateReading))
		eventually(t, "parked", find(p.LocalAddr().String(), StateParked))
		eventually(t, "listening", find(r.addr, StateListening))
	})
}

// Stop may come while everything is going on.
func TestStopUnderLoad(t *testing.T) {
	for _, graceful := range []bool{false, true} {
		drivers(t, Config{DrainTimeout: time.Second}, func(t *testing.T, r *rig) {
			var wg sync.WaitGroup
			started := make(chan bool, 20)
			for range 20 {
				c := r.dial()
				wg.Go(func() {
					b := make([]byte, 4096)
					first := true
					for {
						if _, err := c.Write([]byte("echo a\nlend 5000\nyield\nput 4\nabcd")); err != nil {
							return
						}
						if _, err := c.Read(b); err != nil {
							return
						}
						if first {
							first = false
							started <- true
						}
					}
				})
			}
			for range 20 {
				<-started
			}
			r.s.Stop(graceful)
			wg.Wait()
		})
	}
}
