package route

import (
	"context"
	"crypto/tls"
	"errors"
	"fmt"
	"net"
	"strconv"

	"godwit/internal/load"
	"godwit/internal/proto/resp"
)

// Node of a RESP cluster.
type Node struct {
	ID      string // "": the server does not tell
	Host    string // as the server calls it, or what we connected to if it does not
	Port    int
	Replica bool
}

// name is how MOVED and ASK call a node: also an IPv6 address has no brackets.
func (n *Node) name() string { return n.Host + ":" + strconv.Itoa(n.Port) }

// nobody owns a slot.
const nobody = ^uint16(0)

// Topology is what a node said about its cluster.
type Topology struct {
	Nodes    []Node
	owner    [Slots]uint16 // the master of each slot, by index
	replicas [][]uint16    // of each node
}

// Owner is the index of the master of a slot; -1: it has none.
func (t *Topology) Owner(slot int) int {
	if t.owner[slot] == nobody {
		return -1
	}
	return int(t.owner[slot])
}

// Masters is how many nodes own slots.
func (t *Topology) Masters() (n int) {
	for i := range t.Nodes {
		if !t.Nodes[i].Replica {
			n++
		}
	}
	return n
}

// uncovered tells which slots have no owner; "": none.
func (t *Topology) uncovered() string {
	first, n := -1, 0
	for s, o := range t.owner {
		if o == nobody {
			if n++; first < 0 {
				first = s
			}
		}
	}
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("%d slots, of which %d is the first", n, first)
}

// Targets are the nodes to connect to, in the order of Nodes, each with what seed has: TLS and prologue. A TLS server name
// that is the seed's host becomes the node's.
func (t *Topology) Targets(seed *load.Target) []*load.Target {
	seedHost, _, _ := net.SplitHostPort(seed.Address)
	var out []*load.Target
	for i := range t.Nodes {
		n := &t.Nodes[i]
		x := *seed
		x.Address = net.JoinHostPort(n.Host, strconv.Itoa(n.Port))
		if x.TLS != nil && x.TLS.ServerName == seedHost && n.Host != seedHost {
			x.TLS = x.TLS.Clone()
			x.TLS.ServerName = n.Host
		}
		out = append(out, &x)
	}
	return out
}

var errSlots = errors.New("CLUSTER SLOTS: the answer is not what it should be")

// parseSlots reads the answer to CLUSTER SLOTS:
//
//	[first, last, [host, port, id, [more of the address]], replica, ...], ...
//
// Older servers leave out what is behind the port. An empty or null host stands for the one that we are connected to.
func parseSlots(v *resp.Value, connected string) (*Topology, error) {
	if v.IsError() {
		return nil, fmt.Errorf("CLUSTER SLOTS: the server answered %.200q", v.Text)
	}
	if v.Type != resp.Array {
		return nil, errSlots
	}
	t := &Topology{}
	for i := range t.owner {
		t.owner[i] = nobody
	}
	index := map[string]uint16{}
	var span, e resp.Value
	for ranges := v.Elements(); ranges.Next(&span); {
		it := span.Elements()
		var ends [2]int64
		for i := range ends {
			if !it.Next(&e) || e.Type != resp.Integer || e.N < 0 || e.N >= Slots {
				return nil, errSlots
			}
			ends[i] = e.N
		}
		if ends[1] < ends[0] || it.Left() == 0 {
			return nil, errSlots
		}
		master := nobody
		for it.Next(&e) {
			n, err := parseNode(&e, connected)
			if err != nil {
				return nil, fmt.Errorf("slots %d to %d: %w", ends[0], ends[1], err)
			}
			n.Replica = master != nobody
			at, known := index[n.name()]
			if !known {
				if len(t.Nodes) == int(nobody) {
					return nil, fmt.Errorf("CLUSTER SLOTS: more than %d nodes", nobody)
				}
				at = uint16(len(t.Nodes))
				index[n.name()] = at
				t.Nodes = append(t.Nodes, n)
				t.replicas = append(t.replicas, nil)
			}
			if master == nobody {
				master = at
				t.Nodes[at].Replica = false
				for s := ends[0]; s <= ends[1]; s++ {
					t.owner[s] = at
				}
			} else if at != master && !contains(t.replicas[master], at) {
				t.replicas[master] = append(t.replicas[master], at)
			}
		}
	}
	return t, nil
}

func contains(list []uint16, x uint16) bool {
	for _, y := range list {
		if x == y {
			return true
		}
	}
	return false
}

func parseNode(v *resp.Value, connected string) (n Node, err error) {
	var host, port, id resp.Value
	it := v.Elements()
	if v.Type != resp.Array || !it.Next(&host) || !it.Next(&port) || port.Type != resp.Integer {
		return n, errSlots
	}
	if it.Next(&id) {
		if id.Type != resp.Bulk && id.Type != resp.Simple {
			return n, errSlots
		}
		n.ID = string(id.Text)
	}
	switch {
	case host.Type == resp.Null, (host.Type == resp.Bulk || host.Type == resp.Simple) && len(host.Text) == 0:
		n.Host = connected
	case host.Type != resp.Bulk && host.Type != resp.Simple:
		return n, errSlots
	case string(host.Text) == "?":
		return n, fmt.Errorf("node %s at port %d does not tell its address: its host is ? (see cluster-preferred-endpoint-type and cluster-announce-hostname)", n.ID, port.N)
	default:
		n.Host = string(host.Text)
	}
	if port.N < 1 || port.N > 65535 {
		return n, fmt.Errorf("node %s %s: port %d is none", n.ID, n.Host, port.N)
	}
	n.Port = int(port.N)
	return n, nil
}

// Discover asks a node for the cluster that it is in. All slots have owners.
func Discover(ctx context.Context, target *load.Target) (*Topology, error) {
	t, err := discover(ctx, target)
	if err != nil {
		return nil, fmt.Errorf("cluster at %s: %w", target.Address, err)
	}
	return t, nil
}

func discover(ctx context.Context, target *load.Target) (*Topology, error) {
	host, _, err := net.SplitHostPort(target.Address)
	if err != nil {
		return nil, err
	}
	var d net.Dialer
	conn, err := d.DialContext(ctx, target.Network, target.Address)
	if err != nil {
		return nil, err
	}
	defer conn.Close()
	stop := context.AfterFunc(ctx, func() { conn.Close() })
	defer stop()
	if target.TLS != nil {
		tc := tls.Client(conn, target.TLS)
		if err := tc.HandshakeContext(ctx); err != nil {
			return nil, err
		}
		conn = tc
	}
	a := asker{conn: conn}
	for _, g := range target.Prologue {
		if err := a.ask(g.Send, g.Check); err != nil {
			return nil, fmt.Errorf("%s: %w", g.Name, cmpErr(ctx.Err(), err))
		}
	}
	var t *Topology
	err = a.ask(resp.AppendCommand(nil, "CLUSTER", "SLOTS"), func(in []byte) (int, error) {
		var v resp.Value
		n, err := resp.Parse(in, &v)
		if n > 0 {
			t, err = parseSlots(&v, host)
		}
		return n, err
	})
	if err != nil {
		return nil, cmpErr(ctx.Err(), err)
	}
	if none := t.uncovered(); none != "" {
		return nil, fmt.Errorf("slots without a node: %s (redis-cli --cluster fix, or wait until the cluster is formed)", none)
	}
	return t, nil
}

func cmpErr(a, b error) error {
	if a != nil {
		return a
	}
	return b
}

// asker has a conversation before the load.
type asker struct {
	conn net.Conn
	in   []byte
}

// ask sends a request and reads its answer, which check measures.
func (a *asker) ask(send []byte, check func(in []byte) (n int, err error)) error {
	if _, err := a.conn.Write(send); err != nil {
		return err
	}
	for {
		n, err := check(a.in)
		if err != nil {
			return err
		}
		if n > 0 {
			a.in = a.in[n:]
			return nil
		}
		var buf [4096]byte
		got, err := a.conn.Read(buf[:])
		a.in = append(a.in, buf[:got]...)
		if got == 0 && err != nil {
			return err
		}
	}
}
