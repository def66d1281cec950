package memtier

import (
	"fmt"
	"runtime"
	"strconv"
	"strings"

	"godwit/internal/config"
	"godwit/internal/load/keys"
)

// Parse reads a command line without the program's name, which only error texts need. It returns the options, or how to
// exit instead of running. It looks at nothing but the words: see Prepare for the rest.
func Parse(prog string, args []string) (*Options, *config.Exit) {
	o := Defaults()
	o.args = args
	g := getopt{args: args}
	for {
		r, arg, written, bad := g.next()
		if bad != nil {
			return nil, bad.exit(prog)
		}
		if r == nil {
			break
		}
		switch r.Long {
		case "help":
			return nil, &config.Exit{Stdout: Help(prog)}
		case "version":
			return nil, &config.Exit{Stdout: versionText()}
		}
		if err := r.set(o, r, arg); err != nil {
			return nil, usage("%s %w", written+shown(r, arg), err).exit(prog)
		}
		o.given[r.name()] = append(o.given[r.name()], arg)
	}
	for _, w := range g.words {
		o.warn("%s is no option and is ignored; values follow their options, and those with spaces need quotes", strconv.Quote(w))
	}
	if bad := o.check(); bad != nil {
		return nil, bad.exit(prog)
	}
	return o, nil
}

// shown is the value of an option in an error text.
func shown(r *row, arg string) string {
	switch {
	case r.Meta == "":
		return ""
	case r.Long == "authenticate" || r.Long == "uri":
		return "=" + quoteBytes(masked(r.Long, arg))
	}
	return "=" + quoteBytes(arg)
}

func usage(format string, a ...any) *problem {
	return &problem{ExitUsage, fmt.Errorf(format, a...).Error()}
}

func setup(format string, a ...any) *problem {
	return &problem{ExitSetup, fmt.Errorf(format, a...).Error()}
}

// quoteBytes quotes what may be anything, cut where nobody reads on.
func quoteBytes(s string) string {
	if len(s) > 100 {
		return strconv.Quote(s[:100]) + "..."
	}
	return strconv.Quote(s)
}

func versionText() string {
	return fmt.Sprintf("memtier_benchmark v=%s godwit=%s bits=%d %s\n", Version, config.Version, strconv.IntSize, runtime.Version())
}

func (o *Options) warn(format string, a ...any) {
	o.Warnings = append(o.Warnings, oneLine(fmt.Sprintf(format, a...)))
}

// is shows a given option with its value.
func (o *Options) is(long string) string {
	list := o.given[long]
	r := byLong[long]
	if len(list) == 0 || r.Meta == "" {
		return "--" + long
	}
	return "--" + long + shown(r, list[len(list)-1])
}

// first of the options in a rule that was given; "" if none was.
func (o *Options) first(others string) string {
	for other := range strings.SplitSeq(others, "|") {
		if o.Given(other) {
			return other
		}
	}
	return ""
}

// check looks at the options together: first at the rules of the table, then at what takes more than a rule.
func (o *Options) check() *problem {
	if bad := o.applyURI(); bad != nil {
		return bad
	}
	for i := range table {
		if r := &table[i]; r.Alias == "" && o.Given(r.Long) {
			if bad := o.checkRow(r); bad != nil {
				return bad
			}
		}
	}
	o.settle()
	for _, f := range []func(*Options) *problem{
		checkAuth, checkKeys, checkImport, checkStaircase, checkJitter, checkCommands, checkScan, checkDefaults,
	} {
		if bad := f(o); bad != nil {
			return bad
		}
	}
	o.warnings()
	return nil
}

func (o *Options) checkRow(r *row) *problem {
	if r.Only != anyProtocol && (r.Only == respOnly) != o.Protocol.RESP() {
		use := "redis, resp2 or resp3"
		if r.Only == memcachedOnly {
			use = "memcache_text, memcache_binary or memcache_meta"
		}
		return usage("%s: not with the protocol %s: %s; leave it out, or use --protocol=%s", o.is(r.Long), o.Protocol, r.OnlyWhy, use)
	}
	for _, rule := range r.Not {
		if bad := o.conflict(r, rule); bad != nil {
			return bad
		}
	}
	for _, rule := range r.Needs {
		switch {
		case o.first(rule.Other) != "":
		case rule.Code == 0:
			o.warn("%s has no effect without --%s: %s", o.is(r.Long), rule.Other, rule.Why)
		default:
			return &problem{rule.Code, fmt.Sprintf("%s: needs --%s: %s; add it", o.is(r.Long),
				strings.ReplaceAll(rule.Other, "|", " or --"), rule.Why)}
		}
	}
	return nil
}

func (o *Options) conflict(r *row, rule rule) *problem {
	other := o.first(rule.Other)
	switch {
	case other == "":
	case rule.Code == 0:
		o.warn("%s has no effect with %s: %s", o.is(r.Long), o.is(other), rule.Why)
	default:
		return &problem{rule.Code, fmt.Sprintf("%s and %s exclude each other: %s; leave one out", o.is(r.Long), o.is(other), rule.Why)}
	}
	return nil
}

// settle gives fields the values that follow from others.
func (o *Options) settle() {
	if o.Key == "" {
		o.Key = o.Cert
	}
	if o.UnixSocket != "" || o.Servers != nil {
		o.Server, o.Port = "", 0
	}
}

func checkAuth(o *Options) *problem {
	switch {
	case !o.Authenticate:
	case o.Protocol == Text || o.Protocol == Meta:
		return usage("%s: not with the protocol %s, where memtier_benchmark has no way to log in; leave it out, or use "+
			"--protocol=memcache_binary", o.is("authenticate"), o.Protocol)
	case o.Protocol == Binary && o.User == "":
		return usage("%s: has no user, and memcache_binary logs in as one; use user:password", o.is("authenticate"))
	}
	return nil
}

// maxKeyLength of memcached.
const maxKeyLength = 250

func checkKeys(o *Options) *problem {
	if o.KeyMin > o.KeyMax {
		if !o.Given("key-maximum") {
			return usage("%s: is above the highest key, %d; give a higher --key-maximum", o.is("key-minimum"), o.KeyMax)
		}
		return usage("%s: is above %s; swap them", o.is("key-minimum"), o.is("key-maximum"))
	}
	gauss := o.SetPattern == 'G' || o.GetPattern == 'G'
	for i := range o.Commands {
		gauss = gauss || o.Commands[i].Pattern == 'G'
	}
	for _, long := range []string{"key-stddev", "key-median"} {
		if o.Given(long) && !gauss {
			return usage("%s: is for keys of pattern G, and there are none; leave it out, or use --key-pattern=G:G", o.is(long))
		}
	}
	if m := o.KeyMedian; o.Given("key-median") && (m < float64(o.KeyMin) || m > float64(o.KeyMax)) {
		return usage("%s: lies outside the keys, %d to %d; use a number among them", o.is("key-median"), o.KeyMin, o.KeyMax)
	}
	if o.Protocol.RESP() || o.DataImport != "" && !o.GenerateKeys {
		return nil
	}
	names := keys.Names{Prefix: o.KeyPrefix}
	if n := names.Longest(o.KeyMax); n > maxKeyLength {
		return usage("%s: with the digits of key %d keys have %d bytes, and memcached takes %d; shorten it by %d",
			o.is("key-prefix"), o.KeyMax, n, maxKeyLength, n-maxKeyLength)
	}
	if i := strings.IndexFunc(o.KeyPrefix, func(r rune) bool { return r <= ' ' || r == 0x7f }); i >= 0 && o.Protocol != Binary {
		return usage("%s: has %q, which ends keys in memcached's protocol; use other characters", o.is("key-prefix"), o.KeyPrefix[i])
	}
	return nil
}

func checkImport(o *Options) *problem {
	if o.DataImport == "" || o.GenerateKeys {
		return nil
	}
	for _, long := range []string{"key-prefix", "key-minimum", "key-maximum"} {
		if o.Given(long) {
			return setup("%s and %s exclude each other: %s; leave it out or add --generate-keys", o.is(long), o.is("data-import"), fileKeys)
		}
	}
	return nil
}

func checkStaircase(o *Options) *problem {
	if o.ClientsStart != 0 && o.ClientsStart >= o.Clients {
		return setup("%s: is not below the number of clients that it leads to, %d; give more --clients", o.is("clients-start"), o.Clients)
	}
	return nil
}

func checkJitter(o *Options) *problem {
	if o.JitterMin <= o.JitterMax {
		return nil
	}
	return setup("%s: is above the longest time, %d; raise --thread-conn-start-max-jitter-micros", o.is("thread-conn-start-min-jitter-micros"), o.JitterMax)
}

func checkScan(o *Options) *problem {
	if !o.ScanIncrement {
		return nil
	}
	switch {
	case len(o.Commands) != 1:
		return setup("--scan-incremental-iteration: wants one --command, and there are %d; give --command='SCAN 0'", len(o.Commands))
	case o.Commands[0].Verb != "SCAN" || len(o.Commands[0].Args) < 2:
		return setup("--scan-incremental-iteration: %s is no SCAN with a cursor; use --command='SCAN 0'", o.is("command"))
	case o.Pipeline != 1:
		return setup("--scan-incremental-iteration and %s exclude each other: each SCAN needs the answer to the one before; leave one out", o.is("pipeline"))
	}
	return nil
}

// checkDefaults is about options whose defaults do not go with others.
func checkDefaults(o *Options) *problem {
	switch {
	case o.Cluster && o.DB > 0:
		return usage("%s: not with --cluster-mode: a cluster has database 0 only; leave one out", o.is("select-db"))
	case len(o.Agents) > 0 && o.ClientStats != "":
		return usage("%s and --agents exclude each other: agents send totals, not clients; leave one out", o.is("client-stats"))
	}
	return nil
}

func (o *Options) warnings() {
	if !o.TLS {
		for _, long := range []string{"cert", "key", "cacert", "tls-skip-verify", "tls-protocols", "sni"} {
			if o.Given(long) {
				o.warn("--%s has no effect without --tls", long)
			}
		}
	}
	if o.Given("key") && !o.Given("cert") {
		o.warn("--key has no effect without --cert")
	}
	if o.ClientsStart != 0 && o.staircase().At(o.TestTime-1) < o.Clients {
		o.warn("--test-time=%d is over before the staircase is up: %d of %d clients", o.TestTime, o.staircase().At(o.TestTime-1), o.Clients)
	}
	if o.MonitorInput != "" {
		used := false
		for i := range o.Commands {
			used = used || o.Commands[i].Monitor != 0
		}
		if !used {
			o.warn("%s has no effect without a --command such as __monitor_line@__", o.is("monitor-input"))
		}
	}
}
