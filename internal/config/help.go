package config

import (
	_ "embed"
	"fmt"
	"strings"
)

// License of this program, the same text as the file at the root of the repository.
//
//go:embed license.txt
var License string

// Name of a setting as it is typed.
func (r *Row) Name() string {
	switch {
	case r.Short != 0:
		return "-" + string(rune(r.Short))
	case byLong[r.Long] == r:
		return "--" + r.Long
	}
	return "-o " + r.Long
}

// Usage is the text of -h. Defaults shown are the values of m.
func Usage(m *Memcached) string {
	var b, own, without strings.Builder
	b.WriteString("memcached " + MemcachedVersion + "\n")
	show := func(w *strings.Builder, r *Row) {
		if r.NoEffect != "" && r.Help != "" {
			fmt.Fprintf(&without, "   %-24s %s\n", r.Name(), r.NoEffect)
		}
		if r.show == nil {
			w.WriteString(r.Help)
			return
		}
		fmt.Fprintf(w, r.Help, r.show(m)...)
	}
	for i := range options {
		r := &options[i]
		switch {
		case r.Short == 0:
			show(&own, r)
		case r.Short == 'o':
			show(&b, r)
			for j := range words {
				show(&b, &words[j])
			}
		default:
			show(&b, r)
		}
	}
	b.WriteString(own.String())
	b.WriteString("\nAccepted as memcached accepts them, without effect in this server:\n" + without.String())
	return b.String()
}

func (p Protocol) String() string { return [...]string{"auto-negotiate", "ascii", "binary"}[p] }

// Rows are all settings: options in the order of -h, then the words of -o.
func Rows() []*Row {
	rows := make([]*Row, 0, len(options)+len(words))
	for i := range options {
		rows = append(rows, &options[i])
	}
	for i := range words {
		rows = append(rows, &words[i])
	}
	return rows
}
