package drive

import (
	"errors"
	"net"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
)

// mute accepts connections and reads them, but answers only the first few of all requests, which are lines.
func mute(t *testing.T, answers int) (addr string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { l.Close() })
	left := make(chan struct{}, answers)
	for range answers {
		left <- struct{}{}
	}
	go func() {
		for {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				for b := make([]byte, 1); ; {
					if _, err := nc.Read(b); err != nil {
						return
					}
					if b[0] != '\n' {
						continue
					}
					select {
					case <-left:
						nc.Write([]byte("yes\n"))
					default:
					}
				}
			}()
		}
	}()
	return l.Addr().String()
}

// A connection whose server falls silent is lost after the timeout, and opened again if the plan says so.
func TestSilentServer(t *testing.T) {
	for _, io := range drivers {
		for _, most := range []int{0, 2} {
			p := plan(mute(t, 3), 1, 10, 1)
			p.IO = io
			p.Retry = load.Retry{On: most > 0, Most: most, Delay: time.Millisecond, Timeout: 100 * time.Millisecond}
			p.Duration = time.Minute // if it does not work
			r := run1(t, p)
			// Each connection begins with the next request.
			if n := r.Rows[0].Count; n != 3 || r.Lost != r.ConnErrors || r.Lost == 0 || most == 0 && r.Lost != 1 || r.Duration() > 30*time.Second {
				t.Errorf("%s, %d retries: %d answers, %d lost, %d errors in %v", io, most, n, r.Lost, r.ConnErrors, r.Duration())
			}
			if len(r.Texts) == 0 || !strings.Contains(r.Texts[0].Text, "silent for 100ms") {
				t.Errorf("%s: %v", io, r.Texts)
			}
			if top := time.Duration(r.Rows[0].Service.Max()); top < 90*time.Millisecond {
				t.Errorf("%s: the request that was lost has no latency: the longest is %v", io, top)
			}
		}
	}
}

// A server that does not read is found out, too, and one that does not greet, before the start.
func TestDeafServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	for _, io := range drivers {
		p := plan(l.Addr().String(), 2, 1000, 1000)
		p.IO = io
		for i := range p.Clients {
			p.Clients[i].Source = &counter{n: 1000, value: make([]byte, 1<<16)}
		}
		p.Retry.Timeout = 100 * time.Millisecond
		p.Duration = time.Minute
		if r := run1(t, p); r.ConnErrors != 2 || r.Lost == 0 || r.Duration() > 30*time.Second {
			t.Errorf("%s: %d errors, %d lost", io, r.ConnErrors, r.Lost)
		}
		p = plan(l.Addr().String(), 2, 10, 1)
		p.IO, p.Retry.Timeout = io, 100*time.Millisecond
		p.Clients[0].Target.Prologue = []load.Greeting{{Name: "HELLO", Send: []byte("hello\n"), Check: func(in []byte) (int, error) {
			return 0, errors.New("nothing was to come")
		}}}
		if _, err := Run(t.Context(), p, Hooks{}); err == nil || !strings.Contains(err.Error(), "silent") {
			t.Errorf("%s: a server that does not greet: %v", io, err)
		}
	}
}

// A server that is not there at the start is waited for as long as the plan says; the others do not wait with it.
func TestLateServer(t *testing.T) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	addr := l.Addr().String()
	l.Close()
	p := plan(addr, 2, 10, 1)
	p.Retry = load.Retry{On: true, Most: 2, Delay: 10 * time.Millisecond}
	if r := run1(t, p); r.Rows[0].Count != 0 || r.ConnErrors != 6 {
		t.Errorf("nobody there: %d answers, %d errors", r.Rows[0].Count, r.ConnErrors)
	}
	p = plan(addr, 2, 10, 1)
	p.Clients[1].Target = &load.Target{Network: "tcp", Address: mute(t, 1000)}
	p.Retry = load.Retry{On: true, Delay: 10 * time.Millisecond}
	p.Duration = time.Minute // if it does not work
	listened := make(chan net.Listener, 1)
	time.AfterFunc(200*time.Millisecond, func() {
		l, _ := net.Listen("tcp", addr)
		listened <- l
		for l != nil {
			nc, err := l.Accept()
			if err != nil {
				return
			}
			go func() {
				defer nc.Close()
				for b := make([]byte, 1); ; {
					if _, err := nc.Read(b); err != nil {
						return
					}
					if b[0] == '\n' {
						nc.Write([]byte("yes\n"))
					}
				}
			}()
		}
	})
	r := run1(t, p)
	if l := <-listened; l != nil {
		l.Close()
	} else {
		t.Skip("the port is taken")
	}
	if r.Rows[0].Count != 20 || r.ConnErrors == 0 || r.Reconnects == 0 || r.Lost != 0 {
		t.Errorf("late: %d answers, %d errors, %d reconnects, %d lost", r.Rows[0].Count, r.ConnErrors, r.Reconnects, r.Lost)
	}
}
