package cli

import (
	"fmt"
	"io"
	"net"
	"net/netip"
	"runtime"
	"slices"
	"strings"

	"godwit/internal/config"
	"godwit/internal/server"
)

// serve is the face of those who want a cache and no settings: all cores, most of the memory, many connections.
func serve(prog string, args []string, stdout, stderr io.Writer) int {
	if slices.Contains(args, "--help") || slices.Contains(args, "-h") {
		return help(prog, nil, stdout, stderr)
	}
	set, exit := config.Parse(serveDefaults(), prog, args)
	if exit != nil {
		return leave(exit, stdout, stderr)
	}
	return server.Run(set, server.Options{Stderr: stderr, Ready: announce})
}

func serveDefaults() *config.Memcached {
	set := config.Defaults()
	if usable := server.UsableMemory("/"); usable > 0 {
		set.MaxBytes = max(set.MaxBytes, usable/4*3>>20<<20)
	}
	set.Threads = runtime.GOMAXPROCS(0)
	set.MaxConns = max(set.MaxConns, min(server.FileLimit(), 1<<16))
	return set
}

// announce says what listens where, and what to try.
func announce(s *server.Server, w io.Writer) {
	addrs := s.Addrs()
	set := s.Settings()
	fmt.Fprintf(w, "godwit %s: memcached protocol on %s; %d MB for items, %d loops (%s), up to %d connections\n",
		config.Version, strings.Join(addrs, ", "), set.MaxBytes>>20, s.Loops(), s.IO(), set.MaxConns)
	if cmd := try(set, addrs); cmd != "" {
		fmt.Fprintf(w, "try: printf 'set greeting 0 0 5\\r\\nhello\\r\\nget greeting\\r\\nquit\\r\\n' | %s\n", cmd)
	}
	fmt.Fprintln(w, "stop: ctrl-C. More: godwit help")
}

// try is the command that sends its input to the server; "" if a plain text client would not be let in.
func try(set *config.Memcached, addrs []string) string {
	if len(addrs) == 0 || set.AuthFile != "" || set.Protocol == config.Binary {
		return ""
	}
	if set.Socket != "" {
		return "nc -U " + set.Socket
	}
	at, err := netip.ParseAddrPort(addrs[0])
	if err != nil {
		return ""
	}
	host := at.Addr().String()
	if at.Addr().IsUnspecified() {
		host = "127.0.0.1"
	}
	if set.TLS {
		return "openssl s_client -quiet -connect " + net.JoinHostPort(host, fmt.Sprint(at.Port()))
	}
	return fmt.Sprintf("nc %s %d", host, at.Port())
}
