package auth

import "bytes"

// Mechanisms is the answer to a client that asks what it may use.
const Mechanisms = "PLAIN"

// MaxMechanism is the longest name of a mechanism that is looked at, in bytes.
const MaxMechanism = 32

// MaxMessage is the longest SASL message that is taken, in bytes; PLAIN needs three names at most.
const MaxMessage = 16 << 10

// Progress of a SASL exchange after a packet.
type Progress uint8

const (
	Failed    Progress = iota // wrong, or not in order; the exchange is over
	Continued                 // the client's data is wanted, in a step
	Succeeded
)

// Exchange is the SASL state of one connection. The zero value is a connection that has sent nothing yet. It keeps no
// bytes of a packet.
type Exchange struct {
	started bool // PLAIN was chosen without data: the step brings it
	done    bool
}

// Authenticated says whether the last exchange succeeded.
func (x *Exchange) Authenticated() bool { return x.done }

// Start begins an exchange, whatever came before: a client that was authenticated is so no longer.
func (x *Exchange) Start(t *Table, mechanism, data []byte) Progress {
	*x = Exchange{}
	if !plain(mechanism) {
		return Failed
	}
	if len(data) == 0 {
		x.started = true
		return Continued
	}
	return x.finish(t, data)
}

// Step goes on with an exchange that Start left open.
func (x *Exchange) Step(t *Table, mechanism, data []byte) Progress {
	open := x.started
	*x = Exchange{}
	if !open || !plain(mechanism) {
		return Failed
	}
	return x.finish(t, data)
}

func (x *Exchange) finish(t *Table, data []byte) Progress {
	user, pass, ok := splitPlain(data)
	if !ok || !t.Check(user, pass) {
		return Failed
	}
	x.done = true
	return Succeeded
}

// splitPlain reads the message of RFC 4616: authzid NUL authcid NUL password. Acting for somebody else is refused.
func splitPlain(data []byte) (user, pass []byte, ok bool) {
	acting, rest, ok := bytes.Cut(data, []byte{0})
	if !ok {
		return nil, nil, false
	}
	user, pass, ok = bytes.Cut(rest, []byte{0})
	if !ok || len(user) == 0 || bytes.IndexByte(pass, 0) >= 0 {
		return nil, nil, false
	}
	if len(acting) > 0 && !bytes.Equal(acting, user) {
		return nil, nil, false
	}
	return user, pass, true
}

// plain compares without regard to case, as SASL libraries do.
func plain(mechanism []byte) bool { return bytes.EqualFold(mechanism, []byte(Mechanisms)) }
