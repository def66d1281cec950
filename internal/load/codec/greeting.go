package codec

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"godwit/internal/load"
	"godwit/internal/proto/mcbin"
	"godwit/internal/proto/mctext"
	"godwit/internal/proto/resp"
)

// Credentials takes apart what memtier_benchmark's users write: password, or user:password. A colon at the start is for
// passwords that have one.
func Credentials(s string) (user, password string) {
	if rest, ok := strings.CutPrefix(s, ":"); ok {
		return "", rest
	}
	if user, password, ok := strings.Cut(s, ":"); ok {
		return user, password
	}
	return "", s
}

// Auth is RESP's AUTH. Without user it is that of the default user.
func Auth(user, password string) load.Greeting {
	if user == "" {
		return command("AUTH", "AUTH", password)
	}
	return command("AUTH", "AUTH", user, password)
}

// Select is RESP's SELECT.
func Select(db int) load.Greeting { return command("SELECT", "SELECT", strconv.Itoa(db)) }

// Hello is RESP's HELLO: the version of the protocol, 2 or 3.
func Hello(version int) load.Greeting { return command("HELLO", "HELLO", strconv.Itoa(version)) }

func command(name string, words ...string) load.Greeting {
	return load.Greeting{
		Name: name,
		Send: resp.AppendCommand(nil, words...),
		Check: func(in []byte) (n int, err error) {
			var v resp.Value
			n, err = resp.Parse(in, &v)
			if n > 0 && v.IsError() {
				return n, refused(v.Text)
			}
			return n, err
		},
	}
}

func refused(text []byte) error { return fmt.Errorf("the server answered %.200q", text) }

// SASL is memcached's authentication in the binary protocol, with the mechanism PLAIN.
func SASL(user, password string) load.Greeting {
	return load.Greeting{
		Name: "SASL",
		Send: mcbin.AppendRequest(nil, mcbin.SASLAuth, nil, []byte("PLAIN"), []byte("\x00"+user+"\x00"+password), 0, 0),
		Check: func(in []byte) (n int, err error) {
			p, n, ok := mcbin.ParsePacket(in, mcbin.MagicResponse, math.MaxUint32)
			switch {
			case !ok:
				return 0, fmt.Errorf("memcached binary: %.24x begins no answer", in)
			case n > 0 && p.Status != mcbin.OK:
				return n, refused(errorText(&p))
			}
			return n, nil
		},
	}
}

// TextAuth is memcached's authentication in the text protocol (its option -Y): a set whose value is user and password.
func TextAuth(user, password string) load.Greeting {
	return load.Greeting{
		Name: "authentication",
		Send: mctext.AppendSet(nil, []byte("auth"), 0, 0, []byte(user+" "+password), false),
		Check: func(in []byte) (n int, err error) {
			a, text, n, err := mctext.ScanLine(in)
			if n > 0 && a != mctext.WasStored {
				return n, refused(text)
			}
			return n, err
		},
	}
}
