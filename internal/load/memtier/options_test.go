package memtier

import (
	"bytes"
	"fmt"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"testing"

	"godwit/internal/load/memtier/output"
)

// changed lists the fields that differ from the defaults.
func changed(o *Options) string {
	var list []string
	a, b := reflect.ValueOf(o).Elem(), reflect.ValueOf(Defaults()).Elem()
	for i := range a.NumField() {
		f := a.Type().Field(i)
		if !f.IsExported() || reflect.DeepEqual(a.Field(i).Interface(), b.Field(i).Interface()) {
			continue
		}
		switch v := a.Field(i).Interface().(type) {
		case Pattern:
			list = append(list, fmt.Sprintf("%s=%c", f.Name, v))
		case *Ramp:
			list = append(list, fmt.Sprintf("%s=%v", f.Name, *v))
		case []Command:
			list = append(list, f.Name+"="+showCommands(v))
		default:
			list = append(list, fmt.Sprintf("%s=%v", f.Name, v))
		}
	}
	return strings.Join(list, " ")
}

func showCommands(list []Command) string {
	var b strings.Builder
	for _, c := range list {
		fmt.Fprintf(&b, "[%s %d %c %d", c.Verb, c.Ratio, c.Pattern, c.Monitor)
		for _, a := range c.Args {
			if a.Data {
				b.WriteString(" DATA")
				continue
			}
			fmt.Fprintf(&b, " %q", bytes.Join(a.Parts, []byte("KEY")))
		}
		b.WriteByte(']')
	}
	return b.String()
}

// optionCases has every option at least once.
var optionCases = []struct{ args, want string }{
	{"", ""},
	{"-s a", "Server=a"}, {"-sa", "Server=a"}, {"--server=a", "Server=a"}, {"--server a", "Server=a"},
	{"-h a", "Server=a"}, {"--host=a", "Server=a"}, {"--host=a -s b", "Server=b"},
	{"-p 11211", "Port=11211"}, {"-p11211", "Port=11211"}, {"--port=1", "Port=1"}, {"--port=65535", "Port=65535"},
	{"-S /x", "Server= Port=0 UnixSocket=/x"}, {"--unix-socket=/x", "Server= Port=0 UnixSocket=/x"},
	{"--servers=a:1,[::1]:2 -P memcache_text", "Server= Port=0 Servers=[a:1 [::1]:2] Protocol=memcache_text"},
	{"-4", "Family=AF_INET"}, {"--ipv4", "Family=AF_INET"}, {"-6", "Family=AF_INET6"}, {"--ipv6", "Family=AF_INET6"},
	{"-P resp2", "Protocol=resp2"}, {"--protocol resp3", "Protocol=resp3"}, {"--protocol=memcache_binary", "Protocol=memcache_binary"},
	{"-P memcache_meta", "Protocol=memcache_meta"}, {"-P redis", ""},
	{"-a pw", "Password=pw Authenticate=true"}, {"--authenticate=u:p:q", "User=u Password=p:q Authenticate=true"},
	{"-a :p:q", "Password=p:q Authenticate=true"}, {"-a u:p -P memcache_binary", "Protocol=memcache_binary User=u Password=p Authenticate=true"},
	{"-u redis://h", "Server=h URI=redis://h"},
	{"--uri=rediss://u:p@h:5/2", "Server=h Port=5 User=u Password=p Authenticate=true URI=rediss://u:p@h:5/2 DB=2 TLS=true"},
	{"--select-db=3", "DB=3"}, {"--cluster-mode", "Cluster=true"},
	{"--tls", "TLS=true"}, {"--tls --cert=c", "TLS=true Cert=c Key=c"}, {"--tls --cert=c --key=k", "TLS=true Cert=c Key=k"},
	{"--tls --cacert=c", "TLS=true CACert=c"}, {"--tls --tls-skip-verify", "TLS=true TLSSkipVerify=true"},
	{"--tls --tls-protocols=tlsv1.3,TLSv1.2", "TLS=true TLSMin=771 TLSMax=772"}, {"--tls --tls-protocols=TLSv1", "TLS=true TLSMin=769 TLSMax=769"},
	{"--tls --sni=n", "TLS=true SNI=n"}, {"-D", "Debug=1"}, {"-DD --debug", "Debug=3"},
	{"-o f", "OutFile=f"}, {"--out-file=f", "OutFile=f"}, {"--json-out-file=f", "JSONOutFile=f"}, {"--client-stats=f", "ClientStats=f"},
	{"--hdr-file-prefix=f", "HDRFilePrefix=f"}, {"--show-config", "ShowConfig=true"}, {"--hide-histogram", "HideHistogram=true"},
	{"--print-percentiles=0,100,99.95", "Percentiles=[0 100 99.95]"}, {"--print-all-runs", "PrintAllRuns=true"},
	{"--command-stats-breakdown=line", "ByLine=true"}, {"--command-stats-breakdown=command", ""},
	{"--fail-on-miss-rate=0", "MissRate=0"}, {"--quiet", "Quiet=true"}, {"--top", "Top=true"},
	{"--statsd-host=h", "StatsdHost=h"}, {"--statsd-port=1", "StatsdPort=1"}, {"--statsd-prefix=p", "StatsdPrefix=p"},
	{"--statsd-run-label=l", "StatsdRunLabel=l"}, {"--graphite-port=80", "GraphitePort=80"},
	{"-n 5", "Requests=5"}, {"--requests=5", "Requests=5"}, {"-n allkeys", "Requests=0 AllKeys=true"},
	{"--test-time=5", "Requests=0 TestTime=5"}, {"-c 1", "Clients=1"}, {"--clients=7", "Clients=7"}, {"-t 1", "Threads=1"},
	{"--threads=2", "Threads=2"}, {"-x 3", "RunCount=3"}, {"--run-count=3", "RunCount=3"},
	{"--ratio=1:0", "Ratio=1:0"}, {"--ratio=0:1", "Ratio=0:1"}, {"--pipeline=8", "Pipeline=8"},
	{"--multi-key-get=8", "MultiKeyGet=8"}, {"--multi-key-get=8 -P memcache_binary", "Protocol=memcache_binary MultiKeyGet=8"},
	{"--multi-key-get=8 -P memcache_meta", "Protocol=memcache_meta MultiKeyGet=8"},
	{"--rate=1e5", "Rate=100000"}, {"--rate-limiting=99", "ConnectionRate=99"},
	{"--rate=.5 --arrival=poisson", "Rate=0.5 Poisson=true"}, {"--rate=.5 --arrival=ticks", "Rate=0.5 Ticks=true"}, {"--rate-limiting=9 --arrival=constant", "ConnectionRate=9"},
	{"--rate=9 --ramp=0:2:1.5", "Rate=9 Ramp={0 2 1.5s}"}, {"--warmup=1.5", "Warmup=1.5s"},
	{"--clients-start=1 --clients-step=2 --step-duration=3 --test-time=90", "Requests=0 TestTime=90 ClientsStart=1 ClientsStep=2 StepDuration=3"},
	{"--reconnect-interval=5", "ReconnectInterval=5"}, {"--reconnect-on-error", "ReconnectOnError=true"},
	{"--max-reconnect-attempts=0", ""}, {"--max-reconnect-attempts=3", "ReconnectMost=3"},
	{"--reconnect-backoff-factor=1.5", "BackoffFactor=1.5"}, {"--connection-timeout=3", "ConnectionTimeout=3"},
	{"--thread-conn-start-min-jitter-micros=3 --thread-conn-start-max-jitter-micros=3", "JitterMin=3 JitterMax=3"},
	{"--seed=0", "Seed=0"}, {"--distinct-client-seed", "DistinctSeeds=true"}, {"--randomize", "Randomize=true"},
	{"--command GET|__key__", `Commands=[GET 1 R 0 "GET" "KEY"]`},
	{"--command=set|{__key__}:__key__|__data__ --command-ratio=2 --command-key-pattern=G --command=ping",
		`Commands=[SET 2 G 0 "set" "{KEY}:KEY" DATA][PING 1 R 0 "ping"]`},
	{"--command=__monitor_line7__ --command=__monitor_line@__ --monitor-input=f",
		`Commands=[ 1 R 7][ 1 R -1] MonitorInput=f`},
	{"--monitor-pattern=R", "MonitorRandom=true"}, {"--monitor-pattern=S", ""},
	{"--command=scan|0 --scan-incremental-iteration --scan-incremental-max-iterations=4",
		`Commands=[SCAN 1 R 0 "scan" "0"] ScanIncrement=true ScanIterations=4`},
	{"-d 100", "DataSize=100"}, {"--data-size=1", "DataSize=1"}, {"--data-size-range=5-9", "DataSize=0 DataSizes={5 9}"},
	{"--data-size-range=9-5", "DataSize=0 DataSizes={5 9}"}, {"--data-size-list=5:1,9:0,", "DataSize=0 DataSizeList=[{5 1} {9 0}]"},
	{"--data-size-pattern=S", "SizePattern=S"}, {"--data-offset=536870911", "DataOffset=536870911"}, {"-R", "RandomData=true"},
	{"--random-data", "RandomData=true"}, {"--verify", "Verify=true"}, {"--expiry-range=9-0", "Expiry={0 9}"},
	{"--data-import=f", "DataImport=f"}, {"--data-import=f --data-verify", "DataImport=f DataVerify=true"},
	{"--data-import=f --verify-only", "DataImport=f DataVerify=true VerifyOnly=true"},
	{"--data-import=f --generate-keys --key-prefix=x", "KeyPrefix=x DataImport=f GenerateKeys=true"},
	{"--data-import=f --no-expiry", "DataImport=f NoExpiry=true"},
	{"--key-prefix=x", "KeyPrefix=x"}, {"--key-prefix=", "KeyPrefix="}, {"--key-minimum=5", "KeyMin=5"},
	{"--key-maximum=9223372036854775807", "KeyMax=9223372036854775807"}, {"--key-minimum=5 --key-maximum=5", "KeyMin=5 KeyMax=5"},
	{"--key-pattern=Z:S", "SetPattern=Z GetPattern=S"}, {"--key-pattern=P:P", "SetPattern=P GetPattern=P"},
	{"--key-pattern=G:R --key-stddev=.5", "SetPattern=G KeyStddev=0.5"}, {"--key-pattern=R:G --key-median=10000000", "GetPattern=G KeyMedian=1e+07"},
	{"--key-zipf-exp=4.99", "KeyZipfExp=4.99"},
	{"--wait-ratio=5:1", "WaitRatio=5:1"}, {"--num-slaves=2-1", "NumSlaves={1 2}"}, {"--wait-timeout=0-5", "WaitTimeout={0 5}"},
	{"--io=io_uring", "IO=io_uring"}, {"--blind", "Blind=true"},
	{"--no-server-stats", "NoServerStats=true"},
	{"--agents=a:1 --agent-token-file=f", "Agents=[a:1] AgentTokenFile=f"},
	// getopt_long
	{"--req 5", "Requests=5"}, {"--req=5", "Requests=5"}, {"-R4n5", "Requests=5 RandomData=true Family=AF_INET"}, {"-t1 -c 2", "Clients=2 Threads=1"},
	{"-n 5 -n 6", "Requests=6"}, {"--ser=a", "Server=a"}, {"--verify-o --data-import=f", "DataImport=f DataVerify=true VerifyOnly=true"},
	{"--veri --data-import=f", "DataImport=f DataVerify=true VerifyOnly=true"}, {"--rate-l=5", "ConnectionRate=5"}, {"--agents=a:1 --agent-t=f", "Agents=[a:1] AgentTokenFile=f"},
	{"--uri=redis://h --", "Server=h URI=redis://h"},
}

// words cuts a line of the tests; | stands for a space within a word.
func words(line string) []string {
	list := strings.Fields(line)
	for i := range list {
		list[i] = strings.ReplaceAll(list[i], "|", " ")
	}
	return list
}

func TestOptions(t *testing.T) {
	seen := map[string]bool{"help": true, "version": true}
	for _, c := range optionCases {
		o, exit := Parse("memtier", words(c.args))
		if exit != nil {
			t.Errorf("%s: %s", c.args, exit.Stderr)
			continue
		}
		if len(o.Warnings) > 0 && !strings.Contains(c.args, "distinct") {
			t.Errorf("%s: %q", c.args, o.Warnings)
		}
		got := strings.Fields(changed(o))
		want := strings.Fields(c.want)
		slices.Sort(got)
		slices.Sort(want)
		if !slices.Equal(got, want) {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, want)
		}
		for long := range o.given {
			seen[long] = true
		}
	}
	for i := range table {
		if r := &table[i]; !seen[r.name()] {
			t.Errorf("--%s is in no test", r.Long)
		}
	}
}

// TestTable holds the rows against each other.
func TestTable(t *testing.T) {
	longs, shorts := map[string]bool{}, map[byte]bool{}
	for i := range table {
		r := &table[i]
		if longs[r.Long] || r.Short != 0 && shorts[r.Short] {
			t.Errorf("--%s, -%c: twice", r.Long, r.Short)
		}
		longs[r.Long], shorts[r.Short] = true, true
		if r.Help == "" || r.set == nil || r.Alias != "" && byLong[r.Alias] == nil || r.Meta != "" && r.sample() == "" ||
			(r.Only == anyProtocol) != (r.OnlyWhy == "") || r.Meta == "" && r.Default+r.bounds() != "" {
			t.Errorf("--%s: the row is not complete", r.Long)
		}
		for _, rule := range slices.Concat(r.Not, r.Needs) {
			for other := range strings.SplitSeq(rule.Other, "|") {
				if o := byLong[other]; o == nil || o.Alias != "" || rule.Why == "" {
					t.Errorf("--%s: the rule about %q", r.Long, other)
				}
			}
		}
		if r.Meta != "" {
			o := Defaults()
			o.Commands = []Command{{Verb: "GET"}}
			if err := r.set(o, r, r.sample()); err != nil {
				t.Errorf("--%s: its example %v", r.Long, err)
			}
		}
	}
}

// TestMemtierNames: the long names of memtier_benchmark and their short letters.
func TestMemtierNames(t *testing.T) {
	names := strings.Fields(`host:h server:s port:p unix-socket:S ipv4:4 ipv6:6 protocol:P authenticate:a uri:u tls cert key cacert
		tls-skip-verify tls-protocols sni run-count:x debug:D cluster-mode help version:v out-file:o json-out-file client-stats
		hdr-file-prefix show-config hide-histogram print-percentiles print-all-runs command-stats-breakdown statsd-host statsd-port
		statsd-prefix statsd-run-label graphite-port requests:n rate-limiting clients:c threads:t test-time clients-start clients-step
		step-duration ratio pipeline reconnect-interval reconnect-on-error max-reconnect-attempts reconnect-backoff-factor
		connection-timeout thread-conn-start-min-jitter-micros thread-conn-start-max-jitter-micros multi-key-get select-db
		distinct-client-seed randomize command command-ratio command-key-pattern monitor-input monitor-pattern
		scan-incremental-iteration scan-incremental-max-iterations data-size:d data-offset random-data:R data-size-range data-size-list
		data-size-pattern expiry-range data-import data-verify verify-only generate-keys no-expiry key-prefix key-minimum key-maximum
		key-pattern key-stddev key-median key-zipf-exp wait-ratio num-slaves wait-timeout`)
	theirs := map[string]bool{}
	for _, name := range names {
		long, short, _ := strings.Cut(name, ":")
		theirs[long] = true
		r := byLong[long]
		if r == nil || short != "" && r.Short != short[0] || short == "" && r.Short != 0 || r.Own {
			t.Errorf("--%s: %+v", name, r)
		}
	}
	for i := range table {
		if r := &table[i]; r.Own == theirs[r.Long] {
			t.Errorf("--%s is ours or theirs", r.Long)
		}
	}
	// What memtier_benchmark takes for a shortened name means the same here, but for two names that are ours in full.
	for long := range theirs {
		for n := 1; n < len(long); n++ {
			like := 0
			for other := range theirs {
				if strings.HasPrefix(other, long[:n]) {
					like++
				}
			}
			short := long[:n]
			if r, _ := find(short); like == 1 && r != byLong[long] && short != "rate" && short != "verify" {
				t.Errorf("--%s is not --%s", short, long)
			}
		}
	}
}

func TestAmbiguous(t *testing.T) {
	for name, want := range map[string]string{
		"da":   "--da: may be --data-size, --data-size-range, --data-size-list, --data-size-pattern, --data-offset, --data-import, --data-verify; write more of it",
		"age":  "--age: may be --agents, --agent-token-file; write more of it",
		"prot": "", "reqests": "--reqests: there is no such option; did you mean --requests?",
		"foo": "--foo: there is no such option; see --help", "": "--=: there is no such option; see --help",
	} {
		_, bad := find(name)
		if got := ""; bad != nil {
			got = bad.text
			if got != want {
				t.Errorf("%s: got %s", name, got)
			}
		} else if want != "" {
			t.Errorf("%s is found", name)
		}
	}
}

func TestWords(t *testing.T) {
	o, exit := Parse("memtier", []string{"set", "-n", "5", "-", "--", "-c", "7"})
	if exit != nil || o.Requests != 5 || o.Clients != 50 || len(o.Warnings) != 4 || !strings.HasPrefix(o.Warnings[3], `"7" is no option`) {
		t.Fatalf("%+v %+v", exit, o)
	}
}

var settingLine = regexp.MustCompile(`(?m)^\t\t,?"([^"]+)": +(.*)$`)

// TestConfig holds the settings against the recorded JSON: names, order, and the kinds of values.
func TestConfig(t *testing.T) {
	o, exit := Parse("memtier", words("-s 127.0.0.1 -p 31211 -P memcache_text -t 1 -c 2 -n 500 --key-maximum 1000 --json-out-file 01.json"))
	if exit != nil {
		t.Fatal(exit.Stderr)
	}
	var b bytes.Buffer
	if err := output.JSON(&b, &output.Report{Config: o.Config()}); err != nil {
		t.Fatal(err)
	}
	recorded, err := os.ReadFile("testdata/configuration.json")
	if err != nil {
		t.Fatal(err)
	}
	got := settingLine.FindAllStringSubmatch(strings.Split(b.String(), "run information")[0], -1)
	want := settingLine.FindAllStringSubmatch(string(recorded), -1)
	if len(got) != len(want) || len(want) != 53 {
		t.Errorf("%d settings, not %d", len(got), len(want))
	}
	for i := range min(len(got), len(want)) {
		if got[i][0] != want[i][0] {
			t.Errorf("got %s, want %s", got[i][0], want[i][0])
		}
	}
}

func TestConfigMore(t *testing.T) {
	for _, c := range []struct{ args, name, want string }{
		{"-a u:secret", "authenticate", "u:***"},
		{"-a secret", "authenticate", "***"},
		{"-u redis://u:secret@h/1", "uri", "redis://u:***@h/1"},
		{"-u redis://secret@h", "uri", "redis://***@h"},
		{"-u redis://h", "uri", "redis://h"},
		{"-S /x", "server", "<nil>"},
		{"-S /x", "port", "0"},
		{"--key-maximum=9223372036854775807", "key_maximum", "9223372036854775807"},
		{"--requests=allkeys --key-minimum=1 --key-maximum=9", "requests", "9"},
		{"--requests=allkeys --key-minimum=1 --key-maximum=9 --key-pattern=P:P -c 2 -t 2", "requests", "3"},
		{"--test-time=5", "requests", "0"},
		{"--data-size-list=5:1,9:2", "data_size_list", "5:1,9:2"},
		{"--data-size-list=5:1,9:2", "data_size", "0"},
		{"--expiry-range=5-9", "expiry_range", "{5 9}"},
		{"--wait-timeout=5-9", "wait-timeout", "5-9"},
		{"--key-pattern=Z:Z", "key_zipf_exp", "0"},
		{"--key-pattern=Z:Z --key-zipf-exp=2", "key_zipf_exp", "2"},
		{"--clients-start=1 --clients-step=2 --step-duration=3 --test-time=90", "clients_step", "2"},
		{"--seed=7", "seed", "7"},
		{"--rate=7 --arrival=poisson", "arrival", "poisson"},
		{"--blind", "blind", "true"},
		{"-s a", "print-all-runs", "false"},
		{"--servers=a:1,b:1 -P memcache_text", "server", "a:1,b:1"},
	} {
		o, exit := Parse("memtier", words(c.args))
		if exit != nil {
			t.Errorf("%s: %s", c.args, exit.Stderr)
			continue
		}
		got := "none"
		for _, s := range o.Config() {
			if s.Name == c.name {
				got = fmt.Sprint(s.Value)
			}
		}
		if got != c.want {
			t.Errorf("%s: %s is %s, want %s", c.args, c.name, got, c.want)
		}
	}
}

func TestShown(t *testing.T) {
	o, exit := Parse("memtier", words("-s 127.0.0.1 -p 36379 -t 1 -c 2 --test-time 2 --key-maximum 1000 --json-out-file 04.json --show-config"))
	if exit != nil {
		t.Fatal(exit.Stderr)
	}
	var b strings.Builder
	if err := output.Config(&b, o.Shown()); err != nil {
		t.Fatal(err)
	}
	want, err := os.ReadFile("testdata/show-config.txt")
	if err != nil {
		t.Fatal(err)
	}
	if b.String() != string(want) {
		t.Errorf("got\n%s", b.String())
	}
	o, _ = Parse("memtier", words("--command=PING --command=GET|x --cluster-mode --rate-limiting=5 -a u:p"))
	b.Reset()
	output.Config(&b, o.Shown())
	if tail := "print-all-runs = no\ncluster-mode = yes\ncommand = PING; GET x\n"; !strings.HasSuffix(b.String(), tail) {
		t.Errorf("got\n%s", b.String())
	}
}

func TestStaircase(t *testing.T) {
	o, exit := Parse("memtier", words("-c 10 --clients-start=2 --clients-step=3 --step-duration=2 --test-time=9"))
	if exit != nil || len(o.Warnings) > 0 {
		t.Fatalf("%+v", exit)
	}
	if got, want := o.Stairs(), []int{2, 2, 5, 5, 8, 8, 10, 10, 10}; !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for client := range o.Clients {
		at, ever := o.Begin(client)
		n := 0
		for _, s := range o.Stairs() {
			if s <= client {
				n++
			}
		}
		if !ever || int(at.Seconds()) != n {
			t.Errorf("client %d begins at %v, want %d s", client, at, n)
		}
	}
	o, _ = Parse("memtier", words("-c 10 --clients-start=2 --clients-step=3 --step-duration=2 --test-time=2"))
	if len(o.Warnings) != 1 {
		t.Errorf("%q", o.Warnings)
	}
	if _, ever := o.Begin(2); ever {
		t.Error("client 2 begins after the end")
	}
	if o := Defaults(); o.Stairs() != nil {
		t.Error("stairs without a staircase")
	}
}

func TestRamp(t *testing.T) {
	r := &Ramp{Start: 1, End: 3, Over: 2e9}
	for at, want := range map[float64]float64{-1: 1, 0: 1, 1: 2, 2: 3, 9: 3} {
		if got := r.At(at); got != want {
			t.Errorf("at %v: %v, want %v", at, got, want)
		}
	}
}
