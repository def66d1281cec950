package server

import (
	"os"
	"path/filepath"
	"testing"
)

func TestUsableMemory(t *testing.T) {
	for _, tc := range []struct {
		name  string
		files map[string]string
		want  int64
	}{
		{"machine", map[string]string{"proc/meminfo": "MemTotal:  1000 kB\nMemFree: 5 kB\n"}, 1000 << 10},
		{"nothing known", nil, 0},
		{"version 2", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/a/b\n",
			"sys/fs/cgroup/a/b/memory.max": "max\n", "sys/fs/cgroup/a/memory.max": "4096\n"}, 4096},
		{"version 2 in a container", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "8192\n"}, 8192},
		{"more than the machine has", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "0::/\n",
			"sys/fs/cgroup/memory.max": "9223372036854771712\n"}, 1000 << 10},
		{"version 1", map[string]string{"proc/meminfo": "MemTotal: 1000 kB\n", "proc/self/cgroup": "5:cpu:/x\n4:memory:/x\n",
			"sys/fs/cgroup/memory/x/memory.limit_in_bytes": "12288\n"}, 12288},
	} {
		root := t.TempDir()
		for name, text := range tc.files {
			path := filepath.Join(root, name)
			if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		if got := UsableMemory(root); got != tc.want {
			t.Errorf("%s: %d, want %d", tc.name, got, tc.want)
		}
	}
}
