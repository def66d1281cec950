package memtier

import (
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/internal/load"
)

const importHead = "dumpflags, time, exptime, nbytes, nsuffix, it_flags, clsid, nkey, key, data\n"

// itemsOf makes a file of keys and values without expiry.
func itemsOf(list ...string) string {
	var b strings.Builder
	b.WriteString(importHead)
	for i := 0; i < len(list); i += 2 {
		fmt.Fprintf(&b, "0, 0, 0, %d, 1, 0, 1, %d, %s, %s\n", len(list[i+1])+2, len(list[i]), list[i], list[i+1])
	}
	return b.String()
}

func TestImportSequences(t *testing.T) {
	now := time.Now().Unix()
	file := write(t, "items.csv", importHead+
		"0, 0, 0, 5, 3, 0, 1, 2, k1, abc\n"+
		"5, 0, 100, 6, 3, 7, 1, 2, k2, abcd\n"+
		fmt.Sprintf("0, 0, %d, 4, 3, 0, 1, 2, k3, ab\n", now+1000)+
		"0, 0, 1000000000, 3, 3, 0, 1, 2, k4, a\n")
	abs := fmt.Sprint(now + 1000)
	for _, c := range []struct{ args, want string }{
		{"-n6 --ratio=1:0 --no-expiry", "set k1 abc, set k2 abcd, set k3 ab, set k4 a, set k1 abc, set k2 abcd"},
		{"-n6 --ratio=1:1 --key-pattern=S:S --no-expiry", "set k1 abc, get k1, set k2 abcd, get k2, set k3 ab, get k3"},
		{"-n5 --ratio=0:1 --key-pattern=S:S", "get k1, get k2, get k3, get k4, get k1"},
		{"-n4 --ratio=1:0 -P memcache_text", "set k1 abc, set k2 abcd ex 100, set k3 ab ex " + abs + ", set k4 a ex 1000000000"},
		{"-n4 --ratio=1:0", "set k1 abc, set k2 abcd ex 100, set k3 ab ex 1000, set k4 a ex 1"},
		{"-n2 --ratio=1:0 --expiry-range=9-9", "set k1 abc ex 9, set k2 abcd ex 9"},
		{"-n2 --ratio=1:0 --expiry-range=9-9 --no-expiry", "set k1 abc ex 9, set k2 abcd ex 9"},
		{
			"-n6 --ratio=1:1 --key-pattern=S:S --generate-keys --key-minimum=1 --key-maximum=2 --key-prefix=g --no-expiry",
			"set g1 abc, get g1, set g2 abcd, get g2, set g1 ab, get g1",
		},
		{"-n2 --ratio=0:3 --key-pattern=S:S --multi-key-get=2 -P memcache_text", "get k1 k2, get k3"},
		{"-nallkeys --ratio=1:0 --key-pattern=P:P --no-expiry", "set k1 abc, set k2 abcd, set k3 ab, set k4 a"},
	} {
		p, plan := planned(t, append([]string{"-t1", "-c1", "--data-import=" + file}, strings.Fields(c.args)...)...)
		p.imported.now = func() time.Time { return time.Unix(now, 0) }
		if got := strings.Join(drain(plan.Clients[0].Source, 100), ", "); got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.args, got, c.want)
		}
	}
}

// Clients take the items each on its own, with pattern P each its part, again and again.
func TestImportParts(t *testing.T) {
	file := write(t, "items.csv", itemsOf("k0", "a", "k1", "b", "k2", "c", "k3", "d", "k4", "e"))
	for _, c := range []struct {
		pattern string
		want    []string
	}{
		{"S:S", []string{"k0 k1 k2 k3 k4 k0 k1", "k0 k1 k2 k3 k4 k0 k1"}},
		{"P:P", []string{"k0 k1 k2 k0 k1 k2 k0", "k3 k4 k3 k4 k3 k4 k3"}},
	} {
		_, plan := planned(t, "-t1", "-c2", "-n7", "--ratio=1:0", "--data-import="+file, "--key-pattern="+c.pattern)
		for i := range plan.Clients {
			var got []string
			for _, l := range drain(plan.Clients[i].Source, 100) {
				got = append(got, strings.Fields(l)[1])
			}
			if s := strings.Join(got, " "); s != c.want[i] {
				t.Errorf("%s: client %d sets %s, not %s", c.pattern, i, s, c.want[i])
			}
		}
	}
	// Parts of a file whose items have many lines and lengths.
	var list []string
	for i := range 1000 {
		list = append(list, fmt.Sprint("k", i), strings.Repeat("line\n", i%7)+fmt.Sprint(i))
	}
	file2 := write(t, "items2.csv", itemsOf(list...))
	_, plan := planned(t, "-t3", "-c5", "-nallkeys", "--ratio=1:0", "--data-import="+file2, "--key-pattern=P:P")
	n := 0
	for i := range plan.Clients {
		for _, l := range drain(plan.Clients[i].Source, 1e6) {
			if want := fmt.Sprintf("set k%d %s", n, list[2*n+1]); l != want {
				t.Fatalf("client %d: %q, not %q", i, l, want)
			}
			n++
		}
	}
	if n != 1000 {
		t.Errorf("%d sets of 1000 items", n)
	}
	// Gets reach all keys of the file and none beyond.
	_, plan = planned(t, "-t1", "-c1", "-n500", "--ratio=0:1", "--data-import="+file)
	seen := drain(plan.Clients[0].Source, 1000)
	if slices.Sort(seen); strings.Join(slices.Compact(seen), " ") != "get k0 get k1 get k2 get k3 get k4" {
		t.Errorf("%q", slices.Compact(seen))
	}
}

// A file that changes under the run ends its clients with an error.
func TestImportFileThatChanges(t *testing.T) {
	for i, text := range []string{"", importHead, importHead + "nonsense\n", importHead} {
		path := write(t, "items.csv", itemsOf("k0", "a", "k1", "b"))
		p, plan := planned(t, "-t1", "-c2", "-n10", "--ratio=1:0", "--data-import="+path, "--key-pattern=P:P")
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := drain(plan.Clients[i/3].Source, 100); len(got) != 0 {
			t.Errorf("%q: %v", text, got)
		}
		if err := p.imported.failure(); err == nil || !strings.Contains(err.Error(), "--data-import") {
			t.Errorf("%q: %v", text, err)
		}
	}
}

var _ load.Source = (*ratioSource)(nil)
