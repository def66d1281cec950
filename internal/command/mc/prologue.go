package mc

import (
	"bytes"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// prologue is all that a connection understands under -Y until it has shown a password: a line that looks like a set,
// whose value is user and password. Nothing is stored.
func (t *Text) prologue(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	const (
		shortest = 6           // bytes before the line end; who sends less is no client of ours
		longest  = 16 << 10    // bytes of user and password
		ignored  = len("\r\n") // so little is not looked at
	)
	if len(in) <= ignored {
		return 0, More
	}
	end := bytes.IndexByte(in, '\n')
	switch {
	case end < 0 && len(in) > mctext.MaxLine, end >= 0 && end < shortest:
		return 0, Abort
	case end < 0:
		return 0, More
	}
	line, n := mctext.Cut(in)
	r := &w.text.req
	r.Parse(line)
	size, ok := mctext.Size(r.Tok(4))
	switch {
	case !bytes.HasPrefix(line, []byte("set")) || !ok:
		reply(out, mctext.Unauthenticated)
		return n, More
	case size > longest:
		reply(out, mctext.AuthTooLong)
		return n, More
	}
	total := n + size + len("\r\n")
	if len(in) < total {
		return 0, More
	}
	reply(out, t.login(w, in[n:total]))
	return total, More
}

// login checks "user password\r\n" and returns the answer.
func (t *Text) login(w *Worker, token []byte) string {
	token, ok := bytes.CutSuffix(token, []byte("\r\n"))
	if !ok {
		return mctext.AuthEnd
	}
	user, pass, ok := bytes.Cut(token, []byte(" "))
	if !ok {
		return mctext.AuthToken
	}
	w.St.C.AuthCmds++
	if !t.Auth.Check(user, pass) {
		w.St.C.AuthErrors++
		return mctext.AuthFailed
	}
	t.Auth = nil
	return mctext.Stored
}
