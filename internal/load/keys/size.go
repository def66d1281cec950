package keys

import (
	"fmt"
	"math"
)

// sizing says how Sizes draws.
type sizing uint8

const (
	fixedSize sizing = iota
	uniformSize
	linearSize
	rotatedSize
	zipfianSize
)

// Sizes draws sizes of values in bytes, and other small numbers: the lengths of scans, the seconds of an expiry range. The
// zero value draws 0. One client uses it; a copy goes on by itself from where the original was.
type Sizes struct {
	how      sizing
	rand     Rand
	low      int
	span     uint64 // highest size - low
	from, to uint64 // linearSize: indices with the sizes low and low+span
	gray     gray   // zipfianSize
	list     []Weighted
	at       int    // rotatedSize: place in list
	left     uint64 // rotatedSize: how many more times list[at].Size comes
}

// Weighted is a size and how many times in a row it comes.
type Weighted struct {
	Size   int
	Weight uint64
}

// FixedSize always gives size (memtier --data-size, YCSB constant).
func FixedSize(size int) (Sizes, error) { return sized(fixedSize, size, size) }

// UniformSize gives all sizes from low to high equally often (memtier --data-size-range with pattern R, YCSB uniform).
func UniformSize(low, high int) (Sizes, error) { return sized(uniformSize, low, high) }

// LinearSize gives index from the size low, index to the size high, and what is between them in proportion, rounded down
// (memtier --data-size-range with pattern S, the same to the byte).
func LinearSize(low, high int, from, to uint64) (Sizes, error) {
	s, err := sized(linearSize, low, high)
	if err == nil && from > to {
		err = fmt.Errorf("keys: size range of indices: minimum %d: above the maximum %d (swap them)", from, to)
	}
	s.from, s.to = from, to
	return s, err
}

// RotatedSize gives the first size as often as its weight says, then the second, and so on, over and over (memtier
// --data-size-list). list is not changed and must not be changed.
func RotatedSize(list []Weighted) (Sizes, error) {
	s := Sizes{how: rotatedSize, list: list}
	if len(list) == 0 {
		return s, fmt.Errorf("keys: size list: empty (give size:weight pairs such as 32:9,1024:1)")
	}
	some := false
	for _, w := range list {
		if w.Size < 0 {
			return s, fmt.Errorf("keys: size list: size %d: negative (sizes are bytes, 0 or more)", w.Size)
		}
		some = some || w.Weight > 0
	}
	if !some {
		return s, fmt.Errorf("keys: size list: all weights are 0: no size would ever come (give one a weight)")
	}
	s.left = list[0].Weight
	return s, nil
}

// ZipfianSize gives low most often (YCSB's ZipfianGenerator, for field and scan lengths; constant is 0.99 there).
func ZipfianSize(low, high int, constant float64) (Sizes, error) {
	s, err := sized(zipfianSize, low, high)
	if err != nil {
		return s, err
	}
	s.gray, err = newGray(s.span+1, constant, zeta(s.span+1, constant))
	return s, err
}

// Seed starts the sequence of (seed, stream). A rotation goes on where it was.
func (s *Sizes) Seed(seed, stream uint64) { s.rand.Seed(seed, stream) }

// Largest is the largest size that can come.
func (s *Sizes) Largest() int {
	if s.how != rotatedSize {
		return s.low + int(s.span)
	}
	largest := 0
	for _, w := range s.list {
		if w.Weight > 0 {
			largest = max(largest, w.Size)
		}
	}
	return largest
}

// Next draws the size of the value of a key. Only LinearSize looks at index. FixedSize and LinearSize give the same key the
// same size each time.
func (s *Sizes) Next(index uint64) int {
	switch s.how {
	case uniformSize:
		return s.low + int(s.rand.Below(s.span+1))
	case linearSize:
		switch {
		case index <= s.from:
			return s.low
		case index >= s.to:
			return s.low + int(s.span)
		}
		part := float64(index-s.from) / float64(s.to-s.from)
		return min(int(float64(s.span)*part+float64(s.low)), s.low+int(s.span))
	case rotatedSize:
		for s.left == 0 {
			if s.at++; s.at == len(s.list) {
				s.at = 0
			}
			s.left = s.list[s.at].Weight
		}
		s.left--
		return s.list[s.at].Size
	case zipfianSize:
		return s.low + int(s.gray.draw(&s.rand))
	}
	return s.low
}

// sized is the beginning of the constructors.
func sized(how sizing, low, high int) (Sizes, error) {
	switch {
	case low < 0:
		return Sizes{}, fmt.Errorf("keys: size %d: negative (sizes are bytes, 0 or more)", low)
	case low > high:
		return Sizes{}, fmt.Errorf("keys: size range: minimum %d: above the maximum %d (swap them)", low, high)
	case high > math.MaxInt32:
		return Sizes{}, fmt.Errorf("keys: size %d: no value is as long as that (at most %d)", high, math.MaxInt32)
	}
	return Sizes{how: how, low: low, span: uint64(high - low)}, nil
}
