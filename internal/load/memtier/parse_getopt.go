package memtier

import (
	"strings"

	"godwit/internal/nearest"
)

// getopt walks a command line by the rules of getopt_long of the GNU C library: bundled short options, long names that
// may be shortened, arguments attached or following, words that are no options skipped wherever they stand.
type getopt struct {
	args   []string
	bundle string   // rest of a bundle of short options
	words  []string // what is no option
}

// next returns the next option with its argument, and how it was written. A nil row without problem: there are no more.
func (g *getopt) next() (r *row, arg, written string, bad *problem) {
	for g.bundle == "" {
		if len(g.args) == 0 {
			return nil, "", "", nil
		}
		word := g.args[0]
		g.args = g.args[1:]
		switch {
		case word == "--":
			g.words = append(g.words, g.args...)
			g.args = nil
		case strings.HasPrefix(word, "--"):
			return g.long(word[2:])
		case len(word) > 1 && word[0] == '-':
			g.bundle = word[1:]
		default:
			g.words = append(g.words, word)
		}
	}
	return g.short()
}

func (g *getopt) short() (*row, string, string, *problem) {
	c := g.bundle[0]
	g.bundle = g.bundle[1:]
	written := "-" + string([]byte{c})
	r := byShort[c]
	if r == nil {
		return nil, "", "", usage("%s: there is no such option; see --help", quoteBytes(written))
	}
	if r.Meta == "" {
		return r, "", written, nil
	}
	arg := g.bundle
	g.bundle = ""
	if arg == "" {
		if len(g.args) == 0 {
			return nil, "", "", missing(written, r)
		}
		arg, g.args = g.args[0], g.args[1:]
	}
	return r, arg, written, nil
}

func (g *getopt) long(word string) (*row, string, string, *problem) {
	name, arg, attached := strings.Cut(word, "=")
	r, bad := find(name)
	if bad != nil {
		return nil, "", "", bad
	}
	written := "--" + r.Long
	switch {
	case r.Meta == "" && attached:
		return nil, "", "", usage("%s=%s: takes no value; leave it out", written, arg)
	case r.Meta != "" && !attached:
		if len(g.args) == 0 {
			return nil, "", "", missing(written, r)
		}
		arg, g.args = g.args[0], g.args[1:]
	}
	return r, arg, written, nil
}

// find the option with a long name that may be shortened. The options of memtier_benchmark have their short forms whether
// or not one of ours begins alike.
func find(name string) (*row, *problem) {
	if r := byLong[name]; r != nil {
		return r, nil
	}
	if name == "" {
		return nil, usage("--=: there is no such option; see --help")
	}
	for _, own := range []bool{false, true} {
		var like []*row
		for i := range table {
			if r := &table[i]; r.Own == own && strings.HasPrefix(r.Long, name) {
				like = append(like, r)
			}
		}
		switch len(like) {
		case 0:
		case 1:
			return like[0], nil
		default:
			names := make([]string, len(like))
			for i, r := range like {
				names[i] = "--" + r.Long
			}
			return nil, usage("--%s: may be %s; write more of it", name, strings.Join(names, ", "))
		}
	}
	if near := nearest.Name(name, longNames()); near != "" {
		return nil, usage("--%s: there is no such option; did you mean --%s?", name, near)
	}
	return nil, usage("--%s: there is no such option; see --help", name)
}

func missing(written string, r *row) *problem {
	return usage("%s: needs a value (%s); give one, such as %s", written, r.Meta, r.example(written))
}

// example is the option with a value, for error texts.
func (r *row) example(written string) string {
	value := r.sample()
	if strings.Contains(value, " ") {
		value = "'" + value + "'"
	}
	if strings.HasPrefix(written, "--") {
		return written + "=" + value
	}
	return written + " " + value
}

// sample is a value that is right.
func (r *row) sample() string {
	if r.Example != "" {
		return r.Example
	}
	return r.Default
}

func longNames() (names []string) {
	for i := range table {
		names = append(names, table[i].Long)
	}
	return names
}
