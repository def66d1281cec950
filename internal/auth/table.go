// Package auth knows who may talk to the server: the users of the ASCII authentication file (-Y) and of the SASL
// password file (MEMCACHED_SASL_PWDB), and SASL's PLAIN exchange. It reads files and compares passwords; what is
// answered on the wire is the protocols' business. Callers: session (text), command/mc (binary), server (loading).
package auth

import (
	"crypto/rand"
	"crypto/sha256"
	"crypto/subtle"
	"sync"
	"sync/atomic"
	"time"
)

// Table is a set of users that can be exchanged as a whole while connections ask it. The zero value has no users.
// Safe for concurrent use.
type Table struct {
	users atomic.Pointer[users]

	mu    sync.Mutex // Refresh
	path  string     // of the SASL password file, for Refresh
	size  int64
	mtime time.Time
}

// users are kept as keyed digests: a comparison then takes the same time whatever the stored lengths and contents, and
// the passwords themselves are not in memory.
type users struct {
	salt    [32]byte
	entries []entry
}

type entry struct{ user, pass [sha256.Size]byte }

// User is a name and its password.
type User struct{ Name, Pass string }

// Set exchanges all users at once.
func (t *Table) Set(list []User) {
	u := &users{entries: make([]entry, len(list))}
	// crypto/rand.Read never fails; see its documentation.
	rand.Read(u.salt[:])
	for i, l := range list {
		u.entries[i] = entry{u.digest([]byte(l.Name)), u.digest([]byte(l.Pass))}
	}
	t.users.Store(u)
}

// Len is the number of users.
func (t *Table) Len() int {
	if u := t.users.Load(); u != nil {
		return len(u.entries)
	}
	return 0
}

// Check says whether a user has this password. It looks at every user in full, so that the time it takes tells neither
// which names exist nor how much of a password was right.
func (t *Table) Check(user, pass []byte) bool {
	u := t.users.Load()
	if u == nil {
		return false
	}
	name, word := u.digest(user), u.digest(pass)
	found := 0
	for i := range u.entries {
		e := &u.entries[i]
		found |= subtle.ConstantTimeCompare(e.user[:], name[:]) & subtle.ConstantTimeCompare(e.pass[:], word[:])
	}
	return found == 1
}

func (u *users) digest(b []byte) (d [sha256.Size]byte) {
	h := sha256.New()
	h.Write(u.salt[:])
	h.Write(b)
	h.Sum(d[:0])
	return d
}
