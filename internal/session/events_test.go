package session

import (
	"regexp"
	"testing"

	"godwit/internal/netloop"
)

// placed is a connection with a transport and an address.
type placed struct {
	fakeConn
	transport netloop.Transport
	remote    string
}

func (c placed) Transport() netloop.Transport { return c.transport }
func (c placed) Remote() string               { return c.remote }

// TestConnEvents: who watches connections is told of new and closed ones, but not of datagrams.
func TestConnEvents(t *testing.T) {
	m := newFleet(t, 1).members[0]
	watcher := newPipe(m.w, m.cfg, 5)
	watcher.write([]byte("watch connevents\r\n"))
	if got := string(watcher.got); got != "OK\r\n" {
		t.Fatalf("%q", got)
	}
	for _, c := range []struct {
		conn   placed
		reason netloop.Reason
		want   string // of either line, behind the type
	}{
		{placed{fakeConn{7}, netloop.TCP, "127.0.0.1:1234"}, netloop.ReasonNormal,
			`conn_new rip=127\.0\.0\.1 rport=1234 transport=tcp cfd=7\n.*conn_close rip=127\.0\.0\.1 rport=1234 transport=tcp reason=normal cfd=7\n`},
		{placed{fakeConn{8}, netloop.TCP, "[::1]:99"}, netloop.ReasonError,
			`conn_new rip=::1 rport=99 transport=tcp cfd=8\n.*conn_close rip=::1 rport=99 transport=tcp reason=error cfd=8\n`},
		{placed{fakeConn{9}, netloop.Unix, "/tmp/s"}, netloop.ReasonIdle,
			`conn_new rip=unix rport=0 transport=local cfd=9\n.*conn_close rip=unix rport=0 transport=local reason=idle_timeout cfd=9\n`},
		{placed{fakeConn{10}, netloop.UDP, "127.0.0.1:5"}, netloop.ReasonNormal, ``},
		{placed{fakeConn{11}, netloop.TCP, "1.2.3.4:5"}, netloop.ReasonShutdown, `conn_new .* cfd=11\n.*conn_close .* reason=shutdown cfd=11\n`},
	} {
		New(m.w, m.cfg, c.conn).Closed(c.reason)
		watcher.got = nil
		watcher.feed()
		re := `^$`
		if c.want != "" {
			re = `^ts=\d+\.\d+ gid=\d+ type=` + c.want + `$`
		}
		if !regexp.MustCompile(re).Match(watcher.got) {
			t.Errorf("%+v:\n%s", c.conn, watcher.got)
		}
	}
	watcher.s.Closed(netloop.ReasonNormal)
	if got := m.w.Watch.Load(); got != 0 {
		t.Errorf("still watched: %#x", got)
	}
}
