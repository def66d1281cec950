package server

import (
	"net"

	"godwit/internal/admin"
	"godwit/internal/config"
)

// listenAdmin binds the address of --admin. What is answered there is package admin's.
func (s *Server) listenAdmin() (err error) {
	if s.set.Admin == "" {
		return nil
	}
	if s.adminSock, err = net.Listen("tcp", s.set.Admin); err != nil {
		return failf(config.ExitOS, "failed to listen on admin address %s: %s", s.set.Admin, errText(err))
	}
	return nil
}

// serveAdmin answers there from now on, until stop.
func (s *Server) serveAdmin() {
	if s.adminSock != nil {
		s.admin = admin.Serve(s.adminSock, s.env)
	}
}
