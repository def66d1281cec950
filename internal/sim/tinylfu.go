package sim

import "math/bits"

// tinyLFU is W-TinyLFU (Einziger, Friedman and Manes, ACM TOS 2017) as Caffeine had it before its window adapted: a window of
// 1 % in LRU order, what leaves it competes with the object next to leave the main part by how often both were asked for
// lately, and the main part is a segmented LRU of 20 % probation and 80 % protected. No doorkeeper.
type tinyLFU struct {
	table
	q         [3]queue // window, probation, protected
	windowCap int64
	protCap   int64
	sketch    sketch
	missed    uint64 // id of the last miss: its frequency is counted already
	isMissed  bool
}

const (
	window = iota
	probation
	protected
)

func newTinyLFU(s Setup) *tinyLFU {
	p := &tinyLFU{table: newTable(s), windowCap: max(s.Capacity/100, 1)}
	p.protCap = (s.Capacity - p.windowCap) * 8 / 10
	for i := range p.q {
		p.q[i] = newQueue(&p.table)
	}
	n := s.Capacity
	if s.Bytes {
		n = 1024 // it grows with the number of objects
	}
	p.sketch.grow(n)
	return p
}

func (p *tinyLFU) Get(id uint64) bool {
	p.sketch.add(id)
	n := p.find(id)
	if n < 0 {
		p.missed, p.isMissed = id, true
		return false
	}
	p.isMissed = false
	p.used1(n)
	return true
}

// used1 is what an access does to a resident object's place.
func (p *tinyLFU) used1(n int32) {
	switch p.nodes[n].queue {
	case probation:
		p.move(n, protected)
		for p.q[protected].size > p.protCap && p.q[protected].n > 0 {
			p.move(p.q[protected].tail, probation)
		}
	default:
		p.q[p.nodes[n].queue].renew(n)
	}
}

func (p *tinyLFU) Put(id uint64, size int64) {
	if !p.isMissed || p.missed != id {
		p.sketch.add(id)
	}
	p.isMissed = false
	n := p.find(id)
	if size > p.cap {
		if n >= 0 {
			p.tell(n)
			p.out(n)
		}
		return
	}
	if n >= 0 {
		p.q[p.nodes[n].queue].resize(n, size)
		p.used1(n)
	} else {
		n = p.add(id, size)
		p.nodes[n].queue = window
		p.q[window].push(n)
		if p.live > p.sketch.objects {
			p.sketch.grow(2 * int64(p.sketch.objects))
		}
	}
	p.settle()
}

// settle moves what the window has no room for to probation, each object competing for its place there.
func (p *tinyLFU) settle() {
	for p.q[window].size > p.windowCap && p.q[window].n > 0 {
		n := p.q[window].tail
		p.move(n, probation)
		p.compete(n)
	}
	for p.used > p.cap { // something grew in place
		p.evict(p.victim(-1))
	}
}

func (p *tinyLFU) compete(candidate int32) {
	for p.used > p.cap {
		v := p.victim(candidate)
		if v < 0 || p.sketch.count(p.nodes[candidate].id) <= p.sketch.count(p.nodes[v].id) {
			p.evict(candidate)
			return
		}
		p.evict(v)
	}
}

// victim is next to leave the main part, other than the candidate; -1: there is none. Without a candidate it may be in the
// window.
func (p *tinyLFU) victim(candidate int32) int32 {
	if v := p.q[probation].tail; v >= 0 && v != candidate {
		return v
	}
	if v := p.q[protected].tail; v >= 0 || candidate >= 0 {
		return v
	}
	return p.q[window].tail
}

func (p *tinyLFU) evict(n int32) {
	p.tell(n)
	p.out(n)
}

func (p *tinyLFU) move(n int32, to uint8) {
	p.q[p.nodes[n].queue].remove(n)
	p.nodes[n].queue = to
	p.q[to].push(n)
}

func (p *tinyLFU) out(n int32) {
	p.q[p.nodes[n].queue].remove(n)
	p.leave(n)
	p.drop(n)
}

func (p *tinyLFU) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}

// sketch is a count-min sketch of four rows with counters up to 15, all halved after ten accesses for each object that the
// cache has room for.
type sketch struct {
	rows    [4][]uint8
	shift   uint
	objects int
	adds    int
}

// grow makes it large enough for so many objects and forgets what it knew.
func (s *sketch) grow(objects int64) {
	s.objects = int(max(objects, 16))
	n := 1 << bits.Len(uint(4*s.objects-1))
	for i := range s.rows {
		s.rows[i] = make([]uint8, n)
	}
	s.shift = uint(64 - bits.TrailingZeros(uint(n)))
	s.adds = 0
}

var sketchSeeds = [4]uint64{0xc3a5c85c97cb3127, 0xb492b66fbe98f273, 0x9ae16a3b2f90404f, 0xcbf29ce484222325}

func (s *sketch) add(id uint64) {
	h := mix(id)
	for i := range s.rows {
		if c := &s.rows[i][h*sketchSeeds[i]>>s.shift]; *c < 15 {
			*c++
		}
	}
	if s.adds++; s.adds >= 10*s.objects {
		s.adds /= 2
		for i := range s.rows {
			for j := range s.rows[i] {
				s.rows[i][j] >>= 1
			}
		}
	}
}

func (s *sketch) count(id uint64) uint8 {
	h := mix(id)
	n := uint8(15)
	for i := range s.rows {
		n = min(n, s.rows[i][h*sketchSeeds[i]>>s.shift])
	}
	return n
}
