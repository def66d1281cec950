package main

import (
	"bufio"
	"bytes"
	"encoding/binary"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"sync"
	"sync/atomic"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"

	"godwit/test/bench/harness"
)

// workload is a closed loop: each connection sends a pipeline of requests and waits for all answers.
type workload struct {
	name     string
	protocol protocol
	conns    int
	pipeline int
	keys     int
	value    int
	sets     int // of every 11 requests
	memoryMB int
	preload  bool
	echo     bool // the echo loop can answer it (it answers each line with a constant)
}

var workloads = []workload{
	{"get", text{}, 100, 10, 200_000, 10, 0, 1024, true, true},
	{"set", text{}, 100, 10, 200_000, 2, 11, 1024, false, false},
	{"set-evict", text{}, 100, 10, 5_000_000, 128, 11, 64, false, false},
	{"mixed", text{}, 50, 10, 200_000, 128, 1, 1024, true, false},
	{"mixed-unpipelined", text{}, 50, 1, 200_000, 128, 1, 1024, true, false},
	{"get-unpipelined", text{}, 50, 1, 200_000, 10, 0, 1024, true, true},
	{"meta", meta{}, 50, 10, 200_000, 128, 1, 1024, true, false},
	{"binary", bin{}, 50, 10, 200_000, 128, 1, 1024, true, false},
}

// protocol writes requests and reads answers.
type protocol interface {
	get(b []byte, key int) []byte
	set(b []byte, key int, value []byte) []byte
	// read consumes one answer to a get (or a set) and says whether the get hit.
	read(r *bufio.Reader, get bool) (hit bool, err error)
}

func appendKey(b []byte, key int) []byte { return fmt.Appendf(b, "memtier-%08d", key) }

type text struct{}

func (text) get(b []byte, key int) []byte {
	return append(appendKey(append(b, "get "...), key), "\r\n"...)
}

func (text) set(b []byte, key int, v []byte) []byte {
	b = fmt.Appendf(appendKey(append(b, "set "...), key), " 0 0 %d\r\n", len(v))
	return append(append(b, v...), "\r\n"...)
}

var value, end, stored, echoed = []byte("VALUE "), []byte("END\r\n"), []byte("STORED\r\n"), []byte("OK\r\n")

func (text) read(r *bufio.Reader, get bool) (bool, error) {
	line, err := r.ReadSlice('\n')
	switch {
	case err != nil:
		return false, err
	case bytes.Equal(line, echoed):
		return get, nil
	case !get && bytes.Equal(line, stored):
		return false, nil
	case get && bytes.Equal(line, end):
		return false, nil
	case !get || !bytes.HasPrefix(line, value):
		return false, fmt.Errorf("unexpected answer %q", line)
	}
	n := 0
	for _, c := range line[bytes.LastIndexByte(line, ' ')+1 : len(line)-2] {
		n = n*10 + int(c-'0')
	}
	_, err = r.Discard(n + 2 + len(end))
	return true, err
}

type meta struct{}

func (meta) get(b []byte, key int) []byte {
	return append(appendKey(append(b, "mg "...), key), " v\r\n"...)
}

func (meta) set(b []byte, key int, v []byte) []byte {
	b = fmt.Appendf(appendKey(append(b, "ms "...), key), " %d\r\n", len(v))
	return append(append(b, v...), "\r\n"...)
}

func (meta) read(r *bufio.Reader, get bool) (bool, error) {
	line, err := r.ReadSlice('\n')
	if err != nil || len(line) < 4 {
		return false, fmt.Errorf("unexpected answer %q: %v", line, err)
	}
	if string(line[:3]) != "VA " {
		return false, nil
	}
	n := 0
	for _, c := range line[3 : len(line)-2] {
		n = n*10 + int(c-'0')
	}
	_, err = r.Discard(n + 2)
	return true, err
}

type bin struct{}

func (bin) get(b []byte, key int) []byte {
	b = append(b, 0x80, 0, 0, 16, 0, 0, 0, 0, 0, 0, 0, 16)
	return appendKey(append(b, make([]byte, 12)...), key)
}

func (bin) set(b []byte, key int, v []byte) []byte {
	b = append(b, 0x80, 1, 0, 16, 8, 0, 0, 0)
	b = binary.BigEndian.AppendUint32(b, uint32(8+16+len(v)))
	return append(appendKey(append(b, make([]byte, 12+8)...), key), v...)
}

func (bin) read(r *bufio.Reader, get bool) (bool, error) {
	h, err := r.Peek(24)
	if err != nil {
		return false, err
	}
	if h[0] != 0x81 {
		return false, fmt.Errorf("unexpected answer % x", h)
	}
	hit := get && binary.BigEndian.Uint16(h[6:]) == 0
	_, err = r.Discard(24 + int(binary.BigEndian.Uint32(h[8:])))
	return hit, err
}

// sample is one measurement.
type sample struct{ rate, cpu, p50, p99, p999 float64 }

// measure starts the server, loads the keys, warms up for a quarter of length, and measures.
func measure(s harness.Server, w workload, length time.Duration) (sample, error) {
	srv, err := s.Start(w.memoryMB)
	if err != nil {
		return sample{}, err
	}
	defer srv.Stop()
	if w.preload && s.Name != "echo" {
		if err := w.load(srv.Addr); err != nil {
			return sample{}, fmt.Errorf("loading keys: %w", err)
		}
	}
	var phase atomic.Int32 // 0 warm-up, 1 measured, 2 over
	type part struct {
		n, hits, gets int64
		hist          *hdrhistogram.Histogram
		err           error
	}
	parts := make([]part, w.conns)
	var wg sync.WaitGroup
	for i := range parts {
		wg.Go(func() {
			p := &parts[i]
			p.hist = hdrhistogram.New(1, 10_000_000, 3)
			p.err = w.client(srv.Addr, uint64(i), &phase, func(d time.Duration, gets, hits int) {
				p.n += int64(w.pipeline)
				p.gets += int64(gets)
				p.hits += int64(hits)
				_ = p.hist.RecordValue(max(d.Microseconds(), 1))
			})
		})
	}
	time.Sleep(length / 4)
	c0, err := srv.CPU()
	if err != nil {
		return sample{}, err
	}
	t0 := time.Now()
	phase.Store(1)
	time.Sleep(length)
	phase.Store(2)
	took := time.Since(t0)
	c1, err := srv.CPU()
	if err != nil {
		return sample{}, err
	}
	wg.Wait()
	hist := hdrhistogram.New(1, 10_000_000, 3)
	var n, gets, hits int64
	for i := range parts {
		if parts[i].err != nil {
			return sample{}, parts[i].err
		}
		n, gets, hits = n+parts[i].n, gets+parts[i].gets, hits+parts[i].hits
		hist.Merge(parts[i].hist)
	}
	if w.preload && s.Name != "echo" && hits*100 < gets*99 {
		return sample{}, fmt.Errorf("only %d of %d gets hit", hits, gets)
	}
	q := func(p float64) float64 { return float64(hist.ValueAtQuantile(p)) }
	return sample{float64(n) / took.Seconds(), float64((c1 - c0).Nanoseconds()) / 1000 / float64(max(n, 1)), q(50), q(99), q(99.9)}, nil
}

// load stores every key once.
func (w workload) load(addr string) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 64<<10)
	v := bytes.Repeat([]byte("x"), w.value)
	var b []byte
	for k := 0; k < w.keys; {
		b = b[:0]
		n := min(100, w.keys-k)
		for range n {
			b = w.protocol.set(b, k, v)
			k++
		}
		if _, err := c.Write(b); err != nil {
			return err
		}
		for range n {
			if _, err := w.protocol.read(r, false); err != nil {
				return err
			}
		}
	}
	return nil
}

// client drives one connection until phase is 2 and reports each pipeline that was sent and answered in phase 1.
func (w workload) client(addr string, seed uint64, phase *atomic.Int32, report func(d time.Duration, gets, hits int)) error {
	c, err := net.Dial("tcp", addr)
	if err != nil {
		return err
	}
	defer c.Close()
	r := bufio.NewReaderSize(c, 16<<10)
	v := bytes.Repeat([]byte("x"), w.value)
	rng := rand.New(rand.NewPCG(seed, 1))
	isGet := make([]bool, w.pipeline)
	var b []byte
	for turn := int(seed); ; {
		at := phase.Load()
		if at == 2 {
			return nil
		}
		b = b[:0]
		gets, hits := 0, 0
		for i := range isGet {
			turn++
			if isGet[i] = turn%11 >= w.sets; isGet[i] {
				gets++
				b = w.protocol.get(b, rng.IntN(w.keys))
			} else {
				b = w.protocol.set(b, rng.IntN(w.keys), v)
			}
		}
		t := time.Now()
		if _, err := c.Write(b); err != nil {
			return err
		}
		for _, get := range isGet {
			hit, err := w.protocol.read(r, get)
			if err == io.EOF {
				return fmt.Errorf("the server closed the connection")
			}
			if err != nil {
				return err
			}
			if hit {
				hits++
			}
		}
		if at == 1 && phase.Load() == 1 {
			report(time.Since(t), gets, hits)
		}
	}
}
