package host

import (
	"context"
	"encoding/json"
	"math"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"
)

// replace text in a file of a machine.
func replace(t *testing.T, root, file string, pairs ...string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join(root, file))
	if err != nil {
		t.Fatal(err)
	}
	for i := 0; i < len(pairs); i += 2 {
		if !strings.Contains(string(b), pairs[i]) {
			t.Fatalf("%s: no %q", file, pairs[i])
		}
	}
	write(t, root, file, strings.NewReplacer(pairs...).Replace(string(b)))
}

func near(t *testing.T, what string, got, want float64) {
	t.Helper()
	if !(math.Abs(got-want) < 1e-9) {
		t.Errorf("%s is %v, want %v", what, got, want)
	}
}

func TestMeter(t *testing.T) {
	root := unpack(t, "x86")
	m, err := NewMeter(MeterOptions{Root: root, PIDs: []int{4242, 9999}})
	if err != nil {
		t.Fatal(err)
	}
	a, err := m.Sample()
	if err != nil {
		t.Fatal(err)
	}
	replace(t, root, "proc/stat", "cpu1 100 0 50 875 12 1 11 0 0 0", "cpu1 180 0 90 895 12 11 41 20 0 0",
		"cpu2 100 0 50 875 12 1 11 0 0 0", "cpu2 100 0 50 1085 2 1 11 0 0 0", "ctxt 123456", "ctxt 143456", "intr 5000", "intr 5100")
	replace(t, root, "proc/4242/stat", " 300 200 ", " 450 300 ", " 1000 0 5 ", " 1040 0 5 ")
	replace(t, root, "proc/4242/task/4243/stat", " 280 170 ", " 420 260 ")
	replace(t, root, "proc/4242/task/4243/status", "\t5000", "\t7000")
	replace(t, root, "proc/net/dev", "5000 50 1 2", "9000 90 1 4")
	replace(t, root, "proc/net/snmp", " 1000 2000 5 ", " 1100 2200 15 ")
	replace(t, root, "proc/net/netstat", " 0 2 7", " 0 4 7")
	write(t, root, "sys/class/powercap/intel-rapl:0/energy_uj", "99671149\n") // 262143 J, and then around
	write(t, root, "sys/class/powercap/intel-rapl:1/energy_uj", "101000000\n")
	write(t, root, "sys/class/powercap/intel-rapl:0:0/energy_uj", "75000000\n")
	b, err := m.Sample()
	if err != nil {
		t.Fatal(err)
	}
	b.Time = a.Time.Add(2 * time.Second)
	u := b.Since(a)
	c := u.CPUs[1]
	near(t, "user", c.User, .4)
	near(t, "system", c.System, .2)
	near(t, "irq", c.IRQ, .05)
	near(t, "softirq", c.SoftIRQ, .15)
	near(t, "steal", c.Steal, .1)
	near(t, "idle", c.Idle, .1)
	near(t, "busy", c.Busy(), .9)
	near(t, "idle, where wait was set back", u.CPUs[2].Idle, 1)
	if cpu, busy := u.Busiest(nil); cpu != 1 || busy != c.Busy() {
		t.Error(cpu, busy)
	}
	if cpu, _ := u.Busiest(Set{2}); cpu != 2 {
		t.Error(cpu)
	}
	near(t, "busy of two", u.Of(Set{1, 2}).Busy(), .45)
	near(t, "switches", *u.Switches, 1e4)
	near(t, "interrupts", *u.Interrupts, 50)
	p := u.Processes[4242]
	near(t, "user of the process", p.User, .75)
	near(t, "system of the process", p.System, .5)
	near(t, "its seconds", p.CPUSeconds, 2.5)
	near(t, "its minor faults", p.MinorFaults, 20)
	near(t, "its voluntary switches", *p.Voluntary, 1000)
	near(t, "user of a thread", p.Threads[4243].User, .7)
	if p.Name != "memcached (x)" || p.RSS != 2560*int64(os.Getpagesize()) || p.Threads[4243].CPU != 2 || len(u.Processes) != 1 {
		t.Errorf("%+v", p)
	}
	near(t, "received", u.Network["eth0"].RXBytes, 2000)
	near(t, "drops", u.Network["eth0"].Drops, 1)
	near(t, "retransmits", u.TCP.Retransmits, 5)
	near(t, "lost", u.TCP.Lost, .05)
	near(t, "listen drops", u.TCP.ListenDrops, 1)
	near(t, "frequency", u.MHz[3], 2303)
	watts, source, ok := u.Watts()
	near(t, "power", watts, 50+50+5)
	if !ok || source != "rapl: package-0 + package-1 + package-0/dram + package-1/dram" {
		t.Errorf("%q", source)
	}
	for _, v := range []any{a, b, u} {
		if _, err := json.Marshal(v); err != nil {
			t.Error(err)
		}
	}
	if a.Since(b) != nil || a.Since(a) != nil {
		t.Error("usage of no time")
	}

	// The number belongs to another process now.
	replace(t, root, "proc/4242/stat", " 77777 ", " 88888 ")
	s, err := m.Sample()
	if err != nil {
		t.Fatal(err)
	}
	s.Time = b.Time.Add(time.Second)
	if u := s.Since(b); len(u.Processes) != 0 {
		t.Errorf("%+v", u.Processes)
	}
}

func TestGivenPower(t *testing.T) {
	m, err := NewMeter(MeterOptions{Root: unpack(t, "arm64"), Watts: 95, NoThreads: true, NoFrequency: true})
	if err != nil {
		t.Fatal(err)
	}
	a, _ := m.Sample()
	b, _ := m.Sample()
	b.Time = a.Time.Add(time.Second)
	u := b.Since(a)
	if watts, source, ok := u.Watts(); !ok || watts != 95 || source != "given: 95 W" {
		t.Error(watts, source, ok)
	}
	if u.MHz != nil || u.TCP != nil || u.Network != nil || u.Available != nil {
		t.Errorf("out of nothing: %+v", u)
	}
	if _, _, ok := (&Usage{}).Watts(); ok {
		t.Error("power out of nothing")
	}
	if _, err := NewMeter(MeterOptions{Root: t.TempDir(), Watts: -1}); err == nil {
		t.Error("a machine that gives power")
	}
}

// However often a counter wraps, the total is right as long as it is read at least once on each way round.
func TestWrap(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		wrap := rapid.Uint64Range(1, 1<<40).Draw(t, "wrap")
		at := rapid.Uint64Range(0, wrap).Draw(t, "start")
		total := uint64(0)
		for _, step := range rapid.SliceOf(rapid.Uint64Range(0, wrap)).Draw(t, "steps") {
			next := (at + step) % (wrap + 1)
			if got := moved(at, next, wrap); got != step {
				t.Fatalf("from %d to %d of %d: %d, want %d", at, next, wrap, got, step)
			}
			at, total = next, total+step
		}
	})
}

func TestRun(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Skip("needs /proc")
	}
	cmd := exec.Command("sh", "-c", "while :; do :; done") // this process has no numbers under qemu
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	defer cmd.Wait()
	defer cmd.Process.Kill()
	m, err := NewMeter(MeterOptions{})
	if err != nil {
		t.Fatal(err)
	}
	pid := cmd.Process.Pid
	m.Watch(pid)
	ctx, stop := context.WithTimeout(t.Context(), 500*time.Millisecond)
	defer stop()
	var samples []*Sample
	if err := m.Run(ctx, 50*time.Millisecond, func(s *Sample) { samples = append(samples, s) }); err != nil {
		t.Fatal(err)
	}
	if len(samples) < 3 {
		t.Fatalf("%d samples", len(samples))
	}
	u := samples[len(samples)-1].Since(samples[0])
	p, ok := u.Processes[pid]
	if busy := p.User + p.System; !ok || p.RSS == 0 || len(p.Threads) != 1 || busy < .01 || busy > 1.2 {
		t.Errorf("%+v", p)
	}
	if len(u.CPUs) == 0 || u.All.Busy() <= 0 || u.All.Busy() > 1.0001 {
		t.Errorf("%+v", u.All)
	}
}

func BenchmarkSample(b *testing.B) {
	m, err := NewMeter(MeterOptions{PIDs: []int{os.Getpid()}})
	if err != nil {
		b.Skip(err)
	}
	for b.Loop() {
		if _, err := m.Sample(); err != nil {
			b.Fatal(err)
		}
	}
}
