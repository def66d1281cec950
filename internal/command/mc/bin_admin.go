package mc

import (
	"bytes"
	"encoding/binary"

	"godwit/internal/auth"
	"godwit/internal/bytesx"
	"godwit/internal/config"
	"godwit/internal/proto/mcbin"
)

// binQuit ends the connection, QUIT with an answer and QUITQ without.
func binQuit(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	q.done(out, 0)
	return binClose
}

// binNoop has nothing to do: all answers so far leave together with its own.
func binNoop(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext { return q.done(out, 0) }

func binVersion(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	out.Buf = q.reply.AppendText(out.Buf, mcbin.OK, config.MemcachedVersion)
	out.EndMessage()
	return binDone
}

// binFlush empties the cache, now or when the delay is over. -F makes it an authentication error.
func binFlush(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	if !w.Set.FlushEnabled {
		return q.fail(out, mcbin.AuthError)
	}
	var delay uint32
	if len(q.extras) != 0 {
		delay = binary.BigEndian.Uint32(q.extras)
	}
	w.St.C.CmdFlush++
	w.FlushAll(int64(delay))
	return q.done(out, 0)
}

// binGroups are the statistics that the binary protocol has; "" is the general one. Those marked prefix are compared, like
// memcached's, over their own length only: anything may follow them.
var binGroups = []struct {
	name   string
	prefix bool
}{
	{name: ""},
	{name: "reset", prefix: true},
	{name: "settings", prefix: true},
	{name: "detail dump", prefix: true},
	{name: "detail on", prefix: true},
	{name: "detail off", prefix: true},
	{name: "items"},
	{name: "slabs"},
	{name: "sizes"},
}

// binStat answers with one packet per statistic and an empty one at the end.
func binStat(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	for _, g := range binGroups {
		if string(q.key) != g.name && !(g.prefix && bytes.HasPrefix(q.key, []byte(g.name))) {
			continue
		}
		emit := func(name, value string) {
			out.Buf = q.reply.AppendStat(out.Buf, name, value)
			out.EndMessage()
		}
		if !w.Stats(g.name, emit) {
			break
		}
		emit("", "")
		return binDone
	}
	return q.fail(out, mcbin.NotFound)
}

// binOpen says which ops a server with authentication answers to everybody.
func binOpen(op mcbin.Op) bool {
	return op == mcbin.Version || op >= mcbin.SASLList && op <= mcbin.SASLStep
}

func binSASLList(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	out.Buf = q.reply.AppendText(out.Buf, mcbin.OK, auth.Mechanisms)
	out.EndMessage()
	return binDone
}

// binSASLAuth is SASL_AUTH and SASL_STEP. Nothing of the message is kept after it is answered.
func binSASLAuth(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	switch {
	case len(q.key) > auth.MaxMechanism:
		return q.fail(out, mcbin.Invalid)
	case q.ValueLen() > auth.MaxMessage:
		return q.noMemory(out, mcbin.TextNoMemoryItem)
	case !q.whole:
		return binWait
	}
	exchange := b.sasl.Start
	if q.info.Op == mcbin.SASLStep {
		exchange = b.sasl.Step
	}
	b.SASL.Refresh()
	switch exchange(b.SASL, q.key, q.value) {
	case auth.Continued:
		out.Buf = q.reply.AppendText(out.Buf, mcbin.AuthContinue, "")
	case auth.Succeeded:
		w.St.C.AuthCmds++
		out.Buf = q.reply.AppendText(out.Buf, mcbin.OK, mcbin.TextAuthenticated)
	default:
		w.St.C.AuthCmds++
		w.St.C.AuthErrors++
		return q.fail(out, mcbin.AuthError)
	}
	out.EndMessage()
	return binDone
}
