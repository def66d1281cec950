package memtier

import (
	"context"
	"net"
	"slices"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/result"
	"godwit/internal/load/route"
)

// servers of a load: one; several memcached servers, between which a client chooses by the key (--servers); or the nodes of
// a RESP cluster (--cluster-mode). With several, each client has a connection to each.
type servers struct {
	targets []*load.Target
	shards  int                              // connections of a client that get requests
	fleet   func(s load.Source) *route.Fleet // nil: one server
}

// discoverTime is how long a cluster may take to tell its nodes.
const discoverTime = 10 * time.Second

// newServers finds the servers, of which target is one.
func newServers(o *Options, target *load.Target) (*servers, error) {
	switch {
	case o.Servers != nil:
		return ketama(o, target)
	case o.Cluster:
		return cluster(target)
	}
	return &servers{targets: inTurns(o, target), shards: 1}, nil
}

func ketama(o *Options, target *load.Target) (*servers, error) {
	s := &servers{shards: len(o.Servers)}
	var list []route.Server
	for _, text := range o.Servers {
		one, err := route.ParseServer(text)
		if err != nil {
			return nil, err
		}
		list = append(list, one)
		t := *target
		t.Network, t.Address = one.Address()
		if t.TLS != nil && o.SNI == "" {
			t.TLS = t.TLS.Clone()
			t.TLS.ServerName = one.Host
		}
		s.targets = append(s.targets, &t)
	}
	place, err := route.NewKetama(list)
	if err != nil {
		return nil, err
	}
	s.fleet = func(src load.Source) *route.Fleet { return route.New(src, len(list), place, route.Options{}) }
	return s, nil
}

func cluster(target *load.Target) (*servers, error) {
	ctx, cancel := context.WithTimeout(context.Background(), discoverTime)
	defer cancel()
	top, err := route.Discover(ctx, target)
	if err != nil {
		return nil, err
	}
	c := route.NewCluster(top)
	return &servers{
		targets: top.Targets(target), shards: top.Masters(),
		fleet: func(src load.Source) *route.Fleet { return c.Fleet(src, route.Options{}) },
	}, nil
}

// inTurns are the addresses of a name that has several of one family: connections take turns. A name with one of each is
// left to the dialler, which finds out which of them is listened on.
func inTurns(o *Options, target *load.Target) []*load.Target {
	if len(o.Addresses) != 1 {
		return []*load.Target{target}
	}
	var v4, v6 []string
	for _, a := range o.Addresses[0] {
		if host, _, _ := net.SplitHostPort(a); net.ParseIP(host).To4() != nil {
			v4 = append(v4, a)
		} else {
			v6 = append(v6, a)
		}
	}
	list := v4
	if len(v4) < 2 {
		list = v6
	}
	if len(list) < 2 {
		return []*load.Target{target}
	}
	var out []*load.Target
	for _, a := range slices.Compact(list) {
		t := *target
		t.Address = a
		out = append(out, &t)
	}
	return out
}

// connect makes the connections of client n, which base describes.
func (s *servers) connect(o *Options, n int, base load.Client) ([]load.Client, error) {
	if s.fleet == nil {
		base.Target = s.targets[n%len(s.targets)]
		return []load.Client{base}, nil
	}
	if o.ConnectionRate > 0 {
		base.Rate *= float64(s.shards) // of each connection
	}
	base.Group = n + 1
	return s.fleet(base.Source).Clients(base, s.targets, func() (load.Codec, error) { return codec.New(string(o.Protocol)) })
}

// clients adds the results of connections up that are one client's.
func (s *servers) clients(conns []result.Client) []result.Client {
	k := len(s.targets)
	if s.fleet == nil || k == 1 {
		return conns
	}
	var out []result.Client
	for i := 0; i+k <= len(conns); i += k {
		c := result.Client{Loop: conns[i].Loop}
		for r := range conns[i].Rows {
			var rows []result.Row
			for _, x := range conns[i : i+k] {
				rows = append(rows, x.Rows[r])
			}
			c.Rows = append(c.Rows, result.Merge(conns[i].Rows[r].Name, rows))
		}
		out = append(out, c)
	}
	return out
}
