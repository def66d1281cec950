package memtier

import (
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

// wrong are command lines that are refused: by Parse, or in the second part by Prepare. said has what stderr says, in
// order.
var wrong = []struct {
	args string
	code int
	said string
}{
	// getopt_long
	{"--foo", 2, "--foo: there is no such option"},
	{"-Q", 2, `"-Q": there is no such option`},
	{"-?", 2, `"-?": there is no such option`},
	{"-DQ", 2, `"-Q": there`},
	{"--port", 2, "--port: needs a value (PORT); give one, such as --port=6379"},
	{"-p", 2, "-p: needs a value (PORT); give one, such as -p 6379"},
	{"-h", 2, "-h: needs a value"},
	{"--command", 2, "--command='SET __key__ __data__'"},
	{"--tls=yes", 2, "--tls=yes: takes no value"},
	{"--da=5", 2, "--da: may be --data-size,"},

	// zero or not a number
	{"-p 0", 2, `-p="0" is too little; use 1 to 65535`},
	{"-p abc", 2, `-p="abc" is not a whole number`},
	{"-p 12x", 2, `-p="12x" is not`},
	{"-p=5", 2, `-p="=5" is not`},
	{"-p -1", 2, `-p="-1" is too little`},
	{"--port=70000", 2, `--port="70000" is too much; use 1 to 65535`},
	{"--port=99999999999999999999", 2, `is too much`},
	{"-x 0", 2, "-x"}, {"--run-count=a", 2, "--run-count"},
	{"-n 0", 2, "-n"}, {"-n 5x", 2, "-n"}, {"-n -5", 2, "too little"}, {"--requests=all", 2, "or allkeys"},
	{"-c 0", 2, "-c"}, {"--clients=x", 2, "--clients"},
	{"-t 0", 2, "-t"}, {"--threads=x", 2, "--threads"},
	{"--test-time=0", 2, "--test-time"}, {"--test-time=1.5", 2, "--test-time"},
	{"--pipeline=0", 2, "--pipeline"}, {"--pipeline=", 2, "--pipeline"},
	{"-d 0", 2, "-d"}, {"--data-size=x", 2, "--data-size"},
	{"--rate-limiting=0", 2, "--rate-limiting"}, {"--rate-limiting=x", 2, "--rate-limiting"},
	{"--reconnect-interval=0", 2, "--reconnect-interval"}, {"--reconnect-interval=x", 2, "--reconnect-interval"},
	{"--multi-key-get=0", 2, "--multi-key-get"}, {"--multi-key-get=x", 2, "--multi-key-get"},
	{"--key-minimum=0", 2, "--key-minimum"}, {"--key-minimum=x", 2, "--key-minimum"},
	{"--key-maximum=0", 2, "--key-maximum"}, {"--key-maximum=x", 2, "--key-maximum"},
	{"--key-pattern=G:G --key-stddev=0", 2, "--key-stddev"}, {"--key-stddev=x", 2, "--key-stddev"}, {"--key-stddev=nan", 2, "not a number"},
	{"--key-pattern=G:G --key-median=0", 2, "--key-median"}, {"--key-median=x", 2, "--key-median"}, {"--key-median=inf", 2, "not a number"},
	{"--reconnect-backoff-factor=0", 2, "--reconnect-backoff-factor"}, {"--reconnect-backoff-factor=x", 2, "--reconnect-backoff-factor"},
	{"--reconnect-backoff-factor=-1", 2, "--reconnect-backoff-factor"},
	{"--statsd-port=0", 2, "--statsd-port"}, {"--statsd-port=99999", 2, "--statsd-port"},
	{"--graphite-port=0", 2, "--graphite-port"}, {"--graphite-port=x", 2, "--graphite-port"},
	{"--clients-start=0", 2, "--clients-start"}, {"--clients-step=0", 2, "--clients-step"}, {"--step-duration=0", 2, "--step-duration"},
	{"--clients-start=x", 2, "--clients-start"}, {"--clients-step=x", 2, "--clients-step"}, {"--step-duration=x", 2, "--step-duration"},
	{"--connection-timeout=x", 2, "--connection-timeout"}, {"--connection-timeout=-1", 2, "--connection-timeout"},
	{"--max-reconnect-attempts=-1", 2, "--max-reconnect-attempts"},
	{"--thread-conn-start-max-jitter-micros=x", 2, "--thread-conn-start-max-jitter-micros"},
	{"--scan-incremental-max-iterations=x", 2, "--scan-incremental-max-iterations"},

	// malformed
	{"--ratio=0:0", 2, "not both 0"}, {"--ratio=1", 2, "--ratio"}, {"--ratio=1:2:3", 2, "--ratio"}, {"--ratio=a:b", 2, "as 1:10"}, {"--ratio=-1:1", 2, "--ratio"},
	{"--wait-ratio=0:0", 2, "--wait-ratio"}, {"--wait-ratio=5", 2, "as 10:1"},
	{"--data-size-range=5", 2, "--data-size-range"}, {"--data-size-range=0-5", 2, "--data-size-range"}, {"--data-size-range=a-b", 2, "use MIN-MAX, as 32-1024"},
	{"--expiry-range=0-0", 2, "--expiry-range"}, {"--expiry-range=5", 2, "--expiry-range"},
	{"--num-slaves=0-0", 2, "--num-slaves"}, {"--num-slaves=a", 2, "--num-slaves"},
	{"--wait-timeout=0-0", 2, "--wait-timeout"}, {"--wait-timeout=a", 2, "--wait-timeout"},
	{"--data-size-list=1", 2, "--data-size-list"}, {"--data-size-list=a:b", 2, "SIZE:WEIGHT"}, {"--data-size-list=1:0", 2, "no size a weight"},
	{"--data-size-list=0:1", 2, "--data-size-list"}, {"--data-size-list=", 2, "--data-size-list"},
	{"--print-percentiles=abc", 2, "--print-percentiles"}, {"--print-percentiles=50,101", 2, `"101" is no percentile; use numbers of 0 to 100`},
	{"--print-percentiles=-1", 2, "--print-percentiles"}, {"--print-percentiles=nan", 2, "--print-percentiles"}, {"--print-percentiles=,", 2, "--print-percentiles"},
	{"--key-pattern=R", 2, "--key-pattern"}, {"--key-pattern=R:X", 2, "--key-pattern"}, {"--key-pattern=RR:R", 2, "--key-pattern"}, {"--key-pattern=r:r", 2, "--key-pattern"},
	{"--data-size-pattern=X", 2, "use R or S"}, {"--data-size-pattern=", 2, "--data-size-pattern"},
	{"--command-stats-breakdown=foo", 2, "use command or line"},
	{"--monitor-pattern=X", 2, "use S or R"},
	{"--select-db=-1", 2, "--select-db"}, {"--select-db=5x", 2, "--select-db"},
	{"--tls-protocols=foo", 2, `"foo" is no version`}, {"--tls-protocols=", 2, "--tls-protocols"}, {"--tls-protocols=TLSv1,TLSv1.2", 2, "has a gap"},
	{"--protocol=foo", 2, "use redis, resp2"}, {"-P REDIS", 2, "-P"},
	{"--key-zipf-exp=0", 2, "--key-zipf-exp"}, {"--key-zipf-exp=5", 2, "is too much; use above 0, below 5"}, {"--key-zipf-exp=1.5x", 2, "--key-zipf-exp"},
	{"--server=", 2, "is empty"},
	{"--servers=a", 2, `"a" is not host:port`}, {"--servers=a:0", 2, "the port is too little"}, {"--servers=a:1,a:1", 2, "twice"}, {"--servers=:1", 2, "--servers"},
	{"--agents=a", 2, "--agents"}, {"--rate=0", 2, "--rate"}, {"--rate=x", 2, "use above 0"}, {"--rate=1 --arrival=x", 2, "use constant, poisson or ticks"},
	{"--rate=1 --ramp=1", 2, "START:END:SECONDS"}, {"--rate=1 --ramp=0:0:5", 2, "--ramp"}, {"--rate=1 --ramp=0:1:0", 2, "--ramp"}, {"--rate=1 --ramp=0:x:5", 2, `"x" is not`},
	{"--warmup=-1", 2, "--warmup"}, {"--warmup=x", 2, "--warmup"}, {"--seed=x", 2, "--seed"}, {"--io=kqueue", 2, "use auto, epoll, io_uring or std"},
	{"--fail-on-miss-rate=101", 2, "--fail-on-miss-rate"},

	// conflicts
	{"-n 5 --test-time=5", 2, `--requests="5" and --test-time="5" exclude each other: a run ends by number or by time; leave one out`},
	{"--test-time=5 -n 5", 2, "--requests"},
	{"--test-time=5 -n allkeys", 2, "--requests"},
	{"--key-pattern=P:R", 2, "P on one side"}, {"--key-pattern=S:P", 2, "P on one side"},
	{"--command=GET|x --ratio=1:1", 2, "--command-ratio"}, {"--ratio=1:1 --command=GET|x", 2, "--command-ratio"},
	{"--command=GET|x --key-pattern=R:R", 2, "--command-key-pattern"}, {"--key-pattern=R:R --command=GET|x", 2, "--command-key-pattern"},
	{"--command-ratio=2", 2, "before any --command"}, {"--command-key-pattern=R", 2, "before any --command"},
	{"--command-ratio=2 --command=GET|x", 2, "before any --command"},
	{`--command=get|"abc`, 2, `has a " at byte 5 that is not closed`}, {"--command=get|'abc", 2, "has a ' at byte 5"},
	{`--command=get|"a"b`, 2, "text behind the closing"},
	{"--command=", 2, "has no word"}, {"--command=||", 2, "has no word"},
	{"--command=__key__|a", 2, "name of the command"}, {"--command=__data__", 2, "name of the command"},
	{"--command=GET|x --command-ratio=0", 2, "--command-ratio"}, {"--command=GET|x --command-key-pattern=PP", 2, "of command GET is no pattern"},
	{"--command=SET|__key__ --command-key-pattern=P --command=GET|__key__", 2, "use P for both or neither"},
	{"--command=GET|x -P memcache_text", 2, "commands are those of Redis"},
	{"--monitor-input=f -P memcache_binary", 2, "MONITOR is of Redis"},
	{"--clients-start=5", 2, "needs --clients-step"}, {"--clients-step=5", 2, "needs --clients-start"}, {"--step-duration=5", 2, "needs --clients-start"},
	{"--clients-start=5 --clients-step=5 --test-time=9", 2, "needs --step-duration"},
	{"--clients-start=5 --clients-step=5 --step-duration=1 -n 5", 2, "a staircase ends by time"},
	{"--cluster-mode --reconnect-interval=5", 2, "--cluster-mode"}, {"--cluster-mode --multi-key-get=5", 2, "--multi-key-get"},
	{"--cluster-mode --wait-ratio=1:1", 2, "--wait-ratio"}, {"--cluster-mode -P memcache_text", 2, "clusters are of Redis"},
	{"--cluster-mode -P memcache_binary", 2, "clusters are of Redis"}, {"--cluster-mode -S /x", 2, "--unix-socket"},
	{"--cluster-mode --monitor-input=f --command=__monitor_line1__", 2, "--monitor-input"},
	{"--cluster-mode --select-db=1", 2, "database 0 only"}, {"--cluster-mode --command=MSET|__key__|1|__key__|2", 2, "has 2 keys"},
	{"-P memcache_text -a pw", 2, "not with the protocol memcache_text"}, {"-P memcache_meta -a u:p", 2, "not with the protocol memcache_meta"},
	{"-P memcache_binary -a pw", 2, `--authenticate="***": has no user`}, {"-P memcache_binary -a :pw", 2, "has no user"},
	{"-P memcache_text --select-db=1", 2, "memcached has no databases"}, {"-P memcache_binary --select-db=1", 2, "memcached has no databases"},
	{"-d 5 --data-size-list=1:1", 2, "--data-size-list"}, {"-d 5 --data-size-range=1-5", 2, "--data-size-range"},
	{"--data-size-list=1:1 --data-size-range=1-5", 2, "--data-size-range"},
	{"-P memcache_text --data-offset=5", 2, "whole values only"}, {"--data-offset=5 --expiry-range=1-5", 2, "SETRANGE sets no expiry"},
	{"--data-offset=536870912", 2, "is too much; use 0 to 536870911"}, {"--data-offset=-1", 2, "--data-offset"},
	{"--key-stddev=5", 2, "for keys of pattern G"}, {"--key-median=5", 2, "for keys of pattern G"},
	{"--key-pattern=G:G --key-median=50000000", 2, "outside the keys, 0 to 10000000"},
	{"--key-pattern=G:G --key-minimum=5 --key-median=4.9", 2, "outside the keys"},
	{"-P memcache_text --wait-ratio=1:1", 2, "no replicas"},
	{"-4 -6", 2, "--ipv4 and --ipv6 exclude each other"},

	// of this program
	{"--key-minimum=50 --key-maximum=5", 2, `--key-minimum="50": is above --key-maximum="5"; swap them`},
	{"--key-minimum=50000000", 2, "give a higher --key-maximum"},
	{"-P memcache_text --key-prefix=" + strings.Repeat("k", 243), 2, "keys have 251 bytes, and memcached takes 250; shorten it by 1"},
	{"-P memcache_binary --key-prefix=" + strings.Repeat("k", 249) + " --key-maximum=10", 2, "shorten it by 1"},
	{"-P memcache_meta --key-prefix=" + strings.Repeat("k", 300), 2, "shorten it by 58"},
	{"-P memcache_text --key-prefix=a|b", 2, "ends keys"}, {"-P memcache_text --key-prefix=a\x7fb", 2, "ends keys"},
	{"--servers=a:1", 2, "--cluster-mode"}, {"-P memcache_text --servers=a:1 -s b", 2, "--server="}, {"-P memcache_text --servers=a:1 -p 5", 2, "--port"},
	{"-P memcache_text --servers=a:1 --blind", 2, "told apart"}, {"-P memcache_text --servers=a:1 --data-import=f --data-verify", 2, "read back"},
	{"--rate=5 --rate-limiting=5", 2, "--rate-limiting"}, {"--arrival=poisson", 2, "needs --rate or --rate-limiting"}, {"--ramp=0:1:5", 2, "needs --rate"},
	{"--seed=1 --randomize", 2, "--randomize"}, {"--quiet --top", 2, "--top"},
	{"--verify --command=GET|x", 2, "--verify"}, {"--verify --multi-key-get=5", 2, "--verify"}, {"--verify --data-import=f", 2, "--verify"}, {"--verify --data-offset=3", 2, "--verify"},
	{"--fail-on-miss-rate=1 --command=GET|x", 2, "--fail-on-miss-rate"},
	{"--blind --rate=5", 2, "--blind"}, {"--blind --rate-limiting=5", 2, "--blind"}, {"--blind --verify", 2, "--blind"}, {"--blind --cluster-mode", 2, "--blind"},
	{"--agents=a:1", 2, "needs --agent-token-file"}, {"--agent-token-file=f", 2, "needs --agents"},
	{"--agents=a:1 --agent-token-file=f --top", 2, "--agents"}, {"--agents=a:1 --agent-token-file=f --client-stats=f", 2, "--client-stats"},
	{"-u redis://h -P memcache_text", 2, "such addresses are for Redis"},

	// set-up
	{"-S /x -p 5", 1, `--unix-socket="/x" and --port="5" exclude each other`}, {"-S /x -s h", 1, "--server"}, {"-S /x -h h", 1, "--server"}, {"-u redis://h -S /x", 1, "--uri"},
	{"-u foo://x", 1, "does not begin with redis:// or rediss://"}, {"-u REDIS://x", 1, "--uri"}, {"-u h:5", 1, "--uri"}, {"--uri=redis://h:99999", 1, `the port "99999" is too much`},
	{"-u redis://h:0", 1, "the port"}, {"-u redis://h:", 1, "no port"}, {"-u redis://h/x", 1, `the database "x" is not`}, {"-u redis://h/-1", 1, "the database"},
	{"-u redis://[::1", 1, "["}, {"-u redis://[::1]x", 1, "["}, {"-u redis://a%zz@h", 1, "%25"}, {"-u redis://u:secret@h:0", 1, `"redis://u:***@h:0"`},
	{"-u redis://h/1 --cluster-mode", 1, "database 0 only"},
	{"--thread-conn-start-min-jitter-micros=5", 1, "above the longest time, 0"},
	{"--thread-conn-start-min-jitter-micros=5 --thread-conn-start-max-jitter-micros=4", 1, "above the longest time, 4"},
	{"--clients-start=5 --clients-step=5 --step-duration=1", 1, "needs --test-time"},
	{"--clients-start=5 --clients-step=5 --step-duration=1 --test-time=2 -c 5", 1, "not below the number of clients that it leads to, 5"},
	{"--scan-incremental-iteration", 1, "wants one --command, and there are 0"},
	{"--scan-incremental-iteration --command=SCAN|0 --command=SCAN|0", 1, "there are 2"},
	{"--scan-incremental-iteration --command=GET|x", 1, "is no SCAN"}, {"--scan-incremental-iteration --command=SCAN", 1, "is no SCAN"},
	{"--scan-incremental-iteration --command=SCAN|0 --pipeline=2", 1, "--pipeline"},
	{"--scan-incremental-iteration --command=SCAN|0 --cluster-mode", 1, "--cluster-mode"},
	{"--command=SET|__key__|x__data__", 1, "put spaces around it"}, {"--command=SET|__key____data__", 1, "put spaces around it"},
	{"--command=__monitor_line1__", 1, "name it with --monitor-input"}, {"--command=GET|__monitor_line1__ --monitor-input=f", 1, "and nothing else"},
	{"--command=__monitor_lineX__ --monitor-input=f", 1, "a number from 1"}, {"--command=__monitor_line0__ --monitor-input=f", 1, "a number from 1"},
	{"--command=__monitor_line1__|x --monitor-input=f", 1, "nothing else"}, {"--command=__monitor_line --monitor-input=f", 1, "nothing else"},
	{"--data-verify", 1, "needs --data-import"}, {"--verify-only", 1, "needs --data-import"}, {"--no-expiry", 1, "needs --data-import"},
	{"--cluster-mode --data-import=f", 1, "--data-import"},
	{"--data-import=f -d 5", 1, "--data-size"}, {"--data-import=f --data-size-list=1:1", 1, "--data-size-list"}, {"--data-import=f --data-size-range=1-2", 1, "--data-size-range"},
	{"--data-import=f -R", 1, "--random-data"},
	{"--data-import=f --key-prefix=x", 1, "add --generate-keys"}, {"--data-import=f --key-minimum=5", 1, "--key-minimum"}, {"--data-import=f --key-maximum=5", 1, "--key-maximum"},
}

func TestWrong(t *testing.T) {
	for _, c := range wrong {
		o, exit := Parse("godwit memtier", words(c.args))
		if exit == nil {
			t.Errorf("%s: accepted, %s", c.args, changed(o))
			continue
		}
		checkError(t, c.args, exit.Code, exit.Stdout, exit.Stderr, c.code, c.said)
	}
}

func checkError(t *testing.T, args string, code int, stdout, stderr string, wantCode int, said string) {
	t.Helper()
	if code != wantCode || stdout != "" || !strings.HasPrefix(stderr, "godwit memtier: ") || strings.Count(stderr, "\n") != 1 ||
		!strings.HasSuffix(stderr, "\n") || len(stderr) > 600 || !strings.Contains(stderr, said) {
		t.Errorf("%s: exit %d, %q%q; want exit %d, %q", args, code, stdout, stderr, wantCode, said)
	}
	if strings.Contains(stderr, "secret") {
		t.Errorf("%s: tells a password: %s", args, stderr)
	}
}

func tempFile(t *testing.T, name, content string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

const monitored = "OK\n1.5 [0 127.0.0.1:1] \"SET\" \"a\" \"b c\\x00\\n\\\"q\\\\\"\n\n1.6 [0 lua] \"get\" \"a\"\n1.7 [0 unix:/x] \"GET\" \"tr\n"

const itemsHead = "dumpflags, time, exptime, nbytes, nsuffix, it_flags, clsid, nkey, key, data\n"

// TestUnprepared are command lines that Parse takes and Prepare refuses.
func TestUnprepared(t *testing.T) {
	monitor, empty := tempFile(t, "monitor", monitored), tempFile(t, "empty", "OK\n")
	head, bad := tempFile(t, "head.csv", itemsHead), tempFile(t, "bad.csv", "a,b\n")
	short := tempFile(t, "short.csv", itemsHead+"0, 0, 0, 9, 0, 0, 1, 1, \"a\", \"xyz\"\n")
	long := tempFile(t, "long.csv", itemsHead+"0, 0, 0, 3, 0, 0, 1, 251, "+strings.Repeat("k", 251)+", x\n")
	gone := filepath.Join(t.TempDir(), "gone")
	for _, c := range []struct{ args, said string }{
		{"--monitor-input=" + gone + " --command=__monitor_line1__", "no such file or directory; give a file"},
		{"--monitor-input=" + empty + " --command=__monitor_line1__", "has no command"},
		{"--monitor-input=" + monitor + " --command=__monitor_line4__", "the file has 3 commands; use a number of 1 to 3"},
		{"--monitor-input=" + monitor + " --command=__monitor_line3__", "line 5 of "},
		{"--data-import=" + gone, "no such file"},
		{"--data-import=" + head, "has no items"},
		{"--data-import=" + head + " --generate-keys", "has no items"},
		{"--data-import=" + bad, "bad.csv:1: the first line is not dumpflags, time"},
		{"--data-import=" + short, "short.csv:2: column data: it ends after 3 bytes, and nbytes less 2 says 7"},
		{"--data-import=" + short + " --generate-keys", "short.csv:2: column data"},
		{"--data-import=" + long + " -P memcache_text", "key 1, "},
		{"-S " + gone, "no such file or directory; start the server"},
		{"-S " + empty, "is no socket"},
		{"--agents=a:1 --agent-token-file=" + gone, "no such file"},
		{"--agents=a:1 --agent-token-file=" + tempFile(t, "token", " \n"), "is empty"},
		{"-s no.such.host.invalid", `--server="no.such.host.invalid": `},
		{"-s 127.0.0.1 -6", `--server="127.0.0.1": `},
		{"--servers=127.0.0.1:5,no.such.host.invalid:7 -P memcache_text", `"no.such.host.invalid": `},
	} {
		o, exit := Parse("godwit memtier", words(c.args))
		if exit != nil {
			t.Errorf("%s: %s", c.args, exit.Stderr)
			continue
		}
		if exit = o.Prepare("godwit memtier"); exit == nil {
			t.Errorf("%s: accepted", c.args)
			continue
		}
		checkError(t, c.args, exit.Code, exit.Stdout, exit.Stderr, ExitSetup, c.said)
	}
}

func TestPrepare(t *testing.T) {
	socket := filepath.Join(t.TempDir(), "s")
	l, err := net.Listen("unix", socket)
	if err != nil {
		t.Fatal(err)
	}
	defer l.Close()
	items := tempFile(t, "items.csv", itemsHead+"0, 0, 0, 5, 0, 0, 1, 1, a, xyz\n0,0,0,5,0,0,1,2,\"bc\",\"xyz\"\n")
	prepare := func(args string) *Options {
		t.Helper()
		o, exit := Parse("memtier", words(args))
		if exit == nil {
			exit = o.Prepare("memtier")
		}
		if exit != nil {
			t.Fatalf("%s: %s", args, exit.Stderr)
		}
		return o
	}
	if o := prepare("-S " + socket); o.Addresses != nil {
		t.Error(o.Addresses)
	}
	if o := prepare("-s 127.0.0.1 -p 5 -4"); len(o.Addresses) != 1 || !slices.Equal(o.Addresses[0], []string{"127.0.0.1:5"}) {
		t.Error(o.Addresses)
	}
	if o := prepare("--uri=redis://[::1]:5"); !slices.Equal(o.Addresses[0], []string{"[::1]:5"}) {
		t.Error(o.Addresses)
	}
	if o := prepare("--servers=127.0.0.1:5,127.0.0.2:6 -P memcache_text"); len(o.Addresses) != 2 || o.Addresses[1][0] != "127.0.0.2:6" {
		t.Error(o.Addresses)
	}
	if o := prepare("-s 127.0.0.1 --data-import=" + items); len(o.ImportedKeys) != 2 || string(o.ImportedKeys[1]) != "bc" {
		t.Errorf("%q", o.ImportedKeys)
	}
	if o := prepare("-s 127.0.0.1 --generate-keys --data-import=" + items); o.ImportedKeys != nil {
		t.Errorf("%q", o.ImportedKeys)
	}
	if o := prepare("--agents=no.such.host.invalid:1 -s no.such.host.invalid --agent-token-file=" + tempFile(t, "token", "abc\n")); o.AgentToken != "abc" {
		t.Errorf("%q", o.AgentToken)
	}
	o := prepare("-s 127.0.0.1 --command=__monitor_line@__ --monitor-input=" + tempFile(t, "monitor", monitored))
	if len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], "skips 1 broken commands, the first on line 5") {
		t.Errorf("%q", o.Warnings)
	}
}

// TestScripts are command lines of memtier_benchmark as scripts have them; none of their options draws a warning.
func TestScripts(t *testing.T) {
	for _, args := range []string{
		"-s 127.0.0.1 -p 11211 -P memcache_text -t 1 -c 2 -n 500 --key-maximum 1000 --json-out-file 01.json",
		"-s 127.0.0.1 -t 1 -c 2 -n 500 --key-maximum 1000 --hdr-file-prefix 03 --json-out-file 03.json --client-stats 03cs --print-percentiles 50,90,99,99.9,99.99",
		"-s 127.0.0.1 -t 1 -c 2 --test-time 2 --key-maximum 1000 --hide-histogram --json-out-file 04.json --show-config",
		"-s 127.0.0.1 -t 1 -c 2 -n 500 -x 3 --print-all-runs --hide-histogram",
		"-t 1 -c 2 -n 500 --command=SET|__key__|__data__ --command-ratio=2 --command-key-pattern=S --command=GET|pre:__key__:suf --command=PING",
		"-P memcache_text -t 1 -c 1 -n 100 --reconnect-interval 10",
		"--server=10.0.0.1 --port=11211 --protocol=memcache_text --clients=2 --threads=16 --pipeline=50 --test-time=120 --data-size=32 --ratio=1:9 --key-pattern=R:R",
		"-p 11211 -P memcache_binary --random-data --data-size-range=4-204 --expiry-range=10-100 --key-minimum=200 --key-maximum=400",
		"-p 6379 -P redis --ratio=1:0 --key-pattern=P:P -n allkeys -d 1024 --hide-histogram --distinct-client-seed -R",
	} {
		if o, exit := Parse("memtier", words(args)); exit != nil || len(o.Warnings) > 0 {
			t.Errorf("%s: %+v", args, exit)
		}
	}
}

func TestURI(t *testing.T) {
	for _, c := range []struct{ args, want, warnings string }{
		{"-u redis://", "URI=redis://", ""},
		{"-u redis://h/", "Server=h URI=redis://h/", ""},
		{"-u redis://pw@h", "Server=h Password=pw Authenticate=true URI=redis://pw@h", ""},
		{"-u redis://:pw@h", "Server=h Password=pw Authenticate=true URI=redis://:pw@h", ""},
		{"-u redis://a%40b:c%3ad@h", "Server=h User=a@b Password=c:d Authenticate=true URI=redis://a%40b:c%3ad@h", ""},
		{"-u redis://u:p@q@h:7", "Server=h Port=7 User=u Password=p@q Authenticate=true URI=redis://u:p@q@h:7", ""},
		{"-u redis://@h", "Server=h URI=redis://@h", ""},
		{"-u redis://[::1]:7/3", "Server=::1 Port=7 URI=redis://[::1]:7/3 DB=3", ""},
		{"-u redis://[::1]", "Server=::1 URI=redis://[::1]", ""},
		{"-u redis://u:p@h:7/3 -s a -p 8 -a b:c --select-db=4 --tls", "Server=h Port=7 User=u Password=p Authenticate=true URI=redis://u:p@h:7/3 DB=3",
			`--server="a"; --port="8"; --authenticate="b:***"; --select-db="4"; --tls`},
		{"-s a -p 8 --select-db=4 -u rediss://h --tls", "Server=h Port=8 URI=rediss://h DB=4 TLS=true", `--server="a"`},
	} {
		o, exit := Parse("memtier", words(c.args))
		if exit != nil {
			t.Errorf("%s: %s", c.args, exit.Stderr)
			continue
		}
		warnings := o.Warnings
		o.Warnings = nil
		if got := changed(o); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
		for i := range warnings {
			warnings[i], _, _ = strings.Cut(warnings[i], " has no effect: the URI")
		}
		if got := strings.Join(warnings, "; "); got != c.warnings {
			t.Errorf("%s: warns of %s, want %s", c.args, got, c.warnings)
		}
	}
}

func TestWarnings(t *testing.T) {
	for _, c := range []struct{ args, want string }{
		{"--cert=c", "--cert has no effect without --tls"}, {"--tls-skip-verify", "without --tls"}, {"--tls --key=k", "--key has no effect without --cert"},
		{"--multi-key-get=5 --command=GET|x", "--multi-key-get=\"5\" has no effect with --command=\"GET x\""},
		{"--generate-keys", "without --data-import"}, {"--scan-incremental-max-iterations=5", "without --scan-incremental-iteration"},
		{"--monitor-input=f", "__monitor_line@__"}, {"x\ny", `"x\ny" is no option`},
	} {
		o, exit := Parse("memtier", strings.Split(c.args, " "))
		if exit == nil && strings.Contains(c.args, "|") {
			o, exit = Parse("memtier", words(c.args))
		}
		if exit != nil || len(o.Warnings) != 1 || !strings.Contains(o.Warnings[0], c.want) {
			t.Errorf("%s: %+v %q", c.args, exit, o.Warnings)
		}
	}
}

// FuzzParse: any command line is taken, or refused in one line with 1 or 2, or answered with 0.
func FuzzParse(f *testing.F) {
	for _, c := range optionCases {
		f.Add(strings.Join(words(c.args), "\x00"))
	}
	for _, c := range wrong {
		f.Add(strings.Join(words(c.args), "\x00"))
	}
	f.Fuzz(func(t *testing.T, line string) {
		args := strings.Split(line, "\x00")
		o, exit := Parse("memtier", args)
		if exit != nil {
			if o != nil || exit.Code == 0 && (exit.Stdout == "" || exit.Stderr != "") ||
				exit.Code != 0 && (exit.Stdout != "" || strings.Count(exit.Stderr, "\n") != 1 || exit.Code > ExitUsage) {
				t.Fatalf("%q: %+v", args, exit)
			}
			return
		}
		if o.KeyMin > o.KeyMax || o.Clients < 1 || o.Threads < 1 || o.Pipeline < 1 || (o.DataSize == 0) != (o.DataSizeList != nil || o.DataSizes.To > 0) ||
			o.Ratio == (Ratio{}) || (o.Requests > 0) == (o.AllKeys || o.TestTime > 0) {
			t.Fatalf("%q: %s", args, changed(o))
		}
		if names, rowOf, _ := o.CommandRows(); len(names) > maxCommands || !o.ScanIncrement && len(rowOf) != len(o.Commands) {
			t.Fatalf("%q: %q %v", args, names, rowOf)
		}
		o.Config()
		o.Shown()
		if o.TestTime < 1e6 {
			o.Stairs()
		}
		for _, w := range o.Warnings {
			if strings.ContainsAny(w, "\r\n\x1b") {
				t.Fatalf("%q: %q", args, w)
			}
		}
	})
}
