package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// metaTail are the flags that ms answers, kept over the arrival of the value: letters in the order of the request, and
// the opaque.
type metaTail struct {
	flags  [4]byte // of k O c s, each at most once
	n      int
	opaque [mctext.MaxOpaque]byte
	oLen   int
	binary bool
}

// keep takes over the return flags of r.
func (a *metaTail) keep(r *mctext.Request, m *mctext.Meta) {
	a.n, a.oLen, a.binary = 0, 0, m.Has('b')
	for i := m.First; i < r.Len(); i++ {
		tok := r.Tok(i)
		switch tok[0] {
		case 'O':
			a.oLen = copy(a.opaque[:], tok)
		case 'k', 'c', 's':
		default:
			continue
		}
		a.flags[a.n] = tok[0]
		a.n++
	}
}

// cmdMetaSet is ms <key> <bytes> <flags>*, and the value.
func cmdMetaSet(t *Text, w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) (used int) {
	size, ok := mctext.Size(r.Tok(2))
	if !ok {
		reply(out, mctext.BadFormat) // the value's length is unknown: it will be read as a command
		return n
	}
	v := &w.text.val
	v.size, v.quiet, v.meta = size, false, true
	m, key, problem := w.metaStart(r, 3)
	if problem == "" {
		problem = v.metaOp(w, r, m, key)
	}
	if problem != "" {
		return t.refuse(v, problem, n, out)
	}
	return t.take(w, v, n, in, out)
}

// modes of the M flag.
var modes = [256]struct {
	known bool
	mode  Mode
}{
	'S': {true, Set},
	'E': {true, Add},
	'R': {true, Replace},
	'A': {true, Append},
	'P': {true, Prepend},
}

// metaOp turns the flags of ms into a storage operation. It returns the text of the error, "" if there is none.
func (v *value) metaOp(w *Worker, r *mctext.Request, m *mctext.Meta, key []byte) (problem string) {
	mode := Set
	if m.Has('M') {
		if !modes[m.Mode].known {
			return mctext.BadSetMode
		}
		mode = modes[m.Mode].mode
	}
	if longOpaque(m, r) {
		return mctext.LongOpaque
	}
	v.op = StoreOp{
		Key: key, Mode: mode, Flags: m.Flags, Expiry: w.Expiry(int64(m.TTL)), BinaryKey: m.Has('b'),
		CAS: m.CAS, NewCAS: m.NewCAS,
		Vivify: m.Has('N') && mode >= Append, VivifyExpiry: w.Expiry(int64(m.Auto)),
		DropOld: true,
	}
	switch {
	case mode == Set, mode == Replace:
		v.op.Check = m.Has('C') // C0 too: no item has it
		v.op.Invalidate = v.op.Check && m.Has('I')
	case mode >= Append:
		v.op.Check = m.CAS != 0
	}
	v.hide = m.Has('q')
	v.tail.keep(r, m)
	return ""
}

// answer appends the reply of ms.
func (v *value) answer(s Stored, out *bytesx.Out) {
	word := metaCodes[s.Code]
	if word == "" {
		reply(out, replies[s.Code])
		return
	}
	if v.hide && s.Code == OK {
		return
	}
	if s.Code != OK {
		s.Len, s.CAS = v.size, 0
	}
	b := append(out.Buf, word...)
	for _, c := range v.tail.flags[:v.tail.n] {
		switch c {
		case 'k':
			b = appendKey(b, v.op.Key, v.tail.binary)
		case 'O':
			b = append(b, ' ')
			b = append(b, v.tail.opaque[:v.tail.oLen]...)
		case 'c':
			b = mctext.AppendFlag(b, 'c', s.CAS)
		case 's':
			b = mctext.AppendFlag(b, 's', uint64(s.Len))
		}
	}
	out.Buf = append(b, '\r', '\n')
}
