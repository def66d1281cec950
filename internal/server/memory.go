package server

import (
	"bytes"
	"math"
	"os"
	"path/filepath"
	"strconv"
	"strings"
)

// UsableMemory is what this process may use: the machine's memory or, if that is less, the limit of the control group
// it runs in or of one above. 0 if unknown. root is "/", or a directory with copies of /proc and /sys in tests.
func UsableMemory(root string) int64 {
	least := int64(math.MaxInt64)
	if data, err := os.ReadFile(filepath.Join(root, "proc/meminfo")); err == nil {
		for line := range bytes.Lines(data) {
			var kb int64
			if f := strings.Fields(string(line)); len(f) >= 2 && f[0] == "MemTotal:" {
				kb, _ = strconv.ParseInt(f[1], 10, 64)
				least = min(least, kb<<10)
			}
		}
	}
	groups, _ := os.ReadFile(filepath.Join(root, "proc/self/cgroup"))
	for line := range bytes.Lines(groups) {
		// "0::/path" is version 2, "N:memory:/path" version 1.
		f := strings.SplitN(strings.TrimSpace(string(line)), ":", 3)
		if len(f) != 3 {
			continue
		}
		base, file := "sys/fs/cgroup", "memory.max"
		if f[1] != "" {
			if !strings.Contains(","+f[1]+",", ",memory,") {
				continue
			}
			base, file = "sys/fs/cgroup/memory", "memory.limit_in_bytes"
		}
		for path := f[2]; ; path = filepath.Dir(path) {
			data, err := os.ReadFile(filepath.Join(root, base, path, file))
			if n, bad := strconv.ParseInt(strings.TrimSpace(string(data)), 10, 64); err == nil && bad == nil && n > 0 {
				least = min(least, n)
			}
			if path == "/" || path == "." || path == "" {
				break
			}
		}
	}
	if least == math.MaxInt64 {
		return 0
	}
	return least
}
