package admin

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/prometheus/client_golang/prometheus"

	"godwit/internal/clock"
	"godwit/internal/command/mc"
	"godwit/internal/config"
	"godwit/internal/store"
)

func newEnv(t *testing.T) *mc.Env {
	set := config.Defaults()
	c := clock.New()
	s, err := store.Open(store.Config{Limit: set.MaxBytes, Locals: 1, MaxItem: set.ItemSizeMax, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	s.SetClasses(set.Classes(), 8)
	env := &mc.Env{Store: s, Clock: c, Set: set}
	env.Workers = []*mc.Worker{{Env: env, L: s.Local(0)}}
	return env
}

// TestNames: no two metrics share a name, and the registry finds nothing wrong with any of them.
func TestNames(t *testing.T) {
	seen := map[string]bool{}
	for _, m := range metrics {
		if seen[m.name] {
			t.Errorf("%s is there twice", m.name)
		}
		seen[m.name] = true
		if m.counter != strings.HasSuffix(m.name, "_total") {
			t.Errorf("%s: counters, and only they, end in _total", m.name)
		}
	}
	env := newEnv(t)
	w := env.Workers[0]
	w.L.Turn(env.Clock.Ms())
	w.Put(&mc.StoreOp{Key: []byte("k")}, []byte("value"))
	w.Stats("", func(_, _ string) {}) // publishes
	reg := prometheus.NewPedanticRegistry()
	if err := reg.Register(newCollector(env)); err != nil {
		t.Fatal(err)
	}
	families, err := reg.Gather()
	if err != nil {
		t.Fatal(err)
	}
	got := map[string]float64{}
	for _, f := range families {
		got[f.GetName()] = f.Metric[0].GetGauge().GetValue() + f.Metric[0].GetCounter().GetValue()
	}
	for name, want := range map[string]float64{
		"godwit_items": 1, "godwit_cmd_set_total": 1, "godwit_items_stored_total": 1, "godwit_class_items": 1,
		"godwit_item_bytes": 48 + 1 + 1 + 5 + 2 + 8, "godwit_limit_bytes": 64 << 20, "godwit_build_info": 1, "godwit_loops": 1,
		"godwit_get_misses_total": 0,
	} {
		if v, ok := got[name]; !ok || v != want {
			t.Errorf("%s is %v (there: %v), want %v", name, v, ok, want)
		}
	}
}

func serve(t *testing.T) string {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	s := Serve(l, newEnv(t))
	t.Cleanup(func() { s.Close() })
	return l.Addr().String()
}

func TestPages(t *testing.T) {
	addr := serve(t)
	for path, want := range map[string]string{
		"/healthz": "ok\n", "/metrics": "\ngodwit_get_hits_total 0\n", "/debug/pprof/": "goroutine",
		"/debug/pprof/cmdline": "admin.test",
	} {
		resp, err := http.Get("http://" + addr + path)
		if err != nil {
			t.Fatal(err)
		}
		body, err := io.ReadAll(resp.Body)
		resp.Body.Close()
		if err != nil || resp.StatusCode != http.StatusOK || !strings.Contains(string(body), want) {
			t.Errorf("%s: %s %v, lacks %q:\n%.500s", path, resp.Status, err, want, body)
		}
	}
	resp, err := http.Post("http://"+addr+"/metrics", "", nil)
	if err != nil {
		t.Fatal(err)
	}
	resp.Body.Close()
	if resp.StatusCode != http.StatusMethodNotAllowed {
		t.Errorf("POST: %s", resp.Status)
	}
}

// TestManyClients: connections above the limit are closed at once; when others go there is room again.
func TestManyClients(t *testing.T) {
	addr := serve(t)
	var held []net.Conn
	for range maxConns {
		c, err := net.Dial("tcp", addr)
		if err != nil {
			t.Fatal(err)
		}
		defer c.Close()
		fmt.Fprintf(c, "GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n")
		if _, err := http.ReadResponse(bufio.NewReader(c), nil); err != nil {
			t.Fatal(err)
		}
		held = append(held, c)
	}
	c, err := net.Dial("tcp", addr)
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	c.SetDeadline(time.Now().Add(5 * time.Second))
	if n, err := c.Read(make([]byte, 1)); n != 0 || err == nil || strings.Contains(err.Error(), "timeout") {
		t.Errorf("one too many: %d bytes, %v", n, err)
	}
	held[0].Close()
	for until := time.Now().Add(5 * time.Second); ; time.Sleep(10 * time.Millisecond) {
		if resp, err := http.Get("http://" + addr + "/healthz"); err == nil {
			resp.Body.Close()
			return
		} else if time.Now().After(until) {
			t.Fatal(err)
		}
	}
}
