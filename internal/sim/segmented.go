package sim

// segmented is memcached's LRU of a slab class (items.c, lru_pull_tail; doc/new_lru.txt), by its documented shares without
// the limits by age: new items enter HOT. An item needs two reads to become active. At the tail of HOT an active item goes to
// WARM; at the tail of WARM it goes round again; in COLD it goes to WARM at once. Items that are not active go from HOT and
// WARM to COLD while those are larger than their share of all, and leave at the tail of COLD.
type segmented struct {
	table
	q [3]queue
}

const (
	hot = iota
	warm
	cold
)

const (
	hotPercent  = 20
	warmPercent = 40
)

// freq of a node: bits as in memcached.
const (
	fetched = 1
	active  = 2
)

func newSegmented(s Setup) *segmented {
	p := &segmented{table: newTable(s)}
	for i := range p.q {
		p.q[i] = newQueue(&p.table)
	}
	return p
}

func (p *segmented) Get(id uint64) bool {
	n := p.find(id)
	if n < 0 {
		return false
	}
	switch d := &p.nodes[n]; {
	case d.freq&fetched == 0:
		d.freq |= fetched
	case d.queue == cold:
		p.move(n, warm)
		p.nodes[n].freq &^= active
	default:
		d.freq |= active
	}
	return true
}

// Put makes a new item, as memcached does for each set: it enters HOT, never read.
func (p *segmented) Put(id uint64, size int64) {
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
		p.nodes[n].freq = 0
		p.move(n, hot)
		p.fit(0)
	} else {
		p.fit(size)
		n = p.add(id, size)
		p.nodes[n].queue = hot
		p.q[hot].push(n)
	}
	p.settle()
}

// settle shortens HOT and WARM to their shares.
func (p *segmented) settle() {
	for i, percent := range []int64{hot: hotPercent, warm: warmPercent} {
		for q := &p.q[i]; q.n > 0 && q.size > p.used*percent/100; {
			n := q.tail
			switch d := &p.nodes[n]; {
			case d.freq&active == 0:
				p.move(n, cold)
			case i == hot:
				d.freq &^= active
				p.move(n, warm)
			default:
				d.freq &^= active
				q.renew(n)
			}
		}
	}
}

func (p *segmented) fit(size int64) {
	for p.used+size > p.cap {
		if p.q[cold].n == 0 {
			p.settle()
		}
		n := p.q[cold].tail
		for i := range p.q {
			if n < 0 {
				n = p.q[i].tail
			}
		}
		p.tell(n)
		p.out(n)
	}
}

func (p *segmented) move(n int32, to uint8) {
	p.q[p.nodes[n].queue].remove(n)
	p.nodes[n].queue = to
	p.q[to].push(n)
}

func (p *segmented) out(n int32) {
	p.q[p.nodes[n].queue].remove(n)
	p.leave(n)
	p.drop(n)
}

func (p *segmented) Remove(id uint64) {
	if n := p.find(id); n >= 0 {
		p.out(n)
	}
}
