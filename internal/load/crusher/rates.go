package crusher

import (
	"context"
	"fmt"
	"io"
	"strconv"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/probe"
)

// rates is crusher stats: rates of a server's counters.
func rates(ctx context.Context, prog string, args []string, stdout, stderr io.Writer) int {
	words, err := mixed(helperFlags(), args)
	if err != nil {
		return refuse(stderr, prog, err)
	}
	if len(words) < 2 {
		return refuse(stderr, prog, fmt.Errorf("address or runs missing (%s ADDR RUNS [PERIOD] [STAT ...], such as 127.0.0.1:11211 15 4 cmd_get get_hits)", prog))
	}
	network, addr := address(words[0])
	runs, err := strconv.Atoi(words[1])
	if err != nil || runs < -1 {
		return refuse(stderr, prog, fmt.Errorf("RUNS %s: not a number of periods (0: until ctrl-C, -1: one)", words[1]))
	}
	if runs == -1 {
		runs = 1
	}
	period, names := 2*time.Second, words[2:]
	if len(names) > 0 {
		// an argument that is no number is a counter already
		if v, err := strconv.ParseFloat(names[0], 64); err == nil {
			if !(v > 0 && v < 1e9) {
				return refuse(stderr, prog, fmt.Errorf("PERIOD %s: no time (seconds above 0)", names[0]))
			}
			period, names = time.Duration(v*float64(time.Second)), names[1:]
		}
	}
	if len(names) == 0 {
		names = []string{"cmd_get"}
	}
	if err := watchRates(ctx, network, addr, runs, period, names, stdout); err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return exitFailed
	}
	return 0
}

func watchRates(ctx context.Context, network, addr string, runs int, period time.Duration, names []string, stdout io.Writer) error {
	p, err := probe.Open(ctx, &load.Target{Network: network, Address: addr}, "memcache_text")
	if err != nil {
		return cmpErr(ctx, err)
	}
	defer p.Close()
	return probe.NewSampler(p, names...).Run(ctx, period, runs, func(rates []probe.Rate) {
		for i, r := range rates {
			if i > 0 {
				io.WriteString(stdout, "  ")
			}
			fmt.Fprintf(stdout, "%s: %.0f/s [%.0f/s]", r.Name, r.Last, r.Mean)
		}
		fmt.Fprintln(stdout)
	})
}
