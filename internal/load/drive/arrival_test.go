package drive

import (
	"testing"
	"time"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/netloop"
	"godwit/internal/netloop/echo"
)

// A load with a rate does not run ahead of it.
func TestRate(t *testing.T) {
	addr := echoServer(t, "yes")
	for _, io := range drivers {
		p := plan(addr, 4, 250, 1)
		p.IO = io
		for i := range p.Clients {
			p.Clients[i].Rate = 500
			p.Clients[i].Phase = float64(i) / 4
		}
		r := run1(t, p)
		if n := r.Rows[0].Count; n != 1000 || r.Duration() < 498*time.Millisecond {
			t.Errorf("%s: %d requests in %v: 1000 take half a second at 2000/s", io, n, r.Duration())
		}
		if r.Rows[0].Planned.TotalCount() != 1000 || r.Self.Late.TotalCount() != 1000 {
			t.Errorf("%s: %d planned latencies, %d latenesses of 1000", io, r.Rows[0].Planned.TotalCount(), r.Self.Late.TotalCount())
		}
	}
}

// planned is how many requests a client plans in so many seconds.
func planned(rate float64, poisson bool, ramp func(float64) float64, seconds float64) (n int) {
	p := &load.Plan{
		Rows: []string{"GET"}, Loops: 1, Duration: time.Minute, Ramp: ramp,
		Clients: []load.Client{{Target: &load.Target{}, Codec: lines{}, Source: &counter{}, Pipeline: 1, Rate: rate, Poisson: poisson}},
	}
	r := &run{plan: p, base: time.Now()}
	r.workers = []*worker{newWorker(r, 0)}
	r.started.Store(1)
	c := newClient(r, r.workers[0], 0)
	for c.plannedT = 1; c.plannedT < seconds*1e9; c.step() {
		n++
	}
	return n
}

// Rates are exact, also those that divide a second badly, and those that change.
func TestPlannedTimes(t *testing.T) {
	up := func(s float64) float64 { return min(1, s/10) } // from 0 to 1 in 10 s
	for _, c := range []struct {
		name    string
		rate    float64
		poisson bool
		ramp    func(float64) float64
		seconds float64
		want    float64
		within  float64
	}{
		{"99 per second", 99, false, nil, 10, 990, 1},
		{"3 in 10 s", 0.3, false, nil, 10, 3, 1},
		{"200000 per second", 200_000, false, nil, 5, 1e6, 1},
		{"1 in 7 s", 1.0 / 7, false, nil, 50, 50.0 / 7, 1},
		{"poisson", 10_000, true, nil, 20, 200_000, 2000},
		{"ramp", 1000, false, up, 10, 5000, 20},
		{"ramp and after it", 1000, false, up, 20, 15_000, 20},
		{"poisson ramp", 1000, true, up, 20, 15_000, 500},
		{"no rate at all", 1000, false, func(float64) float64 { return 0 }, 50, 1, 0},
	} {
		if n := float64(planned(c.rate, c.poisson, c.ramp, c.seconds)); n < c.want-c.within || n > c.want+c.within {
			t.Errorf("%s: %g requests in %g s, want %g", c.name, n, c.seconds, c.want)
		}
	}
}

// stalling is an echo server that stops the world for a while, once.
type stalling struct {
	echo.Handler
	after, seen int
	pause       time.Duration
}

func (s *stalling) Open(netloop.Conn) netloop.Session { return s }

func (s *stalling) Feed(in []byte, out *bytesx.Out) (int, netloop.Verdict) {
	if s.seen++; s.seen == s.after {
		time.Sleep(s.pause)
	}
	return s.Handler.Feed(in, out)
}

// A pause of the server shows in the planned latencies of all requests that were due meanwhile, and in the service
// latencies of those few that were under way.
func TestPause(t *testing.T) {
	const pause = 200 * time.Millisecond
	addr := serve(t, &stalling{Handler: echo.Handler{Answer: []byte("yes\n")}, after: 2000, pause: pause})
	p := plan(addr, 4, 5000, 1)
	for i := range p.Clients {
		p.Clients[i].Rate = 5000
	}
	row := &run1(t, p).Rows[0]
	if late := time.Duration(row.Planned.ValueAtQuantile(99.9)); late < pause/2 {
		t.Errorf("planned p99.9 %v does not show the pause", late)
	}
	long := int64(0)
	for _, b := range row.Service.Distribution() {
		if b.From >= int64(pause/2) {
			long += b.Count
		}
	}
	if long == 0 || long > 8 { // of 20000; 4 at a time
		t.Errorf("%d service latencies show the pause: 1 to 4 requests were under way", long)
	}
}

// Percentiles are within 1 % of the truth: 99 % of 700 us and 1 % of 5 ms.
func TestPrecision(t *testing.T) {
	rec := newRecorder(1, false)
	for i := range 100_000 {
		lat := int64(700e3)
		if i%100 == 0 {
			lat = 5e6
		}
		rec.reply(&flight{sent: 1000}, &load.Reply{}, 1000+lat, 1)
	}
	for q, want := range map[float64]float64{50: 700e3, 98.9: 700e3, 99.01: 5e6, 99.9: 5e6} {
		if got := float64(rec.rows[0].service.ValueAtQuantile(q)); got < .99*want || got > 1.01*want {
			t.Errorf("p%g is %g ns, want %g", q, got, want)
		}
	}
}
