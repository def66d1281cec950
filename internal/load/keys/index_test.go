package keys

import (
	"math"
	"strings"
	"testing"
)

const top = math.MaxUint64

func TestUniform(t *testing.T) {
	x := made(t)(Uniform(1000, 1099))
	chiSquare(t, "uniform", count(t, "uniform", 200_000, 100, 1000, x.Next), flat(100))
}

func TestGauss(t *testing.T) {
	for _, c := range []struct {
		low, high      uint64
		stddev, median float64
	}{
		{0, 99, 0, 0},      // memtier's defaults
		{5, 300, 20, 40},   // off the middle
		{10, 59, 15, 10},   // on the edge
		{0, 49, 60, 20},    // wider than the range: drawn the other way
		{0, 49, 1e300, 20}, // flat
		{0, 1, 0.1, 1},
	} {
		x := made(t)(Gauss(c.low, c.high, c.stddev, c.median))
		n := int(c.high - c.low + 1)
		dev, mean := c.stddev, c.median
		if dev == 0 {
			dev = float64(n-1) / 6
		}
		if mean == 0 {
			mean = float64(n)/2 + float64(c.low)
		}
		want := make([]float64, n)
		for i := range want {
			z := func(v float64) float64 { return math.Erf((v - mean) / dev / math.Sqrt2) }
			if want[i] = z(float64(c.low)+float64(i)+1) - z(float64(c.low)+float64(i)); dev > 1e100 {
				want[i] = 1
			}
		}
		chiSquare(t, "gauss", count(t, "gauss", 200_000, n, c.low, x.Next), want)
	}
}

func TestSequential(t *testing.T) {
	for _, c := range []struct {
		low, high, start uint64
		want             []uint64
	}{
		{0, 3, 0, []uint64{0, 1, 2, 3, 0, 1}},
		{5, 7, 7, []uint64{7, 5, 6, 7}},
		{9, 9, 9, []uint64{9, 9, 9}},
		{top - 1, top, top - 1, []uint64{top - 1, top, top - 1}},
		{0, top, top, []uint64{top, 0, 1}},
	} {
		x := made(t)(Sequential(c.low, c.high, c.start))
		cursor, err := NewCursor(c.low, c.high, c.start)
		if err != nil {
			t.Fatal(err)
		}
		y := made(t)(Shared(cursor))
		for i, want := range c.want {
			if got := x.Next(); got != want {
				t.Errorf("sequential %v: draw %d is %d", c, i, got)
			}
			if got := y.Next(); got != want {
				t.Errorf("shared %v: draw %d is %d", c, i, got)
			}
		}
	}
}

func TestHotspot(t *testing.T) {
	x := made(t)(Hotspot(100, 199, 0.2, 0.8))
	want := make([]float64, 100)
	for i := range want {
		if want[i] = 0.8 / 20; i >= 20 {
			want[i] = 0.2 / 80
		}
	}
	chiSquare(t, "hotspot", count(t, "hotspot", 200_000, 100, 100, x.Next), want)
	for _, f := range [][2]float64{{0, 0}, {0, 1}, {1, 0}, {1, 1}} {
		x = made(t)(Hotspot(3, 12, f[0], f[1]))
		chiSquare(t, "hotspot", count(t, "hotspot", 20_000, 10, 3, x.Next), flat(10))
	}
	x = made(t)(Hotspot(0, 9, 0.001, 1))
	if got := count(t, "hotspot", 100, 10, 0, x.Next); got[0] != 100 {
		t.Errorf("a small hot set is not one index: %v", got)
	}
}

func TestLatest(t *testing.T) {
	ins := NewInserts(50)
	x := made(t)(Latest(0, ins, 0.99))
	check := func(n int) {
		t.Helper()
		ranks := count(t, "latest", 200_000, n, 0, func() uint64 { return ins.Acked() - 1 - x.Next() })
		chiSquare(t, "latest", ranks, zipfWeights(n, 1, 0.99))
	}
	check(50)
	for range 30 {
		i, _ := ins.Take()
		if err := ins.Ack(i); err != nil {
			t.Fatal(err)
		}
	}
	check(80)
}

func TestExponential(t *testing.T) {
	// YCSB's defaults, and a law that is much wider than what there is.
	for _, c := range []struct {
		records              uint64
		percentile, fraction float64
	}{{200, 95, 0.8571428571}, {1000, 50, 40}, {200, 99.9, 0.01}} {
		ins := NewInserts(210)
		x := made(t)(Exponential(10, ins, c.records, c.percentile, c.fraction))
		gamma := -math.Log(1-c.percentile/100) / (float64(c.records) * c.fraction)
		want := make([]float64, 200)
		for i := range want {
			want[i] = math.Exp(-gamma*float64(i)) - math.Exp(-gamma*float64(i+1))
		}
		far := count(t, "exponential", 200_000, 200, 0, func() uint64 { return 209 - x.Next() })
		chiSquare(t, "exponential", far, want)
	}
}

func TestNothingInserted(t *testing.T) {
	ins := NewInserts(0)
	for name, x := range map[string]*Indices{
		"latest":      made(t)(Latest(5, ins, 0.99)),
		"exponential": made(t)(Exponential(5, ins, 10, 95, 0.5)),
		"within":      made(t)(Scrambled(5, 100, 0.99)),
	} {
		x.Within(ins)
		if got := x.Next(); got != 5 {
			t.Errorf("%s: drew %d of nothing", name, got)
		}
	}
}

func TestWithin(t *testing.T) {
	ins := NewInserts(40)
	for name, x := range map[string]*Indices{
		"uniform":        made(t)(Uniform(0, 99)),
		"scrambled":      made(t)(Scrambled(0, 99, 0.99)),
		"scrambled YCSB": made(t)(ScrambledYCSB(0, 1<<40, 0.99)), // nearly all are redrawn, and then taken at random
	} {
		x.Within(ins)
		for i, n := range count(t, name, 20_000, 40, 0, x.Next) {
			if n == 0 {
				t.Errorf("%s: %d is never drawn", name, i)
			}
		}
	}
}

// laws are all of them over a range.
func laws(t testing.TB, low, high uint64) map[string]*Indices {
	ins := NewInserts(high) // all but the last
	cursor, err := NewCursor(low, high, low)
	if err != nil {
		t.Fatal(err)
	}
	m := map[string]*Indices{
		"uniform":        made(t)(Uniform(low, high)),
		"gauss":          made(t)(Gauss(low, high, 0, 0)),
		"wide gauss":     made(t)(Gauss(low, high, 1e25, float64(low))),
		"sequential":     made(t)(Sequential(low, high, high)),
		"shared":         made(t)(Shared(cursor)),
		"partition":      made(t)(Partition(low, high, 0, 1)),
		"zipf":           made(t)(Zipf(low, high, 1)),
		"flat zipf":      made(t)(Zipf(low, high, 1e-9)),
		"steep zipf":     made(t)(Zipf(low, high, 4.999)),
		"scrambled":      made(t)(Scrambled(low, high, 0.99)),
		"scrambled YCSB": made(t)(ScrambledYCSB(low, high, 0.99)),
		"hotspot":        made(t)(Hotspot(low, high, 0.2, 0.8)),
		"odd hotspot":    made(t)(Hotspot(low, high, 0x1.fffffffffffffp-1, 0.5)),
		"latest":         made(t)(Latest(low, ins, 0.99)),
		"exponential":    made(t)(Exponential(low, ins, 1000, 95, 0.8571428571)),
		"within":         made(t)(Uniform(low, high)),
	}
	m["within"].Within(ins)
	if high > 0 {
		m["memtier zipf"] = made(t)(MemtierZipf(low, high, 1.5))
		m["flat memtier zipf"] = made(t)(MemtierZipf(low, high, 0.01))
	}
	return m
}

func TestRanges(t *testing.T) {
	for _, c := range [][2]uint64{
		{0, 0}, {16, 16}, {top, top}, {0, 1}, {top - 1, top}, {0, top}, {1, top}, {0, top - 1}, {5, 1 << 63}, {1<<63 - 1, 1 << 63},
		{1<<53 - 1, 1<<53 + 2}, {1 << 62, 1<<62 + 1<<54 + 3}, {0, 1<<32 - 1}, {0, 1 << 32}, {0, 9_999_999},
	} {
		for name, x := range laws(t, c[0], c[1]) {
			if x.Min() < c[0] || x.Max() < x.Min() {
				t.Errorf("%s %v: says %d to %d", name, c, x.Min(), x.Max())
			}
			for range 5000 {
				if v := x.Next(); v < c[0] || v > c[1] {
					t.Errorf("%s %v: drew %d", name, c, v)
					break
				}
			}
		}
	}
}

func TestClientsDiffer(t *testing.T) {
	for name, x := range laws(t, 0, 1_000_000) {
		switch name {
		case "sequential", "shared", "partition", "steep zipf":
			continue
		}
		draw := func(seed uint64, client int) (v [50]uint64) {
			mine := *x
			mine.Seed(seed, Stream(client, Reads))
			for i := range v {
				v[i] = mine.Next()
			}
			return v
		}
		first := draw(1, 0)
		if again := draw(1, 0); first != again {
			t.Errorf("%s: the same seed draws differently", name)
		}
		seen := map[[50]uint64]int{}
		for client := range 100 {
			v := draw(1, client)
			if other, ok := seen[v]; ok {
				t.Errorf("%s: clients %d and %d draw the same", name, other, client)
			}
			seen[v] = client
		}
		if first == draw(2, 0) {
			t.Errorf("%s: another seed draws the same", name)
		}
	}
}

func TestNoAllocations(t *testing.T) {
	for name, x := range laws(t, 0, 1_000_000) {
		if n := testing.AllocsPerRun(1000, func() { sink += x.Next() }); n != 0 {
			t.Errorf("%s: %v allocations", name, n)
		}
	}
}

func TestRefused(t *testing.T) {
	ins, nan, inf := NewInserts(1), math.NaN(), math.Inf(1)
	for want, make := range map[string]func() (Indices, error){
		"keys: minimum 2: above the maximum 1 (swap them)": func() (Indices, error) { return Uniform(2, 1) },
		"gauss stddev -1":     func() (Indices, error) { return Gauss(0, 9, -1, 0) },
		"gauss stddev NaN":    func() (Indices, error) { return Gauss(0, 9, nan, 0) },
		"gauss stddev +Inf":   func() (Indices, error) { return Gauss(0, 9, inf, 0) },
		"gauss median 10":     func() (Indices, error) { return Gauss(0, 9, 0, 10) },
		"gauss median NaN":    func() (Indices, error) { return Gauss(0, 9, 0, nan) },
		"start 10":            func() (Indices, error) { return Sequential(0, 9, 10) },
		"shared cursor":       func() (Indices, error) { return Shared(nil) },
		"zipf exponent 0":     func() (Indices, error) { return Zipf(0, 9, 0) },
		"zipf exponent 5":     func() (Indices, error) { return Scrambled(0, 9, 5) },
		"zipf exponent NaN":   func() (Indices, error) { return MemtierZipf(0, 9, nan) },
		"zipf exponent -1":    func() (Indices, error) { return Latest(0, ins, -1) },
		"zipf maximum 0":      func() (Indices, error) { return MemtierZipf(0, 0, 1) },
		"zipfian constant 1":  func() (Indices, error) { return ScrambledYCSB(0, 9, 1) },
		"latest inserts":      func() (Indices, error) { return Latest(0, nil, 1) },
		"data fraction 1.1":   func() (Indices, error) { return Hotspot(0, 9, 1.1, 0) },
		"data fraction NaN":   func() (Indices, error) { return Hotspot(0, 9, nan, 0) },
		"operation fraction":  func() (Indices, error) { return Hotspot(0, 9, 0, -0.1) },
		"exponential inserts": func() (Indices, error) { return Exponential(0, nil, 1, 95, 1) },
		"records 0":           func() (Indices, error) { return Exponential(0, ins, 0, 95, 1) },
		"percentile 100":      func() (Indices, error) { return Exponential(0, ins, 1, 100, 1) },
		"fraction 0":          func() (Indices, error) { return Exponential(0, ins, 1, 95, 0) },
		"fraction 5e-324":     func() (Indices, error) { return Exponential(0, ins, 1, 95, 5e-324) },
		"clients 11":          func() (Indices, error) { return Partition(0, 9, 0, 11) },
		"client 2":            func() (Indices, error) { return Partition(0, 9, 2, 2) },
	} {
		_, err := make()
		if err == nil || !strings.Contains(err.Error(), want) || !strings.HasSuffix(err.Error(), ")") {
			t.Errorf("%q is not what it says: %v", want, err)
		}
	}
}

func BenchmarkIndices(b *testing.B) {
	for name, x := range laws(b, 0, 9_999_999) {
		b.Run(strings.ReplaceAll(name, " ", "-"), func(b *testing.B) {
			for b.Loop() {
				sink += x.Next()
			}
		})
	}
}
