package session

import (
	"bytes"
	"fmt"
	"regexp"
	"strconv"
	"strings"
)

// Lines of a test file stand for bytes: each ends with CR LF, unless its last character is a backslash. \r \n \t \\ and
// \x00 are bytes, {x*251} is a repetition, {cas1} the first CAS id that was seen in the file.
var braces = regexp.MustCompile(`\{[^{}]+\}`)

func encode(text string, names *casNames) []byte {
	var b []byte
	for _, line := range strings.Split(text, "\n") {
		line = braces.ReplaceAllStringFunc(line, func(s string) string {
			if what, times, ok := strings.Cut(s[1:len(s)-1], "*"); ok {
				n, err := strconv.Atoi(times)
				if err == nil {
					return strings.Repeat(what, n)
				}
			}
			if v, ok := names.value(s[1 : len(s)-1]); ok {
				return v
			}
			return s
		})
		open := strings.HasSuffix(line, `\`) && !strings.HasSuffix(line, `\\`)
		line = strings.TrimSuffix(line, `\`)
		s, err := strconv.Unquote(`"` + strings.ReplaceAll(line, `"`, `\"`) + `"`)
		if err != nil {
			panic(fmt.Sprintf("%q: %v", line, err))
		}
		b = append(b, s...)
		if !open {
			b = append(b, '\r', '\n')
		}
	}
	return b
}

// decode is the answer in the same form.
func decode(b []byte, end string) string {
	var s strings.Builder
	for len(b) > 0 {
		line, rest, ok := bytes.Cut(b, []byte("\r\n"))
		q := strconv.QuoteToASCII(string(line))
		q = strings.ReplaceAll(q[1:len(q)-1], `\"`, `"`)
		s.WriteString(shorten(q))
		if !ok {
			s.WriteByte('\\')
		} else if len(line) == 0 {
			s.WriteString("(empty)") // which the files could not show
		}
		s.WriteByte('\n')
		b = rest
	}
	if end != "" {
		s.WriteString(end + "\n")
	}
	if s.Len() == 0 {
		return "(nothing)\n"
	}
	return s.String()
}

// shorten writes long runs of a character as a repetition.
func shorten(s string) string {
	const long = 40
	var b strings.Builder
	for i := 0; i < len(s); {
		n := 1
		for i+n < len(s) && s[i+n] == s[i] {
			n++
		}
		if n >= long {
			fmt.Fprintf(&b, "{%c*%d}", s[i], n)
		} else {
			b.WriteString(s[i : i+n])
		}
		i += n
	}
	return b.String()
}

// casNames gives CAS ids names in the order of their appearance: servers choose different ones.
type casNames struct {
	values []string
	given  map[string]bool // ids that the client chose
}

func (c *casNames) value(name string) (string, bool) {
	n, err := strconv.Atoi(strings.TrimPrefix(name, "cas"))
	if err != nil || n < 1 || n > len(c.values) {
		return "", false
	}
	return c.values[n-1], true
}

func (c *casNames) name(value string) string {
	if value == "0" || c.given[value] {
		return value
	}
	for i, v := range c.values {
		if v == value {
			return fmt.Sprintf("{cas%d}", i+1)
		}
	}
	c.values = append(c.values, value)
	return fmt.Sprintf("{cas%d}", len(c.values))
}

var (
	chosen   = regexp.MustCompile(`\bE(\d+)\b`)
	casInGet = regexp.MustCompile(`^(VALUE \S+ \d+ \d+ )(\d+)$`)
	casFlag  = regexp.MustCompile(`^((?:HD|VA \d+|NS|EX|NF)\b.* c)(\d+)`)
	casDebug = regexp.MustCompile(`^(ME .* cas=)(\d+)`)
)

// sent notes the ids that a request chooses.
func (c *casNames) sent(text string) {
	if c.given == nil {
		c.given = map[string]bool{}
	}
	for _, m := range chosen.FindAllStringSubmatch(text, -1) {
		c.given[m[1]] = true
	}
}

// rename gives the ids in a decoded answer their names.
func (c *casNames) rename(answer string) string {
	lines := strings.Split(answer, "\n")
	for i, line := range lines {
		for _, re := range []*regexp.Regexp{casInGet, casFlag, casDebug} {
			if m := re.FindStringSubmatchIndex(line); m != nil {
				lines[i] = line[:m[4]] + c.name(line[m[4]:m[5]]) + line[m[5]:]
			}
		}
	}
	return strings.Join(lines, "\n")
}
