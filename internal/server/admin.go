package server

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"reflect"
	"strings"
	"time"
	"unicode"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"godwit/internal/config"
	"godwit/internal/stats"
)

// listenAdmin binds the address of --admin: metrics for Prometheus, health for load balancers, profiles for us. Nothing of
// it is on the way of a request: counters are read when somebody asks.
func (s *Server) listenAdmin() (err error) {
	if s.set.Admin == "" {
		return nil
	}
	if s.adminSock, err = net.Listen("tcp", s.set.Admin); err != nil {
		return failf(config.ExitOS, "failed to listen on admin address %s: %s", s.set.Admin, errText(err))
	}
	return nil
}

// serveAdmin answers there from now on, until stop.
func (s *Server) serveAdmin() {
	if s.adminSock == nil {
		return
	}
	s.admin = &http.Server{Handler: s.adminHandler(), ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 16 << 10}
	go s.admin.Serve(s.adminSock)
}

func (s *Server) adminHandler() http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(collector{s}, collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}

// collector turns the fields of the statistics structs into metrics when it is asked. A new field is a new metric.
type collector struct{ s *Server }

// Describe sends nothing: the set of metrics is what Collect finds.
func (collector) Describe(chan<- *prometheus.Desc) {}

func (c collector) Collect(out chan<- prometheus.Metric) {
	var sum stats.Counters
	var classes stats.Class
	for _, w := range c.s.env.Workers {
		one, byClass := w.St.Snapshot()
		add(&sum, &one)
		for i := range byClass {
			add(&classes, &byClass[i])
		}
	}
	st := c.s.store.Stats()
	cs := c.s.ConnStats()
	emit(out, "godwit_", reflect.ValueOf(sum))
	emit(out, "godwit_", reflect.ValueOf(classes))
	emit(out, "godwit_store_", reflect.ValueOf(st))
	emit(out, "godwit_connections_", reflect.ValueOf(cs))
	gauge(out, "godwit_store_limit_bytes", float64(c.s.store.Limit()))
	gauge(out, "godwit_loops", float64(c.s.net.Loops()))
}

// gauges are the fields that may fall; all others only grow.
var gauges = map[string]bool{
	"Items": true, "Bytes": true, "LogBytes": true, "IndexBytes": true, "RegionBytes": true, "GhostBytes": true,
	"Segments": true, "FreeSegments": true, "Curr": true, "Structures": true, "ReadBufs": true, "ReadBufBytes": true,
	"ReadBufFree": true, "CertRefresh": true,
}

// emit sends the number fields of a struct.
func emit(out chan<- prometheus.Metric, prefix string, v reflect.Value) {
	for i := range v.NumField() {
		name := v.Type().Field(i).Name
		n, ok := number(v.Field(i))
		if !ok {
			continue
		}
		if gauges[name] {
			gauge(out, prefix+snake(name), n)
			continue
		}
		desc := prometheus.NewDesc(prefix+snake(name)+"_total", name+", since the start or the last stats reset.", nil, nil)
		out <- prometheus.MustNewConstMetric(desc, prometheus.CounterValue, n)
	}
}

func gauge(out chan<- prometheus.Metric, name string, v float64) {
	desc := prometheus.NewDesc(name, "Present value.", nil, nil)
	out <- prometheus.MustNewConstMetric(desc, prometheus.GaugeValue, v)
}

func number(v reflect.Value) (float64, bool) {
	switch {
	case v.CanUint():
		return float64(v.Uint()), true
	case v.CanInt():
		return float64(v.Int()), true
	}
	return 0, false
}

// add sums the uint64 fields of one struct into another of the same type.
func add[T any](sum, one *T) {
	s, o := reflect.ValueOf(sum).Elem(), reflect.ValueOf(one).Elem()
	for i := range s.NumField() {
		s.Field(i).SetUint(s.Field(i).Uint() + o.Field(i).Uint())
	}
}

// snake turns CmdFlush into cmd_flush and ReadBufOOM into read_buf_oom.
func snake(name string) string {
	var b strings.Builder
	for i, r := range name {
		if unicode.IsUpper(r) && i > 0 && (unicode.IsLower(rune(name[i-1])) || i+1 < len(name) && unicode.IsLower(rune(name[i+1]))) {
			b.WriteByte('_')
		}
		b.WriteRune(unicode.ToLower(r))
	}
	return b.String()
}
