package route

import (
	"bytes"
	"fmt"
	"strconv"
	"sync"
	"sync/atomic"

	"godwit/internal/proto/resp"
)

// Cluster is the table of slots that all Fleets of a load share. For concurrent use.
//
// Its nodes are those that there were when the load began: connections are made for them and no others. What is learned
// later, from MOVED or by asking for CLUSTER SLOTS again, changes who of them owns what.
type Cluster struct {
	nodes []Node
	names map[string]uint16
	view  atomic.Pointer[view]

	stale  atomic.Bool // somebody ought to ask for CLUSTER SLOTS
	asking atomic.Bool // somebody does

	mu     sync.Mutex // of what follows, and of changes of view
	fleets []*Fleet
}

// view of who owns what. It does not change.
type view struct {
	owner    [Slots]uint16
	replicas [][]uint16
	masters  []bool // by node: owns slots
}

// NewCluster makes the table of what Discover found.
func NewCluster(t *Topology) *Cluster {
	c := &Cluster{nodes: t.Nodes, names: map[string]uint16{}}
	for i := range t.Nodes {
		c.names[t.Nodes[i].name()] = uint16(i)
	}
	c.set(&view{owner: t.owner, replicas: t.replicas})
	return c
}

// set the present view. With mu held, or before the cluster is shared.
func (c *Cluster) set(v *view) {
	v.masters = make([]bool, len(c.nodes))
	for _, o := range v.owner {
		if o != nobody {
			v.masters[o] = true
		}
	}
	c.view.Store(v)
}

// moved notes that a node owns a slot. What was not known makes the table stale: there may be more of it.
func (c *Cluster) moved(slot int, to uint16) {
	c.mu.Lock()
	defer c.mu.Unlock()
	v := c.view.Load()
	if v.owner[slot] == to {
		return
	}
	next := &view{owner: v.owner, replicas: v.replicas}
	next.owner[slot] = to
	c.set(next)
	c.stale.Store(true)
}

// learn takes an answer to CLUSTER SLOTS, as from says. Nodes that are new are left out.
func (c *Cluster) learn(answer []byte, from int) error {
	var v resp.Value
	if n, err := resp.Parse(answer, &v); err != nil || n == 0 {
		return cmpErr(err, errSlots)
	}
	t, err := parseSlots(&v, c.nodes[from].Host)
	if err != nil {
		return err
	}
	known := func(i uint16) (uint16, bool) {
		if i == nobody {
			return nobody, false
		}
		at, ok := c.names[t.Nodes[i].name()]
		return at, ok
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	old := c.view.Load()
	next := &view{owner: old.owner, replicas: make([][]uint16, len(c.nodes))}
	for s := range t.owner {
		if at, ok := known(t.owner[s]); ok {
			next.owner[s] = at
		}
	}
	for i, list := range t.replicas {
		at, ok := known(uint16(i))
		for _, r := range list {
			if r, rok := known(r); ok && rok {
				next.replicas[at] = append(next.replicas[at], r)
			}
		}
	}
	if next.owner == old.owner && sameLists(next.replicas, old.replicas) {
		return nil
	}
	c.set(next)
	for _, f := range c.fleets {
		f.wakeAll()
	}
	return nil
}

func sameLists(a, b [][]uint16) bool {
	for i := range a {
		if len(a[i]) != len(b[i]) {
			return false
		}
		for _, x := range a[i] {
			if !contains(b[i], x) {
				return false
			}
		}
	}
	return true
}

// redirect reads MOVED or ASK, "MOVED 3999 127.0.0.1:6381", that node from answered. An empty host is that node's.
func (c *Cluster) redirect(text []byte, from int) (slot int, to uint16, err error) {
	_, rest, _ := bytes.Cut(text, []byte(" "))
	number, name, _ := bytes.Cut(rest, []byte(" "))
	for _, d := range number {
		if d < '0' || d > '9' || slot >= Slots {
			slot = Slots
			break
		}
		slot = 10*slot + int(d-'0')
	}
	if len(number) == 0 || slot >= Slots {
		return 0, 0, fmt.Errorf("%.100q names no slot", text)
	}
	if i := bytes.IndexByte(name, ' '); i >= 0 { // more may come some day
		name = name[:i]
	}
	to, ok := c.names[string(name)]
	if !ok && len(name) > 0 && name[0] == ':' {
		to, ok = c.names[c.nodes[from].Host+string(name)]
	}
	if !ok {
		return 0, 0, fmt.Errorf("%.200s: the cluster had no node %s when the load began", text, strconv.Quote(string(name)))
	}
	return slot, to, nil
}
