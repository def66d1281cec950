package host

import (
	"path"
	"slices"
	"strconv"
	"strings"

	"github.com/prometheus/procfs"
)

// bootWords of the kernel's command line that move results; the rest of it is nobody's business.
var bootWords = []string{"isolcpus", "nohz", "nohz_full", "rcu_nocbs", "mitigations", "nosmt", "maxcpus", "nr_cpus", "idle",
	"intel_pstate", "amd_pstate", "cpufreq.off", "processor.max_cstate", "intel_idle.max_cstate", "cpuidle.off", "hugepages",
	"hugepagesz", "default_hugepagesz", "transparent_hugepage", "numa", "numa_balancing", "clocksource", "tsc", "nopti", "pti",
	"spectre_v2", "irqaffinity", "preempt", "audit", "iommu", "intel_iommu", "amd_iommu", "skew_tick"}

func (t *tree) system() System {
	s := System{
		OS:          "linux",
		Arch:        t.text("proc/sys/kernel/arch"),
		Kernel:      t.text("proc/sys/kernel/osrelease"),
		Build:       t.text("proc/sys/kernel/version"),
		Clocksource: t.text("sys/devices/system/clocksource/clocksource0/current_clocksource"),
	}
	for _, file := range []string{"etc/os-release", "usr/lib/os-release"} {
		for line := range strings.Lines(t.text(file)) {
			if v, ok := strings.CutPrefix(strings.TrimSpace(line), "PRETTY_NAME="); ok && s.Distribution == "" {
				s.Distribution = strings.Trim(v, `"'`)
			}
		}
	}
	for _, word := range strings.Fields(t.text("proc/cmdline")) {
		if name, _, _ := strings.Cut(word, "="); slices.Contains(bootWords, name) {
			s.Boot = append(s.Boot, word)
		}
	}
	return s
}

func (t *tree) nodes() (out []Node) {
	for _, dir := range t.glob("sys/devices/system/node/node[0-9]*") {
		n := Node{ID: trailing(dir), CPUs: t.set(dir + "/cpulist")}
		for line := range strings.Lines(t.text(dir + "/meminfo")) { // Node 0 MemTotal: 123 kB
			if f := strings.Fields(line); len(f) >= 4 && f[2] == "MemTotal:" {
				kb, _ := strconv.ParseInt(f[3], 10, 64)
				n.Bytes = kb << 10
			}
		}
		for _, d := range strings.Fields(t.text(dir + "/distance")) {
			if v, err := strconv.Atoi(d); err == nil {
				n.Distance = append(n.Distance, v)
			}
		}
		out = append(out, n)
	}
	return out
}

func (t *tree) memory() (m Memory) {
	if fs, err := procfs.NewFS(t.path("proc")); err == nil {
		if info, err := fs.Meminfo(); err == nil {
			bytes := func(p *uint64) int64 {
				if p == nil {
					return 0
				}
				return int64(*p)
			}
			m.Total, m.Available = bytes(info.MemTotalBytes), bytes(info.MemAvailableBytes)
			if info.SwapTotalBytes != nil {
				swap := bytes(info.SwapTotalBytes)
				m.Swap = &swap
			}
		} else {
			t.note("proc/meminfo", err)
		}
	}
	const thp = "sys/kernel/mm/transparent_hugepage/"
	m.Transparent, m.Defrag = chosen(t.text(thp+"enabled")), chosen(t.text(thp+"defrag"))
	for _, dir := range t.glob("sys/kernel/mm/hugepages/hugepages-*kB") {
		kb, err := strconv.ParseInt(strings.TrimSuffix(path.Base(dir)[len("hugepages-"):], "kB"), 10, 64)
		total, ok := t.number(dir + "/nr_hugepages")
		if err != nil || !ok {
			continue
		}
		free, _ := t.number(dir + "/free_hugepages")
		m.Huge = append(m.Huge, HugePages{kb << 10, total, free})
	}
	slices.SortFunc(m.Huge, func(a, b HugePages) int { return int(a.Bytes>>10) - int(b.Bytes>>10) })
	return m
}

// containers by what their control groups are called.
var containers = []struct{ word, name string }{
	{"kubepods", "kubernetes"}, {"docker", "docker"}, {"libpod", "podman"}, {"lxc", "lxc"}, {"machine.slice", "systemd-nspawn"},
}

func (t *tree) virtual(cpuinfo string) (v Virtual) {
	if flags, ok := fields(cpuinfo)["flags"]; ok { // x86 alone has flags
		has := slices.Contains(strings.Fields(flags), "hypervisor")
		v.Flag = &has
	}
	v.Hypervisor = t.text("sys/hypervisor/type")
	if v.Hypervisor == "" {
		v.Hypervisor = t.text("proc/device-tree/hypervisor/compatible")
	}
	v.Vendor, v.Product = t.text("sys/class/dmi/id/sys_vendor"), t.text("sys/class/dmi/id/product_name")
	if v.Product == "" {
		v.Product = t.text("proc/device-tree/model")
	}
	v.Container = t.text("run/systemd/container")
	for _, c := range []struct{ file, name string }{{".dockerenv", "docker"}, {"run/.containerenv", "podman"}} {
		if v.Container == "" && len(t.glob(c.file)) > 0 {
			v.Container = c.name
		}
	}
	if groups := t.text("proc/self/cgroup"); v.Container == "" {
		for _, c := range containers {
			if strings.Contains(groups, c.word) {
				v.Container = c.name
				break
			}
		}
	}
	return v
}

func (t *tree) network() (out []Interface) {
	for _, dir := range t.glob("sys/class/net/*") {
		n := Interface{Name: path.Base(dir), State: t.text(dir + "/operstate"), Driver: t.link(dir + "/device/driver")}
		if n.MTU, _ = t.number(dir + "/mtu"); n.MTU == 0 { // bonding_masters is no interface
			continue
		}
		if n.State == "down" {
			continue
		}
		if mbit, ok := t.number(dir + "/speed"); ok && mbit > 0 {
			n.Mbit = mbit
		}
		n.Queues = len(t.glob(dir + "/queues/rx-*"))
		out = append(out, n)
	}
	return out
}

func (t *tree) load() []float64 {
	fs, err := procfs.NewFS(t.path("proc"))
	if err != nil {
		return nil
	}
	l, err := fs.LoadAvg()
	if err != nil {
		return nil
	}
	return []float64{l.Load1, l.Load5, l.Load15}
}

// sysctls that move results of servers and load generators.
var sysctls = []string{"net.core.somaxconn", "net.core.busy_read", "net.core.busy_poll", "net.core.netdev_budget", "net.core.rps_sock_flow_entries",
	"net.ipv4.tcp_congestion_control", "net.ipv4.tcp_rmem", "net.ipv4.tcp_wmem", "net.ipv4.ip_local_port_range",
	"net.ipv4.tcp_max_syn_backlog", "net.ipv4.tcp_tw_reuse", "vm.overcommit_memory", "vm.swappiness", "vm.max_map_count",
	"kernel.numa_balancing", "kernel.sched_autogroup_enabled", "kernel.io_uring_disabled", "kernel.perf_event_paranoid", "fs.nr_open"}

func (t *tree) sysctl() map[string]string {
	out := map[string]string{}
	for _, name := range sysctls {
		if v := t.text("proc/sys/" + strings.ReplaceAll(name, ".", "/")); v != "" {
			out[name] = strings.Join(strings.Fields(v), " ")
		}
	}
	return out
}
