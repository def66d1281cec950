package result

import (
	"reflect"
	"slices"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// latencies draws samples over all of the range.
func latencies() *rapid.Generator[[]int64] {
	return rapid.SliceOf(rapid.OneOf(rapid.Int64Range(0, 1<<20), rapid.Int64Range(0, highest)))
}

func histogramOf(samples []int64) *hdrhistogram.Histogram {
	h := NewHistogram()
	for _, v := range samples {
		h.RecordValue(Clamp(v))
	}
	return h
}

// secondOf makes the small histogram of a second, as the driver does.
func secondOf(samples []int64) *hdrhistogram.Histogram {
	if len(samples) == 0 {
		return nil
	}
	h := hdrhistogram.New(64, max(histogramOf(samples).Max(), 1<<12), 2)
	for _, v := range samples {
		h.RecordValue(v)
	}
	return h
}

func same(a, b *hdrhistogram.Histogram) bool {
	return a == b || a != nil && b != nil && reflect.DeepEqual(a.Export(), b.Export())
}

// The sum of k machines' histograms is the histogram of all samples, to the last count, of whole runs and of each second.
func TestCombineIsExact(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var runs []*Run
		var all []int64
		var seconds [3][]int64
		for range rapid.IntRange(1, 5).Draw(t, "machines") {
			r := &Run{Rows: []Row{{Name: "GET", Service: NewHistogram(), Planned: NewHistogram()}}}
			row := &r.Rows[0]
			for i := range rapid.IntRange(0, len(seconds)).Draw(t, "seconds") {
				s := latencies().Draw(t, "samples")
				row.Service.Merge(histogramOf(s))
				row.Planned.Merge(histogramOf(s))
				row.Count += uint64(len(s))
				row.Seconds = append(row.Seconds, Second{Counts: Counts{Count: uint64(len(s))}, Service: secondOf(s)})
				seconds[i] = append(seconds[i], s...)
				all = append(all, s...)
			}
			runs = append(runs, r)
		}
		before := make([][]byte, len(runs))
		for i, r := range runs {
			before[i] = r.Append(nil)
		}
		got := Combine(runs).Rows[0]
		if got.Count != uint64(len(all)) || !same(got.Service, histogramOf(all)) || !same(got.Planned, histogramOf(all)) {
			t.Errorf("%d requests, %d latencies of %d", got.Count, got.Service.TotalCount(), len(all))
		}
		for i := range got.Seconds {
			if got.Seconds[i].Count != uint64(len(seconds[i])) || !same(got.Seconds[i].Service, secondOf(seconds[i])) {
				t.Errorf("second %d differs", i)
			}
		}
		for i, r := range runs {
			if !slices.Equal(before[i], r.Append(nil)) {
				t.Errorf("run %d was changed", i)
			}
		}
	})
}

// Combining is associative: sums of sums are the sum, as long as rows come in the same order.
func TestCombineSums(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := runs().Draw(t, "a"), runs().Draw(t, "b"), runs().Draw(t, "c")
		for _, r := range []*Run{a, b, c} {
			r.MeanStart, r.MeanEnd, r.Machines = time.Time{}, time.Time{}, nil // their rounding is not
			r.Self.Limit, r.Self.Where = "", ""
		}
		one := Combine([]*Run{a, b, c})
		two := Combine([]*Run{Combine([]*Run{a, b}), c})
		if string(one.Append(nil)) != string(two.Append(nil)) {
			t.Errorf("%+v\n%+v", one, two)
		}
	})
}

func TestCombine(t *testing.T) {
	t0 := time.Unix(1000, 0)
	late := NewHistogram()
	late.RecordValue(1000)
	a := &Run{
		Start: t0, End: t0.Add(10 * time.Second), MeanStart: t0, MeanEnd: t0.Add(10 * time.Second),
		Rows:    []Row{{Name: "SET", Counts: Counts{Count: 1}}, {Name: "GET", Counts: Counts{Count: 2}, Seconds: []Second{{Sum: 1}}}},
		Clients: []Client{{Loop: 0}, {Loop: 1, Rows: []Row{{Name: "GET", Counts: Counts{Count: 2}}}}}, ConnErrors: 1, Reconnects: 2, Lost: 3,
		Texts:    []Text{{"a", 2}, {"b", 1}},
		Self:     Self{CPU: time.Second, Cores: 2, Loops: 2, Busiest: .9, Limit: "loops are busy"},
		Machines: []Machine{{Name: "a:1", Clients: 2, Count: 3}},
	}
	b := &Run{
		Start: t0.Add(-time.Second), End: t0.Add(9 * time.Second), MeanStart: t0.Add(-time.Second), MeanEnd: t0.Add(6 * time.Second),
		Rows:    []Row{{Name: "GET", Counts: Counts{Count: 5}, Seconds: []Second{{Sum: 10}, {Sum: 100}}}, {Name: "DEL"}},
		Clients: []Client{{Loop: 0}, {Loop: 0}}, ConnErrors: 10, Reconnects: 20, Lost: 30, Interrupted: true,
		Texts:    []Text{{"b", 3}},
		Self:     Self{CPU: time.Second, Cores: 4, Loops: 1, Busiest: .8, Late: late},
		Machines: []Machine{{Name: "b:1", Clients: 2, Count: 5, Began: time.Millisecond, Doubt: time.Microsecond}},
	}
	got := Combine([]*Run{a, b})
	late2 := got.Self.Late
	if late2 == late || late2.TotalCount() != 1 {
		t.Error("Late is not a sum of its own")
	}
	got.Self.Late = nil
	for i := range got.Machines {
		got.Machines[i].Self.Late = nil
	}
	want := &Run{
		Start: t0.Add(-time.Second), End: t0.Add(10 * time.Second), MeanStart: t0.Add(-time.Second / 2), MeanEnd: t0.Add(8 * time.Second),
		Rows: []Row{
			{Name: "SET", Counts: Counts{Count: 1}},
			{Name: "GET", Counts: Counts{Count: 7}, Seconds: []Second{{Sum: 11}, {Sum: 100}}},
			{Name: "DEL"},
		},
		Clients:    []Client{{Loop: 0}, {Loop: 1, Rows: []Row{{Name: "GET", Counts: Counts{Count: 2}}}}, {Loop: 2}, {Loop: 2}},
		ConnErrors: 11, Reconnects: 22, Lost: 33, Interrupted: true,
		Texts:    []Text{{"b", 4}, {"a", 2}},
		Self:     Self{CPU: 2 * time.Second, Cores: 6, Loops: 3, Busiest: .9, Where: "a:1", Limit: "a:1: loops are busy"},
		Machines: []Machine{a.Machines[0], b.Machines[0]},
	}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
	if d, doubt := got.Spread(); d != time.Millisecond || doubt != 2*time.Microsecond {
		t.Errorf("spread %v, %v", d, doubt)
	}
	got.Shift(time.Second)
	if !got.Start.Equal(t0) || got.Duration() != 11*time.Second {
		t.Errorf("shifted: %v to %v", got.Start, got.End)
	}
	if r := Combine(nil); !reflect.DeepEqual(r, &Run{}) {
		t.Errorf("of nothing: %+v", r)
	}
}

// What one machine measured is what a combination of it alone says, but for the copies.
func TestCombineOne(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := runs().Draw(t, "run")
		r.Self.Where, r.Self.Limit, r.Machines = "", "", nil
		r.Texts = Combine([]*Run{r}).Texts // sorted
		if got := Combine([]*Run{r}); string(got.Append(nil)) != string(r.Append(nil)) {
			t.Errorf("%+v\n%+v", got, r)
		}
	})
}

func TestCombineSnapshots(t *testing.T) {
	a := &Snapshot{Elapsed: 2 * time.Second, Total: []Counts{{Count: 1}, {Count: 2}}, Second: []Second{{Sum: 1}, {Sum: 2}}, Sum: 3,
		Service: histogramOf([]int64{1e6}), Clients: 4, ConnErrors: 5, Busiest: .5}
	b := &Snapshot{Elapsed: time.Second, Total: []Counts{{Count: 10}, {Count: 20}}, Sum: 30, Service: histogramOf([]int64{2e6}), Clients: 40,
		ConnErrors: 50, Busiest: .4}
	got := CombineSnapshots([]*Snapshot{a, b})
	if !same(got.Service, histogramOf([]int64{1e6, 2e6})) || a.Service.TotalCount() != 1 {
		t.Error("the histogram is not the sum")
	}
	got.Service = nil
	want := &Snapshot{Elapsed: 2 * time.Second, Total: []Counts{{Count: 11}, {Count: 22}}, Second: []Second{{Sum: 1}, {Sum: 2}}, Sum: 33,
		Clients: 44, ConnErrors: 55, Busiest: .5}
	if !reflect.DeepEqual(got, want) {
		t.Errorf("got  %+v\nwant %+v", got, want)
	}
}
