// Package admin answers on --admin: metrics for Prometheus, health for load balancers, profiles for developers. It has a
// listener and goroutines of its own. Nothing of it is on the way of a request: counters are read when somebody asks.
package admin

import (
	"fmt"
	"net"
	"net/http"
	"net/http/pprof"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"github.com/prometheus/client_golang/prometheus/collectors"
	"github.com/prometheus/client_golang/prometheus/promhttp"

	"godwit/internal/command/mc"
)

// Bounds on what clients can hold, so that slow and forgotten ones cost little.
const (
	maxConns    = 64
	maxHeader   = 16 << 10
	headerTime  = 5 * time.Second
	requestTime = 10 * time.Second
	answerTime  = 2 * time.Minute // a profile takes as long as it is asked to
	idleTime    = time.Minute
)

// Server answers on one address.
type Server struct{ http http.Server }

// Serve answers the clients of l, for the server that env belongs to, until Close.
func Serve(l net.Listener, env *mc.Env) *Server {
	s := &Server{}
	s.http = http.Server{
		Handler: handler(env), ReadHeaderTimeout: headerTime, ReadTimeout: requestTime, WriteTimeout: answerTime,
		IdleTimeout: idleTime, MaxHeaderBytes: maxHeader,
	}
	go s.http.Serve(&bounded{Listener: l, slots: make(chan struct{}, maxConns)}) // until Close
	return s
}

// Close ends the listener and all connections at once.
func (s *Server) Close() error { return s.http.Close() }

func handler(env *mc.Env) http.Handler {
	reg := prometheus.NewRegistry()
	reg.MustRegister(newCollector(env), collectors.NewGoCollector(), collectors.NewProcessCollector(collectors.ProcessCollectorOpts{}))
	mux := http.NewServeMux()
	mux.Handle("GET /metrics", promhttp.HandlerFor(reg, promhttp.HandlerOpts{MaxRequestsInFlight: 4}))
	mux.HandleFunc("GET /healthz", func(w http.ResponseWriter, _ *http.Request) { fmt.Fprintln(w, "ok") })
	mux.HandleFunc("GET /debug/pprof/", pprof.Index)
	mux.HandleFunc("GET /debug/pprof/cmdline", pprof.Cmdline)
	mux.HandleFunc("GET /debug/pprof/profile", pprof.Profile)
	mux.HandleFunc("GET /debug/pprof/symbol", pprof.Symbol)
	mux.HandleFunc("GET /debug/pprof/trace", pprof.Trace)
	return mux
}
