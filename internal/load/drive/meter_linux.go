package drive

import (
	"syscall"
	"time"
)

// meter measures how busy the thread of a loop is.
type meter struct {
	cpu  time.Duration
	wall time.Time
}

func (m *meter) start() { m.cpu, m.wall = threadCPU(), time.Now() }

// busy is the share of the time since the last call that the calling thread used a processor, 0 to 1.
func (m *meter) busy() float64 {
	cpu, wall := m.cpu, m.wall
	m.start()
	if d := m.wall.Sub(wall); d > 0 {
		return min(1, float64(m.cpu-cpu)/float64(d))
	}
	return 0
}

func threadCPU() time.Duration {
	const rusageThread = 1
	var u syscall.Rusage
	if syscall.Getrusage(rusageThread, &u) != nil {
		return 0
	}
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}
