package crusher

import (
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/keys"
	"godwit/internal/nearest"
)

// keyMost is the length of the longest key that memcached takes.
const keyMost = 250

// valueMost is the size of the largest value that a memcached can be told to take.
const valueMost = 1 << 30

// send is a kind of request, by its name in conf files.
type send struct {
	name   string
	kind   load.Kind
	quiet  bool
	codec  func() load.Codec
	quit   []byte // asks the server to close the connection
	stores bool   // has a value
	effect string // for help
}

var (
	textQuit   = []byte("quit\r\n")
	binaryQuit = []byte("\x80\x07" + strings.Repeat("\x00", 22))
)

func text() load.Codec   { return codec.NewCrusherText() }
func meta() load.Codec   { return codec.NewMeta() }
func binary() load.Codec { return codec.NewBinary() }

var sends = []send{
	{"ascii_get", load.Get, false, text, textQuit, false, "get, one key"},
	{"ascii_mget", load.MGet, false, text, textQuit, false, "get, mget_count keys"},
	{"ascii_set", load.Set, false, text, textQuit, true, "set"},
	{"ascii_incr", load.Incr, false, text, textQuit, false, "incr by 1"},
	{"ascii_decr", load.Decr, false, text, textQuit, false, "decr by 1"},
	{"ascii_delete", load.Delete, false, text, textQuit, false, "delete"},
	{"ascii_touch", load.Touch, false, text, textQuit, false, "touch"},
	{"ascii_mg", load.Get, false, meta, textQuit, false, "mg with the flags of cmd_postfix"},
	{"bin_get", load.Get, false, binary, binaryQuit, false, "get of the binary protocol"},
	{"bin_getq", load.Get, true, binary, binaryQuit, false, "getq, a noop behind each write: misses have no answer of their own"},
	{"bin_set", load.Set, false, binary, binaryQuit, true, "set of the binary protocol"},
	{"bin_setq", load.Set, true, binary, binaryQuit, true, "setq, a noop behind each write"},
	{"bin_touch", load.Touch, false, binary, binaryQuit, false, "touch of the binary protocol"},
}

func sendNames() string {
	var names []string
	for i := range sends {
		names = append(names, sends[i].name)
	}
	return strings.Join(names, ", ")
}

// row is a key of conf files.
type row struct {
	name    string
	initial string           // what holds without it
	effect  string           // for help
	of      func(*send) bool // the sends that it has an effect on; nil: all
	dead    string           // mc-crusher ignores it: what to do instead
	set     func(t *Template, v string) *Problem
}

var table = []row{
	{name: "send", effect: "what to send, see below", set: setSend},
	{name: "recv", initial: "parse", effect: "parse: read the answers, count hits, measure latency; anything else, such as blind_read: read and discard", set: setRecv},
	{name: "conns", initial: "1", effect: "connections, per thread", set: whole(1, 1<<20, func(t *Template) *int { return &t.Conns })},
	{name: "thread", initial: "0", effect: "so many event loops of its own, each with conns connections, its own place in the keys and its own stop_after; 0: the shared loops", set: whole(0, 1024, func(t *Template) *int { return &t.Thread })},
	{name: "pipelines", initial: "1", effect: "requests per write; the next write comes when all are answered", set: whole(1, 1<<20, func(t *Template) *int { return &t.Pipelines })},
	{name: "usleep", initial: "0", effect: "microseconds between writes of a connection, by a timetable that catches up; 0: none", set: number(0, 3600e6, func(t *Template) *uint64 { return &t.Usleep })},
	{name: "stop_after", initial: "0", effect: "the template ends after so many keys, per thread; 0: never", set: number(0, 1<<62, func(t *Template) *uint64 { return &t.StopAfter })},
	{name: "key_prefix", initial: "foo", effect: "keys are the prefix and a number", set: setPrefix},
	{name: "key_count", initial: "200000", effect: "the numbers are 0 to key_count-1, in order, over and over, shared by the connections of the thread", set: number(1, 1<<62, func(t *Template) *uint64 { return &t.KeyCount })},
	{name: "live_rand", effect: "draw keys at random, all alike", set: func(t *Template, _ string) *Problem { t.LiveRand = true; return nil }},
	{name: "live_rand_zipf", effect: "draw keys by a zipf law, low numbers most often", set: func(t *Template, _ string) *Problem { t.LiveRandZipf = true; return nil }},
	{name: "zipf_skew", initial: "0.25", effect: "its exponent, 0 to 5; the higher the fewer keys are hot", set: setSkew},
	{name: "mget_count", initial: "2", effect: "keys per request", of: func(s *send) bool { return s.kind == load.MGet }, set: whole(1, 1<<24, func(t *Template) *int { return &t.MgetCount })},
	{name: "value_size", initial: "0", effect: "bytes of a value, zeros", of: stores, set: whole(0, valueMost, func(t *Template) *int { return &t.ValueSize })},
	{name: "value", effect: "the value, instead of zeros", of: stores, set: setValue},
	{name: "expire", initial: "0", effect: "seconds that items live; 0: for ever", of: func(s *send) bool { return s.stores || s.kind == load.Touch }, set: unsigned(func(t *Template) *uint32 { return &t.Expire })},
	{name: "flags", initial: "0", effect: "client flags, a number", of: stores, set: unsigned(func(t *Template) *uint32 { return &t.Flags })},
	{name: "cmd_postfix", effect: "flags of mg, such as: s v", of: func(s *send) bool { return s.name == "ascii_mg" }, set: setPostfix},
	{name: "host", initial: "--ip", effect: "server of this template", set: setHost},
	{name: "port", initial: "--port", effect: "and its port", set: whole(1, math.MaxUint16, func(t *Template) *int { return &t.Port })},

	{name: "key_prealloc", dead: "leave it out: keys are made as they are sent"},
	{name: "key_randomize", dead: "leave it out for keys in order, which is what happened; live_rand=1 draws them at random"},
	{name: "time", dead: "--timeout SECONDS ends the run"},
	{name: "count", dead: "stop_after=N ends the template after N keys"},
	{name: "key_len", dead: "make key_prefix longer"},
	{name: "key_generate", dead: "leave it out for keys in order; live_rand=1 draws them at random"},
	{name: "value_range", dead: "value_size=N, and a template for each size"},
	{name: "value_range_step", dead: "value_size=N, and a template for each size"},
}

func stores(s *send) bool { return s.stores }

func lookup(key string) *row {
	for i := range table {
		if table[i].name == key {
			return &table[i]
		}
	}
	return nil
}

// sendsOf names the sends that a key has an effect on.
func sendsOf(r *row) string {
	var names []string
	for i := range sends {
		if r.of(&sends[i]) {
			names = append(names, sends[i].name)
		}
	}
	return strings.Join(names, ", ")
}

// suggest names the key that is meant, or all.
func suggest(key string) string {
	var names []string
	for i := range table {
		if table[i].dead == "" {
			names = append(names, table[i].name)
		}
	}
	if near := nearest.Name(key, names); near != "" {
		return "did you mean " + near + "?"
	}
	return "the keys are " + strings.Join(names, ", ")
}

func whole(low, high int, field func(*Template) *int) func(*Template, string) *Problem {
	return func(t *Template, v string) *Problem {
		n, p := parse(v, uint64(low), uint64(high))
		if p == nil {
			*field(t) = int(n)
		}
		return p
	}
}

func number(low, high uint64, field func(*Template) *uint64) func(*Template, string) *Problem {
	return func(t *Template, v string) *Problem {
		n, p := parse(v, low, high)
		if p == nil {
			*field(t) = n
		}
		return p
	}
}

func unsigned(field func(*Template) *uint32) func(*Template, string) *Problem {
	return func(t *Template, v string) *Problem {
		n, p := parse(v, 0, math.MaxUint32)
		if p == nil {
			*field(t) = uint32(n)
		}
		return p
	}
}

func parse(v string, low, high uint64) (uint64, *Problem) {
	n, err := strconv.ParseUint(v, 10, 64)
	switch {
	case err != nil && !isRange(err):
		return 0, &Problem{Cause: "not a whole number", Mend: fmt.Sprintf("%d to %d", low, high)}
	case err != nil || n < low || n > high:
		return 0, &Problem{Cause: "out of range", Mend: fmt.Sprintf("%d to %d", low, high)}
	}
	return n, nil
}

func isRange(err error) bool {
	e, ok := err.(*strconv.NumError)
	return ok && e.Err == strconv.ErrRange
}

func setSend(t *Template, v string) *Problem {
	i := slices.IndexFunc(sends, func(s send) bool { return s.name == v })
	if i < 0 {
		return &Problem{Cause: "no such request", Mend: "one of " + sendNames()}
	}
	t.Send = &sends[i]
	return nil
}

func setRecv(t *Template, v string) *Problem {
	if v == "" {
		return &Problem{Cause: "empty", Mend: "parse, or blind_read"}
	}
	t.Parse = v == "parse"
	return nil
}

func setPrefix(t *Template, v string) *Problem {
	for i := range len(v) {
		if v[i] <= ' ' || v[i] == 0x7f {
			return &Problem{Cause: "space or control character", Mend: "keys have none"}
		}
	}
	t.KeyPrefix = v
	return nil
}

func setSkew(t *Template, v string) *Problem {
	f, err := strconv.ParseFloat(v, 64)
	if err != nil || !(f >= 0 && f < 5) {
		return &Problem{Cause: "no exponent of a zipf law", Mend: "from 0 to below 5, such as 0.99"}
	}
	t.ZipfSkew = f
	return nil
}

func setValue(t *Template, v string) *Problem {
	t.Value = []byte(v)
	return nil
}

func setHost(t *Template, v string) *Problem {
	if v == "" || strings.ContainsAny(v, " \t/") {
		return &Problem{Cause: "no host", Mend: "a name or address, without port"}
	}
	t.Host = strings.Trim(v, "[]")
	return nil
}

// setPostfix checks the flags of mg. Quiet gets are numbered by the codec, see codec.Meta.
func setPostfix(t *Template, v string) *Problem {
	words := strings.Fields(v)
	quiet := slices.ContainsFunc(words, func(w string) bool { return w[0] == 'q' })
	for i, w := range words {
		if w[0] < '!' || w[0] > '~' {
			return &Problem{Cause: fmt.Sprintf("%q is no flag of mg", w), Mend: "such as: s v"}
		}
		if quiet && w[0] == 'O' {
			return &Problem{Cause: "quiet gets are numbered with O already", Mend: "leave O out"}
		}
		if i > 0 && slices.ContainsFunc(words[:i], func(x string) bool { return x[0] == w[0] }) {
			return &Problem{Cause: fmt.Sprintf("flag %c twice", w[0]), Mend: "say it once"}
		}
	}
	t.CmdPostfix = strings.Join(words, " ")
	return nil
}

// longest is the length of the longest key.
func longest(t *Template) int {
	n := keys.Names{Prefix: t.KeyPrefix}
	return n.Longest(t.KeyCount - 1)
}
