package netloop

import (
	"net"
	"sync"
	"sync/atomic"
)

type stdLoop struct {
	id int
	n  atomic.Int64
	mu sync.Mutex
}

func newStdLoop(s *Server, id int) *stdLoop { return &stdLoop{id: id} }
func (l *stdLoop) scan()                    {}
func (s *Server) stopStd(graceful bool)     {}

type tlsCounters struct{}

func (s *Server) serveStd(k *sock, nc net.Conn) {}

type udpConn struct{}

func (s *Server) startUDP(k *sock) {}
