package sim

// lfu evicts what was asked for least often since it came, and of those the least recently used. Objects lie in queues by
// frequency, the queues in a list by rising frequency.
type lfu struct {
	table
	groups map[uint32]*group
	lowest *group
}

type group struct {
	queue
	freq         uint32
	lower, upper *group
}

func newLFU(s Setup) *lfu { return &lfu{table: newTable(s), groups: map[uint32]*group{}} }

func (p *lfu) Get(id uint64) bool {
	n := p.find(id)
	if n >= 0 {
		p.count(n)
	}
	return n >= 0
}

// count moves a node up by one frequency.
func (p *lfu) count(n int32) {
	g := p.groups[p.nodes[n].freq]
	if g.freq == 1<<32-1 {
		g.renew(n)
		return
	}
	to := p.group(g.freq+1, g)
	g.remove(n)
	if g.n == 0 {
		p.close(g)
	}
	p.nodes[n].freq++
	to.push(n)
}

// group of a frequency; lower is the one that it comes after if it is new, nil: it is the lowest.
func (p *lfu) group(freq uint32, lower *group) *group {
	g := p.groups[freq]
	if g != nil {
		return g
	}
	g = &group{queue: newQueue(&p.table), freq: freq, lower: lower}
	if lower == nil {
		g.upper, p.lowest = p.lowest, g
	} else {
		g.upper, lower.upper = lower.upper, g
	}
	if g.upper != nil {
		g.upper.lower = g
	}
	p.groups[freq] = g
	return g
}

func (p *lfu) close(g *group) {
	if g.lower == nil {
		p.lowest = g.upper
	} else {
		g.lower.upper = g.upper
	}
	if g.upper != nil {
		g.upper.lower = g.lower
	}
	delete(p.groups, g.freq)
}

func (p *lfu) Put(id uint64, size int64) {
	n := p.find(id)
	if size > p.cap {
		if n >= 0 {
			p.tell(n)
			p.out(n)
		}
		return
	}
	if n >= 0 {
		p.count(n)
		p.groups[p.nodes[n].freq].resize(n, size)
		p.fit(0)
		return
	}
	p.fit(size)
	n = p.add(id, size)
	p.nodes[n].freq = 1
	p.group(1, nil).push(n)
}

func (p *lfu) fit(size int64) {
	for p.used+size > p.cap {
		n := p.lowest.tail
		p.tell(n)
		p.out(n)
	}
}

func (p *lfu) out(n int32) {
	g := p.groups[p.nodes[n].freq]
	g.remove(n)
	if g.n == 0 {
		p.close(g)
	}
	p.leave(n)
	p.drop(n)
}

func (p *lfu) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}
