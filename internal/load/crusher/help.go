package crusher

import (
	"flag"
	"fmt"
	"strings"
	"text/tabwriter"
)

// examples of --help. The tests parse them.
var examples = []struct{ text, args string }{
	{"10 seconds of gets, 50 connections, 8 to a write, with hits and latency", "--timeout 10 --template send=ascii_get,conns=50,pipelines=8"},
	{"the same keys stored first, so that gets hit: foo0 to foo199999, 100 bytes each", "warmer 127.0.0.1:11211 foo 100 200000"},
	{"a conf file of mc-crusher, answers discarded as it says, the server's counters at the end", "--conf loadconf --timeout 30"},
	{"the same, but answers read, and keys without effect only warned of", "--conf loadconf --timeout 30 --check --lenient"},
	{"latency at a rate: 100 connections, 5 gets each 20 ms; 25000 a second", "--timeout 30 --template send=ascii_get,conns=100,pipelines=5,usleep=20000"},
	{"hot keys: zipf law, own loops, a tenth of the load sets", "--timeout 30 --template send=ascii_get,thread=2,conns=45,live_rand_zipf=1,zipf_skew=0.99 --template send=ascii_set,conns=10,value_size=100,live_rand_zipf=1,zipf_skew=0.99"},
	{"each key once, then exit; the result as JSON", "--json set.json --template send=ascii_set,conns=10,pipelines=20,value_size=100,stop_after=200000"},
	{"two machines with godwit agent share a load", "--agents load1,load2 --agent-token-file agents.token --timeout 30 --template send=ascii_get,conns=100"},
	{"latency as a lone client sees it, beside another load", "sampler --prefix foo --key_max 200000"},
}

func help(prog string) string {
	var b strings.Builder
	fmt.Fprintf(&b, `usage: %[1]s --conf FILE [option ...]
       %[1]s HELPER [argument ...]

Loads memcached with connections that send what templates say, and counts. Conf files of mc-crusher work as they are, but
for keys that have no effect there: those are refused, with what to write instead (--lenient: warned of).

Examples
`, prog)
	for _, e := range examples {
		fmt.Fprintf(&b, "  # %s\n  %s %s\n", e.text, prog, e.args)
	}
	b.WriteString("\nOptions\n")
	writeFlags(&b, newFlags(&options{}))
	b.WriteString("\nTemplates: one a line, key=value pairs with commas between; blank lines and those that begin with # are skipped\n")
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	for i := range table {
		if r := &table[i]; r.dead == "" {
			effect := r.effect
			if r.initial != "" {
				effect += " [" + r.initial + "]"
			}
			fmt.Fprintf(t, "  %s\t%s\n", r.name, effect)
		}
	}
	t.Flush()
	b.WriteString("\nsend=\n")
	for i := range sends {
		fmt.Fprintf(t, "  %s\t%s\n", sends[i].name, sends[i].effect)
	}
	t.Flush()
	b.WriteString("\nHelpers\n")
	for i := range helpers {
		fmt.Fprintf(t, "  %s %s\t%s\n", helpers[i].name, helpers[i].args, helpers[i].summary)
	}
	t.Flush()
	b.WriteString(`
Result: requests and their rate by template, latency where answers are read, what the server counted meanwhile, and what
this side took for it. Warnings say when the server counted something else, when misses were measured instead of hits, and when
this side was the limit: the numbers are then its own, not the server's.

Exit status: 0, all requests were answered, and none with an error (a key that is not there is no error); 1, a connection was
refused or lost, or requests have no answer, or one that is an error; 2, the command line or a template is wrong; 130,
interrupted before the end that was asked for.
`)
	return b.String()
}

// writeFlags lists options.
func writeFlags(b *strings.Builder, f *flag.FlagSet) {
	t := tabwriter.NewWriter(b, 0, 0, 2, ' ', 0)
	f.VisitAll(func(x *flag.Flag) {
		if x.Name == "h" {
			return
		}
		value, usage := flag.UnquoteUsage(x)
		if value == "value" {
			value = ""
		}
		switch x.DefValue {
		case "", "0", "false", "true":
		default:
			usage += " [" + x.DefValue + "]"
		}
		fmt.Fprintf(t, "  --%s %s\t%s\n", x.Name, value, usage)
	})
	t.Flush()
}

// helperTexts are the details that --help of a helper has.
var helperTexts = map[string]string{
	"warmer": `ADDR is host:port, or the path of a socket. SIZE is that of the values in bytes. The keys are those that templates with
key_prefix=PREFIX,key_count=COUNT read. At the end some are looked for, and the server's counters are shown.

  --from N    number of the first key [0]; bench-warmer has 1
  --quiet     no progress

  godwit crusher warmer 127.0.0.1:11211 foo 100 200000

Exit status: 0, the keys are there; 1, they are not, or the server is not; 2, the arguments are wrong.
`,
	"sampler": `  --server HOST      or the path of a socket [127.0.0.1]
  --port N           [11211]
  --prefix P         keys are P0 to P(N-1) [foo]
  --key_max N        [5000]
  --random           draw them at random; without it they come in order
  --pace_time US     microseconds from one get to the next, 0 for none [1000]
  --dump_rate S      seconds between interim results, 0 for none [3]
  --timeout S        end after so many seconds; without it at ctrl-C
  --seed N           of --random [1]

At the end: percentiles, once from the sending of a get (service) and once from when it should have been sent (planned:
what a client with a timetable sees when the server stalls), and counts by decade.

  godwit crusher sampler --server 127.0.0.1 --prefix foo --key_max 200000 --timeout 30
`,
	"stats": `ADDR is host:port, or the path of a socket. RUNS is the number of lines; 0: until ctrl-C, -1: one. PERIOD is in seconds [2].
STAT is a counter that the server answers to stats [cmd_get]. A line has the rate of the last period and, in brackets, that
since the beginning.

  godwit crusher stats 127.0.0.1:11211 15 4 cmd_get get_hits cmd_set
`,
	"balloon": `Takes so many MB of memory, each page touched, and keeps them until it is killed: to see how a server does with the rest, or
to fill a NUMA node under numactl.

  numactl --membind=0 godwit crusher balloon 8192
`,
}

func helperHelp(prog string, h *helper) string {
	return fmt.Sprintf("usage: %s %s %s\n\n%s%s\n\n%s", prog, h.name, h.args, strings.ToUpper(h.summary[:1]), h.summary[1:]+".", helperTexts[h.name])
}
