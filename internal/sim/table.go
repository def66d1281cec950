package sim

// node is an object, resident or a ghost, in a queue.
type node struct {
	id         uint64
	size       int64
	prev, next int32 // in its queue, -1 at the ends; prev is nearer to the head
	freq       uint32
	queue      uint8
}

// table finds the nodes by id and is what the policies have in common: capacity, use, and the word that an object left.
type table struct {
	cap, used int64
	live      int // resident objects
	nodes     []node
	free      []int32
	at        map[uint64]int32
	gone      func(uint64)
}

func newTable(s Setup) table {
	return table{cap: s.Capacity, at: map[uint64]int32{}, gone: s.Gone}
}

// Len and Used are those of Policy.
func (t *table) Len() int    { return t.live }
func (t *table) Used() int64 { return t.used }

// Has is Policy's, for those without ghosts.
func (t *table) Has(id uint64) bool { _, ok := t.at[id]; return ok }

// find is -1 if there is no node.
func (t *table) find(id uint64) int32 {
	if n, ok := t.at[id]; ok {
		return n
	}
	return -1
}

// add makes a node for a resident object; the caller puts it into a queue.
func (t *table) add(id uint64, size int64) int32 {
	n := t.alloc(id, size)
	t.used += size
	t.live++
	return n
}

func (t *table) alloc(id uint64, size int64) int32 {
	var n int32
	if k := len(t.free); k > 0 {
		n = t.free[k-1]
		t.free = t.free[:k-1]
	} else {
		n = int32(len(t.nodes))
		t.nodes = append(t.nodes, node{})
	}
	t.nodes[n] = node{id: id, size: size, prev: -1, next: -1}
	t.at[id] = n
	return n
}

// leave takes a resident object's size away. Its node stays, to become a ghost or to be dropped.
func (t *table) leave(n int32) {
	t.used -= t.nodes[n].size
	t.live--
}

// drop forgets a node that is in no queue.
func (t *table) drop(n int32) {
	delete(t.at, t.nodes[n].id)
	t.free = append(t.free, n)
}

// tell says that an object left.
func (t *table) tell(n int32) {
	if t.gone != nil {
		t.gone(t.nodes[n].id)
	}
}

// queue of nodes. The head is the newest.
type queue struct {
	t          *table
	head, tail int32
	size       int64
	n          int
}

func newQueue(t *table) queue { return queue{t: t, head: -1, tail: -1} }

func (q *queue) push(n int32) {
	d := &q.t.nodes[n]
	d.prev, d.next = -1, q.head
	if q.head >= 0 {
		q.t.nodes[q.head].prev = n
	} else {
		q.tail = n
	}
	q.head = n
	q.size += d.size
	q.n++
}

func (q *queue) remove(n int32) {
	d := &q.t.nodes[n]
	if d.prev >= 0 {
		q.t.nodes[d.prev].next = d.next
	} else {
		q.head = d.next
	}
	if d.next >= 0 {
		q.t.nodes[d.next].prev = d.prev
	} else {
		q.tail = d.prev
	}
	q.size -= d.size
	q.n--
}

func (q *queue) renew(n int32) {
	if q.head != n {
		q.remove(n)
		q.push(n)
	}
}

// resize changes the size of a resident node of the queue.
func (q *queue) resize(n int32, size int64) {
	d := &q.t.nodes[n]
	q.size += size - d.size
	q.t.used += size - d.size
	d.size = size
}
