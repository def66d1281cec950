package keys

import (
	"bytes"
	"encoding/binary"

	"godwit/internal/bytesx"
)

// Verifier makes values whose content is a function of seed, key index and length, and tells them from all others. It
// never changes; all clients share it.
//
//	0        8             16
//	+--------+-------------+----------------------------------------------------+
//	| index  | check       | up to 64 KiB of random bytes from a place that     |...  and so on, each 64 KiB from
//	|        |             | index, length and number of the piece determine    |     a place of its own
//	+--------+-------------+----------------------------------------------------+
//
// index and check are little endian; check is a hash of seed, index and length, and different for different indices. A
// value of less than 16 bytes has no index and begins with check. So from 8 bytes on, values of different keys are
// different for certain; shorter ones are as good as random, but there are few of them.
type Verifier struct {
	seed  uint64
	block []byte // random; a piece begins in its first half
}

const (
	verifyHead  = 16
	verifyPiece = 64 << 10
)

// NewVerifier makes the values of a seed. All programs that share a server's data must use the same one.
func NewVerifier(seed uint64) *Verifier {
	v := &Verifier{seed: mix(seed + 0x9e3779b97f4a7c15), block: make([]byte, 2*verifyPiece)}
	fillRandom(v.block, seed, 1<<62)
	return v
}

// Fill makes dst the value of index.
func (v *Verifier) Fill(dst []byte, index uint64) {
	var head [verifyHead]byte
	check := v.head(&head, index, len(dst))
	n := copy(dst, head[:])
	for dst = dst[n:]; len(dst) > 0; {
		n = copy(dst, v.piece(check))
		dst, check = dst[n:], mix(check+1)
	}
}

// Check says whether value is what Fill makes of index and its length.
func (v *Verifier) Check(value []byte, index uint64) bool {
	var head [verifyHead]byte
	check := v.head(&head, index, len(value))
	n := min(verifyHead, len(value))
	if string(value[:n]) != string(head[:n]) {
		return false
	}
	for value = value[n:]; len(value) > 0; {
		n = min(verifyPiece, len(value))
		if !bytes.Equal(value[:n], v.piece(check)[:n]) {
			return false
		}
		value, check = value[n:], mix(check+1)
	}
	return true
}

// Owner finds the index that value was made for, for messages about values in the wrong place. false: it is too short to
// tell or was not made by this Verifier or is damaged.
func (v *Verifier) Owner(value []byte) (index uint64, ok bool) {
	if len(value) < verifyHead {
		return 0, false
	}
	index = binary.LittleEndian.Uint64(value)
	return index, v.Check(value, index)
}

// head makes the first 16 bytes and returns the check in them.
func (v *Verifier) head(h *[verifyHead]byte, index uint64, size int) (check uint64) {
	check = mix(mix(index^v.seed) + uint64(size))
	if size < verifyHead {
		put64(h[:], check)
		put64(h[8:], mix(check+1))
		return check
	}
	put64(h[:], index)
	put64(h[8:], check)
	return check
}

// piece is where the piece with this hash begins in the block.
func (v *Verifier) piece(hash uint64) []byte {
	at := hash >> 48 // of 2^16 places
	return v.block[at : at+verifyPiece]
}

func put64(b []byte, v uint64) { binary.LittleEndian.PutUint64(b, v) }

// AppendIntegrity appends the value that YCSB's dataintegrity=true gives a field: key and field name, then hashes
// (Java's String.hashCode) of all that stands before them, cut at size bytes. key and field are ASCII.
func AppendIntegrity(dst, key, field []byte, size int) []byte {
	start := len(dst)
	dst = append(append(append(dst, key...), ':'), field...)
	hash, hashed := int32(0), start
	for len(dst)-start < size {
		dst = append(dst, ':')
		for ; hashed < len(dst); hashed++ {
			hash = 31*hash + int32(dst[hashed])
		}
		dst = bytesx.AppendInt(dst, int64(hash))
	}
	return dst[:start+size]
}
