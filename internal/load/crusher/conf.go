package crusher

import (
	"fmt"
	"strings"
)

// Template is a line of a conf file: connections that all do the same. The fields are named as its keys.
type Template struct {
	File string // where it comes from
	Line int
	Text string

	Send          *send
	Parse         bool // recv=parse, or no recv: answers are read, else discarded
	Conns         int
	Thread        int // loops of its own, each with Conns connections; 0: the shared ones
	Pipelines     int
	Usleep        uint64 // µs between writes of a connection; 0: as answers come
	StopAfter     uint64 // keys per thread; 0: never
	KeyPrefix     string
	KeyCount      uint64
	LiveRand      bool
	LiveRandZipf  bool
	ZipfSkew      float64
	MgetCount     int
	ValueSize     int
	Value         []byte // nil: ValueSize zero bytes
	Expire, Flags uint32
	CmdPostfix    string
	Host          string // "": that of the command line
	Port          int    // 0: likewise

	given map[string]string // keys that the line has
}

// defaults are mc-crusher's.
func defaults() *Template {
	return &Template{
		Parse: true, Conns: 1, Pipelines: 1, KeyPrefix: "foo", KeyCount: 200_000, ZipfSkew: 0.25, MgetCount: 2,
		given: map[string]string{},
	}
}

// groups is the number of sets of connections that have a cursor and a stop counter of their own.
func (t *Template) groups() int { return max(1, t.Thread) }

// connections of all groups.
func (t *Template) connections() int { return t.groups() * t.Conns }

// Problem is what is wrong with a line.
type Problem struct {
	File       string
	Line       int
	Key, Value string // "": the line as a whole
	Cause      string
	Mend       string
	// Idle problems change nothing in what mc-crusher does: the key has no effect there, or one that differs from what it
	// says. With --lenient they are warnings.
	Idle bool
}

func (p *Problem) Error() string {
	what := ""
	switch {
	case p.Key != "" && p.Value == "":
		what = p.Key + ": "
	case p.Key != "":
		what = fmt.Sprintf("%s=%s: ", p.Key, p.Value)
	}
	return fmt.Sprintf("%s:%d: %s%s (%s)", p.File, p.Line, what, p.Cause, p.Mend)
}

// Conf is what conf files and --template options say.
type Conf struct {
	Templates []*Template
	Problems  []*Problem // the load cannot run
	Warnings  []*Problem // Idle problems, if lenient
}

// mostTemplates is how many rows a result may have.
const mostTemplates = 255

// Read reads a conf file of the given name. All problems are found, not only the first. lenient: as for Problem.Idle.
func (c *Conf) Read(file, text string, lenient bool) {
	for n := 1; text != ""; n++ {
		line, rest, _ := strings.Cut(text, "\n")
		text = rest
		if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
			c.line(file, n, line, lenient)
		}
	}
}

// line reads one template.
func (c *Conf) line(file string, n int, text string, lenient bool) {
	t := defaults()
	t.File, t.Line, t.Text = file, n, text
	bad := false
	report := func(p Problem) {
		p.File, p.Line = file, n
		if p.Idle && lenient {
			c.Warnings = append(c.Warnings, &p)
			return
		}
		bad = true
		c.Problems = append(c.Problems, &p)
	}
	for _, pair := range strings.Split(text, ",") {
		key, value, ok := strings.Cut(pair, "=")
		key = strings.TrimSpace(key)
		if !ok {
			report(Problem{Key: pair, Cause: "no key=value", Mend: "pairs are separated by commas; a value cannot have one"})
			continue
		}
		if old, twice := t.given[key]; twice {
			report(Problem{Key: key, Value: value, Cause: fmt.Sprintf("the line says %s=%s before", key, old), Mend: "say it once"})
			continue
		}
		t.given[key] = value
		r := lookup(key)
		if r == nil {
			report(Problem{Key: key, Value: value, Cause: "no such key", Mend: suggest(key), Idle: true})
			continue
		}
		if r.dead != "" {
			report(Problem{Key: key, Value: value, Cause: "mc-crusher knows the key and does nothing about it", Mend: r.dead, Idle: true})
			continue
		}
		if p := r.set(t, value); p != nil {
			p.Key, p.Value = key, value
			report(*p)
		}
	}
	if p := t.check(); p != nil {
		report(*p)
	}
	if !bad {
		for _, p := range t.idle() {
			report(*p)
		}
	}
	if bad {
		return
	}
	if c.Templates = append(c.Templates, t); len(c.Templates) == mostTemplates+1 {
		report(Problem{Cause: fmt.Sprintf("more than %d templates", mostTemplates), Mend: "run several, or merge lines that are alike: conns=N"})
	}
}

// check finds what does not go together.
func (t *Template) check() *Problem {
	if _, given := t.given["send"]; !given {
		return &Problem{Key: "send", Cause: "not given", Mend: "one of " + sendNames()}
	}
	if n := longest(t); n > keyMost {
		return &Problem{
			Key: "key_prefix", Value: t.KeyPrefix, Cause: fmt.Sprintf("keys of up to %d bytes, memcached takes %d", n, keyMost),
			Mend: "shorten it, or make key_count smaller",
		}
	}
	return nil
}

// idle finds keys that have no effect together with the others. What they say is undone.
func (t *Template) idle() (list []*Problem) {
	say := func(key, cause, mend string) {
		list = append(list, &Problem{Key: key, Value: t.given[key], Cause: cause, Mend: mend, Idle: true})
	}
	for i := range table {
		r := &table[i]
		if _, given := t.given[r.name]; given && r.of != nil && !r.of(t.Send) {
			say(r.name, "no effect with send="+t.Send.name, "leave it out, or send="+sendsOf(r))
		}
	}
	has := func(key string) bool { _, ok := t.given[key]; return ok }
	if t.LiveRand && t.LiveRandZipf {
		say("live_rand", "the line says live_rand_zipf, too", "choose one")
		t.LiveRand = false
	}
	if has("zipf_skew") && !t.LiveRandZipf {
		say("zipf_skew", "no effect without live_rand_zipf", "add live_rand_zipf=1")
	}
	if v := t.given["live_rand"]; v == "0" {
		say("live_rand", "mc-crusher takes any value for yes", "leave it out for keys in order, or say live_rand=1")
	}
	if v := t.given["live_rand_zipf"]; v == "0" {
		say("live_rand_zipf", "mc-crusher takes any value for yes", "leave it out for keys in order, or say live_rand_zipf=1")
	}
	if t.Send.stores && t.Value != nil && has("value_size") && t.ValueSize != len(t.Value) {
		say("value_size", fmt.Sprintf("value=%s is %d bytes long and wins", t.Value, len(t.Value)), "leave one of the two out")
	}
	return list
}
