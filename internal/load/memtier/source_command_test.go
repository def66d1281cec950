package memtier

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"godwit/internal/load"
)

// Sequences of commands are memtier_benchmark's, but that a key may come twice in a word.
func TestCommandSequences(t *testing.T) {
	monitor := write(t, "monitor", strings.Join([]string{
		"OK",
		`1.0 [0 127.0.0.1:1] "SET" "k1" "v1"`,
		`1.0 [0 127.0.0.1:1] "GET" "k1"`,
		`1.0 [0 127.0.0.1:1] "GET" "k`,
		`1.0 [0 127.0.0.1:1] "SET" "k2" "v\x41"`,
	}, "\n"))
	for _, c := range []struct {
		args []string
		want string
		rows string
	}{
		{[]string{"-n5", "--command=GET __key__", "--command-key-pattern=S"}, "GET k1, GET k2, GET k3, GET k4, GET k1", "GET"},
		{
			[]string{"-n8", "--command=SET __key__ __data__ EX 10", "--command-ratio=2", "--command-key-pattern=S", "--command=get a:__key__:b", "--command-key-pattern=S", "--command=PING"},
			"SET k1 xx EX 10, SET k2 xx EX 10, get a:k1:b, PING, SET k3 xx EX 10, SET k4 xx EX 10, get a:k2:b, PING", "SET GET PING",
		},
		{[]string{"-n2", "--command=MSET __key__ __data__ __key__ __data__", "--command-key-pattern=S"}, "MSET k1 xx k2 xx, MSET k3 xx k4 xx", "MSET"},
		{[]string{"-n2", "--command=SET __key__/__key__ __data__", "--command-key-pattern=S"}, "SET k1/k1 xx, SET k2/k2 xx", "SET"},
		{[]string{"-n3", `--command=ECHO "a\x41\n b"`}, "ECHO aA\n b, ECHO aA\n b, ECHO aA\n b", "ECHO"},
		{[]string{"-n2", "--command=GET a", "--command=GET b"}, "GET a, GET b", "GET GET"},
		{[]string{"-n5", "--command=__monitor_line@__", "--monitor-input=" + monitor}, "SET k1 v1, GET k1, SET k2 vA, SET k1 v1, GET k1", "SET GET"},
		{
			[]string{"-n5", "--command=__monitor_line@__", "--command-ratio=2", "--command=__monitor_line4__", "--monitor-input=" + monitor},
			"SET k1 v1, GET k1, SET k2 vA, SET k2 vA, SET k1 v1", "SET SET GET",
		},
		{[]string{"-nallkeys", "--command=SET __key__ __data__", "--command-key-pattern=P"}, "SET k1 xx, SET k2 xx, SET k3 xx, SET k4 xx", "SET"},
	} {
		_, plan := planned(t, append([]string{"-t1", "-c1", "--key-minimum=1", "--key-maximum=4", "-d2", "--key-prefix=k"}, c.args...)...)
		if got := strings.Join(drain(plan.Clients[0].Source, 100), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
		}
		if got := strings.Join(plan.Rows, " "); got != c.rows {
			t.Errorf("%s: rows %s, not %s", c.args, got, c.rows)
		}
	}
}

// Each command counts in its row.
func TestCommandRowsOfRequests(t *testing.T) {
	monitor := write(t, "monitor", `"SET" "k" "v"`+"\n"+`"GET" "k"`+"\n"+`"get" "k"`+"\n")
	for _, more := range []string{"", "--command-stats-breakdown=line"} {
		args := []string{"-t1", "-c1", "--test-time=1", "--command=__monitor_line@__", "--command-ratio=3", "--command=GET a", "--command=__monitor_line1__", "--monitor-input=" + monitor}
		if more != "" {
			args = append(args, more)
		}
		p, plan := planned(t, args...)
		for range 20 {
			var op load.Op
			plan.Clients[0].Source.Next(&op)
			verb := strings.ToUpper(string(op.Args[0]))
			if row := plan.Rows[op.Row]; row != verb && !strings.HasPrefix(row, verb+" #") {
				t.Errorf("%q: %s counts as %s", more, line(&op), row)
			}
		}
		if !p.o.ByLine && len(plan.Rows) != 4 {
			t.Errorf("rows %q", plan.Rows)
		}
	}
}

// Commands draw keys of their own, clients too; with P each client keeps to its part.
func TestCommandKeys(t *testing.T) {
	_, plan := planned(t, "-t1", "-c2", "-n1000", "--command=GET __key__", "--command=DEL __key__")
	seen := map[string]bool{}
	for i := range plan.Clients {
		var lists [2][]string
		for k, l := range drain(plan.Clients[i].Source, 1e6) {
			lists[k%2] = append(lists[k%2], strings.Fields(l)[1])
		}
		for k := range lists {
			all := strings.Join(lists[k], " ")
			if seen[all] {
				t.Errorf("client %d, command %d: the keys of another", i, k)
			}
			seen[all] = true
		}
	}
	_, plan = planned(t, "-t2", "-c2", "-n100", "--key-minimum=1", "--key-maximum=40", "--key-prefix=", "--command=GET __key__", "--command-key-pattern=P", "--command=PING", "--command=DEL __key__", "--command-key-pattern=P")
	for i := range plan.Clients {
		for _, l := range drain(plan.Clients[i].Source, 1e6) {
			var k int
			if _, err := fmt.Sscanf(l, "GET %d", &k); err == nil && (k-1)/10 != i {
				t.Errorf("client %d: %s", i, l)
			}
		}
	}
}

// The file of --monitor-input is replayed by all clients together; of several machines each takes its share.
func TestMonitorOrder(t *testing.T) {
	var b strings.Builder
	for i := range 100 {
		fmt.Fprintf(&b, "\"GET\" \"%d\"\n", i)
	}
	file := write(t, "monitor", b.String())
	args := []string{"-t2", "-c5", "-n10", "--command=__monitor_line@__", "--monitor-input=" + file}
	p, plan := planned(t, args...)
	var all []string
	for range 10 {
		for i := range plan.Clients {
			all = append(all, drain(plan.Clients[i].Source, 1)...)
		}
	}
	for i, l := range all {
		if want := fmt.Sprint("GET ", i); l != want {
			t.Fatalf("request %d is %s", i, l)
		}
	}
	all = all[:0]
	for part := range 2 {
		plan, err := p.plan(0, part, 2)
		if err != nil {
			t.Fatal(err)
		}
		for i := range plan.Clients {
			all = append(all, drain(plan.Clients[i].Source, 5)...)
		}
	}
	if slices.Sort(all); len(slices.Compact(all)) != 100 {
		t.Errorf("two machines replay %d of 100 commands", len(slices.Compact(all)))
	}
	_, plan = planned(t, append(args, "--monitor-pattern=R", "-n1000")...)
	seen := map[string]int{}
	for i := range plan.Clients {
		for _, l := range drain(plan.Clients[i].Source, 1e6) {
			seen[l]++
		}
	}
	for l, n := range seen {
		if n < 50 || n > 160 {
			t.Errorf("%s came %d times, not about 100", l, n)
		}
	}
	if len(seen) != 100 {
		t.Errorf("%d commands of 100", len(seen))
	}
}

// answer is that of a SCAN.
func answer(cursor string) *load.Reply {
	return &load.Reply{Value: fmt.Appendf(nil, "*2\r\n$%d\r\n%s\r\n*1\r\n$1\r\nk\r\n", len(cursor), cursor)}
}

func TestScan(t *testing.T) {
	for _, c := range []struct {
		most    string
		answers string
		want    string
	}{
		{"0", "60 25 0 7 0 0 0", "0 60 25 | 0 7 | 0 | 0 | 0"},
		{"2", "60 25 9 60 25 9", "0 60 25 | 0 60 25 | 0"},
		{"2", "60 0 60 25 9", "0 60 | 0 60 25 | 0"},
		{"0", "60 - 60 !", "0 60 | 0 60 | 0"},                         // an error, and nothing that is a cursor: from the start
		{"0", "60 x 60 25", "0 60 | 0 60 25"},                         // no answer: the connection was lost
		{"0", "18446744073709551615 0", "0 18446744073709551615 | 0"}, // cursors have 64 bits
	} {
		_, plan := planned(t, "-t1", "-c1", "-n100", "--scan-incremental-iteration", "--scan-incremental-max-iterations="+c.most, "--command=SCAN 0 COUNT 10")
		s := plan.Clients[0].Source.(load.Feedback)
		var got strings.Builder
		ask := func() {
			var op load.Op
			if !s.Next(&op) || len(op.Args) != 4 || string(op.Args[3]) != "10" {
				t.Fatalf("%s", line(&op))
			}
			if op.Row == 0 && got.Len() > 0 {
				got.WriteString(" |")
			}
			if got.Len() > 0 {
				got.WriteByte(' ')
			}
			got.Write(op.Args[1])
		}
		for _, a := range strings.Fields(c.answers) {
			ask()
			switch a {
			case "-":
				s.Done(&load.Reply{Status: load.Failed, Text: []byte("ERR")})
			case "!":
				s.Done(&load.Reply{Value: []byte("OK")})
			case "x":
			default:
				s.Done(answer(a))
			}
		}
		ask()
		if got.String() != c.want {
			t.Errorf("%s, most %s: %s, not %s", c.answers, c.most, got.String(), c.want)
		}
		if want := []string{"SCAN 0", "SCAN <cursor>"}; !slices.Equal(plan.Rows, want) {
			t.Errorf("rows %q", plan.Rows)
		}
	}
}
