package codec

import (
	"bytes"
	"fmt"

	"godwit/internal/load"
	"godwit/internal/proto/resp"
)

// Resp is RESP, version 2 or 3. There are no quiet requests: those that are marked so are answered like all others.
type Resp struct {
	version int
	ranged  bool // GETRANGE was used: an empty string is how it says that there is no such key
	scan    resp.Scanner
}

// NewResp makes a codec of version 2 or 3. It sends no HELLO: that is a Greeting.
func NewResp(version int) *Resp {
	if version != 2 && version != 3 {
		panic("codec: RESP has versions 2 and 3")
	}
	return &Resp{version: version}
}

// Supports implements load.Codec.
func (c *Resp) Supports(k load.Kind) bool { return k < load.Kinds }

// Append implements load.Codec. A Get with Offset is GETRANGE to the end, a Set with it SETRANGE, which knows no Expiry. A
// Touch without Expiry is PERSIST.
func (c *Resp) Append(b []byte, op *load.Op) []byte {
	switch op.Kind {
	case load.Get:
		if op.Offset > 0 {
			c.ranged = true
			return resp.AppendGetRange(b, op.Key, op.Offset, -1)
		}
		return resp.AppendGet(b, op.Key)
	case load.MGet:
		return resp.AppendMGet(b, op.Keys)
	case load.Set:
		switch {
		case op.Offset > 0:
			return resp.AppendSetRange(b, op.Key, op.Offset, op.Value)
		case op.Expiry > 0:
			return resp.AppendSetEx(b, op.Key, op.Expiry, op.Value)
		}
		return resp.AppendSet(b, op.Key, op.Value)
	case load.Touch:
		if op.Expiry == 0 {
			return resp.AppendPersist(b, op.Key)
		}
		return resp.AppendExpire(b, op.Key, op.Expiry)
	case load.Incr:
		return resp.AppendIncrBy(b, op.Key, op.Delta)
	case load.Decr:
		return resp.AppendDecrBy(b, op.Key, op.Delta)
	case load.Delete:
		return resp.AppendDel(b, op.Key)
	case load.Command:
		return resp.AppendArgs(b, op.Args)
	}
	panic("codec: Resp cannot say this kind of request")
}

// Flush implements load.Codec.
func (c *Resp) Flush(b []byte) []byte { return b }

// Reset implements load.Codec.
func (c *Resp) Reset() { c.scan.Reset() }

// Reply implements load.Codec. Value of a Command is its text, or all bytes of the answer if that is an aggregate:
// resp.Parse takes it from there.
func (c *Resp) Reply(in []byte, want load.Want, r *load.Reply) (n int, err error) {
	*r = load.Reply{}
	if len(in) == 0 {
		return 0, nil
	}
	var v resp.Value
	switch in[0] {
	case '$', '+', ':', '-':
		n, err = resp.Head(in, &v)
	default:
		if n, err = c.scan.Scan(in); n > 0 {
			c.scan.Value(in[:n], &v)
		}
	}
	if n == 0 {
		return 0, err
	}
	if v.Type != resp.Bulk && v.Type != resp.Null && !v.Type.In(c.version) {
		return 0, fmt.Errorf("resp: %q is no type of version 2", byte(v.Type))
	}
	if v.IsError() {
		fail(&v, r)
		return n, nil
	}
	if !c.accept(want, &v, r) {
		return 0, fmt.Errorf("resp: %.60q is no answer to this request", in[:n])
	}
	return n, nil
}

func fail(v *resp.Value, r *load.Reply) {
	r.Status, r.Text = load.Failed, v.Text
	switch {
	case bytes.HasPrefix(v.Text, []byte("MOVED ")):
		r.Status = load.Moved
	case bytes.HasPrefix(v.Text, []byte("ASK ")):
		r.Status = load.Ask
	}
}

// accept takes an answer that is no error. false: it does not belong to the request.
func (c *Resp) accept(want load.Want, v *resp.Value, r *load.Reply) bool {
	switch want.Kind {
	case load.Get:
		switch {
		case v.Type == resp.Null, c.ranged && v.Type == resp.Bulk && len(v.Text) == 0:
			r.Misses = 1
		case v.Type == resp.Bulk, v.Type == resp.Verbatim:
			r.Hits, r.Value = 1, v.Text
		default:
			return false
		}
	case load.MGet:
		if v.Type != resp.Array {
			return false
		}
		var e resp.Value
		for it := v.Elements(); it.Next(&e); {
			switch {
			case e.Type == resp.Null:
				r.Misses++
			case e.IsError():
				fail(&e, r)
			default:
				r.Hits++
				r.Value = e.Text
			}
		}
	case load.Set:
		switch v.Type {
		case resp.Null:
			r.Status = load.NotStored
		case resp.Simple, resp.Integer:
		default:
			return false
		}
	case load.Touch, load.Delete:
		if v.Type != resp.Integer {
			return false
		}
		if v.N == 0 {
			r.Status = load.NotStored
		}
	case load.Incr, load.Decr:
		return v.Type == resp.Integer
	case load.Command:
		r.Value = v.Text
		if v.IsAggregate() {
			r.Value = v.Raw
		}
	}
	return true
}
