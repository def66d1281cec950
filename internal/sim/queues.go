package sim

// fifo evicts the oldest, whatever happened to it. Overwriting keeps an object's place.
type fifo struct {
	table
	q queue
}

func newFIFO(s Setup) *fifo {
	p := &fifo{table: newTable(s)}
	p.q = newQueue(&p.table)
	return p
}

func (p *fifo) Get(id uint64) bool { return p.Has(id) }

func (p *fifo) Put(id uint64, size int64) {
	n := p.find(id)
	if size > p.cap {
		p.reject(n)
		return
	}
	if n >= 0 {
		p.q.resize(n, size)
		p.fit(0)
		return
	}
	p.fit(size)
	p.q.push(p.add(id, size))
}

// reject is what becomes of an object that has grown beyond the cache.
func (p *fifo) reject(n int32) {
	if n >= 0 {
		p.tell(n)
		p.out(n)
	}
}

func (p *fifo) fit(size int64) {
	for p.used+size > p.cap {
		n := p.q.tail
		p.tell(n)
		p.out(n)
	}
}

func (p *fifo) out(n int32) {
	p.q.remove(n)
	p.leave(n)
	p.drop(n)
}

func (p *fifo) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}

// lru evicts the least recently used.
type lru struct{ fifo }

func newLRU(s Setup) *lru {
	p := &lru{fifo{table: newTable(s)}}
	p.q = newQueue(&p.table)
	return p
}

func (p *lru) Get(id uint64) bool {
	n := p.find(id)
	if n >= 0 {
		p.q.renew(n)
	}
	return n >= 0
}

func (p *lru) Put(id uint64, size int64) {
	if n := p.find(id); n >= 0 {
		p.q.renew(n)
	}
	p.fifo.Put(id, size)
}

// sieve is SIEVE (Zhang and others, NSDI 2024): a FIFO with a hand that goes from the tail to the head, spares what was
// visited since it came by last, and evicts the first that was not. Objects never move.
type sieve struct {
	table
	q    queue
	hand int32
}

func newSieve(s Setup) *sieve {
	p := &sieve{table: newTable(s), hand: -1}
	p.q = newQueue(&p.table)
	return p
}

func (p *sieve) Get(id uint64) bool {
	n := p.find(id)
	if n >= 0 {
		p.nodes[n].freq = 1
	}
	return n >= 0
}

func (p *sieve) Put(id uint64, size int64) {
	n := p.find(id)
	if size > p.cap {
		if n >= 0 {
			p.tell(n)
			p.out(n)
		}
		return
	}
	if n >= 0 {
		p.nodes[n].freq = 1
		p.q.resize(n, size)
		p.fit(0)
		return
	}
	p.fit(size)
	p.q.push(p.add(id, size))
}

func (p *sieve) fit(size int64) {
	for p.used+size > p.cap {
		if p.hand < 0 {
			p.hand = p.q.tail
		}
		d := &p.nodes[p.hand]
		if d.freq != 0 {
			d.freq = 0
			p.hand = d.prev
			continue
		}
		p.tell(p.hand)
		p.out(p.hand)
	}
}

func (p *sieve) out(n int32) {
	if p.hand == n {
		p.hand = p.nodes[n].prev
	}
	p.q.remove(n)
	p.leave(n)
	p.drop(n)
}

func (p *sieve) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}
