package compat

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestTool reads stats items and stats slabs as memcached-tool's display does, and expects what that needs of each class.
func TestTool(t *testing.T) {
	addr := start(t, godwit)
	busy(t, addr)
	c := dial(t, addr)
	row := regexp.MustCompile(`^STAT (?:items:)?(\d+):(\w+) (\d+)$`)
	classes := map[int]map[string]int{}
	for _, cmd := range []string{"stats items", "stats slabs"} {
		for _, line := range c.lines(cmd) {
			m := row.FindStringSubmatch(line)
			if m == nil {
				if !strings.HasPrefix(line, "STAT active_slabs ") && !strings.HasPrefix(line, "STAT total_malloced ") {
					t.Errorf("%s: %q", cmd, line)
				}
				continue
			}
			class, _ := strconv.Atoi(m[1])
			n, _ := strconv.Atoi(m[3])
			if classes[class] == nil {
				classes[class] = map[string]int{}
			}
			classes[class][m[2]] = n
		}
	}
	items := 0
	for class, v := range classes {
		for _, name := range []string{
			"chunk_size", "chunks_per_page", "total_pages", "total_chunks", "used_chunks", "free_chunks", "free_chunks_end", "number",
			"age", "evicted", "evicted_time", "outofmemory", "mem_requested",
		} {
			if _, ok := v[name]; !ok {
				t.Errorf("class %d has no %s", class, name)
			}
		}
		items += v["number"]
		if v["total_chunks"] != v["total_pages"]*v["chunks_per_page"] || v["used_chunks"]+v["free_chunks"] != v["total_chunks"] {
			t.Errorf("class %d: chunks do not add up: %v", class, v)
		}
		if v["number"] > v["used_chunks"] || v["mem_requested"] > v["used_chunks"]*v["chunk_size"] {
			t.Errorf("class %d: items do not fit their chunks: %v", class, v)
		}
	}
	if items != 201 {
		t.Errorf("%d items over all classes, want 201", items)
	}
}

// TestNames compares the names of statistics with those of the memcached that is installed: nothing that it has may be
// missing.
func TestNames(t *testing.T) {
	theirs, ours := start(t, memcached(t)), start(t, godwit)
	busy(t, theirs)
	busy(t, ours)
	a, b := dial(t, theirs), dial(t, ours)
	for _, cmd := range []string{"stats", "stats settings", "stats items", "stats slabs"} {
		got := names(b.lines(cmd))
		for _, name := range names(a.lines(cmd)) {
			if !slices.Contains(got, name) && !gone[name] {
				t.Errorf("%s: %s is missing", cmd, name)
			}
		}
	}
}

// gone are statistics that memcached had before 1.6.45, which is what godwit equals.
var gone = map[string]bool{"slab_reassign_evictions_nomem": true}

func names(lines []string) (out []string) {
	for _, l := range lines {
		out = append(out, strings.Fields(l)[1])
	}
	return out
}
