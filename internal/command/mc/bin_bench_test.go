package mc

import (
	"bytes"
	"testing"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// BenchmarkBin feeds pipelines of ten requests; a value has 100 bytes. ns/op is per request.
func BenchmarkBin(b *testing.B) {
	key := func(i int) []byte { return bytesx.AppendUint([]byte("some:key:"), uint64(i)) }
	value := bytes.Repeat([]byte{'v'}, 100)
	for _, c := range []struct {
		name string
		add  func(in []byte, i int) []byte
	}{
		{"get", func(in []byte, i int) []byte { return mcbin.AppendGet(in, mcbin.Get, key(i), 1) }},
		{"getq", func(in []byte, i int) []byte { return mcbin.AppendGet(in, mcbin.GetQ, key(i), 1) }},
		{"getk miss", func(in []byte, i int) []byte { return mcbin.AppendGet(in, mcbin.GetK, key(1<<20+i), 1) }},
		{"set", func(in []byte, i int) []byte { return mcbin.AppendStore(in, mcbin.Set, key(i), value, 0, 0, 1, 0) }},
		{"noop", func(in []byte, i int) []byte { return mcbin.AppendRequest(in, mcbin.Noop, nil, nil, nil, 1, 0) }},
	} {
		b.Run(c.name, func(b *testing.B) {
			w := binWorker(b)
			var conn Bin
			var out bytesx.Out
			const keys, depth = 10_000, 10
			var pipes [][]byte
			for i := range keys {
				conn.Feed(w, mcbin.AppendStore(nil, mcbin.SetQ, key(i), value, 0, 0, 1, 0), &out)
				if i%depth == 0 {
					pipes = append(pipes, nil)
				}
				pipes[len(pipes)-1] = c.add(pipes[len(pipes)-1], i)
			}
			b.ReportAllocs()
			b.ResetTimer()
			for i := 0; i < b.N; i += depth {
				out.Reset()
				in := pipes[i/depth%len(pipes)]
				if used, _ := conn.Feed(w, in, &out); used != len(in) {
					b.Fatalf("used %d of %d", used, len(in))
				}
			}
		})
	}
}
