package compat

import (
	"slices"
	"testing"
	"time"

	"github.com/go-kit/log"
	"github.com/prometheus/client_golang/prometheus"
	dto "github.com/prometheus/client_model/go"
	"github.com/prometheus/memcached_exporter/pkg/exporter"
)

// scrape gives the metrics that Prometheus' exporter finds at a server.
func scrape(t *testing.T, addr string) map[string]*dto.MetricFamily {
	reg := prometheus.NewRegistry()
	reg.MustRegister(exporter.New(addr, 5*time.Second, log.NewNopLogger(), nil))
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*dto.MetricFamily{}
	for _, f := range families {
		all[f.GetName()] = f
	}
	return all
}

// labels are the sets of labels that a family has, less the class of items.
func labels(f *dto.MetricFamily) (out []string) {
	for _, m := range f.GetMetric() {
		s := ""
		for _, l := range m.GetLabel() {
			if l.GetName() != "slab" && l.GetName() != "version" {
				s += l.GetName() + "=" + l.GetValue() + " "
			}
		}
		out = append(out, s)
	}
	slices.Sort(out)
	return slices.Compact(out)
}

// TestExporter: every metric that memcached_exporter gives of memcached, it gives of godwit, with the same labels.
func TestExporter(t *testing.T) {
	real := memcached(t)
	for _, args := range [][]string{nil, {"-o", "no_lru_maintainer,no_lru_crawler"}, {"-o", "idle_timeout=60"}} {
		theirs, ours := start(t, real, args...), start(t, godwit, args...)
		busy(t, theirs)
		busy(t, ours)
		want, got := scrape(t, theirs), scrape(t, ours)
		if len(want) < 40 {
			t.Fatalf("%v: only %d metrics of memcached", args, len(want))
		}
		for name, f := range want {
			g, ok := got[name]
			if !ok {
				t.Errorf("%v: %s is missing", args, name)
				continue
			}
			if w, l := labels(f), labels(g); !slices.Equal(w, l) {
				t.Errorf("%v: %s has the labels %q, want %q", args, name, l, w)
			}
			if f.GetType() != g.GetType() {
				t.Errorf("%v: %s is a %s, want a %s", args, name, g.GetType(), f.GetType())
			}
		}
	}
}

// TestExporterValues: some values that must be the same whatever the engine.
func TestExporterValues(t *testing.T) {
	addr := start(t, godwit)
	busy(t, addr)
	got := scrape(t, addr)
	for name, want := range map[string]float64{
		"memcached_up": 1, "memcached_current_items": 201, "memcached_limit_bytes": 64 << 20, "memcached_max_connections": 1024,
	} {
		f := got[name]
		if f == nil {
			t.Errorf("%s is missing", name)
			continue
		}
		if v := f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetCounter().GetValue(); v != want {
			t.Errorf("%s is %v, want %v", name, v, want)
		}
	}
}
