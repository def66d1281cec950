package mcbin

import "encoding/binary"

// Reply is what a response takes over from its request: the opcode as it was asked (quiet ones too) and the opaque.
type Reply struct {
	Op     Op
	Opaque uint32
}

// AppendStart appends the header of a response whose body (extras, key, value) the caller appends or lends next.
func (r Reply) AppendStart(dst []byte, s Status, extLen, keyLen, valueLen int, cas uint64) []byte {
	return AppendHeader(dst, &Header{
		Magic: MagicResponse, Op: r.Op, ExtLen: uint8(extLen), KeyLen: uint16(keyLen), Status: s,
		BodyLen: uint32(extLen + keyLen + valueLen), Opaque: r.Opaque, CAS: cas,
	})
}

// AppendEmpty appends a response of a header only.
func (r Reply) AppendEmpty(dst []byte, cas uint64) []byte {
	return r.AppendStart(dst, OK, 0, 0, 0, cas)
}

// AppendText appends a response whose value is text, as errors and VERSION have it.
func (r Reply) AppendText(dst []byte, s Status, text string) []byte {
	return append(r.AppendStart(dst, s, 0, 0, len(text), 0), text...)
}

// AppendError appends an error response with the text that belongs to its status.
func (r Reply) AppendError(dst []byte, s Status) []byte { return r.AppendText(dst, s, s.Text()) }

// AppendHit appends header, flags and key of a hit; valueLen bytes of value follow. key is nil where the op returns none.
func (r Reply) AppendHit(dst []byte, flags uint32, key []byte, valueLen int, cas uint64) []byte {
	dst = r.AppendStart(dst, OK, 4, len(key), valueLen, cas)
	dst = binary.BigEndian.AppendUint32(dst, flags)
	return append(dst, key...)
}

// AppendNumber appends the answer of INCR and DECR.
func (r Reply) AppendNumber(dst []byte, n, cas uint64) []byte {
	return binary.BigEndian.AppendUint64(r.AppendStart(dst, OK, 0, 0, 8, cas), n)
}

// AppendStat appends one packet of the answer of STAT; the last one has neither name nor value. Statistics come as
// strings from their producers.
func (r Reply) AppendStat(dst []byte, name, value string) []byte {
	dst = r.AppendStart(dst, OK, 0, len(name), len(value), 0)
	return append(append(dst, name...), value...)
}

// AppendRequest appends a request. The lengths are those of the slices.
func AppendRequest(dst []byte, op Op, extras, key, value []byte, opaque uint32, cas uint64) []byte {
	dst = AppendHeader(dst, &Header{
		Magic: MagicRequest, Op: op, ExtLen: uint8(len(extras)), KeyLen: uint16(len(key)),
		BodyLen: uint32(len(extras) + len(key) + len(value)), Opaque: opaque, CAS: cas,
	})
	return append(append(append(dst, extras...), key...), value...)
}

// AppendGet appends a request of an op that takes a key only: GET, GETK, DELETE, STAT and their quiet twins.
func AppendGet(dst []byte, op Op, key []byte, opaque uint32) []byte {
	return AppendRequest(dst, op, nil, key, nil, opaque, 0)
}

// AppendStore appends SET, ADD, REPLACE or a quiet twin.
func AppendStore(dst []byte, op Op, key, value []byte, flags, exptime uint32, opaque uint32, cas uint64) []byte {
	dst = AppendHeader(dst, &Header{
		Magic: MagicRequest, Op: op, ExtLen: 8, KeyLen: uint16(len(key)),
		BodyLen: uint32(8 + len(key) + len(value)), Opaque: opaque, CAS: cas,
	})
	dst = binary.BigEndian.AppendUint32(dst, flags)
	dst = binary.BigEndian.AppendUint32(dst, exptime)
	return append(append(dst, key...), value...)
}

// AppendTouch appends TOUCH, GAT, GATK or a quiet twin.
func AppendTouch(dst []byte, op Op, key []byte, exptime uint32, opaque uint32) []byte {
	dst = AppendHeader(dst, &Header{
		Magic: MagicRequest, Op: op, ExtLen: 4, KeyLen: uint16(len(key)), BodyLen: uint32(4 + len(key)), Opaque: opaque,
	})
	return append(binary.BigEndian.AppendUint32(dst, exptime), key...)
}

// AppendDelta appends INCR, DECR or a quiet twin. An exptime of NoCreate leaves a missing key missing.
func AppendDelta(dst []byte, op Op, key []byte, delta, initial uint64, exptime uint32, opaque uint32, cas uint64) []byte {
	dst = AppendHeader(dst, &Header{
		Magic: MagicRequest, Op: op, ExtLen: 20, KeyLen: uint16(len(key)), BodyLen: uint32(20 + len(key)), Opaque: opaque, CAS: cas,
	})
	dst = binary.BigEndian.AppendUint64(dst, delta)
	dst = binary.BigEndian.AppendUint64(dst, initial)
	return append(binary.BigEndian.AppendUint32(dst, exptime), key...)
}

// NoCreate as the exptime of INCR and DECR: do not make the key if it is missing.
const NoCreate = 0xffffffff
