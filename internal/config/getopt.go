package config

import (
	"fmt"
	"strings"
)

// longOrder is the order in which shortened long names are looked up and listed when they fit several options.
const longOrder = "aAZpsUmMckhiVrvdluPfntLRCbBISFXWYeoN"

// getopt walks a command line by the rules of getopt_long of the GNU C library: bundled short options, long names that
// may be shortened, arguments attached or following, words that are not options skipped wherever they stand.
type getopt struct {
	prog   string
	args   []string
	bundle string // rest of a bundle of short options
	msg    string // why next returned nil
}

// next returns the next option with its argument. A nil row with done false is an error, told in g.msg.
func (g *getopt) next() (row *Row, arg string, done bool) {
	for g.bundle == "" {
		if len(g.args) == 0 {
			return nil, "", true
		}
		word := g.args[0]
		g.args = g.args[1:]
		switch {
		case word == "--":
			return nil, "", true
		case strings.HasPrefix(word, "--"):
			row, arg = g.long(word[2:])
			return row, arg, false
		case len(word) > 1 && word[0] == '-':
			g.bundle = word[1:]
		}
	}
	row, arg = g.short()
	return row, arg, false
}

func (g *getopt) short() (*Row, string) {
	c := g.bundle[0]
	g.bundle = g.bundle[1:]
	row := byShort[c]
	if row == nil {
		return g.fail("invalid option -- '%s'", string([]byte{c}))
	}
	if row.Arg != Required {
		return row, ""
	}
	arg := g.bundle
	g.bundle = ""
	if arg == "" {
		if len(g.args) == 0 {
			return g.fail("option requires an argument -- '%s'", string([]byte{c}))
		}
		arg, g.args = g.args[0], g.args[1:]
	}
	return row, arg
}

func (g *getopt) long(word string) (*Row, string) {
	name, arg, attached := strings.Cut(word, "=")
	row := byLong[name]
	if row == nil {
		var like []*Row
		for i := range len(longOrder) {
			if r := byShort[longOrder[i]]; strings.HasPrefix(r.Long, name) {
				like = append(like, r)
			}
		}
		switch len(like) {
		case 0:
			return g.fail("unrecognized option '--%s'", word)
		case 1:
			row = like[0]
		default:
			list := ""
			for _, r := range like {
				list += " '--" + r.Long + "'"
			}
			return g.fail("option '--%s' is ambiguous; possibilities:%s", word, list)
		}
	}
	switch {
	case row.Arg == None && attached:
		return g.fail("option '--%s' doesn't allow an argument", row.Long)
	case row.Arg == Required && !attached:
		if len(g.args) == 0 {
			return g.fail("option '--%s' requires an argument", row.Long)
		}
		arg, g.args = g.args[0], g.args[1:]
	}
	return row, arg
}

func (g *getopt) fail(format string, a ...any) (*Row, string) {
	g.msg = g.prog + ": " + fmt.Sprintf(format, a...) + "\n"
	return nil, ""
}
