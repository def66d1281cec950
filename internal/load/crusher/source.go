package crusher

import (
	"sync/atomic"

	"godwit/internal/load"
	"godwit/internal/load/keys"
)

// quota is how many keys a group of connections may still send.
type quota struct{ left atomic.Int64 }

// take takes up to n.
func (q *quota) take(n int) int {
	left := q.left.Add(-int64(n))
	return max(0, min(n, int(left)+n))
}

// source is the load.Source of a connection.
type source struct {
	op      load.Op // what does not change
	indices keys.Indices
	names   keys.Names
	quota   *quota // nil: no end
	most    int    // keys per request
	buf     []byte
	list    [][]byte
}

// newSource makes that of connection number stream of a template.
func newSource(t *Template, rowNumber int, indices keys.Indices, q *quota, value []byte, seed, stream uint64) *source {
	s := &source{indices: indices, names: keys.Names{Prefix: t.KeyPrefix}, quota: q, most: 1}
	s.indices.Seed(seed, stream)
	s.op = load.Op{
		Kind: t.Send.kind, Quiet: t.Send.quiet, Row: uint8(rowNumber), Flags: t.Flags, Expiry: t.Expire, Delta: 1, Value: value,
	}
	if t.Send.name == "ascii_mg" {
		s.op.Words, s.op.Quiet = words(t.CmdPostfix)
	}
	if t.Send.kind == load.MGet {
		s.most = t.MgetCount
		s.list = make([][]byte, 0, s.most)
		s.buf = make([]byte, 0, s.most*longest(t))
	}
	return s
}

// words takes the flag q out of those of mg.
func words(postfix string) (w []byte, quiet bool) {
	w = []byte{}
	for i := 0; i < len(postfix); {
		end := i
		for end < len(postfix) && postfix[end] != ' ' {
			end++
		}
		if postfix[i] == 'q' {
			quiet = true
		} else {
			if len(w) > 0 {
				w = append(w, ' ')
			}
			w = append(w, postfix[i:end]...)
		}
		i = end + 1
	}
	return w, quiet
}

// Next implements load.Source.
func (s *source) Next(op *load.Op) bool {
	n := s.most
	if s.quota != nil {
		if n = s.quota.take(n); n == 0 {
			return false
		}
	}
	// field by field: the drive has filled others
	op.Kind, op.Quiet, op.Row, op.Flags, op.Expiry, op.Delta = s.op.Kind, s.op.Quiet, s.op.Row, s.op.Flags, s.op.Expiry, s.op.Delta
	op.Value, op.Words = s.op.Value, s.op.Words
	if op.Kind != load.MGet {
		s.buf = s.names.Append(s.buf[:0], s.indices.Next())
		op.Key = s.buf
		return true
	}
	s.buf, s.list = s.buf[:0], s.list[:0]
	for range n {
		from := len(s.buf)
		s.buf = s.names.Append(s.buf, s.indices.Next())
		s.list = append(s.list, s.buf[from:len(s.buf):len(s.buf)])
	}
	op.Keys = s.list
	return true
}
