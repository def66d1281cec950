package config

import (
	"fmt"
	"math"
	"strings"
)

// Row is one setting of the command line: everything that parsing, -h, the man page and the notices know about it.
type Row struct {
	Short    byte   // option letter; 0: only a long name, or a word of -o
	Long     string // long name, or the word of -o; "" if there is only a letter
	Arg      Arg
	Meta     string // what the argument is, for the man page
	Default  string // for the man page
	Bounds   string // for the man page
	Missing  string // words of -o: what is said when the value is missing
	Help     string // the lines of -h, with verbs for what show returns
	show     func(m *Memcached) []any
	Doc      string // the text of the man page
	NoEffect string // why the setting changes nothing here; it is accepted, and said at start
	Quiet    bool   // the setting changes nothing in memcached either, or nothing anyone could miss: no notice
	set      setter
}

// Arg says whether an option takes an argument.
type Arg uint8

const (
	None Arg = iota
	Required
	Optional
)

// Exit ends the program before it began: help, version or an error.
type Exit struct {
	Code           int
	Stdout, Stderr string
}

// Exit codes beside 0 and 1, as in sysexits.h.
const (
	ExitUsage  = 64
	ExitNoUser = 67
	ExitOS     = 71
)

func bad(code int, format string, a ...any) *Exit {
	return &Exit{Code: code, Stderr: fmt.Sprintf(format, a...) + "\n"}
}

// setter takes the argument of an option.
type setter func(p *parser, arg string) *Exit

type field[T any] func(m *Memcached) *T

func nothing(*parser, string) *Exit { return nil }

func to[T any](f field[T], v T) setter {
	return func(p *parser, _ string) *Exit { *f(p.m) = v; return nil }
}

func text(f field[string]) setter {
	return func(p *parser, arg string) *Exit { *f(p.m) = arg; return nil }
}

// number reads like atoi. low and high are the errors below and above the bounds, with or without a verb for the number.
func number(f field[int], lo, hi int, low, high string) setter {
	return func(p *parser, arg string) *Exit {
		v := atoi(arg)
		*f(p.m) = v
		switch {
		case v < lo:
			return outside(low, v)
		case v > hi:
			return outside(high, v)
		}
		return nil
	}
}

func outside(msg string, v int) *Exit {
	if strings.Contains(msg, "%d") {
		return bad(1, msg, v)
	}
	return &Exit{Code: 1, Stderr: msg + "\n"}
}

// any32 is a number without bounds.
func any32(f field[int]) setter { return number(f, math.MinInt32, math.MaxInt32, "", "") }

// strict is an unsigned number that must be one; it is stored times unit.
func strict[T int | int64 | uint32](f field[T], unit T, msg string) setter {
	return func(p *parser, arg string) *Exit {
		v, ok := u32(arg)
		if !ok {
			return outside(msg, 0)
		}
		*f(p.m) = T(v) * unit
		return nil
	}
}

// signed is a strict number with a sign; bounds as in number.
func signed(f field[int], lo, hi int, msg, outsideMsg string) setter {
	return func(p *parser, arg string) *Exit {
		v, ok := i32(arg)
		if !ok {
			return outside(msg, 0)
		}
		if v < lo || v > hi {
			return outside(outsideMsg, 0)
		}
		*f(p.m) = v
		return nil
	}
}

// ratio reads like atof; the value must be > lo and <= hi.
func ratio(f field[float64], lo, hi float64, msg string) setter {
	return func(p *parser, arg string) *Exit {
		v := atof(arg)
		if !(v > lo && v <= hi) {
			return outside(msg, 0)
		}
		*f(p.m) = v
		return nil
	}
}
