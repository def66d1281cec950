package host

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
)

// tree reads the small files of /proc, /sys and /etc below a root, which is "/" but for tests.
type tree struct {
	root   string
	unread []string // files that are there and could not be read
}

func (t *tree) path(name string) string { return filepath.Join(t.root, name) }

// text of a file without the space around it. Files that are not there or are empty have none.
func (t *tree) text(name string) string {
	b, err := os.ReadFile(t.path(name))
	if err != nil {
		t.note(name, err)
		return ""
	}
	return strings.Trim(string(b), " \t\r\n\x00")
}

// note an error that is not mere absence.
func (t *tree) note(name string, err error) {
	// A link that is down has no speed, a driver that knows none refuses: that is absence too.
	if err == nil || errors.Is(err, fs.ErrNotExist) || !errors.Is(err, fs.ErrPermission) {
		return
	}
	var pe *fs.PathError
	if errors.As(err, &pe) {
		err = pe.Err
	}
	if text := fmt.Sprintf("%s: %v", name, err); !slices.Contains(t.unread, text) {
		t.unread = append(t.unread, text)
	}
}

// number in a file; not ok if there is none.
func (t *tree) number(name string) (n int64, ok bool) {
	n, err := strconv.ParseInt(t.text(name), 10, 64)
	return n, err == nil
}

// set of CPUs in a file.
func (t *tree) set(name string) Set {
	s, err := ParseSet(t.text(name))
	if err != nil {
		return nil
	}
	return s
}

// glob of files, in the order of the numbers in their names.
func (t *tree) glob(pattern string) []string {
	names, _ := filepath.Glob(t.path(pattern))
	for i, n := range names {
		names[i], _ = filepath.Rel(t.root, n)
	}
	slices.SortFunc(names, func(a, b string) int {
		if d := trailing(a) - trailing(b); d != 0 && strings.TrimRight(a, "0123456789") == strings.TrimRight(b, "0123456789") {
			return d
		}
		return strings.Compare(a, b)
	})
	return names
}

// trailing number of a name: 12 of "cpu12", -1 if there is none.
func trailing(name string) int {
	n, err := strconv.Atoi(name[len(strings.TrimRight(name, "0123456789")):])
	if err != nil {
		return -1
	}
	return n
}

// link is the last element of where a symbolic link leads.
func (t *tree) link(name string) string {
	to, err := os.Readlink(t.path(name))
	if err != nil {
		return ""
	}
	return filepath.Base(to)
}

// fields of "key: value" lines; the first of equal keys counts.
func fields(text string) map[string]string {
	out := map[string]string{}
	for line := range strings.Lines(text) {
		if k, v, ok := strings.Cut(line, ":"); ok {
			k = strings.TrimSpace(k)
			if _, there := out[k]; !there {
				out[k] = strings.TrimSpace(v)
			}
		}
	}
	return out
}

// chosen is the word in brackets: "madvise" of "always [madvise] never".
func chosen(text string) string {
	_, rest, ok := strings.Cut(text, "[")
	if !ok {
		return ""
	}
	word, _, _ := strings.Cut(rest, "]")
	return word
}

// size of "32K", "1024K" or "8M", in bytes; 0 if it is none.
func size(text string) int64 {
	unit := int64(1)
	if n := strings.TrimRight(text, "KMG"); n != text {
		unit = map[string]int64{"K": 1 << 10, "M": 1 << 20, "G": 1 << 30}[text[len(n):]]
		text = n
	}
	n, err := strconv.ParseInt(text, 10, 64)
	if err != nil {
		return 0
	}
	return n * unit
}
