package memtier

import (
	"fmt"
	"strings"
)

// examples for --help and the man page. The tests parse them.
var examples = []struct{ text, args string }{
	{"a memcached on this machine for 30 seconds, 4 threads of 50 connections", "-p 11211 -P memcache_text --test-time=30"},
	{"fill it first, each key once, so that gets hit", "-p 11211 -P memcache_text --key-maximum=1000000 --key-pattern=P:P --ratio=1:0 --requests=allkeys"},
	{"then read what is there", "-p 11211 -P memcache_text --key-maximum=1000000 --key-minimum=1 --ratio=0:1 --test-time=30 --fail-on-miss-rate=1"},
	{"latency at a rate instead of at the limit", "-p 11211 -P memcache_text --rate=50000 --arrival=poisson --test-time=60 --warmup=5"},
	{"the limit with little work for this side", "-p 11211 -P memcache_binary --pipeline=32 --blind --test-time=30"},
	{"commands of Redis, three reads for a write", "--command='SET __key__ __data__ EX 60' --command='GET __key__' --command-ratio=3"},
	{"a Redis behind TLS, results as JSON", "--uri=rediss://user:password@cache.example.com:6380/0 --json-out-file=results.json"},
}

// helpWidth is the length of lines, helpColumn where the texts begin.
const (
	helpWidth  = 100
	helpColumn = 30
)

// Help is the text of --help.
func Help(prog string) string {
	var b strings.Builder
	fmt.Fprintf(&b, "usage: %s [option ...]\n\n", prog)
	b.WriteString(fill("", "Loads a memcached or Redis server with sets and gets, and says how many it answered and how long "+
		"that took. Options and outputs are those of memtier_benchmark "+Version+". Long names may be shortened. Options marked * "+
		"are new here.", 0, helpWidth))
	for g := range groups {
		fmt.Fprintf(&b, "\n%s\n%s", titles[g].name, fill("  ", titles[g].text, 2, helpWidth))
		for i := range table {
			if r := &table[i]; r.Group == g {
				b.WriteString(r.help())
			}
		}
	}
	b.WriteString("\nExamples\n")
	for _, e := range examples {
		fmt.Fprintf(&b, "  # %s\n  %s %s\n", e.text, prog, e.args)
	}
	b.WriteString("\nExit status\n" + fill("  ", exitText, 2, helpWidth))
	return b.String()
}

const exitText = "0: the load ran and all was answered. 1: it could not run, nothing was answered, there were errors, or more was " +
	"missed than --fail-on-miss-rate allows. 2: the command line is wrong."

func (r *row) help() string {
	mark := " "
	if r.Own {
		mark = "*"
	}
	name := "    "
	if r.Short != 0 {
		name = "-" + string(rune(r.Short)) + ", "
	}
	name = mark + " " + name + "--" + r.Long
	if r.Meta != "" {
		name += "=" + r.Meta
	}
	if len(name) > helpColumn-2 {
		return name + "\n" + fill(strings.Repeat(" ", helpColumn), r.Help+r.facts(), helpColumn, helpWidth)
	}
	return fill(name+strings.Repeat(" ", helpColumn-len(name)), r.Help+r.facts(), helpColumn, helpWidth)
}

// facts are bounds and default.
func (r *row) facts() string {
	s := ""
	if b := r.bounds(); b != "" {
		s += " Values: " + b + "."
	}
	if r.Default != "" {
		s += " Default: " + r.Default + "."
	}
	return s
}

// fill breaks text into lines, the first behind head and the others indented.
func fill(head, text string, indent, width int) string {
	var b strings.Builder
	b.WriteString(head)
	column := len(head)
	for i, w := range strings.Fields(text) {
		n := len([]rune(w))
		switch {
		case i == 0:
		case column+1+n > width:
			b.WriteString("\n" + strings.Repeat(" ", indent))
			column = indent
		default:
			b.WriteByte(' ')
			column++
		}
		b.WriteString(w)
		column += n
	}
	b.WriteByte('\n')
	return b.String()
}

// Man is the options as a part of the man page, in roff: a subsection for each group.
func Man() string {
	var b strings.Builder
	for g := range groups {
		b.WriteString(".SS " + roff(titles[g].name) + "\n" + roff(titles[g].text) + "\n")
		for i := range table {
			r := &table[i]
			if r.Group != g {
				continue
			}
			b.WriteString(".TP\n" + r.man() + "\n" + roff(r.Help+r.facts()))
			if r.Own {
				b.WriteString(" Not in memtier_benchmark.")
			}
			b.WriteByte('\n')
		}
	}
	return b.String()
}

func (r *row) man() string {
	meta := ""
	if r.Meta != "" {
		meta = "\\fI" + roff(r.Meta) + "\\fR"
	}
	s := ""
	if r.Short != 0 {
		s = "\\fB\\-" + string(rune(r.Short)) + "\\fR"
		if meta != "" {
			s += " " + meta
		}
		s += ", "
	}
	s += "\\fB\\-\\-" + roff(r.Long) + "\\fR"
	if meta != "" {
		s += "=" + meta
	}
	return s
}

// roff escapes text for a place within a line.
func roff(s string) string {
	return strings.NewReplacer("\\", "\\e", "-", "\\-", "'", "\\(aq", "…", "to").Replace(s)
}
