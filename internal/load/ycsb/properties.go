package ycsb

import (
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"
)

// property is a name with its value and where that was said: file:line or "-p".
type property struct{ name, value, where string }

// parseProperties reads text in the format of java.util.Properties, in UTF-8. file is for error texts.
func parseProperties(file, text string) ([]property, error) {
	var out []property
	for number := 1; text != ""; {
		at := number
		var line string
		line, text, number = logicalLine(text, number)
		line = strings.TrimLeft(line, blanks)
		if line == "" || line[0] == '#' || line[0] == '!' {
			continue
		}
		name, value := cut(line)
		p := property{where: fmt.Sprintf("%s:%d", file, at)}
		var err error
		if p.name, err = unescape(name); err == nil {
			p.value, err = unescape(value)
		}
		switch {
		case err != nil:
			return nil, fmt.Errorf("%s: %w", p.where, err)
		case p.name == "":
			return nil, fmt.Errorf("%s: %.40q has no property name before its separator (write name=value)", p.where, line)
		}
		out = append(out, p)
	}
	return out, nil
}

const blanks = " \t\f"

// logicalLine takes the first line from text, with those that continue it. Comments and empty lines are not continued.
func logicalLine(text string, number int) (line, rest string, next int) {
	for first := true; ; first = false {
		part := text
		end := strings.IndexAny(text, "\r\n")
		if end < 0 {
			text = ""
		} else {
			part = text[:end]
			if text[end] == '\r' && strings.HasPrefix(text[end+1:], "\n") {
				end++
			}
			text = text[end+1:]
		}
		number++
		trimmed := strings.TrimLeft(part, blanks)
		if first && (trimmed == "" || trimmed[0] == '#' || trimmed[0] == '!') {
			return "", text, number
		}
		slashes := len(trimmed) - len(strings.TrimRight(trimmed, `\`))
		if slashes%2 == 0 {
			return line + trimmed, text, number
		}
		line += trimmed[:len(trimmed)-1]
		if text == "" {
			return line, "", number
		}
	}
}

// cut finds the end of the name: the first =, : or blank that has no backslash.
func cut(line string) (name, value string) {
	end := 0
	for ; end < len(line) && !strings.ContainsRune("=:"+blanks, rune(line[end])); end++ {
		if line[end] == '\\' {
			end++
		}
	}
	end = min(end, len(line))
	value = strings.TrimLeft(line[end:], blanks)
	if value != "" && (value[0] == '=' || value[0] == ':') {
		value = strings.TrimLeft(value[1:], blanks)
	}
	return line[:end], value
}

func unescape(s string) (string, error) {
	if !strings.Contains(s, `\`) {
		return s, nil
	}
	b := make([]byte, 0, len(s))
	var high rune // first half of a surrogate pair
	for i := 0; i < len(s); i++ {
		if s[i] != '\\' || i+1 == len(s) {
			b = append(b, s[i])
			high = 0
			continue
		}
		i++
		if s[i] != 'u' {
			high = 0
			if at := strings.IndexByte("tnrf", s[i]); at >= 0 {
				b = append(b, "\t\n\r\f"[at])
			} else {
				b = append(b, s[i])
			}
			continue
		}
		digits := s[i+1 : min(i+5, len(s))]
		v, err := strconv.ParseUint(digits, 16, 16)
		if err != nil || len(digits) != 4 {
			return "", fmt.Errorf(`\u%s: four hexadecimal digits must follow \u`, digits)
		}
		i += 4
		r := rune(v)
		if pair := utf16.DecodeRune(high, r); pair != utf8.RuneError {
			b = append(b[:len(b)-len(string(utf8.RuneError))], string(pair)...)
			high = 0
			continue
		}
		high = 0
		if utf16.IsSurrogate(r) {
			high = r
		}
		b = utf8.AppendRune(b, r)
	}
	return string(b), nil
}
