package console

import (
	"bytes"
	"context"
	"errors"
	"os"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/term"
	"golang.org/x/sys/unix"

	"godwit/internal/load/result"
)

// screen is a terminal without a glass.
type screen struct {
	t     *testing.T
	glass *os.File // what a person would have
	tty   *os.File // what programs have
	bytes chan []byte
	seen  []byte
}

func newScreen(t *testing.T, width, height uint16) *screen {
	t.Helper()
	t.Setenv("TERM", "xterm-256color")
	fd, err := unix.Open("/dev/ptmx", unix.O_RDWR|unix.O_NOCTTY|unix.O_CLOEXEC|unix.O_NONBLOCK, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	glass := os.NewFile(uintptr(fd), "glass")
	t.Cleanup(func() { glass.Close() })
	if err := unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0); err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	n, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	tty, err := os.OpenFile("/dev/pts/"+strconv.Itoa(n), os.O_RDWR|unix.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { tty.Close() })
	s := &screen{t: t, glass: glass, tty: tty, bytes: make(chan []byte, 1000)}
	s.resize(width, height)
	go func() {
		defer close(s.bytes)
		for {
			buf := make([]byte, 4096)
			n, err := glass.Read(buf)
			if err != nil {
				return
			}
			s.bytes <- buf[:n]
		}
	}()
	return s
}

func (s *screen) resize(width, height uint16) {
	if err := unix.IoctlSetWinsize(int(s.tty.Fd()), unix.TIOCSWINSZ, &unix.Winsize{Row: height, Col: width}); err != nil {
		s.t.Fatal(err)
	}
}

// await reads until text is there, and forgets everything up to it.
func (s *screen) await(text string) {
	s.t.Helper()
	late := time.After(20 * time.Second)
	for {
		if i := bytes.Index(s.seen, []byte(text)); i >= 0 {
			s.seen = s.seen[i+len(text):]
			return
		}
		select {
		case b, ok := <-s.bytes:
			if !ok {
				s.t.Fatalf("%q did not come, but %q", text, s.seen)
			}
			s.seen = append(s.seen, b...)
		case <-late:
			s.t.Fatalf("%q did not come, but %q", text, s.seen)
		}
	}
}

func (s *screen) press(key string) {
	if _, err := s.glass.WriteString(key); err != nil {
		s.t.Fatal(err)
	}
}

func (s *screen) modes() unix.Termios {
	m, err := unix.IoctlGetTermios(int(s.tty.Fd()), unix.TCGETS)
	if err != nil {
		s.t.Fatal(err)
	}
	return *m
}

const (
	enter = "\x1b[?1049h"
	leave = "\x1b[?1049l"
)

func TestTop(t *testing.T) {
	s := newScreen(t, 90, 24)
	before := s.modes()
	stopped := make(chan struct{})
	asked := uint64(0)
	top := NewTop(Options{
		Out: s.tty, In: s.tty, Stop: func() { close(stopped) },
		Server: func(context.Context) (time.Duration, uint64, error) {
			asked++
			return time.Duration(asked) * 5 * time.Millisecond, asked * 1000, nil
		},
		Texts: func() []result.Text { return []result.Text{{Text: "SERVER_ERROR busy", N: 7}} },
	})
	defer top.End()
	s.await(enter)
	if s.modes().Lflag == before.Lflag {
		t.Error("keys are echoed")
	}
	top.Begin(Load{Title: "the title", Rows: []string{"Sets", "Gets"}, Duration: time.Minute})
	s.await("the title")
	top.Watch(snapshot(time.Second, 100, 900))
	s.await("1000 ops/s")
	s.await("SERVER_ERROR busy")
	top.Watch(snapshot(2*time.Second, 100, 900))
	s.await("5.00µs")
	s.press("p")
	s.await("paused")
	top.Watch(snapshot(3*time.Second, 200, 1900))
	s.press("p")
	s.await("2100")
	s.resize(50, 12)
	if err := unix.Kill(unix.Getpid(), unix.SIGWINCH); err != nil { // the terminal of nobody: the kernel does not tell us
		t.Fatal(err)
	}
	s.await("the title")
	s.press("q")
	<-stopped
	s.await("stopping")
	top.End()
	s.await(leave)
	top.End()
	top.Watch(snapshot(4*time.Second, 1, 1)) // a late one does no harm
	if after := s.modes(); after != before {
		t.Errorf("the terminal was left in %+v, it was in %+v", after, before)
	}
}

// TestTopTwice leaves the screen before the load has ended: the second time that q or ctrl-c is pressed.
func TestTopTwice(t *testing.T) {
	s := newScreen(t, 90, 24)
	before := s.modes()
	stopped := make(chan struct{}, 1)
	top := NewTop(Options{Out: s.tty, In: s.tty, Stop: func() { stopped <- struct{}{} }})
	defer top.End()
	s.await(enter)
	s.press("\x03")
	<-stopped
	s.await("stopping")
	s.press("\x03")
	s.await(leave)
	<-top.done
	if after := s.modes(); after != before {
		t.Errorf("the terminal was left in %+v, it was in %+v", after, before)
	}
	for i := range 5 {
		top.Watch(snapshot(time.Duration(i+1)*time.Second, 1, 1))
	}
}

// TestTopPanics leaves the terminal as it was when the one who runs the load panics.
func TestTopPanics(t *testing.T) {
	s := newScreen(t, 90, 24)
	before := s.modes()
	func() {
		defer func() { recover() }()
		top := NewTop(Options{Out: s.tty, In: s.tty})
		defer top.End()
		s.await(enter)
		panic("error")
	}()
	s.await(leave)
	if after := s.modes(); after != before {
		t.Errorf("the terminal was left in %+v, it was in %+v", after, before)
	}
}

func TestTopWithoutTerminal(t *testing.T) {
	for _, quiet := range []bool{false, true} {
		var b strings.Builder
		top := NewTop(Options{Out: &b, Quiet: quiet, Server: func(context.Context) (time.Duration, uint64, error) {
			t.Error("the server was asked for nothing")
			return 0, 0, errors.New("no")
		}})
		top.Begin(Load{Title: "load", Rows: []string{"Sets", "Gets"}})
		top.Watch(snapshot(time.Second, 100, 900))
		top.End()
		if got := b.String(); quiet && got != "" || !quiet && (strings.Count(got, "\n") != 2 || !strings.Contains(got, "needs a terminal") || !strings.Contains(got, "load: 0:01 1000 ops/s")) {
			t.Errorf("quiet %v: %q", quiet, got)
		}
	}
}

func TestProgressOnTerminal(t *testing.T) {
	s := newScreen(t, 30, 10)
	if !Terminal(s.tty) || Width(s.tty) != 30 {
		t.Fatalf("a terminal of 30 columns is %v, %d", Terminal(s.tty), Width(s.tty))
	}
	p := NewProgress(s.tty, false)
	p.Begin(Load{Title: "load"})
	p.Watch(snapshot(time.Second, 100, 900))
	s.await("\rload: 0:01 1000 ops/s (mean …\x1b[K")
	p.End()
	s.await("\r\x1b[K")
	s.resize(0, 0)
	if Width(s.tty) != usual {
		t.Error(Width(s.tty))
	}
	if _, err := term.GetState(s.tty.Fd()); err != nil {
		t.Error(err)
	}
}
