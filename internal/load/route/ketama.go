package route

import (
	"cmp"
	"crypto/md5"
	"encoding/binary"
	"errors"
	"fmt"
	"math"
	"net"
	"slices"
	"strconv"
)

// Placer says which of several servers a key belongs to.
type Placer interface {
	Server(key []byte) int
}

// Server is a memcached server by the name that its clients hash: all of them must write it alike.
type Server struct {
	Host   string // or the path of a unix socket
	Port   int    // 0: a unix socket
	Weight int    // 0: 1
}

// ParseServer reads host, host:port, host:port:weight, with IPv6 addresses in brackets, or the path of a unix socket.
// Without port it is memcached's.
func ParseServer(s string) (Server, error) {
	if len(s) > 0 && s[0] == '/' {
		return Server{Host: s}, nil
	}
	wrong := func(why string) (Server, error) {
		return Server{}, fmt.Errorf("server %q: %s (write host, host:port, host:port:weight or the path of a socket; IPv6 addresses in brackets)", s, why)
	}
	v := Server{Port: defaultPort}
	var rest string
	if len(s) > 0 && s[0] == '[' {
		end := 1
		for end < len(s) && s[end] != ']' {
			end++
		}
		if end == len(s) {
			return wrong("a bracket is missing")
		}
		v.Host, rest = s[1:end], s[end+1:]
		if rest != "" && rest[0] != ':' {
			return wrong("a colon is missing after the bracket")
		}
	} else {
		end := 0
		for end < len(s) && s[end] != ':' {
			end++
		}
		v.Host, rest = s[:end], s[end:]
	}
	if v.Host == "" {
		return wrong("no host")
	}
	for i, field := range []*int{&v.Port, &v.Weight} {
		if rest == "" {
			return v, nil
		}
		end := 1
		for end < len(rest) && rest[end] != ':' {
			end++
		}
		n, err := strconv.ParseUint(rest[1:end], 10, 31)
		if err != nil || n == 0 || i == 0 && n > 65535 {
			return wrong([]string{"the port is no number from 1 to 65535", "the weight is no number above 0"}[i])
		}
		*field = int(n)
		rest = rest[end:]
	}
	if rest != "" {
		return wrong("too many colons")
	}
	return v, nil
}

// Address is where to connect to.
func (s Server) Address() (network, address string) {
	if s.Port == 0 {
		return "unix", s.Host
	}
	return "tcp", net.JoinHostPort(s.Host, strconv.Itoa(s.Port))
}

const (
	defaultPort     = 11211
	pointsPerHash   = 4   // of 4 bytes: an MD5 sum has 16
	pointsPerServer = 160 // on average
	pointsPlain     = 100 // of each server, with one hash a point
)

// Ketama places keys on a continuum of points: a key belongs to the first point that is not below its hash.
type Ketama struct {
	points []point
	plain  bool
}

type point struct {
	at     uint32
	server int32
}

// NewKetama makes the continuum that most clients know as ketama, libmemcached as MEMCACHED_BEHAVIOR_KETAMA_WEIGHTED: MD5
// of "host:port-0", "host:port-1" and so on gives four points each, 160 for each server of average weight; the port is
// left out if it is 11211. The hash of a key is the first four bytes of its MD5.
func NewKetama(servers []Server) (*Ketama, error) {
	total := uint64(0)
	for _, s := range servers {
		total += uint64(max(1, s.Weight))
	}
	k := &Ketama{}
	return k.build(servers, func(i int) {
		s := &servers[i]
		// In single precision, step by step, as libmemcached has it: the number of points depends on its errors.
		share := float32(max(1, s.Weight)) / float32(total)
		hashes := int(math.Floor(float64(float32(float32(float32(share*pointsPerServer)/pointsPerHash)*float32(len(servers))) + 1e-10)))
		for n := range hashes {
			sum := md5.Sum(s.pointName(n))
			for p := range pointsPerHash {
				k.points = append(k.points, point{binary.LittleEndian.Uint32(sum[4*p:]), int32(i)})
			}
		}
	})
}

// NewPlainKetama makes the continuum of libmemcached's MEMCACHED_BEHAVIOR_KETAMA alone, which other clients do not share:
// 100 points for each server, without weights, and Jenkins's one-at-a-time hash for points and keys.
func NewPlainKetama(servers []Server) (*Ketama, error) {
	for _, s := range servers {
		if s.Weight > 1 {
			return nil, fmt.Errorf("ketama: server %s has weight %d: plain ketama knows no weights", s.Host, s.Weight)
		}
	}
	k := &Ketama{plain: true}
	return k.build(servers, func(i int) {
		for n := range pointsPlain {
			k.points = append(k.points, point{oneAtATime(servers[i].pointName(n)), int32(i)})
		}
	})
}

// build checks the servers, adds the points of each, and sorts them.
func (k *Ketama) build(servers []Server, add func(i int)) (*Ketama, error) {
	if len(servers) == 0 {
		return nil, errors.New("ketama: no servers")
	}
	for i, s := range servers {
		if s.Weight < 0 {
			return nil, fmt.Errorf("ketama: server %s: weight %d is negative", s.Host, s.Weight)
		}
		for _, o := range servers[:i] {
			if o.Host == s.Host && o.Port == s.Port {
				return nil, fmt.Errorf("ketama: server %s port %d is there twice", s.Host, s.Port)
			}
		}
		add(i)
	}
	if len(k.points) == 0 {
		return nil, fmt.Errorf("ketama: the weights of %d servers leave none of them a point", len(servers))
	}
	slices.SortFunc(k.points, func(a, b point) int {
		return cmp.Or(cmp.Compare(a.at, b.at), cmp.Compare(a.server, b.server))
	})
	return k, nil
}

// pointName is what the n-th hash of the server is made of.
func (s Server) pointName(n int) []byte {
	b := []byte(s.Host)
	if s.Port != defaultPort {
		b = strconv.AppendInt(append(b, ':'), int64(s.Port), 10)
	}
	return strconv.AppendInt(append(b, '-'), int64(n), 10)
}

// Server implements Placer.
func (k *Ketama) Server(key []byte) int {
	var at uint32
	if k.plain {
		at = oneAtATime(key)
	} else {
		sum := md5.Sum(key)
		at = binary.LittleEndian.Uint32(sum[:])
	}
	lo, hi := 0, len(k.points)
	for lo < hi {
		mid := int(uint(lo+hi) / 2)
		if k.points[mid].at < at {
			lo = mid + 1
		} else {
			hi = mid
		}
	}
	if lo == len(k.points) {
		lo = 0
	}
	return int(k.points[lo].server)
}

func oneAtATime(key []byte) (h uint32) {
	for _, c := range key {
		h += uint32(c)
		h += h << 10
		h ^= h >> 6
	}
	h += h << 3
	h ^= h >> 11
	return h + h<<15
}

// Modulo places keys by the 64-bit FNV-1a hash, modulo the number of servers.
type Modulo int

// Server implements Placer.
func (m Modulo) Server(key []byte) int {
	h := uint64(0xcbf29ce484222325)
	for _, c := range key {
		h = (h ^ uint64(c)) * 0x100000001b3
	}
	return int(h % uint64(m))
}
