package mc

import (
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/cockroachdb/datadriven"

	"godwit/internal/auth"
)

// The files in testdata/bin are byte-in, byte-out tests in readable form (see binScript for the lines):
//
//	server             start anew, with memcached's command line options in the input; -S takes the users a:pa and b:pb
//	connect            open a new connection
//	send [hex]         send packets, show the answer
//	advance seconds=n  let time pass
//
// Files whose name starts with ours_ hold what Godwit does better than memcached on purpose, and SASL. All others are
// also sent to the real memcached if it is there.
func TestBinFiles(t *testing.T) {
	datadriven.Walk(t, "testdata/bin", func(t *testing.T, path string) {
		var f *binFleet
		runBinFile(t, path, binDriver{
			server: func(args []string) {
				var users []auth.User
				for i, a := range args {
					if a == "-S" {
						args = append(args[:i:i], args[i+1:]...)
						users = []auth.User{{Name: "a", Pass: "pa"}, {Name: "b", Pass: "pb"}}
						break
					}
				}
				f = newBinFleet(t, users, args...)
			},
			connect: func() { f.connect() },
			send:    func(in []byte) ([]byte, bool) { return f.send(in) },
			advance: func(n int64) { f.advance(n) },
		})
	})
}

type binDriver struct {
	server  func(args []string)
	connect func()
	send    func(in []byte) (answer []byte, closed bool)
	advance func(seconds int64)
}

func runBinFile(t *testing.T, path string, d binDriver) {
	var s binScript
	datadriven.RunTest(t, path, func(t *testing.T, td *datadriven.TestData) string {
		switch td.Cmd {
		case "server":
			s = binScript{}
			d.server(strings.Fields(td.Input))
			return "ok\n"
		case "connect":
			d.connect()
			return "ok\n"
		case "send":
			answer, closed := d.send(s.encode(t, td.Input))
			return s.decode(answer, closed, td.HasArg("hex"))
		case "advance":
			var n int
			td.ScanArgs(t, "seconds", &n)
			d.advance(int64(n))
			return "ok\n"
		}
		t.Fatalf("%s: unknown directive %s", td.Pos, td.Cmd)
		return ""
	})
}

// TestBinPeer sends the same files to the real memcached and expects the same answers. GODWIT_MEMCACHED names its debug
// build (which can set its clock).
func TestBinPeer(t *testing.T) {
	prog := os.Getenv("GODWIT_MEMCACHED")
	if prog == "" {
		t.Skip("GODWIT_MEMCACHED does not name a memcached 1.6.45 to compare with")
	}
	if _, err := os.Stat(prog); err != nil || testing.Short() {
		t.Skip("no memcached to compare with")
	}
	datadriven.Walk(t, "testdata/bin", func(t *testing.T, path string) {
		if strings.HasPrefix(filepath.Base(path), "ours_") {
			t.Skip("not for memcached")
		}
		p := &binPeer{t: t, prog: prog}
		defer p.stop()
		runBinFile(t, path, binDriver{server: p.start, connect: p.connect, send: p.send, advance: p.advance})
	})
}

// binPeer is a running memcached.
type binPeer struct {
	t    *testing.T
	prog string
	cmd  *exec.Cmd
	path string
	conn net.Conn
}

func (p *binPeer) start(args []string) {
	p.stop()
	p.path = filepath.Join(p.t.TempDir(), "s")
	args = append([]string{"-s", p.path, "-u", "root"}, args...)
	p.cmd = exec.Command(p.prog, args...)
	p.cmd.Env = append(os.Environ(), "GCOV_PREFIX="+p.t.TempDir())
	if err := p.cmd.Start(); err != nil {
		p.t.Fatal(err)
	}
	for range 100 {
		if c, err := net.Dial("unix", p.path); err == nil {
			c.Close()
			break
		}
		time.Sleep(10 * time.Millisecond)
	}
	p.say("debugtime p")
	p.connect()
}

func (p *binPeer) stop() {
	if p.conn != nil {
		p.conn.Close()
		p.conn = nil
	}
	if p.cmd != nil {
		p.cmd.Process.Kill()
		p.cmd.Wait()
		p.cmd = nil
	}
}

func (p *binPeer) connect() {
	if p.conn != nil {
		p.conn.Close()
	}
	c, err := net.Dial("unix", p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	p.conn = c
}

// send reads until nothing has come for a while: some packets are answered by silence.
func (p *binPeer) send(in []byte) (answer []byte, closed bool) {
	go p.conn.Write(in)
	buf := make([]byte, 1<<20)
	wait := 250 * time.Millisecond
	for {
		p.conn.SetReadDeadline(time.Now().Add(wait))
		n, err := p.conn.Read(buf)
		answer = append(answer, buf[:n]...)
		if os.IsTimeout(err) {
			return answer, false
		}
		if err != nil {
			return answer, true
		}
		wait = 80 * time.Millisecond
	}
}

func (p *binPeer) advance(seconds int64) { p.say(fmt.Sprintf("debugtime %d", seconds)) }

// say sends a text command on a connection of its own.
func (p *binPeer) say(line string) {
	c, err := net.Dial("unix", p.path)
	if err != nil {
		p.t.Fatal(err)
	}
	defer c.Close()
	fmt.Fprintf(c, "%s\r\nquit\r\n", line)
	c.SetReadDeadline(time.Now().Add(2 * time.Second))
	answer, _ := io.ReadAll(c)
	if !strings.HasPrefix(string(answer), "OK") {
		p.t.Fatalf("%s: %q", line, answer)
	}
}
