// Command client measures the load generators: what a request costs them, whether their latencies and rates are right. The
// server is godwit memcached on core 0 with one loop, the load generator is on core 1, alternating with its peer; medians of
// several rounds.
//
//	go run ./test/bench/client [-memtier memtier_benchmark] [-crusher mc-crusher] [-rounds 5] [-seconds 2]
//
// The peers are programs built elsewhere, by name or path; rows whose peer is missing are left out, and say so.
package main

import (
	"flag"
	"fmt"
	"os"
	"os/exec"
	"runtime"
	"time"

	"godwit/test/bench/harness"
)

// bench is what all rows need.
type bench struct {
	dir     string
	godwit  string
	memtier string // "": not there
	crusher string // "": not there
	rounds  int
	length  time.Duration
}

// rows in the order they are printed.
var rows = []struct {
	name string
	run  func(*bench) error
}{
	{"cost", cost},
	{"blind", blind},
	{"p99", p99},
	{"rates", rates},
	{"pause", pause},
}

func main() {
	b := &bench{}
	memtier := flag.String("memtier", "memtier_benchmark", "the memtier_benchmark to compare with")
	crusher := flag.String("crusher", "mc-crusher", "the mc-crusher to compare with")
	only := flag.String("only", "", "one row to run: cost, blind, p99, rates, pause (default all)")
	flag.IntVar(&b.rounds, "rounds", 5, "rounds of each comparison")
	flag.DurationVar(&b.length, "length", 2*time.Second, "length of one measurement")
	flag.Parse()
	b.memtier, _ = exec.LookPath(*memtier)
	b.crusher, _ = exec.LookPath(*crusher)
	if err := b.run(*only); err != nil {
		fmt.Fprintln(os.Stderr, "client:", err)
		os.Exit(1)
	}
}

func (b *bench) run(only string) (err error) {
	if runtime.GOOS != "linux" {
		return fmt.Errorf("needs Linux: it pins processes with taskset and reads /proc")
	}
	if b.dir, err = os.MkdirTemp("", "godwit-client"); err != nil {
		return err
	}
	defer os.RemoveAll(b.dir)
	if b.godwit, err = harness.Build(b.dir, "./cmd/godwit"); err != nil {
		return err
	}
	for _, r := range rows {
		if only != "" && only != r.name {
			continue
		}
		if err := r.run(b); err != nil {
			return fmt.Errorf("%s: %w", r.name, err)
		}
	}
	return nil
}

// server of a measurement, empty.
func (b *bench) server() (*harness.Running, error) {
	return harness.Server{Name: "godwit", Argv: []string{b.godwit, "memcached"}}.Start(1024)
}

// used runs a load generator on core 1 and gives the processor time that it used.
func used(argv ...string) (cpu time.Duration, err error) {
	cmd := exec.Command("taskset", append([]string{"-c", "1"}, argv...)...)
	out, err := cmd.CombinedOutput()
	if err != nil {
		return 0, fmt.Errorf("%v: %w: %.300s", argv, err, out)
	}
	return cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(), nil
}
