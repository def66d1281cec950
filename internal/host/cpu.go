package host

import (
	"cmp"
	"path"
	"slices"
	"strings"
)

func (t *tree) cpu(info string) (c CPU) {
	f := fields(info)
	c.Model, c.Vendor, c.Microcode = f["model name"], f["vendor_id"], f["microcode"]
	if impl, ok := f["CPU implementer"]; ok { // arm: numbers for names
		c.Vendor, c.Model = armNames(impl, info, c.Model)
	}
	c.Features = features(f["flags"] + " " + f["Features"])
	c.topology(t)
	c.SMT = t.text("sys/devices/system/cpu/smt/control")
	c.caches(t)
	c.frequency(t)
	for _, file := range t.glob("sys/devices/system/cpu/vulnerabilities/*") {
		if v := t.text(file); v != "" && v != "Not affected" {
			if c.Mitigations == nil {
				c.Mitigations = map[string]string{}
			}
			c.Mitigations[path.Base(file)] = v
		}
	}
	return c
}

// useful features, of x86 and then of arm.
var useful = []string{"aes", "avx2", "avx512f", "avx512bw", "bmi2", "erms", "fsrm", "sha_ni", "sse4_2", "vaes", "constant_tsc",
	"nonstop_tsc", "atomics", "crc32", "sha2", "pmull", "sve", "sve2", "asimddp", "lrcpc"}

func features(flags string) (out []string) {
	words := strings.Fields(flags)
	for _, f := range useful {
		if slices.Contains(words, f) {
			out = append(out, f)
		}
	}
	return out
}

const cpus = "sys/devices/system/cpu/"

func (c *CPU) topology(t *tree) {
	online := t.set(cpus + "online")
	c.Threads = len(online)
	sockets, cores := map[int]bool{}, map[int]bool{}
	for _, cpu := range online {
		dir := cpus + "cpu" + Set{cpu}.String() + "/topology/"
		siblings := t.set(dir + "core_cpus_list")
		if len(siblings) == 0 {
			siblings = t.set(dir + "thread_siblings_list") // before Linux 5.3
		}
		if siblings = siblings.And(online); len(siblings) == 0 {
			continue
		}
		th := Thread{CPU: cpu, Core: siblings[0], Socket: -1, Node: -1}
		if s, ok := t.number(dir + "physical_package_id"); ok && s >= 0 {
			th.Socket = int(s)
			sockets[th.Socket] = true
		}
		cores[th.Core] = true
		c.Topology = append(c.Topology, th)
	}
	c.Sockets, c.Cores = len(sockets), len(cores)
}

func (c *CPU) caches(t *tree) {
	type kind struct {
		level int64
		typ   string
		bytes int64
	}
	seen := map[kind]map[string]bool{}
	for _, dir := range t.glob(cpus + "cpu[0-9]*/cache/index[0-9]*") {
		level, ok := t.number(dir + "/level")
		k := kind{level, t.text(dir + "/type"), size(t.text(dir + "/size"))}
		shared := t.text(dir + "/shared_cpu_list")
		if !ok || k.bytes == 0 || shared == "" {
			continue
		}
		if seen[k] == nil {
			seen[k] = map[string]bool{}
		}
		seen[k][shared] = true
	}
	for k, shared := range seen {
		c.Caches = append(c.Caches, Cache{int(k.level), k.typ, k.bytes, len(shared)})
	}
	slices.SortFunc(c.Caches, func(a, b Cache) int {
		return cmp.Or(a.Level-b.Level, cmp.Compare(a.Type, b.Type), cmp.Compare(a.Bytes, b.Bytes))
	})
}

func (c *CPU) frequency(t *tree) {
	policies := t.glob(cpus + "cpufreq/policy[0-9]*")
	words := func(file string) string {
		var out []string
		for _, dir := range policies {
			if w := t.text(dir + "/" + file); w != "" && !slices.Contains(out, w) {
				out = append(out, w)
			}
		}
		return strings.Join(out, ",")
	}
	c.Governor, c.Driver, c.Bias = words("scaling_governor"), words("scaling_driver"), words("energy_performance_preference")
	for _, dir := range policies { // kHz; machines with big and little cores have several
		if n, ok := t.number(dir + "/cpuinfo_min_freq"); ok && (c.MinMHz == 0 || float64(n)/1e3 < c.MinMHz) {
			c.MinMHz = float64(n) / 1e3
		}
		if n, ok := t.number(dir + "/cpuinfo_max_freq"); ok {
			c.MaxMHz = max(c.MaxMHz, float64(n)/1e3)
		}
		if n, ok := t.number(dir + "/scaling_max_freq"); ok {
			c.CapMHz = max(c.CapMHz, float64(n)/1e3)
		}
	}
	if c.CapMHz >= c.MaxMHz {
		c.CapMHz = 0
	}
	if n, ok := t.number(cpus + "cpufreq/boost"); ok {
		on := n == 1
		c.Boost = &on
	} else if n, ok := t.number(cpus + "intel_pstate/no_turbo"); ok {
		on := n == 0
		c.Boost = &on
	}
}
