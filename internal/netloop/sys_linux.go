//go:build !386

package netloop

import (
	"syscall"
	"time"
	"unsafe"
)

// The system calls of the loops. Those named raw never tell the Go scheduler: they must not block for longer than a loop
// may hold its P. Linux returns EINTR from a raw wait when the runtime wants to stop the thread (SIGURG), so that a
// stop-the-world is not held up.

const (
	epollIn     = syscall.EPOLLIN
	epollOut    = syscall.EPOLLOUT
	epollErr    = syscall.EPOLLERR
	epollHup    = syscall.EPOLLHUP
	epollEdge   = 1 << 31
	msgNosignal = syscall.MSG_NOSIGNAL
)

type iovec = syscall.Iovec

func rawRecv(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_RECVFROM, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), 0, 0, 0)
	return int(n), e
}

func rawRecvmsg(fd int, h *syscall.Msghdr) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_RECVMSG, uintptr(fd), uintptr(unsafe.Pointer(h)), 0, 0, 0, 0)
	return int(n), e
}

func rawSend(fd int, b []byte) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDTO, uintptr(fd), uintptr(unsafe.Pointer(unsafe.SliceData(b))), uintptr(len(b)), msgNosignal, 0, 0)
	return int(n), e
}

func rawSendmsg(fd int, h *syscall.Msghdr) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_SENDMSG, uintptr(fd), uintptr(unsafe.Pointer(h)), msgNosignal, 0, 0, 0)
	return int(n), e
}

// rawEpollWait waits at most ms milliseconds without telling the scheduler.
func rawEpollWait(ep int, ev []syscall.EpollEvent, ms int) (int, syscall.Errno) {
	n, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(ms), 0, 0)
	return int(n), e
}

// epollWait is the ordinary blocking wait: the scheduler gives the P of this thread to others meanwhile.
func epollWait(ep int, ev []syscall.EpollEvent, ms int) (int, syscall.Errno) {
	n, _, e := syscall.Syscall6(syscall.SYS_EPOLL_PWAIT, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(ms), 0, 0)
	return int(n), e
}

const sysEpollPwait2 = 441

// epollWaitFor waits at most the time given, raw or not.
func epollWaitFor(ep int, ev []syscall.EpollEvent, most time.Duration, raw bool) (n int, e syscall.Errno) {
	ts := syscall.NsecToTimespec(int64(most))
	var r uintptr
	if raw {
		r, _, e = syscall.RawSyscall6(sysEpollPwait2, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	} else {
		r, _, e = syscall.Syscall6(sysEpollPwait2, uintptr(ep), uintptr(unsafe.Pointer(unsafe.SliceData(ev))), uintptr(len(ev)), uintptr(unsafe.Pointer(&ts)), 0, 0)
	}
	if e == syscall.ENOSYS { // before Linux 5.11
		return epollWait(ep, ev, int((most+time.Millisecond-1)/time.Millisecond))
	}
	return int(r), e
}

// setTimerSlack lets timers of the calling thread be late by a nanosecond at most.
func setTimerSlack() {
	const prSetTimerslack = 29
	syscall.RawSyscall(syscall.SYS_PRCTL, prSetTimerslack, 1, 0)
}

func rawEpollCtl(ep, op, fd int, ev *syscall.EpollEvent) syscall.Errno {
	_, _, e := syscall.RawSyscall6(syscall.SYS_EPOLL_CTL, uintptr(ep), uintptr(op), uintptr(fd), uintptr(unsafe.Pointer(ev)), 0, 0)
	return e
}

func eventfd() (int, error) {
	fd, _, e := syscall.RawSyscall(syscall.SYS_EVENTFD2, 0, syscall.O_CLOEXEC|syscall.O_NONBLOCK, 0)
	if e != 0 {
		return -1, e
	}
	return int(fd), nil
}

// ring adds one to an eventfd.
func ring(fd int) {
	one := uint64(1)
	syscall.RawSyscall(syscall.SYS_WRITE, uintptr(fd), uintptr(unsafe.Pointer(&one)), 8)
}

// setIovec points v at b, which must stay reachable and unmoved (heap or off-heap) during the call.
func setIovec(v *iovec, b []byte) {
	v.Base = unsafe.SliceData(b)
	v.SetLen(len(b))
}

func shutdownWrite(fd int) { syscall.RawSyscall(syscall.SYS_SHUTDOWN, uintptr(fd), syscall.SHUT_WR, 0) }

func closeFD(fd int) { syscall.RawSyscall(syscall.SYS_CLOSE, uintptr(fd), 0, 0) }

// setLen sets a length field whose width differs between architectures.
func setLen[T uint32 | uint64](p *T, n int) { *p = T(n) }
