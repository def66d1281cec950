// Command echo serves the bare echo loop on memcached's own flags, so that it can stand in for a server in a measurement:
// each line is answered with a constant. What it costs is the floor under every server on these loops.
package main

import (
	"flag"
	"fmt"
	"net"
	"os"
	"strconv"

	"godwit/internal/netloop"
	"godwit/internal/netloop/echo"
)

func main() {
	port := flag.Int("p", 11211, "port")
	addr := flag.String("l", "127.0.0.1", "address")
	loops := flag.Int("t", 1, "loops")
	conns := flag.Int("c", 1024, "connections")
	for _, name := range []string{"u", "m"} {
		flag.String(name, "", "accepted, no effect")
	}
	flag.Parse()
	s, err := netloop.New(netloop.Config{
		Listeners: []*netloop.Listener{{Addr: net.JoinHostPort(*addr, strconv.Itoa(*port)), Backlog: 1024}},
		Loops:     *loops, MaxConns: *conns,
	}, &echo.Handler{Answer: []byte("OK\r\n")})
	if err != nil {
		fmt.Fprintln(os.Stderr, "echo:", err)
		os.Exit(1)
	}
	s.Serve()
}
