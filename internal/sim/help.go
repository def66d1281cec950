package sim

import (
	"fmt"
	"io"
	"strings"
)

// help teaches.
func help(prog string, w io.Writer) {
	fmt.Fprint(w, strings.ReplaceAll(helpText, "PROG", prog))
}

const helpText = `PROG: what miss ratio would a cache have? Traces of requests against eviction policies, at any size

  PROG zipf                                  all policies, from a thousandth to all of the objects of a made trace
  PROG zipf:keys=2m,exp=0.8 -p godwit,lru -c 1%,10%
  PROG trace.csv.gz --bytes -c 64m..4g/7     a file of lines key,size; seven capacities from 64 MiB to 4 GiB
  PROG cluster52.zst -f twitter --find 0.05  how much memory for a miss ratio of 5 %?
  PROG P3.lis.gz -p godwit,arc,lru -c 25k,100k --csv p3.csv --svg p3.svg
  cut -f1 access.log | PROG - -c 1000,10000 --shards 8192
  PROG --list                                policies, made traces with their parameters, formats of files

A trace is the name of a file (.gz and .zst are unpacked), - for stdin, or a made one: NAME or NAME:parameter=value,...
A read that misses stores the object, as a client does that fetches it from behind the cache. The miss ratio is that of the
reads; the byte miss ratio weighs each by the object's size.

What
  -p, --policy LIST    policies (all); godwit is what this server does
  -c, --capacity LIST  sizes of the caches: numbers, LO..HI or LO..HI/N (N steps of equal ratio), each may be a share of the
                       whole such as 10%. Without: 0.1%..100%
  -b, --bytes          capacities are bytes (k, m, g: powers of 1024) and objects have their sizes; without, they are numbers
                       of objects (k, m: powers of 1000). --find takes bytes unless there is --objects. The server's own
                       policy is made for 1 MiB and more
  --overhead N         bytes of each object beside key and value, with --bytes (28: header and index of this server;
                       memcached has about 56)
  --find LIST          miss ratios: the smallest capacity that has them, to 2 %. The trace is replayed a few times
  --shards N           the curve of LRU, too, estimated from N samples in one pass (row lru~); it knows no lifetimes
  --warmup N           requests before counting begins (0)
  --no-fill            only writes store
  --seed N             of made traces and of policies that draw at random (42): the same again with the same seed
Files
  -f, --format NAME    keys, csv, twitter, arc; auto goes by the extension: .csv, .lis, and keys for all others
  --item-size N        bytes of an object where lines have none (100; blocks of arc 512)
  --rate N             requests a second where lines have no time (1000): lifetimes need it
Output
  --csv FILE, --json FILE, --svg FILE   besides the table on stdout; - puts it there instead
  --workers N          caches run at a time (as many as processors); results do not depend on it
  -q, --quiet          no progress on stderr

Exit status: 0 done; 1 the trace could not be read; 2 the command line makes no sense; 130 interrupted.
`

// list prints the names that may be used.
func list(w io.Writer) {
	fmt.Fprintln(w, "Policies")
	for _, k := range kinds {
		fmt.Fprintf(w, "  %-10s %s\n", k.name, k.summary)
	}
	fmt.Fprintln(w, "\nMade traces (4 M requests for 500 k keys, seed as --seed, 20 bytes of key and 80 of value, unless they say otherwise)")
	for _, p := range presets {
		fmt.Fprintf(w, "  %-10s %s\n", p.name, p.summary)
	}
	fmt.Fprintln(w, "\nTheir parameters, as in twitter52:keys=2m,requests=20m,ttl=1h")
	for l := range strings.SplitSeq(genHelp, "\n") {
		fmt.Fprintln(w, "  "+l)
	}
	fmt.Fprintln(w, "\nFormats of files")
	for _, f := range Formats {
		fmt.Fprintf(w, "  %-10s %s\n", f.name, f.summary)
	}
}
