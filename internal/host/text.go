package host

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"
)

// Fact is one line about a Host, for people.
type Fact struct {
	Name, Value string
}

// Facts of h that are there, in the order in which a report has them.
func (h *Host) Facts() (out []Fact) {
	add := func(name, value string) {
		if value != "" {
			out = append(out, Fact{name, value})
		}
	}
	c, m, l, v := &h.CPU, &h.Memory, &h.Limits, &h.Virtual
	add("host", h.Name)
	if !h.Time.IsZero() {
		add("time", h.Time.UTC().Format(time.RFC3339))
	}
	add("processor", c.Model)
	add("vendor", c.Vendor)
	add("architecture", h.System.Arch)
	add("microcode", c.Microcode)
	add("sockets", count(c.Sockets))
	add("cores", count(c.Cores))
	add("threads", count(c.Threads))
	add("SMT", c.SMT)
	for _, k := range c.Caches {
		add(fmt.Sprintf("L%d %s", k.Level, strings.ToLower(k.Type)), fmt.Sprintf("%d x %s", k.Count, bytes(k.Bytes)))
	}
	add("features", strings.Join(c.Features, " "))
	add("frequency", span(c.MinMHz, c.MaxMHz))
	if c.CapMHz > 0 {
		add("frequency cap", fmt.Sprintf("%.0f MHz", c.CapMHz))
	}
	add("governor", c.Governor)
	add("scaling driver", c.Driver)
	add("energy bias", c.Bias)
	add("boost", yes(c.Boost))
	for _, n := range h.Nodes {
		add("node "+strconv.Itoa(n.ID), strings.TrimSpace("CPUs "+n.CPUs.String()+" "+bytes(n.Bytes)))
	}
	add("memory", bytes(m.Total))
	add("memory available", bytes(m.Available))
	switch {
	case m.Swap == nil:
	case *m.Swap == 0:
		add("swap", "none")
	default:
		add("swap", bytes(*m.Swap))
	}
	add("page", bytes(m.Page))
	add("transparent huge pages", m.Transparent)
	add("huge page defrag", m.Defrag)
	for _, p := range m.Huge {
		add("huge pages "+bytes(p.Bytes), fmt.Sprintf("%d, %d free", p.Total, p.Free))
	}
	add("system", h.System.OS)
	add("distribution", h.System.Distribution)
	add("kernel", h.System.Kernel)
	add("kernel build", h.System.Build)
	add("boot", strings.Join(h.System.Boot, " "))
	add("clocksource", h.System.Clocksource)
	add("hypervisor flag", yes(v.Flag))
	add("hypervisor", v.Hypervisor)
	add("machine vendor", v.Vendor)
	add("machine", v.Product)
	add("container", v.Container)
	if l.Version > 0 {
		add("control groups", "version "+strconv.Itoa(l.Version))
	}
	if l.CPUs > 0 {
		add("CPU quota", strconv.FormatFloat(l.CPUs, 'g', 6, 64)+" CPUs")
	}
	add("memory limit", bytes(l.Memory))
	add("cpuset", l.Cpuset.String())
	add("allowed CPUs", l.Allowed.String())
	for _, n := range h.Network {
		text := []string{n.State}
		if n.Mbit > 0 {
			text = append(text, fmt.Sprintf("%d Mbit/s", n.Mbit))
		}
		text = append(text, n.Driver, fmt.Sprintf("MTU %d", n.MTU))
		if n.Queues > 1 {
			text = append(text, fmt.Sprintf("%d queues", n.Queues))
		}
		add("network "+n.Name, strings.Join(slices.DeleteFunc(text, func(s string) bool { return s == "" }), ", "))
	}
	for _, name := range slices.Sorted(maps.Keys(c.Mitigations)) {
		add("mitigation "+name, c.Mitigations[name])
	}
	for _, name := range slices.Sorted(maps.Keys(h.Sysctl)) {
		add(name, h.Sysctl[name])
	}
	if len(h.Load) == 3 {
		add("load", fmt.Sprintf("%.2f %.2f %.2f", h.Load[0], h.Load[1], h.Load[2]))
	}
	add("not readable", strings.Join(h.Unread, "; "))
	return out
}

// Line is one fact of several hosts; hosts that do not have it have an empty value.
type Line struct {
	Name    string
	Values  []string
	Differs bool // the hosts do not agree, or some have it not; names, times and the like never differ
}

// own facts say nothing about whether machines are alike.
var own = []string{"host", "time", "load", "memory available"}

// Compare puts the facts of hosts side by side. Lines follow the order of the first host that has them.
func Compare(hosts ...*Host) []Line {
	var lines []Line
	for i, h := range hosts {
		at := 0 // behind the line of the last fact
		for _, f := range h.Facts() {
			k := slices.IndexFunc(lines, func(l Line) bool { return l.Name == f.Name })
			if k < 0 {
				k = at
				lines = slices.Insert(lines, k, Line{Name: f.Name, Values: make([]string, len(hosts))})
			}
			lines[k].Values[i] = f.Value
			at = k + 1
		}
	}
	for i, l := range lines {
		lines[i].Differs = !slices.Contains(own, l.Name) && len(slices.Compact(slices.Clone(l.Values))) > 1
	}
	return lines
}

// widest column of values; longer ones are folded.
const widest = 44

// Write the facts of hosts as aligned text, side by side. A star marks lines in which they differ.
func Write(w io.Writer, hosts ...*Host) error {
	lines := Compare(hosts...)
	name, widths := 0, make([]int, len(hosts))
	for _, l := range lines {
		name = max(name, utf8.RuneCountInString(l.Name))
		for i, v := range l.Values {
			for _, part := range fold(v) {
				widths[i] = max(widths[i], utf8.RuneCountInString(part))
			}
		}
	}
	var b strings.Builder
	for _, l := range lines {
		cells := make([][]string, len(hosts))
		rows := 1
		for i, v := range l.Values {
			if v == "" && len(hosts) > 1 {
				v = "-"
			}
			cells[i] = fold(v)
			rows = max(rows, len(cells[i]))
		}
		for row := range rows {
			mark, label := "  ", ""
			if row == 0 {
				if label = l.Name; l.Differs {
					mark = "* "
				}
			}
			line := mark + pad(label, name)
			for i := range hosts {
				cell := ""
				if row < len(cells[i]) {
					cell = cells[i][row]
				}
				line += "  " + pad(cell, widths[i])
			}
			b.WriteString(strings.TrimRight(line, " "))
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

// fold a value into lines, at spaces.
func fold(v string) (out []string) {
	line := ""
	for word := range strings.FieldsSeq(v) {
		if line != "" && utf8.RuneCountInString(line)+1+utf8.RuneCountInString(word) > widest {
			out = append(out, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(out, line)
}

func pad(s string, n int) string { return s + strings.Repeat(" ", max(0, n-utf8.RuneCountInString(s))) }

func count(n int) string {
	if n == 0 {
		return ""
	}
	return strconv.Itoa(n)
}

func yes(b *bool) string {
	switch {
	case b == nil:
		return ""
	case *b:
		return "yes"
	}
	return "no"
}

func span(lo, hi float64) string {
	switch {
	case hi == 0:
		return ""
	case lo == 0:
		return fmt.Sprintf("%.0f MHz", hi)
	}
	return fmt.Sprintf("%.0f to %.0f MHz", lo, hi)
}

// bytes in the largest unit of which there is one; 0 is "unknown", and has no text.
func bytes(n int64) string {
	if n == 0 {
		return ""
	}
	v, units := float64(n), []string{"B", "KiB", "MiB", "GiB", "TiB"}
	for v >= 1024 && len(units) > 1 {
		v, units = v/1024, units[1:]
	}
	text := strings.TrimRight(strconv.FormatFloat(v, 'f', 2, 64), "0")
	return strings.TrimSuffix(text, ".") + " " + units[0]
}
