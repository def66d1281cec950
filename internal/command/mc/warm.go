package mc

import (
	"bytes"

	"godwit/internal/store"
)

// warmFrom is the size of input, bytes, from which it is taken for a pipeline of requests.
const warmFrom = 48

// warm looks through a pipeline of text requests for the keys of its next requests and has the store ask for their memory.
// It need not understand everything: a value that looks like a request costs one useless hint.
func (w *Worker) warm(in []byte) {
	var hashes [store.WarmBatch]uint64
	n := 0
	for n < len(hashes) && len(in) > 8 {
		end := bytes.IndexByte(in, '\n')
		if end < 0 {
			break
		}
		if key := warmKey(in[:end]); key != nil {
			hashes[n] = w.L.Hash(key)
			n++
		}
		in = in[end+1:]
	}
	if n > 1 {
		w.L.Warm(hashes[:n])
	}
}

// warmKey is the first key of a get, set, mg or ms line, or nil.
func warmKey(line []byte) []byte {
	if len(line) < 6 {
		return nil
	}
	switch {
	case string(line[:4]) == "get " || string(line[:4]) == "set ":
		line = line[4:]
	case string(line[:3]) == "mg " || string(line[:3]) == "ms ":
		line = line[3:]
	default:
		return nil
	}
	for i, c := range line {
		if c == ' ' || c == '\r' {
			return line[:i]
		}
	}
	return line
}
