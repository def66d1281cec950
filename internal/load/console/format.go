package console

import (
	"fmt"
	"math"
	"strings"
	"time"
	"unicode"

	"github.com/charmbracelet/x/ansi"
)

// Rate is a number of events or of events per second, with four digits: 812, 12.34k, 1.234M.
func Rate(x float64) string {
	switch {
	case math.IsNaN(x) || math.IsInf(x, 0) || x < 0:
		return "-"
	case x < 9.995 && x != math.Trunc(x):
		return fmt.Sprintf("%.2f", x)
	}
	if x < 9999.5 { // whole numbers of four digits need no unit
		return fmt.Sprintf("%.0f", x)
	}
	units := "kMGT"
	unit := 0
	for x /= 1000; x >= 999.95 && unit < len(units)-1; unit++ {
		x /= 1000
	}
	return digits(x, 4) + units[unit:unit+1]
}

// digits writes x with so many of them, or more if there are more before the point.
func digits(x float64, n int) string {
	after := n - 1
	for y := x; y >= 10 && after > 0; y /= 10 {
		after--
	}
	s := fmt.Sprintf("%.*f", after, x)
	if after > 0 && len(strings.ReplaceAll(s, ".", "")) > n { // 9.996 became 10.00
		s = fmt.Sprintf("%.*f", after-1, x)
	}
	return s
}

// Duration is a latency with three digits: 640ns, 87.3µs, 1.24ms, 12.5s. Negative ones are unknown.
func Duration(d time.Duration) string {
	x := float64(d)
	switch {
	case d < 0:
		return "-"
	case x < 999.5:
		return fmt.Sprintf("%dns", d)
	case x < 999.5e3:
		return digits(x/1e3, 3) + "µs"
	case x < 999.5e6:
		return digits(x/1e6, 3) + "ms"
	}
	return digits(x/1e9, 3) + "s"
}

// Clock is a time of a run, in whole seconds: 0:07, 1:02:03.
func Clock(d time.Duration) string {
	s := int64(max(0, d) / time.Second)
	if s >= 3600 {
		return fmt.Sprintf("%d:%02d:%02d", s/3600, s/60%60, s%60)
	}
	return fmt.Sprintf("%d:%02d", s/60, s%60)
}

// Bytes is a number of bytes with three digits: 512 B, 1.50 KiB, 12.3 MiB.
func Bytes(x float64) string {
	if math.IsNaN(x) || math.IsInf(x, 0) || x < 0 {
		return "-"
	}
	if x < 1023.5 {
		return fmt.Sprintf("%.0f B", x)
	}
	units := "KMGTP"
	unit := 0
	for x /= 1024; x >= 1023.5 && unit < len(units)-1; unit++ {
		x /= 1024
	}
	return digits(x, 3) + " " + units[unit:unit+1] + "iB"
}

// Percent of a share from 0 to 1. Only all is 100 % and only nothing 0 %.
func Percent(share float64) string {
	switch {
	case math.IsNaN(share) || math.IsInf(share, 0) || share < 0:
		return "-"
	case share == 0:
		return "0 %"
	case share == 1:
		return "100 %"
	case share < 0.0001:
		return "<0.01 %"
	case share > 0.9999 && share < 1:
		return ">99.99 %"
	}
	return fmt.Sprintf("%.2f %%", 100*share)
}

// plural is n things.
func plural(n uint64, thing string) string {
	if n == 1 {
		return "1 " + thing
	}
	return Rate(float64(n)) + " " + thing + "s"
}

// clean makes text that others wrote fit for a line of a terminal: control characters become question marks.
func clean(s string) string {
	return strings.Map(func(r rune) rune {
		if r == unicode.ReplacementChar || !unicode.IsPrint(r) {
			return '?'
		}
		return r
	}, s)
}

// fit cuts a line to so many columns.
func fit(s string, width int) string { return ansi.Truncate(s, max(0, width), "…") }

// pad fills a cell up to so many columns, on the left if right is set.
func pad(s string, width int, right bool) string {
	s = fit(s, width)
	space := strings.Repeat(" ", width-ansi.StringWidth(s))
	if right {
		return space + s
	}
	return s + space
}

var bars = []rune(" ▁▂▃▄▅▆▇█")

// spark draws values as bars of one column each, the highest of them as a full one. Nothing is drawn for 0.
func spark(values []float64) string {
	top := 0.0
	for _, v := range values {
		if v > top {
			top = v
		}
	}
	var b strings.Builder
	for _, v := range values {
		if !(v > 0) {
			b.WriteRune(bars[0])
			continue
		}
		b.WriteRune(bars[max(1, int(math.Round(v/top*float64(len(bars)-1))))])
	}
	return b.String()
}
