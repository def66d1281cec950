package route

import (
	"bytes"
	"fmt"
)

// Slots is how many slots the keys of a RESP cluster are spread over.
const Slots = 16384

// Slot of a key: the CRC16 of its Tag, modulo Slots.
func Slot(key []byte) int { return int(crc16(Tag(key)) % Slots) }

// Tag is the part of a key that its slot depends on: what is between its first { and the next }, if there is something,
// else all of it.
func Tag(key []byte) []byte {
	open := bytes.IndexByte(key, '{')
	if open < 0 {
		return key
	}
	n := bytes.IndexByte(key[open+1:], '}')
	if n <= 0 {
		return key
	}
	return key[open+1 : open+1+n]
}

// SameSlot refuses keys of one command that are in different slots: no node would take it.
func SameSlot(keys ...[]byte) error {
	for _, k := range keys {
		if a, b := Slot(keys[0]), Slot(k); a != b {
			return fmt.Errorf("keys %q and %q of one command are in different slots of the cluster, %d and %d (give both the same part in braces, as in {user7}name)",
				keys[0], k, a, b)
		}
	}
	return nil
}

// crcTable is of the CRC16 with polynomial x^16+x^12+x^5+1, most significant bit first, that begins with 0 (XMODEM).
var crcTable = func() (t [256]uint16) {
	for i := range t {
		c := uint16(i) << 8
		for range 8 {
			if c&0x8000 != 0 {
				c = c<<1 ^ 0x1021
			} else {
				c <<= 1
			}
		}
		t[i] = c
	}
	return t
}()

func crc16(b []byte) (c uint16) {
	for _, x := range b {
		c = c<<8 ^ crcTable[byte(c>>8)^x]
	}
	return c
}
