package crusher

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"strconv"
	"strings"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/keys"
	"godwit/internal/load/probe"
	"godwit/internal/proto/mctext"
)

// warm is the work of crusher warmer.
type warm struct {
	network, addr string
	names         keys.Names
	from, count   uint64
	value         []byte
	sample        uint64 // keys to look for at the end
	conn          net.Conn
	in            *bufio.Reader
}

// warmBatch is how many bytes are written at once.
const warmBatch = 64 << 10

func warmer(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	f := helperFlags()
	from := f.Uint64("from", 0, "")
	quiet := f.Bool("quiet", false, "")
	words, err := mixed(f, args)
	if err != nil {
		return refuse(stderr, prog, err)
	}
	if len(words) != 4 {
		return refuse(stderr, prog, fmt.Errorf("%d arguments, not 4 (%s ADDR PREFIX SIZE COUNT, such as 127.0.0.1:11211 foo 100 200000)", len(words), prog))
	}
	w := &warm{from: *from, names: keys.Names{Prefix: words[1]}, sample: 100}
	if p := setPrefix(&Template{}, words[1]); p != nil {
		return refuse(stderr, prog, fmt.Errorf("PREFIX %q: %s (%s)", words[1], p.Cause, p.Mend))
	}
	size, p := parse(words[2], 0, valueMost)
	if p != nil {
		return refuse(stderr, prog, fmt.Errorf("SIZE %s: %s (%s)", words[2], p.Cause, p.Mend))
	}
	if w.count, p = parse(words[3], 1, 1<<58); p != nil {
		return refuse(stderr, prog, fmt.Errorf("COUNT %s: %s (%s)", words[3], p.Cause, p.Mend))
	}
	if w.from > 1<<58 {
		return refuse(stderr, prog, fmt.Errorf("--from %d: out of range (0 to %d)", w.from, uint64(1)<<58))
	}
	if n := w.names.Longest(w.from + w.count - 1); n > keyMost {
		return refuse(stderr, prog, fmt.Errorf("PREFIX %s: keys of up to %d bytes, memcached takes %d (shorten it)", words[1], n, keyMost))
	}
	w.network, w.addr = address(words[0])
	w.value = bytes.Repeat([]byte{'x'}, int(size))
	note := stderr
	if *quiet {
		note = io.Discard
	}
	if err := w.run(ctx, stdout, note); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	return 0
}

// address is that of a server: host:port, host, or the path of a socket.
func address(s string) (network, addr string) {
	if strings.HasPrefix(s, "/") {
		return "unix", s
	}
	if _, _, err := net.SplitHostPort(s); err != nil {
		s = net.JoinHostPort(strings.Trim(s, "[]"), "11211")
	}
	return "tcp", s
}

func (w *warm) run(ctx context.Context, stdout, note io.Writer) error {
	target := &load.Target{Network: w.network, Address: w.addr}
	was, statsErr := take(ctx, target)
	conn, err := dial(ctx, w.network, w.addr)
	if err != nil {
		return err
	}
	defer conn.Close()
	defer context.AfterFunc(ctx, func() { conn.Close() })()
	w.conn, w.in = conn, bufio.NewReader(conn)
	began := time.Now()
	if err := w.store(note); err != nil {
		return cmpErr(ctx, err)
	}
	took := time.Since(began)
	missing, looked, err := w.look()
	if err != nil {
		return cmpErr(ctx, err)
	}
	first, last := string(w.names.Append(nil, w.from)), string(w.names.Append(nil, w.from+w.count-1))
	fmt.Fprintf(stdout, "sent %d sets, %s to %s, %d bytes each, in %.1f s\n", w.count, first, last, len(w.value), took.Seconds())
	if statsErr == nil {
		var is *probe.Counters
		if is, statsErr = take(ctx, target); statsErr == nil {
			d := probe.Diff(was, is)
			fmt.Fprintf(stdout, "the server counts: cmd_set %+d, curr_items %+d to %d, evictions %+d\n",
				d.Requests["set"], int64(is.Items-was.Items), is.Items, d.Evictions)
			if is.Items < w.count {
				return fmt.Errorf("the server holds %d items, not %d: has it too little memory? (-m megabytes)", is.Items, w.count)
			}
		}
	}
	if statsErr != nil {
		fmt.Fprintf(stdout, "the server does not answer stats: %v\n", statsErr)
	}
	if missing > 0 {
		return fmt.Errorf("%d of %d keys that were looked for are not there: has the server too little memory? (-m megabytes)", missing, looked)
	}
	fmt.Fprintf(stdout, "looked for %d of the keys: all there\n", looked)
	return nil
}

// take reads the counters of a server, which may not have any: nobody is to wait for them for long.
func take(ctx context.Context, target *load.Target) (*probe.Counters, error) {
	ctx, cancel := context.WithTimeout(ctx, 2*time.Second)
	defer cancel()
	return probe.Take(ctx, target, "memcache_text")
}

func dial(ctx context.Context, network, addr string) (net.Conn, error) {
	d := net.Dialer{Timeout: 10 * time.Second}
	return d.DialContext(ctx, network, addr)
}

// cmpErr is err, or the interrupt that led to it.
func cmpErr(ctx context.Context, err error) error {
	if ctx.Err() != nil {
		return errors.New("interrupted")
	}
	return err
}

// store sends the sets, and waits until the server has done them.
func (w *warm) store(note io.Writer) error {
	answers := make(chan error, 1)
	go func() { answers <- w.answers() }() // errors are answered in spite of noreply: nobody must wait for us to read them
	var b []byte
	var key []byte
	ten := uint64(0)
	for i := range w.count {
		key = w.names.Append(key[:0], w.from+i)
		b = mctext.AppendSet(b, key, 0, 0, w.value, true)
		if i == w.count-1 {
			b = append(b, "version\r\n"...)
		}
		if len(b) >= warmBatch || i == w.count-1 {
			if _, err := w.conn.Write(b); err != nil {
				select {
				case told := <-answers:
					if told != nil {
						err = told
					}
				default:
				}
				return err
			}
			b = b[:0]
		}
		if t := 10 * (i + 1) / w.count; t > ten {
			ten = t
			fmt.Fprintf(note, "%3d %%\n", 10*t)
		}
	}
	return <-answers
}

// answers reads errors until the version tells that everything is done.
func (w *warm) answers() error {
	var n int
	var first string
	for {
		line, err := w.in.ReadString('\n')
		if err != nil {
			if first != "" {
				return fmt.Errorf("the server answered %q, and then: %w", first, err)
			}
			return err
		}
		line = strings.TrimRight(line, "\r\n")
		if strings.HasPrefix(line, "VERSION ") {
			if n > 0 {
				return fmt.Errorf("the server answered %d times, at first %q", n, first)
			}
			return nil
		}
		if n++; n == 1 {
			first = line
		}
	}
}

// look gets some of the keys, the first and the last among them.
func (w *warm) look() (missing, looked uint64, err error) {
	looked = min(w.sample, w.count)
	var key []byte
	codec := text()
	for i := range looked {
		at := w.count - 1
		if looked > 1 {
			at = portion(w.count-1, int(i), int(looked-1))
		}
		key = w.names.Append(key[:0], w.from+at)
		hit, err := getOne(w.conn, w.in, codec, key)
		if err != nil {
			return 0, 0, err
		}
		if !hit {
			missing++
		}
	}
	return missing, looked, nil
}

// helperFlags are options of a helper.
func helperFlags() *flag.FlagSet {
	f := flag.NewFlagSet("", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	return f
}

// mixed parses options that may stand between words, and gives the words. Numbers below 0 are words.
func mixed(f *flag.FlagSet, args []string) (words []string, err error) {
	for len(args) > 0 {
		if _, err := strconv.ParseFloat(args[0], 64); err == nil || !strings.HasPrefix(args[0], "-") || args[0] == "-" {
			words = append(words, args[0])
			args = args[1:]
			continue
		}
		if err := f.Parse(args); err != nil {
			return nil, mended(err)
		}
		args = f.Args()
	}
	return words, nil
}
