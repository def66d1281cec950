// Command stall measures the longest time that a request has to wait while the server is busy with itself: while the index
// grows from nothing to ten million items, and while a million items expire at once. A second connection sends one get at a
// time all the while; the longest answer is the stall. The same is done to a bare echo loop, which has nothing to be busy
// with, and the difference counts; machines are noisy, so the best of several rounds. It also prints the Go heap and the
// longest stop-the-world pause of the server, from the runtime's own trace of its collections.
//
//	go run ./test/bench/stall [-items 10000000] [-rounds 5]
package main

import (
	"bufio"
	"bytes"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"regexp"
	"strconv"
	"sync/atomic"
	"time"
)

func main() {
	items := flag.Int("items", 10_000_000, "items to grow to")
	expiring := flag.Int("expiring", 1_000_000, "items that expire at once")
	rounds := flag.Int("rounds", 5, "rounds")
	flag.Parse()
	if err := run(*items, *expiring, *rounds); err != nil {
		fmt.Fprintln(os.Stderr, "stall:", err)
		os.Exit(1)
	}
}

func run(items, expiring, rounds int) error {
	dir, err := os.MkdirTemp("", "godwit-stall")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	for _, pkg := range []string{"./cmd/godwit", "./test/bench/echo"} {
		if out, err := exec.Command("go", "build", "-trimpath", "-o", dir+"/", pkg).CombinedOutput(); err != nil {
			return fmt.Errorf("go build %s: %w\n%s", pkg, err, out)
		}
	}
	godwit, echo := []string{dir + "/godwit", "memcached"}, []string{dir + "/echo"}
	best := map[string]time.Duration{}
	for r := range rounds {
		for _, phase := range []struct {
			name string
			run  func(argv []string) (time.Duration, error)
		}{
			{"growth", func(argv []string) (time.Duration, error) { return growth(argv, items) }},
			{"expiry", func(argv []string) (time.Duration, error) { return expiry(argv, expiring) }},
		} {
			ours, err := phase.run(godwit)
			if err != nil {
				return fmt.Errorf("%s: %w", phase.name, err)
			}
			floor, err := phase.run(echo)
			if err != nil {
				return fmt.Errorf("%s, echo: %w", phase.name, err)
			}
			fmt.Printf("round %d %s: longest wait %v, echo loop %v\n", r+1, phase.name, ours, floor)
			d := max(ours-floor, 0)
			if b, ok := best[phase.name]; !ok || d < b {
				best[phase.name] = d
			}
		}
	}
	for _, name := range []string{"growth", "expiry"} {
		fmt.Printf("%s: %v beyond the echo loop (best of %d)\n", name, best[name], rounds)
	}
	return nil
}

// program is a running server.
type program struct {
	cmd  *exec.Cmd
	addr string
	log  bytes.Buffer
}

func start(argv []string) (*program, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	p := &program{addr: l.Addr().String()}
	port := l.Addr().(*net.TCPAddr).Port
	l.Close()
	p.cmd = exec.Command(argv[0], append(argv[1:len(argv):len(argv)], "-u", "root", "-t", "1", "-m", "4096", "-l", "127.0.0.1", "-p", strconv.Itoa(port))...)
	p.cmd.Stderr = &p.log
	p.cmd.Env = append(os.Environ(), "GODEBUG=gctrace=1")
	if err := p.cmd.Start(); err != nil {
		return nil, err
	}
	for range 100 {
		if c, err := net.Dial("tcp", p.addr); err == nil {
			c.Close()
			return p, nil
		}
		time.Sleep(50 * time.Millisecond)
	}
	p.stop()
	return nil, fmt.Errorf("%s does not listen on %s", argv[0], p.addr)
}

func (p *program) stop() {
	_ = p.cmd.Process.Kill()
	_ = p.cmd.Wait()
}

var trace = regexp.MustCompile(`: ([0-9.]+)\+[0-9.]+\+([0-9.]+) ms clock.* ([0-9]+) MB goal`)

// collections prints the longest pause and the largest heap goal that the runtime reported.
func (p *program) collections() {
	var pause, heap float64
	n := 0
	for _, m := range trace.FindAllStringSubmatch(p.log.String(), -1) {
		a, _ := strconv.ParseFloat(m[1], 64)
		b, _ := strconv.ParseFloat(m[2], 64)
		h, _ := strconv.ParseFloat(m[3], 64)
		pause, heap = max(pause, a, b), max(heap, h)
		n++
	}
	fmt.Printf("  %d collections, longest pause %.0f us, heap goal at most %.0f MB\n", n, pause*1000, heap)
}

// growth stores items and probes meanwhile.
func growth(argv []string, items int) (time.Duration, error) {
	p, err := start(argv)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	longest, err := probing(p.addr, func() error { return fill(p.addr, items, 0) })
	if err == nil && len(argv) > 1 {
		p.collections()
	}
	return longest, err
}

// expiry stores items that all expire at the same second, and probes while they do.
func expiry(argv []string, items int) (time.Duration, error) {
	p, err := start(argv)
	if err != nil {
		return 0, err
	}
	defer p.stop()
	at := time.Now().Add(time.Duration(items/100_000+2) * time.Second)
	if err := fill(p.addr, items, at.Unix()); err != nil {
		return 0, err
	}
	time.Sleep(time.Until(at) - time.Second)
	return probing(p.addr, func() error { time.Sleep(4 * time.Second); return nil })
}

// fill stores items over one connection, a hundred at a time. Each answer takes 8 bytes: STORED, or two OKs of the echo loop.
func fill(addr string, items int, exptime int64) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	const batch, answer = 100, 8
	in := make([]byte, batch*answer)
	var b []byte
	for i := 0; i < items; i += batch {
		b = b[:0]
		for k := i; k < i+batch; k++ {
			b = fmt.Appendf(b, "set memtier-%08d 0 %d 32\r\n%032d\r\n", k, exptime, k)
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		if _, err := io.ReadFull(c, in); err != nil {
			return err
		}
	}
	return nil
}

// probing sends one get at a time while work goes on and returns the longest wait for an answer.
func probing(addr string, work func() error) (time.Duration, error) {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return 0, err
	}
	defer c.Close()
	r := bufio.NewReader(c)
	var done atomic.Bool
	var longest time.Duration
	result := make(chan error, 1)
	go func() {
		for !done.Load() {
			t := time.Now()
			if _, err := io.WriteString(c, "get nothing\r\n"); err != nil {
				result <- err
				return
			}
			if _, err := r.ReadSlice('\n'); err != nil {
				result <- err
				return
			}
			longest = max(longest, time.Since(t))
			time.Sleep(200 * time.Microsecond)
		}
		result <- nil
	}()
	err = work()
	done.Store(true)
	if e := <-result; err == nil {
		err = e
	}
	return longest, err
}
