package host

import (
	"encoding/json"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
)

// unpack a machine of testdata: files after lines of their names, as in txtar.
func unpack(t *testing.T, name string) (root string) {
	t.Helper()
	text, err := os.ReadFile("testdata/" + name + ".txt")
	if err != nil {
		t.Fatal(err)
	}
	root = t.TempDir()
	var file string
	var content []string
	flush := func() {
		if file != "" {
			write(t, root, file, strings.Join(content, ""))
		}
		content = nil
	}
	for line := range strings.Lines(string(text)) {
		if n, ok := strings.CutPrefix(line, "-- "); ok {
			flush()
			file = strings.TrimSuffix(strings.TrimSpace(n), " --")
			continue
		}
		content = append(content, line)
	}
	flush()
	return root
}

func write(t *testing.T, root, file, content string) {
	t.Helper()
	path := filepath.Join(root, file)
	err := os.MkdirAll(filepath.Dir(path), 0o755)
	if target, ok := strings.CutPrefix(content, "-> "); ok && err == nil {
		err = os.Symlink(strings.TrimSpace(target), path)
	} else if err == nil {
		err = os.WriteFile(path, []byte(content), 0o644)
	}
	if err != nil {
		t.Fatal(err)
	}
}

func facts(t *testing.T, name string) *Host {
	t.Helper()
	h, err := FactsAt(unpack(t, name))
	if err != nil {
		t.Fatal(err)
	}
	return h
}

func same(t *testing.T, what string, got, want any) {
	t.Helper()
	if !reflect.DeepEqual(got, want) {
		t.Errorf("%s:\n got %+v\nwant %+v", what, got, want)
	}
}

func ptr[T any](v T) *T { return &v }

func TestX86(t *testing.T) {
	h := facts(t, "x86")
	same(t, "system", h.System, System{"linux", "x86_64", "6.5.0-41-generic", "#41~22.04.2-Ubuntu SMP PREEMPT_DYNAMIC",
		"Ubuntu 22.04.4 LTS", "tsc", []string{"isolcpus=2-3", "mitigations=auto"}})
	c := h.CPU
	topology := c.Topology
	c.Topology = nil
	same(t, "processor", c, CPU{Model: "Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz", Vendor: "GenuineIntel", Microcode: "0xd0003d1",
		Sockets: 2, Cores: 4, Threads: 8, SMT: "on",
		Caches:   []Cache{{1, "Data", 48 << 10, 4}, {1, "Instruction", 32 << 10, 4}, {2, "Unified", 1280 << 10, 4}, {3, "Unified", 60 << 20, 2}},
		Features: []string{"aes", "avx2", "avx512f", "bmi2", "erms", "sse4_2", "constant_tsc", "nonstop_tsc"},
		Governor: "performance,powersave", Driver: "intel_pstate", Bias: "performance", MinMHz: 800, MaxMHz: 3400, CapMHz: 2300,
		Boost: ptr(false), Mitigations: map[string]string{"spectre_v2": "Mitigation: Enhanced / Automatic IBRS; IBPB: conditional"}})
	same(t, "topology", topology, []Thread{{0, 0, 0, 0}, {1, 1, 0, 0}, {2, 2, 1, 1}, {3, 3, 1, 1}, {4, 0, 0, 0}, {5, 1, 0, 0},
		{6, 2, 1, 1}, {7, 3, 1, 1}})
	same(t, "nodes", h.Nodes, []Node{{0, Set{0, 1, 4, 5}, 131919500 << 10, []int{10, 20}}, {1, Set{2, 3, 6, 7}, 131919500 << 10, []int{20, 10}}})
	same(t, "memory", h.Memory, Memory{Total: 263839000 << 10, Available: 250000000 << 10, Swap: ptr(int64(0)), Transparent: "madvise",
		Defrag: "madvise", Huge: []HugePages{{2 << 20, 512, 256}, {1 << 30, 0, 0}}})
	same(t, "limits", h.Limits, Limits{2, 2.5, 64 << 30, Set{0, 1, 2, 3, 4, 5}, Set{0, 1, 2, 3, 4, 5}})
	same(t, "virtual", h.Virtual, Virtual{Flag: ptr(false), Vendor: "Dell Inc.", Product: "PowerEdge R750"})
	same(t, "network", h.Network, []Interface{{"eth0", "up", 100000, 9000, "mlx5_core", 2}, {Name: "lo", State: "unknown", MTU: 65536}})
	same(t, "load", h.Load, []float64{.52, .40, .31})
	same(t, "sysctl", h.Sysctl, map[string]string{"net.core.somaxconn": "4096", "net.ipv4.tcp_rmem": "4096 131072 6291456"})
	if h.Name != "metal-1" || h.Time.IsZero() || h.Unread != nil || h.UsableCPUs() != 3 {
		t.Errorf("%q %v %q, %d usable", h.Name, h.Time, h.Unread, h.UsableCPUs())
	}
}

func TestArm64(t *testing.T) {
	h := facts(t, "arm64")
	c := h.CPU
	if c.Vendor != "ARM" || c.Model != "Neoverse-N1 r3p1" || c.Sockets != 1 || c.Cores != 2 || c.Threads != 2 || c.SMT != "notimplemented" {
		t.Errorf("%+v", c)
	}
	same(t, "features", c.Features, []string{"aes", "atomics", "crc32", "sha2", "pmull", "asimddp", "lrcpc"})
	same(t, "limits", h.Limits, Limits{1, 1.5, 0, Set{0, 1}, Set{0, 1}})
	same(t, "virtual", h.Virtual, Virtual{Vendor: "Amazon EC2", Product: "m6g.large", Container: "docker"})
	same(t, "network", h.Network, []Interface{{Name: "eth0", State: "up", MTU: 9001, Driver: "ena"}})
	// What the machine does not have is not there.
	text, err := json.Marshal(h)
	if err != nil {
		t.Fatal(err)
	}
	for _, absent := range []string{"governor", "boost", "caches", "flag", "swap", "mbit", "load", "huge", "microcode", "min_mhz"} {
		if strings.Contains(string(text), `"`+absent+`"`) {
			t.Errorf("%s: out of nothing in %s", absent, text)
		}
	}
	var again Host
	if err := json.Unmarshal(text, &again); err != nil {
		t.Fatal(err)
	}
	same(t, "through JSON", again.CPU, h.CPU)
	same(t, "through JSON", again.Limits, h.Limits)
}

// Big and little cores, and a part that nobody knows.
func TestArmNames(t *testing.T) {
	info := "processor : 0\nCPU implementer : 0x41\nCPU part : 0xd03\n\nprocessor : 1\nCPU implementer : 0x41\nCPU part : 0xfff\nCPU variant : 0x1\nCPU revision : 2\n"
	vendor, names := armNames("0x41", info, "")
	if vendor != "ARM" || names != "Cortex-A53,part 0xfff r1p2" {
		t.Errorf("%q %q", vendor, names)
	}
	if vendor, names = armNames("0x99", info, "Good Core"); vendor != "0x99" || names != "Good Core" {
		t.Errorf("%q %q", vendor, names)
	}
}

// A tree with next to nothing has next to no facts.
func TestBare(t *testing.T) {
	root := t.TempDir()
	if _, err := FactsAt(root); err == nil {
		t.Error("facts out of nothing")
	}
	write(t, root, "proc/stat", "cpu 0 0 0 0 0 0 0 0 0 0\n")
	h, err := FactsAt(root)
	if err != nil {
		t.Fatal(err)
	}
	text, err := json.Marshal(h)
	if err != nil || strings.Count(string(text), `":`) != 3 || !strings.Contains(string(text), `"system":{"os":"linux"}`) {
		t.Errorf("%s, %v", text, err)
	}
	if h.UsableCPUs() != 0 {
		t.Error("CPUs out of nothing")
	}
}

// What is there and may not be read is told; what is not there, or has nothing to say, is not.
func TestUnread(t *testing.T) {
	tr := &tree{root: t.TempDir()}
	for _, err := range []error{nil, fs.ErrNotExist, syscall.EINVAL} {
		tr.note("sys/class/net/eth0/speed", err)
	}
	for range 2 {
		tr.note("sys/class/dmi/id/product_serial", &fs.PathError{Op: "open", Path: "/x", Err: syscall.EACCES})
	}
	if !slices.Equal(tr.unread, []string{"sys/class/dmi/id/product_serial: permission denied"}) {
		t.Errorf("%q", tr.unread)
	}
}

func TestThisMachine(t *testing.T) {
	h, err := Facts()
	if err != nil {
		t.Fatal(err)
	}
	if h.System.OS != runtime.GOOS || h.System.Arch == "" || h.CPU.Threads < 1 {
		t.Errorf("%+v", h)
	}
	if n := h.UsableCPUs(); runtime.GOOS == "linux" && (n < 1 || n > runtime.NumCPU()) {
		t.Errorf("%d usable CPUs of %d", n, runtime.NumCPU())
	}
	if h, err := json.Marshal(goFacts()); err != nil || !strings.Contains(string(h), runtime.GOARCH) {
		t.Errorf("%s %v", h, err)
	}
	var b strings.Builder
	if err := Write(&b, h); err != nil {
		t.Fatal(err)
	}
	t.Log("\n" + b.String())
}

func TestWrite(t *testing.T) {
	a, b := facts(t, "x86"), facts(t, "arm64")
	var out strings.Builder
	if err := Write(&out, a, b); err != nil {
		t.Fatal(err)
	}
	text := out.String()
	for _, want := range []string{
		"  host                    metal-1                                 m6g-large\n",
		"* vendor                  GenuineIntel                            ARM\n",
		"* cores                   4                                       2\n",
		"* processor               Intel(R) Xeon(R) Platinum 8380 CPU @ 2.30GHz    Neoverse-N1 r3p1\n",
		"* features                aes avx2 avx512f bmi2 erms sse4_2     aes atomics crc32 sha2 pmull asimddp lrcpc\n constant_tsc nonstop_tsc\n",
		"* L2 unified              4 x 1.25 MiB                            -\n",
		"* L3 unified              2 x 60 MiB                              -\n",
		"  system                  linux                                   linux\n",
		"* CPU quota               2.5 CPUs                                1.5 CPUs\n",
	} {
		if !strings.Contains(squeeze(text), squeeze(want)) {
			t.Errorf("no %q in\n%s", want, text)
		}
	}
	columns := map[int]bool{}
	for line := range strings.Lines(text) {
		if i := strings.Index(line, "m6g-large"); i > 0 {
			columns[i] = true
		}
		if i := strings.Index(line, "Neoverse"); i > 0 {
			columns[i] = true
		}
	}
	if len(columns) != 1 {
		t.Errorf("the second column begins at %v", columns)
	}
	for _, l := range Compare(a, facts(t, "x86")) {
		if l.Differs {
			t.Errorf("%s differs from itself: %q", l.Name, l.Values)
		}
	}
}

func squeeze(s string) string {
	var out []string
	for line := range strings.Lines(s) {
		out = append(out, strings.Join(strings.Fields(line), " "))
	}
	return strings.Join(out, "\n")
}
