package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// cmdDelete is delete <key> [noreply]; words in between are remains of older protocols and ignored.
func cmdDelete(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	key := r.Tok(1)
	if len(key) > mctext.MaxKey {
		reply(out, mctext.BadFormat)
		return More
	}
	if w.Detail() {
		w.CountDelete(key)
	}
	op := &w.text.del
	*op = DeleteOp{Key: key}
	answer(out, w.Delete(op).Code, mctext.Deleted)
	return More
}
