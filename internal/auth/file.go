package auth

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"syscall"
	"time"
)

// Limits of the ASCII authentication file, as memcached has them.
const (
	maxUsers = 8   // entries; what follows is not read
	maxLine  = 255 // bytes of a line, with its newline; a longer one is cut there and ends the file
)

// maxPasswordFile bounds the SASL password file, in bytes.
const maxPasswordFile = 16 << 20

// Load reads the ASCII authentication file (-Y) and exchanges the users if it is sound. On an error the old users stay;
// its text is what memcached prints.
func (t *Table) Load(path string) error {
	f, err := os.Open(path)
	if err != nil {
		return openError(path, err)
	}
	defer f.Close()
	data, err := io.ReadAll(io.LimitReader(f, maxUsers*maxLine))
	if err != nil {
		return openError(path, err)
	}
	list := parseFile(data)
	if list == nil {
		return fmt.Errorf("Authfile [%s] has a malformed entry. Should be 'user:password'", path)
	}
	t.Set(list)
	return nil
}

// openError has memcached's text; the system's message comes twice there.
func openError(path string, err error) error {
	text := err.Error()
	var pe *fs.PathError
	if errors.As(err, &pe) {
		text = pe.Err.Error()
	}
	var no syscall.Errno
	if errors.As(err, &no) {
		text = errnoText(no)
	}
	return fmt.Errorf("Could not open authfile [%s] for reading, error %s: %s", path, text, text)
}

// errnoText begins with a capital letter, as the C library has it.
func errnoText(no syscall.Errno) string {
	b := []byte(no.Error())
	if len(b) > 0 && b[0] >= 'a' && b[0] <= 'z' {
		b[0] -= 'a' - 'A'
	}
	return string(b)
}

// parseFile reads lines of user:password; nil if there is none or one lacks the colon. A password ends at CR or NUL.
// The file ends where memcached stops reading: at a line that is too long, that has a NUL, or that has no newline.
func parseFile(data []byte) []User {
	var list []User
	for len(list) < maxUsers && len(data) > 0 {
		line := data[:min(len(data), maxLine)]
		last := true
		if i := bytes.IndexAny(line, "\n\x00"); i >= 0 {
			last = line[i] == 0
			data, line = data[i+1:], line[:i]
		}
		name, pass, ok := bytes.Cut(line, []byte(":"))
		if !ok {
			return nil
		}
		if i := bytes.IndexByte(pass, '\r'); i >= 0 {
			pass = pass[:i]
		}
		list = append(list, User{string(name), string(pass)})
		if last {
			break
		}
	}
	return list
}

// LoadPasswords reads the SASL password file: lines of user:password, which more fields may follow after a colon; other
// lines are ignored, and the first line of a user holds. On an error the old users stay.
func (t *Table) LoadPasswords(path string) error {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.path = path
	return t.loadPasswords()
}

// Refresh reads the SASL password file again if it has changed: with memcached a change holds from the next
// authentication on. Nobody can authenticate while the file cannot be read.
func (t *Table) Refresh() {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.path == "" {
		return
	}
	fi, err := os.Stat(t.path)
	if err == nil {
		if fi.Size() == t.size && fi.ModTime().Equal(t.mtime) {
			return
		}
		err = t.loadPasswords()
	}
	if err != nil {
		t.Set(nil)
		t.size, t.mtime = -1, time.Time{}
	}
}

// loadPasswords is called with mu held.
func (t *Table) loadPasswords() error {
	f, err := os.Open(t.path)
	if err != nil {
		return err
	}
	defer f.Close()
	fi, err := f.Stat()
	if err != nil {
		return err
	}
	data, err := io.ReadAll(io.LimitReader(f, maxPasswordFile+1))
	if err != nil {
		return err
	}
	if len(data) > maxPasswordFile {
		return fmt.Errorf("auth: password file %s: more than %d bytes", t.path, maxPasswordFile)
	}
	t.Set(parsePasswords(data))
	t.size, t.mtime = fi.Size(), fi.ModTime()
	return nil
}

func parsePasswords(data []byte) []User {
	var list []User
	seen := map[string]bool{}
	for line := range bytes.Lines(data) {
		line = bytes.TrimRight(line, "\r\n")
		name, rest, ok := bytes.Cut(line, []byte(":"))
		if !ok || seen[string(name)] {
			continue
		}
		pass, _, _ := bytes.Cut(rest, []byte(":"))
		seen[string(name)] = true
		list = append(list, User{string(name), string(pass)})
	}
	return list
}
