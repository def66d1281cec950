package host

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"os"
	"runtime"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/prometheus/procfs"
)

// MeterOptions of a Meter. The zero value measures the machine, without processes.
type MeterOptions struct {
	PIDs []int // processes to follow; more with Watch

	// Watts is what the machine draws, if somebody knows: measured at the plug, or a figure of its maker.
	Watts float64

	NoThreads   bool // processes only, not their threads: voluntary switches are then unknown
	NoFrequency bool // asking for it wakes idle cores on some kernels

	Root string // of proc and sys; "" is "/"
}

// Meter reads what the machine and some processes used since they started. It belongs to one goroutine.
type Meter struct {
	o    MeterOptions
	t    tree
	fs   procfs.FS
	rapl []*zone
}

// Sample is one reading. All of it counts up, but for Memory and MHz; two of one Meter have a Usage between them.
type Sample struct {
	Time       time.Time           `json:"time"`
	CPUs       map[int]Times       `json:"cpus,omitempty"`       // /proc/stat
	Switches   *uint64             `json:"switches,omitempty"`   // context switches; /proc/stat
	Interrupts *uint64             `json:"interrupts,omitempty"` // /proc/stat
	Processes  map[int]Process     `json:"processes,omitempty"`  // by pid; those that ended are absent
	Network    map[string]Counters `json:"network,omitempty"`    // by interface; /proc/net/dev
	TCP        *TCP                `json:"tcp,omitempty"`        // /proc/net/snmp and netstat
	Available  *uint64             `json:"available,omitempty"`  // memory, bytes; /proc/meminfo
	MHz        map[int]float64     `json:"mhz,omitempty"`        // by CPU, at this moment; scaling_cur_freq or /proc/cpuinfo
	Energy     []Energy            `json:"energy,omitempty"`
	Watts      float64             `json:"watts,omitempty"`  // given, see MeterOptions
	Unread     []string            `json:"unread,omitempty"` // what is there and could not be read
}

// Times of one CPU, seconds since boot. The work of the network is in SoftIRQ, not in any process.
type Times struct {
	User    float64 `json:"user"` // with guests
	Nice    float64 `json:"nice"`
	System  float64 `json:"system"`
	IRQ     float64 `json:"irq"`
	SoftIRQ float64 `json:"softirq"`
	Steal   float64 `json:"steal"`
	Idle    float64 `json:"idle"`
	Wait    float64 `json:"wait"` // idle too, while something waits for a disk
}

// Process is what one used. Times include threads that have ended; switches are those of threads that live.
type Process struct {
	Name        string              `json:"name"`
	Started     uint64              `json:"started"` // ticks since boot: tells a process from a later one of the same number
	User        float64             `json:"user"`    // seconds
	System      float64             `json:"system"`  // seconds
	Voluntary   *uint64             `json:"voluntary,omitempty"`
	Involuntary *uint64             `json:"involuntary,omitempty"`
	MinorFaults uint64              `json:"minor_faults"`
	MajorFaults uint64              `json:"major_faults"`
	RSS         int64               `json:"rss"` // bytes
	Threads     map[int]ThreadTimes `json:"threads,omitempty"`
}

// ThreadTimes is what one thread used.
type ThreadTimes struct {
	Name        string  `json:"name"`
	User        float64 `json:"user"`   // seconds
	System      float64 `json:"system"` // seconds
	Voluntary   uint64  `json:"voluntary"`
	Involuntary uint64  `json:"involuntary"`
	CPU         int     `json:"cpu"` // where it ran last
}

// Counters of a network interface.
type Counters struct {
	RXBytes   uint64 `json:"rx_bytes"`
	RXPackets uint64 `json:"rx_packets"`
	RXErrors  uint64 `json:"rx_errors"`
	RXDrops   uint64 `json:"rx_drops"`
	TXBytes   uint64 `json:"tx_bytes"`
	TXPackets uint64 `json:"tx_packets"`
	TXErrors  uint64 `json:"tx_errors"`
	TXDrops   uint64 `json:"tx_drops"`
}

// TCP counters of the machine, or of the container's network.
type TCP struct {
	In          uint64 `json:"in"`          // segments
	Out         uint64 `json:"out"`         // segments, without those sent again
	Retransmits uint64 `json:"retransmits"` // segments sent again
	InErrors    uint64 `json:"in_errors"`
	Opened      uint64 `json:"opened"`   // connections, by this side
	Accepted    uint64 `json:"accepted"` // connections, by this side
	Timeouts    uint64 `json:"timeouts"`
	ListenDrops uint64 `json:"listen_drops"` // connections refused for lack of room in a queue
}

// NewMeter of this machine. Without /proc there is none.
func NewMeter(o MeterOptions) (*Meter, error) {
	if o.Root == "" {
		if runtime.GOOS != "linux" {
			return nil, errors.New("host: only Linux can be metered")
		}
		o.Root = "/"
	}
	if o.Watts < 0 {
		return nil, fmt.Errorf("host: %v W: no machine gives power", o.Watts)
	}
	m := &Meter{o: o, t: tree{root: o.Root}}
	m.o.PIDs = slices.Clone(o.PIDs)
	var err error
	if m.fs, err = procfs.NewFS(m.t.path("proc")); err != nil {
		return nil, fmt.Errorf("host: meter: %w", err)
	}
	m.rapl = m.t.zones()
	return m, nil
}

// Watch one more process.
func (m *Meter) Watch(pid int) {
	if !slices.Contains(m.o.PIDs, pid) {
		m.o.PIDs = append(m.o.PIDs, pid)
	}
}

// Run gives f a sample now and then each interval until the context ends, and one at the end. The intended interval is a
// second: energy counters wrap around, some of them within minutes, and have to be read before they do so twice.
func (m *Meter) Run(ctx context.Context, every time.Duration, f func(*Sample)) error {
	tick := time.NewTicker(every)
	defer tick.Stop()
	for {
		s, err := m.Sample()
		if err != nil {
			return err
		}
		f(s)
		if ctx.Err() != nil {
			return nil
		}
		select {
		case <-tick.C:
		case <-ctx.Done():
		}
	}
}

// Sample the counters. Only an unreadable /proc/stat is an error.
func (m *Meter) Sample() (*Sample, error) {
	m.t.unread = nil
	st, err := m.fs.Stat()
	if err != nil {
		return nil, fmt.Errorf("host: meter: %w", err)
	}
	s := &Sample{Time: time.Now(), CPUs: map[int]Times{}, Switches: &st.ContextSwitches, Interrupts: &st.IRQTotal, Watts: m.o.Watts}
	for cpu, c := range st.CPU {
		s.CPUs[int(cpu)] = Times{c.User, c.Nice, c.System, c.IRQ, c.SoftIRQ, c.Steal, c.Idle, c.Iowait}
	}
	for _, pid := range m.o.PIDs {
		if p, ok := m.process(pid); ok {
			if s.Processes == nil {
				s.Processes = map[int]Process{}
			}
			s.Processes[pid] = p
		}
	}
	if dev, err := m.fs.NetDev(); err == nil {
		s.Network = map[string]Counters{}
		for name, d := range dev {
			s.Network[name] = Counters{d.RxBytes, d.RxPackets, d.RxErrors, d.RxDropped, d.TxBytes, d.TxPackets, d.TxErrors, d.TxDropped}
		}
	} else {
		m.t.note("proc/net/dev", err)
	}
	s.TCP = m.tcp()
	if mem, err := m.fs.Meminfo(); err == nil {
		s.Available = mem.MemAvailableBytes
	}
	if !m.o.NoFrequency {
		s.MHz = m.frequency(slices.Sorted(maps.Keys(s.CPUs)))
	}
	for _, z := range m.rapl {
		if e, ok := z.read(&m.t); ok {
			s.Energy = append(s.Energy, e)
		}
	}
	s.Unread = m.t.unread
	return s, nil
}

const tick = 100 // of /proc, a second: USER_HZ of all architectures that Go runs on

func (m *Meter) process(pid int) (p Process, ok bool) {
	proc, err := m.fs.Proc(pid)
	if err != nil {
		return p, false
	}
	st, err := proc.Stat()
	if err != nil {
		m.t.note(fmt.Sprintf("proc/%d/stat", pid), err)
		return p, false
	}
	p = Process{Name: st.Comm, Started: st.Starttime, User: float64(st.UTime) / tick, System: float64(st.STime) / tick,
		MinorFaults: uint64(st.MinFlt), MajorFaults: uint64(st.MajFlt), RSS: int64(st.RSS) * int64(os.Getpagesize())}
	if m.o.NoThreads {
		return p, true
	}
	threads, err := m.fs.AllThreads(pid)
	if err != nil {
		return p, true
	}
	p.Threads = map[int]ThreadTimes{}
	var voluntary, involuntary uint64
	for _, th := range threads {
		st, err1 := th.Stat()
		status, err2 := th.NewStatus()
		if err1 != nil || err2 != nil { // it ended just now
			continue
		}
		p.Threads[th.PID] = ThreadTimes{st.Comm, float64(st.UTime) / tick, float64(st.STime) / tick,
			status.VoluntaryCtxtSwitches, status.NonVoluntaryCtxtSwitches, int(st.Processor)}
		voluntary += status.VoluntaryCtxtSwitches
		involuntary += status.NonVoluntaryCtxtSwitches
	}
	p.Voluntary, p.Involuntary = &voluntary, &involuntary
	return p, true
}

func (m *Meter) tcp() *TCP {
	tables := map[string]map[string]uint64{}
	for _, file := range []string{"proc/net/snmp", "proc/net/netstat"} {
		var names []string
		for line := range strings.Lines(m.t.text(file)) { // a line of names, then one of numbers, each after "Tcp:"
			f := strings.Fields(line)
			if len(f) < 2 {
				continue
			}
			if len(names) != len(f) || names[0] != f[0] {
				names = f
				continue
			}
			table := map[string]uint64{}
			for i, v := range f[1:] {
				if n, err := strconv.ParseUint(v, 10, 64); err == nil {
					table[names[i+1]] = n
				}
			}
			tables[f[0]], names = table, nil
		}
	}
	tcp, ext := tables["Tcp:"], tables["TcpExt:"]
	if tcp == nil {
		return nil
	}
	return &TCP{tcp["InSegs"], tcp["OutSegs"], tcp["RetransSegs"], tcp["InErrs"], tcp["ActiveOpens"], tcp["PassiveOpens"],
		ext["TCPTimeouts"], ext["ListenDrops"]}
}

func (m *Meter) frequency(online []int) map[int]float64 {
	out := map[int]float64{}
	for _, cpu := range online {
		if khz, ok := m.t.number(cpus + "cpu" + strconv.Itoa(cpu) + "/cpufreq/scaling_cur_freq"); ok {
			out[cpu] = float64(khz) / 1e3
		}
	}
	if len(out) > 0 {
		return out
	}
	for block := range strings.SplitSeq(m.t.text("proc/cpuinfo"), "\n\n") {
		f := fields(block)
		cpu, err1 := strconv.Atoi(f["processor"])
		mhz, err2 := strconv.ParseFloat(f["cpu MHz"], 64)
		if err1 == nil && err2 == nil {
			out[cpu] = mhz
		}
	}
	if len(out) == 0 {
		return nil
	}
	return out
}
