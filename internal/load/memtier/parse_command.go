package memtier

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
)

// Command is one --command.
type Command struct {
	Text    string // as it was given
	Verb    string // first word in capitals; "" with Monitor
	Args    []Arg  // words, verb included; none with Monitor
	Ratio   uint64 // times in a row
	Pattern Pattern
	Monitor int // number of a command of --monitor-input, from 1; AnyMonitor; 0: none
}

// AnyMonitor stands for the commands of --monitor-input one after the other.
const AnyMonitor = -1

// Keys is the number of words with a key; each such word has a key of its own.
func (c *Command) Keys() (n int) {
	for i := range c.Args {
		if c.Args[i].Key() {
			n++
		}
	}
	return n
}

// Arg is a word of a command. With a key it is the parts with the key between them (the same if there are more than
// two); else it has one part, or is a value.
type Arg struct {
	Parts [][]byte // not with Data
	Data  bool     // a value
}

// Key says whether the word has a key in it.
func (a *Arg) Key() bool { return len(a.Parts) > 1 }

// Append appends the word.
func (a *Arg) Append(dst, key, value []byte) []byte {
	if a.Data {
		return append(dst, value...)
	}
	for i, part := range a.Parts {
		if i > 0 {
			dst = append(dst, key...)
		}
		dst = append(dst, part...)
	}
	return dst
}

// Placeholders in commands.
const (
	keyWord     = "__key__"
	dataWord    = "__data__"
	monitorWord = "__monitor_line"
)

// maxCommands is how many rows a result can have.
const maxCommands = 255

func setCommand(o *Options, _ *row, arg string) error {
	c, err := parseCommand(arg)
	if err != nil {
		return err
	}
	if len(o.Commands) == maxCommands {
		return fmt.Errorf("is one too many; give at most %d", maxCommands)
	}
	o.Commands = append(o.Commands, *c)
	return nil
}

// parseCommand reads a command without what checkCommands looks at.
func parseCommand(text string) (*Command, error) {
	c := &Command{Text: text, Ratio: 1, Pattern: 'R'}
	words, err := split(nil, []byte(text))
	switch {
	case err != nil:
		return nil, err
	case len(words) == 0 || len(words[0]) == 0:
		return nil, errors.New("has no word; give a command such as 'GET __key__'")
	case strings.HasPrefix(string(words[0]), monitorWord):
		return c, nil
	case bytes.Contains(words[0], []byte(keyWord)) || bytes.Contains(words[0], []byte(dataWord)):
		return nil, fmt.Errorf("begins with %s where the name of the command should be; give one such as 'GET __key__'", words[0])
	}
	c.Verb = strings.ToUpper(string(words[0]))
	for _, w := range words {
		if string(w) == dataWord {
			c.Args = append(c.Args, Arg{Data: true})
			continue
		}
		c.Args = append(c.Args, Arg{Parts: bytes.Split(w, []byte(keyWord))})
	}
	return c, nil
}

func lastCommand(o *Options) (*Command, error) {
	if len(o.Commands) == 0 {
		return nil, errors.New("stands before any --command; put it after the one that it is for")
	}
	return &o.Commands[len(o.Commands)-1], nil
}

func setCommandRatio(o *Options, r *row, arg string) error {
	c, err := lastCommand(o)
	if err != nil {
		return err
	}
	v, err := whole(arg, r.Lo, r.Hi)
	c.Ratio = uint64(v)
	return err
}

func setCommandPattern(o *Options, r *row, arg string) error {
	c, err := lastCommand(o)
	if err != nil {
		return err
	}
	if len(arg) != 1 || !isPattern(arg[0]) {
		return fmt.Errorf("of command %s is no pattern; use one of %s", c.Verb, r.Bounds)
	}
	c.Pattern = Pattern(arg[0])
	return nil
}

// checkCommands looks at the commands together.
func checkCommands(o *Options) *problem {
	parts, others := "", ""
	for i := range o.Commands {
		c := &o.Commands[i]
		at := "--command=" + quoteBytes(c.Text)
		if strings.Contains(c.Text, monitorWord) {
			if bad := c.parseMonitor(o, at); bad != nil {
				return bad
			}
			continue
		}
		for j := range c.Args {
			for _, part := range c.Args[j].Parts {
				if bytes.Contains(part, []byte(dataWord)) {
					return setup("%s: __data__ is a part of a word, and values are words of their own; put spaces around it", at)
				}
			}
		}
		n := c.Keys()
		switch {
		case n == 0:
		case c.Pattern == 'P':
			parts = at
		default:
			others = at
		}
		if n > 1 && o.Cluster {
			return usage("%s: has %d keys, which may be on different shards of the cluster; use __key__ in one word", at, n)
		}
	}
	if parts != "" && others != "" {
		return usage("%s has --command-key-pattern=P and %s has not: clients would keep to their parts of the keys with one and not the other; use P for both or neither", parts, others)
	}
	return nil
}

// parseMonitor reads __monitor_line7__ or __monitor_line@__, which are whole commands.
func (c *Command) parseMonitor(o *Options, at string) *problem {
	name, ok := strings.CutPrefix(strings.TrimSpace(c.Text), monitorWord)
	which, ok2 := strings.CutSuffix(name, "__")
	n, err := whole(which, 1, maxInt)
	switch {
	case ok && ok2 && which == "@":
		c.Monitor = AnyMonitor
	case !ok || !ok2 || err != nil || which[0] < '0' || which[0] > '9':
		return setup("%s: is no command of --monitor-input; write __monitor_line@__ or a number from 1, as in __monitor_line1__, and nothing else", at)
	default:
		c.Monitor = int(n)
	}
	if o.MonitorInput == "" {
		return setup("%s: there is no file with such commands; name it with --monitor-input", at)
	}
	c.Verb, c.Args = "", nil
	return nil
}

// CommandRows are the names of the rows that the commands count in, one for each of Commands: their verbs, or with
// ByLine the verb with #2 and so on where it comes again. A __monitor_line7__ has the verb of that command, and
// __monitor_line@__ a row per verb of the file, of which monitorRows gives one per command there. With ScanIncrement the
// rows are SCAN 0 and SCAN <cursor>. Prepare comes first.
func (o *Options) CommandRows() (names []string, rowOf, monitorRows []int) {
	if o.ScanIncrement {
		return []string{"SCAN 0", "SCAN <cursor>"}, []int{0}, nil
	}
	times := map[string]int{}
	add := func(verb string) int {
		times[verb]++
		if n := times[verb]; o.ByLine && n > 1 {
			verb += " #" + strconv.Itoa(n)
		}
		names = append(names, verb)
		return len(names) - 1
	}
	for i := range o.Commands {
		switch c := &o.Commands[i]; {
		case c.Monitor > 0 && o.Monitor != nil:
			rowOf = append(rowOf, add(o.Monitor.Commands[c.Monitor-1].Verb))
		case c.Monitor == 0:
			rowOf = append(rowOf, add(c.Verb))
		default: // below, behind those of commands
			rowOf = append(rowOf, -1)
		}
	}
	if o.Monitor == nil {
		return names, rowOf, nil
	}
	verbs := map[string]int{}
	for i := range o.Commands {
		if o.Commands[i].Monitor != AnyMonitor {
			continue
		}
		for j := range o.Monitor.Commands {
			verb := o.Monitor.Commands[j].Verb
			if _, ok := verbs[verb]; !ok && verb != "" {
				verbs[verb] = add(verb)
			}
		}
	}
	if len(verbs) > 0 {
		for j := range o.Monitor.Commands {
			r, ok := verbs[o.Monitor.Commands[j].Verb]
			if !ok {
				r = -1
			}
			monitorRows = append(monitorRows, r)
		}
	}
	return names, rowOf, monitorRows
}

// split cuts a line into words, as a shell does and redis-cli: spaces separate, "..." may have \n \r \t \b \a and \xHH
// (any other character after \ is itself), '...' only \'. A quote may begin within a word and ends it. The words are
// appended to dst. The text of the error is cause and mend.
func split(dst [][]byte, line []byte) ([][]byte, error) {
	for i := 0; ; {
		for i < len(line) && isSpace(line[i]) {
			i++
		}
		if i == len(line) {
			return dst, nil
		}
		w := []byte{}
		for i < len(line) && !isSpace(line[i]) {
			c := line[i]
			i++
			if c != '"' && c != '\'' {
				w = append(w, c)
				continue
			}
			begin, end := i-1, false
			for !end {
				if i == len(line) {
					return nil, fmt.Errorf("has a %c at byte %d that is not closed; add one at the end of the word", c, begin+1)
				}
				switch d := line[i]; {
				case d == c:
					end = true
				case d == '\\' && c == '"' && i+1 < len(line):
					var b byte
					b, i = escape(line, i+1)
					w = append(w, b)
					continue
				case d == '\\' && c == '\'' && i+1 < len(line) && line[i+1] == '\'':
					i++
					w = append(w, '\'')
				default:
					w = append(w, d)
				}
				i++
			}
			if i < len(line) && !isSpace(line[i]) {
				return nil, fmt.Errorf("has text behind the closing %c at byte %d; put a space there", c, i)
			}
		}
		dst = append(dst, w)
	}
}

// escape reads what follows a backslash at line[i], and returns where it ends.
func escape(line []byte, i int) (byte, int) {
	if line[i] == 'x' && i+2 < len(line) {
		if b, err := strconv.ParseUint(string(line[i+1:i+3]), 16, 8); err == nil {
			return byte(b), i + 3
		}
	}
	if k := strings.IndexByte("nrtba", line[i]); k >= 0 {
		return "\n\r\t\b\a"[k], i + 1
	}
	return line[i], i + 1
}

func isSpace(c byte) bool { return c == ' ' || c >= '\t' && c <= '\r' }
