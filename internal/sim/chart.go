package sim

import (
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/go-analyze/charts"
)

// grains is how many places the x axis of a curve has.
const grains = 121

// svg draws the miss ratio by capacity, on a logarithmic axis of capacities.
func (r *report) svg(w io.Writer) error {
	names, capacities := r.columns()
	if len(capacities) < 2 {
		return errors.New("svg: a curve needs two capacities at least, and no --find (give --capacity LO..HI)")
	}
	low, high := float64(capacities[0]), float64(capacities[len(capacities)-1])
	labels := make([]string, grains)
	places := make([]float64, grains)
	for i := range places {
		places[i] = low * math.Pow(high/low, float64(i)/(grains-1))
		labels[i] = shortCapacity(places[i], r.Unit == "bytes")
	}
	var lines charts.LineSeriesList
	for _, p := range names {
		var xs, ys []float64
		for _, n := range capacities {
			if x := r.at(p, n); x != nil && !math.IsNaN(float64(x.MissRatio)) {
				xs, ys = append(xs, math.Log(float64(n))), append(ys, float64(x.MissRatio))
			}
		}
		values := make([]float64, grains)
		for i, x := range places {
			values[i] = between(xs, ys, math.Log(x))
		}
		lines = append(lines, charts.LineSeries{Name: p, Values: values})
	}
	o := charts.NewLineChartOptionWithSeries(lines)
	o.Title.Text = "Miss ratio: " + r.Trace
	o.Title.FontStyle.FontSize = 14
	o.Title.Offset = charts.OffsetLeft
	o.Legend.Offset = charts.OffsetStr{Left: "0", Top: "30"}
	o.Legend.SeriesNames = names
	o.Padding = charts.NewBoxEqual(16)
	o.Symbol.Shape = charts.SymbolNone
	o.LineStrokeWidth = 1.8
	o.XAxis.Labels = labels
	o.XAxis.BoundaryGap = charts.Ptr(false)
	o.XAxis.LabelCount = 7
	o.XAxis.Title = "capacity, " + r.Unit
	o.YAxis = []charts.YAxisOption{{Min: charts.Ptr(0.0), ValueFormatter: func(v float64) string { return fmt.Sprintf("%.2f", v) }}}
	p := charts.NewPainter(charts.PainterOptions{OutputFormat: charts.ChartOutputSVG, Width: 960, Height: 560})
	if err := p.LineChart(o); err != nil {
		return fmt.Errorf("svg: %w", err)
	}
	b, err := p.Bytes()
	if err != nil {
		return fmt.Errorf("svg: %w", err)
	}
	_, err = w.Write(b)
	return err
}

// between interpolates; outside of xs, and where there are none, it has no value.
func between(xs, ys []float64, x float64) float64 {
	const slack = 1e-9
	for i := range xs {
		switch {
		case math.Abs(x-xs[i]) < slack:
			return ys[i]
		case i > 0 && x < xs[i]:
			return ys[i-1] + (ys[i]-ys[i-1])*(x-xs[i-1])/(xs[i]-xs[i-1])
		}
	}
	return charts.GetNullValue()
}

// shortCapacity is a label of the axis.
func shortCapacity(v float64, bytes bool) string {
	if bytes {
		return textBytes(int64(v))
	}
	units := []string{"", "k", "M", "G"}
	i := 0
	for v >= 999.5 && i < len(units)-1 {
		v /= 1000
		i++
	}
	if v < 10 && i > 0 {
		return fmt.Sprintf("%.1f%s", v, units[i])
	}
	return fmt.Sprintf("%.0f%s", v, units[i])
}
