package stat

import (
	"math"
	"testing"
)

// The figures that the published studies S1 to S4 give, out of what they say they measured (T17).
func TestPublishedStudies(t *testing.T) {
	percent := func(ratio float64) float64 { return math.Round((ratio - 1) * 100) }
	for _, c := range []struct {
		what      string
		got, want float64
	}{
		{"S3 price-performance against Ice Lake", percent(RelativePricePerformance(1.04, .616, 1, .768)), 30},
		{"S3 price-performance against Milan", percent(RelativePricePerformance(1.28, .616, 1, .688)), 43},
		{"S3 performance against Ice Lake", percent(Relative(1.04e6, 1e6)), 4},
		{"S3 performance against Milan", percent(Relative(1.28e6, 1e6)), 28},
		{"S1 per watt against Xeon", math.Round(100*RelativePerWatt(1.74, 1, 1, 1.53)) / 100, 2.66},
		{"S1 per watt against EPYC", math.Round(100*RelativePerWatt(1.23, 1, 1, 1.52)) / 100, 1.87},
		{"S1 power ratio against Xeon", math.Round(100*2.66/1.74) / 100, 1.53},
		{"S1 power ratio against EPYC", math.Round(100*1.87/1.23) / 100, 1.52},
		{"S1 less power for equal work", math.Round(100 * EnergySaved(1, 1, 1, 1.52)), 34},
		{"S2 price-performance", math.Round(100*RelativePricePerformance(1.51, .80, 1, 1)) / 100, 1.89},
		{"S4 price-performance of m6g.large", math.Round(100*RelativePricePerformance(1.65, .80, 1, 1)) / 100, 2.06},
	} {
		if c.got != c.want {
			t.Errorf("%s: %v, published %v", c.what, c.got, c.want)
		}
	}
}

func TestFormulas(t *testing.T) {
	near(t, "operations for a dollar", OpsPerMoney(1e6, .616), 5.8442e9, 1e5)
	near(t, "a million operations", CostPerMillion(1e6, .616), 1.7111e-4, 1e-8)
	near(t, "cost and its inverse", CostPerMillion(1e6, .616)*OpsPerMoney(1e6, .616), 1e6, 1e-3)
	near(t, "per joule", PerWatt(1e6, 250), 4000, 0)
	near(t, "processor time", PerOperation(4, 1e6), 4, 1e-12)
}

func TestSubject(t *testing.T) {
	altra := Subject{Throughput: 1.04e6, Price: .616, PriceSource: "USD, on demand, 2022-09"}
	iceLake := Subject{Throughput: 1e6, Price: .768, PriceSource: "USD, on demand, 2022-09", Watts: 200}
	a := altra.Over(iceLake)
	near(t, "performance", a.Performance, 1.04, 1e-9)
	near(t, "price-performance", a.PricePerformance, 1.2966, 1e-4)
	if a.PerWatt != 0 || altra.Worth().OpsPerJoule != 0 {
		t.Error("power out of nothing")
	}
	if w := iceLake.Worth(); w.OpsPerJoule != 5000 || w.OpsPerMoney == 0 || w.CostPerMillion == 0 {
		t.Errorf("%+v", w)
	}
	if (Subject{}).Over(altra) != (Advantage{}) || (Subject{Price: 1, Watts: 1}).Worth() != (Worth{}) {
		t.Error("something out of no throughput")
	}
}
