// Package console shows loads under way on a terminal: a line that is written again and again, or a screen of its own. It
// also has the one way in which rates, times, bytes and shares are written for people.
//
// It measures nothing: it is fed with snapshots once a second.
package console

import (
	"fmt"
	"io"
	"sync"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/term"
)

// Terminal says whether w is one.
func Terminal(w io.Writer) bool {
	f, ok := w.(term.File)
	return ok && term.IsTerminal(f.Fd())
}

// usual is the width of terminals that do not tell theirs.
const usual = 80

// Width of the terminal w in columns; 0: it is none.
func Width(w io.Writer) int {
	f, ok := w.(term.File)
	if !ok || !term.IsTerminal(f.Fd()) {
		return 0
	}
	if width, _, err := term.GetSize(f.Fd()); err == nil && width > 0 {
		return width
	}
	return usual
}

// Line is a line that tells how something goes. On a terminal each one replaces the one before; elsewhere they follow one
// another. It may be used by several goroutines.
type Line struct {
	mu    sync.Mutex
	w     io.Writer
	quiet bool
	width func() int // of the terminal; 0: there is none
	shown bool
}

// NewLine writes to w, or nothing at all if quiet.
func NewLine(w io.Writer, quiet bool) *Line {
	return &Line{w: w, quiet: quiet, width: func() int { return Width(w) }}
}

// Show the line.
func (l *Line) Show(text string) {
	if l.quiet {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	text = clean(text)
	width := l.width()
	if width == 0 {
		io.WriteString(l.w, text+"\n")
		return
	}
	// The last column stays free: some terminals go to the next line as soon as it is written.
	io.WriteString(l.w, "\r"+fit(text, width-1)+ansi.EraseLineRight)
	l.shown = true
}

// Say writes a line that stays, above the one that is shown; also when quiet.
func (l *Line) Say(format string, a ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
	fmt.Fprintf(l.w, format+"\n", a...)
}

// Done takes the line away from a terminal, for what comes next.
func (l *Line) Done() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.clear()
}

func (l *Line) clear() {
	if l.shown {
		io.WriteString(l.w, "\r"+ansi.EraseLineRight)
		l.shown = false
	}
}
