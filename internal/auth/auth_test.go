package auth

import (
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

func write(t *testing.T, path, text string) {
	t.Helper()
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
}

// TestFile has the answers of memcached 1.6.45 to the same files.
func TestFile(t *testing.T) {
	p := strings.Repeat
	for _, c := range []struct {
		name, text  string
		right       []string // user, space, password
		wrong       []string
		wantMalform bool
	}{
		{name: "one", text: "foo:bar\n", right: []string{"foo bar"}, wrong: []string{"foo ba", "foo barr", "fo bar", "foo ", " bar", "foo:bar "}},
		{name: "no final newline", text: "foo:bar", right: []string{"foo bar"}},
		{name: "dos lines", text: "u:p\r\n#c:x\r\n", right: []string{"u p", "#c x"}, wrong: []string{"u p\r"}},
		{name: "password has colon and space", text: "w:a:b\nx:y z\n", right: []string{"w a:b", "x y z"}, wrong: []string{"w:a b", "w a"}},
		{name: "carriage return inside", text: "v:q\rzz\nw:a\n", right: []string{"v q", "w a"}, wrong: []string{"v q\rzz"}},
		{name: "carriage return in name", text: "\r:q\nv\r:q\n", right: []string{"\r q", "v\r q"}, wrong: []string{"v q"}},
		{name: "empty parts", text: ":p\nu:\n", right: []string{" p", "u "}, wrong: []string{"u x", " "}},
		{name: "same user twice", text: "u:p\nu:p2\n", right: []string{"u p", "u p2"}},
		{name: "NUL ends the file", text: "u:p\x00x\nv:q\n", right: []string{"u p"}, wrong: []string{"u p\x00x", "v q"}},
		{name: "NUL before newline", text: "v:q\x00\nw:a\n", right: []string{"v q"}, wrong: []string{"w a"}},
		{name: "NUL, then junk", text: "a:b\x00x\nbad\n", right: []string{"a b"}},
		{name: "NUL at line start", text: "v:q\n\x00w:a\nx:y\n", wantMalform: true},
		{name: "longest line", text: "u:" + p("p", 252) + "\nv:w\n", right: []string{"u " + p("p", 252), "v w"}},
		{name: "line one too long", text: "u:" + p("p", 253) + "\nv:w\n", right: []string{"u " + p("p", 253)}, wrong: []string{"v w"}},
		{name: "line far too long", text: "u:" + p("p", 300) + ":\nv:w\n", right: []string{"u " + p("p", 253)}, wrong: []string{"u " + p("p", 300), p("p", 47) + " ", "v w"}},
		{name: "long name", text: p("u", 255) + ":p\n", wantMalform: true},
		{name: "eight of ten", text: "1:a\n2:a\n3:a\n4:a\n5:a\n6:a\n7:a\n8:a\n9:a\n10:a\n", right: []string{"1 a", "8 a"}, wrong: []string{"9 a", "10 a"}},
		{name: "bad line after the eighth", text: "1:a\n2:a\n3:a\n4:a\n5:a\n6:a\n7:a\n8:a\nbad\n", right: []string{"8 a"}},
		{name: "bad line", text: "abc\n", wantMalform: true},
		{name: "blank line", text: "u:p\n\nv:q\n", wantMalform: true},
		{name: "only a newline", text: "\n", wantMalform: true},
		{name: "empty", text: "", wantMalform: true},
	} {
		path := filepath.Join(t.TempDir(), "auth")
		write(t, path, c.text)
		var tab Table
		err := tab.Load(path)
		if c.wantMalform {
			want := "Authfile [" + path + "] has a malformed entry. Should be 'user:password'"
			if err == nil || err.Error() != want {
				t.Errorf("%s: error %v, want %s", c.name, err, want)
			}
			if tab.Len() != 0 {
				t.Errorf("%s: %d users", c.name, tab.Len())
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.name, err)
			continue
		}
		check := func(s string, want bool) {
			user, pass, _ := strings.Cut(s, " ")
			if got := tab.Check([]byte(user), []byte(pass)); got != want {
				t.Errorf("%s: %.20q: %v, want %v", c.name, s, got, want)
			}
		}
		for _, s := range c.right {
			check(s, true)
		}
		for _, s := range c.wrong {
			check(s, false)
		}
	}
}

func TestMissingFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "nope")
	want := "Could not open authfile [" + path + "] for reading, error No such file or directory: No such file or directory"
	if err := new(Table).Load(path); err == nil || err.Error() != want {
		t.Errorf("error %v, want %s", err, want)
	}
}

func TestReloadKeepsOldOnError(t *testing.T) {
	path := filepath.Join(t.TempDir(), "auth")
	write(t, path, "u:p\n")
	var tab Table
	if err := tab.Load(path); err != nil {
		t.Fatal(err)
	}
	write(t, path, "u:new\nbroken\n")
	if err := tab.Load(path); err == nil {
		t.Fatal("a broken file was taken")
	}
	if !tab.Check([]byte("u"), []byte("p")) {
		t.Error("the old user is gone")
	}
	os.Remove(path)
	if err := tab.Load(path); err == nil {
		t.Fatal("a missing file was taken")
	}
	if !tab.Check([]byte("u"), []byte("p")) {
		t.Error("the old user is gone")
	}
	write(t, path, "u:new\n")
	if err := tab.Load(path); err != nil {
		t.Fatal(err)
	}
	if tab.Check([]byte("u"), []byte("p")) || !tab.Check([]byte("u"), []byte("new")) {
		t.Error("the new table is not in force")
	}
}

// TestReloadUnderChecks: whoever checks during a reload sees the old or the new table, never something between.
func TestReloadUnderChecks(t *testing.T) {
	var tab Table
	both := []User{{"a", "1"}, {"b", "1"}}
	tab.Set(both)
	stop := make(chan struct{})
	var wg sync.WaitGroup
	for range 4 {
		wg.Go(func() {
			for {
				select {
				case <-stop:
					return
				default:
				}
				if !tab.Check([]byte("b"), []byte("1")) || tab.Check([]byte("b"), []byte("2")) {
					t.Error("a check saw half a table")
					return
				}
			}
		})
	}
	for range 1000 {
		tab.Set(both)
		tab.Set([]User{{"b", "1"}})
	}
	close(stop)
	wg.Wait()
}

func TestZeroTableRefuses(t *testing.T) {
	var tab Table
	if tab.Check(nil, nil) || tab.Check([]byte("u"), []byte("p")) {
		t.Error("an empty table let somebody in")
	}
	tab.Set(nil)
	if tab.Check(nil, nil) {
		t.Error("an empty table let nobody's name in")
	}
}

func TestPasswordFile(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pwdb")
	write(t, path, "no colon\n\nu:p\nv:q:cram-md5:x\r\nu:second\nw:\nlast:one")
	var tab Table
	if err := tab.LoadPasswords(path); err != nil {
		t.Fatal(err)
	}
	for s, want := range map[string]bool{
		"u p": true, "u second": false, "v q": true, "v q:cram-md5": false, "w ": true, "last one": true, "x y": false,
	} {
		user, pass, _ := strings.Cut(s, " ")
		if got := tab.Check([]byte(user), []byte(pass)); got != want {
			t.Errorf("%q: %v, want %v", s, got, want)
		}
	}
	if err := new(Table).LoadPasswords(path + "x"); err == nil {
		t.Error("a missing password file was taken")
	}
}

func TestRefresh(t *testing.T) {
	path := filepath.Join(t.TempDir(), "pwdb")
	write(t, path, "u:p\n")
	var tab Table
	if err := tab.LoadPasswords(path); err != nil {
		t.Fatal(err)
	}
	in := func(pass string) bool { tab.Refresh(); return tab.Check([]byte("u"), []byte(pass)) }
	if !in("p") {
		t.Error("the user is not known")
	}
	write(t, path, "u:other\n")
	if in("p") || !in("other") {
		t.Error("a changed file was not read")
	}
	os.Remove(path)
	if in("other") {
		t.Error("a user of a file that is gone was let in")
	}
	write(t, path, "u:back\n")
	if err := os.Chtimes(path, time.Time{}, time.Unix(1, 0)); err != nil {
		t.Fatal(err)
	}
	if !in("back") {
		t.Error("the file that came back was not read")
	}
	new(Table).Refresh() // without a file there is nothing to do
}

func TestExchange(t *testing.T) {
	var tab Table
	tab.Set([]User{{"u", "p"}, {"empty", ""}})
	for _, c := range []struct {
		name, mech, data string
		want             Progress
	}{
		{"right", "PLAIN", "\x00u\x00p", Succeeded},
		{"lower case mechanism", "plain", "\x00u\x00p", Succeeded},
		{"as oneself", "PLAIN", "u\x00u\x00p", Succeeded},
		{"as somebody else", "PLAIN", "root\x00u\x00p", Failed},
		{"wrong password", "PLAIN", "\x00u\x00q", Failed},
		{"password longer", "PLAIN", "\x00u\x00pp", Failed},
		{"password with NUL", "PLAIN", "\x00u\x00p\x00", Failed},
		{"no password", "PLAIN", "\x00u\x00", Failed},
		{"empty password that is right", "PLAIN", "\x00empty\x00", Succeeded},
		{"one part", "PLAIN", "u", Failed},
		{"two parts", "PLAIN", "u\x00p", Failed},
		{"no name", "PLAIN", "\x00\x00p", Failed},
		{"other mechanism", "CRAM-MD5", "\x00u\x00p", Failed},
		{"mechanism is a prefix", "PLAI", "\x00u\x00p", Failed},
		{"mechanism is longer", "PLAINX", "\x00u\x00p", Failed},
		{"no data yet", "PLAIN", "", Continued},
	} {
		var x Exchange
		if got := x.Start(&tab, []byte(c.mech), []byte(c.data)); got != c.want {
			t.Errorf("%s: %v, want %v", c.name, got, c.want)
		}
		if got := x.Authenticated(); got != (c.want == Succeeded) {
			t.Errorf("%s: authenticated %v", c.name, got)
		}
	}
}

func TestExchangeOrder(t *testing.T) {
	var tab Table
	tab.Set([]User{{"u", "p"}})
	mech, good, bad := []byte("PLAIN"), []byte("\x00u\x00p"), []byte("\x00u\x00x")
	var x Exchange
	step := func(name string, got, want Progress, in bool) {
		t.Helper()
		if got != want || x.Authenticated() != in {
			t.Errorf("%s: %v, authenticated %v; want %v, %v", name, got, x.Authenticated(), want, in)
		}
	}
	step("step before start", x.Step(&tab, mech, good), Failed, false)
	step("start without data", x.Start(&tab, mech, nil), Continued, false)
	step("step", x.Step(&tab, mech, good), Succeeded, true)
	step("step again", x.Step(&tab, mech, good), Failed, false)
	step("start", x.Start(&tab, mech, good), Succeeded, true)
	step("a failed start ends the old session", x.Start(&tab, mech, bad), Failed, false)
	step("start without data", x.Start(&tab, mech, nil), Continued, false)
	step("wrong step", x.Step(&tab, mech, bad), Failed, false)
	step("step after a wrong one", x.Step(&tab, mech, good), Failed, false)
	step("start without data", x.Start(&tab, mech, nil), Continued, false)
	step("step with another mechanism", x.Step(&tab, []byte("LOGIN"), good), Failed, false)
	step("start without data", x.Start(&tab, mech, nil), Continued, false)
	step("step without data", x.Step(&tab, mech, nil), Failed, false)
}

func FuzzFile(f *testing.F) {
	for _, s := range []string{"", "u:p\n", "u:p", ":\n", "u:p\x00\n", "u:p\r\nv:w\n", strings.Repeat("u", 300) + ":"} {
		f.Add([]byte(s))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		list := parseFile(data)
		if len(list) > maxUsers {
			t.Fatalf("%d users", len(list))
		}
		for _, u := range list {
			if len(u.Name)+len(u.Pass) >= maxLine || strings.ContainsAny(u.Pass, "\r\n\x00") {
				t.Fatalf("user %q", u)
			}
		}
		parsePasswords(data)
		splitPlain(data)
	})
}
