package store

import (
	"fmt"
	"math/rand/v2"
	"sync"
	"testing"
)

// BenchmarkContention shows what loops cost each other in the store alone: one hot key, or keys drawn uniformly. ns/op is
// wall time per operation over all goroutines together, so with as many cores as goroutines it should fall by their
// number, and with more goroutines than cores it should not rise.
func BenchmarkContention(b *testing.B) {
	const keys = 1 << 16
	ks := benchKeys(keys)
	for _, op := range []string{"get", "set"} {
		for _, hot := range []bool{false, true} {
			for _, loops := range []int{1, 2, 4, 8} {
				b.Run(fmt.Sprintf("%s/hot=%v/%d", op, hot, loops), func(b *testing.B) {
					s := open(b, 256<<20, loops)
					v := make([]byte, 128)
					for _, k := range ks {
						set(s.Local(0), string(k), v, 0)
					}
					b.ResetTimer()
					var wg sync.WaitGroup
					for w := range loops {
						wg.Go(func() {
							l := s.Local(w)
							rng := rand.New(rand.NewPCG(uint64(w), 1))
							buf := make([]byte, 0, 256)
							for range b.N / loops {
								k := ks[0]
								if !hot {
									k = ks[rng.Uint32()%keys]
								}
								h := l.Hash(k)
								if op == "set" {
									p, err := l.Build(k, Spec{Len: len(v)})
									if err != nil {
										b.Error(err)
										return
									}
									copy(p.Value(), v)
									l.LockLink(p, h).Link(p, 0)
									l.e.Unlock()
									continue
								}
								e := l.Lock(k, h)
								if e.Found() {
									e.Bump()
									buf = append(buf[:0], e.Value()...)
								}
								e.Unlock()
							}
						})
					}
					wg.Wait()
				})
			}
		}
	}
}
