package console

import (
	"fmt"
	"strings"
	"time"

	"github.com/charmbracelet/x/ansi"

	"godwit/internal/load"
)

// busyLimit is the share of its time from which a loop of the load generator may be what sets the limit.
const busyLimit = 0.9

// mostTexts is how many error texts are shown.
const mostTexts = 3

// render draws the screen: height lines of at most width columns, without an end of the last one.
func (s *state) render(width, height int) string {
	if width <= 0 || height <= 0 {
		return ""
	}
	head := s.head(width)
	tail := s.tail()
	foot := s.foot()
	// Tables get the lines that are left, at least those of the smallest one: what would be last gives way.
	tail = tail[:min(len(tail), max(2, height-len(head)-1-smallest))]
	free := height - len(head) - len(tail) - 1
	lines := append(head, s.tables(width, free)...)
	lines = append(lines, tail...)
	lines = lines[:min(len(lines), height-1)]
	for len(lines) < height-1 {
		lines = append(lines, "")
	}
	lines = append(lines, foot)
	for i := range lines {
		lines[i] = strings.TrimRight(fit(clean(lines[i]), width), " ")
	}
	return strings.Join(lines, "\n")
}

// smallest is how many lines a table needs: heading, a row, an empty line.
const smallest = 3

// ends puts one text at the left and one at the right.
func ends(left, right string, width int) string {
	space := width - ansi.StringWidth(left) - ansi.StringWidth(right)
	if space < 2 {
		return fit(left, max(0, width-ansi.StringWidth(right)-2)) + "  " + right
	}
	return left + strings.Repeat(" ", space) + right
}

func (s *state) head(width int) []string {
	when := Clock(s.elapsed)
	left, known := s.load.left(s.elapsed, s.done)
	switch {
	case !s.started:
		when = "connecting"
	case s.elapsed < 0:
		when = "warming up, " + Clock(-s.elapsed) + " left"
	case known:
		when += ", " + Clock(left) + " left"
	}
	lines := []string{ends(s.load.Title, when, width), ""}
	if !s.started || s.elapsed < 0 {
		return lines
	}
	lines = append(lines, fmt.Sprintf("%s ops/s   mean %s   %s done   in %s/s   out %s/s",
		Rate(s.total.last.rate), Rate(s.total.mean.rate), Rate(float64(s.done)), Bytes(s.rx), Bytes(s.tx)))
	if len(s.history) > 0 {
		top := 0.0
		for _, v := range s.history {
			top = max(top, v)
		}
		shown := s.history[max(0, len(s.history)-max(1, width-12)):]
		lines = append(lines, spark(shown)+" "+Rate(top))
	}
	return append(lines, "")
}

const cell = 9 // columns of a number

func (s *state) tables(width, free int) (lines []string) {
	if !s.started || s.elapsed < 0 || len(s.rows) == 0 {
		return nil
	}
	rows := s.rows
	if len(rows) > 1 {
		rows = append(rows[:len(rows):len(rows)], s.total)
	}
	name := ansi.StringWidth("since the start")
	for i := range rows {
		name = max(name, ansi.StringWidth(clean(rows[i].name)))
	}
	name = min(name, max(8, width-6*cell))
	table := func(title string, most int, of func(*row) *figures) {
		lines = append(lines, heading(title, name))
		shown := rows
		if len(rows) > most {
			// The sum, and as many of the others as there is room for, stay.
			shown = append(append([]row{}, rows[:max(0, most-2)]...), rows[len(rows)-1:]...)
		}
		for i := range shown {
			if i == len(shown)-1 && len(shown) < len(rows) && most > 1 {
				lines = append(lines, fmt.Sprintf("… %d more", len(rows)-len(shown)))
			}
			lines = append(lines, shown[i].text(name, of(&shown[i])))
		}
		lines = append(lines, "")
	}
	last := func(r *row) *figures { return &r.last }
	mean := func(r *row) *figures { return &r.mean }
	// A table needs a heading and an empty line besides its rows.
	switch both := (free - 4) / 2; {
	case both >= 1:
		most := min(both, len(rows))
		table("last second", most, last)
		table("since the start", min(len(rows), free-4-most), mean)
	case free >= smallest:
		table("last second", free-2, last)
	}
	return lines
}

func heading(title string, name int) string {
	line := pad(title, name, false)
	for _, c := range []string{"ops/s", "hits", "p50", "p99", "p99.9", "max"} {
		line += pad(c, cell, true)
	}
	return line
}

func (r *row) text(name int, f *figures) string {
	hits := "-"
	if n := f.hits + f.misses; n > 0 {
		hits = Percent(float64(f.hits) / float64(n))
	}
	line := pad(clean(r.name), name, false) + pad(Rate(f.rate), cell, true) + pad(hits, cell, true)
	for _, ns := range []int64{f.p50, f.p99, f.p999, f.max} {
		line += pad(Duration(time.Duration(ns)), cell, true)
	}
	return line
}

// names of statuses that are worth a line.
var names = [load.Statuses]string{load.NotStored: "declined", load.Mismatch: "wrong values", load.Failed: "error answers", load.Moved: "moved", load.Ask: "ask"}

func (s *state) tail() (lines []string) {
	if !s.started {
		return nil
	}
	line := fmt.Sprintf("client   %s", plural(uint64(max(0, s.clients)), "connection"))
	if s.busiest > 0 {
		line += fmt.Sprintf(", busiest loop %s", Percent(min(1, s.busiest)))
	}
	lines = append(lines, line)
	if s.busiest >= busyLimit {
		lines = append(lines, "warning  an event loop of the load generator is busy nearly all the time: it may be the limit, not the server")
	}
	if v := s.server; v != nil {
		switch {
		case v.problem != "":
			lines = append(lines, "server   "+v.problem)
		case v.perCommand < 0:
			lines = append(lines, "server   processor time not known yet")
		default:
			lines = append(lines, fmt.Sprintf("server   %s of processor time per operation, %.2f processors", Duration(v.perCommand), v.cores))
		}
	}
	var words []string
	for i, n := range s.statuses {
		if n > 0 && names[i] != "" {
			words = append(words, Rate(float64(n))+" "+names[i])
		}
	}
	if s.connErrors > 0 {
		words = append(words, plural(s.connErrors, "connection error"))
	}
	if len(words) > 0 {
		lines = append(lines, "answers  "+strings.Join(words, ", "))
	}
	for i, t := range s.texts {
		if i == mostTexts {
			lines = append(lines, fmt.Sprintf("         … %d other texts", len(s.texts)-i))
			break
		}
		lines = append(lines, fmt.Sprintf("%s  %s", pad(Rate(float64(t.N)), 7, true), t.Text))
	}
	return lines
}

func (s *state) foot() string {
	switch {
	case s.stopping:
		return "q leave the screen   stopping: the last answers are waited for"
	case s.paused:
		return "q stop the load   p go on   paused: the load goes on"
	}
	return "q stop the load   p pause the screen"
}
