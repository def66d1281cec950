package ycsb

import (
	"bytes"
	"sort"
	"strconv"
	"testing"

	"godwit/internal/load"
	"godwit/internal/proto/resp"
)

// fake is a server for one thread after the other, without a wire.
type fake struct {
	values map[string][]byte
	hashes map[string]map[string]string
	index  map[string]float64
	counts map[string]int
	spans  []load.Span
}

func newFake() *fake {
	return &fake{values: map[string][]byte{}, hashes: map[string]map[string]string{}, index: map[string]float64{}, counts: map[string]int{}}
}

// answer to a request.
func (f *fake) answer(t *testing.T, op *load.Op) (r load.Reply) {
	t.Helper()
	switch op.Kind {
	case load.Get:
		f.counts["GET"]++
		v, ok := f.values[string(op.Key)]
		if !ok {
			return load.Reply{Misses: 1}
		}
		return load.Reply{Hits: 1, Value: v}
	case load.Set:
		f.counts["SET"]++
		f.values[string(op.Key)] = bytes.Clone(op.Value)
		return load.Reply{}
	}
	var a []string
	for _, w := range op.Args {
		a = append(a, string(w))
	}
	f.counts[a[0]]++
	var out [][]byte
	switch a[0] {
	case "HMSET":
		h := f.hashes[a[1]]
		if h == nil {
			h = map[string]string{}
			f.hashes[a[1]] = h
		}
		for i := 2; i < len(a); i += 2 {
			h[a[i]] = a[i+1]
		}
		return load.Reply{Value: []byte("OK")}
	case "ZADD":
		f.index[a[3]], _ = strconv.ParseFloat(a[2], 64)
		return load.Reply{Value: []byte("1")}
	case "HGETALL":
		for k, v := range f.hashes[a[1]] {
			out = append(out, []byte(k), []byte(v))
		}
	case "HMGET":
		b := resp.AppendArray(nil, len(a)-2)
		for _, k := range a[2:] {
			if v, ok := f.hashes[a[1]][k]; ok {
				b = resp.AppendBulkString(b, v)
			} else {
				b = append(b, "$-1\r\n"...)
			}
		}
		return load.Reply{Value: b}
	case "ZRANGEBYSCORE":
		from, _ := strconv.ParseFloat(a[2], 64)
		n, _ := strconv.Atoi(a[6])
		var keys []string
		for k, s := range f.index {
			if s >= from {
				keys = append(keys, k)
			}
		}
		sort.Slice(keys, func(i, j int) bool { return f.index[keys[i]] < f.index[keys[j]] })
		for _, k := range keys[:min(n, len(keys))] {
			out = append(out, []byte(k))
		}
	default:
		t.Fatalf("unknown request %q", a)
	}
	b := resp.AppendArray(nil, len(out))
	for _, o := range out {
		b = resp.AppendBulk(b, o)
	}
	return load.Reply{Value: b}
}

// step lets the thread send a request and gives it the answer.
func (f *fake) step(t *testing.T, th *thread) (op load.Op, r load.Reply, ok bool) {
	t.Helper()
	if !th.Next(&op) {
		return op, r, false
	}
	r = f.answer(t, &op)
	r.Row = op.Row
	th.Done(&r)
	var s load.Span
	for th.Ended(&s) {
		f.spans = append(f.spans, s)
	}
	return op, r, true
}

// drain runs threads in turn until all are at their end, and counts operations by section of the row. The parts of a
// read-modify-write count in their sections.
func (f *fake) drain(t *testing.T, threads ...*thread) map[string]int {
	t.Helper()
	got := map[string]int{}
	for busy := true; busy; {
		busy = false
		for _, th := range threads {
			before := len(f.spans)
			op, r, ok := f.step(t, th)
			if !ok {
				continue
			}
			busy = true
			if op.Begins&1 == 1 && th.op < 0 {
				t.Fatal("no operation")
			}
			if row := th.rows.list[r.Row]; row.op < ops {
				got[row.section]++
			}
			for _, s := range f.spans[before:] {
				got[th.rows.list[s.Row].section]++
			}
		}
	}
	return got
}

// threads of a command line.
func threads(t *testing.T, part, parts int, args ...string) []*thread {
	t.Helper()
	j, p, err := set(t, args...).plan(part, parts)
	if err != nil {
		t.Fatal(err)
	}
	_ = j
	var out []*thread
	for i := range p.Clients {
		out = append(out, p.Clients[i].Source.(*thread))
	}
	return out
}
