package mc

import (
	"bytes"
	"strconv"
	"sync"
	"testing"

	"godwit/internal/clock"
	"godwit/internal/config"
	"godwit/internal/store"
)

// TestMergeRace has several loops append to, count and swap the same items: nothing that was acknowledged may get lost.
func TestMergeRace(t *testing.T) {
	const loops, rounds = 4, 500
	set, exit := config.ParseMemcached("memcached", nil)
	if exit != nil {
		t.Fatal(exit)
	}
	c := clock.New()
	s, err := store.Open(store.Config{Limit: set.MaxBytes, Locals: loops, MaxItem: set.ItemSizeMax, Seed: 1, Clock: c})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	env := NewEnv(set, s, loops)
	for _, w := range env.Workers {
		w.L.Turn(c.Ms())
	}
	one := env.Workers[0]
	one.Put(&StoreOp{Key: []byte("list")}, nil)
	one.Put(&StoreOp{Key: []byte("sum")}, []byte("0"))
	one.Put(&StoreOp{Key: []byte("cas")}, []byte("0"))
	swaps := make([]int, loops)
	var wg sync.WaitGroup
	for i, w := range env.Workers {
		wg.Go(func() {
			for range rounds {
				op := StoreOp{Key: []byte("list"), Mode: Append}
				if i%2 == 1 {
					op.Mode = Prepend
				}
				if w.Put(&op, []byte{byte('a' + i)}).Code != OK {
					t.Error("append failed")
				}
				w.Arith(&ArithOp{Key: []byte("sum"), Delta: 1})
				e := w.Fetch([]byte("cas"))
				n, _ := strconv.Atoi(string(e.Value()))
				id := e.CAS()
				e.Unlock()
				if w.Put(&StoreOp{Key: []byte("cas"), Check: true, CAS: id}, strconv.AppendInt(nil, int64(n+1), 10)).Code == OK {
					swaps[i]++
				}
			}
		})
	}
	wg.Wait()
	value := func(key string) []byte {
		e := one.Fetch([]byte(key))
		defer e.Unlock()
		return bytes.Clone(e.Value())
	}
	for i := range loops {
		if n := bytes.Count(value("list"), []byte{byte('a' + i)}); n != rounds {
			t.Errorf("loop %d: %d of %d appended bytes", i, n, rounds)
		}
	}
	if v := string(value("sum")); v != strconv.Itoa(loops*rounds) {
		t.Errorf("sum %s", v)
	}
	total := 0
	for _, n := range swaps {
		total += n
	}
	if v := string(value("cas")); v != strconv.Itoa(total) {
		t.Errorf("%d swaps succeeded, the value says %s", total, v)
	}
}
