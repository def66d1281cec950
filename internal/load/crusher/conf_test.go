package crusher

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"godwit/internal/load"
)

// S0 are the conf files of the study that compared arm64 and x86-64 (load-tools, S0).
const (
	s0Get = `send=ascii_get,recv=blind_read,conns=100,key_prefix=foobar,pipelines=10
send=ascii_set,recv=blind_read,conns=10,key_prefix=foobar,pipelines=4,stop_after=200000,usleep=1000,value_size=10
`
	s0Set = "send=ascii_set,recv=blind_read,conns=100,key_prefix=foobar,value_size=2,value=hi,pipelines=10\n"
)

func readConf(t testing.TB, text string) []*Template {
	t.Helper()
	var c Conf
	c.Read("conf", text, false)
	for _, p := range c.Problems {
		t.Error(p)
	}
	return c.Templates
}

// Every key does what the table says.
func TestKeys(t *testing.T) {
	for _, c := range []struct {
		line string
		ok   func(*Template) bool
	}{
		{"", func(x *Template) bool {
			return x.Parse && x.Conns == 1 && x.Thread == 0 && x.Pipelines == 1 && x.Usleep == 0 && x.StopAfter == 0 && x.KeyPrefix == "foo" &&
				x.KeyCount == 200000 && !x.LiveRand && !x.LiveRandZipf && x.ZipfSkew == 0.25 && x.Host == "" && x.Port == 0
		}},
		{"recv=blind_read", func(x *Template) bool { return !x.Parse }},
		{"recv=blind_recv", func(x *Template) bool { return !x.Parse }},
		{"recv=anything", func(x *Template) bool { return !x.Parse }},
		{"recv=parse", func(x *Template) bool { return x.Parse }},
		{"conns=7", func(x *Template) bool { return x.Conns == 7 && x.connections() == 7 }},
		{"conns=7,thread=3", func(x *Template) bool { return x.Thread == 3 && x.connections() == 21 }},
		{"thread=0", func(x *Template) bool { return x.groups() == 1 }},
		{"pipelines=50", func(x *Template) bool { return x.Pipelines == 50 }},
		{"usleep=75000", func(x *Template) bool { return x.Usleep == 75000 }},
		{"stop_after=12", func(x *Template) bool { return x.StopAfter == 12 }},
		{"key_prefix=", func(x *Template) bool { return x.KeyPrefix == "" }},
		{"key_prefix=slab1:", func(x *Template) bool { return x.KeyPrefix == "slab1:" }},
		{"key_count=30000000", func(x *Template) bool { return x.KeyCount == 30_000_000 }},
		{"live_rand=1", func(x *Template) bool { return x.LiveRand }},
		{"live_rand_zipf=1", func(x *Template) bool { return x.LiveRandZipf && x.ZipfSkew == 0.25 }},
		{"live_rand_zipf=1,zipf_skew=1", func(x *Template) bool { return x.ZipfSkew == 1 }},
		{"live_rand_zipf=1,zipf_skew=0", func(x *Template) bool { return x.ZipfSkew == 0 }},
		{"host=cache1,port=11212", func(x *Template) bool { return x.Host == "cache1" && x.Port == 11212 }},
		{"host=[::1]", func(x *Template) bool { return x.Host == "::1" }},
	} {
		line := "send=ascii_get"
		if c.line != "" {
			line += "," + c.line
		}
		list := readConf(t, line)
		if len(list) != 1 || !c.ok(list[0]) {
			t.Errorf("%s: %+v", line, list)
		}
	}
	for _, c := range []struct {
		line string
		ok   func(*Template) bool
	}{
		{"send=ascii_set,value_size=1048576", func(x *Template) bool { return x.ValueSize == 1<<20 && x.Value == nil }},
		{"send=ascii_set,value=a=b", func(x *Template) bool { return string(x.Value) == "a=b" }},
		{"send=ascii_set,value=hi,value_size=2", func(x *Template) bool { return string(x.Value) == "hi" }},
		{"send=bin_setq,expire=60,flags=4294967295", func(x *Template) bool { return x.Expire == 60 && x.Flags == 1<<32-1 }},
		{"send=ascii_touch,expire=60", func(x *Template) bool { return x.Expire == 60 }},
		{"send=ascii_mget,mget_count=500000", func(x *Template) bool { return x.MgetCount == 500_000 }},
		{"send=ascii_mget", func(x *Template) bool { return x.MgetCount == 2 }},
		{"send=ascii_mg,cmd_postfix=s v", func(x *Template) bool { return x.CmdPostfix == "s v" }},
	} {
		if list := readConf(t, c.line); len(list) != 1 || !c.ok(list[0]) {
			t.Errorf("%s: %+v", c.line, list)
		}
	}
	for i := range sends {
		if list := readConf(t, "send="+sends[i].name); len(list) != 1 || list[0].Send != &sends[i] {
			t.Errorf("send=%s: %+v", sends[i].name, list)
		}
	}
}

// Lines are counted with blank ones and comments.
func TestLines(t *testing.T) {
	list := readConf(t, "# a comment\n\nsend=ascii_get\r\n  # another\n  send=ascii_set,value=x  \n")
	if len(list) != 2 || list[0].Line != 3 || list[1].Line != 5 || string(list[1].Value) != "x" {
		t.Errorf("%+v", list)
	}
	if list := readConf(t, s0Get+s0Set); len(list) != 3 || list[1].StopAfter != 200_000 || list[1].Send.kind != load.Set {
		t.Errorf("S0: %+v", list)
	}
}

// Everything that is wrong is said, with its place and a mend. What only has no effect is a warning with lenient.
func TestProblems(t *testing.T) {
	for _, c := range []struct {
		line string
		want string // part of the problem
		idle bool
	}{
		{"recv=blind_read", "conf:2: send: not given (one of ascii_get, ascii_mget", false},
		{"send=,recv=x", "conf:2: send: no such request", false},
		{"send=ascii_gte", "send=ascii_gte: no such request (one of ascii_get", false},
		{"send=ascii_get,recv=", "recv: empty", false},
		{"send=ascii_get,conns=0", "conns=0: out of range (1 to 1048576)", false},
		{"send=ascii_get,conns=x", "conns=x: not a whole number", false},
		{"send=ascii_get,conns=-1", "conns=-1: not a whole number", false},
		{"send=ascii_get,conns=99999999999999999999", "out of range", false},
		{"send=ascii_get,thread=5000", "thread=5000: out of range (0 to 1024)", false},
		{"send=ascii_get,pipelines=0", "pipelines=0: out of range", false},
		{"send=ascii_get,usleep=1e3", "usleep=1e3: not a whole number", false},
		{"send=ascii_get,stop_after=", "stop_after: not a whole number", false},
		{"send=ascii_get,key_count=0", "key_count=0: out of range", false},
		{"send=ascii_get,key_prefix=a b", "key_prefix=a b: space or control character", false},
		{"send=ascii_get,key_prefix=" + strings.Repeat("k", 245), "keys of up to 251 bytes, memcached takes 250", false},
		{"send=ascii_get,live_rand_zipf=1,zipf_skew=5", "zipf_skew=5: no exponent", false},
		{"send=ascii_get,live_rand_zipf=1,zipf_skew=NaN", "zipf_skew=NaN: no exponent", false},
		{"send=ascii_mget,mget_count=0", "mget_count=0: out of range", false},
		{"send=ascii_set,value_size=-1", "value_size=-1: not a whole number", false},
		{"send=ascii_set,value_size=1073741825", "value_size=1073741825: out of range", false},
		{"send=ascii_set,expire=-1", "expire=-1: not a whole number", false},
		{"send=ascii_set,flags=4294967296", "flags=4294967296: out of range", false},
		{"send=ascii_mg,cmd_postfix=s q O1", "quiet gets are numbered", false},
		{"send=ascii_mg,cmd_postfix=s s", "flag s twice", false},
		{"send=ascii_mg,cmd_postfix=\x01", "is no flag", false},
		{"send=ascii_get,host=", "host: no host", false},
		{"send=ascii_get,port=65536", "port=65536: out of range (1 to 65535)", false},
		{"send=ascii_get,conns", "conns: no key=value", false},
		{"send=ascii_get,,conns=1", "no key=value", false},
		{"send=ascii_get,conns=1,conns=2", "conns=2: the line says conns=1 before", false},

		{"send=ascii_get,key_prealloc=0", "key_prealloc=0: mc-crusher knows the key and does nothing about it (leave it out", true},
		{"send=ascii_get,key_randomize=1", "key_randomize=1: mc-crusher knows the key and does nothing about it (leave it out for keys in order, which is what happened; live_rand=1", true},
		{"send=ascii_get,time=10", "--timeout SECONDS", true},
		{"send=ascii_get,count=10", "stop_after=N", true},
		{"send=ascii_get,key_len=10", "make key_prefix longer", true},
		{"send=ascii_get,key_generate=1", "live_rand=1", true},
		{"send=ascii_set,value_range=10", "value_size=N, and a template for each size", true},
		{"send=ascii_set,value_range_step=10", "value_size=N, and a template for each size", true},
		{"send=ascii_get,mget_cuont=3", "no such key (did you mean mget_count?)", true},
		{"send=ascii_get,whatever=3", "no such key (the keys are send, recv, conns", true},
		{"send=ascii_get,mget_count=3", "mget_count=3: no effect with send=ascii_get (leave it out, or send=ascii_mget)", true},
		{"send=ascii_incr,value_size=3", "value_size=3: no effect with send=ascii_incr", true},
		{"send=ascii_get,value=3", "value=3: no effect", true},
		{"send=ascii_get,expire=3", "expire=3: no effect", true},
		{"send=ascii_touch,flags=3", "flags=3: no effect", true},
		{"send=ascii_get,cmd_postfix=s", "cmd_postfix=s: no effect", true},
		{"send=ascii_get,zipf_skew=0.9", "zipf_skew=0.9: no effect without live_rand_zipf", true},
		{"send=ascii_get,live_rand=0", "live_rand=0: mc-crusher takes any value for yes", true},
		{"send=ascii_get,live_rand_zipf=0", "live_rand_zipf=0: mc-crusher takes any value for yes", true},
		{"send=ascii_get,live_rand=1,live_rand_zipf=1", "live_rand=1: the line says live_rand_zipf, too (choose one)", true},
		{"send=ascii_set,value=hi,value_size=3", "value_size=3: value=hi is 2 bytes long and wins", true},
	} {
		var c1, c2 Conf
		c1.Read("conf", "# first\n"+c.line+"\n", false)
		if len(c1.Problems) != 1 || len(c1.Templates) > 0 || !strings.HasPrefix(c1.Problems[0].Error(), "conf:2: ") ||
			!strings.Contains(c1.Problems[0].Error(), c.want) || !strings.HasSuffix(c1.Problems[0].Error(), ")") {
			t.Errorf("%s: %v, want %s", c.line, c1.Problems, c.want)
		}
		c2.Read("conf", "# first\n"+c.line+"\n", true)
		if lenient := len(c2.Problems) == 0; lenient != c.idle || lenient && (len(c2.Warnings) != 1 || len(c2.Templates) != 1) {
			t.Errorf("%s, lenient: problems %v, warnings %v", c.line, c2.Problems, c2.Warnings)
		}
	}
}

// All problems of a file are found at once.
func TestAllProblems(t *testing.T) {
	var c Conf
	c.Read("f", "recv=x,conns=0,foo=3\nsend=ascii_get\nbogus", false)
	var got []string
	for _, p := range c.Problems {
		got = append(got, strings.SplitN(p.Error(), " (", 2)[0])
	}
	want := "f:1: conns=0: out of range\nf:1: foo=3: no such key\nf:1: send: not given\nf:3: bogus: no key=value\nf:3: send: not given"
	if strings.Join(got, "\n") != want {
		t.Errorf("got\n%s", strings.Join(got, "\n"))
	}
	c = Conf{}
	c.Read("f", strings.Repeat("send=ascii_get\n", mostTemplates+1), false)
	if len(c.Problems) != 1 || !strings.Contains(c.Problems[0].Error(), "f:256: more than 255 templates") {
		t.Errorf("256 templates: %v", c.Problems)
	}
}

// FuzzConf: no file crashes the reader, and each line is a template, a problem, blank or a comment.
func FuzzConf(f *testing.F) {
	for _, s := range []string{s0Get, s0Set, "# c\n\nsend=ascii_mg,cmd_postfix=s v q", "send=ascii_get,key_prealloc=1", "=,==,\x00", "send=ascii_mget,mget_count=5,thread=2"} {
		f.Add(s, false)
		f.Add(s, true)
	}
	f.Fuzz(func(t *testing.T, text string, lenient bool) {
		var c Conf
		c.Read("f", text, lenient)
		lines := 0
		for line := range strings.Lines(text) {
			if line = strings.TrimSpace(line); line != "" && line[0] != '#' {
				lines++
			}
		}
		bad := map[int]bool{}
		for _, p := range c.Problems {
			if p.Error() == "" || p.Cause == "" || p.Mend == "" {
				t.Errorf("problem without words: %+v", p)
			}
			bad[p.Line] = true
		}
		if len(c.Templates)+len(bad) < lines {
			t.Errorf("%d templates and %d bad lines of %d", len(c.Templates), len(bad), lines)
		}
		if !lenient && len(c.Warnings) > 0 {
			t.Errorf("warnings: %v", c.Warnings)
		}
		for _, x := range c.Templates {
			if x.Send == nil || x.Conns < 1 || x.Pipelines < 1 || x.KeyCount < 1 || x.MgetCount < 1 || longest(x) > keyMost {
				t.Errorf("%+v", x)
			}
		}
	})
}

// The conf files that come with mc-crusher are read, where it is installed.
func TestShipped(t *testing.T) {
	dir := os.Getenv("GODWIT_MCCRUSHER_CONF")
	files, _ := filepath.Glob(filepath.Join(dir, "*"))
	if dir == "" || len(files) == 0 {
		t.Skip("GODWIT_MCCRUSHER_CONF does not name mc-crusher's folder conf")
	}
	for _, name := range files {
		text, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var c Conf
		c.Read(filepath.Base(name), string(text), true)
		if len(c.Problems) > 0 || len(c.Templates) == 0 {
			t.Errorf("%s: %v", name, c.Problems)
		}
		for _, w := range c.Warnings {
			if w.Key != "key_prealloc" {
				t.Error(w)
			}
		}
	}
}
