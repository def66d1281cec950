package mcbin

import "encoding/binary"

const (
	HeaderLen = 24

	MagicRequest  = 0x80
	MagicResponse = 0x81

	MaxKey  = 250     // bytes; the wire could carry 65535
	MaxBody = 1 << 30 // bytes; a request that announces more is refused unread
)

// Header of a packet. Status is the vbucket id in requests, where servers ignore it.
type Header struct {
	Magic    byte
	Op       Op
	ExtLen   uint8
	DataType byte
	KeyLen   uint16
	Status   Status
	BodyLen  uint32
	Opaque   uint32
	CAS      uint64
}

// ParseHeader reads the header at the start of b, which must hold HeaderLen bytes. Nothing is checked yet. A header is
// three words; taking it apart by shifts costs half of what a read per field does.
func ParseHeader(b []byte) Header {
	_ = b[HeaderLen-1]
	x, y, z := binary.BigEndian.Uint64(b), binary.BigEndian.Uint64(b[8:]), binary.BigEndian.Uint64(b[16:])
	return Header{
		Magic: byte(x >> 56), Op: Op(x >> 48), KeyLen: uint16(x >> 32), ExtLen: uint8(x >> 24), DataType: byte(x >> 16),
		Status: Status(x), BodyLen: uint32(y >> 32), Opaque: uint32(y), CAS: z,
	}
}

// Prefix is how many bytes of the body come before the value.
func (h *Header) Prefix() int { return int(h.ExtLen) + int(h.KeyLen) }

// ValueLen is how many bytes of the body are left for the value; negative if extras and key do not fit the body.
func (h *Header) ValueLen() int64 { return int64(h.BodyLen) - int64(h.ExtLen) - int64(h.KeyLen) }

// Len is the length of the whole packet.
func (h *Header) Len() int64 { return HeaderLen + int64(h.BodyLen) }

// AppendHeader appends h to dst.
func AppendHeader(dst []byte, h *Header) []byte {
	x := uint64(h.Magic)<<56 | uint64(h.Op)<<48 | uint64(h.KeyLen)<<32 | uint64(h.ExtLen)<<24 | uint64(h.DataType)<<16 | uint64(h.Status)
	dst = binary.BigEndian.AppendUint64(dst, x)
	dst = binary.BigEndian.AppendUint64(dst, uint64(h.BodyLen)<<32|uint64(h.Opaque))
	return binary.BigEndian.AppendUint64(dst, h.CAS)
}

// Packet is a whole packet; the slices point into the input of ParsePacket.
type Packet struct {
	Header
	Extras, Key, Value []byte
}

// ParsePacket reads one whole packet at the start of b and says how many bytes it has. n is 0 while b holds only a part
// of it. ok is false when the packet cannot be one: a wrong magic, lengths that contradict each other, or a body of more
// than limit bytes; then the stream cannot be followed any further.
func ParsePacket(b []byte, magic byte, limit int64) (p Packet, n int, ok bool) {
	if len(b) > 0 && b[0] != magic {
		return p, 0, false
	}
	if len(b) < HeaderLen {
		return p, 0, true
	}
	p.Header = ParseHeader(b)
	if p.ValueLen() < 0 || int64(p.BodyLen) > limit {
		return p, 0, false
	}
	if int64(len(b)) < p.Len() {
		return p, 0, true
	}
	n = int(p.Len())
	body := b[HeaderLen:n]
	p.Extras = body[:p.ExtLen]
	p.Key = body[p.ExtLen:p.Prefix()]
	p.Value = body[p.Prefix():]
	return p, n, true
}
