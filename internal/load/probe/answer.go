package probe

import (
	"bytes"
	"errors"
	"fmt"

	"godwit/internal/proto/mcbin"
	"godwit/internal/proto/mctext"
	"godwit/internal/proto/resp"
)

// Bounds of what is kept of an answer. What is beyond them is no counter.
const (
	mostFields = 8192
	longName   = 250
	longValue  = 1024
)

// answer reads counters. Its functions get all bytes that have come so far, again and again with more of them; they return
// the length of the answer when it is complete, else 0.
type answer struct {
	fields map[string]string
	at     int // bytes that are read
	scan   resp.Scanner
}

var (
	errLine   = errors.New("memcached text: a line does not end")
	errFields = errors.New("too many counters")
)

func (a *answer) put(name, value []byte) error {
	if len(name) == 0 || len(name) > longName || len(value) > longValue {
		return nil
	}
	if len(a.fields) == mostFields {
		return errFields
	}
	a.fields[string(name)] = string(value)
	return nil
}

// text reads the answer to memcached's stats.
func (a *answer) text(in []byte) (n int, err error) {
	for {
		rest := in[a.at:]
		line, n := mctext.Cut(rest)
		switch {
		case n == 0 && len(rest) > mctext.MaxAnswerLine, len(line) > mctext.MaxAnswerLine:
			return 0, errLine
		case n == 0:
			return 0, nil
		}
		a.at += n
		if string(line) == "END" {
			return a.at, nil
		}
		stat, ok := bytes.CutPrefix(line, []byte("STAT "))
		if !ok {
			return 0, refused(line)
		}
		name, value, _ := bytes.Cut(stat, []byte(" "))
		if err := a.put(name, value); err != nil {
			return 0, err
		}
	}
}

func refused(text []byte) error { return fmt.Errorf("the server answered %.200q", text) }

// binary reads the answer to memcached's STAT: a packet for each, and one without a name at the end.
func (a *answer) binary(in []byte) (n int, err error) {
	for {
		p, n, ok := mcbin.ParsePacket(in[a.at:], mcbin.MagicResponse, answerLimit)
		switch {
		case !ok:
			return 0, fmt.Errorf("memcached binary: %.24x begins no answer", in[a.at:])
		case n == 0:
			return 0, nil
		}
		a.at += n
		switch {
		case p.Status != mcbin.OK && len(p.Value) > 0:
			return 0, refused(p.Value)
		case p.Status != mcbin.OK:
			return 0, refused([]byte(p.Status.Text()))
		case p.Op != mcbin.Stat:
			return 0, fmt.Errorf("memcached binary: %s is no answer to STAT", p.Op)
		case len(p.Key) == 0:
			return a.at, nil
		}
		if err := a.put(p.Key, p.Value); err != nil {
			return 0, err
		}
	}
}

// info reads the answer to RESP's INFO.
func (a *answer) info(in []byte) (n int, err error) {
	if n, err = a.scan.Scan(in); n == 0 {
		return 0, err
	}
	var v resp.Value
	a.scan.Value(in[:n], &v)
	switch {
	case v.IsError():
		return n, refused(v.Text)
	case v.Type != resp.Bulk && v.Type != resp.Verbatim:
		return n, fmt.Errorf("resp: %.60q is no answer to INFO", in[:n])
	}
	for line := range bytes.Lines(v.Text) {
		name, value, ok := bytes.Cut(bytes.TrimRight(line, "\r\n"), []byte(":"))
		if !ok || len(name) == 0 || name[0] == '#' {
			continue
		}
		if err := a.put(name, value); err != nil {
			return n, err
		}
	}
	return n, nil
}
