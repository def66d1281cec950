package mc

import (
	"encoding/binary"

	"godwit/internal/bytesx"
	"godwit/internal/proto/mcbin"
)

// binModes are the storage commands behind the opcodes.
var binModes = [256]Mode{
	mcbin.Set: Set, mcbin.Add: Add, mcbin.Replace: Replace, mcbin.Append: Append, mcbin.Prepend: Prepend,
}

// binStore is SET, ADD, REPLACE, APPEND and PREPEND.
func binStore(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	if !q.whole && q.ValueLen() <= binWaitFor {
		return binWait
	}
	op := q.storeOp(w)
	if w.Detail() {
		w.CountSet(q.key)
	}
	if !q.whole {
		return b.begin(w, q, &op, out)
	}
	s := w.Put(&op, q.value)
	return q.stored(out, s)
}

// storeOp reads the storage command out of a packet; its key is the packet's.
func (q *binRequest) storeOp(w *Worker) StoreOp {
	op := StoreOp{
		Key:  q.key,
		Mode: binModes[q.info.Op],
		// A server without CAS ids ignores those of storage commands.
		Check:   q.CAS != 0 && w.Set.CAS,
		CAS:     q.CAS,
		DropOld: q.info.Op == mcbin.Set,
	}
	if op.Mode < Append {
		op.Flags = binary.BigEndian.Uint32(q.extras)
		op.Expiry = w.binExpiry(q.extras[4:])
		if op.Check {
			op.Mode = Set // with an id all three are compare-and-swap
		}
	}
	return op
}

// stored answers a storage command.
func (q *binRequest) stored(out *bytesx.Out, s Stored) binNext {
	switch s.Code {
	case OK:
		return q.done(out, s.CAS)
	case Exists:
		return q.fail(out, mcbin.Exists)
	case NotFound:
		return q.fail(out, mcbin.NotFound)
	case TooLarge:
		return q.fail(out, mcbin.TooLarge)
	case NoMemory:
		return q.noMemory(out, mcbin.TextNoMemoryItem)
	}
	switch q.info.Op {
	case mcbin.Add:
		return q.fail(out, mcbin.Exists)
	case mcbin.Replace:
		return q.fail(out, mcbin.NotFound)
	}
	return q.fail(out, mcbin.NotStored)
}

// binDelete is DELETE.
func binDelete(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	op := DeleteOp{Key: q.key, Check: q.CAS != 0, CAS: q.CAS}
	if w.Detail() {
		w.CountDelete(q.key)
	}
	switch w.Delete(&op).Code {
	case OK:
		return q.done(out, 0)
	case Exists:
		// Delete has counted a miss, as it is with md. Here it is nothing.
		w.St.C.DeleteMisses--
		return q.fail(out, mcbin.Exists)
	}
	return q.fail(out, mcbin.NotFound)
}

// binArith is INCR and DECR.
func binArith(b *Bin, w *Worker, q *binRequest, out *bytesx.Out) binNext {
	exptime := binary.BigEndian.Uint32(q.extras[16:])
	op := ArithOp{
		Key:     q.key,
		Decr:    q.info.Op == mcbin.Decr,
		Delta:   binary.BigEndian.Uint64(q.extras),
		Check:   q.CAS != 0,
		CAS:     q.CAS,
		Vivify:  exptime != mcbin.NoCreate,
		Initial: binary.BigEndian.Uint64(q.extras[8:]),
	}
	if op.Vivify {
		op.VivifyExpiry = w.Expiry(int64(exptime))
	}
	switch r := w.Arith(&op); r.Code {
	case OK:
		if !q.info.Quiet {
			out.Buf = q.reply.AppendNumber(out.Buf, r.Value, r.CAS)
			out.EndMessage()
		}
		return binDone
	case Exists:
		return q.fail(out, mcbin.Exists)
	case NonNumeric:
		return q.fail(out, mcbin.NonNumeric)
	case NoMemory:
		return q.noMemory(out, mcbin.TextNoMemoryDelta)
	}
	return q.fail(out, mcbin.NotFound)
}
