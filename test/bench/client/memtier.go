package main

import (
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"

	"godwit/test/bench/harness"
)

// totals are what is read of a --json-out-file.
type totals struct {
	Count       float64
	Ops         float64            `json:"Ops/sec"`
	Percentiles map[string]float64 `json:"-"`
	Planned     map[string]float64 `json:"-"`
}

func readTotals(path string) (t totals, err error) {
	b, err := os.ReadFile(path)
	if err != nil {
		return t, err
	}
	var all struct {
		Stats struct{ Totals json.RawMessage } `json:"ALL STATS"`
	}
	if err := json.Unmarshal(b, &all); err != nil {
		return t, err
	}
	if err := json.Unmarshal(all.Stats.Totals, &t); err != nil {
		return t, err
	}
	var p struct {
		Service map[string]any `json:"Percentile Latencies"`
		Planned map[string]any `json:"Planned Latencies"`
	}
	if err := json.Unmarshal(all.Stats.Totals, &p); err != nil {
		return t, err
	}
	t.Percentiles, t.Planned = numbers(p.Service), numbers(p.Planned)
	return t, nil
}

// numbers of an object, without what else is in it.
func numbers(m map[string]any) map[string]float64 {
	out := map[string]float64{}
	for k, v := range m {
		if f, ok := v.(float64); ok {
			out[k] = f
		}
	}
	return out
}

// mt runs a load of memtier's kind with a tool: keys loaded first, then what args say.
func (b *bench) mt(tool []string, addr string, args ...string) (t totals, cpu time.Duration, err error) {
	host, port, _ := net.SplitHostPort(addr)
	out := b.dir + "/out.json"
	base := append(append([]string{}, tool...), "-s", host, "-p", port, "-P", "memcache_text", "-d", "128",
		"--key-minimum=1", "--key-maximum=200000", "--hide-histogram")
	fill := append(append([]string{}, base...), "--ratio=1:0", "--key-pattern=P:P", "-n", "allkeys", "-c", "1", "-t", "1", "--pipeline=64")
	if _, err := used(fill...); err != nil {
		return t, 0, err
	}
	args = append(append(base, "--ratio=1:10", "--key-pattern=R:R", "-t", "1", "--json-out-file="+out), args...)
	if cpu, err = used(args...); err != nil {
		return t, 0, err
	}
	t, err = readTotals(out)
	return t, cpu, err
}

func (b *bench) seconds() string { return "--test-time=" + strconv.Itoa(int(b.length.Seconds())) }

// tools to compare; nil if the peer is not there.
func (b *bench) tools() map[string][]string {
	if b.memtier == "" {
		return nil
	}
	return map[string][]string{"godwit": {b.godwit, "memtier"}, "memtier": {b.memtier}}
}

// cost of a request in the load generator, beside memtier_benchmark.
func cost(b *bench) error {
	tools := b.tools()
	if tools == nil {
		fmt.Println("cost: left out, there is no memtier_benchmark (-memtier PATH)")
		return nil
	}
	for _, pipeline := range []string{"10", "1"} {
		us := map[string][]float64{}
		for range b.rounds {
			for name, tool := range tools {
				srv, err := b.server()
				if err != nil {
					return err
				}
				t, cpu, err := b.mt(tool, srv.Addr, "-c", "50", "--pipeline="+pipeline, b.seconds())
				srv.Stop()
				if err != nil {
					return err
				}
				us[name] = append(us[name], float64(cpu.Microseconds())/t.Count)
			}
		}
		ours, theirs := harness.Median(us["godwit"]), harness.Median(us["memtier"])
		fmt.Printf("cost: pipeline %s: %.3f us of client CPU a request, memtier_benchmark %.3f: x%.2f requests per CPU second\n", pipeline, ours, theirs, theirs/ours)
	}
	return nil
}

// p99 of the same load, at half of the rate that saturates. With few connections both tools measure the server. With many,
// which all send at once as memtier_benchmark does it, a request waits for the tool's own work on those before it.
func p99(b *bench) error {
	tools := b.tools()
	if tools == nil {
		fmt.Println("p99: left out, there is no memtier_benchmark (-memtier PATH)")
		return nil
	}
	for _, conns := range []int{4, 50} {
		if err := b.p99(tools, conns); err != nil {
			return err
		}
	}
	return nil
}

func (b *bench) p99(tools map[string][]string, conns int) error {
	srv, err := b.server()
	if err != nil {
		return err
	}
	defer srv.Stop()
	full, _, err := b.mt(tools["memtier"], srv.Addr, "-c", strconv.Itoa(conns), b.seconds())
	if err != nil {
		return err
	}
	rate := strconv.Itoa(int(full.Ops / 2 / float64(conns)))
	got := map[string][]float64{}
	for range b.rounds {
		for name, tool := range tools {
			args := []string{"-c", strconv.Itoa(conns), "--rate-limiting=" + rate, b.seconds()}
			if name == "godwit" {
				args = append(args, "--arrival=ticks") // the same load: memtier_benchmark sends in bursts
			}
			t, _, err := b.mt(tool, srv.Addr, args...)
			if err != nil {
				return err
			}
			got[name] = append(got[name], t.Percentiles["p99.00"])
		}
	}
	ours, theirs := harness.Median(got["godwit"]), harness.Median(got["memtier"])
	fmt.Printf("p99: at %s requests a second on each of %d connections: %.3f ms, memtier_benchmark %.3f ms: x%.2f\n", rate, conns, ours, theirs, ours/theirs)
	return nil
}

// rates asked for and got.
func rates(b *bench) error {
	srv, err := b.server()
	if err != nil {
		return err
	}
	defer srv.Stop()
	for _, rate := range []int{100, 10_000, 200_000} {
		var got []float64
		for range b.rounds {
			t, _, err := b.mt([]string{b.godwit, "memtier"}, srv.Addr, "-c", "10", "--pipeline=50", "--rate="+strconv.Itoa(rate), b.seconds())
			if err != nil {
				return err
			}
			got = append(got, t.Count/b.length.Truncate(time.Second).Seconds())
		}
		m := harness.Median(got)
		fmt.Printf("rates: asked for %d a second, got %.1f (%+.2f %%)\n", rate, m, 100*(m/float64(rate)-1))
	}
	return nil
}

// pause stops the server for 200 ms under a planned load.
func pause(b *bench) error {
	srv, err := b.server()
	if err != nil {
		return err
	}
	defer srv.Stop()
	_, port, _ := net.SplitHostPort(srv.Addr)
	out := b.dir + "/pause.json"
	cmd := exec.Command("taskset", "-c", "1", b.godwit, "memtier", "-s", "127.0.0.1", "-p", port, "-P", "memcache_text", "-t", "1", "-c", "20",
		"--key-minimum=1", "--key-maximum=1000", "--rate=20000", "--test-time=4", "--hide-histogram", "--quiet", "--json-out-file="+out)
	var msg strings.Builder
	cmd.Stderr = &msg
	if err := cmd.Start(); err != nil {
		return err
	}
	time.Sleep(2 * time.Second)
	stop := func(s syscall.Signal) error { return syscall.Kill(srv.Pid(), s) }
	err = errors.Join(stop(syscall.SIGSTOP), func() error { time.Sleep(200 * time.Millisecond); return nil }(), stop(syscall.SIGCONT), cmd.Wait())
	if err != nil {
		return fmt.Errorf("%w: %s", err, msg.String())
	}
	t, err := readTotals(out)
	if err != nil {
		return err
	}
	fmt.Printf("pause: server stopped for 200 ms at 20000 requests a second: p99.9 planned %.1f ms, service %.1f ms\n", t.Planned["p99.90"], t.Percentiles["p99.90"])
	return nil
}
