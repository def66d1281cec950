package ycsb

import (
	"godwit/internal/load/keys"
)

// lengthHistogram is a law of field lengths: a bucket i has the length (i+1)*block.
type lengthHistogram struct {
	block   int
	weights []uint64
	total   uint64
}

func (h *lengthHistogram) largest() int { return len(h.weights) * h.block }

func (h *lengthHistogram) draw(r *keys.Rand) int {
	at := r.Below(h.total)
	for i, w := range h.weights {
		if at < w {
			return (i + 1) * h.block
		}
		at -= w
	}
	return h.largest()
}

// lengths draws lengths of fields. One thread uses it.
type lengths struct {
	sizes keys.Sizes
	hist  *lengthHistogram // nil: sizes
	rand  keys.Rand
}

func (s *settings) lengths() (l lengths, err error) {
	switch s.fieldLaw {
	case "uniform":
		l.sizes, err = keys.UniformSize(s.fieldMin, s.fieldMax)
	case "zipfian":
		l.sizes, err = keys.ZipfianSize(s.fieldMin, s.fieldMax, 0.99)
	case "histogram":
		l.hist = s.histogram
	default:
		l.sizes, err = keys.FixedSize(s.fieldMax)
	}
	return l, err
}

func (l *lengths) seed(seed, stream uint64) {
	l.sizes.Seed(seed, stream)
	l.rand.Seed(seed, stream)
}

func (l *lengths) next() int {
	if l.hist != nil {
		return l.hist.draw(&l.rand)
	}
	return l.sizes.Next(0)
}

// letters are 64 characters that stand for themselves in JSON.
const letters = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+-"

// places is the number of places in a block where a value may begin.
const places = 256 << 10

// newBlock makes random characters that values of up to largest bytes are cut from. All threads share them.
func newBlock(seed uint64, largest int) []byte {
	b := make([]byte, largest+places)
	var r keys.Rand
	r.Seed(seed, 1<<62)
	for i := 0; i < len(b); {
		for v, n := r.Uint64(), 0; n < 10 && i < len(b); n++ {
			b[i] = letters[v&63]
			v >>= 6
			i++
		}
	}
	return b
}
