package mc

import (
	"godwit/internal/bytesx"
	"godwit/internal/proto/mctext"
)

// cmdTouch is touch <key> <exptime> [noreply].
func cmdTouch(_ *Text, w *Worker, r *mctext.Request, out *bytesx.Out) Verdict {
	key := r.Tok(1)
	if len(key) > mctext.MaxKey {
		reply(out, mctext.BadFormat)
		return More
	}
	exptime, ok := mctext.I32(r.Tok(2))
	if !ok {
		reply(out, mctext.BadExptime)
		return More
	}
	answer(out, w.Touch(key, w.Expiry(int64(exptime))), mctext.Touched)
	return More
}
