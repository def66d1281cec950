// Package mc has memcached's verbs: one handler per verb over store, one file per family. Handlers get a parsed request
// and append the reply; they know no socket. Text, meta and binary share the operations in ops*.go and differ in how they
// write the reply.
package mc

import (
	"sync/atomic"

	"godwit/internal/clock"
	"godwit/internal/config"
	"godwit/internal/stats"
	"godwit/internal/store"
)

// Env is what all connections of a server share. It is built by package server before the first connection.
type Env struct {
	Store   *store.Store
	Clock   *clock.Clock
	Set     *config.Memcached
	Workers []*Worker // one per loop (netloop.Conn.Loop indexes it)
	Server  Server    // the parts of the process that verbs ask or command
	Verbose atomic.Int32
	Watch   atomic.Uint32 // bits of WatchFetchers …: who looks on
	Log     Logger        // used while Watch is not 0

	admin adminState
}

// NewEnv is a server over a store, with a worker for each of its loops. It has the store count by memcached's classes, so
// nothing is stored yet.
func NewEnv(set *config.Memcached, s *store.Store, loops int) *Env {
	casBytes := 0
	if set.CAS {
		casBytes = 8
	}
	s.SetClasses(set.Classes(), casBytes)
	e := &Env{Store: s, Clock: s.Clock(), Set: set}
	for i := range loops {
		e.Workers = append(e.Workers, &Worker{Env: e, L: s.Local(i)})
	}
	return e
}

// Server is what verbs ask of the process around them.
type Server interface {
	ConnStats() ConnStats
	Conns(fn func(c ConnInfo)) // for stats conns
	RefreshCerts() error       // nil: reloaded; the error text is the reply
	MaxConns() int
}

// ConnStats are the driver's counters.
type ConnStats struct {
	Curr, Total, Rejected, Structures                  uint64
	ListenDisabled, ListenDisabledUs                   uint64
	Accepting                                          bool
	ReadBufs, ReadBufBytes, ReadBufFree                uint64
	ReadKills, WriteKills                              uint64 // closed for too much unread, or unsent
	TLSNewSessions, TLSHandshakeErrors, TLSProtoErrors uint64
	CertRefresh                                        int64 // seconds since the last reload
}

// ConnInfo is a row of stats conns.
type ConnInfo struct {
	ID           int
	Addr, Listen string // "tcp:127.0.0.1:1234" …
	State        string
	SinceLastCmd int64 // seconds
	UDP          bool
}

// Worker is one loop's share of Env: its door to the store, its counters, its scratch memory. Only the loop uses it.
type Worker struct {
	*Env
	L    *store.Local
	St   stats.Worker
	Conn int // ID of the connection being fed, for the log; the session sets it

	scratch []byte // an old value between two locks (append, prepend)
	text    textScratch
}
