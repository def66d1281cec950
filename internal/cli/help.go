package cli

import (
	"fmt"
	"io"

	"godwit/internal/config"
)

func help(_ string, _ []string, stdout, _ io.Writer) int {
	fmt.Fprintf(stdout, `godwit %s: a memcached server, and load generators for memcached and Redis servers

Start one and try it:
  godwit                      serves on port 11211, stays in the foreground, says what it does
  printf 'set greeting 0 0 5\r\nhello\r\nget greeting\r\nquit\r\n' | nc 127.0.0.1 11211
  godwit memtier -p 11211 -P memcache_text --test-time=5

Commands:
`, config.Version)
	for _, c := range commands {
		fmt.Fprintf(stdout, "  godwit %-12s %s\n", c.name, c.summary)
	}
	fmt.Fprint(stdout, `Each explains itself with --help.

Both serve and memcached take memcached's options; godwit memcached -h prints all of them. Often used:
  -m 1024                     megabytes of memory for items     (serve: three quarters of what the process may use;
                              memcached: 64)
  -p 11211                    TCP port; -1 takes a free one
  -l 127.0.0.1                address to listen on              (all)
  -s /run/godwit.sock         unix socket instead of TCP
  -c 4096                     connections at the same time
  -t 4                        event loops                       (serve: one per core; memcached: 4, or fewer cores)
  -u nobody                   user to become when started by root; memcached insists on it, serve does not
  -d -P /run/godwit.pid       in the background, with its process id in a file
  -Z -o ssl_chain_cert=server.pem,ssl_key=server.key
                              TLS; SIGHUP reads the files again
  -Y users                    ask clients of the text protocol for user and password
  --admin 127.0.0.1:9150      metrics, health and profiles over HTTP

A program or script that starts memcached needs no change: a link named memcached to this program is memcached.
  ln -s "$(command -v godwit)" /usr/local/bin/memcached

The server stops at once on SIGINT and SIGTERM, after finishing what has arrived on SIGUSR1.
`)
	return 0
}
