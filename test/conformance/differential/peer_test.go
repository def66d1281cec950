//go:build unix

package differential

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"net"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"
)

// A peer is a server that plays streams. The ctl connection looks around and never sees rubbish.
type peer struct {
	addr string
	ctl  net.Conn
	r    *bufio.Reader
}

const patience = 4 * time.Second

func newPeer(addr string) (*peer, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return nil, err
	}
	return &peer{addr: addr, ctl: c, r: bufio.NewReader(c)}, nil
}

// ask sends a line on ctl and gives the lines up to the one that ends the answer.
func (p *peer) ask(line string, ends ...string) (out []string, err error) {
	p.ctl.SetDeadline(time.Now().Add(10 * time.Second))
	if _, err := io.WriteString(p.ctl, line+"\r\n"); err != nil {
		return nil, err
	}
	for {
		s, err := p.r.ReadString('\n')
		if err != nil {
			return out, fmt.Errorf("%q: %w", line, err)
		}
		s = strings.TrimSuffix(s, "\r\n")
		if slices.Contains(ends, s) {
			return out, nil
		}
		out = append(out, s)
	}
}

// cas is the CAS id of a key now, 777777 for none.
func (p *peer) cas(key string) (uint64, error) {
	p.ctl.SetDeadline(time.Now().Add(10 * time.Second))
	fmt.Fprintf(p.ctl, "gets %s\r\n", key)
	cas := uint64(777777)
	for {
		s, err := p.r.ReadString('\n')
		if err != nil {
			return 0, err
		}
		if s == "END\r\n" {
			return cas, nil
		}
		f := strings.Split(strings.TrimSpace(strings.TrimPrefix(s, "VALUE "+key+" ")), " ")
		if len(f) != 3 {
			return 0, fmt.Errorf("gets: %q", s)
		}
		n, _ := strconv.Atoi(f[1])
		cas, _ = strconv.ParseUint(f[2], 10, 64)
		if _, err := p.r.Discard(n + 2); err != nil {
			return 0, err
		}
	}
}

// A side is one of the two connections of a stream.
type side struct {
	c        net.Conn
	pending  []byte // not sent yet
	mu       sync.Mutex
	cond     *sync.Cond
	got      []byte
	over     bool
	dirty    bool // something was sent since the last sync
	hung     bool
	cuts     []int
	cut      int
	timedOut bool
}

func (p *peer) dial(cuts []int) (*side, error) {
	c, err := net.Dial("tcp", p.addr)
	if err != nil {
		return nil, err
	}
	s := &side{c: c, cuts: cuts}
	s.cond = sync.NewCond(&s.mu)
	c.SetDeadline(time.Now().Add(20 * time.Second))
	go func() {
		buf := make([]byte, 64<<10)
		for {
			n, err := c.Read(buf)
			s.mu.Lock()
			s.got = append(s.got, buf[:n]...)
			s.over = err != nil
			s.cond.Broadcast()
			s.mu.Unlock()
			if err != nil {
				return
			}
		}
	}()
	return s, nil
}

// wait waits for the bytes or the end of the connection.
func (s *side) wait(ok func(got []byte) bool) bool {
	timer := time.AfterFunc(patience, func() { s.mu.Lock(); s.timedOut = true; s.cond.Broadcast(); s.mu.Unlock() })
	defer timer.Stop()
	s.mu.Lock()
	defer s.mu.Unlock()
	for s.timedOut = false; !ok(s.got) && !s.over && !s.timedOut; {
		s.cond.Wait()
	}
	return !s.timedOut
}

func (s *side) len() int { s.mu.Lock(); defer s.mu.Unlock(); return len(s.got) }

// send writes an op, in pieces if the stream is cut.
func (s *side) send(b []byte) {
	s.dirty = true
	if len(s.cuts) == 0 || len(b) > 20000 {
		s.flush()
		s.c.Write(b)
		return
	}
	s.pending = append(s.pending, b...)
	for len(s.pending) >= s.cuts[s.cut%len(s.cuts)] {
		n := s.cuts[s.cut%len(s.cuts)]
		s.c.Write(s.pending[:n])
		s.pending = s.pending[n:]
		if s.cut++; s.cut < 60 && s.cut%3 == 0 {
			time.Sleep(20 * time.Microsecond)
		}
	}
}

func (s *side) flush() {
	if len(s.pending) > 0 {
		s.c.Write(s.pending)
		s.pending = nil
	}
}

// sync waits until everything that was sent is done.
func (s *side) sync(bin bool) {
	if !s.dirty || s.hung {
		return
	}
	s.flush()
	at := s.len()
	mark, want := []byte("mn\r\n"), []byte("MN\r\n")
	if bin {
		mark = packet(0x0a, "", "", "", 0x53594e43)
		want = bytes.Clone(mark)
		want[0] = 0x81
	}
	s.c.Write(mark)
	s.hung = !s.wait(func(got []byte) bool { return len(got) >= at+len(want) && bytes.HasSuffix(got, want) })
	s.dirty = false
}

// counters are the statistics that must agree after a stream.
var counters = strings.Fields("cmd_get cmd_set cmd_flush cmd_touch cmd_meta get_hits get_misses get_expired get_flushed delete_misses " +
	"delete_hits incr_misses incr_hits decr_misses decr_hits cas_misses cas_hits cas_badval touch_hits touch_misses store_too_large " +
	"store_no_memory auth_cmds auth_errors total_items")

// play starts anew, sends a stream and gives the replies in lines that can be compared.
func (p *peer) play(s stream) ([]string, error) {
	if _, err := p.ask("flush_all", "OK", "CLIENT_ERROR flush_all not allowed"); err != nil {
		return nil, err
	}
	for _, k := range keys { // where flush_all is not allowed, and so that nothing is found flushed
		if _, err := p.ask("delete "+k, "DELETED", "NOT_FOUND"); err != nil {
			return nil, err
		}
	}
	if _, err := p.ask("stats reset", "RESET"); err != nil {
		return nil, err
	}
	var sides [2]*side
	last := 0
	for _, o := range s.Ops {
		i := 0
		if o.Bin {
			i = 1
		}
		if i != last && sides[last] != nil {
			sides[last].sync(last == 1)
		}
		last = i
		if sides[i] == nil {
			var err error
			if sides[i], err = p.dial(s.Cuts); err != nil {
				return nil, err
			}
			defer sides[i].c.Close()
		}
		var cas uint64
		if o.Sync {
			sides[i].sync(i == 1)
			if counts(o) { // memcached lets go of an item after its answer is out
				time.Sleep(100 * time.Microsecond)
			}
		}
		if len(o.Key) > 0 {
			sides[i].sync(i == 1)
			var err error
			if cas, err = p.cas(string(o.Key)); err != nil {
				return nil, err
			}
		}
		sides[i].send(o.bytes(cas))
	}
	n := &names{seen: map[uint64]int{}}
	var out []string
	for i, sd := range sides {
		if sd == nil {
			continue
		}
		sd.flush()
		sd.c.(*net.TCPConn).CloseWrite()
		ended := sd.wait(func([]byte) bool { return false })
		sd.mu.Lock()
		if i == 1 {
			out = append(out, n.binary(sd.got)...)
		} else {
			out = append(out, n.text(sd.got)...)
		}
		sd.mu.Unlock()
		switch {
		case !ended:
			out = append(out, "(does not close)")
		case sd.hung:
			out = append(out, "(a marker got no answer)")
		}
		out = append(out, over)
	}
	stats, err := p.ask("stats", "END")
	if err != nil {
		return nil, err
	}
	for _, name := range counters {
		for _, l := range stats {
			if f := strings.Fields(l); len(f) == 3 && f[1] == name {
				out = append(out, l)
			}
		}
	}
	return out, nil
}

// over ends the replies of a connection.
const over = "(end of connection)"

// names gives CAS ids the numbers of their first appearance.
type names struct{ seen map[uint64]int }

func (n *names) cas(id uint64) string {
	if s := strconv.FormatUint(id, 10); id == 0 || slices.Contains(explicit, s) {
		return s
	}
	if n.seen[id] == 0 {
		n.seen[id] = len(n.seen) + 1
	}
	return fmt.Sprintf("(cas %d)", n.seen[id])
}

// about replaces a number of seconds by the ttl that it comes from.
func about(digits string) string {
	x, err := strconv.ParseInt(digits, 10, 64)
	if err != nil || x == -1 {
		return digits
	}
	if x < -1<<30 { // of the year 2106 me of memcached shows 32 bits with a sign
		x += 1 << 32
	}
	if x > 4294967295-1e9 {
		return "(underflow)"
	}
	for _, ttl := range []int64{0, 30, 100, 1000, 2592000, 2147483647} {
		if ttl-8 <= x && x <= ttl+8 {
			return fmt.Sprintf("(about %d)", ttl)
		}
	}
	for _, end := range []int64{2147483647, 4294967295} {
		if left := end - time.Now().Unix(); left-8 <= x && x <= left+8 {
			return fmt.Sprintf("(until %d)", end)
		}
	}
	return digits
}

// text cuts replies of the text protocol into lines, with data as lines of their own.
func (n *names) text(b []byte) (out []string) {
	for len(b) > 0 {
		end := bytes.IndexByte(b, '\n')
		if end < 0 {
			return append(out, fmt.Sprintf("%q (no end of line)", b))
		}
		line := string(b[:end+1])
		b = b[end+1:]
		size := -1
		body := strings.TrimSuffix(line, "\r\n")
		f := strings.Split(body, " ")
		switch {
		case f[0] == "VALUE" && (len(f) == 4 || len(f) == 5):
			size, _ = strconv.Atoi(f[3])
			if len(f) == 5 {
				id, _ := strconv.ParseUint(f[4], 10, 64)
				f[4] = n.cas(id)
			}
		case f[0] == "VA" || f[0] == "HD":
			for i, w := range f[1:] {
				switch {
				case i == 0 && f[0] == "VA":
					size, _ = strconv.Atoi(w)
				case len(w) > 1 && w[0] == 'c':
					id, _ := strconv.ParseUint(w[1:], 10, 64)
					f[i+1] = "c" + n.cas(id)
				case len(w) > 1 && (w[0] == 't' || w[0] == 'l'):
					f[i+1] = w[:1] + about(w[1:])
				}
			}
		case f[0] == "ME":
			for i, w := range f {
				switch name, v, _ := strings.Cut(w, "="); name {
				case "cas":
					id, _ := strconv.ParseUint(v, 10, 64)
					f[i] = "cas=" + n.cas(id)
				case "exp", "la":
					f[i] = name + "=" + about(v)
				}
			}
		case f[0] == "VERSION":
			f = []string{"VERSION", "…"}
		}
		body = strings.Join(f, " ")
		if !strings.HasSuffix(line, "\r\n") {
			body += " (bare newline)"
		}
		out = append(out, fmt.Sprintf("%q", body))
		if size >= 0 {
			size = min(size+2, len(b))
			out = append(out, "  "+digest(b[:size]))
			b = b[size:]
		}
	}
	return out
}

func digest(b []byte) string {
	if len(b) < 4000 {
		return fmt.Sprintf("%q", b)
	}
	h := uint64(14695981039346656037)
	for _, c := range b {
		h = (h ^ uint64(c)) * 1099511628211
	}
	return fmt.Sprintf("%d bytes, FNV-1a %x", len(b), h)
}

// binary cuts replies of the binary protocol into packets.
func (n *names) binary(b []byte) (out []string) {
	for len(b) > 0 {
		if len(b) < 24 || b[0] != 0x81 || len(b) < 24+int(binary.BigEndian.Uint32(b[8:])) {
			return append(out, fmt.Sprintf("%q (not a packet)", b))
		}
		key, ext, body := int(binary.BigEndian.Uint16(b[2:])), int(b[4]), int(binary.BigEndian.Uint32(b[8:]))
		data := b[24 : 24+body]
		if b[1] == 0x0b {
			data = []byte("version")
		}
		if key+ext > len(data) {
			key, ext = 0, 0
		}
		out = append(out, fmt.Sprintf("op %02x status %02x type %x opaque %08x cas %s: extras %x key %q value %s", b[1], b[6:8], b[5],
			binary.BigEndian.Uint32(b[12:]), n.cas(binary.BigEndian.Uint64(b[16:])), data[:ext], data[ext:ext+key], digest(data[ext+key:])))
		b = b[24+body:]
	}
	return out
}
