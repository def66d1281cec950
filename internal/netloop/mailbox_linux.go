//go:build !386

package netloop

import (
	"sync"
	"sync/atomic"
)

// mail is what other goroutines ask of a loop.
type mail struct {
	kind mailKind
	conn waker    // mailWake
	in   accepted // mailAdopt
}

type mailKind uint8

const (
	mailWake mailKind = iota
	mailAdopt
	mailScan
	mailStop
	mailDrain
)

// waker is a connection that can be waked by its loop.
type waker interface{ wake() }

// mailbox brings mail to a loop and wakes it when it sleeps. A loop at work is not disturbed: it looks before it sleeps.
type mailbox struct {
	efd    int         // eventfd, edge-triggered in the loop's epoll set, so that it need not be read
	asleep atomic.Bool // the loop waits in the kernel, or is about to
	full   atomic.Bool
	mu     sync.Mutex
	in     []mail
	spare  []mail
	shut   bool // the loop has ended; efd is closed
}

func (m *mailbox) post(x mail) bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.shut {
		return false
	}
	m.in = append(m.in, x)
	m.full.Store(true)
	if m.asleep.CompareAndSwap(true, false) {
		ring(m.efd)
	}
	return true
}

// take is everything in the box, valid until the next call. Loop only.
func (m *mailbox) take() []mail {
	if !m.full.Load() {
		return nil
	}
	m.mu.Lock()
	clear(m.spare)
	got := m.in
	m.in, m.spare = m.spare[:0], got
	m.full.Store(false)
	m.mu.Unlock()
	return got
}

// close refuses further mail and returns what is left.
func (m *mailbox) close() []mail {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.shut = true
	closeFD(m.efd)
	return m.in
}
