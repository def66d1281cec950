package host

import (
	"errors"
	"fmt"
	"os/exec"
	"runtime"
	"slices"
	"strconv"

	"golang.org/x/sys/unix"
)

// Usable CPUs of this process: its affinity. How many of them a quota leaves is Host.UsableCPUs.
func Usable() (Set, error) { return Affinity(0) }

// Affinity of a process's first thread, or of one thread; 0 is this process.
func Affinity(pid int) (Set, error) {
	mask := unix.NewCPUSet(maxCPU)
	if err := unix.SchedGetaffinityDynamic(pid, mask); err != nil {
		return nil, fmt.Errorf("host: affinity of process %d: %w", pid, err)
	}
	s := Set{}
	for cpu := range maxCPU + 1 {
		if mask.IsSet(cpu) {
			s = append(s, cpu)
		}
	}
	return s, nil
}

// Pin all threads of a running process to a set; threads that it starts later inherit that. A program that counts its CPUs
// when it starts, as those in Go do, wants Start instead.
func Pin(pid int, set Set) error {
	mask, err := maskOf(set)
	if err != nil {
		return err
	}
	t := &tree{root: "/"}
	var done []int
	for range 100 { // threads that start meanwhile are seen in the next round
		fresh := false
		for _, dir := range t.glob("proc/" + strconv.Itoa(pid) + "/task/[0-9]*") {
			tid := trailing(dir)
			if slices.Contains(done, tid) {
				continue
			}
			err := unix.SchedSetaffinityDynamic(tid, mask)
			if errors.Is(err, unix.ESRCH) { // it ended
				continue
			}
			if err != nil {
				return fmt.Errorf("host: thread %d of process %d on CPUs %v: %w", tid, pid, set, err)
			}
			done, fresh = append(done, tid), true
		}
		if !fresh {
			break
		}
	}
	if len(done) == 0 {
		return fmt.Errorf("host: process %d on CPUs %v: %w", pid, set, unix.ESRCH)
	}
	return nil
}

func maskOf(set Set) (unix.CPUSetDynamic, error) {
	if len(set) == 0 {
		return nil, errors.New("host: an empty set of CPUs runs nothing")
	}
	mask := unix.NewCPUSet(max(set[len(set)-1], 1023))
	for _, cpu := range set {
		if cpu < 0 || cpu > maxCPU {
			return nil, fmt.Errorf("host: no CPU can have number %d", cpu)
		}
		mask.Set(cpu)
	}
	return mask, nil
}

// Start a command on a set of CPUs, as taskset does: it is there from its first instruction.
func Start(cmd *exec.Cmd, set Set) error {
	mask, err := maskOf(set)
	if err != nil {
		return err
	}
	failed := make(chan error, 1)
	go func() {
		// A child inherits the affinity of the thread that forks it. This thread is not given back to the scheduler while
		// it is pinned; if that cannot be undone it ends with the goroutine.
		runtime.LockOSThread()
		before := unix.NewCPUSet(maxCPU)
		if err := unix.SchedGetaffinityDynamic(0, before); err != nil {
			failed <- err
			return
		}
		if err := unix.SchedSetaffinityDynamic(0, mask); err != nil {
			failed <- fmt.Errorf("host: CPUs %v: %w", set, err)
			runtime.UnlockOSThread()
			return
		}
		err := cmd.Start()
		if unix.SchedSetaffinityDynamic(0, before) == nil {
			runtime.UnlockOSThread()
		}
		failed <- err
	}()
	return <-failed
}
