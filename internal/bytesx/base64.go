package bytesx

import "encoding/base64"

// AppendBase64 appends src in base64.
func AppendBase64(dst, src []byte) []byte { return base64.StdEncoding.AppendEncode(dst, src) }

const notBase64 = 0xff

// base64Value gives the six bits of a character. The padding sign counts as 0.
var base64Value = func() (t [256]byte) {
	const alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/"
	for i := range t {
		t[i] = notBase64
	}
	for i := range len(alphabet) {
		t[alphabet[i]] = byte(i)
	}
	t['='] = 0
	return t
}()

// DecodeBase64 appends what src stands for. It is as lenient as memcached's: a padding sign may stand anywhere in the
// last group of four, bits left over are ignored, and so is everything behind the first group with padding.
func DecodeBase64(dst, src []byte) (out []byte, ok bool) {
	if len(src) == 0 || len(src)%4 != 0 {
		return dst, false
	}
	for _, c := range src {
		if base64Value[c] == notBase64 {
			return dst, false
		}
	}
	for ; len(src) > 0; src = src[4:] {
		var bits uint32
		pads := 0
		for _, c := range src[:4] {
			if c == '=' {
				pads++
			}
			bits = bits<<6 | uint32(base64Value[c])
		}
		if pads > 2 {
			return dst, false
		}
		group := [3]byte{byte(bits >> 16), byte(bits >> 8), byte(bits)}
		dst = append(dst, group[:3-pads]...)
		if pads > 0 {
			break
		}
	}
	return dst, true
}
