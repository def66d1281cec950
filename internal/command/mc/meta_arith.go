package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// cmdMetaArith is ma <key> <flags>*.
func cmdMetaArith(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	m, key, problem := w.metaStart(r, 2)
	if problem != "" {
		reply(out, mctext.BadFlagArith)
		return More
	}
	decr := m.Mode == 'D' || m.Mode == '-'
	if m.Has('M') && !decr && m.Mode != 'I' && m.Mode != '+' {
		reply(out, mctext.BadArithMode)
		return More
	}
	op := &w.text.arith
	*op = ArithOp{
		Key: key, Decr: decr, Delta: m.Delta, Check: m.CAS != 0, CAS: m.CAS, NewCAS: m.NewCAS,
		Touch: m.Has('T'), Expiry: w.Expiry(int64(m.TTL)),
		Vivify: m.Has('N'), Initial: m.Init, VivifyExpiry: w.vivifyExpiry(r, m),
	}
	c := w.Arith(op)
	mark := out.Mark()
	w.answerArith(r, m, key, &c, out)
	if longOpaque(m, r) && c.Code != NonNumeric && c.Code != NoMemory { // found out too late in memcached, too
		out.Truncate(mark)
		reply(out, mctext.LongOpaque)
	}
	return More
}

// vivifyExpiry is what a created item ends up with: N and T both set it, where they stand.
func (w *Worker) vivifyExpiry(r *mctext.Request, m *mctext.Meta) int64 {
	ttl := m.Auto
	for i := m.First; i < r.Len(); i++ {
		switch r.Tok(i)[0] {
		case 'N':
			ttl = m.Auto
		case 'T':
			ttl = m.TTL
		}
	}
	return w.Expiry(int64(ttl))
}

func (w *Worker) answerArith(r *mctext.Request, m *mctext.Meta, key []byte, c *Counted, out *bytesx.Out) {
	switch c.Code {
	case OK:
		if !m.Has('q') {
			w.answerCounted(r, m, key, c, out)
		}
	case NonNumeric:
		reply(out, mctext.NonNumeric)
	case NoMemory:
		reply(out, mctext.NoMemoryArith)
	default:
		reply(out, metaCodes[c.Code])
		out.Buf = appendEcho(out.Buf, r, m, key)
		reply(out, "\r\n")
	}
}

func (w *Worker) answerCounted(r *mctext.Request, m *mctext.Meta, key []byte, c *Counted, out *bytesx.Out) {
	var text [20]byte
	number := bytesx.AppendUint(text[:0], c.Value)
	b := out.Buf
	if m.Has('v') {
		b = append(b, "VA "...)
		b = bytesx.AppendUint(b, uint64(len(number)))
	} else {
		b = append(b, "HD"...)
	}
	expiry := c.OldExpiry
	if c.Created {
		expiry = 0 // until N or T is reached
	}
	for i := m.First; i < r.Len(); i++ {
		tok := r.Tok(i)
		switch tok[0] {
		case 'T':
			expiry = w.Expiry(int64(m.TTL))
		case 'N':
			if c.Created {
				expiry = w.Expiry(int64(m.Auto))
			}
		case 't':
			b = w.appendTTL(b, expiry)
		case 'c':
			b = mctext.AppendFlag(b, 'c', c.CAS)
		default:
			b = echo(b, tok, m, key)
		}
	}
	b = append(b, '\r', '\n')
	if m.Has('v') {
		b = append(b, number...)
		b = append(b, '\r', '\n')
	}
	out.Buf = b
}
