//go:build !linux

package drive

// meter of how busy a loop is: unknown on this system.
type meter struct{}

func (*meter) start()        {}
func (*meter) busy() float64 { return 0 }
