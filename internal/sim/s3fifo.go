package sim

// s3fifo is S3-FIFO as the paper has it (Yang and others, SOSP 2023, algorithm 1), by object: a small queue of a tenth, at
// whose end an object asked for more than once since it came goes to the main queue and any other becomes a ghost; a main
// queue in which an object with a counter above zero goes round again; as many ghosts as the main queue has room for.
type s3fifo struct {
	table
	small, main queue
	ghosts      ghostQueue
	smallCap    int64
}

const (
	inSmall = iota
	inMain
)

func newS3FIFO(s Setup) *s3fifo {
	p := &s3fifo{table: newTable(s), smallCap: max(s.Capacity/10, 1)}
	p.small, p.main = newQueue(&p.table), newQueue(&p.table)
	p.ghosts.init(s.Capacity - p.smallCap)
	return p
}

func (p *s3fifo) Get(id uint64) bool {
	n := p.find(id)
	if n >= 0 {
		p.nodes[n].freq = min(p.nodes[n].freq+1, 3)
	}
	return n >= 0
}

func (p *s3fifo) queueOf(n int32) *queue {
	if p.nodes[n].queue == inSmall {
		return &p.small
	}
	return &p.main
}

func (p *s3fifo) Put(id uint64, size int64) {
	n := p.find(id)
	if size > p.cap {
		if n >= 0 {
			p.tell(n)
			p.out(n)
		}
		return
	}
	if n >= 0 {
		p.nodes[n].freq = min(p.nodes[n].freq+1, 3)
		p.queueOf(n).resize(n, size)
		p.fit(0)
		return
	}
	p.fit(size)
	n = p.add(id, size)
	if p.ghosts.take(id) {
		p.nodes[n].queue = inMain
		p.main.push(n)
	} else {
		p.small.push(n)
	}
}

func (p *s3fifo) fit(size int64) {
	for p.used+size > p.cap {
		if p.small.n > 0 && (p.small.size >= p.smallCap || p.main.n == 0) {
			p.shortenSmall()
		} else {
			p.shortenMain()
		}
	}
}

func (p *s3fifo) shortenSmall() {
	for p.small.n > 0 {
		n := p.small.tail
		d := &p.nodes[n]
		if d.freq <= 1 {
			p.ghosts.add(d.id, d.size)
			p.tell(n)
			p.out(n)
			return
		}
		p.small.remove(n)
		d.freq, d.queue = 0, inMain
		p.main.push(n)
	}
}

func (p *s3fifo) shortenMain() {
	for {
		n := p.main.tail
		d := &p.nodes[n]
		if d.freq == 0 {
			p.tell(n)
			p.out(n)
			return
		}
		d.freq--
		p.main.renew(n)
	}
}

func (p *s3fifo) out(n int32) {
	p.queueOf(n).remove(n)
	p.leave(n)
	p.drop(n)
}

func (p *s3fifo) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}

// ghostQueue remembers ids that left, up to a total size, the oldest going first.
type ghostQueue struct {
	table
	q queue
}

func (g *ghostQueue) init(capacity int64) {
	g.table = newTable(Setup{Capacity: capacity})
	g.q = newQueue(&g.table)
}

func (g *ghostQueue) add(id uint64, size int64) {
	g.take(id)
	if size > g.cap {
		return
	}
	for g.q.size+size > g.cap {
		g.forget(g.q.tail)
	}
	g.q.push(g.alloc(id, size))
}

// take says whether an id is remembered, and forgets it.
func (g *ghostQueue) take(id uint64) bool {
	n := g.find(id)
	if n >= 0 {
		g.forget(n)
	}
	return n >= 0
}

func (g *ghostQueue) forget(n int32) {
	g.q.remove(n)
	g.drop(n)
}
