//go:build !386

package netloop

import (
	"errors"
	"fmt"
	"sync/atomic"
	"syscall"
	"time"
	"unsafe"
)

// The part of io_uring that uloop needs, with the kernel's names. Layouts: include/uapi/linux/io_uring.h.

const (
	sysUringSetup    = 425
	sysUringEnter    = 426
	sysUringRegister = 427

	setupCQSize       = 1 << 3
	setupDisabled     = 1 << 6
	setupSubmitAll    = 1 << 7
	setupSingleIssuer = 1 << 12
	setupDeferTaskrun = 1 << 13

	enterGetEvents = 1 << 0
	enterExtArg    = 1 << 3

	registerEnable  = 12
	registerBufRing = 22

	featSingleMmap = 1 << 0
	sqCQOverflow   = 1 << 1

	opPollAdd     = 6
	opAsyncCancel = 14
	opSend        = 26
	opRecv        = 27

	sqeBufferSelect = 1 << 5
	sqeSkipSuccess  = 1 << 6
	recvPollFirst   = 1 << 0
	recvMultishot   = 1 << 1
	pollAddMulti    = 1 << 0
	cqeBuffer       = 1 << 0
	cqeMore         = 1 << 1
	cqeBufferShift  = 16
	uringSQEntries  = 1024
	uringCQEntries  = 8192
	uringBufs       = 512 // provided buffers; a power of two
	uringBufSize    = 6 << 10
	uringOffSQEs    = 0x10000000
	uringBufHead    = smallLeft // free bytes in front of each, for a rest of earlier input
	uringRingBytes  = uringBufs * 16
	uringBufGroup   = 0
)

type sqe struct {
	op       uint8
	flags    uint8
	ioprio   uint16
	fd       int32
	off      uint64
	addr     uint64
	len      uint32
	opFlags  uint32
	userData uint64
	bufGroup uint16
	_        [6]byte
	_        [2]uint64
}

type cqe struct {
	userData uint64
	res      int32
	flags    uint32
}

type uringParams struct {
	sqEntries, cqEntries, flags, cpu, idle, features, wqFD uint32
	_                                                      [3]uint32
	sq                                                     struct {
		head, tail, mask, entries, flags, dropped, array, _ uint32
		_                                                   uint64
	}
	cq struct {
		head, tail, mask, entries, overflow, cqes, flags, _ uint32
		_                                                   uint64
	}
}

type bufReg struct {
	addr    uint64
	entries uint32
	group   uint16
	flags   uint16
	_       [3]uint64
}

type bufEntry struct {
	addr uint64
	len  uint32
	id   uint16
	tail uint16 // meaningful in entry 0 only: the ring's tail
}

// uring is a submission and a completion queue with a ring of provided buffers. Only the thread that enabled it may use
// it. The memory is the kernel's too, hence outside the heap.
type uring struct {
	fd     int
	rings  []byte // mapped
	sqeMem []byte // mapped
	bufMem []byte // mapped: the ring of buffers, then the buffers

	sqHead, sqTail, sqFlags *uint32
	sqes                    []sqe
	tail                    uint32 // of the submission queue, ours: the kernel sees it at enter
	sent                    uint32 // up to where the kernel has taken entries

	cqHead, cqTail *uint32
	cqes           []cqe

	bufs    []bufEntry
	bufTail uint16

	arg getEventsArg // of enter; here, because stacks move
	ts  syscall.Timespec
}

func newUring() (*uring, error) {
	p := uringParams{cqEntries: uringCQEntries, flags: setupCQSize | setupDisabled | setupSubmitAll | setupSingleIssuer | setupDeferTaskrun}
	fd, _, e := syscall.Syscall(sysUringSetup, uringSQEntries, uintptr(unsafe.Pointer(&p)), 0)
	if e != 0 {
		return nil, fmt.Errorf("io_uring_setup: %w", e)
	}
	r := &uring{fd: int(fd)}
	syscall.CloseOnExec(r.fd)
	if err := r.mapQueues(&p); err != nil {
		r.close()
		return nil, err
	}
	if err := r.mapBuffers(); err != nil {
		r.close()
		return nil, err
	}
	return r, nil
}

func (r *uring) mapQueues(p *uringParams) (err error) {
	if p.features&featSingleMmap == 0 {
		return errors.New("io_uring: too old")
	}
	n := max(p.sq.array+p.sqEntries*4, p.cq.cqes+p.cqEntries*uint32(unsafe.Sizeof(cqe{})))
	const prot = syscall.PROT_READ | syscall.PROT_WRITE
	if r.rings, err = syscall.Mmap(r.fd, 0, int(n), prot, syscall.MAP_SHARED|syscall.MAP_POPULATE); err != nil {
		return fmt.Errorf("io_uring: map queues: %w", err)
	}
	size := int(unsafe.Sizeof(sqe{}))
	if r.sqeMem, err = syscall.Mmap(r.fd, uringOffSQEs, int(p.sqEntries)*size, prot, syscall.MAP_SHARED|syscall.MAP_POPULATE); err != nil {
		return fmt.Errorf("io_uring: map entries: %w", err)
	}
	u32 := func(off uint32) *uint32 { return (*uint32)(unsafe.Pointer(&r.rings[off])) }
	r.sqHead, r.sqTail, r.sqFlags = u32(p.sq.head), u32(p.sq.tail), u32(p.sq.flags)
	r.cqHead, r.cqTail = u32(p.cq.head), u32(p.cq.tail)
	r.sqes = unsafe.Slice((*sqe)(unsafe.Pointer(&r.sqeMem[0])), p.sqEntries)
	r.cqes = unsafe.Slice((*cqe)(unsafe.Pointer(&r.rings[p.cq.cqes])), p.cqEntries)
	array := unsafe.Slice(u32(p.sq.array), p.sqEntries)
	for i := range array { // entries are used in order, for ever
		array[i] = uint32(i)
	}
	return nil
}

func (r *uring) mapBuffers() (err error) {
	r.bufMem, err = syscall.Mmap(-1, 0, uringRingBytes+uringBufs*uringBufSize, syscall.PROT_READ|syscall.PROT_WRITE, syscall.MAP_ANON|syscall.MAP_PRIVATE)
	if err != nil {
		return fmt.Errorf("io_uring: map buffers: %w", err)
	}
	r.bufs = unsafe.Slice((*bufEntry)(unsafe.Pointer(&r.bufMem[0])), uringBufs)
	reg := bufReg{addr: uint64(uintptr(unsafe.Pointer(&r.bufMem[0]))), entries: uringBufs, group: uringBufGroup}
	if e := r.register(registerBufRing, unsafe.Pointer(&reg), 1); e != 0 {
		return fmt.Errorf("io_uring: register buffers: %w", e)
	}
	for i := range uringBufs {
		r.giveBack(uint16(i))
	}
	r.offerBufs()
	return nil
}

func (r *uring) register(op uintptr, arg unsafe.Pointer, n uintptr) syscall.Errno {
	_, _, e := syscall.Syscall6(sysUringRegister, uintptr(r.fd), op, uintptr(arg), n, 0, 0)
	return e
}

// enable makes the calling thread the only one that may use the rings.
func (r *uring) enable() error {
	if e := r.register(registerEnable, nil, 0); e != 0 {
		return fmt.Errorf("io_uring: enable: %w", e)
	}
	return nil
}

func (r *uring) close() {
	closeFD(r.fd)
	for _, m := range [][]byte{r.rings, r.sqeMem, r.bufMem} {
		if m != nil {
			syscall.Munmap(m)
		}
	}
	*r = uring{fd: -1}
}

// buf is the whole memory of a provided buffer; data starts at uringBufHead.
func (r *uring) buf(id uint16) []byte {
	at := uringRingBytes + int(id)*uringBufSize
	return r.bufMem[at : at+uringBufSize : at+uringBufSize]
}

// giveBack returns a buffer; the kernel sees it after offerBufs.
func (r *uring) giveBack(id uint16) {
	e := &r.bufs[r.bufTail&(uringBufs-1)]
	e.addr = uint64(uintptr(unsafe.Pointer(&r.buf(id)[uringBufHead])))
	e.len = uringBufSize - uringBufHead
	e.id = id
	r.bufTail++
}

// offerBufs publishes the tail of the ring of buffers, which shares a word with the id of entry 0.
func (r *uring) offerBufs() {
	word := (*uint32)(unsafe.Pointer(&r.bufs[0].id))
	atomic.StoreUint32(word, joinHalves(r.bufs[0].id, r.bufTail))
}

// joinHalves is the 32-bit word whose first two bytes in memory are lo and whose last two are hi.
func joinHalves(lo, hi uint16) (w uint32) {
	h := (*[2]uint16)(unsafe.Pointer(&w))
	h[0], h[1] = lo, hi
	return w
}

// next is a cleared submission entry, or nil when the queue is full.
func (r *uring) next() *sqe {
	if r.tail-r.sent >= uint32(len(r.sqes)) {
		return nil
	}
	s := &r.sqes[r.tail&uint32(len(r.sqes)-1)]
	*s = sqe{}
	r.tail++
	return s
}

// queued is the number of entries the kernel has not taken.
func (r *uring) queued() int { return int(r.tail - r.sent) }

type getEventsArg struct {
	sigmask   uint64
	sigmaskSz uint32
	_         uint32
	ts        uint64
}

// enter submits what is queued and waits for at least wait completions, for at most the given time (negative: for ever).
// raw: without telling the scheduler. It also runs the kernel's deferred work, without which nothing completes.
func (r *uring) enter(wait int, most time.Duration, raw bool) syscall.Errno {
	atomic.StoreUint32(r.sqTail, r.tail)
	flags := uintptr(enterGetEvents)
	var argp, argn uintptr
	if wait > 0 && most >= 0 {
		r.ts = syscall.NsecToTimespec(int64(most))
		r.arg.ts = uint64(uintptr(unsafe.Pointer(&r.ts)))
		flags |= enterExtArg
		argp, argn = uintptr(unsafe.Pointer(&r.arg)), unsafe.Sizeof(r.arg)
	}
	var e syscall.Errno
	if raw {
		_, _, e = syscall.RawSyscall6(sysUringEnter, uintptr(r.fd), uintptr(r.queued()), uintptr(wait), flags, argp, argn)
	} else {
		_, _, e = syscall.Syscall6(sysUringEnter, uintptr(r.fd), uintptr(r.queued()), uintptr(wait), flags, argp, argn)
	}
	r.sent = atomic.LoadUint32(r.sqHead)
	return e
}

// submit hands over what is queued and does nothing else: only failing or unasked-for entries complete during it.
func (r *uring) submit() syscall.Errno {
	atomic.StoreUint32(r.sqTail, r.tail)
	_, _, e := syscall.RawSyscall6(sysUringEnter, uintptr(r.fd), uintptr(r.queued()), 0, 0, 0, 0)
	r.sent = atomic.LoadUint32(r.sqHead)
	return e
}

// ready is the number of completions to take; at(i) is one of them, valid until done.
func (r *uring) ready() int { return int(atomic.LoadUint32(r.cqTail) - *r.cqHead) }

func (r *uring) at(i int) *cqe { return &r.cqes[(*r.cqHead+uint32(i))&uint32(len(r.cqes)-1)] }

func (r *uring) done(n int) { atomic.StoreUint32(r.cqHead, *r.cqHead+uint32(n)) }

// overflown says that completions wait in the kernel for room.
func (r *uring) overflown() bool { return atomic.LoadUint32(r.sqFlags)&sqCQOverflow != 0 }

// address of b for the kernel. b must stay reachable, and must not be on a stack, until the kernel is done with it.
func address(b []byte) uint64 { return uint64(uintptr(unsafe.Pointer(unsafe.SliceData(b)))) }
