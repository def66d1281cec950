package console

import (
	"fmt"
	"io"
	"strings"
	"time"

	"godwit/internal/load/result"
)

// Progress tells in one line how a load goes.
type Progress struct {
	line  *Line
	track tracker
}

// NewProgress writes to w, or nothing if quiet.
func NewProgress(w io.Writer, quiet bool) *Progress { return &Progress{line: NewLine(w, quiet)} }

// Begin a load, before its first Watch.
func (p *Progress) Begin(l Load) {
	l.Rows = nil // the sums are enough
	p.track.begin(l)
}

// Watch is a drive.Hooks.Watch.
func (p *Progress) Watch(s *result.Snapshot) {
	if !p.line.quiet {
		p.line.Show(p.track.next(s).line())
	}
}

// Say writes a line that stays.
func (p *Progress) Say(format string, a ...any) { p.line.Say(format, a...) }

// End of a load: a terminal's line is taken away.
func (p *Progress) End() { p.line.Done() }

// line of a state. What matters most comes first: narrow terminals cut it.
func (s *state) line() string {
	if s.elapsed < 0 {
		return s.title() + "warming up, " + Clock(-s.elapsed) + " left"
	}
	t := &s.total
	words := []string{fmt.Sprintf("%s ops/s (mean %s)", Rate(t.last.rate), Rate(t.mean.rate))}
	words = append(words, "p50 "+Duration(time.Duration(t.last.p50)), "p99 "+Duration(time.Duration(t.last.p99)))
	if n := s.errors(); n > 0 {
		words = append(words, plural(n, "error"))
	}
	if left, ok := s.load.left(s.elapsed, s.done); ok {
		words = append(words, Clock(left)+" left")
	}
	return s.title() + Clock(s.elapsed) + " " + strings.Join(words, ", ")
}

func (s *state) title() string {
	if s.load.Title == "" {
		return ""
	}
	return s.load.Title + ": "
}
