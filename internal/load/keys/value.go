package keys

import (
	"bytes"
	"fmt"
	"math"
)

// Block holds bytes that many values are slices of. It never changes; all clients share it.
type Block struct {
	bytes  []byte
	slices uint64 // places where a value may begin
}

// randomSlices is the number of different random values of one size: memory against repetition.
const randomSlices = 256 << 10

// ConstantBlock has values that are all fill: 'x' as in memtier, 0 as in mc-crusher. largest is the size of the largest
// value in bytes.
func ConstantBlock(fill byte, largest int) (*Block, error) {
	if err := checkLargest(largest); err != nil {
		return nil, err
	}
	return &Block{bytes: bytes.Repeat([]byte{fill}, largest), slices: 1}, nil
}

// RandomBlock has 2^18 different random values of each size and takes 256 KiB more than the largest one.
func RandomBlock(seed uint64, largest int) (*Block, error) {
	if err := checkLargest(largest); err != nil {
		return nil, err
	}
	b := &Block{bytes: make([]byte, largest+randomSlices), slices: randomSlices}
	fillRandom(b.bytes, seed, 1<<63)
	return b, nil
}

// Values gives contents that do not depend on the key. One client uses it; the bytes are the Block's and must not be
// changed.
type Values struct {
	rand  Rand
	block *Block
}

// NewValues begins the values of a client. It has the stream of (seed, stream), so that clients send different ones.
func NewValues(b *Block, seed, stream uint64) Values {
	v := Values{block: b}
	v.rand.Seed(seed, stream)
	return v
}

// Next gives a value of size bytes, which must not be above the Block's largest. It stays as it is for ever.
func (v *Values) Next(size int) []byte {
	at := uint64(0)
	if v.block.slices > 1 {
		at = v.rand.Below(v.block.slices)
	}
	return v.block.bytes[at : at+uint64(size) : at+uint64(size)]
}

// checkLargest refuses what Sizes would, too.
func checkLargest(n int) error {
	if n < 0 || n > math.MaxInt32 {
		return fmt.Errorf("keys: largest value %d: no size of a value (0 to %d bytes)", n, math.MaxInt32)
	}
	return nil
}

// fillRandom fills b with the numbers of a stream.
func fillRandom(b []byte, seed, stream uint64) {
	var r Rand
	r.Seed(seed, stream)
	for len(b) >= 8 {
		put64(b, r.Uint64())
		b = b[8:]
	}
	for i := range b {
		b[i] = byte(r.Uint64())
	}
}
