package mc

import (
	"godwit/internal/proto/mcbin"
	"godwit/internal/store"
)

// binWarm looks through a pipeline of packets for the keys of its next requests and has the store ask for their memory.
// Lengths that do not fit end it: whoever handles the packet will say so.
func (w *Worker) binWarm(in []byte) {
	if len(in) < mcbin.HeaderLen {
		return
	}
	if h := mcbin.ParseHeader(in); h.Len() >= int64(len(in)) {
		return // one packet, or a part of it
	}
	var hashes [store.WarmBatch]uint64
	n := 0
	for n < len(hashes) && len(in) >= mcbin.HeaderLen && in[0] == mcbin.MagicRequest {
		h := mcbin.ParseHeader(in)
		end := mcbin.HeaderLen + h.Prefix()
		if h.ValueLen() < 0 || end > len(in) {
			break
		}
		if h.KeyLen > 0 && h.KeyLen <= mcbin.MaxKey {
			hashes[n] = w.L.Hash(in[end-int(h.KeyLen) : end])
			n++
		}
		in = in[min(h.Len(), int64(len(in))):]
	}
	if n > 1 {
		w.L.Warm(hashes[:n])
	}
}
