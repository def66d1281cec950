package route

import (
	"crypto/tls"
	"strings"
	"testing"

	"godwit/internal/load"
	"godwit/internal/proto/resp"
)

func parseText(t testing.TB, text string) (*Topology, error) {
	t.Helper()
	text = strings.ReplaceAll(text, " ", "\r\n")
	var v resp.Value
	if n, err := resp.Parse([]byte(text), &v); err != nil || n != len(text) {
		t.Fatalf("%q: %d, %v", text, n, err)
	}
	return parseSlots(&v, "seed")
}

const (
	redis6 = "*2 *4 :0 :8191 *3 $9 127.0.0.1 :7000 $2 m1 *3 $9 127.0.0.1 :7002 $2 r1 " +
		"*3 :8192 :16383 *3 $0  :7001 $2 m2 "
	redis7 = "*2 *4 :0 :8191 *4 $3 ::1 :7000 $2 m1 *2 $8 hostname $1 h *4 $-1 :7002 $2 r1 *0 " +
		"*3 :8192 :16383 *4 $5 where :7001 $2 m2 *2 $2 ip $7 1.2.3.4 "
	resp3 = "*1 *3 :0 :16383 *4 _ :7000 $2 m1 %1 $2 ip $7 1.2.3.4 "
	old   = "*2 *3 :0 :100 *2 $1 a :1 *4 :101 :16383 *2 $1 b :1 *2 $1 a :1 "
)

func TestParseSlots(t *testing.T) {
	for _, c := range []struct {
		name, text string
		nodes      string
		owners     [3]int // of slots 0, 8192, 16383
	}{
		{"redis 6", redis6, "127.0.0.1:7000 127.0.0.1:7002* seed:7001", [3]int{0, 2, 2}},
		{"redis 7", redis7, "::1:7000 seed:7002* where:7001", [3]int{0, 2, 2}},
		{"resp 3", resp3, "seed:7000", [3]int{0, 0, 0}},
		{"old", old, "a:1 b:1", [3]int{0, 1, 1}},
	} {
		top, err := parseText(t, c.text)
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		var names []string
		for i := range top.Nodes {
			n := top.Nodes[i].name()
			if top.Nodes[i].Replica {
				n += "*"
			}
			names = append(names, n)
		}
		if got := strings.Join(names, " "); got != c.nodes {
			t.Errorf("%s: %s, want %s", c.name, got, c.nodes)
		}
		if got := [3]int{top.Owner(0), top.Owner(8192), top.Owner(16383)}; got != c.owners {
			t.Errorf("%s: owners %v, want %v", c.name, got, c.owners)
		}
		if none := top.uncovered(); none != "" {
			t.Errorf("%s: uncovered: %s", c.name, none)
		}
	}
	if top, err := parseText(t, "*1 *3 :5 :16383 *2 $1 a :1 "); err != nil || top.uncovered() != "5 slots, of which 0 is the first" {
		t.Errorf("%v %v", top, err)
	}
}

func TestParseSlotsRefuses(t *testing.T) {
	for text, want := range map[string]string{
		"-ERR\xa0no ":                           "no",
		"$1 a ":                                 "not what it should be",
		"*1 *2 :0 :1 ":                          "not what it should be",
		"*1 *3 :1 :0 *2 $1 a :1 ":               "not what it should be",
		"*1 *3 :0 :16384 *2 $1 a :1 ":           "not what it should be",
		"*1 *3 :-1 :3 *2 $1 a :1 ":              "not what it should be",
		"*1 *3 :0 :1 *1 $1 a ":                  "not what it should be",
		"*1 *3 :0 :1 *2 $1 a :0 ":               "port 0",
		"*1 *3 :0 :1 *3 $1 ? :7000 $4 1234 ":    "node 1234 at port 7000",
		"*1 *3 :0 :1 *3 :1 :7000 $4 1234 ":      "not what it should be",
		"*1 *3 :0 :1 *3 $1 a :7000 *0 ":         "not what it should be",
		"*1 *3 :0 :1 *3 $1 a $4 7000 $4 1234 ":  "not what it should be",
		"*1 *4 :0 :1 *2 $1 a :1 *2 $1 ? :9 ":    "port 9",
		"*2 *3 :0 :1 *2 $1 a :1 *3 :0 :1 $1 a ": "not what it should be",
	} {
		if _, err := parseText(t, text); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

func TestTargets(t *testing.T) {
	top, err := parseText(t, redis7)
	if err != nil {
		t.Fatal(err)
	}
	seed := &load.Target{Network: "tcp", Address: "seed:1", TLS: &tls.Config{ServerName: "seed"}, Prologue: []load.Greeting{{Name: "x"}}}
	got := top.Targets(seed)
	for i, want := range []string{"[::1]:7000 ::1", "seed:7002 seed", "where:7001 where"} {
		if s := got[i].Address + " " + got[i].TLS.ServerName; s != want || len(got[i].Prologue) != 1 {
			t.Errorf("%s, want %s", s, want)
		}
	}
	seed.TLS.ServerName = "other"
	if got := top.Targets(seed); got[0].TLS.ServerName != "other" {
		t.Errorf("server name %q", got[0].TLS.ServerName)
	}
}

func TestRedirectTexts(t *testing.T) {
	top, err := parseText(t, redis7)
	if err != nil {
		t.Fatal(err)
	}
	c := NewCluster(top)
	for text, want := range map[string][2]int{
		"MOVED 1 ::1:7000":      {1, 0},
		"ASK 16383 where:7001":  {16383, 2},
		"MOVED 0 :7002":         {0, 1}, // the host of the node that says so: seed
		"MOVED 7 where:7001 xy": {7, 2},
	} {
		slot, to, err := c.redirect([]byte(text), 1)
		if err != nil || slot != want[0] || int(to) != want[1] {
			t.Errorf("%q: %d %d %v", text, slot, to, err)
		}
	}
	for text, want := range map[string]string{
		"MOVED":                             "no slot",
		"MOVED x a:1":                       "no slot",
		"MOVED 16384 where:7001":            "no slot",
		"MOVED 99999999999999999999 a:7001": "no slot",
		"MOVED 1 10.0.0.9:7000":             `no node "10.0.0.9:7000"`,
		"MOVED 1 ?:7000":                    `no node "?:7000"`,
		"ASK 1":                             `no node ""`,
	} {
		if _, _, err := c.redirect([]byte(text), 1); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// A view follows what nodes say, and keeps to nodes that it knows.
func TestLearn(t *testing.T) {
	top, _ := parseText(t, redis6)
	c := NewCluster(top)
	answer := func(s string) []byte { return []byte(strings.ReplaceAll(s, " ", "\r\n")) }
	if err := c.learn(answer("*2 *3 :0 :99 *2 $9 127.0.0.1 :7002 *4 :100 :199 *2 $3 new :1 *2 $9 127.0.0.1 :7000 "), 0); err != nil {
		t.Fatal(err)
	}
	v := c.view.Load()
	if v.owner[0] != 1 || v.owner[99] != 1 || v.owner[100] != 0 || v.owner[9000] != 2 || !v.masters[1] {
		t.Errorf("owners %d %d %d %d, masters %v", v.owner[0], v.owner[99], v.owner[100], v.owner[9000], v.masters)
	}
	if err := c.learn(answer("*2 *3 :0 :99 *2 $1 ? :7002 "), 0); err == nil {
		t.Error("an answer that is not complete is taken")
	}
	if c.view.Load() != v {
		t.Error("the view changed")
	}
	c.moved(0, 1)
	if c.view.Load() != v || c.stale.Load() {
		t.Error("what was known is news")
	}
	c.moved(0, 2)
	if got := c.view.Load(); got == v || got.owner[0] != 2 || v.owner[0] != 1 || !c.stale.Load() {
		t.Error("news are not noted")
	}
}

// FuzzSlots reads answers to CLUSTER SLOTS: whatever they say, a topology is consistent.
func FuzzSlots(f *testing.F) {
	for _, s := range []string{redis6, redis7, resp3, old, "*1 *3 :0 :1 *3 $1 ? :7000 $4 1234 "} {
		f.Add([]byte(strings.ReplaceAll(s, " ", "\r\n")))
	}
	f.Fuzz(func(t *testing.T, in []byte) {
		var v resp.Value
		if n, err := resp.Parse(in, &v); n == 0 || err != nil {
			return
		}
		top, err := parseSlots(&v, "seed")
		if err != nil {
			return
		}
		names := map[string]bool{}
		for i := range top.Nodes {
			n := &top.Nodes[i]
			if n.Host == "" || n.Host == "?" || n.Port < 1 || n.Port > 65535 || names[n.name()] {
				t.Fatalf("node %+v", *n)
			}
			names[n.name()] = true
		}
		for s := range Slots {
			if o := top.Owner(s); o >= len(top.Nodes) || o >= 0 && top.Nodes[o].Replica {
				t.Fatalf("slot %d: owner %d of %d", s, o, len(top.Nodes))
			}
		}
		for i, list := range top.replicas {
			for _, r := range list {
				if int(r) >= len(top.Nodes) || int(r) == i {
					t.Fatalf("node %d has replica %d", i, r)
				}
			}
		}
		c := NewCluster(top)
		if len(top.Nodes) > 0 {
			if err := c.learn(in, 0); err != nil && top.Nodes[0].Host == "seed" {
				t.Fatal(err)
			}
		}
	})
}
