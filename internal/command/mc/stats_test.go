package mc

import (
	"net"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"godwit/internal/bytesx"
)

// The files in testdata/admin are dialogues with the verbs of this family. Both this package and the real memcached answer
// them. What differs from run to run is masked, and lines without an order are sorted.

// adminDriver is a server with connections, by number.
type adminDriver interface {
	start(args []string)
	send(conn int, in []byte) (answer []byte, closed bool)
	advance(seconds int64)
}

var masks = []struct{ find, put string }{
	{`ts=\d+\.\d+ gid=\d+`, `ts=T gid=N`},
	{`cfd=-?\d+`, `cfd=N`},
	{`(status=too_large .*) clsid=\d+`, `$1 clsid=N`}, // memcached looks for the class of something else
	{`\bcas=\d+`, `cas=N`},
	{`^ME n exp=30 .*`, `ME n …`}, // in a pipeline memcached's incr makes a new item
	{`\b(la|exp)=\d{8,}`, `$1=T`},
	{`; \d{8,} s]`, `; T s]`},
	{`STAT domain_socket \S+`, `STAT domain_socket PATH`},
	{`^(VALUE \S+ \d+ \d+) \d+$`, `$1 N`},
	{`STAT total_malloced \d+`, `STAT total_malloced N`},
	{`STAT tcpport \d+`, `STAT tcpport N`},
}

func runAdminFile(t *testing.T, path string, d adminDriver) {
	datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
		switch td.Cmd {
		case "server":
			d.start(strings.Fields(td.Input))
			return "ok\n"
		case "advance":
			var n int
			td.ScanArgs(t, "seconds", &n)
			d.advance(int64(n))
			return "ok\n"
		case "send":
			conn, only := 1, ""
			td.MaybeScanArgs(t, "conn", &conn)
			td.MaybeScanArgs(t, "only", &only)
			var in strings.Builder
			for line := range strings.Lines(td.Input) {
				line = strings.ReplaceAll(strings.TrimSuffix(line, "\n"), "{big}", strings.Repeat("x", 1<<20+1))
				in.WriteString(line + "\r\n")
			}
			answer, closed := d.send(conn, []byte(in.String()))
			return showAdmin(answer, closed, td, only)
		}
		t.Fatalf("%s: unknown directive %s", td.Pos, td.Cmd)
		return ""
	})
}

// showAdmin shows an answer. A line feed without carriage return is shown as \n at the end of the line. Options: names: of
// statistics, without their values; only: those statistics; sort.
func showAdmin(answer []byte, closed bool, td *datadriven.TestData, only string) string {
	var lines []string
	for line := range strings.Lines(string(answer)) {
		switch {
		case strings.HasSuffix(line, "\r\n"):
			line = strings.TrimSuffix(line, "\r\n")
		case strings.HasSuffix(line, "\n"):
			line = strings.TrimSuffix(line, "\n") + `\n`
		default:
			line += `\`
		}
		for _, m := range masks {
			line = regexp.MustCompile(m.find).ReplaceAllString(line, m.put)
		}
		f := strings.Fields(line)
		if len(f) == 3 && f[0] == "STAT" {
			if only != "" && !slices.Contains(strings.Split(only, "+"), f[1]) {
				continue
			}
			if td.HasArg("names") {
				line = f[1]
			}
		}
		lines = append(lines, line)
	}
	if td.HasArg("sort") {
		slices.Sort(lines)
	}
	if closed {
		lines = append(lines, "(closed)")
	}
	if len(lines) == 0 {
		return "(nothing)\n"
	}
	return strings.Join(lines, "\n") + "\n"
}

// adminHere is this package, without sockets.
type adminHere struct {
	t     *testing.T
	w     *Worker
	conns map[int]*adminConn
}

// adminConn is a connection as netloop would drive it.
type adminConn struct {
	id   int
	text Text
	in   []byte
	out  bytesx.Out
}

func (c *adminConn) ID() int { return c.id }
func (c *adminConn) Wake()   {} // the test asks in any case

func (d *adminHere) start(args []string) {
	for _, c := range d.conns {
		c.text.Drop(d.w)
	}
	d.w = binWorker(d.t, args...)
	d.w.SetDetail(d.w.Set.Detail)
	d.conns = map[int]*adminConn{}
}

func (d *adminHere) advance(seconds int64) {
	d.w.Clock.Shift(seconds * 1000)
	d.w.L.Turn(d.w.Clock.Ms())
}

func (d *adminHere) send(n int, in []byte) (answer []byte, closed bool) {
	c := d.conns[n]
	if c == nil {
		c = &adminConn{id: n}
		c.text.Conn = c
		d.conns[n] = c
	}
	c.in = append(c.in, in...)
	d.w.Conn = n
	for {
		used, v := c.text.Feed(d.w, c.in, &c.out)
		c.in = c.in[used:]
		answer = append(answer, flatten(&c.out)...)
		c.out.Reset()
		switch v {
		case More:
			return answer, false
		case Yield, Stream:
		default:
			return answer, true
		}
	}
}

func TestAdminFiles(t *testing.T) {
	datadriven.Walk(t, "testdata/admin", func(t *testing.T, path string) {
		d := &adminHere{t: t}
		runAdminFile(t, path, d)
		for _, c := range d.conns {
			c.text.Drop(d.w)
		}
	})
}

// adminPeer is the real memcached.
type adminPeer struct {
	binPeer
	conns map[int]net.Conn
}

func (p *adminPeer) start(args []string) {
	p.binPeer.start(args)
	p.conns = map[int]net.Conn{}
}

func (p *adminPeer) send(n int, in []byte) (answer []byte, closed bool) {
	if p.conns[n] == nil {
		p.connect()
		p.conns[n] = p.conn
	}
	main := p.conn
	p.conn = p.conns[n]
	answer, closed = p.binPeer.send(in)
	p.conn = main
	if len(in) == 0 { // a watcher: the log may take its time
		time.Sleep(300 * time.Millisecond)
		p.conn = p.conns[n]
		more, _ := p.binPeer.send(nil)
		p.conn = main
		answer = append(answer, more...)
	}
	return answer, closed
}

func (p *adminPeer) connect() { // beside the others
	p.conn = nil
	p.binPeer.connect()
}

// TestAdminPeer sends the files to memcached and expects the same answers.
func TestAdminPeer(t *testing.T) {
	prog := os.Getenv("GODWIT_MEMCACHED")
	if prog == "" {
		t.Skip("GODWIT_MEMCACHED does not name a memcached 1.6.45 to compare with")
	}
	if _, err := os.Stat(prog); err != nil || testing.Short() {
		t.Skip("no memcached to compare with")
	}
	datadriven.Walk(t, "testdata/admin", func(t *testing.T, path string) {
		if strings.HasPrefix(filepath.Base(path), "ours_") {
			t.Skip("not for memcached")
		}
		p := &adminPeer{binPeer: binPeer{t: t, prog: prog}}
		defer p.stop()
		runAdminFile(t, path, p)
	})
}
