package netloop

import (
	"encoding/binary"
	"errors"
	"fmt"
	"net"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// serveOn starts a server on the listeners, with the default driver.
func serveOn(t *testing.T, cfg Config, ls ...*Listener) *rig {
	t.Helper()
	cfg.Listeners, cfg.Logf = ls, t.Logf
	if cfg.Loops == 0 {
		cfg.Loops = 2
	}
	h := newToyHandler()
	s, err := New(cfg, h)
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	t.Cleanup(func() { s.Stop(false) })
	return &rig{t: t, h: h, s: s, addr: s.Addrs()[0].Addr}
}

func TestUnix(t *testing.T) {
	for _, io := range []string{"auto", "std"} {
		for _, mode := range []uint32{0o700, 0o600, 0o777} {
			path := filepath.Join(t.TempDir(), "s")
			stale, err := net.ListenUnix("unix", &net.UnixAddr{Name: path, Net: "unix"})
			if err != nil {
				t.Fatal(err)
			}
			stale.SetUnlinkOnClose(false)
			stale.Close()
			r := serveOn(t, Config{IO: io}, &Listener{Transport: Unix, Addr: path, Mode: mode, Backlog: 5})
			st, err := os.Lstat(path)
			if err != nil || st.Mode().Perm() != os.FileMode(mode) {
				t.Errorf("%s: mode %o, wanted %o (%v)", io, st.Mode().Perm(), mode, err)
			}
			c := r.dialAt("unix", path)
			c.send("echo a\nput 3\nabc")
			c.want("a\n352441c2\n")
			toy := <-r.h.opened
			if toy.c.Remote() != path || toy.c.Local() != path || toy.c.Transport() != Unix {
				t.Errorf("remote %q, local %q", toy.c.Remote(), toy.c.Local())
			}
			r.s.Stop(false)
			if _, err := os.Lstat(path); err != nil {
				t.Error("the socket file should stay")
			}
		}
	}
	file := filepath.Join(t.TempDir(), "file")
	os.WriteFile(file, []byte("precious"), 0o600)
	if _, err := New(Config{Listeners: []*Listener{{Transport: Unix, Addr: file}}}, newToyHandler()); err == nil {
		t.Error("took the place of a file")
	}
	if b, _ := os.ReadFile(file); string(b) != "precious" {
		t.Error("the file is gone")
	}
}

// Requests sent before the client closed a unix socket count, even if the session was parked when it closed.
func TestUnixParkedHangup(t *testing.T) {
	path := filepath.Join(t.TempDir(), "s")
	r := serveOn(t, Config{}, &Listener{Transport: Unix, Addr: path, Mode: 0o700})
	c := r.dialAt("unix", path)
	c.send("park\n")
	toy := <-r.h.parked
	c.send("silent\n")
	c.Close()
	time.Sleep(20 * time.Millisecond) // the hang-up should arrive while parked; the outcome is the same if it does not
	select {
	case <-r.h.closed:
		t.Fatal("closed with unread requests")
	default:
	}
	toy.c.Wake()
	<-r.h.closed
}

func TestListenAny(t *testing.T) {
	r := serveOn(t, Config{}, &Listener{Addr: "*:0"})
	as := r.s.Addrs()
	if !strings.HasPrefix(as[0].Addr, "0.0.0.0:") {
		t.Errorf("%v", as)
	}
	_, port, _ := net.SplitHostPort(as[0].Addr)
	for _, a := range as {
		if _, p, _ := net.SplitHostPort(a.Addr); p != port {
			t.Errorf("different ports: %v", as)
		}
	}
	c := r.dialAt("tcp", "127.0.0.1:"+port)
	c.send("echo a\n")
	c.want("a\n")
	toy := <-r.h.opened
	if toy.c.Remote() != c.LocalAddr().String() || toy.c.Local() != "0.0.0.0:"+port {
		t.Errorf("remote %q, local %q", toy.c.Remote(), toy.c.Local())
	}
	if len(as) > 1 {
		c := r.dialAt("tcp", "[::1]:"+port)
		c.send("echo a\n")
		c.want("a\n")
		if got := (<-r.h.opened).c.Remote(); got != c.LocalAddr().String() {
			t.Errorf("remote %q, want %q", got, c.LocalAddr())
		}
	}
}

func TestListenErrors(t *testing.T) {
	r := serveOn(t, Config{}, &Listener{Addr: "127.0.0.1:0"})
	_, err := New(Config{Listeners: []*Listener{{Addr: r.addr}}}, newToyHandler())
	var le *ListenError
	if !errors.As(err, &le) || le.Cause().Error() != "address already in use" || le.Addr != r.addr {
		t.Errorf("%v", err)
	}
	for _, addr := range []string{"nonsense", "127.0.0.1:99999", "203.0.113.1:0", "no.such.host.invalid:1"} {
		if _, err := New(Config{Listeners: []*Listener{{Addr: addr}}}, newToyHandler()); !errors.As(err, &le) {
			t.Errorf("%s: %v", addr, err)
		}
	}
	if _, err := New(Config{IO: "carrier pigeon"}, newToyHandler()); err == nil {
		t.Error("accepted")
	}
}

// datagram sends one request and reads n datagrams.
func datagram(t *testing.T, c net.Conn, head [8]byte, req string, n int) [][]byte {
	t.Helper()
	if _, err := c.Write(append(head[:], req...)); err != nil {
		t.Fatal(err)
	}
	var got [][]byte
	for range n {
		b := make([]byte, 2000)
		c.SetReadDeadline(time.Now().Add(10 * time.Second))
		k, err := c.Read(b)
		if err != nil {
			t.Fatalf("%q: %v", req, err)
		}
		got = append(got, b[:k])
	}
	return got
}

func TestUDP(t *testing.T) {
	for _, io := range []string{"auto", "std"} {
		r := serveOn(t, Config{IO: io, UDPReply: 20000}, &Listener{Transport: UDP, Addr: "127.0.0.1:0"})
		c, err := net.Dial("udp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		head := [8]byte{0x12, 0x34, 9, 9, 0, 1, 0, 0} // the sequence number of a request does not matter
		check := func(p []byte, seq, total int, body string) {
			t.Helper()
			want := binary.BigEndian.AppendUint16([]byte{0x12, 0x34}, uint16(seq))
			want = append(binary.BigEndian.AppendUint16(want, uint16(total)), 0, 0)
			if string(p) != string(want)+body {
				t.Fatalf("got %.60q, want %.60q", p, string(want)+body)
			}
		}
		check(datagram(t, c, head, "echo hello\n", 1)[0], 0, 1, "hello\n")

		got := datagram(t, c, head, "echo a\necho b\nlend 4\n", 3) // one message each
		check(got[0], 0, 1, "a\n")
		check(got[1], 0, 1, "b\n")
		check(got[2], 0, 1, "4\n"+string(pattern[:4]))

		big := "3000\n" + string(pattern[:3000])
		got = datagram(t, c, head, "lend 3000\necho z\n", 4)
		check(got[0], 0, 3, big[:1392])
		check(got[1], 1, 3, big[1392:2784])
		check(got[2], 2, 3, big[2784:])
		check(got[3], 0, 1, "z\n")

		check(datagram(t, c, head, "put 4\nabcd", 1)[0], 0, 1, "ed82cd11\n")
		check(datagram(t, c, head, "close\n", 1)[0], 0, 0, "")
		got = datagram(t, c, head, "quit\n", 1)
		check(got[0], 0, 1, "bye\n")
		got = datagram(t, c, head, "yield\nstream 2 3\n", 3)
		check(got[0], 0, 1, "y\n")
		check(got[1], 0, 1, string(pattern[:3]))

		// No answer to any of these; the last one shows that they are over.
		c.Write(head[:])
		c.Write([]byte("short"))
		c.Write(append([]byte{0, 1, 0, 0, 0, 2, 0, 0}, "echo two\n"...))
		c.Write(append(head[:], "put 10\nabc"...))
		c.Write(append(head[:], "echo unfinished"...))
		c.Write(append(head[:], "silent\n"...))
		c.Write(append(head[:], "abort\n"...))
		c.Write(append(head[:], "big 20001\n"...)) // above the bound
		drops := func() bool { return r.s.Stats().DatagramDrops == 2 }
		eventually(t, "drops", drops)
		check(datagram(t, c, head, "echo end\n", 1)[0], 0, 1, "end\n")

		c.Write(append(head[:], "park\necho x\n"...))
		(<-r.h.parked).c.Wake()
		check(datagram(t, c, head, "", 1)[0], 0, 1, "woken\nx\n") // one message: the toy marks no end before x
		c.Write(append(head[:], "park\n"...))
		<-r.h.parked // never waked: dropped after a while
		eventually(t, "drop", func() bool { return r.s.Stats().DatagramDrops == 3 })

		n := 0
		r.s.Conns(func(c ConnInfo) {
			if c.Transport == UDP && c.State == StateWaiting && c.Remote == r.addr {
				n++
			}
		})
		if n != 1 {
			t.Errorf("%d rows for the socket", n)
		}
		r.s.Stop(true)
		eventually(t, "sessions closed", func() bool { return r.h.open.Load() == 0 })
		if r.h.lent.Load() != 0 || r.h.twice.Load() != 0 {
			t.Errorf("%d references out", r.h.lent.Load())
		}
	}
}

func TestTLSErrors(t *testing.T) {
	drivers(t, Config{Handshake: 100 * time.Millisecond}, func(t *testing.T, r *rig) {
		if !r.tls {
			return
		}
		plain, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer plain.Close()
		fmt.Fprintf(plain, "get foo\r\n")
		eventually(t, "error counted", func() bool { return r.s.Stats().TLSHandshakeErrors == 1 })
		silent, err := net.Dial("tcp", r.addr)
		if err != nil {
			t.Fatal(err)
		}
		defer silent.Close()
		silent.Read(make([]byte, 1)) // closed when the time is up
		eventually(t, "error counted", func() bool { return r.s.Stats().TLSHandshakeErrors == 2 })
		c := r.dial()
		c.send("echo a\n")
		c.want("a\n")
		st := (<-r.h.opened).c.TLS()
		if st == nil || !st.HandshakeComplete || r.s.Stats().TLSNewSessions != 1 {
			t.Errorf("%+v", st)
		}
		c.raw.Write([]byte("not a TLS record at all"))
		eventually(t, "protocol error counted", func() bool { return r.s.Stats().TLSProtoErrors == 1 })
	})
}
