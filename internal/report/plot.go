package report

import (
	"fmt"
	"html"
	"html/template"
	"math"
	"slices"
	"strings"

	"godwit/internal/study/raw"
)

// Plots are SVG of our own making, small enough to be read: axes with numbers of their own scale, colours and text taken from
// the page's CSS variables, so that they follow light, dark and print; each with a title and a description that screen
// readers say.

// Size of a plot, in units of its viewBox; the page scales it.
const (
	plotWidth, plotHeight           = 640.0, 340.0
	marginLeft, marginRight         = 84.0, 24.0
	marginTop, marginBottom         = 16.0, 48.0
	seriesColours                   = 6
	innerWidth, innerHeight float64 = plotWidth - marginLeft - marginRight, plotHeight - marginTop - marginBottom
)

type point struct {
	x, y  float64
	title string
	mark  bool // drawn hollow: the promise was broken
}

type series struct {
	name   string
	points []point
	line   bool
	colour int
}

// axis maps values to a length.
type axis struct {
	lo, hi float64
	log    bool
	label  string
	ticks  []tick
}

type tick struct {
	at   float64
	text string
}

func (a *axis) of(v float64) float64 {
	if a.log {
		return (math.Log(max(v, a.lo)) - math.Log(a.lo)) / (math.Log(a.hi) - math.Log(a.lo))
	}
	return (v - a.lo) / (a.hi - a.lo)
}

// linear axis from 0 to at least most.
func linear(label string, most float64) axis {
	if most <= 0 || math.IsNaN(most) || math.IsInf(most, 0) {
		most = 1
	}
	step := math.Pow(10, math.Floor(math.Log10(most)))
	for _, f := range []float64{0.1, 0.2, 0.25, 0.5, 1} {
		if most/(step*f) <= 6 {
			step *= f
			break
		}
	}
	a := axis{hi: math.Ceil(most/step) * step, label: label}
	for v := 0.0; v <= a.hi*1.0001; v += step {
		a.ticks = append(a.ticks, tick{v, short(v)})
	}
	return a
}

// logarithmic axis that has all values.
func logarithmic(label string, values []float64) axis {
	lo, hi := math.Inf(1), 0.0
	for _, v := range values {
		if v > 0 && !math.IsInf(v, 0) {
			lo, hi = min(lo, v), max(hi, v)
		}
	}
	if hi == 0 {
		lo, hi = 0.1, 1
	}
	a := axis{lo: lo / 1.2, hi: hi * 1.2, log: true, label: label}
	steps := []float64{1, 2, 5}
	if a.hi/a.lo > 1000 {
		steps = []float64{1}
	}
	for e := math.Floor(math.Log10(a.lo)); e <= math.Ceil(math.Log10(a.hi)); e++ {
		for _, s := range steps {
			if v := s * math.Pow(10, e); v >= a.lo && v <= a.hi {
				a.ticks = append(a.ticks, tick{v, short(v)})
			}
		}
	}
	return a
}

// begin an SVG.
func begin(b *strings.Builder, title, text string, height float64) {
	fmt.Fprintf(b, `<svg class="plot" viewBox="0 0 %g %g" role="img" aria-label="%s"><title>%s</title><desc>%s</desc>`, plotWidth, height,
		html.EscapeString(title), html.EscapeString(title), html.EscapeString(text))
}

// plot draws series over two axes. With level > 0 a line is drawn there and named.
func plot(title, text string, x, y axis, list []series, level float64, levelName string) template.HTML {
	var b strings.Builder
	begin(&b, title, text, plotHeight)
	px := func(v float64) float64 { return marginLeft + innerWidth*x.of(v) }
	py := func(v float64) float64 { return marginTop + innerHeight*(1-y.of(v)) }
	bottom, right := marginTop+innerHeight, marginLeft+innerWidth
	for _, t := range y.ticks {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`,
			marginLeft, right, py(t.at), py(t.at), marginLeft-6, py(t.at)+4, t.text)
	}
	for _, t := range x.ticks {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`,
			px(t.at), px(t.at), marginTop, bottom, px(t.at), bottom+16, t.text)
	}
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" x="%.1f" y="%.1f">%s</text>`, marginLeft+innerWidth/2, plotHeight-8, html.EscapeString(x.label))
	fmt.Fprintf(&b, `<text class="label" text-anchor="middle" transform="translate(14 %.1f) rotate(-90)">%s</text>`, marginTop+innerHeight/2, html.EscapeString(y.label))
	if level > 0 && level >= y.lo && level <= y.hi {
		fmt.Fprintf(&b, `<line class="level" x1="%.1f" x2="%.1f" y1="%.1f" y2="%.1f"/><text class="tick" text-anchor="end" x="%.1f" y="%.1f">%s</text>`,
			marginLeft, right, py(level), py(level), right-4, py(level)-4, html.EscapeString(levelName))
	}
	for _, s := range list {
		if s.line && len(s.points) > 1 {
			fmt.Fprintf(&b, `<polyline class="s%d line" points="`, s.colour%seriesColours)
			for _, p := range s.points {
				fmt.Fprintf(&b, "%.1f,%.1f ", px(p.x), py(p.y))
			}
			b.WriteString(`"/>`)
		}
		for _, p := range s.points {
			if p.title == "" {
				continue
			}
			class := "dot"
			if p.mark {
				class = "dot hollow"
			}
			fmt.Fprintf(&b, `<circle class="s%d %s" cx="%.1f" cy="%.1f" r="4"><title>%s</title></circle>`, s.colour%seriesColours, class, px(p.x), py(p.y), html.EscapeString(p.title))
		}
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// bar of a bar chart, with its interval if hi > 0.
type bar struct {
	name          string
	value, lo, hi float64
	text          string
	colour        int
}

// bars draws them lying, so that names have room.
func bars(title, text string, list []bar) template.HTML {
	const row, left = 44.0, 150.0
	var b strings.Builder
	height := row*float64(len(list)) + 12
	begin(&b, title, text, height)
	most := 0.0
	for _, v := range list {
		most = max(most, v.value, v.hi)
	}
	if most == 0 {
		most = 1
	}
	width := plotWidth - left - 110
	for i, v := range list {
		y := row*float64(i) + 8
		fmt.Fprintf(&b, `<text class="label" text-anchor="end" x="%.1f" y="%.1f">%s</text>`, left-8, y+20, html.EscapeString(v.name))
		fmt.Fprintf(&b, `<rect class="s%d bar" x="%.1f" y="%.1f" width="%.1f" height="28" rx="2"/>`, v.colour%seriesColours, left, y, width*v.value/most)
		end := v.value
		if v.hi > 0 {
			fmt.Fprintf(&b, `<path class="whisker" d="M%.1f %.1fH%.1fM%.1f %.1fv12M%.1f %.1fv12"/>`, left+width*v.lo/most, y+14, left+width*v.hi/most,
				left+width*v.lo/most, y+8, left+width*v.hi/most, y+8)
			end = max(v.hi, v.value)
		}
		fmt.Fprintf(&b, `<text class="label" x="%.1f" y="%.1f">%s</text>`, left+width*end/most+8, y+20, html.EscapeString(v.text))
	}
	b.WriteString("</svg>")
	return template.HTML(b.String())
}

// picture is a plot with what it says, and its legend.
type picture struct {
	Title, Text string
	Legend      []legend
	SVG         template.HTML
}

type legend struct {
	Colour int
	Name   string
}

// pictures of the report: those that there is something for.
func (r *Report) pictures() (list []picture) {
	var names []legend
	for i, w := range r.Rows {
		if len(w.Runs) > 0 || len(w.Path) > 0 {
			names = append(names, legend{i % seriesColours, w.Label})
		}
	}
	add := func(title, text string, svg template.HTML, legends []legend) {
		list = append(list, picture{title, text, legends, svg})
	}
	var ops, price, watt []bar
	for i, w := range r.Rows {
		if len(w.Runs) == 0 {
			continue
		}
		b := bar{name: w.Label, value: w.Ops.Median, text: short(w.Ops.Median), colour: i}
		if w.Ops.Interval != nil {
			b.lo, b.hi = w.Ops.Interval.Lo, w.Ops.Interval.Hi
		}
		ops = append(ops, b)
		base := r.Baseline
		if w.Subject.Price > 0 && base.Subject.Price > 0 {
			v := w.Worth.OpsPerMoney / base.Worth.OpsPerMoney
			price = append(price, bar{name: w.Label, value: v, text: fmt.Sprintf("%.3g", v), colour: i})
		}
		if w.Watts > 0 && base.Watts > 0 {
			v := w.Worth.OpsPerJoule / base.Worth.OpsPerJoule
			watt = append(watt, bar{name: w.Label, value: v, text: fmt.Sprintf("%.3g", v), colour: i})
		}
	}
	if len(ops) > 0 {
		add("Operations per second", "Median of the runs; the line across is the interval of the median.", bars("Operations per second", describe(ops), ops), nil)
	}
	if len(price) > 1 {
		add("Work for the same money", "The baseline is 1.", bars("Work for the same money", describe(price), price), nil)
	}
	if len(watt) > 1 {
		add("Work for the same energy", "The baseline is 1.", bars("Work for the same energy", describe(watt), watt), nil)
	}
	if svg, ok := r.curve(); ok {
		add("Throughput and latency", "Each dot is a window; hollow ones broke the promise or had errors. The knee is where the dots turn up.", svg, names)
	}
	if svg, ok := r.percentiles(); ok {
		add("Latency by percentile", "All compared runs together. Read: so many of all requests were answered within this time.", svg, names)
	}
	if svg, ok := r.seconds(); ok {
		add("Second by second", "Operations in each full second of the last compared run.", svg, names)
	}
	for _, w := range r.Rows {
		if svg, ok := heat(w); ok {
			add("How busy the cores were: "+w.Label, "Second by second in its last compared run; the stronger the colour, the busier.", svg, nil)
		}
	}
	return list
}

func describe(list []bar) string {
	var s []string
	for _, b := range list {
		s = append(s, b.name+": "+b.text)
	}
	return strings.Join(s, "; ")
}

// curve of p99 over throughput.
func (r *Report) curve() (template.HTML, bool) {
	var list []series
	var xs, ys []float64
	for i, w := range r.Rows {
		s := series{name: w.Label, colour: i}
		for _, res := range slices.Concat(w.Path, w.Runs) {
			if res.Ops <= 0 || res.P99 <= 0 {
				continue
			}
			s.points = append(s.points, point{res.Ops, res.P99, fmt.Sprintf("%s, %v: %s ops/s, p99 %.3f ms", w.Label, res.Point, short(res.Ops), res.P99), !res.Pass})
			xs, ys = append(xs, res.Ops), append(ys, res.P99)
		}
		// The line goes over the windows of a rate search alone: their settings have one order.
		if r.Study.Search == "rate" {
			s.line = true
			slices.SortFunc(s.points, func(a, b point) int { return cmpFloat(a.x, b.x) })
		}
		list = append(list, s)
	}
	if len(xs) == 0 {
		return "", false
	}
	name := ""
	if r.Study.P99 > 0 {
		ys = append(ys, r.Study.P99)
		name = fmt.Sprintf("promised: %g ms", r.Study.P99)
	}
	return plot("Throughput and latency", fmt.Sprintf("%d windows", len(xs)), linear("operations per second", slices.Max(xs)), logarithmic("p99, ms", ys), list, r.Study.P99, name), true
}

func cmpFloat(a, b float64) int {
	switch {
	case a < b:
		return -1
	case a > b:
		return 1
	}
	return 0
}

// percentiles over latency, with room for the tail.
func (r *Report) percentiles() (template.HTML, bool) {
	x := axis{lo: 0, hi: 5, label: "% of all requests"}
	for _, q := range []string{"0", "90", "99", "99.9", "99.99", "99.999"} {
		var v float64
		fmt.Sscan(q, &v)
		x.ticks = append(x.ticks, tick{-math.Log10(1 - v/100), q})
	}
	var list []series
	var ys []float64
	for i, w := range r.Rows {
		if w.Latency == nil || w.Latency.TotalCount() == 0 {
			continue
		}
		s := series{name: w.Label, colour: i, line: true}
		for k := 0.0; k <= 5.0001; k += 0.1 {
			if 1/math.Pow(10, -k) > float64(w.Latency.TotalCount()) {
				break // fewer than one request
			}
			y := float64(w.Latency.ValueAtQuantile(100*(1-math.Pow(10, -k)))) / 1e6
			if y > 0 {
				s.points = append(s.points, point{x: k, y: y})
				ys = append(ys, y)
			}
		}
		list = append(list, s)
	}
	if len(ys) == 0 {
		return "", false
	}
	if r.Study.P99 > 0 {
		ys = append(ys, r.Study.P99)
	}
	return plot("Latency by percentile", r.percentileText(), x, logarithmic("ms", ys), list, r.Study.P99, fmt.Sprintf("promised at 99 %%: %g ms", r.Study.P99)), true
}

func (r *Report) percentileText() string {
	var s []string
	for _, w := range r.Rows {
		if w.Latency != nil {
			s = append(s, fmt.Sprintf("%s: median %.3f ms, p99 %.3f ms, p99.9 %.3f ms", w.Label, w.P50, w.P99, w.P999))
		}
	}
	return strings.Join(s, "; ")
}

// seconds of the last run of each server.
func (r *Report) seconds() (template.HTML, bool) {
	var list []series
	most, longest := 0.0, 0.0
	for i, w := range r.Rows {
		if len(w.Runs) == 0 {
			continue
		}
		var sums []float64
		for k := range w.Runs[len(w.Runs)-1].Parts {
			run, err := w.Runs[len(w.Runs)-1].Parts[k].Decode()
			if err != nil {
				continue
			}
			for _, row := range run.Rows {
				for n, sec := range row.Seconds {
					if float64(n+1) > run.Duration().Seconds()+0.01 {
						break // not a full one
					}
					for len(sums) <= n {
						sums = append(sums, 0)
					}
					sums[n] += float64(sec.Count)
				}
			}
		}
		s := series{name: w.Label, colour: i, line: true}
		for n, v := range sums {
			s.points = append(s.points, point{x: float64(n + 1), y: v, title: fmt.Sprintf("%s, second %d: %s", w.Label, n+1, short(v))})
			most, longest = max(most, v), max(longest, float64(n+1))
		}
		list = append(list, s)
	}
	if longest < 2 {
		return "", false
	}
	return plot("Second by second", fmt.Sprintf("%g seconds", longest), linear("second", longest), linear("operations", most), list, 0, ""), true
}

// heat map of the cores in the last run of a server.
func heat(w *Row) (template.HTML, bool) {
	if len(w.Runs) == 0 {
		return "", false
	}
	cores := w.Runs[len(w.Runs)-1].Cores
	if len(cores) == 0 {
		return "", false
	}
	cpus := cpusOf(cores)
	const left = 110.0
	height := min(28, max(6, 400/float64(len(cpus))))
	var b strings.Builder
	begin(&b, "How busy the cores were: "+w.Label, fmt.Sprintf("%d cores, %d seconds", len(cpus), len(cores)), height*float64(len(cpus))+24)
	width := (plotWidth - left - marginRight) / float64(len(cores))
	for i, cpu := range cpus {
		y := float64(i) * height
		role := ""
		switch {
		case w.Subject.Cores.Has(cpu):
			role = " server"
		case w.Subject.Client.Has(cpu):
			role = " client"
		}
		if height >= 12 || i%4 == 0 {
			fmt.Fprintf(&b, `<text class="tick" text-anchor="end" x="%g" y="%.1f">%d%s</text>`, left-6, y+height/2+4, cpu, role)
		}
		for n, c := range cores {
			s := c.CPUs[cpu]
			fmt.Fprintf(&b, `<rect class="heat" style="fill-opacity:%.2f" x="%.1f" y="%.1f" width="%.1f" height="%.1f"><title>core %d, second %.0f: %.0f %% busy (user %.0f, system %.0f, softirq %.0f, stolen %.0f)</title></rect>`,
				max(0.03, s.Busy()), left+float64(n)*width, y, width-1, height-1, cpu, c.Second, s.Busy()*100, s.User*100, s.System*100, s.SoftIRQ*100, s.Steal*100)
		}
	}
	fmt.Fprintf(&b, `<text class="tick" x="%g" y="%.1f">seconds →</text></svg>`, left, height*float64(len(cpus))+16)
	return template.HTML(b.String()), true
}

func cpusOf(cores []raw.Cores) (list []int) {
	for cpu := range cores[0].CPUs {
		list = append(list, cpu)
	}
	slices.Sort(list)
	return list
}
