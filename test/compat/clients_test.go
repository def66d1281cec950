package compat

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"time"

	bradfitz "github.com/bradfitz/gomemcache/memcache"
	"github.com/couchbase/gomemcached"
	couchbase "github.com/couchbase/gomemcached/client"
	grafana "github.com/grafana/gomemcache/memcache"
)

// textClient is what the clients for the text protocol have in common.
type textClient struct {
	set, add, replace   func(key, value string, flags uint32, expiry int32) error
	get                 func(key string) (string, uint32, error)
	multi               func(keys []string) (map[string]string, error)
	change              func(key, value string, between func()) error // gets, between, cas
	touch               func(key string, seconds int32) error
	delete              func(key string) error
	incr, decr          func(key string, delta uint64) (uint64, error)
	flush, ping         func() error
	miss, notStored     error
	conflict, malformed error
}

func ofBradfitz(addr string) textClient {
	c := bradfitz.New(addr)
	c.Timeout = 20 * time.Second
	c.MaxIdleConns = 50
	item := func(f func(*bradfitz.Item) error) func(string, string, uint32, int32) error {
		return func(k, v string, flags uint32, exp int32) error {
			return f(&bradfitz.Item{Key: k, Value: []byte(v), Flags: flags, Expiration: exp})
		}
	}
	return textClient{
		set: item(c.Set), add: item(c.Add), replace: item(c.Replace),
		get: func(k string) (string, uint32, error) {
			it, err := c.Get(k)
			if err != nil {
				return "", 0, err
			}
			return string(it.Value), it.Flags, nil
		},
		multi: func(keys []string) (map[string]string, error) {
			got, err := c.GetMulti(keys)
			out := map[string]string{}
			for k, it := range got {
				out[k] = string(it.Value)
			}
			return out, err
		},
		change: func(k, v string, between func()) error {
			it, err := c.Get(k)
			if err != nil {
				return err
			}
			between()
			it.Value = []byte(v)
			return c.CompareAndSwap(it)
		},
		touch: c.Touch, delete: c.Delete, incr: c.Increment, decr: c.Decrement, flush: c.FlushAll, ping: c.Ping,
		miss: bradfitz.ErrCacheMiss, notStored: bradfitz.ErrNotStored, conflict: bradfitz.ErrCASConflict, malformed: bradfitz.ErrMalformedKey,
	}
}

func ofGrafana(addr string) textClient {
	c := grafana.New(addr)
	c.Timeout = 20 * time.Second
	c.MaxIdleConns = 50
	item := func(f func(*grafana.Item) error) func(string, string, uint32, int32) error {
		return func(k, v string, flags uint32, exp int32) error {
			return f(&grafana.Item{Key: k, Value: []byte(v), Flags: flags, Expiration: exp})
		}
	}
	return textClient{
		set: item(c.Set), add: item(c.Add), replace: item(c.Replace),
		get: func(k string) (string, uint32, error) {
			it, err := c.Get(k)
			if err != nil {
				return "", 0, err
			}
			return string(it.Value), it.Flags, nil
		},
		multi: func(keys []string) (map[string]string, error) {
			got, err := c.GetMulti(context.Background(), keys)
			out := map[string]string{}
			for k, it := range got {
				out[k] = string(it.Value)
			}
			return out, err
		},
		change: func(k, v string, between func()) error {
			it, err := c.Get(k)
			if err != nil {
				return err
			}
			between()
			it.Value = []byte(v)
			return c.CompareAndSwap(it)
		},
		touch: c.Touch, delete: c.Delete, incr: c.Increment, decr: c.Decrement, flush: c.FlushAll, ping: c.Ping,
		miss: grafana.ErrCacheMiss, notStored: grafana.ErrNotStored, conflict: grafana.ErrCASConflict, malformed: grafana.ErrMalformedKey,
	}
}

func TestBradfitz(t *testing.T) {
	addr := start(t, godwit)
	useText(t, ofBradfitz(addr))
	c := bradfitz.New(addr)
	c.Timeout = 20 * time.Second
	defer c.Close()
	ok(t, c.Set(&bradfitz.Item{Key: "joined", Value: []byte("middle")}))
	ok(t, c.Append(&bradfitz.Item{Key: "joined", Value: []byte("+")}))
	ok(t, c.Prepend(&bradfitz.Item{Key: "joined", Value: []byte("-")}))
	it, err := c.GetAndTouch("joined", 100)
	if ok(t, err); string(it.Value) != "-middle+" {
		t.Errorf("joined: %q", it.Value)
	}
	if err := c.Append(&bradfitz.Item{Key: "absent", Value: []byte("+")}); !errors.Is(err, bradfitz.ErrNotStored) {
		t.Errorf("append to nothing: %v", err)
	}
}

func TestGrafana(t *testing.T) { useText(t, ofGrafana(start(t, godwit))) }

func ok(t *testing.T, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
}

func useText(t *testing.T, c textClient) {
	is := func(err, want error) {
		t.Helper()
		if !errors.Is(err, want) {
			t.Errorf("error %v, want %v", err, want)
		}
	}
	has := func(key, want string, flags uint32) {
		t.Helper()
		if got, f, err := c.get(key); err != nil || got != want || f != flags {
			t.Errorf("%s: %d bytes, flags %d, %v; want %d bytes, flags %d", key, len(got), f, err, len(want), flags)
		}
	}
	ok(t, c.ping())
	ok(t, c.set("k", "v", 7, 0))
	has("k", "v", 7)
	ok(t, c.set("empty", "", 4294967295, 100))
	has("empty", "", 4294967295)
	_, _, err := c.get("absent")
	is(err, c.miss)
	is(c.add("k", "x", 0, 0), c.notStored)
	ok(t, c.add("new", "x", 0, 0))
	is(c.replace("absent", "x", 0, 0), c.notStored)
	ok(t, c.replace("k", "r", 0, 0))
	has("k", "r", 0)

	ok(t, c.change("k", "changed", func() {}))
	has("k", "changed", 0)
	is(c.change("k", "late", func() { ok(t, c.set("k", "first", 0, 0)) }), c.conflict)
	is(c.change("new", "late", func() { ok(t, c.delete("new")) }), c.miss)
	has("k", "first", 0)

	ok(t, c.touch("k", 1000))
	is(c.touch("absent", 1000), c.miss)
	ok(t, c.delete("empty"))
	is(c.delete("empty"), c.miss)

	ok(t, c.set("n", "41", 0, 0))
	if n, err := c.incr("n", 1); n != 42 || err != nil {
		t.Errorf("incr: %d %v", n, err)
	}
	if n, err := c.decr("n", 100); n != 0 || err != nil {
		t.Errorf("decr: %d %v", n, err)
	}
	_, err = c.incr("absent", 1)
	is(err, c.miss)
	if _, err = c.incr("k", 1); err == nil || !strings.Contains(err.Error(), "non-numeric") {
		t.Errorf("incr of text: %v", err)
	}
	_, _, err = c.get(strings.Repeat("k", 251))
	is(err, c.malformed)

	large := strings.Repeat("0123456789abcdef", 1<<16)[:1<<20-500]
	ok(t, c.set("large", large, 3, 0))
	has("large", large, 3)
	if err := c.set("large", strings.Repeat("x", 1<<20), 0, 0); err == nil || !strings.Contains(err.Error(), "too large") {
		t.Errorf("more than 1 MB: %v", err)
	}
	_, _, err = c.get("large")
	is(err, c.miss)
	has("k", "first", 0) // the connection goes on

	want, keys := map[string]string{}, []string{"absent"}
	for i := range 2000 {
		k := fmt.Sprint("multi", i)
		want[k] = strings.Repeat("m", i%300)
		ok(t, c.set(k, want[k], 0, 0))
		keys = append(keys, k)
	}
	got, err := c.multi(keys)
	ok(t, err)
	for k, v := range want {
		if got[k] != v {
			t.Fatalf("%s: %q, want %q", k, got[k], v)
		}
	}
	if len(got) != len(want) {
		t.Errorf("%d of %d keys", len(got), len(want))
	}

	// Many at once, counting up together: by incr, and by cas until it succeeds.
	ok(t, c.set("sum", "0", 0, 0))
	ok(t, c.set("swapped", "0", 0, 0))
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			for range 50 {
				if _, err := c.incr("sum", 1); err != nil {
					t.Error(err)
				}
				for {
					v, _, err := c.get("swapped")
					if err != nil {
						t.Error(err)
						return
					}
					err = c.change("swapped", v+"x", func() {})
					if err == nil {
						break
					}
					if !errors.Is(err, c.conflict) {
						t.Error(err)
						return
					}
				}
			}
		})
	}
	wg.Wait()
	has("sum", "800", 0)

	ok(t, c.set("brief", "x", 0, 1))
	ok(t, c.set("later", "x", 0, int32(time.Now().Unix()+1000)))
	is(c.set("past", "x", 0, -1), nil)
	_, _, err = c.get("past")
	is(err, c.miss)
	time.Sleep(2100 * time.Millisecond)
	_, _, err = c.get("brief")
	is(err, c.miss)
	has("later", "x", 0)
	ok(t, c.flush())
	_, _, err = c.get("k")
	is(err, c.miss)
}

// TestCouchbase uses a client for the binary protocol, with pipelines of its own making.
func TestCouchbase(t *testing.T) {
	addr := start(t, godwit)
	c, err := couchbase.Connect("tcp", addr)
	ok(t, err)
	defer c.Close()
	c.SetDeadline(time.Now().Add(30 * time.Second))

	_, err = c.Set(0, "k", 0xdeadbeef, 0, []byte("value"))
	ok(t, err)
	res, err := c.Get(0, "k")
	ok(t, err)
	if string(res.Body) != "value" || binary.BigEndian.Uint32(res.Extras) != 0xdeadbeef || res.Cas == 0 {
		t.Errorf("get: %v", res)
	}
	status := func(err error, want gomemcached.Status) {
		t.Helper()
		var r *gomemcached.MCResponse
		if !errors.As(err, &r) || r.Status != want {
			t.Errorf("error %v, want status %v", err, want)
		}
	}
	_, err = c.Get(0, "absent")
	status(err, gomemcached.KEY_ENOENT)
	_, err = c.Add(0, "k", 0, 0, []byte("x"))
	status(err, gomemcached.KEY_EEXISTS)
	_, err = c.Add(0, "new", 0, 0, []byte("x"))
	ok(t, err)
	_, err = c.SetCas(0, "k", 0, 0, res.Cas+5000, []byte("x"))
	status(err, gomemcached.KEY_EEXISTS)
	_, err = c.SetCas(0, "k", 0, 0, res.Cas, []byte("swapped"))
	ok(t, err)
	_, err = c.Append(0, "k", []byte("+"))
	ok(t, err)
	if res, err = c.GetAndTouch(0, "k", 100); err != nil || string(res.Body) != "swapped+" {
		t.Errorf("gat: %v %v", res, err)
	}
	n, err := c.Incr(0, "n", 5, 100, 0)
	if ok(t, err); n != 100 {
		t.Errorf("incr of nothing: %d", n)
	}
	if n, err = c.Incr(0, "n", 5, 100, 0); n != 105 || err != nil {
		t.Errorf("incr: %d %v", n, err)
	}
	if n, err = c.Decr(0, "n", 200, 0, 0); n != 0 || err != nil {
		t.Errorf("decr: %d %v", n, err)
	}
	_, err = c.Incr(0, "k", 1, 0, 0)
	status(err, 6) // not a number
	_, err = c.Del(0, "n")
	ok(t, err)
	_, err = c.Del(0, "n")
	status(err, gomemcached.KEY_ENOENT)
	_, err = c.CAS(0, "k", func(old []byte) ([]byte, couchbase.CasOp) { return append(old, '!'), couchbase.CASStore }, 0)
	ok(t, err)

	large := bytes.Repeat([]byte("L"), 1<<20-500)
	_, err = c.Set(0, "large", 0, 0, large)
	ok(t, err)
	if res, err = c.Get(0, "large"); err != nil || !bytes.Equal(res.Body, large) {
		t.Errorf("large: %v", err)
	}
	_, err = c.Set(0, "large", 0, 0, bytes.Repeat([]byte("L"), 1<<20))
	status(err, gomemcached.E2BIG)

	keys, rv := []string{"absent"}, map[string]*gomemcached.MCResponse{}
	for i := range 500 {
		keys = append(keys, fmt.Sprint("bulk", i))
		_, err = c.Set(0, keys[i+1], i, 0, []byte(keys[i+1]))
		ok(t, err)
	}
	ok(t, c.GetBulk(0, keys, rv, nil))
	if len(rv) != 500 || string(rv["bulk77"].Body) != "bulk77" {
		t.Errorf("bulk: %d", len(rv))
	}

	// A pipeline of quiet sets and a last loud command: nothing of the sets comes back.
	for i := range 1000 {
		ok(t, c.Transmit(&gomemcached.MCRequest{Opcode: gomemcached.SETQ, Key: fmt.Append(nil, "quiet", i), Extras: make([]byte, 8), Body: []byte("q"), Opaque: uint32(i)}))
	}
	ok(t, c.Transmit(&gomemcached.MCRequest{Opcode: gomemcached.NOOP, Opaque: 4711}))
	if res, err = c.Receive(); err != nil || res.Opaque != 4711 || res.Opcode != gomemcached.NOOP {
		t.Errorf("after quiet sets: %v %v", res, err)
	}
	if res, err = c.Get(0, "quiet999"); err != nil || string(res.Body) != "q" {
		t.Errorf("quiet: %v %v", res, err)
	}
	_, err = c.Send(&gomemcached.MCRequest{Opcode: 0x77}) // an unknown one
	status(err, gomemcached.UNKNOWN_COMMAND)

	stats, err := c.StatsMap("")
	if ok(t, err); stats["version"] != "1.6.45" || stats["curr_items"] == "0" {
		t.Errorf("stats: %v", stats)
	}
	_, err = c.Send(&gomemcached.MCRequest{Opcode: gomemcached.FLUSH})
	ok(t, err)
	_, err = c.Get(0, "k")
	status(err, gomemcached.KEY_ENOENT)
}
