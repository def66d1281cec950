// Command compare measures godwit beside a real memcached, on the same cores in the same minutes: the server on core 0 with
// one loop, the load on core 1, alternating, the medians of several rounds. It prints CPU time of the server per request,
// throughput and latency of both, and the ratios. A bare echo loop over the same sockets shows the floor.
//
//	go run ./test/bench/compare [-peer memcached] [-rounds 5] [-seconds 2] [-only get,set,…]
//
// The machine is never quiet enough for an absolute time to mean much: read the ratios.
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"runtime"
	"slices"
	"strings"
	"time"

	"godwit/test/bench/harness"
)

func main() {
	peer := flag.String("peer", "memcached", "the memcached to compare with, by name or path")
	rounds := flag.Int("rounds", 5, "rounds; each runs every load once against every server")
	seconds := flag.Float64("seconds", 2, "length of one measurement")
	only := flag.String("only", "", "loads to run, separated by commas (default all: "+names()+")")
	flag.Parse()
	if err := run(*peer, *rounds, time.Duration(*seconds*float64(time.Second)), *only); err != nil {
		fmt.Fprintln(os.Stderr, "compare:", err)
		os.Exit(1)
	}
}

func names() string {
	var n []string
	for _, w := range workloads {
		n = append(n, w.name)
	}
	return strings.Join(n, ",")
}

func run(peer string, rounds int, length time.Duration, only string) error {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("needs Linux: it pins processes with taskset and reads /proc")
	}
	peerPath, err := exec.LookPath(peer)
	if err != nil {
		return fmt.Errorf("no peer: %w (install the Debian package memcached, or give -peer PATH)", err)
	}
	loads := workloads
	if only != "" {
		loads = nil
		for _, w := range workloads {
			if slices.Contains(strings.Split(only, ","), w.name) {
				loads = append(loads, w)
			}
		}
		if len(loads) == 0 {
			return fmt.Errorf("-only %q: no such load (there are %s)", only, names())
		}
	}
	dir, err := os.MkdirTemp("", "godwit-compare")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	ours, err := harness.Build(dir, "./cmd/godwit")
	if err != nil {
		return err
	}
	floor, err := harness.Build(dir, "./test/bench/echo")
	if err != nil {
		return err
	}
	servers := []harness.Server{
		{Name: "godwit", Argv: []string{ours, "memcached"}},
		{Name: "memcached", Argv: []string{peerPath}},
		{Name: "echo", Argv: []string{floor}},
	}
	if err := harness.Pin(1); err != nil {
		return err
	}
	version, _ := exec.Command(peerPath, "-V").Output()
	fmt.Printf("peer: %s; %d rounds of %v a load; server on core 0 with one loop, load on core 1\n", strings.TrimSpace(string(version)), rounds, length)

	all := results{}
	for r := range rounds {
		for _, w := range loads {
			for _, s := range servers {
				if s.Name == "echo" && !w.echo {
					continue
				}
				fmt.Fprintf(os.Stderr, "\rround %d of %d: %-24s %-10s", r+1, rounds, w.name, s.Name)
				m, err := measure(s, w, length)
				if err != nil {
					return fmt.Errorf("%s against %s: %w", w.name, s.Name, err)
				}
				all.add(w.name, s.Name, m)
			}
		}
	}
	fmt.Fprint(os.Stderr, "\r", strings.Repeat(" ", 60), "\r")
	all.print(os.Stdout, loads)
	return nil
}

// results by load and server.
type results map[string]map[string][]sample

func (r results) add(load, server string, s sample) {
	if r[load] == nil {
		r[load] = map[string][]sample{}
	}
	r[load][server] = append(r[load][server], s)
}

func median(s []sample, of func(sample) float64) float64 {
	v := make([]float64, len(s))
	for i := range s {
		v[i] = of(s[i])
	}
	return harness.Median(v)
}

func (r results) print(out io.Writer, loads []workload) {
	fmt.Fprintf(out, "%-20s %-10s %12s %10s %9s %9s %9s %8s\n", "load", "server", "requests/s", "CPU us/op", "p50 us", "p99 us", "p99.9 us", "CPU")
	for _, w := range loads {
		base := median(r[w.name]["memcached"], func(s sample) float64 { return s.cpu })
		for _, name := range []string{"memcached", "godwit", "echo"} {
			s := r[w.name][name]
			if len(s) == 0 {
				continue
			}
			cpu := median(s, func(s sample) float64 { return s.cpu })
			fmt.Fprintf(out, "%-20s %-10s %12.0f %10.3f %9.0f %9.0f %9.0f %7.2fx\n", w.name, name,
				median(s, func(s sample) float64 { return s.rate }), cpu,
				median(s, func(s sample) float64 { return s.p50 }), median(s, func(s sample) float64 { return s.p99 }),
				median(s, func(s sample) float64 { return s.p999 }), cpu/base)
		}
	}
	fmt.Fprintln(out, "CPU: server CPU time per request as a multiple of memcached's; lower is better. Latency is that of a whole pipeline.")
}
