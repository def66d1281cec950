package drive

import (
	"testing"
	"time"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/keys"
)

// looped is a client with the loop around it, but for the sockets: a pipeline of gets and sets that are answered at once.
type looped struct {
	c       *client
	out     bytesx.Out
	answers []byte
}

// mix is a Source of one set for ten gets.
type mix struct {
	indices keys.Indices
	names   keys.Names
	key     []byte
	value   []byte
	n       int
}

func (m *mix) Next(op *load.Op) bool {
	m.key = m.names.Append(m.key[:0], m.indices.Next())
	op.Key = m.key
	if m.n++; m.n%11 == 0 {
		op.Kind, op.Value = load.Set, m.value
	} else {
		op.Kind, op.Row = load.Get, 1
	}
	return true
}

func newLooped(tb testing.TB) *looped {
	x, err := keys.Uniform(1, 200_000)
	if err != nil {
		tb.Fatal(err)
	}
	x.Seed(1, 1)
	p := &load.Plan{Rows: []string{"SET", "GET"}, Loops: 1, Clients: []load.Client{{
		Target: &load.Target{}, Codec: codec.NewText(), Pipeline: 11,
		Source: &mix{indices: x, names: keys.Names{Prefix: "memtier-"}, value: make([]byte, 128)},
	}}}
	r := &run{plan: p, base: time.Now()}
	r.workers = []*worker{newWorker(r, 0)}
	r.started.Store(1)
	l := &looped{c: newClient(r, r.workers[0], 0)}
	r.workers[0].begin()
	r.workers[0].second = 1 << 62 // no collector here
	l.c.here = true
	l.c.Feed(nil, &l.out)
	value := "VALUE memtier-123456 0 128\r\n" + string(make([]byte, 128)) + "\r\nEND\r\n"
	for range 10 {
		l.answers = append(l.answers, value...)
	}
	l.answers = append(l.answers, "STORED\r\n"...)
	return l
}

// feed has a whole pipeline answered and the next one made.
func (l *looped) feed(tb testing.TB) {
	l.out.Reset()
	if used, _ := l.c.Feed(l.answers, &l.out); used != len(l.answers) || l.c.wrong != "" || len(l.out.Buf) == 0 {
		tb.Fatalf("%d bytes of %d used: %s", used, len(l.answers), l.c.wrong)
	}
}

// Nothing is allocated per request.
func TestNoAllocation(t *testing.T) {
	l := newLooped(t)
	l.feed(t)
	if n := testing.AllocsPerRun(1000, func() { l.feed(t) }); n != 0 {
		t.Errorf("%v allocations for 11 requests", n)
	}
	if rec := l.c.w.rec; rec.rows[0].Count == 0 || rec.rows[1].Count != 10*rec.rows[0].Count || rec.rows[1].Hits != rec.rows[1].Count {
		t.Errorf("%d sets, %d gets, %d hits", rec.rows[0].Count, rec.rows[1].Count, rec.rows[1].Hits)
	}
}

// BenchmarkRequest is the user time of a request: keys drawn, request appended, answer read, latency recorded.
func BenchmarkRequest(b *testing.B) {
	l := newLooped(b)
	b.ReportAllocs()
	for i := 0; i < b.N; i += 11 {
		l.feed(b)
	}
}
