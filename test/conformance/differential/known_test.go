//go:build unix

package differential

import (
	"bytes"
	"encoding/binary"
	"regexp"
	"slices"
	"strings"
)

// A difference is one that is wanted. Either the generator avoids what shows it, or the replies of both servers are made the
// same where they differ for this reason.
type difference struct {
	reason string
	only   func(version string) bool // nil: all
	avoid  func(o op) bool
	same   func(s stream, replies []string) []string
}

// known are all differences that are wanted; everything else fails the tests.
var known = []difference{
	{
		reason: "memcached unlinks what flush_all finds in the current second, and counts get_flushed only for older items",
		same:   without("get_flushed"),
	},
	{
		reason: "memcached's background threads may free an expired item before it is looked for",
		same:   without("get_expired"),
	},
	{
		reason: "memcached copies a number that an answer still holds, so that it is not padded and counts as a new item",
		avoid:  func(o op) bool { return !o.Sync && counts(o) },
		same:   func(s stream, replies []string) []string { return unpadded(without("total_items")(s, replies)) },
	},
	{
		reason: "memcached counts an upload in cmd_set when it begins, this server when it is complete",
		same:   without("cmd_set"),
	},
	{
		reason: "memcached forgets to count store_too_large in the binary protocol",
		same: func(s stream, replies []string) []string {
			if !slices.ContainsFunc(s.Ops, func(o op) bool { return o.Bin }) {
				return replies
			}
			return without("store_too_large")(s, replies)
		},
	},
	{
		reason: "a too long key in a retrieval makes memcached drop the answers to earlier commands that it still has",
		avoid: func(o op) bool {
			return !o.Bin && !o.Sync && (longKey.Match(o.Pre) || retrieval.Match(o.Pre) && !bytes.HasSuffix(o.Pre, []byte("\n")))
		},
	},
	{
		reason: "memcached counts mg in cmd_get before it finds the opaque token too long",
		avoid:  func(o op) bool { return !o.Bin && longOpaque.Match(o.Pre) },
	},
	{
		reason: "memcached skips what is no base64 in a key, and of two errors it reports the later one",
		avoid: func(o op) bool {
			m := base64Key.FindSubmatch(o.Pre)
			return !o.Bin && m != nil && (len(m[1])%4 != 0 || !goodBase64.Match(m[1]))
		},
	},
	{
		reason: "memcached gives the CAS id that ma brings (E) to the old item when the number grew into a new one",
		avoid:  func(o op) bool { return !o.Bin && arithCAS.Match(o.Pre) },
	},
	{
		reason: "flush_all 1 of memcached works at once, and on what is stored until the second is over",
		avoid:  func(o op) bool { return !o.Bin && flushSoon.Match(o.Pre) },
	},
	{
		reason: "strtol of memcached skips vertical tabs and their like before a number, and spaces after those",
		avoid:  func(o op) bool { return !o.Bin && odd.Match(o.Pre) },
	},
	{
		reason: "after an unknown binary opcode memcached skips the body twice",
		avoid: func(o op) bool {
			return o.Bin && len(o.Pre) >= 24 && o.Pre[0] == 0x80 && bodyLen(o) > 0 && !slices.Contains(opcodes, o.Pre[1])
		},
	},
	{
		reason: "memcached takes what follows the key of a binary retrieval for the next packet",
		avoid: func(o op) bool {
			return o.Bin && len(o.Pre) >= 24 && o.Pre[0] == 0x80 && slices.Contains([]byte{0x1c, 0x1d, 0x1e, 0x23, 0x24}, o.Pre[1]) &&
				bodyLen(o) > int(o.Pre[4])+int(binary.BigEndian.Uint16(o.Pre[2:]))
		},
	},
}

var (
	retrieval  = regexp.MustCompile(`^(get|gets|gat|gats) `)
	longKey    = regexp.MustCompile(`^(get|gets|gat|gats) (.* )?[^ \n]{251}`)
	arith      = regexp.MustCompile(`^(incr|decr|ma) `)
	arithCAS   = regexp.MustCompile(`^ma [^\n]* E`)
	flushSoon  = regexp.MustCompile(`flush_all +[1-9]\D`)
	longOpaque = regexp.MustCompile(`^mg [^\n]* O[^ \r\n]{31}`)
	base64Key  = regexp.MustCompile(`^m[gsda] +([^ \n]+) [^\n]*\bb`)
	goodBase64 = regexp.MustCompile(`^[A-Za-z0-9+/]*=?=?$`)
	odd        = regexp.MustCompile(`^[^\n]* [\t\v\f\r]+[^\n]`)
	opcodes    = []byte{
		0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 0x0a, 0x0b, 0x0c, 0x0d, 0x0e, 0x0f, 0x10, 0x11, 0x12, 0x13, 0x14, 0x15, 0x16, 0x17, 0x18, 0x19, 0x1a,
		0x1c, 0x1d, 0x1e, 0x23, 0x24,
	}
)

// counts tells whether an op is incr or decr in any form.
func counts(o op) bool {
	if o.Bin {
		return len(o.Pre) > 1 && slices.Contains([]byte{5, 6, 0x15, 0x16}, o.Pre[1])
	}
	return arith.Match(o.Pre)
}

var (
	number     = regexp.MustCompile(`^  "[0-9]+( *)\\r\\n"$`)
	sized      = regexp.MustCompile(`^"(VALUE [^ ]+ \d+|VA) \d+`)
	numberLast = regexp.MustCompile(`( value "[0-9]+) *"$`)
)

// unpadded replies have no spaces behind numbers, nor the sizes of such values.
func unpadded(replies []string) (out []string) {
	for _, l := range replies {
		if m := number.FindStringSubmatch(l); m != nil && len(out) > 0 {
			out[len(out)-1] = sized.ReplaceAllString(out[len(out)-1], `"$1 …`)
			l = strings.Replace(l, m[1]+`\r`, `\r`, 1)
		}
		out = append(out, numberLast.ReplaceAllString(l, `$1"`))
	}
	return out
}

func bodyLen(o op) int { return int(binary.BigEndian.Uint32(o.Pre[8:])) }

func avoided(o op) bool {
	return slices.ContainsFunc(known, func(d difference) bool { return d.avoid != nil && d.avoid(o) })
}

// without leaves out the statistics of these names.
func without(names ...string) func(stream, []string) []string {
	return func(_ stream, replies []string) (out []string) {
		for _, l := range replies {
			if f := strings.Fields(l); len(f) != 3 || f[0] != "STAT" || !slices.Contains(names, f[1]) {
				out = append(out, l)
			}
		}
		return out
	}
}
