package session

import (
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"sort"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"godwit/internal/netloop"
	"godwit/internal/stats"
)

// The files in testdata/text are byte-in, byte-out tests (see encode for the lines):
//
//	server             start anew, with memcached's command line options in the input
//	connect [c=name]   open a new connection
//	send [c=name]      send the lines in one piece, show the answer and how the connection ended
//	count [c=name]     the same, and show which counters moved
//	advance seconds=n  let time pass
//
// Files whose name starts with ours_ hold what Godwit does otherwise than memcached on purpose. The answers in all others
// were recorded from the real one (TestTextReal with -rewrite).
func TestText(t *testing.T) {
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		runFile(t, path, &ours{t: t})
	})
}

// TestTextReal gives the same files to the real memcached.
func TestTextReal(t *testing.T) {
	binary := os.Getenv("GODWIT_MEMCACHED")
	if binary == "" {
		t.Skip("GODWIT_MEMCACHED does not name a memcached 1.6.45 to compare with")
	}
	if _, err := os.Stat(binary); err != nil {
		t.Skip(err)
	}
	if testing.Short() {
		t.Skip("slow: waits for the end of each answer")
	}
	datadriven.Walk(t, "testdata/text", func(t *testing.T, path string) {
		if strings.HasPrefix(filepath.Base(path), "ours_") {
			t.Skip("differs on purpose")
		}
		t.Parallel()
		runFile(t, path, &realServer{t: t, binary: binary})
	})
}

// tested is a server under test.
type tested interface {
	server(args []string)
	connect(c string)
	send(c, text string) string
	advance(seconds int)
	counters() map[string]uint64
}

func runFile(t *testing.T, path string, srv tested) {
	datadriven.RunTest(t, path, func(t *testing.T, d *datadriven.TestData) string {
		c := "main"
		d.MaybeScanArgs(t, "c", &c)
		switch d.Cmd {
		case "server":
			// Without the background threads dead items wait for those who look for them.
			args := []string{"-o", "no_lru_maintainer,no_lru_crawler"}
			srv.server(append(args, strings.Fields(d.Input)...))
			srv.connect("main")
		case "connect":
			srv.connect(c)
		case "send":
			return srv.send(c, d.Input)
		case "count":
			before := srv.counters()
			answer := srv.send(c, d.Input)
			return answer + moved(before, srv.counters())
		case "advance":
			var n int
			d.ScanArgs(t, "seconds", &n)
			srv.advance(n)
		default:
			d.Fatalf(t, "unknown command")
		}
		return ""
	})
}

// counted are the counters that count shows.
var counted = []string{
	"cmd_flush", "cmd_get", "cmd_meta", "cmd_set", "cmd_touch", "get_hits", "get_misses", "get_expired", "delete_misses",
	"delete_hits", "incr_misses", "incr_hits", "decr_misses", "decr_hits", "cas_misses", "cas_hits", "cas_badval",
	"touch_hits", "touch_misses", "store_too_large", "store_no_memory", "auth_cmds", "auth_errors",
}

func moved(before, after map[string]uint64) string {
	var list []string
	for _, name := range counted {
		if d := after[name] - before[name]; d != 0 {
			list = append(list, name+"="+strconv.FormatUint(d, 10))
		}
	}
	sort.Strings(list)
	return "(" + strings.Join(list, " ") + ")\n"
}

// ours is Godwit, several times over: how the bytes are cut must make no difference.
type ours struct {
	t testing.TB
	f *fleet
}

func (o *ours) server(args []string) { o.f = newFleet(o.t, 4, args...) }
func (o *ours) connect(c string)     { o.f.connect(c) }

func (o *ours) send(c, text string) string {
	var first string
	for i, m := range o.f.members {
		p := m.pipes[c]
		p.got = nil
		m.names.sent(text)
		p.writeCut(encode(text, &m.names), i)
		answer := m.names.rename(decode(p.got, ends[p.verdict]))
		if i == 0 {
			first = answer
		} else if answer != first && p.verdict != netloop.Abort { // what a dropped connection had still got depends on the pieces
			return fmt.Sprintf("in one piece:\n%scut %d:\n%s", first, i, answer)
		}
	}
	return first
}

// ends are the words for what becomes of a connection.
var ends = map[netloop.Verdict]string{
	netloop.Close:        "(closed)",
	netloop.Abort:        "(closed)",
	netloop.Shut:         "(closed)",
	netloop.ShutGraceful: "(closed)",
}

func (o *ours) advance(seconds int) {
	for _, m := range o.f.members {
		m.w.Clock.Shift(int64(seconds) * 1000)
		m.w.L.Turn(m.w.Clock.Ms())
	}
}

func (o *ours) counters() map[string]uint64 {
	c, classes := o.f.members[0].w.St.Snapshot()
	var s stats.Class
	for _, k := range classes {
		s.GetHits += k.GetHits
		s.SetCmds += k.SetCmds
		s.DeleteHits += k.DeleteHits
		s.IncrHits += k.IncrHits
		s.DecrHits += k.DecrHits
		s.CasHits += k.CasHits
		s.CasBadval += k.CasBadval
		s.TouchHits += k.TouchHits
	}
	return map[string]uint64{
		"cmd_flush": c.CmdFlush, "cmd_get": s.GetHits + c.GetMisses, "cmd_meta": c.CmdMeta, "cmd_set": s.SetCmds,
		"cmd_touch": c.CmdTouch, "get_hits": s.GetHits, "get_misses": c.GetMisses, "get_expired": c.GetExpired,
		"delete_misses": c.DeleteMisses, "delete_hits": s.DeleteHits, "incr_misses": c.IncrMisses, "incr_hits": s.IncrHits,
		"decr_misses": c.DecrMisses, "decr_hits": s.DecrHits, "cas_misses": c.CasMisses, "cas_hits": s.CasHits,
		"cas_badval": s.CasBadval, "touch_hits": s.TouchHits, "touch_misses": c.TouchMisses,
		"store_too_large": c.StoreTooLarge, "store_no_memory": c.StoreNoMemory, "auth_cmds": c.AuthCmds,
		"auth_errors": c.AuthErrors,
	}
}

// realServer is the real memcached over a unix socket.
type realServer struct {
	t      testing.TB
	binary string
	path   string
	args   []string
	conns  map[string]net.Conn
	side   net.Conn // of the test itself
	moved  int      // seconds, latest advance
	names  casNames
}

func (r *realServer) server(args []string) {
	dir, err := os.MkdirTemp("", "mc")
	if err != nil {
		r.t.Fatal(err)
	}
	r.path, r.args, r.conns, r.names = filepath.Join(dir, "s"), args, map[string]net.Conn{}, casNames{}
	r.side, r.moved = nil, 0
	all := append([]string{"-u", "root", "-t", "1", "-s", r.path}, args...)
	cmd := exec.Command(r.binary, all...)
	cmd.Env = append(os.Environ(), "GCOV_PREFIX="+dir)
	if err := cmd.Start(); err != nil {
		r.t.Fatal(err)
	}
	r.t.Cleanup(func() {
		cmd.Process.Kill()
		cmd.Wait()
		os.RemoveAll(dir)
	})
	for range 100 {
		if c, err := net.Dial("unix", r.path); err == nil {
			c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	r.admin("debugtime p\r\n", "OK\r\n")
}

func (r *realServer) connect(c string) {
	if old := r.conns[c]; old != nil {
		old.Close()
	}
	conn, err := net.Dial("unix", r.path)
	if err != nil {
		r.t.Fatal(err)
	}
	r.conns[c] = conn
}

func (r *realServer) send(c, text string) string {
	r.names.sent(text)
	conn := r.conns[c]
	data := encode(text, &r.names)
	written := make(chan struct{})
	go func() {
		conn.Write(data)
		close(written)
	}()
	end := ""
	var got []byte
	buf := make([]byte, 1<<16)
	// It is over when the server, which has one thread, has answered others several times meanwhile.
	for still := 0; still < 5; {
		conn.SetReadDeadline(time.Now().Add(10 * time.Millisecond))
		n, err := conn.Read(buf)
		got = append(got, buf[:n]...)
		if n > 0 {
			still = 0
			continue
		}
		if !errors.Is(err, os.ErrDeadlineExceeded) {
			end = "(closed)"
			break
		}
		select {
		case <-written:
			r.admin("mn\r\n", "MN\r\n")
			still++
		default:
		}
	}
	return r.names.rename(decode(got, end))
}

// admin asks over a connection of its own, after the password if there is one, and returns the answer, which ends with
// end.
func (r *realServer) admin(text, end string) string {
	if r.side == nil {
		conn, err := net.Dial("unix", r.path)
		if err != nil {
			return "" // shutdown
		}
		r.side = conn
		if strings.Contains(strings.Join(r.args, " "), "-Y") {
			r.admin("set x 0 0 9\r\nroot root\r\n", "STORED\r\n")
		}
	}
	r.side.Write([]byte(text))
	var got []byte
	buf := make([]byte, 1<<16)
	for !strings.HasSuffix(string(got), end) {
		n, err := r.side.Read(buf)
		if err != nil {
			r.side = nil
			break
		}
		got = append(got, buf[:n]...)
	}
	return string(got)
}

// advance moves the clock by seconds. While it is paused, memcached moves it by the sum of all moves asked for so far.
func (r *realServer) advance(seconds int) {
	r.admin(fmt.Sprintf("debugtime %d\r\n", seconds-r.moved), "OK\r\n")
	r.moved = seconds
}

func (r *realServer) counters() map[string]uint64 {
	all := map[string]uint64{}
	for _, line := range strings.Split(r.admin("stats\r\n", "END\r\n"), "\r\n") {
		if f := strings.Fields(line); len(f) == 3 {
			all[f[1]], _ = strconv.ParseUint(f[2], 10, 64)
		}
	}
	return all
}
