package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
	"godwit/internal/store"
)

// metaStart reads what all meta commands have in common: the key, decoded if need be, and the flags from token first on.
// problem is the text of the error, "" if there is none.
func (w *Worker) metaStart(r *mctext.Request, first int) (m *mctext.Meta, key []byte, problem string) {
	m = &w.text.meta
	key = r.Tok(1)
	if len(key) == 0 || len(key) > mctext.MaxKey {
		return m, key, mctext.BadFormat
	}
	if problem = m.Parse(r, first); problem != "" {
		return m, key, problem
	}
	if m.Has('b') {
		var ok bool
		if key, ok = bytesx.DecodeBase64(w.text.keyBuf[:0], key); !ok {
			return m, key, mctext.BadKeyCode
		}
	}
	return m, key, m.Tokens(r)
}

// longOpaque says whether the O flag is longer than can be echoed.
func longOpaque(m *mctext.Meta, r *mctext.Request) bool {
	if !m.Has('O') {
		return false
	}
	for i := m.First; i < r.Len(); i++ {
		if tok := r.Tok(i); tok[0] == 'O' {
			return len(tok) > mctext.MaxOpaque
		}
	}
	return false
}

// appendKey appends the k flag.
func appendKey(b, key []byte, binary bool) []byte {
	b = append(b, ' ', 'k')
	if !binary {
		return append(b, key...)
	}
	b = bytesx.AppendBase64(b, key)
	return append(b, ' ', 'b')
}

// appendEcho appends what a reply without an item has: key and opaque, in the order of the request.
func appendEcho(b []byte, r *mctext.Request, m *mctext.Meta, key []byte) []byte {
	for i := m.First; i < r.Len(); i++ {
		b = echo(b, r.Tok(i), m, key)
	}
	return b
}

// echo appends the flag of tok, if it is key or opaque.
func echo(b, tok []byte, m *mctext.Meta, key []byte) []byte {
	switch tok[0] {
	case 'k':
		return appendKey(b, key, m.Has('b'))
	case 'O':
		b = append(b, ' ')
		return append(b, tok...)
	}
	return b
}

// appendTTL appends the t flag.
func (w *Worker) appendTTL(b []byte, expiry int64) []byte {
	if expiry == 0 {
		return append(b, " t-1"...)
	}
	return mctext.AppendFlag(b, 't', uint64(w.TTL(expiry)))
}

// binaryKey says whether the item's key came base64-coded.
func binaryKey(e *store.Entry) bool { return e.Marks()&store.BinaryKey != 0 }

// metaCodes are the status words of ms, md and ma.
var metaCodes = [...]string{
	OK:         "HD",
	NotStored:  "NS",
	Exists:     "EX",
	NotFound:   "NF",
	TooLarge:   "", // these two have a text of their own
	NoMemory:   "",
	NonNumeric: "",
}

func cmdMetaNoop(_ *Text, _ *Worker, _ *mctext.Request, out *bytesx.Out) Verdict {
	reply(out, mctext.MetaNop)
	return More
}
