package crusher

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"strconv"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/internal/load"
	"godwit/internal/load/console"
	"godwit/internal/load/keys"
	"godwit/internal/load/result"
)

// sample measures latency with one get at a time. Its memory does not grow.
type sample struct {
	conn    net.Conn
	in      *bufio.Reader
	codec   load.Codec
	indices keys.Indices
	names   keys.Names
	pace    time.Duration // between the times at which gets are planned; 0: none
	dump    time.Duration // between interim results; 0: none
	limit   time.Duration // 0: none
	stdout  io.Writer

	total, part  *hdrhistogram.Histogram // ns
	planned      *hdrhistogram.Histogram
	hits, misses uint64
}

func sampler(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	f := helperFlags()
	server := f.String("server", "127.0.0.1", "")
	port := f.Int("port", 11211, "")
	prefix := f.String("prefix", "foo", "")
	keyMax := f.Uint64("key_max", 5000, "")
	random := f.Bool("random", false, "")
	pace := f.Uint64("pace_time", 1000, "")
	dump := f.Float64("dump_rate", 3, "")
	seed := f.Uint64("seed", 1, "")
	var limit time.Duration
	f.Func("timeout", "", func(s string) (err error) {
		limit, err = seconds(s)
		return err
	})
	words, err := mixed(f, args)
	switch {
	case err != nil:
	case len(words) > 0:
		err = fmt.Errorf("%q: not an option (--help lists them)", words[0])
	case *keyMax == 0:
		err = errors.New("--key_max 0: no keys (at least 1)")
	case *pace > 3600e6:
		err = fmt.Errorf("--pace_time %d: out of range (microseconds, up to an hour)", *pace)
	case !(*dump >= 0 && *dump < 1e9):
		err = fmt.Errorf("--dump_rate %v: no time (seconds, 0 for never)", *dump)
	}
	if err == nil {
		if p := setPrefix(&Template{}, *prefix); p != nil {
			err = fmt.Errorf("--prefix %q: %s (%s)", *prefix, p.Cause, p.Mend)
		}
	}
	if err != nil {
		return refuse(stderr, prog, err)
	}
	s := &sample{
		codec: text(), names: keys.Names{Prefix: *prefix}, pace: time.Duration(*pace) * time.Microsecond, limit: limit, stdout: stdout,
		dump: time.Duration(*dump * float64(time.Second)), total: result.NewHistogram(), part: result.NewHistogram(), planned: result.NewHistogram(),
	}
	if *random {
		s.indices, err = keys.Uniform(0, *keyMax-1)
	} else {
		s.indices, err = keys.Sequential(0, *keyMax-1, 0)
	}
	if err != nil {
		return refuse(stderr, prog, err)
	}
	s.indices.Seed(*seed, keys.Stream(0, keys.Reads))
	network, addr := "tcp", net.JoinHostPort(*server, strconv.Itoa(*port))
	if (*server)[:min(1, len(*server))] == "/" {
		network, addr = "unix", *server
	}
	if s.conn, err = dial(ctx, network, addr); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	defer s.conn.Close()
	s.in = bufio.NewReaderSize(s.conn, 64<<10)
	err = s.run(ctx)
	s.print()
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	return 0
}

// longNap is how much of a pause is slept without looking at ctx.
const longNap = 5 * time.Millisecond

// run samples until ctx ends, or the time is over.
func (s *sample) run(ctx context.Context) error {
	if s.limit > 0 {
		var cancel context.CancelFunc
		ctx, cancel = context.WithTimeout(ctx, s.limit)
		defer cancel()
	}
	// a get that is under way when the end comes has a moment left
	defer context.AfterFunc(ctx, func() { s.conn.SetDeadline(time.Now().Add(time.Second)) })()
	next := time.Now()
	shown := next
	timer := time.NewTimer(0)
	defer timer.Stop()
	var key []byte
	for {
		if d := time.Until(next) - longNap; d > 0 {
			timer.Reset(d)
			select {
			case <-ctx.Done():
				return nil
			case <-timer.C:
			}
		}
		if d := time.Until(next); d > 0 {
			nap(d)
		}
		if ctx.Err() != nil {
			return nil
		}
		key = s.names.Append(key[:0], s.indices.Next())
		sent := time.Now()
		hit, err := getOne(s.conn, s.in, s.codec, key)
		if err != nil {
			return err
		}
		now := time.Now()
		s.note(now.Sub(sent), now.Sub(next), hit)
		if s.pace > 0 {
			next = next.Add(s.pace)
		} else {
			next = now
		}
		if s.dump > 0 && now.Sub(shown) >= s.dump {
			s.interim()
			shown = now
		}
	}
}

func (s *sample) note(service, planned time.Duration, hit bool) {
	s.total.RecordValue(result.Clamp(int64(service)))
	s.part.RecordValue(result.Clamp(int64(service)))
	s.planned.RecordValue(result.Clamp(int64(planned)))
	if hit {
		s.hits++
	} else {
		s.misses++
	}
}

// getOne gets a key.
func getOne(conn net.Conn, in *bufio.Reader, c load.Codec, key []byte) (hit bool, err error) {
	var room [300]byte
	if _, err := conn.Write(c.Append(room[:0], &load.Op{Kind: load.Get, Key: key})); err != nil {
		return false, err
	}
	var r load.Reply
	var got []byte
	for {
		if _, err := in.ReadByte(); err != nil {
			return false, err
		}
		in.UnreadByte()
		b, _ := in.Peek(in.Buffered())
		if len(got) > 0 {
			got = append(got, b...)
			in.Discard(len(b))
			b = got
		}
		n, err := c.Reply(b, load.Want{Kind: load.Get, Keys: 1}, &r)
		switch {
		case err != nil:
			return false, err
		case n > 0 && r.Status == load.Failed:
			return false, fmt.Errorf("the server answered %q", r.Text)
		case n > 0:
			if len(got) == 0 {
				in.Discard(n)
			}
			return r.Hits > 0, nil
		case len(got) == 0:
			got = append(got, b...)
			in.Discard(len(b))
		}
	}
}

// interim shows what came since the last time.
func (s *sample) interim() {
	h := s.part
	at := func(q float64) string { return console.Duration(time.Duration(h.ValueAtQuantile(q))) }
	fmt.Fprintf(s.stdout, "%8d gets  p50 %s  p90 %s  p99 %s  p99.9 %s  max %s\n", h.TotalCount(), at(50), at(90), at(99), at(99.9), at(100))
	h.Reset()
}

// print shows everything.
func (s *sample) print() {
	n := s.total.TotalCount()
	fmt.Fprintf(s.stdout, "\n%d gets, %d hits, %d misses\n", n, s.hits, s.misses)
	if n == 0 {
		return
	}
	rows := [][]string{{"latency, µs", "mean", "min", "p50", "p90", "p99", "p99.9", "max"}}
	for _, x := range []struct {
		name string
		h    *hdrhistogram.Histogram
	}{{"service", s.total}, {"planned", s.planned}} {
		if x.h == s.planned && s.pace == 0 {
			continue
		}
		l := latency(x.h)
		row := []string{x.name}
		for _, v := range []float64{l.Mean, l.Min, l.P50, l.P90, l.P99, l.P999, l.Max} {
			row = append(row, fmt.Sprintf("%.1f", v))
		}
		rows = append(rows, row)
	}
	aligned(s.stdout, rows)
	fmt.Fprintln(s.stdout)
	for _, d := range decades(s.total) {
		fmt.Fprintf(s.stdout, "%9s %12d  %6.2f %%\n", d.name, d.n, 100*float64(d.n)/float64(n))
	}
}

// decade counts the values below ten times its name, and not below its name; the first has all that are smaller, too.
type decade struct {
	name string
	from int64 // ns
	n    int64
}

// decades is the histogram that latency-sampler has.
func decades(h *hdrhistogram.Histogram) []decade {
	list := []decade{
		{"1us", 1e3, 0}, {"10us", 10e3, 0}, {"100us", 100e3, 0}, {"1ms", 1e6, 0}, {"10ms", 10e6, 0}, {"100ms", 100e6, 0},
		{"1s", 1e9, 0}, {"10s", 10e9, 0}, {"100s", 100e9, 0},
	}
	for _, b := range h.Distribution() {
		if b.Count == 0 {
			continue
		}
		i := 0
		for i+1 < len(list) && b.From >= list[i+1].from {
			i++
		}
		list[i].n += b.Count
	}
	return list
}
