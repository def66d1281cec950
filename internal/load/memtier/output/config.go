package output

import (
	"bufio"
	"fmt"
	"io"
	"strconv"
)

// Setting is a value of the configuration. Value is a string, an integer, a float64, a bool, a Range, a Wide, or nil for a
// string that is not set.
type Setting struct {
	Name  string
	Value any
}

// Range is a setting such as 1-9.
type Range struct{ From, To uint64 }

// Wide is a number that JSON has right-justified, as memtier_benchmark prints the bounds of keys.
type Wide uint64

func (s *Setting) json() string {
	switch v := s.Value.(type) {
	case nil:
		return "null"
	case string:
		return quote(v)
	case bool:
		return quote(strconv.FormatBool(v))
	case float64:
		return strconv.FormatFloat(finite(v), 'f', 6, 64)
	case Wide:
		return fmt.Sprintf("%11d", uint64(v))
	case Range:
		return fmt.Sprintf(`"%d:%d"`, v.From, v.To)
	case int, int8, int16, int32, int64, uint, uint8, uint16, uint32, uint64:
		return fmt.Sprint(v)
	}
	return quote(fmt.Sprint(s.Value))
}

func (s *Setting) text() string {
	switch v := s.Value.(type) {
	case nil:
		return "(null)"
	case bool:
		if v {
			return "yes"
		}
		return "no"
	case float64:
		return strconv.FormatFloat(finite(v), 'f', 6, 64)
	case Range:
		return fmt.Sprintf("%d-%d", v.From, v.To)
	}
	return fmt.Sprint(s.Value)
}

// The rulers that --show-config has on stderr before and after the settings.
const (
	ConfigBegin = "============== Configuration values: ==============\n"
	ConfigEnd   = "===================================================\n"
)

// Config writes the settings for --show-config.
func Config(w io.Writer, settings []Setting) error {
	b := bufio.NewWriter(w)
	for i := range settings {
		fmt.Fprintf(b, "%s = %s\n", settings[i].Name, settings[i].text())
	}
	return b.Flush()
}
