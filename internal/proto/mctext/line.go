package mctext

import (
	"bytes"
	"encoding/binary"
)

// Limits of memcached's line reader and tokeniser.
const (
	MaxKey    = 250   // bytes of a key
	MaxTokens = 23    // tokens that are told apart; what follows is ignored
	MaxOffset = 65534 // nothing behind this byte of a line is a token
	MaxLine   = 2048  // bytes without a line end, except for get and gets (see Endless)
	MinLine   = 4     // shortest line with its end; shorter ones are malformed, whatever they say
)

// Cut finds the first line in b: its bytes without the line end, and how many bytes of b it takes. n is 0 if there is no
// line end yet.
func Cut(b []byte) (line []byte, n int) {
	i := bytes.IndexByte(b, '\n')
	if i < 0 {
		return nil, 0
	}
	n = i + 1
	if i > 0 && b[i-1] == '\r' {
		i--
	}
	return b[:i], n
}

// Endless says whether b, more than MaxLine bytes without a line end, may go on: a list of keys to get may.
func Endless(b []byte) bool {
	for i := 0; i < 100 && len(b) > 0 && b[0] == ' '; i++ {
		b = b[1:]
	}
	return bytes.HasPrefix(b, []byte("get ")) || bytes.HasPrefix(b, []byte("gets "))
}

// Verb is what stands before the first space of the line: empty if the line begins with one.
func Verb(line []byte) []byte {
	if i := bytes.IndexByte(line, ' '); i >= 0 {
		return line[:i]
	}
	return line
}

// Next cuts the token that begins at or after from. tok is empty when there is none; end is where to go on.
func Next(line []byte, from int) (tok []byte, end int) {
	for from < len(line) && line[from] == ' ' {
		from++
	}
	n := bytes.IndexByte(line[from:], ' ')
	if n < 0 {
		n = len(line) - from
	}
	return line[from : from+n], from + n
}

// Request is a line cut into tokens. Only the space separates: tabs and control characters are parts of tokens. The zero
// value is ready; it is meant to be used again for the next line.
type Request struct {
	Line []byte
	n    int
	tok  [MaxTokens]span
}

// span is a token's place in the line. Offsets instead of slices: the collector need not look at them.
type span struct{ from, to uint16 }

// Parse cuts line, which must stay unchanged while tokens of it are in use.
func (r *Request) Parse(line []byte) {
	r.Line, r.n = line, 0
	if len(line) > MaxOffset {
		line = line[:MaxOffset]
	}
	for i := 0; r.n < MaxTokens; {
		tok, end := Next(line, i)
		if len(tok) == 0 {
			return
		}
		r.tok[r.n] = span{uint16(end - len(tok)), uint16(end)}
		r.n++
		i = end
	}
}

// Len is the number of tokens, the verb included.
func (r *Request) Len() int { return r.n }

// Tok is token i, empty if there are fewer.
func (r *Request) Tok(i int) []byte {
	if i >= r.n {
		return nil
	}
	return r.Line[r.tok[i].from:r.tok[i].to]
}

// Last is the last token that was told apart.
func (r *Request) Last() []byte { return r.Tok(max(0, r.n-1)) }

// NoReply says whether the last token asks for silence.
func (r *Request) NoReply() bool { return string(r.Last()) == "noreply" }

// Rest is the line behind token i.
func (r *Request) Rest(i int) []byte {
	if i >= r.n {
		return nil
	}
	return r.Line[r.tok[i].to:]
}

// Word is the first four bytes of a line that has at least four, for comparison with the W constants: the quickest way
// to tell the most frequent verbs.
func Word(line []byte) uint32 { return binary.LittleEndian.Uint32(line) }

// First words.
const (
	WGet = 'g' | 'e'<<8 | 't'<<16 | ' '<<24
	WSet = 's' | 'e'<<8 | 't'<<16 | ' '<<24
)

// Set is a set command of the plainest form.
type Set struct {
	Key     []byte
	Flags   uint32
	Exptime int32
	Size    int
	NoReply bool
}

// ParseSet reads a line that begins with "set " if it has the form that clients send: single spaces, plain numbers,
// nothing else but noreply. It is the quick way; ok is false for everything unusual, which Request takes.
func ParseSet(line []byte) (s Set, ok bool) {
	i := 4
	n := bytes.IndexByte(line[i:], ' ')
	if n <= 0 || n > MaxKey {
		return s, false
	}
	s.Key = line[i : i+n]
	i += n + 1
	var v [3]uint32
	for f := range v {
		start := i
		for i < len(line) && line[i]-'0' <= 9 {
			v[f] = v[f]*10 + uint32(line[i]-'0')
			i++
		}
		if i == start || i-start > 9 {
			return s, false
		}
		if i == len(line) {
			if f < 2 {
				return s, false
			}
			break
		}
		if line[i] != ' ' {
			return s, false
		}
		i++
	}
	s.Flags, s.Exptime, s.Size = v[0], int32(v[1]), int(v[2])
	if i == len(line) {
		return s, line[i-1] != ' '
	}
	s.NoReply = string(line[i:]) == "noreply"
	return s, s.NoReply
}
