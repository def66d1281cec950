package stat

// The formulas of the studies. T is the best throughput that kept the promised latency, in operations per second; prices are
// per hour, in any currency; power is the mean over the measured window, in watts. All must be above 0.

const hour = 3600 // seconds

// Relative performance of a against b: throughput over throughput. 1.04 is "4 % more".
func Relative(a, b float64) float64 { return a / b }

// PricePerformance in operations per second for each unit of money per hour.
func PricePerformance(t, price float64) float64 { return t / price }

// RelativePricePerformance of a against b.
func RelativePricePerformance(ta, priceA, tb, priceB float64) float64 {
	return PricePerformance(ta, priceA) / PricePerformance(tb, priceB)
}

// OpsPerMoney is the number of operations that one unit of money buys (ops per dollar).
func OpsPerMoney(t, price float64) float64 { return t * hour / price }

// CostPerMillion is the price of a million operations: cost per work, lower is better.
func CostPerMillion(t, price float64) float64 { return price / hour / t * 1e6 }

// PerWatt is performance per watt, in operations per joule.
func PerWatt(t, watts float64) float64 { return t / watts }

// RelativePerWatt of a against b.
func RelativePerWatt(ta, wattsA, tb, wattsB float64) float64 {
	return PerWatt(ta, wattsA) / PerWatt(tb, wattsB)
}

// EnergySaved is the part of b's energy that a does not need for the same work. 0.34 is "34 % less power".
func EnergySaved(ta, wattsA, tb, wattsB float64) float64 {
	return 1 - 1/RelativePerWatt(ta, wattsA, tb, wattsB)
}

// PerOperation is the processor time of one operation in microseconds, from processor seconds and operations of one window.
func PerOperation(cpuSeconds, ops float64) float64 { return cpuSeconds / ops * 1e6 }

// Subject is one side of a study: what it reached, and what that takes. Price and Watts are 0 if unknown.
type Subject struct {
	Throughput  float64 `json:"throughput"` // operations per second
	Price       float64 `json:"price,omitempty"`
	PriceSource string  `json:"price_source,omitempty"` // currency, list and date of the price
	Watts       float64 `json:"watts,omitempty"`
	WattsSource string  `json:"watts_source,omitempty"` // "rapl", "given: 95 W"
}

// Worth is what the formulas say of one Subject; what its facts do not give is absent.
type Worth struct {
	OpsPerMoney    float64 `json:"ops_per_money,omitempty"`
	CostPerMillion float64 `json:"cost_per_million,omitempty"`
	OpsPerJoule    float64 `json:"ops_per_joule,omitempty"`
}

// Worth of s.
func (s Subject) Worth() (w Worth) {
	if s.Throughput > 0 && s.Price > 0 {
		w.OpsPerMoney, w.CostPerMillion = OpsPerMoney(s.Throughput, s.Price), CostPerMillion(s.Throughput, s.Price)
	}
	if s.Throughput > 0 && s.Watts > 0 {
		w.OpsPerJoule = PerWatt(s.Throughput, s.Watts)
	}
	return w
}

// Advantage is how much better one Subject is than another: above 1 is better. What cannot be said is absent.
type Advantage struct {
	Performance      float64 `json:"performance,omitempty"`
	PricePerformance float64 `json:"price_performance,omitempty"`
	PerWatt          float64 `json:"per_watt,omitempty"`
}

// Over compares s with other.
func (s Subject) Over(other Subject) (a Advantage) {
	if s.Throughput <= 0 || other.Throughput <= 0 {
		return a
	}
	a.Performance = Relative(s.Throughput, other.Throughput)
	if s.Price > 0 && other.Price > 0 {
		a.PricePerformance = RelativePricePerformance(s.Throughput, s.Price, other.Throughput, other.Price)
	}
	if s.Watts > 0 && other.Watts > 0 {
		a.PerWatt = RelativePerWatt(s.Throughput, s.Watts, other.Throughput, other.Watts)
	}
	return a
}
