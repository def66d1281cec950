package netloop_test

import (
	"bufio"
	"bytes"
	"io"
	"net"
	"testing"

	"godwit/internal/netloop"
	"godwit/internal/netloop/echo"
)

func TestSmoke(t *testing.T) {
	s, err := netloop.New(netloop.Config{Listeners: []*netloop.Listener{{Addr: "127.0.0.1:0"}}, Loops: 2}, &echo.Handler{Answer: []byte("OK\r\n")})
	if err != nil {
		t.Fatal(err)
	}
	s.Start()
	defer s.Stop(true)
	nc, err := net.Dial("tcp", s.Addrs()[0].Addr)
	if err != nil {
		t.Fatal(err)
	}
	nc.Write(bytes.Repeat([]byte("get foo\r\n"), 1000))
	r := bufio.NewReader(nc)
	b := make([]byte, 4000)
	if _, err := io.ReadFull(r, b); err != nil {
		t.Fatal(err)
	}
	nc.Close()
}
