package sim

// arc is ARC (Megiddo and Modha, FAST 2003): T1 of objects asked for once, T2 of those asked for again, ghosts of both in B1
// and B2, and a target for T1's size that hits among the ghosts move. With sizes, the steps are in units of the size asked for.
type arc struct {
	table
	q      [4]queue
	target int64
}

const (
	t1 = iota
	t2
	b1
	b2
)

func newARC(s Setup) *arc {
	p := &arc{table: newTable(s)}
	for i := range p.q {
		p.q[i] = newQueue(&p.table)
	}
	return p
}

func (p *arc) Has(id uint64) bool {
	n := p.find(id)
	return n >= 0 && p.nodes[n].queue <= t2
}

func (p *arc) Get(id uint64) bool {
	n := p.find(id)
	if n < 0 || p.nodes[n].queue > t2 {
		return false
	}
	p.move(n, t2)
	return true
}

func (p *arc) Put(id uint64, size int64) {
	n := p.find(id)
	if size > p.cap {
		if n >= 0 {
			if p.nodes[n].queue <= t2 {
				p.tell(n)
			}
			p.out(n)
		}
		return
	}
	switch {
	case n >= 0 && p.nodes[n].queue <= t2:
		p.q[p.nodes[n].queue].resize(n, size)
		p.move(n, t2)
		p.fit(0, false)
		p.trim()
		return
	case n >= 0:
		again := p.nodes[n].queue == b2
		s1, s2 := max(p.q[b1].size, 1), max(p.q[b2].size, 1)
		if again {
			p.target = max(p.target-max(s1/s2, 1)*size, 0)
		} else {
			p.target = min(p.target+max(s2/s1, 1)*size, p.cap)
		}
		p.out(n)
		p.fit(size, again)
		n = p.add(id, size)
		p.nodes[n].queue = t2
		p.q[t2].push(n)
	default:
		// T1 and its ghosts together never exceed the cache
		for p.q[t1].size+p.q[b1].size+size > p.cap && p.q[b1].n > 0 {
			p.out(p.q[b1].tail)
		}
		if p.q[t1].size+size > p.cap { // T1 is all there is: its tail leaves without a trace
			for p.q[t1].size+size > p.cap {
				p.tell(p.q[t1].tail)
				p.out(p.q[t1].tail)
			}
		}
		p.fit(size, false)
		n = p.add(id, size)
		p.nodes[n].queue = t1
		p.q[t1].push(n)
	}
	p.trim()
}

// fit makes room: REPLACE of the paper.
func (p *arc) fit(size int64, again bool) {
	for p.used+size > p.cap {
		from := uint8(t2)
		if s := p.q[t1].size; p.q[t1].n > 0 && (s > p.target || again && s == p.target || p.q[t2].n == 0) {
			from = t1
		}
		n := p.q[from].tail
		p.tell(n)
		p.leave(n)
		p.q[from].remove(n)
		p.nodes[n].queue = from + b1
		p.q[from+b1].push(n)
	}
}

// trim keeps all four queues together under twice the cache, and T1 with B1 under once.
func (p *arc) trim() {
	for p.q[t1].size+p.q[b1].size > p.cap && p.q[b1].n > 0 {
		p.out(p.q[b1].tail)
	}
	for p.used+p.q[b1].size+p.q[b2].size > 2*p.cap && p.q[b2].n > 0 {
		p.out(p.q[b2].tail)
	}
}

func (p *arc) move(n int32, to uint8) {
	p.q[p.nodes[n].queue].remove(n)
	p.nodes[n].queue = to
	p.q[to].push(n)
}

func (p *arc) out(n int32) {
	q := p.nodes[n].queue
	p.q[q].remove(n)
	if q <= t2 {
		p.leave(n)
	}
	p.drop(n)
}

func (p *arc) Remove(id uint64) {
	if n := p.find(id); n >= 0 && p.nodes[n].queue <= t2 {
		p.out(n)
	}
}
