package sim

import "godwit/internal/load/keys"

// sampled evicts the least recently used of k objects drawn at random, with repetition.
type sampled struct {
	k         int
	cap, used int64
	objects   []object
	at        map[uint64]int32
	rand      keys.Rand
	clock     uint64 // accesses so far
	gone      func(uint64)
}

type object struct {
	id   uint64
	size int64
	used uint64 // clock at the last access
}

func newSampled(s Setup, k int) *sampled {
	p := &sampled{k: k, cap: s.Capacity, at: map[uint64]int32{}, gone: s.Gone}
	p.rand.Seed(s.Seed, uint64(k))
	return p
}

func (p *sampled) Len() int           { return len(p.objects) }
func (p *sampled) Used() int64        { return p.used }
func (p *sampled) Has(id uint64) bool { _, ok := p.at[id]; return ok }

func (p *sampled) Get(id uint64) bool {
	i, ok := p.at[id]
	if ok {
		p.clock++
		p.objects[i].used = p.clock
	}
	return ok
}

func (p *sampled) Put(id uint64, size int64) {
	i, ok := p.at[id]
	if size > p.cap {
		if ok {
			p.evict(i)
		}
		return
	}
	p.clock++
	if ok {
		o := &p.objects[i]
		p.used += size - o.size
		o.size, o.used = size, p.clock
		p.fit(0)
		return
	}
	p.fit(size)
	p.at[id] = int32(len(p.objects))
	p.objects = append(p.objects, object{id, size, p.clock})
	p.used += size
}

func (p *sampled) fit(size int64) {
	for p.used+size > p.cap {
		best := int32(-1)
		for range p.k {
			i := int32(p.rand.Below(uint64(len(p.objects))))
			if best < 0 || p.objects[i].used < p.objects[best].used {
				best = i
			}
		}
		p.evict(best)
	}
}

func (p *sampled) evict(i int32) {
	if p.gone != nil {
		p.gone(p.objects[i].id)
	}
	p.out(i)
}

func (p *sampled) out(i int32) {
	o, end := p.objects[i], len(p.objects)-1
	p.used -= o.size
	delete(p.at, o.id)
	if int(i) != end {
		p.objects[i] = p.objects[end]
		p.at[p.objects[i].id] = i
	}
	p.objects = p.objects[:end]
}

func (p *sampled) Remove(id uint64) {
	if i, ok := p.at[id]; ok {
		p.out(i)
	}
}
