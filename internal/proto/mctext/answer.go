package mctext

import (
	"bytes"
	"errors"
	"fmt"
)

// The client's half: answers. Every function here returns the length of an answer at the start of in, and 0 while in does
// not hold all of it; the head of a value tells its length, so that waiting for a large one costs nothing. An error says
// that in begins with no answer of memcached: nothing behind it can be understood.

// MaxAnswerLine is how long a line of an answer may be: a key of 250 bytes and a set of return flags fit many times.
const MaxAnswerLine = 4096

// Answer is what a line says.
type Answer uint8

const (
	Problem      Answer = iota + 1 // ERROR, CLIENT_ERROR or SERVER_ERROR: the whole line is the text
	WasStored                      //
	WasNotStored                   //
	WasExists                      //
	WasNotFound                    //
	WasTouched                     //
	WasDeleted                     //
	WasOK                          //
	WasNumber                      // of incr and decr

	// Meta. NF, NS and EX are the same as above.
	WasDone  // HD
	WasValue // VA
	WasMiss  // EN
	WasNop   // MN
	WasDebug // ME
)

var (
	errLong  = errors.New("memcached text: a line of an answer does not end")
	errValue = errors.New("memcached text: a value is longer or shorter than announced")
)

func errLine(line []byte) error {
	return fmt.Errorf("memcached text: %.60q is no answer to the request", line)
}

// blank is the length of an empty line at the start of in: memcached 1.6.45 puts one behind the error that answers a get
// with a key too long.
func blank(in []byte) (n int) {
	if len(in) >= 2 && in[0] == '\r' && in[1] == '\n' {
		return 2
	}
	return 0
}

// cutAnswer is Cut for answers: in must not be longer than MaxAnswerLine without a line end.
func cutAnswer(in []byte) (line []byte, n int, err error) {
	if len(in) > MaxAnswerLine {
		in = in[:MaxAnswerLine]
	}
	line, n = Cut(in)
	if n == 0 && len(in) == MaxAnswerLine {
		return nil, 0, errLong
	}
	return line, n, nil
}

// isProblem says whether line is an error of memcached.
func isProblem(line []byte) bool {
	return bytes.HasPrefix(line, []byte("SERVER_ERROR")) || bytes.HasPrefix(line, []byte("CLIENT_ERROR")) ||
		bytes.HasPrefix(line, []byte("ERROR"))
}

// ScanLine reads an answer of one line. text is the line without its end.
func ScanLine(in []byte) (a Answer, text []byte, n int, err error) {
	if len(in) >= 8 && string(in[:8]) == Stored {
		return WasStored, in[:6], 8, nil
	}
	skip := blank(in)
	line, n, err := cutAnswer(in[skip:])
	if n == 0 {
		return 0, nil, 0, err
	}
	n += skip
	switch string(line) {
	case "STORED":
		return WasStored, line, n, nil
	case "NOT_STORED":
		return WasNotStored, line, n, nil
	case "EXISTS":
		return WasExists, line, n, nil
	case "NOT_FOUND":
		return WasNotFound, line, n, nil
	case "TOUCHED":
		return WasTouched, line, n, nil
	case "DELETED":
		return WasDeleted, line, n, nil
	case "OK":
		return WasOK, line, n, nil
	}
	if _, ok := U64(bytes.TrimRight(line, " ")); ok {
		return WasNumber, line, n, nil
	}
	if isProblem(line) {
		return Problem, line, n, nil
	}
	return 0, nil, 0, errLine(line)
}

// Values reads the answer to a retrieval: values and END. The zero value is ready; it remembers how far it came in an
// answer that is not complete, so that one of many values is not read from its start again and again.
type Values struct {
	// What a complete answer said. The slices point into the input.
	Hits    int
	Value   []byte // of the last hit
	Problem []byte // the error line that came in the place of a value or END, without its end

	at       int // bytes of the answer that are read
	from, to int // where the last value lies
}

// Reset forgets an incomplete answer.
func (v *Values) Reset() { *v = Values{} }

// Scan reads the answer at the start of in, which must begin where it did when the last Scan returned 0.
func (v *Values) Scan(in []byte) (n int, err error) {
	if v.at == 0 {
		v.Hits, v.from, v.to, v.Value, v.Problem = 0, 0, 0, nil, nil
		v.at = blank(in)
	}
	for {
		rest := in[v.at:]
		if len(rest) >= 5 && string(rest[:5]) == End {
			return v.done(in, 5), nil
		}
		line, n, err := cutAnswer(rest)
		if n == 0 {
			return 0, err
		}
		size, ok := valueSize(line)
		if !ok {
			switch {
			case string(line) == "END":
			case isProblem(line):
				v.Problem = line
			default:
				return 0, errLine(line)
			}
			return v.done(in, n), nil
		}
		if n+size+2 > len(rest) {
			return 0, nil
		}
		if rest[n+size] != '\r' || rest[n+size+1] != '\n' {
			return 0, errValue
		}
		v.from, v.to = v.at+n, v.at+n+size
		v.at += n + size + 2
		v.Hits++
	}
}

func (v *Values) done(in []byte, last int) (n int) {
	if v.Hits > 0 {
		v.Value = in[v.from:v.to]
	}
	n = v.at + last
	v.at = 0
	return n
}

// valueSize reads "VALUE key flags size" and perhaps a CAS id.
func valueSize(line []byte) (size int, ok bool) {
	const word = "VALUE "
	if len(line) < len(word) || string(line[:len(word)]) != word {
		return 0, false
	}
	i := bytes.IndexByte(line[len(word):], ' ')
	if i <= 0 {
		return 0, false
	}
	i += len(word) + 1
	start := i
	for i < len(line) && line[i]-'0' <= 9 {
		i++
	}
	if i == start || i == len(line) || line[i] != ' ' {
		return 0, false
	}
	i++
	start = i
	for i < len(line) && line[i]-'0' <= 9 {
		size = size*10 + int(line[i]-'0')
		i++
	}
	if i == start || i-start > 10 || size > maxBytes {
		return 0, false
	}
	return size, i == len(line) || line[i] == ' '
}

// MetaAnswer is an answer to a meta command. The slices point into the input.
type MetaAnswer struct {
	Answer Answer
	Flags  []byte // return flags, separated by single spaces
	Value  []byte // of VA
	Line   []byte // the whole line without its end: the text of a Problem
}

// ScanMeta reads an answer to mg, ms, md, ma, me or mn.
func ScanMeta(in []byte, a *MetaAnswer) (n int, err error) {
	*a = MetaAnswer{}
	skip := blank(in)
	line, n, err := cutAnswer(in[skip:])
	if n == 0 {
		return 0, err
	}
	n += skip
	a.Line = line
	if len(line) < 2 {
		return 0, errLine(line)
	}
	rest := line[2:]
	if len(rest) > 0 && rest[0] != ' ' {
		if !isProblem(line) {
			return 0, errLine(line)
		}
		a.Answer = Problem
		return n, nil
	}
	for len(rest) > 0 && rest[0] == ' ' {
		rest = rest[1:]
	}
	a.Flags = rest
	switch string(line[:2]) {
	case "HD", "OK": // OK: before 1.6.0
		a.Answer = WasDone
	case "VA":
		a.Answer = WasValue
		size := 0
		i := 0
		for i < len(rest) && rest[i]-'0' <= 9 {
			size = size*10 + int(rest[i]-'0')
			i++
		}
		if i == 0 || i > 10 || size > maxBytes || i < len(rest) && rest[i] != ' ' {
			return 0, errLine(line)
		}
		if n+size+2 > len(in) {
			return 0, nil
		}
		if in[n+size] != '\r' || in[n+size+1] != '\n' {
			return 0, errValue
		}
		a.Value = in[n : n+size]
		n += size + 2
		if a.Flags = rest[i:]; len(a.Flags) > 0 {
			a.Flags = a.Flags[1:]
		}
	case "EN":
		a.Answer = WasMiss
	case "NF":
		a.Answer = WasNotFound
	case "NS":
		a.Answer = WasNotStored
	case "EX":
		a.Answer = WasExists
	case "MN":
		a.Answer = WasNop
	case "ME":
		a.Answer = WasDebug
	default:
		return 0, errLine(line)
	}
	return n, nil
}

// Flag finds the return flag c: what stands behind its letter.
func (a *MetaAnswer) Flag(c byte) (arg []byte, ok bool) {
	for i := 0; ; {
		tok, end := Next(a.Flags, i)
		if len(tok) == 0 {
			return nil, false
		}
		if tok[0] == c {
			return tok[1:], true
		}
		i = end
	}
}
