package drive

import (
	"bufio"
	"io"
	"net"
	"testing"
	"time"
)

// lineServer answers lines one by one until one is "quit". reads gets the number of lines of each read.
func lineServer(t *testing.T) (addr string, lines func() int) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	total := make(chan int, 100)
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				n := 0
				for r := bufio.NewReader(nc); ; n++ {
					s, err := r.ReadString('\n')
					if err != nil || s == "quit\n" {
						break
					}
					io.WriteString(nc, "yes\n")
				}
				total <- n
			}()
		}
	}()
	t.Cleanup(func() { l.Close() })
	return l.Addr().String(), func() int { return <-total }
}

// Blind clients count what they sent, and wait until the server has served all of it.
func TestBlind(t *testing.T) {
	for _, rate := range []float64{0, 20000} {
		addr, lines := lineServer(t)
		p := plan(addr, 3, 1003, 10)
		for i := range p.Clients {
			c := &p.Clients[i]
			c.Blind, c.Quit, c.Rate, c.Burst = true, []byte("quit\n"), rate, 10
		}
		r := run1(t, p)
		served := lines() + lines() + lines()
		if row := &r.Rows[0]; row.Count != 3009 || served != 3009 || r.ConnErrors != 0 || row.Service.TotalCount() != 0 {
			t.Errorf("rate %g: counted %d, served %d, %d errors %v, %d latencies", rate, row.Count, served, r.ConnErrors, r.Texts, row.Service.TotalCount())
		}
	}
}

// Bursts are whole, and come at intervals of Burst/Rate.
func TestBurst(t *testing.T) {
	addr := echoServer(t, "yes")
	for _, io := range drivers {
		p := plan(addr, 2, -1, 100)
		p.IO, p.Duration = io, time.Second
		for i := range p.Clients {
			p.Clients[i].Rate, p.Clients[i].Burst, p.Clients[i].Phase = 1000, 50, 0.5
		}
		r := run1(t, p)
		if n := r.Rows[0].Count; n%50 != 0 || n < 1800 || n > 2000 {
			t.Errorf("%s: %d requests in a second at 2000/s in fifties", io, n)
		}
		p = plan(addr, 2, 1000, 64)
		p.IO = io
		for i := range p.Clients {
			p.Clients[i].Burst = 32
		}
		if n := run1(t, p).Rows[0].Count; n != 2000 {
			t.Errorf("%s: %d requests of 2000 in bursts", io, n)
		}
	}
}

// A burst that is larger than the pipeline is sent as answers come, all of it planned for the same time.
func TestBurstBeyondPipeline(t *testing.T) {
	addr := echoServer(t, "yes")
	for _, io := range drivers {
		p := plan(addr, 3, 200, 1)
		p.IO = io
		for i := range p.Clients {
			p.Clients[i].Rate, p.Clients[i].Burst = 1000, 20
		}
		r := run1(t, p)
		if row := &r.Rows[0]; row.Count != 600 || row.Planned.TotalCount() != 600 || r.Duration() < 180*time.Millisecond {
			t.Errorf("%s: %d requests of 600 in %v, %d planned", io, row.Count, r.Duration(), row.Planned.TotalCount())
		}
	}
}
