package study

import (
	"os"
	"strings"
	"testing"
	"time"
)

const small = `name = "small"
[load]
args = "--threads=1 --clients=2 --ratio=1:10"
[[server]]
name = "a"
command = "memcached -p {port}"
`

func TestParse(t *testing.T) {
	f, err := Parse("small.toml", small)
	if err != nil {
		t.Fatal(err)
	}
	if f.Search.By != Fixed || f.Runs.Repetitions != 3 || f.Runs.Window != Duration(10*time.Second) || f.Runs.Order != "abba" || f.Baseline != "a" || f.Server[0].Protocol != "memcache_text" {
		t.Errorf("what is left out became %+v", f)
	}
}

func TestParseErrors(t *testing.T) {
	with := func(what string) string { return small + what + "\n" }
	for _, c := range []struct{ name, text, want string }{
		{"syntax", "name = \"x\"\nquestion = nothing\n", "x.toml:2: "},
		{"unknown key", with("[runs]\nrepetitons = 3"), `x.toml:8: unknown key "runs.repetitons"; did you mean "repetitions"?`},
		{"unknown key at the top", "baselin = \"x\"\n" + small, `x.toml:1: unknown key "baselin"; did you mean "baseline"?`},
		{"unknown table", with("[zebra]\nx = 1"), `x.toml:7: unknown key "zebra"`},
		{"unknown key of a server", with("colour = \"red\""), `x.toml:7: unknown key "server.colour"; take it out`},
		{"duration", with("[runs]\nwindow = \"soon\""), `write one like`},
		{"no name", strings.Replace(small, `name = "small"`, "", 1), "a study needs a name"},
		{"no server", "name = \"x\"\n[load]\nargs = \"-c 1\"\n", "no server to measure"},
		{"no port", strings.Replace(small, "{port}", "11211", 1), "x.toml:6: server.command: a: the command must have {port}"},
		{"quote", strings.Replace(small, "{port}", "{port} 'x", 1), "is not closed"},
		{"two of a name", with("[[server]]\nname = \"a\"\ncommand = \"x {port}\""), `two servers are called "a"`},
		{"baseline", "baseline = \"b\"\n" + small, `x.toml:1: baseline: no server is called "b"`},
		{"search", with("[search]\nby = \"luck\""), `x.toml:8: search.by: unknown search "luck"; there are fixed, rate, concurrency, instances`},
		{"promise", with("[search]\nby = \"rate\"\nmin = 1\nmax = 2"), "a search needs a promise to keep"},
		{"bounds", with("[target]\np99 = \"1ms\"\n[search]\nby = \"rate\"\nmin = 9\nmax = 2"), "x.toml:12: search.max: a search by rate goes from min to max"},
		{"half a server", with("[target]\np99 = \"1ms\"\n[search]\nby = \"instances\"\nmax = 2.5"), "a whole number from 1"},
		{"dimensions", with("[target]\np99 = \"1ms\"\n[search]\nby = \"concurrency\""), "needs max_threads, max_clients and max_pipeline"},
		{"price without a date", with("price = 0.5"), "a price needs its list and date"},
		{"order", with("[runs]\norder = \"alphabetical\""), `there are "abba" and "random"`},
		{"errors", with("[target]\nerrors = 2"), "a share of requests is from 0 to 1"},
		{"load", strings.Replace(small, "--clients=2", "--clints=2", 1), "x.toml:3: load.args: a: "},
		{"face", strings.Replace(small, "[load]", "[load]\nface = \"smile\"", 1), `x.toml:3: load.face: unknown face "smile"; there are memtier and crusher`},
		{"template", strings.Replace(strings.Replace(small, "[load]", "[load]\nface = \"crusher\"", 1), "--threads=1", "--template send=ascii_gte", 1), "x.toml:4: load.args: a: "},
		{"no template", strings.Replace(small, "[load]", "[load]\nface = \"crusher\"", 1), "crusher needs a template"},
		{"fill", strings.Replace(small, "[[server]]", "fill = \"--ratio=x\"\n[[server]]", 1), "x.toml:4: load.fill: a: "},
	} {
		_, err := Parse("x.toml", c.text)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, where %q is wanted", c.name, err, c.want)
		}
	}
}

func TestPresets(t *testing.T) {
	if got := strings.Join(Presets(), " "); got != "s0 s1 s2 s3 s4" {
		t.Errorf("presets: %s", got)
	}
	for _, name := range Presets() {
		text, _ := preset(name)
		f, err := Parse(name, text)
		if err != nil {
			t.Error(err)
			continue
		}
		f.quick()
		if len(f.Chosen) == 0 || f.Source == "" || f.Question == "" || len(f.Server) < 2 {
			t.Errorf("%s does not say all that a study has to", name)
		}
		if f.Runs.Window > Duration(3*time.Second) || f.Runs.Repetitions > 6 {
			t.Errorf("%s --quick is not quick: %+v", name, f.Runs)
		}
	}
}

func TestWords(t *testing.T) {
	for line, want := range map[string]string{
		"":                     "",
		"a  b\tc":              "a|b|c",
		`--save '' x`:          "--save||x",
		`"a b"'c d' "it's"`:    "a bc d|it's",
		" lead and trail \n x": "lead|and|trail|x",
	} {
		got, err := words(line)
		if err != nil || strings.Join(got, "|") != want {
			t.Errorf("%q: %q, %v", line, got, err)
		}
	}
}

func FuzzParse(f *testing.F) {
	f.Add(small)
	for _, name := range Presets() {
		text, _ := preset(name)
		f.Add(text)
	}
	f.Add("name = \"x\"\n[runs]\nwindow = \"9999999h\"\n")
	f.Add("[[server]]\nname = 1\n")
	f.Add("a.b.c = {d = [[server]]}")
	f.Fuzz(func(t *testing.T, text string) {
		file, err := Parse("x.toml", text)
		if err != nil {
			if !strings.HasPrefix(err.Error(), "x.toml:") {
				t.Errorf("an error without its place: %v", err)
			}
			return
		}
		file.quick()
		for i := range file.Server {
			if _, err := file.Server[i].command("godwit", 1, 1); err != nil {
				t.Errorf("a command that was checked: %v", err)
			}
		}
	})
}

func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "study": // the client process of a study in the tests
			os.Exit(Main("study", os.Args[2:], os.Stdout, os.Stderr))
		case "toy":
			os.Exit(toy(os.Args[2:]))
		}
	}
	os.Exit(m.Run())
}
