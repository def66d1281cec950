package mc

import (
	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// Text is the state of one connection that speaks the text protocol, classic and meta. Between requests it is empty:
// what outlives a Feed are a large value on its way and the rest of a refused one.
type Text struct {
	// Auth are the users of -Y. Until one of them has shown a password, nothing else is understood. nil: no such thing.
	Auth *auth.Table
	// Conn is the connection, for verbs that answer for long.
	Conn Conn

	long long        // such a verb: input is its until it ends
	up   *textUpload // a value that arrives over several Feeds
	skip int         // bytes of a refused value that are still to come
	slow bool        // tests: without the quick ways
}

// textScratch is a Worker's memory for the request it is in.
type textScratch struct {
	req    mctext.Request
	meta   mctext.Meta
	val    value
	arith  ArithOp
	del    DeleteOp
	keyBuf [mctext.MaxKey]byte // a key that came base64-coded
	queued int                 // answers of this Feed, as queue counts them
}

// answerSize is what an answer on its way takes of read_buf_mem_limit, bytes: about the size of memcached's own record of
// one.
const answerSize = 256

// queue counts an answer that waits for the end of the Feed, one for each key of a retrieval. false: the loop's share of
// read_buf_mem_limit is used up.
func (w *Worker) queue() bool {
	w.text.queued++
	if w.Set.ReadBufMemLimit == 0 || int64(w.text.queued)*answerSize <= w.Set.ReadBufMemLimit/int64(max(1, w.Set.Threads)) {
		return true
	}
	w.St.C.ResponseObjOOM++
	return false
}

// Feed runs the complete requests of in, at most as many as a connection's share is.
func (t *Text) Feed(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	if t.long != nil {
		used, v = t.goOn(w, in, out)
	} else {
		used, v = t.feed(w, in, out)
	}
	w.L.Publish()
	w.St.Publish()
	return used, v
}

func (t *Text) feed(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	if len(in) > warmFrom && t.up == nil && t.skip == 0 {
		w.warm(in)
	}
	w.text.queued = 0
	for left := max(1, w.Set.ReqsPerEvent); ; left-- {
		used += t.body(w, in[used:], out)
		rest := in[used:]
		if len(rest) == 0 {
			return used, More
		}
		if left <= 0 {
			w.St.C.ConnYields++
			return used, Yield
		}
		n, v := t.request(w, rest, out)
		used += n
		if n == 0 || v != More {
			return used, v
		}
		if !w.queue() {
			return used, Abort
		}
	}
}

// body takes the bytes of in that belong to a value begun or refused earlier.
func (t *Text) body(w *Worker, in []byte, out *bytesx.Out) (used int) {
	if t.up != nil {
		used = t.upload(w, in, out)
	}
	if t.skip > 0 {
		n := min(t.skip, len(in)-used)
		t.skip -= n
		used += n
	}
	return used
}

// request runs the first request of in. used is 0 if it is not complete.
func (t *Text) request(w *Worker, in []byte, out *bytesx.Out) (used int, v Verdict) {
	if t.Auth != nil {
		return t.prologue(w, in, out)
	}
	line, n := mctext.Cut(in)
	if n == 0 {
		if len(in) > mctext.MaxLine && !mctext.Endless(in) {
			return 0, Abort
		}
		return 0, More
	}
	mark := out.Len()
	used, v = t.command(w, line, n, in, out)
	if out.Framed && out.Len() > mark {
		out.EndMessage()
	}
	return used, v
}

// command runs the request of a line that takes the first n bytes of in.
func (t *Text) command(w *Worker, line []byte, n int, in []byte, out *bytesx.Out) (used int, v Verdict) {
	if n < mctext.MinLine {
		reply(out, mctext.BadFormat)
		return n, More
	}
	if len(line) > mctext.MinLine && !t.slow {
		switch mctext.Word(line) {
		case mctext.WGet:
			return n, t.keys(w, retrieval{}, line, len("get "), out)
		case mctext.WSet:
			if s, ok := mctext.ParseSet(line); ok {
				return t.quickSet(w, &s, n, in, out), More
			}
		}
	}
	r := &w.text.req
	r.Parse(line)
	return t.run(w, r, n, in, out)
}

// run finds the row of the request and calls its handler.
func (t *Text) run(w *Worker, r *mctext.Request, n int, in []byte, out *bytesx.Out) (used int, v Verdict) {
	row := lookup(mctext.Verb(r.Line), r.Tok(0))
	if row == nil {
		return n, unknown(r, out)
	}
	if row.flagsAt > 0 && !r.FlagShaped(row.flagsAt) {
		reply(out, mctext.BadFormat)
		return n, More
	}
	if row.storage != nil {
		return row.storage(t, w, r, n, in, out), More
	}
	if r.Len() < row.least {
		reply(out, mctext.BadFormat)
		return n, More
	}
	if row.quiet && r.NoReply() {
		mark := out.Mark()
		v = row.run(t, w, r, out)
		out.Truncate(mark)
		return n, v
	}
	return n, row.run(t, w, r, out)
}

// unknown answers a verb that does not exist. A web browser is sent away.
func unknown(r *mctext.Request, out *bytesx.Out) Verdict {
	const http = "HTTP/"
	last := r.Last()
	if r.Len() > 1 && len(last) >= len(http) && string(last[:len(http)]) == http {
		return Abort
	}
	if !r.NoReply() {
		reply(out, mctext.Error)
	}
	return More
}

// Idle says that the next command is waited for.
func (t *Text) Idle() bool { return t.up == nil && t.skip == 0 && t.long == nil }

// Drop gives back what an unfinished request holds.
func (t *Text) Drop(w *Worker) {
	if t.long != nil {
		t.long.drop(w)
		t.long = nil
	}
	if t.up != nil {
		t.up.drop(w)
	}
	t.up, t.skip = nil, 0
}

// reply appends a fixed text.
func reply(out *bytesx.Out, text string) { out.Buf = append(out.Buf, text...) }

// replies are the classic answers to the outcome of an operation; each family has its own word for OK.
var replies = [...]string{
	NotStored:  mctext.NotStored,
	Exists:     mctext.Exists,
	NotFound:   mctext.NotFound,
	TooLarge:   mctext.TooLarge,
	NoMemory:   mctext.NoMemory,
	NonNumeric: mctext.NonNumeric,
}

// answer appends the classic reply to code; ok is the word for OK.
func answer(out *bytesx.Out, code Code, ok string) {
	if code != OK {
		ok = replies[code]
	}
	reply(out, ok)
}
