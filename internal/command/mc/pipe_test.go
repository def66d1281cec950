package mc

import (
	"godwit/internal/auth"
	"godwit/internal/bytesx"
)

// pipe is one connection: a driver that keeps what was not used, as netloop does.
type pipe struct {
	p      Proto
	w      *Worker
	sink   bool // large values go through Sink
	in     []byte
	out    bytesx.Out
	got    []byte
	last   Verdict // More or Yield while it is open
	yields int
	kept   int // most bytes that were kept
}

func textPipe(w *Worker) *pipe { return &pipe{p: &Text{}, w: w} }

// binPipe: users nil means without SASL.
func binPipe(w *Worker, users []auth.User) *pipe {
	b := &Bin{}
	if users != nil {
		b.SASL = new(auth.Table)
		b.SASL.Set(users)
	}
	return &pipe{p: b, w: w}
}

func (p *pipe) open() bool   { return p.last == More || p.last == Yield }
func (p *pipe) closed() bool { return !p.open() }

// write brings input to the connection; the answers collect in got.
func (p *pipe) write(data []byte) {
	for p.sink && p.open() && len(p.in) == 0 && len(data) > 0 {
		s := p.p.Sink()
		if len(s) == 0 {
			break
		}
		n := copy(s, data)
		data = data[n:]
		p.p.Sunk(p.w, n)
		if p.p.Sink() == nil {
			p.feed()
		}
	}
	p.in = append(p.in, data...)
	p.feed()
}

func (p *pipe) feed() {
	for p.open() {
		var used int
		used, p.last = p.p.Feed(p.w, p.in, &p.out)
		p.in = append([]byte(nil), p.in[used:]...)
		if p.last != Abort {
			p.got = append(p.got, flatten(&p.out)...)
		}
		p.out.Reset()
		switch p.last {
		case More:
			p.kept = max(p.kept, len(p.in))
			return
		case Yield:
			p.yields++
		}
	}
	p.in = nil
}

func flatten(o *bytesx.Out) []byte {
	var b []byte
	at := 0
	for _, r := range o.Refs {
		b = append(append(b, o.Buf[at:r.At]...), r.Data...)
		at = r.At
	}
	return append(b, o.Buf[at:]...)
}
