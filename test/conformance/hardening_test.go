//go:build unix

package conformance

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"godwit/test/conformance/server"
)

// TestHardening has the inputs that broke memcached, or other stores in a way that memcached's protocols have, too. Each
// starts a server; after each it must live, answer and have stayed within its memory.
func TestHardening(t *testing.T) {
	for _, row := range []struct {
		id   string // CVE, or commit of memcached
		what string
		args []string
		env  string
		grow int64 // MiB that the resident memory may grow by at most
		run  func(t *testing.T, s *server.Server)
	}{
		{id: "CVE-2018-1000115", what: "UDP is off unless asked for", grow: 8, run: udpOff},
		{id: "CVE-2018-1000115", what: "what a datagram is answered with is bounded", args: []string{"-U", "PORT"}, grow: 32, run: udpAmplification},
		{id: "CVE-2016-8704, -8705, -8706", what: "binary lengths of key, extras and body in all combinations", grow: 48, run: binaryLengths},
		{id: "CVE-2016-8706", what: "second SASL packet longer than the first, all lengths", args: []string{"-S"}, env: "sasl", grow: 32, run: saslLengths},
		{id: "CVE-2020-10931", what: "binary extras of 0 to 255 bytes", grow: 16, run: binaryExtras},
		{id: "229cf41be", what: "binary body of 2^31-1, 2^31 and 2^32-1 bytes", grow: 16, run: binaryHugeBody},
		{id: "e3b7d33ce, a8c4a8278", what: "70000 times the same key in one get", grow: 96, run: sameKey},
		{id: "e7c7a1089, CVE-2013-7239", what: "every binary command before and after failed SASL", args: []string{"-S"}, env: "sasl", grow: 16, run: saslBypass},
		{id: "e7c7a1089", what: "every text command before and after failed authentication", args: []string{"-Y", "AUTH"}, grow: 16, run: textBypass},
		{id: "9981d748f", what: "huge text authentication token", args: []string{"-Y", "AUTH"}, grow: 16, run: hugeToken},
		{id: "af05c9302", what: "empty lines where authentication is expected", args: []string{"-Y", "AUTH"}, grow: 8, run: emptyAuthLines},
		{id: "d4fd459d6", what: "command of spaces only", grow: 8, run: spacesOnly},
		{id: "e8364b58b", what: "spaces without end", grow: 24, run: endlessSpaces},
		{id: "CVE-2023-46852", what: "get, many spaces, keys", grow: 16, run: manySpaces},
		{id: "CVE-2023-46853", what: "lines that end with a bare newline", grow: 8, run: bareNewline},
		{id: "CVE-2020-22570", what: "malformed meta commands", grow: 32, run: metaFuzz},
		{id: "6b319c8c7", what: "UDP upload over several datagrams, all header fields", args: []string{"-U", "PORT"}, grow: 16, run: udpFields},
		{id: "7eeac6e9a", what: "metadump, mgdump and cachedump clients that never read", grow: 150, run: dumpUnread},
		{id: "0240ddee0, 6ab74b585", what: "slabs and lru commands with wrong arguments", grow: 16, run: adminFuzz},
		{id: "32ea7d8b5", what: "watchers while binary sets fail", grow: 32, run: watchFailing},
		{id: "76dc58c6b", what: "stats detail with a million prefixes", args: []string{"-D", ":"}, grow: 150, run: manyPrefixes},
		{id: "ddee3e27a", what: "authentication file without a newline at its end", args: []string{"-Y", "BARE"}, grow: 8, run: authWorks},
		{id: "CVE-2021-32675", what: "uploads announced before authentication", args: []string{"-Y", "AUTH"}, grow: 48, run: unauthenticatedUploads},
		{id: "CVE-2025-21605", what: "refused commands whose answers are never read", args: []string{"-Y", "AUTH"}, grow: 64, run: unauthenticatedUnread},
		{id: "CVE-2026-27623", what: "empty requests, then others", grow: 8, run: emptyThenOthers},
		{id: "CVE-2021-41099", what: "sizes near the limits of integers", grow: 16, run: hugeSizes},
		{id: "slow readers", what: "pipelined gets of large values that are never read", grow: 200, run: getUnread},
		{id: "slow writers", what: "hundreds of uploads that never end", grow: 128, run: uploadsUnfinished},
		{id: "slow watchers", what: "watcher that never reads", grow: 64, run: watchUnread},
	} {
		t.Run(row.id+" "+row.what, func(t *testing.T) {
			dir := t.TempDir()
			write := func(name, text string) string {
				path := filepath.Join(dir, name)
				if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
					t.Fatal(err)
				}
				return path
			}
			args := []string{"-m", "64"}
			for _, a := range row.args {
				switch a {
				case "AUTH":
					a = write("auth", "user:secret\n")
				case "BARE":
					a = write("auth", "other:x\nuser:secret")
				}
				args = append(args, a)
			}
			if row.env == "sasl" {
				t.Setenv("MEMCACHED_SASL_PWDB", write("pwdb", "user:secret\n"))
			}
			s := server.Start(t, bin, args...)
			before, _ := s.RSS()
			row.run(t, s)
			if !s.Alive() {
				t.Fatalf("the server is gone:\n%s", s.Output())
			}
			alive(t, s, row.args, row.env)
			if _, most := s.RSS(); !server.Race && most > before+row.grow<<20 {
				t.Errorf("resident memory grew from %d to %d MiB, more than %d", before>>20, most>>20, row.grow)
			}
		})
	}
}

// alive expects that a new client is served.
func alive(t *testing.T, s *server.Server, args []string, env string) {
	t.Helper()
	c := dial(s)
	switch {
	case env == "sasl":
		c.send(string(packet(0x21, "", "PLAIN", "\x00user\x00secret")))
		if status, _ := c.packet(t); status != 0 {
			t.Errorf("SASL: status %#x", status)
		}
		c.send(string(packet(0x0a, "", "", "")))
		if status, _ := c.packet(t); status != 0 {
			t.Errorf("NOOP: status %#x", status)
		}
		return
	case len(args) > 0 && args[0] == "-Y":
		c.ask(t, "set auth 0 0 11\r\nuser secret\r\n", "STORED\r\n")
	}
	c.ask(t, "set alive 0 0 3\r\nyes\r\n", "STORED\r\n")
	c.ask(t, "get alive\r\n", "VALUE alive 0 3\r\nyes\r\nEND\r\n")
}

type conn struct {
	net.Conn
	r *bufio.Reader
}

func dial(s *server.Server) *conn { c := s.Dial(); return &conn{c, bufio.NewReader(c)} }

func (c *conn) send(b string) error { _, err := io.WriteString(c, b); return err }

// ask sends and expects the answer.
func (c *conn) ask(t *testing.T, request, want string) {
	t.Helper()
	c.send(request)
	got := make([]byte, len(want))
	if n, err := io.ReadFull(c.r, got); err != nil || string(got) != want {
		t.Errorf("%s:\ngot  %q (%v)\nwant %q", cut(request), got[:n], err, cut(want))
	}
}

func cut(s string) string {
	if len(s) > 200 {
		return fmt.Sprintf("%q… (%d bytes)", s[:100], len(s))
	}
	return fmt.Sprintf("%q", s)
}

// rest sends, says that there is no more, and gives all that is answered.
func (c *conn) rest(request string) string {
	c.send(request)
	c.Conn.(*net.TCPConn).CloseWrite()
	out, _ := io.ReadAll(c.r)
	return string(out)
}

// packet reads a binary answer.
func (c *conn) packet(t *testing.T) (status int, body string) {
	t.Helper()
	var h [24]byte
	if _, err := io.ReadFull(c.r, h[:]); err != nil {
		return -1, err.Error()
	}
	if h[0] != 0x81 {
		t.Fatalf("not a packet: % x", h)
	}
	b := make([]byte, binary.BigEndian.Uint32(h[8:]))
	io.ReadFull(c.r, b)
	return int(binary.BigEndian.Uint16(h[6:])), string(b)
}

func packet(opcode byte, extras, key, value string) []byte {
	b := make([]byte, 24)
	b[0], b[1], b[4] = 0x80, opcode, byte(len(extras))
	binary.BigEndian.PutUint16(b[2:], uint16(len(key)))
	binary.BigEndian.PutUint32(b[8:], uint32(len(extras)+len(key)+len(value)))
	return append(b, extras+key+value...)
}

func header(opcode byte, key, extras, body int) string {
	b := packet(opcode, "", "", "")
	b[4] = byte(extras)
	binary.BigEndian.PutUint16(b[2:], uint16(key))
	binary.BigEndian.PutUint32(b[8:], uint32(body))
	return string(b)
}

// udp sends datagrams and gives all that comes back within a moment.
func udp(t *testing.T, s *server.Server, wait time.Duration, frames ...string) (out []string) {
	t.Helper()
	c, err := net.Dial("udp", s.Addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	for _, f := range frames {
		io.WriteString(c, f)
	}
	buf := make([]byte, 65536)
	for {
		c.SetReadDeadline(time.Now().Add(wait))
		n, err := c.Read(buf)
		if err != nil {
			return out
		}
		out = append(out, string(buf[:n]))
	}
}

const frame = "\x12\x34\x00\x00\x00\x01\x00\x00" // id, sequence, total, reserved

func udpOff(t *testing.T, s *server.Server) {
	if got := udp(t, s, 100*time.Millisecond, frame+"version\r\n"); got != nil {
		t.Errorf("answered: %q", got)
	}
}

func udpAmplification(t *testing.T, s *server.Server) {
	c := dial(s)
	big := strings.Repeat("B", 900000)
	c.ask(t, fmt.Sprintf("set big 0 0 %d\r\n%s\r\n", len(big), big), "STORED\r\n")
	c.ask(t, fmt.Sprintf("set some 0 0 1000\r\n%s\r\n", big[:1000]), "STORED\r\n")
	if got := udp(t, s, 200*time.Millisecond, frame+"get some\r\n"); len(got) == 0 || !strings.Contains(got[0], "VALUE some 0 1000\r\nBBB") {
		t.Errorf("small value: %q", got)
	}
	for _, request := range []string{
		"get big\r\n", "get" + strings.Repeat(" big", 300) + "\r\n", "get" + strings.Repeat(" some", 270) + "\r\n", strings.Repeat("get some\r\n", 130),
		strings.Repeat("mg some v\r\n", 120), "stats\r\nstats settings\r\n", string(bytes.Repeat(packet(0, "", "some", ""), 45)),
	} {
		n := 0
		for _, d := range udp(t, s, 100*time.Millisecond, frame+request) {
			n += len(d)
		}
		if n > 128<<10 {
			t.Errorf("%s: %d bytes come back", cut(request), n)
		}
	}
}

func binaryLengths(t *testing.T, s *server.Server) {
	r := rand.New(rand.NewPCG(1, 1))
	bodies := []int{0, 1, 4, 7, 8, 9, 20, 24, 250, 251, 300, 70000, 1 << 20, 1<<20 + 1, 1 << 30, 1<<30 + 1, 1<<31 - 1, 1 << 31, 1<<32 - 1}
	for _, opcode := range []byte{0, 1, 2, 3, 4, 5, 8, 0x0e, 0x0f, 0x10, 0x11, 0x19, 0x1c, 0x1d, 0x21, 0x22, 0x23} {
		for _, key := range []int{0, 1, 4, 250, 251, 65535} {
			for _, extras := range []int{0, 4, 8, 20, 255} {
				for _, body := range bodies {
					if r.IntN(4) > 0 && body != key && body != key+extras {
						continue
					}
					c := dial(s)
					out := c.rest(header(opcode, key, extras, body) + strings.Repeat("x", r.IntN(400)))
					for len(out) > 0 {
						if len(out) < 24 || out[0] != 0x81 || len(out) < 24+int(binary.BigEndian.Uint32([]byte(out[8:]))) {
							t.Fatalf("opcode %#x key %d extras %d body %d: %q", opcode, key, extras, body, out)
						}
						out = out[24+binary.BigEndian.Uint32([]byte(out[8:])):]
					}
					c.Close()
				}
			}
		}
	}
}

func saslLengths(t *testing.T, s *server.Server) {
	r := rand.New(rand.NewPCG(2, 2))
	for range 400 {
		c := dial(s)
		first := string(packet(0x21, "", "PLAIN", strings.Repeat("a", r.IntN(40))))
		if r.IntN(2) == 0 {
			first = string(packet(0x21, "", strings.Repeat("M", r.IntN(300)), ""))
		}
		second := header(0x21+byte(r.IntN(2)), r.IntN(300), 0, r.IntN(3000))
		if r.IntN(4) == 0 {
			second = header(0x22, 5, 0, []int{1 << 20, 1 << 30, 1<<31 - 1, 1<<32 - 1}[r.IntN(4)])
		}
		if out := c.rest(first + second + strings.Repeat("y", r.IntN(4000))); strings.Contains(out, "Authenticated") {
			t.Fatalf("%q %q: %q", first, second, out)
		}
		c.Close()
	}
}

func binaryExtras(t *testing.T, s *server.Server) {
	for n := range 256 {
		for _, opcode := range []byte{0, 1, 2, 5, 0x0a, 0x0e, 0x1c, 0x1d} {
			want := map[byte]int{0: 0, 1: 8, 2: 8, 5: 20, 0x0a: 0, 0x0e: 0, 0x1c: 4, 0x1d: 4}[opcode]
			c := dial(s)
			c.send(string(packet(opcode, strings.Repeat("\x00", n), "k", "")))
			if opcode == 0x0a || n == want {
				c.rest("")
			} else if status, body := c.packet(t); status != 4 {
				t.Errorf("opcode %#x with %d bytes of extras: status %d %q", opcode, n, status, body)
			}
			c.Close()
			// More extras than the body has.
			c = dial(s)
			c.rest(header(opcode, 1, n, n/2) + strings.Repeat("z", 300))
			c.Close()
		}
	}
}

func binaryHugeBody(t *testing.T, s *server.Server) {
	for _, body := range []int{1<<31 - 1, 1 << 31, 1<<32 - 1, 1<<30 + 1} {
		for _, opcode := range []byte{0, 1, 0x11, 0x0e, 4, 5, 0x1d, 0x77} {
			c := dial(s)
			extras := 0
			if opcode == 1 || opcode == 0x11 {
				extras = 8
			}
			// A desynchronised server would take the version command for a packet of its own.
			out := c.rest(header(opcode, 1, extras, body) + strings.Repeat("\x00", extras) + "k" + strings.Repeat(header(0x0b, 0, 0, 0), 10))
			if strings.Contains(out, "1.6.") {
				t.Errorf("opcode %#x body %d: %q", opcode, body, out)
			}
			c.Close()
		}
	}
}

func sameKey(t *testing.T, s *server.Server) {
	c := dial(s)
	c.ask(t, "set k 0 0 2\r\nvv\r\n", "STORED\r\n")
	const n = 70000
	for _, verb := range []string{"get", "gat 100"} {
		go c.send(verb + strings.Repeat(" k", n) + "\r\n")
		want := "VALUE k 0 2\r\nvv\r\n"
		got := make([]byte, len(want)*n+5)
		if verb != "get" { // longer than a line without its end may be
			break
		}
		if m, err := io.ReadFull(c.r, got); err != nil || string(got) != strings.Repeat(want, n)+"END\r\n" {
			t.Fatalf("%s: %d bytes, %v", verb, m, err)
		}
	}
	c = dial(s)
	go func() { c.send(strings.Repeat("mg k v\r\n", n)) }()
	got := make([]byte, len("VA 2\r\nvv\r\n")*n)
	if m, err := io.ReadFull(c.r, got); err != nil || string(got) != strings.Repeat("VA 2\r\nvv\r\n", n) {
		t.Fatalf("mg: %d bytes, %v", m, err)
	}
	c.ask(t, "set k 0 0 1\r\nw\r\nget k\r\n", "STORED\r\nVALUE k 0 1\r\nw\r\nEND\r\n")
}

func saslBypass(t *testing.T, s *server.Server) {
	for opcode := range 256 {
		if opcode >= 0x20 && opcode <= 0x22 || opcode == 0x0b {
			continue
		}
		for _, failed := range []bool{false, true} {
			c := dial(s)
			if failed {
				c.send(string(packet(0x21, "", "PLAIN", "\x00user\x00wrong")))
				if status, _ := c.packet(t); status != 0x20 {
					t.Fatalf("wrong password: status %#x", status)
				}
			}
			c.send(string(packet(byte(opcode), "", "", "")))
			if status, body := c.packet(t); status != 0x20 {
				t.Errorf("opcode %#x, failed before: %v: status %#x %q", opcode, failed, status, body)
			}
			if status, body := c.packet(t); status != -1 {
				t.Errorf("opcode %#x does not close: status %#x %q", opcode, status, body)
			}
			c.Close()
		}
	}
	for _, text := range []string{"version\r\n", "get a\r\n", "set a 0 0 1\r\nx\r\n", "mn\r\n"} {
		if out := dial(s).rest(text); out != "" {
			t.Errorf("%q on a port for the binary protocol: %q", text, out)
		}
	}
	if out, err := exec.Command(bin, "-S", "-U", s.Port, "-p", "0", "-u", "root").CombinedOutput(); err == nil {
		t.Errorf("starts with SASL and UDP: %s", out)
	}
}

func textBypass(t *testing.T, s *server.Server) {
	for _, cmd := range strings.Split("get a|gets a|gat 1 a|incr a 1|delete a|touch a 1|version|stats|stats settings|flush_all|verbosity 1|quit now|"+
		"mg a v|ms a 1|md abc|ma abc|me abc|mn now|watch|lru_crawler metadump all|slabs automove 1|shutdown|cache_memlimit 64|add a 0 0 1|cas a 0 0 1 1|"+
		"append a 0 0 1|debugtime 1|refresh_certs|extstore free_memchunks 1 1| set a 0 0 1|SET a 0 0 1", "|") {
		for _, failed := range []bool{false, true} {
			c := dial(s)
			if failed {
				c.ask(t, "set auth 0 0 10\r\nuser wrong\r\n", "CLIENT_ERROR authentication failure\r\n")
			}
			c.ask(t, cmd+"\r\n", "CLIENT_ERROR unauthenticated\r\n")
			c.Close()
		}
	}
	for opcode := range 256 {
		c := dial(s)
		if out := c.rest(string(packet(byte(opcode), "", "", "")) + "\r\n"); strings.HasPrefix(out, "\x81") {
			t.Errorf("opcode %#x: %q", opcode, out)
		}
		c.Close()
	}
	c := dial(s)
	c.ask(t, "set auth 0 0 11\r\nuser secret\r\nget auth\r\n", "STORED\r\nEND\r\n")
	for _, wrong := range []string{"user secre", "user secrets", "user ", "user", " secret", "USER secret", "user secret\x00", "user  secret", "user:secret"} {
		c := dial(s)
		if out := c.rest(fmt.Sprintf("set auth 0 0 %d\r\n%s\r\nget a\r\n", len(wrong), wrong)); strings.Contains(out, "STORED") || strings.Contains(out, "END") {
			t.Errorf("%q: %q", wrong, out)
		}
		c.Close()
	}
}

func authWorks(*testing.T, *server.Server) {}

func hugeToken(t *testing.T, s *server.Server) {
	for _, n := range []int{16385, 20000, 1 << 20, 1 << 30, 2147483645} {
		dial(s).ask(t, fmt.Sprintf("set auth 0 0 %d\r\n", n), "CLIENT_ERROR auth token too long\r\n")
	}
	big := strings.Repeat("u", 16384)
	dial(s).ask(t, fmt.Sprintf("set auth 0 0 %d\r\n%s\r\n", len(big), big), "CLIENT_ERROR bad authentication token format\r\n")
	big = strings.Repeat("u", 8000) + " " + strings.Repeat("p", 8000)
	dial(s).ask(t, fmt.Sprintf("set auth 0 0 %d\r\n%s\r\n", len(big), big), "CLIENT_ERROR authentication failure\r\n")
	for range 50 { // no newline: must be closed, however much is still on its way
		c := dial(s)
		c.SetDeadline(time.Now().Add(5 * time.Second))
		var err error
		for err == nil {
			err = c.send(strings.Repeat("x", 100000))
		}
		c.Close()
		if errors.Is(err, os.ErrDeadlineExceeded) {
			t.Fatal("a connection that is over neither closes nor takes anything")
		}
	}
}

func emptyAuthLines(t *testing.T, s *server.Server) {
	for _, text := range []string{"\n", "\r\n", "\n\n\n\n", "\r\n\r\n\r\n", "     \n", " \r\n \r\n", "set\n", "\x00\n", strings.Repeat("\n", 5000), strings.Repeat(" ", 2000) + "\n"} {
		c := dial(s)
		if out := c.rest(text); strings.Trim(strings.ReplaceAll(out, "CLIENT_ERROR unauthenticated", ""), "\r\n") != "" {
			t.Errorf("%s: %s", cut(text), cut(out))
		}
		c.Close()
	}
}

func spacesOnly(t *testing.T, s *server.Server) {
	for n := range 300 {
		c := dial(s)
		out := c.rest(strings.Repeat(" ", n) + "\r\nversion\r\n")
		if !strings.Contains(out, "ERROR") || !strings.HasSuffix(out, "VERSION 1.6.45\r\n") {
			t.Errorf("%d spaces: %q", n, out)
		}
		c.Close()
	}
}

func endlessSpaces(t *testing.T, s *server.Server) {
	for _, head := range []string{"", "set", "incr a", "mg a", "stats", "flush_all"} {
		c := dial(s)
		c.SetDeadline(time.Now().Add(5 * time.Second))
		var err error
		for i := 0; i < 500 && err == nil; i++ {
			err = c.send(head + strings.Repeat(" ", 16384))
		}
		if err == nil || errors.Is(err, os.ErrDeadlineExceeded) {
			t.Errorf("%q and spaces without end do not close the connection: %v", head, err)
		}
		c.Close()
	}
}

func manySpaces(t *testing.T, s *server.Server) {
	c := dial(s)
	c.ask(t, "set a 0 0 1\r\nx\r\n", "STORED\r\n")
	for _, n := range []int{1, 2, 50, 98, 99, 100, 101, 102, 200, 2040, 2048, 2049, 5000, 20000} {
		sp := strings.Repeat(" ", n)
		c.ask(t, "get"+sp+"a"+sp+"b"+sp+"a\r\n", "VALUE a 0 1\r\nx\r\nVALUE a 0 1\r\nx\r\nEND\r\n")
		d := dial(s)
		for _, request := range []string{sp + "get a\r\n", sp + "get" + sp + strings.Repeat("a ", 3000) + "\r\n"} {
			d.send(request[:len(request)/2])
			d.send(request[len(request)/2:])
		}
		d.rest("")
		d.Close()
	}
}

func bareNewline(t *testing.T, s *server.Server) {
	c := dial(s)
	c.ask(t, "set a 0 0 3\nxyz\r\n", "STORED\r\n")
	c.ask(t, "get a\n", "VALUE a 0 3\r\nxyz\r\nEND\r\n")
	c.ask(t, "\n", "CLIENT_ERROR bad command line format\r\n")
	c.ask(t, "mg a v\nmn now\nget a b c\n", "VA 3\r\nxyz\r\nMN\r\nVALUE a 0 3\r\nxyz\r\nEND\r\n")
	c.ask(t, "set a 0 0 3\nxyz\n\n", "CLIENT_ERROR bad data chunk\r\n")
}

func metaFuzz(t *testing.T, s *server.Server) {
	r := rand.New(rand.NewPCG(3, 3))
	letters := "bcfhklqstuvxCDEFIJLMNOPRTabz !\x00\xff~-0"
	for range 200 {
		var b strings.Builder
		for range 100 {
			fmt.Fprintf(&b, "m%c ", "gsdae"[r.IntN(5)])
			for range r.IntN(24) {
				b.WriteByte(letters[r.IntN(len(letters))])
				switch r.IntN(4) {
				case 0:
					fmt.Fprint(&b, r.Int64()-r.Int64())
				case 1:
					b.WriteString(strings.Repeat(letters[:3], r.IntN(15)))
				}
				b.WriteString([]string{" ", " ", "  ", ""}[r.IntN(4)])
			}
			b.WriteString("\r\n")
		}
		c := dial(s)
		c.rest(b.String())
		c.Close()
	}
}

func udpFields(t *testing.T, s *server.Server) {
	r := rand.New(rand.NewPCG(4, 4))
	half := "set u 0 0 100\r\n" + strings.Repeat("h", 50)
	for i := range 500 {
		var h [8]byte
		for j := range h {
			h[j] = []byte{0, 0, 1, 2, 255, byte(r.IntN(256))}[r.IntN(6)]
		}
		h[5] = byte(2 + i%200) // several datagrams
		request := string(h[:]) + half
		udp(t, s, time.Microsecond, request, request, request[:r.IntN(len(request))])
	}
	if got := udp(t, s, 200*time.Millisecond, "\x00\x01\x00\x00\x00\x02\x00\x00"+half, "\x00\x01\x00\x01\x00\x02\x00\x00"+strings.Repeat("h", 50)+"\r\n"); got != nil {
		t.Errorf("an upload over two datagrams is answered: %q", got)
	}
	if got := udp(t, s, 300*time.Millisecond, frame+"get u\r\n"); len(got) != 1 || got[0] != frame+"END\r\n" {
		t.Errorf("get: %q", got)
	}
	if got := udp(t, s, 300*time.Millisecond, frame+"set u 0 0 1\r\nx\r\n"); len(got) != 1 || got[0] != frame+"STORED\r\n" {
		t.Errorf("set: %q", got)
	}
}

// fill stores n small items.
func fill(t *testing.T, s *server.Server, n int) {
	c := dial(s)
	w := bufio.NewWriterSize(c, 64<<10)
	for i := range n {
		fmt.Fprintf(w, "ms filled:%08d 40 q\r\n%040d\r\n", i, i)
	}
	w.WriteString("mn\r\n")
	w.Flush()
	if l, err := c.r.ReadString('\n'); l != "MN\r\n" {
		t.Fatalf("filling: %q %v", l, err)
	}
}

func dumpUnread(t *testing.T, s *server.Server) {
	fill(t, s, 150000)
	base, _ := s.RSS()
	var clients []*conn
	for i := range 12 {
		c := dial(s)
		c.send([]string{"lru_crawler metadump all\r\n", "lru_crawler metadump hash\r\n", "lru_crawler mgdump all\r\n", "stats cachedump 3 0\r\n"}[i%4])
		clients = append(clients, c)
	}
	other := dial(s)
	for i := range 2000 { // and meanwhile all are served
		other.ask(t, fmt.Sprintf("set other%d 0 0 1\r\nx\r\nget other%d\r\n", i, i), fmt.Sprintf("STORED\r\nVALUE other%d 0 1\r\nx\r\nEND\r\n", i))
	}
	if now, _ := s.RSS(); !server.Race && now > base+64<<20 {
		t.Errorf("memory grew from %d to %d MiB", base>>20, now>>20)
	}
	for _, c := range clients[:6] {
		c.Close()
	}
	for _, c := range clients[8:10] { // and those that read at last get all of it
		n := 0
		for {
			l, err := c.r.ReadString('\n')
			if err != nil {
				t.Fatalf("after %d lines: %v", n, err)
			}
			if n++; l == "END\r\n" {
				break
			}
		}
		if n < 100000 {
			t.Errorf("%d lines", n)
		}
	}
}

func adminFuzz(t *testing.T, s *server.Server) {
	fill(t, s, 1000)
	c := dial(s)
	words := strings.Split("0 1 2 3 39 40 62 63 64 99 255 256 -1 -2 65535 2147483647 2147483648 4294967295 4294967296 18446744073709551616 x 1x 0.5 1e9 nan inf all hash ratio window freeratio", " ")
	r := rand.New(rand.NewPCG(5, 5))
	for _, verb := range []string{
		"slabs reassign", "slabs automove", "slabs", "lru", "lru mode", "lru tune", "lru temp_ttl", "lru_crawler", "lru_crawler crawl", "lru_crawler sleep",
		"lru_crawler tocrawl", "stats cachedump", "extstore", "extstore item_size", "verbosity", "stats detail",
	} {
		for range 60 {
			line := verb
			for range r.IntN(6) {
				line += " " + words[r.IntN(len(words))]
			}
			c.send(line + "\r\nmn\r\n")
			for {
				l, err := c.r.ReadString('\n')
				if err != nil {
					t.Fatalf("%q: %v", line, err)
				}
				if l == "MN\r\n" {
					break
				}
			}
		}
	}
	c.ask(t, "slabs reassign 1 99\r\n", "BADCLASS invalid src or dst class id\r\n")
	c.ask(t, "slabs reassign -5 1\r\n", "BADCLASS invalid src or dst class id\r\n")
	c.ask(t, "slabs reassign 3 3\r\n", "SAME src and dst class are identical\r\n")
	c.ask(t, "slabs automove 0\r\n", "OK\r\n")
}

func watchFailing(t *testing.T, s *server.Server) {
	var watchers []*conn
	for range 5 {
		w := dial(s)
		w.ask(t, "watch fetchers mutations evictions connevents deletions\r\n", "OK\r\n")
		watchers = append(watchers, w)
	}
	big := strings.Repeat("v", 1<<20+1000)
	for i := range 20 {
		c := dial(s)
		for _, opcode := range []byte{1, 2, 3, 0x11, 0x0e} {
			extras := "\x00\x00\x00\x00\x00\x00\x00\x00"
			if opcode == 0x0e {
				extras = ""
			}
			c.send(string(packet(opcode, extras, fmt.Sprintf("k%d", i), big)))
			if status, _ := c.packet(t); status != 3 && status != 5 {
				t.Errorf("opcode %#x: status %#x", opcode, status)
			}
			b := packet(opcode, extras, "missing", "v")
			b[23] = 99 // CAS
			c.send(string(b))
			if status, _ := c.packet(t); status == 0 {
				t.Errorf("opcode %#x with a CAS id of nothing: status 0", opcode)
			}
		}
		c.Close()
	}
	for i, w := range watchers {
		seen := false
		for !seen {
			l, err := w.r.ReadString('\n')
			if err != nil {
				t.Fatalf("watcher %d: %v", i, err)
			}
			seen = strings.Contains(l, "status=too_large")
		}
	}
}

func manyPrefixes(t *testing.T, s *server.Server) {
	c := dial(s)
	w := bufio.NewWriterSize(c, 64<<10)
	most := 1000000
	if server.Race {
		most = 100000
	}
	for i := range most {
		fmt.Fprintf(w, "delete prefix%d:k noreply\r\n", i)
	}
	w.WriteString("mn\r\n")
	w.Flush()
	if l, err := c.r.ReadString('\n'); l != "MN\r\n" {
		t.Fatalf("%q %v", l, err)
	}
	c.send("stats detail dump\r\n")
	n := 0
	for {
		l, err := c.r.ReadString('\n')
		if err != nil {
			t.Fatal(err)
		}
		if l == "END\r\n" {
			break
		}
		n++
	}
	if n > 65536 || n < 1000 {
		t.Errorf("%d prefixes", n)
	}
}

// flood has n clients send until the server takes no more, and keeps them open.
func flood(s *server.Server, n int, request string, most int) (closed int) {
	for range n {
		c := dial(s)
		c.Conn.(*net.TCPConn).SetReadBuffer(4096)
		c.SetWriteDeadline(time.Now().Add(300 * time.Millisecond))
		for sent := 0; sent < most; sent += len(request) {
			if err := c.send(request); err != nil {
				if !errors.Is(err, os.ErrDeadlineExceeded) {
					closed++
				}
				break
			}
		}
	}
	return closed
}

func unauthenticatedUploads(t *testing.T, s *server.Server) {
	for range 300 {
		c := dial(s)
		c.send("set auth 0 0 16384\r\n" + strings.Repeat("x", 16000)) // and never the rest
	}
}

func unauthenticatedUnread(t *testing.T, s *server.Server) {
	flood(s, 10, strings.Repeat("get a\r\n", 5000), 64<<20)
}

func emptyThenOthers(t *testing.T, s *server.Server) {
	c := dial(s)
	for _, empty := range []string{"\r\n", "\n", " \r\n", "a\r\n"} {
		c.ask(t, empty+"set e 0 0 2\r\nee\r\nget e\r\n", "CLIENT_ERROR bad command line format\r\nSTORED\r\nVALUE e 0 2\r\nee\r\nEND\r\n")
	}
	c.ask(t, "set e 0 0 0\r\n\r\nget e\r\n", "STORED\r\nVALUE e 0 0\r\n\r\nEND\r\n")
	b := dial(s)
	for range 3 {
		b.send(header(0, 0, 0, 0)) // a get without a key: answered, closed
	}
	if status, _ := b.packet(t); status != 4 {
		t.Errorf("status %#x", status)
	}
}

func hugeSizes(t *testing.T, s *server.Server) {
	c := dial(s)
	for _, n := range []string{"2147483646", "2147483647", "2147483648", "4294967295", "4294967296", "9223372036854775807", "18446744073709551615", "-1", "-2147483648"} {
		c.ask(t, "set a 0 0 "+n+"\r\n", "CLIENT_ERROR bad command line format\r\n")
		c.ask(t, "ms a "+n+"\r\n", "CLIENT_ERROR bad command line format\r\n")
		c.ask(t, "append a 0 0 "+n+" noreply\r\n", "CLIENT_ERROR bad command line format\r\n")
	}
	// The largest that is taken as a number is swallowed, and nothing is reserved for it.
	for _, cmd := range []string{"set a 0 0 2147483645\r\n", "ms a 2147483645\r\n"} {
		d := dial(s)
		if out := d.rest(cmd + strings.Repeat("version\r\n", 1000)); strings.Contains(out, "VERSION") {
			t.Errorf("%q: %s", cmd, cut(out))
		}
	}
	c.ask(t, "incr a 18446744073709551616\r\n", "CLIENT_ERROR invalid numeric delta argument\r\n")
	c.ask(t, "touch a 2147483648\r\n", "CLIENT_ERROR invalid exptime argument\r\n")
}

func getUnread(t *testing.T, s *server.Server) {
	c := dial(s)
	v := strings.Repeat("v", 500000)
	c.ask(t, fmt.Sprintf("set big 0 0 %d\r\n%s\r\n", len(v), v), "STORED\r\n")
	flood(s, 8, strings.Repeat("get big\r\n", 1000), 8<<20)
	flood(s, 8, "get"+strings.Repeat(" big", 2000)+"\r\n", 1<<20)
	flood(s, 4, string(bytes.Repeat(packet(0, "", "big", ""), 1000)), 8<<20)
	c.ask(t, "set big 0 0 1\r\nx\r\nget big\r\n", "STORED\r\nVALUE big 0 1\r\nx\r\nEND\r\n")
}

func uploadsUnfinished(t *testing.T, s *server.Server) {
	for i := range 300 {
		c := dial(s)
		c.send(fmt.Sprintf("set unfinished%d 0 0 1000000\r\n%s", i, strings.Repeat("x", 400000)))
	}
	c := dial(s)
	c.ask(t, "set a 0 0 1\r\nx\r\nget a\r\n", "STORED\r\nVALUE a 0 1\r\nx\r\nEND\r\n")
}

func watchUnread(t *testing.T, s *server.Server) {
	for range 10 {
		w := dial(s)
		w.Conn.(*net.TCPConn).SetReadBuffer(4096)
		w.ask(t, "watch fetchers mutations evictions\r\n", "OK\r\n")
	}
	fill(t, s, 100000)
}
