package sim

import (
	"bytes"
	"context"
	"encoding/csv"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"os"
	"slices"
	"strconv"
	"strings"
	"text/tabwriter"
)

// estimated is the name of the curve from samples among the policies.
const estimated = "lru~"

// report is a result as it is written.
type report struct {
	Trace    string      `json:"trace"`
	Unit     string      `json:"unit"`
	Overhead int64       `json:"overhead,omitempty"`
	Seed     uint64      `json:"seed"`
	Requests int64       `json:"requests,omitempty"`
	Rows     []reportRow `json:"rows,omitempty"`
	Find     []answer    `json:"find,omitempty"`

	whole float64 // what shares are of; 0: there are none
}

type reportRow struct {
	Policy        string `json:"policy"`
	Capacity      int64  `json:"capacity"`
	Reads         int64  `json:"reads,omitempty"`
	Hits          int64  `json:"hits,omitempty"`
	MissRatio     ratio  `json:"missRatio"`
	ByteMissRatio ratio  `json:"byteMissRatio"`
	Writes        int64  `json:"writes,omitempty"`
	Evicted       int64  `json:"evicted,omitempty"`
	Expired       int64  `json:"expired,omitempty"`
}

type answer struct {
	Policy    string `json:"policy"`
	Target    ratio  `json:"target"`
	Reached   bool   `json:"reached"`
	Capacity  int64  `json:"capacity"`
	MissRatio ratio  `json:"missRatio"`
	atMost    bool   // the smallest tried is enough
}

// ratio is null where there is none.
type ratio float64

func (r ratio) MarshalJSON() ([]byte, error) {
	if math.IsNaN(float64(r)) {
		return []byte("null"), nil
	}
	return strconv.AppendFloat(nil, float64(r), 'f', 6, 64), nil
}

func (r ratio) text(digits int) string {
	if math.IsNaN(float64(r)) {
		return "-"
	}
	return strconv.FormatFloat(float64(r), 'f', digits, 64)
}

func (r *report) add(res *Result, c Config) {
	r.Requests = res.Requests
	for i := range res.Rows {
		w := &res.Rows[i]
		r.Rows = append(r.Rows, reportRow{w.Policy, w.Capacity, w.Reads, w.Hits, ratio(w.MissRatio()), ratio(w.ByteMissRatio()),
			w.Writes, w.Evicted, w.Expired})
	}
	if res.Curve != nil {
		for _, n := range c.Capacities {
			r.Rows = append(r.Rows, reportRow{Policy: estimated, Capacity: n, Reads: res.Curve.Reads(),
				MissRatio: ratio(res.Curve.MissRatio(n)), ByteMissRatio: ratio(math.NaN())})
		}
	}
}

func (r *report) find(ctx context.Context, j *job, c Config) error {
	if c.Shards > 0 {
		src, err := j.open()
		if err != nil {
			return err
		}
		one := c
		one.Policies = nil
		res, err := Run(ctx, src, one)
		if err != nil {
			return err
		}
		for _, t := range j.targets {
			n, ok := res.Curve.Capacity(t)
			r.Find = append(r.Find, answer{Policy: estimated, Target: ratio(t), Reached: ok, Capacity: n, MissRatio: ratio(res.Curve.MissRatio(max(n, 1)))})
		}
	}
	found, err := Find(ctx, j.open, c, j.targets)
	for _, a := range found {
		x := answer{Policy: a.Policy, Target: ratio(a.Target), Reached: a.Capacity > 0, Capacity: a.Capacity, MissRatio: ratio(a.MissRatio), atMost: a.Below == 0}
		if !x.Reached {
			x.Capacity = slices.Max(c.Capacities)
		}
		r.Find = append(r.Find, x)
	}
	return err
}

// write puts the report where the options want it.
func (r *report) write(j *job, stdout io.Writer) error {
	table := true
	var errs []error
	for _, o := range []struct {
		file string
		to   func(io.Writer) error
	}{{j.csv, r.csv}, {j.json, r.json}, {j.svg, r.svg}} {
		switch o.file {
		case "":
		case "-":
			table = false
			errs = append(errs, o.to(stdout))
		default:
			errs = append(errs, toFile(o.file, o.to))
		}
	}
	if table {
		errs = append(errs, r.table(stdout))
	}
	return errors.Join(errs...)
}

func toFile(name string, to func(io.Writer) error) error {
	var b bytes.Buffer
	if err := to(&b); err != nil {
		return err
	}
	return os.WriteFile(name, b.Bytes(), 0o666)
}

// columns are the policies in order, lines the capacities.
func (r *report) columns() (names []string, capacities []int64) {
	for i := range r.Rows {
		if !slices.Contains(names, r.Rows[i].Policy) {
			names = append(names, r.Rows[i].Policy)
		}
		capacities = append(capacities, r.Rows[i].Capacity)
	}
	slices.Sort(capacities)
	return names, slices.Compact(capacities)
}

func (r *report) at(policy string, capacity int64) *reportRow {
	for i := range r.Rows {
		if w := &r.Rows[i]; w.Policy == policy && w.Capacity == capacity {
			return w
		}
	}
	return nil
}

func (r *report) capacity(n int64) string {
	if r.Unit == "bytes" {
		return textBytes(n)
	}
	return strconv.FormatInt(n, 10)
}

// table for people. The best of a line has a star.
func (r *report) table(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 0, 2, ' ', tabwriter.AlignRight)
	if len(r.Find) > 0 {
		fmt.Fprintf(w, "%s: how large for a miss ratio? (%s)\n\n", r.Trace, r.unit())
		fmt.Fprint(t, "miss ratio\tpolicy\tcapacity\tmiss ratio there\t\n")
		for _, a := range r.Find {
			n := r.capacity(a.Capacity)
			switch {
			case !a.Reached:
				n = "over " + n
			case a.atMost && a.Policy != estimated:
				n = "at most " + n
			}
			fmt.Fprintf(t, "%s\t%s\t%s\t%s\t\n", strconv.FormatFloat(float64(a.Target), 'f', -1, 64), a.Policy, n, a.MissRatio.text(4))
		}
		return t.Flush()
	}
	reads := int64(0)
	if len(r.Rows) > 0 {
		reads = r.Rows[0].Reads
	}
	fmt.Fprintf(w, "%s: %d requests, %d reads counted (%s)\n", r.Trace, r.Requests, reads, r.unit())
	r.grid(w, t, "miss ratio", func(x *reportRow) ratio { return x.MissRatio })
	if r.Unit == "bytes" {
		r.grid(w, t, "byte miss ratio", func(x *reportRow) ratio { return x.ByteMissRatio })
	}
	return nil
}

func (r *report) unit() string {
	if r.Unit == "bytes" {
		return fmt.Sprintf("capacities in bytes, %d of overhead an object", r.Overhead)
	}
	return "capacities in objects"
}

func (r *report) grid(w io.Writer, t *tabwriter.Writer, what string, value func(*reportRow) ratio) {
	names, capacities := r.columns()
	fmt.Fprintf(w, "\n%s\n", what)
	fmt.Fprint(t, "capacity\t")
	if r.whole > 0 {
		fmt.Fprint(t, "of all\t")
	}
	fmt.Fprintf(t, "%s \t\n", strings.Join(names, " \t"))
	for _, n := range capacities {
		fmt.Fprintf(t, "%s\t", r.capacity(n))
		if r.whole > 0 {
			fmt.Fprintf(t, "%.1f %%\t", 100*float64(n)/r.whole)
		}
		best := math.Inf(1)
		for _, p := range names {
			if x := r.at(p, n); p != estimated && x != nil {
				if v, err := strconv.ParseFloat(value(x).text(4), 64); err == nil {
					best = min(best, v)
				}
			}
		}
		for _, p := range names {
			text, star := "-", " "
			if x := r.at(p, n); x != nil {
				text = value(x).text(4)
				if v, err := strconv.ParseFloat(text, 64); err == nil && v == best && p != estimated {
					star = "*"
				}
			}
			fmt.Fprintf(t, "%s%s\t", text, star)
		}
		fmt.Fprintln(t)
	}
	t.Flush()
}

func (r *report) json(w io.Writer) error {
	e := json.NewEncoder(w)
	e.SetIndent("", "  ")
	return e.Encode(r)
}

func (r *report) csv(w io.Writer) error {
	c := csv.NewWriter(w)
	num := func(n int64) string { return strconv.FormatInt(n, 10) }
	opt := func(v ratio) string {
		if math.IsNaN(float64(v)) {
			return ""
		}
		return v.text(6)
	}
	if len(r.Find) > 0 {
		c.Write([]string{"policy", "target", "reached", "capacity", "unit", "miss_ratio"})
		for _, a := range r.Find {
			c.Write([]string{a.Policy, strconv.FormatFloat(float64(a.Target), 'f', -1, 64), strconv.FormatBool(a.Reached), num(a.Capacity), r.Unit, opt(a.MissRatio)})
		}
	} else {
		c.Write([]string{"policy", "capacity", "unit", "reads", "hits", "miss_ratio", "byte_miss_ratio", "writes", "evicted", "expired"})
		for _, x := range r.Rows {
			c.Write([]string{x.Policy, num(x.Capacity), r.Unit, num(x.Reads), num(x.Hits), opt(x.MissRatio), opt(x.ByteMissRatio),
				num(x.Writes), num(x.Evicted), num(x.Expired)})
		}
	}
	c.Flush()
	return c.Error()
}
