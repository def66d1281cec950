// Package deps holds the rules on who may import whom as a test. The rows come from docs/architecture.md.
package deps

import (
	"bufio"
	"go/parser"
	"go/token"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

const (
	module   = "godwit/"
	internal = module + "internal/"
)

// bans are rules beside the rows: from (a package or, ending with a slash, all below) must not import to.
var bans = []struct{ from, to, reason string }{
	{"internal/store", "internal/proto/", "the engine knows no protocol"},
	{"internal/store", "internal/command/", "the engine knows no commands"},
	{"internal/store", "internal/netloop", "the engine knows no sockets"},
	{"internal/netloop", "internal/proto/", "the network moves bytes of any protocol, so that it can be run and timed by itself"},
	{"internal/proto/", "internal/store", "a parser touches no items, so that both ends of the wire and fuzzers can use it"},
	{"internal/proto/", "internal/netloop", "a parser takes slices, so that every driver and fuzzer can call it"},
	{"internal/study", "internal/server", "what is measured is seen from outside only"},
	{"internal/study", "internal/store", "what is measured is seen from outside only"},
	{"internal/load/", "internal/store", "what is measured is seen from outside only"},
	{"internal/load/", "internal/server", "what is measured is seen from outside only"},
	{"internal/report", "internal/store", "a report knows raw results, and nothing that made them"},
	{"internal/report", "internal/server", "a report knows raw results, and nothing that made them"},
	{"internal/report", "internal/study", "a report knows raw results, and nothing that made them"},
	{"internal/report", "internal/load/drive", "a report knows raw results, and nothing that made them"},
	{"internal/load/", "internal/store", "a benchmark must not see the inside of what it measures"},
	{"internal/load/", "internal/server", "a benchmark must not see the inside of what it measures"},
	{"internal/load/", "internal/command/", "a benchmark must not see the inside of what it measures"},
	{"internal/clock", "internal/", "leaves are usable everywhere"},
	{"internal/bytesx", "internal/", "leaves are usable everywhere"},
	{"internal/stats", "internal/", "leaves are usable everywhere"},
	{"internal/invariant", "internal/", "leaves are usable everywhere"},
}

// unsafeIn are the files that may import unsafe: memory outside the Go heap and system calls, and nothing else.
var unsafeIn = []*regexp.Regexp{
	regexp.MustCompile(`^internal/(mem|index|log|store)/[^/]+\.go$`),
	regexp.MustCompile(`^internal/netloop/[^/]*_linux(_[a-z0-9]+)?\.go$`),
	regexp.MustCompile(`^internal/netloop/[^/]*_linux_test\.go$`),
}

type source struct {
	file, pkg string // both relative to the module
	imports   []string
	test      bool
}

func root(t *testing.T) string {
	dir, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

func sources(t *testing.T) (out []source) {
	top := root(t)
	for _, dir := range []string{"internal", "cmd"} {
		err := filepath.WalkDir(filepath.Join(top, dir), func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() && d.Name() == "testdata" {
				return cmpErr(err, fs.SkipDir)
			}
			if d.IsDir() || !strings.HasSuffix(name, ".go") {
				return nil
			}
			f, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ImportsOnly)
			if err != nil {
				return err
			}
			rel, _ := filepath.Rel(top, name)
			rel = filepath.ToSlash(rel)
			s := source{file: rel, pkg: path.Dir(rel), test: strings.HasSuffix(name, "_test.go")}
			for _, im := range f.Imports {
				p, _ := strconv.Unquote(im.Path.Value)
				s.imports = append(s.imports, p)
			}
			out = append(out, s)
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	return out
}

func cmpErr(err, other error) error {
	if err != nil {
		return err
	}
	return other
}

// rows reads "| 3 | `store` – … |" from docs/architecture.md.
func rows(t *testing.T) map[string]int {
	f, err := os.Open(filepath.Join(root(t), "docs", "architecture.md"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	line := regexp.MustCompile(`^\| (\d+) \|(.*)\|`)
	name := regexp.MustCompile("`([a-z0-9/]+)`")
	out := map[string]int{}
	for sc := bufio.NewScanner(f); sc.Scan(); {
		m := line.FindStringSubmatch(sc.Text())
		if m == nil {
			continue
		}
		row, _ := strconv.Atoi(m[1])
		list, _, _ := strings.Cut(m[2], "–") // packages stand before the dash, prose behind it
		for _, n := range name.FindAllStringSubmatch(list, -1) {
			pkg := n[1]
			if !strings.HasPrefix(pkg, "cmd/") {
				pkg = "internal/" + pkg
			}
			out[pkg] = row
		}
	}
	if len(out) < 10 {
		t.Fatalf("docs/architecture.md: only %d packages found in the table of rows", len(out))
	}
	return out
}

// rowOf is the row of a package, or of the package it is a part of (internal/netloop/echo belongs to internal/netloop).
func rowOf(rows map[string]int, pkg string) (int, string, bool) {
	for p := pkg; p != "." && p != "internal" && p != "cmd"; p = path.Dir(p) {
		if r, ok := rows[p]; ok {
			return r, p, true
		}
	}
	return 0, "", false
}

func TestRows(t *testing.T) {
	rows := rows(t)
	for _, s := range sources(t) {
		row, owner, ok := rowOf(rows, s.pkg)
		if !ok {
			t.Errorf("%s: package %s is in no row of docs/architecture.md", s.file, s.pkg)
			continue
		}
		if s.test {
			continue // tests may reach up to drive what they test
		}
		for _, im := range s.imports {
			to, ours := strings.CutPrefix(im, module)
			if !ours {
				continue
			}
			above, target, ok := rowOf(rows, to)
			if ok && target != owner && above >= row && !(row == 7 && above == 7) { // cmd/godwit calls cli
				t.Errorf("%s imports %s: row %d must import lower rows only, and that is row %d (docs/architecture.md); "+
					"what is shared belongs below both", s.file, im, row, above)
			}
		}
	}
}

func TestBans(t *testing.T) {
	in := func(pkg, rule string) bool {
		return pkg == rule || strings.HasSuffix(rule, "/") && strings.HasPrefix(pkg+"/", rule)
	}
	for _, s := range sources(t) {
		for _, b := range bans {
			if s.test || !in(s.pkg, b.from) {
				continue
			}
			for _, im := range s.imports {
				if to, ours := strings.CutPrefix(im, module); ours && in(to, b.to) {
					t.Errorf("%s imports %s: %s", s.file, im, b.reason)
				}
			}
		}
	}
}

func TestUnsafe(t *testing.T) {
	for _, s := range sources(t) {
		if !slices.Contains(s.imports, "unsafe") {
			continue
		}
		if !slices.ContainsFunc(unsafeIn, func(r *regexp.Regexp) bool { return r.MatchString(s.file) }) {
			t.Errorf("%s imports unsafe: only memory outside the Go heap (mem, index, log, store) and the system calls of "+
				"netloop may", s.file)
		}
	}
}
