package host

import (
	"errors"
	"os"
	"runtime"
	"time"

	"github.com/klauspost/cpuid/v2"
)

// Host is what one machine is and how it is set up.
type Host struct {
	Time    time.Time         `json:"time"` // when the facts were read
	Name    string            `json:"name,omitempty"`
	System  System            `json:"system,omitzero"`
	CPU     CPU               `json:"cpu,omitzero"`
	Nodes   []Node            `json:"nodes,omitempty"`
	Memory  Memory            `json:"memory,omitzero"`
	Limits  Limits            `json:"limits,omitzero"`
	Virtual Virtual           `json:"virtual,omitzero"`
	Network []Interface       `json:"network,omitempty"`
	Load    []float64         `json:"load,omitempty"`   // runnable threads, mean of 1, 5 and 15 minutes; /proc/loadavg
	Sysctl  map[string]string `json:"sysctl,omitempty"` // those that move results, by name; /proc/sys
	Unread  []string          `json:"unread,omitempty"` // what is there and could not be read
}

// System is the kernel and what runs on it.
type System struct {
	OS           string   `json:"os,omitempty"`           // linux, darwin, ...
	Arch         string   `json:"arch,omitempty"`         // as the kernel calls it: x86_64, aarch64
	Kernel       string   `json:"kernel,omitempty"`       // 6.1.0-28-amd64; /proc/sys/kernel/osrelease
	Build        string   `json:"build,omitempty"`        // #1 SMP ...; /proc/sys/kernel/version
	Distribution string   `json:"distribution,omitempty"` // PRETTY_NAME of /etc/os-release
	Clocksource  string   `json:"clocksource,omitempty"`  // tsc, kvm-clock, arch_sys_counter
	Boot         []string `json:"boot,omitempty"`         // words of the kernel's command line that move results
}

// CPU is the processors, all sockets together. Facts that differ between cores are lists with commas.
type CPU struct {
	Model     string `json:"model,omitempty"`
	Vendor    string `json:"vendor,omitempty"`
	Microcode string `json:"microcode,omitempty"`

	Sockets int `json:"sockets,omitempty"`
	Cores   int `json:"cores,omitempty"`   // of all sockets, online
	Threads int `json:"threads,omitempty"` // CPUs as the kernel counts them, online

	SMT      string   `json:"smt,omitempty"` // on, off, forceoff, notsupported, notimplemented
	Caches   []Cache  `json:"caches,omitempty"`
	Features []string `json:"features,omitempty"` // those that servers and their libraries make use of

	Governor string  `json:"governor,omitempty"` // performance, schedutil, ...
	Driver   string  `json:"driver,omitempty"`   // of frequency scaling: intel_pstate, acpi-cpufreq, cppc_cpufreq
	Bias     string  `json:"bias,omitempty"`     // energy_performance_preference
	MinMHz   float64 `json:"min_mhz,omitempty"`  // that the processor can
	MaxMHz   float64 `json:"max_mhz,omitempty"`
	CapMHz   float64 `json:"cap_mhz,omitempty"` // that it may, if less
	Boost    *bool   `json:"boost,omitempty"`

	Mitigations map[string]string `json:"mitigations,omitempty"` // by vulnerability; those that do not concern it are left out

	Topology []Thread `json:"topology,omitempty"`
}

// Thread is one CPU as the kernel counts them. Threads of one Core are siblings.
type Thread struct {
	CPU    int `json:"cpu"`
	Core   int `json:"core"`   // lowest CPU of the core
	Socket int `json:"socket"` // -1 if unknown
	Node   int `json:"node"`   // of NUMA; -1 if unknown
}

// Cache of one level and kind.
type Cache struct {
	Level int    `json:"level"`
	Type  string `json:"type"`  // Data, Instruction, Unified
	Bytes int64  `json:"bytes"` // of one
	Count int    `json:"count"` // in the machine
}

// Node of NUMA.
type Node struct {
	ID       int   `json:"id"`
	CPUs     Set   `json:"cpus"`
	Bytes    int64 `json:"bytes,omitempty"`
	Distance []int `json:"distance,omitempty"` // to nodes 0, 1, ...; 10 is its own
}

// Memory of the machine, in bytes.
type Memory struct {
	Total       int64       `json:"total,omitempty"`
	Available   int64       `json:"available,omitempty"`
	Swap        *int64      `json:"swap,omitempty"`
	Page        int64       `json:"page,omitempty"`
	Transparent string      `json:"transparent,omitempty"` // huge pages: always, madvise, never
	Defrag      string      `json:"defrag,omitempty"`
	Huge        []HugePages `json:"huge,omitempty"`
}

// HugePages that were reserved, of one size.
type HugePages struct {
	Bytes int64 `json:"bytes"` // of one page
	Total int64 `json:"total"`
	Free  int64 `json:"free"`
}

// Limits that the container or a control group puts on this process: the tightest on the way up from its own group.
type Limits struct {
	Version int     `json:"version,omitempty"` // of control groups: 1 or 2, 2 only if no limit comes from 1
	CPUs    float64 `json:"cpus,omitempty"`    // quota in CPUs
	Memory  int64   `json:"memory,omitempty"`  // bytes
	Cpuset  Set     `json:"cpuset,omitempty"`  // of the control group
	Allowed Set     `json:"allowed,omitempty"` // of this process, all considered; /proc/self/status
}

// Virtual is what a machine shows of the one below it.
type Virtual struct {
	Flag       *bool  `json:"flag,omitempty"`       // the hypervisor flag of an x86 processor
	Hypervisor string `json:"hypervisor,omitempty"` // as it names itself: KVMKVMKVM, xen, linux,kvm
	Vendor     string `json:"vendor,omitempty"`     // DMI: of the machine, or the cloud
	Product    string `json:"product,omitempty"`    // DMI: of the machine; on some clouds the type of the instance
	Container  string `json:"container,omitempty"`  // docker, podman, kubernetes, lxc, or what runs it says
}

// Interface of the network.
type Interface struct {
	Name   string `json:"name"`
	State  string `json:"state,omitempty"`  // up, down, unknown
	Mbit   int64  `json:"mbit,omitempty"`   // speed; virtual ones mostly have none
	MTU    int64  `json:"mtu,omitempty"`    // bytes
	Driver string `json:"driver,omitempty"` // virtio_net, ena, mlx5_core
	Queues int    `json:"queues,omitempty"` // for receiving
}

// Facts of this machine. An error says that there are none at all.
func Facts() (*Host, error) {
	if runtime.GOOS != "linux" {
		return goFacts(), nil
	}
	h, err := FactsAt("/")
	if err != nil {
		return nil, err
	}
	if h.Name == "" {
		h.Name, _ = os.Hostname()
	}
	if h.System.Arch == "" {
		h.System.Arch = machine()
	}
	if h.Memory.Page == 0 {
		h.Memory.Page = int64(os.Getpagesize())
	}
	if h.Virtual.Hypervisor == "" && cpuid.CPU.VM() {
		h.Virtual.Hypervisor = cpuid.CPU.HypervisorVendorString
	}
	return h, nil
}

// FactsAt reads the facts of Linux from a root that has proc, sys and etc. Other than Facts it asks nobody else.
func FactsAt(root string) (*Host, error) {
	t := &tree{root: root}
	if _, err := os.Stat(t.path("proc/stat")); err != nil {
		return nil, errors.Join(errors.New("host: no facts without /proc"), err)
	}
	h := &Host{Time: time.Now().UTC(), Name: t.text("proc/sys/kernel/hostname")}
	info := t.text("proc/cpuinfo")
	h.System = t.system()
	h.CPU = t.cpu(info)
	h.Nodes = t.nodes()
	for i, th := range h.CPU.Topology {
		for _, n := range h.Nodes {
			if n.CPUs.Has(th.CPU) {
				h.CPU.Topology[i].Node = n.ID
			}
		}
	}
	h.Memory = t.memory()
	h.Limits = t.limits()
	h.Virtual = t.virtual(info)
	h.Network = t.network()
	h.Load = t.load()
	h.Sysctl = t.sysctl()
	h.Unread = t.unread
	return h, nil
}

// goFacts is what Go and the processor say where there is no /proc.
func goFacts() *Host {
	h := &Host{Time: time.Now().UTC()}
	h.Name, _ = os.Hostname()
	h.System = System{OS: runtime.GOOS, Arch: runtime.GOARCH}
	h.CPU = CPU{Model: cpuid.CPU.BrandName, Cores: cpuid.CPU.PhysicalCores, Threads: runtime.NumCPU()}
	if v := cpuid.CPU.VendorID; v != cpuid.VendorUnknown {
		h.CPU.Vendor = v.String()
	}
	h.Memory.Page = int64(os.Getpagesize())
	if cpuid.CPU.VM() {
		h.Virtual.Hypervisor = cpuid.CPU.HypervisorVendorString
	}
	return h
}

// UsableCPUs is the number of CPUs that this process can keep busy: those it is allowed, or its quota if that is less, rounded
// up as the Go runtime does. 0 if neither is known.
func (h *Host) UsableCPUs() int {
	n := len(h.Limits.Allowed)
	if n == 0 {
		n = h.CPU.Threads
	}
	if q := h.Limits.CPUs; q > 0 && (n == 0 || q < float64(n)) {
		n = int(q)
		if float64(n) < q {
			n++
		}
	}
	return n
}
