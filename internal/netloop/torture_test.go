package netloop

import (
	"bytes"
	"fmt"
	"hash/crc32"
	"math/rand/v2"
	"strings"
	"sync"
	"testing"
	"time"
)

// script is a random dialogue: what a client sends and what it must get.
func script(rnd *rand.Rand) (req, want []byte) {
	size := func() int {
		return []int{0, 1, 10, 1000, 2047, 2048, 4096, 5000, 20_000, 70_000, 300_000}[rnd.IntN(11)]
	}
	for range 5 + rnd.IntN(60) {
		switch rnd.IntN(9) {
		default:
			for i := range rnd.IntN(200) {
				req = fmt.Appendf(req, "echo %d\n", i)
				want = fmt.Appendf(want, "%d\n", i)
			}
		case 1:
			n := size()
			req = fmt.Appendf(req, "big %d\n", n)
			want = append(want, pattern[:n]...)
		case 2:
			req = append(req, "lend"...)
			for range 1 + rnd.IntN(5) {
				n := size()
				req = fmt.Appendf(req, " %d", n)
				want = append(fmt.Appendf(want, "%d\n", n), pattern[:n]...)
			}
			req = append(req, '\n')
		case 3:
			n := max(1, size())
			req = append(fmt.Appendf(req, "put %d\n", n), pattern[:n]...)
			want = fmt.Appendf(want, "%08x\n", crc32.ChecksumIEEE(pattern[:n]))
		case 4:
			req = append(req, "yield\n"...)
			want = append(want, "y\n"...)
		case 5:
			k, n := 1+rnd.IntN(4), size()
			req = fmt.Appendf(req, "stream %d %d\n", k, n)
			want = append(want, bytes.Repeat(pattern[:n], k)...)
		case 6:
			req = append(req, "park\n"...)
			want = append(want, "woken\n"...)
		case 7:
			w := strings.Repeat("w", 1+rnd.IntN(5000))
			req = fmt.Appendf(req, "echo %s\n", w)
			want = fmt.Appendf(want, "%s\n", w)
		}
	}
	return append(req, "quit\n"...), append(want, "bye\n"...)
}

// Random dialogues in random pieces at random speeds, many at once, with wakes that come at any time.
func TestTorture(t *testing.T) {
	rounds := 6
	if testing.Short() {
		rounds = 1
	}
	drivers(t, Config{Loops: 2}, func(t *testing.T, r *rig) {
		stop := make(chan bool)
		var helpers sync.WaitGroup
		helpers.Go(func() {
			for {
				select {
				case toy := <-r.h.parked:
					helpers.Go(toy.c.Wake)
				case <-r.h.opened:
				case <-r.h.closed:
				case <-stop:
					return
				}
			}
		})
		for round := range rounds {
			var wg sync.WaitGroup
			for i := range 12 {
				rnd := rand.New(rand.NewPCG(uint64(round), uint64(i)))
				req, want := script(rnd)
				c := r.dial()
				hasty := rnd.IntN(2) == 0
				wg.Go(func() {
					for len(req) > 0 {
						n := min(len(req), 1+rnd.IntN([]int{10, 1000, 100_000}[rnd.IntN(3)]))
						if hasty {
							n = len(req)
						}
						if _, err := c.Write(req[:n]); err != nil {
							t.Errorf("round %d, client %d: %v", round, i, err)
							return
						}
						req = req[n:]
					}
				})
				wg.Go(func() {
					rnd := rand.New(rand.NewPCG(1, uint64(i)))
					got, b := 0, make([]byte, 200_000)
					for {
						n, err := c.Read(b[:1+rnd.IntN(len(b))])
						if n > len(want)-got || !bytes.Equal(b[:n], want[got:got+n]) {
							t.Errorf("round %d, client %d: wrong bytes after %d", round, i, got)
							c.raw.Close()
							return
						}
						got += n
						if err != nil {
							if got != len(want) {
								t.Errorf("round %d, client %d: %d of %d bytes, then %v", round, i, got, len(want), err)
							}
							return
						}
						if rnd.IntN(50) == 0 {
							time.Sleep(time.Millisecond) // a slow reader
						}
					}
				})
			}
			wg.Wait()
			if t.Failed() {
				break
			}
		}
		eventually(t, "connections end", func() bool { return r.s.Stats().Curr == 0 })
		close(stop)
		helpers.Wait()
	})
}
