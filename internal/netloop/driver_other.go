//go:build !linux || 386

package netloop

import (
	"errors"
	"net"
)

const autoIO = "std"

func (k *sock) detach() error { return nil }

func (s *Server) makeLoops(bool) error { return errors.New("netloop: no event loops on this system") }

func (s *Server) acceptRaw(k *sock) {}

func detach(nc net.Conn) (int, error) { return -1, errWrapped }
