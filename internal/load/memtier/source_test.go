package memtier

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
)

// planned makes the planner of a command line and the plan of its first run.
func planned(t testing.TB, args ...string) (*planner, *load.Plan) {
	t.Helper()
	o, exit := Parse("memtier", args)
	if exit == nil {
		exit = o.Prepare("memtier")
	}
	if exit != nil {
		t.Fatal(exit.Stderr)
	}
	p, err := newPlanner(o)
	if err != nil {
		t.Fatal(err)
	}
	plan, err := p.plan(0, 0, 1)
	if err != nil {
		t.Fatal(err)
	}
	return p, plan
}

// line shows a request.
func line(op *load.Op) string {
	var b strings.Builder
	switch op.Kind {
	case load.Set:
		fmt.Fprintf(&b, "set %s %s", op.Key, op.Value)
	case load.Get:
		fmt.Fprintf(&b, "get %s", op.Key)
	case load.MGet:
		b.WriteString("get")
		for _, k := range op.Keys {
			fmt.Fprintf(&b, " %s", k)
		}
	case load.Command:
		for i, a := range op.Args {
			if i > 0 {
				b.WriteByte(' ')
			}
			b.Write(a)
		}
	}
	if op.Expiry > 0 {
		fmt.Fprintf(&b, " ex %d", op.Expiry)
	}
	if op.Offset > 0 {
		fmt.Fprintf(&b, " at %d", op.Offset)
	}
	return b.String()
}

// drain takes at most n requests from a source.
func drain(s load.Source, n int) (lines []string) {
	for range n {
		var op load.Op
		if !s.Next(&op) {
			break
		}
		lines = append(lines, line(&op))
	}
	return lines
}

// The sequences of a client are memtier_benchmark's.
func TestSequences(t *testing.T) {
	base := []string{"-t1", "-c1", "--key-minimum=1", "--key-maximum=4", "--key-pattern=S:S", "-d1", "--key-prefix=k"}
	for _, c := range []struct{ args, want string }{
		{"-n4 --ratio=1:1", "set k1 x, get k1, set k2 x, get k2"},
		{"-n7 --ratio=2:1", "set k1 x, set k2 x, get k1, set k3 x, set k4 x, get k2, set k1 x"},
		{"-n3 --ratio=0:1", "get k1, get k2, get k3"},
		{"-n3 --ratio=1:0", "set k1 x, set k2 x, set k3 x"},
		{"-n12", "set k1 x, get k1, get k2, get k3, get k4, get k1, get k2, get k3, get k4, get k1, get k2, set k2 x"},
		{"-n5 --ratio=1:3 -P memcache_text --multi-key-get=2", "set k1 x, get k1 k2, get k3, set k2 x, get k4 k1"},
		{"-n3 --ratio=0:9 --multi-key-get=5", "get k1 k2 k3 k4 k1, get k2 k3 k4 k1, get k2 k3 k4 k1 k2"},
		{"-n4 --ratio=1:1 --data-offset=3", "set k1 x at 3, get k1 at 3, set k2 x at 3, get k2 at 3"},
		{"-n2 --ratio=1:0 --expiry-range=7-7", "set k1 x ex 7, set k2 x ex 7"},
		{"-n5 --ratio=1:0 --data-size-list=1:2,3:1 -d0", "set k1 x, set k2 x, set k3 xxx, set k4 x, set k1 x"},
		{"-n5 --ratio=1:0 --data-size-range=4-1 --data-size-pattern=S -d0", "set k1 x, set k2 xx, set k3 xxx, set k4 xxxx, set k1 x"},
		{"-n6 --ratio=3:1 --wait-ratio=2:1 --num-slaves=1-1 --wait-timeout=5-5", "set k1 x, set k2 x, WAIT 1 5, set k3 x, get k1, set k4 x"},
		{"-n4 --ratio=1:0 --wait-ratio=0:1 --num-slaves=1-1 --wait-timeout=5-5", "set k1 x, WAIT 1 5, set k2 x, WAIT 1 5"},
		{"-n4 --ratio=1:1 --wait-ratio=1:0 --num-slaves=1-1 --wait-timeout=5-5", "set k1 x, get k1, set k2 x, get k2"},
		{"-nallkeys --ratio=1:0", "set k1 x, set k2 x, set k3 x, set k4 x"},
	} {
		args := append(slices.Clone(base), strings.Fields(c.args)...)
		if strings.Contains(c.args, "-d0") {
			args = slices.DeleteFunc(args, func(a string) bool { return a == "-d1" || a == "-d0" })
		}
		_, plan := planned(t, args...)
		if got := strings.Join(drain(plan.Clients[0].Source, 100), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}

// indicesOf counts the keys of n requests of a client.
func indicesOf(t *testing.T, s load.Source, n int) map[int]int {
	t.Helper()
	got := map[int]int{}
	for range n {
		var op load.Op
		if !s.Next(&op) {
			t.Fatal("no requests")
		}
		var i int
		if _, err := fmt.Sscanf(string(op.Key), "memtier-%d", &i); err != nil {
			t.Fatalf("%s: %v", op.Key, err)
		}
		got[i]++
	}
	return got
}

// T3: keys follow their pattern, that of sets and that of gets, within the range.
func TestKeyPatterns(t *testing.T) {
	const n, lo, hi = 100_000, 101, 200
	for _, kind := range []string{"1:0", "0:1"} {
		for _, pattern := range "RGZS" {
			both := map[string]string{"1:0": string(pattern) + ":R", "0:1": "R:" + string(pattern)}[kind]
			_, plan := planned(t, "-t1", "-c2", "--test-time=1", "--ratio="+kind, "--key-minimum=101", "--key-maximum=200", "--key-pattern="+both)
			got := indicesOf(t, plan.Clients[1].Source, n)
			chi, expect := 0.0, float64(n)/(hi-lo+1)
			sum, zipf := 0.0, 0.0
			for k := lo; k <= hi; k++ {
				zipf += 1 / float64(k)
			}
			for k := lo; k <= hi; k++ {
				e := expect
				if pattern == 'Z' {
					e = n / float64(k) / zipf
				}
				d := float64(got[k]) - e
				chi += d * d / e
				sum += float64(k * got[k])
				delete(got, k)
			}
			if len(got) > 0 {
				t.Errorf("%s: keys outside the range: %v", both, got)
			}
			switch mean := sum / n; pattern {
			case 'R', 'Z': // 99 degrees of freedom: 1 in 10^6 is above 180
				if chi > 180 {
					t.Errorf("%s: chi square %.0f", both, chi)
				}
			case 'S':
				if chi != 0 {
					t.Errorf("%s: not all keys equally often: %.0f", both, chi)
				}
			case 'G':
				if math.Abs(mean-150.5) > 0.5 || chi < 1e4 {
					t.Errorf("%s: mean %.2f, chi square from uniform %.0f", both, mean, chi)
				}
			}
		}
	}
	_, plan := planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:0", "--key-minimum=1", "--key-maximum=1000", "--key-pattern=G:G", "--key-stddev=10", "--key-median=300")
	far := 0
	for k, times := range indicesOf(t, plan.Clients[0].Source, n) {
		if k < 250 || k > 350 {
			far += times
		}
	}
	if far > n/1000 {
		t.Errorf("%d of %d keys are 5 deviations from the median", far, n)
	}
}

// T3: the parts of clients are disjoint, and together the whole; allkeys visits each key once.
func TestAllKeys(t *testing.T) {
	for _, c := range []struct{ threads, clients, lo, hi int }{{1, 1, 1, 9}, {2, 3, 1, 100}, {2, 2, 5, 8}, {4, 25, 1, 1234}, {1, 3, 10, 16}} {
		args := []string{
			fmt.Sprint("-t", c.threads), fmt.Sprint("-c", c.clients), fmt.Sprint("--key-minimum=", c.lo), fmt.Sprint("--key-maximum=", c.hi),
			"--key-pattern=P:P", "--requests=allkeys", "--key-prefix=",
		}
		for _, more := range [][]string{{"--ratio=1:0"}, {"--ratio=0:1"}} {
			_, plan := planned(t, append(slices.Clone(args), more...)...)
			seen := map[string]int{}
			for i := range plan.Clients {
				for _, l := range drain(plan.Clients[i].Source, 1e6) {
					seen[strings.Fields(l)[1]]++
				}
			}
			if len(seen) != c.hi-c.lo+1 {
				t.Errorf("%+v %s: %d keys of %d", c, more, len(seen), c.hi-c.lo+1)
			}
			for k, n := range seen {
				if n != 1 {
					t.Errorf("%+v %s: key %s %d times", c, more, k, n)
				}
			}
		}
	}
	for _, args := range [][]string{ // each client all keys
		{"--key-pattern=S:S", "--ratio=1:0"},
		{"--command=GET __key__", "--command-key-pattern=S"},
	} {
		_, plan := planned(t, append([]string{"-t1", "-c2", "--requests=allkeys", "--key-minimum=1", "--key-maximum=9"}, args...)...)
		for i := range plan.Clients {
			lines := drain(plan.Clients[i].Source, 1e6)
			if slices.Sort(lines); len(lines) != 9 || len(slices.Compact(lines)) != 9 {
				t.Errorf("%s: client %d: %v", args, i, lines)
			}
		}
	}
}

// T4: clients differ, a seed repeats, another does not; sizes do not shift keys; parts of a load are parts of the whole.
func TestSeeds(t *testing.T) {
	args := func(more ...string) []string {
		return append([]string{"-t2", "-c2", "-n200", "--ratio=1:1", "--random-data"}, more...)
	}
	all := func(more ...string) (out []string) {
		_, plan := planned(t, args(more...)...)
		for i := range plan.Clients {
			out = append(out, strings.Join(drain(plan.Clients[i].Source, 1e6), "\n"))
		}
		return out
	}
	base := all()
	for i := range base {
		for k := range i {
			if base[i] == base[k] {
				t.Errorf("clients %d and %d send the same", k, i)
			}
		}
	}
	for _, same := range [][]string{{}, {"--seed=1"}, {"--distinct-client-seed"}} {
		if !slices.Equal(base, all(same...)) {
			t.Errorf("%s: other requests than without", same)
		}
	}
	for _, other := range [][]string{{"--seed=2"}, {"--randomize"}} {
		got := all(other...)
		for i := range got {
			if got[i] == base[i] {
				t.Errorf("%s: client %d sends the same requests", other, i)
			}
		}
	}
	if a, b := all("--randomize"), all("--randomize"); slices.Equal(a, b) {
		t.Error("--randomize twice is the same")
	}
	names := func(more ...string) (keys []string) {
		_, plan := planned(t, args(more...)...)
		for {
			var op load.Op
			if !plan.Clients[0].Source.Next(&op) {
				return keys
			}
			keys = append(keys, string(op.Key))
		}
	}
	if !slices.Equal(names(), names("--data-size-range=1-100")) {
		t.Error("random sizes shift the keys")
	}

	p, _ := planned(t, args()...)
	var apart []string
	for part := range 2 {
		plan, err := p.plan(0, part, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Clients {
			apart = append(apart, strings.Join(drain(plan.Clients[i].Source, 1e6), "\n"))
		}
	}
	if whole := all("-c4"); !slices.Equal(whole, apart) {
		t.Error("two machines send something else than one with twice the clients")
	}
}

func TestExpiryRange(t *testing.T) {
	_, plan := planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:1", "--expiry-range=5-9")
	seen := map[uint32]int{}
	for range 10000 {
		var op load.Op
		plan.Clients[0].Source.Next(&op)
		if (op.Kind == load.Set) != (op.Expiry > 0) {
			t.Fatalf("%s", line(&op))
		}
		seen[op.Expiry]++
	}
	for _, s := range []uint32{5, 6, 7, 8, 9} {
		if seen[s] < 900 {
			t.Errorf("%d s came %d times of 5000", s, seen[s])
		}
	}
	if len(seen) != 6 {
		t.Errorf("times: %v", seen)
	}
}

func TestSizeRange(t *testing.T) {
	_, plan := planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:0", "--data-size-range=20-11")
	seen := map[int]int{}
	for range 10000 {
		var op load.Op
		plan.Clients[0].Source.Next(&op)
		seen[len(op.Value)]++
	}
	for n := 11; n <= 20; n++ {
		if seen[n] < 800 {
			t.Errorf("size %d came %d times of 10000", n, seen[n])
		}
	}
	if len(seen) != 10 {
		t.Errorf("sizes: %v", seen)
	}
}

// Values that are checked have sizes of their keys, in the proportions asked for, whoever sets them.
func TestSizesOfKeys(t *testing.T) {
	for _, c := range []struct {
		arg  string
		want map[int]float64
	}{
		{"--data-size-range=10-13", map[int]float64{10: 0.25, 11: 0.25, 12: 0.25, 13: 0.25}},
		{"--data-size-list=9:1,50:0,20:3", map[int]float64{9: 0.25, 20: 0.75}},
		{"--data-size=7", map[int]float64{7: 1}},
	} {
		_, plan := planned(t, "-t1", "-c2", "-n4000", "--ratio=1:0", "--key-maximum=1000", "--verify", c.arg)
		sizes, n := map[string]int{}, map[int]int{}
		for i := range plan.Clients {
			s := plan.Clients[i].Source
			for {
				var op load.Op
				if !s.Next(&op) {
					break
				}
				if old, ok := sizes[string(op.Key)]; !ok {
					sizes[string(op.Key)] = len(op.Value)
					n[len(op.Value)]++
				} else if old != len(op.Value) {
					t.Fatalf("%s: %s has %d bytes and %d", c.arg, op.Key, old, len(op.Value))
				}
				var index uint64
				fmt.Sscanf(string(op.Key), "memtier-%d", &index)
				if !s.(load.Checker).Check(index, op.Value) || s.(load.Checker).Check(index+1, op.Value) {
					t.Fatalf("%s: the check of %s is wrong", c.arg, op.Key)
				}
			}
		}
		for size, part := range c.want {
			if got := float64(n[size]) / float64(len(sizes)); math.Abs(got-part) > 0.05 {
				t.Errorf("%s: %g of the keys have %d bytes, not %g", c.arg, got, size, part)
			}
		}
		if len(n) != len(c.want) {
			t.Errorf("%s: %v", c.arg, n)
		}
	}
}

func TestWaits(t *testing.T) {
	_, plan := planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:1", "--wait-ratio=10:3", "--num-slaves=1-2", "--wait-timeout=100-200")
	slaves, sum, n, sets := map[int]int{}, 0, 0, 0
	for range 23000 {
		var op load.Op
		plan.Clients[0].Source.Next(&op)
		if op.Kind == load.Set {
			sets++
		}
		if op.Kind != load.Command {
			continue
		}
		var s, ms int
		if _, err := fmt.Sscanf(line(&op), "WAIT %d %d", &s, &ms); err != nil || ms < 100 || ms > 200 || op.Row != rowWait {
			t.Fatalf("%s, row %d: %v", line(&op), op.Row, err)
		}
		slaves[s]++
		sum += ms
		n++
	}
	if n != 3000 || sets != 10000 || slaves[1] < 1300 || slaves[2] < 1300 || math.Abs(float64(sum)/3000-150) > 2 {
		t.Errorf("%d waits, %d sets, slaves %v, mean timeout %d", n, sets, slaves, sum/max(n, 1))
	}
}

// Rates: that of each connection or of all together, first requests spread over an interval.
func TestRates(t *testing.T) {
	for _, c := range []struct {
		args []string
		want float64
	}{{[]string{"--rate-limiting=99"}, 99}, {[]string{"--rate=300"}, 50}, {nil, 0}} {
		_, plan := planned(t, append([]string{"-t2", "-c3"}, c.args...)...)
		for i := range plan.Clients {
			cl := &plan.Clients[i]
			if math.Abs(cl.Rate-c.want) > 1e-9 || math.Abs(cl.Phase-float64(i)/6) > 1e-9 {
				t.Errorf("%s: client %d: rate %g, phase %g", c.args, i, cl.Rate, cl.Phase)
			}
		}
	}
	p, _ := planned(t, "-t1", "-c3", "--rate=300")
	for part := range 2 {
		plan, err := p.plan(0, part, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Clients {
			if cl := &plan.Clients[i]; cl.Rate != 50 || math.Abs(cl.Phase-float64(3*part+i)/6) > 1e-9 {
				t.Errorf("part %d, client %d: rate %g, phase %g", part, i, cl.Rate, cl.Phase)
			}
		}
	}
}

func TestConnectionOptions(t *testing.T) {
	_, plan := planned(t, "-t1", "-c1", "--reconnect-interval=7", "--reconnect-on-error", "--max-reconnect-attempts=3", "--reconnect-backoff-factor=2", "--connection-timeout=4")
	if c := plan.Clients[0]; c.ReconnectEvery != 7 {
		t.Errorf("reconnects every %d", c.ReconnectEvery)
	}
	if want := (load.Retry{On: true, Most: 3, Factor: 2, Timeout: 4 * time.Second}); plan.Retry != want {
		t.Errorf("%+v", plan.Retry)
	}
}

// Connections of a thread come one after the other, with times between them that differ; in a staircase within each step.
func TestStarts(t *testing.T) {
	_, plan := planned(t, "-t2", "-c50", "-n1", "--thread-conn-start-min-jitter-micros=100", "--thread-conn-start-max-jitter-micros=200")
	gaps := map[time.Duration]bool{}
	for i := range plan.Clients {
		if i < 2 {
			if b := plan.Clients[i].Begin; b != 0 {
				t.Errorf("client %d begins at %v", i, b)
			}
			continue
		}
		d := plan.Clients[i].Begin - plan.Clients[i-2].Begin
		if d < 100*time.Microsecond || d > 200*time.Microsecond {
			t.Errorf("client %d begins %v after the one before", i, d)
		}
		gaps[d] = true
	}
	if len(gaps) < 40 {
		t.Errorf("%d different times between 98 clients", len(gaps))
	}
	_, plan = planned(t, "-t1", "-c5", "--test-time=10", "--clients-start=1", "--clients-step=2", "--step-duration=3", "--thread-conn-start-min-jitter-micros=100", "--thread-conn-start-max-jitter-micros=100")
	const step, jitter = 3 * time.Second, 100 * time.Microsecond
	for i, want := range []time.Duration{0, step, step + jitter, 2 * step, 2*step + jitter} {
		if got := plan.Clients[i].Begin; got != want {
			t.Errorf("client %d begins at %v, not %v", i, got, want)
		}
	}
	_, plan = planned(t, "-t1", "-c3", "-n1")
	for i := range plan.Clients {
		if b := plan.Clients[i].Begin; b != 0 {
			t.Errorf("client %d begins at %v", i, b)
		}
	}
}

// write makes a file.
func write(t testing.TB, name, text string) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), name)
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// Requests are made without allocation.
func TestSourcesDoNotAllocate(t *testing.T) {
	monitor := write(t, "monitor", `1.0 [0 a:1] "GET" "k"`+"\n"+`1.0 [0 a:1] "SET" "k" "v"`+"\n")
	file := write(t, "items.csv", itemsOf("a", "1", "b", "22", "c", "333"))
	for _, args := range [][]string{
		{"--ratio=1:1", "--expiry-range=1-9", "--data-size-range=1-100", "--random-data"},
		{"--ratio=1:1", "--verify"},
		{"--ratio=1:9", "--multi-key-get=4"},
		{"--ratio=1:1", "--wait-ratio=1:1", "--num-slaves=1-2", "--wait-timeout=1-9"},
		{"--command=SET __key__ __data__", "--command-ratio=3", "--command=MGET a__key__ __key__"},
		{"--command=__monitor_line@__", "--command=__monitor_line2__", "--monitor-input=" + monitor},
		{"--ratio=1:3", "--data-import=" + file, "--key-pattern=S:S"},
	} {
		_, plan := planned(t, append([]string{"-t1", "-c1", "--test-time=1"}, args...)...)
		s := plan.Clients[0].Source
		var op load.Op
		for range 20 {
			s.Next(&op)
		}
		n := testing.AllocsPerRun(1000, func() {
			op = load.Op{}
			s.Next(&op)
		})
		if slices.ContainsFunc(args, func(a string) bool { return strings.Contains(a, "import") }) {
			n = math.Floor(n / 4) // each reading of the file makes a reader
		}
		if n != 0 {
			t.Errorf("%s: %v allocations per request", args, n)
		}
	}
}
