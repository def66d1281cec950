package memtier

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"godwit/internal/load"
)

// The claims are those of a slow twin that makes the requests and notes the last value of each client.
func TestClaims(t *testing.T) {
	var list []string
	for i := range 7 {
		list = append(list, fmt.Sprint("k", i%5), fmt.Sprint("v", i)) // k0 and k1 come twice
	}
	file := write(t, "items.csv", itemsOf(list...))
	for _, args := range []string{
		"-n1", "-n3", "-n7", "-n8", "-n20", "--ratio=2:3 -n11", "--ratio=0:1 -n5", "-n5 --key-pattern=P:P", "-nallkeys --key-pattern=P:P", "--ratio=1:2 -n30 --key-pattern=P:P",
		"-n20 --generate-keys --key-minimum=1 --key-maximum=9", "-n20 --generate-keys --key-minimum=1 --key-maximum=9 --key-pattern=S:S",
		"-n3 --generate-keys --key-minimum=1 --key-maximum=9 --key-pattern=P:P", "-n9 --wait-ratio=2:1 --num-slaves=1-1 --wait-timeout=1-1",
		"-n7 --ratio=1:4 --multi-key-get=3",
	} {
		all := append([]string{"-t1", "-c3", "--data-import=" + file, "--ratio=1:0", "--data-verify"}, strings.Fields(args)...)
		p, plan := planned(t, all...)
		want := map[string]map[string]bool{}
		for i := range plan.Clients {
			last := map[string]string{}
			for {
				var op load.Op
				if !plan.Clients[i].Source.Next(&op) {
					break
				}
				if op.Kind == load.Set {
					last[string(op.Key)] = string(op.Value)
				}
			}
			for k, v := range last {
				if want[k] == nil {
					want[k] = map[string]bool{}
				}
				want[k][v] = true
			}
		}
		got := func(p *planner) map[string]map[string]bool {
			claims, err := p.claims(7)
			if err != nil {
				t.Fatal(err)
			}
			s := &verifySource{p: p, claims: claims}
			got := map[string]map[string]bool{}
			for _, c := range claims {
				k := string(s.name(nil, c.id))
				if got[k] == nil {
					got[k] = map[string]bool{}
				}
				got[k][list[2*c.item+1]] = true
			}
			if n := len(got); int(s.keys()) != n {
				t.Errorf("%s: %d keys, counted %d", args, n, s.keys())
			}
			return got
		}
		same := func(a, b map[string]map[string]bool) bool { return maps.EqualFunc(a, b, maps.Equal) }
		if have := got(p); !same(have, want) {
			t.Errorf("%s:\n got %v\nwant %v", args, have, want)
		}
		// --verify-only comes to the same without making the requests.
		p, _ = planned(t, all...)
		if err := p.pretend(); err != nil {
			t.Fatal(err)
		}
		if have := got(p); !same(have, want) {
			t.Errorf("%s --verify-only:\n got %v\nwant %v", args, have, want)
		}
	}
}

// What is read is compared with all values that the key may have.
func TestVerifySource(t *testing.T) {
	file := write(t, "items.csv", itemsOf("a", "1", "b", "2", "a", "3", "c", "4"))
	p, _ := planned(t, "-t1", "-c1", "-n4", "--ratio=1:0", "--data-verify", "--data-import="+file)
	if err := p.pretend(); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		values []string
		good   uint64
	}{
		{[]string{"3", "2", "4"}, 3},
		{[]string{"1", "2", "4"}, 2}, // the last value of a is 3
		{[]string{"3", "", "44"}, 1},
		{[]string{"3", "2"}, 2}, // and no more answers
	} {
		s := &verifySource{p: p}
		var err error
		if s.sums, err = p.sums(); err != nil {
			t.Fatal(err)
		}
		if s.claims, err = p.claims(len(s.sums)); err != nil {
			t.Fatal(err)
		}
		if got := drain(s, 100); !slices.Equal(got, []string{"get a", "get b", "get c"}) {
			t.Fatalf("%q", got)
		}
		for _, v := range c.values {
			r := &load.Reply{Value: []byte(v), Hits: 1}
			if v == "" {
				r.Hits, r.Misses = 0, 1
			}
			s.Done(r)
		}
		if s.good != c.good || s.keys() != 3 {
			t.Errorf("%q: %d good of %d", c.values, s.good, s.keys())
		}
		if len(s.wrong) != len(c.values)-int(c.good) {
			t.Errorf("%q: %q", c.values, s.wrong)
		}
	}
}

// Sets that are not ours can be told from the options, unless time or chance has decided about them.
func TestPretend(t *testing.T) {
	file := write(t, "items.csv", itemsOf("a", "1", "b", "2"))
	p, _ := planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:0", "--verify-only", "--data-import="+file)
	if err := p.pretend(); err != nil {
		t.Errorf("a file is set as a whole: %v", err)
	}
	if claims, err := p.claims(2); err != nil || len(claims) != 2 {
		t.Errorf("%v, %v", claims, err)
	}
	p, _ = planned(t, "-t1", "-c1", "--test-time=1", "--ratio=1:0", "--verify-only", "--data-import="+file, "--generate-keys")
	if err := p.pretend(); err == nil || !strings.Contains(err.Error(), "--requests") {
		t.Errorf("%v", err)
	}
	p, _ = planned(t, "-t1", "-c1", "-n1", "--ratio=1:0", "--verify-only", "--data-import="+file, "--generate-keys", "--randomize")
	if err := p.pretend(); err == nil || !strings.Contains(err.Error(), "--seed") {
		t.Errorf("%v", err)
	}
	p, _ = planned(t, "-t1", "-c2", "-n1", "--ratio=1:0", "--data-verify", "--data-import="+file, "--key-pattern=P:P")
	p.o.Agents = []string{"a:1", "b:1"}
	if err := p.pretend(); err == nil {
		t.Error("four clients share two keys")
	}
	p.o.SetPattern, p.o.GetPattern = 'S', 'S'
	if err := p.pretend(); err != nil || len(p.writers) != 4 {
		t.Errorf("%d writers on two machines: %v", len(p.writers), err)
	}
}
