package cli

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"godwit/internal/load/memtier"
)

var updateMan = flag.Bool("update-man", false, "write the man pages of the load generators")

// pages of the load generators: what comes before the text that --help prints, or before the options.
var pages = []struct{ command, name, about, body string }{
	{"memtier", "load a memcached or Redis server, with the options of memtier_benchmark", `
.B godwit memtier
sends sets and gets, or commands, to a memcached or Redis server over many connections, and says how many were answered and
how long that took.
Options, tables and files are those of
.BR memtier_benchmark (1)
2.3.0; called through a link of that name it behaves the same.
.SH OPTIONS
`, memtier.Man()},
	{"crusher", "load a memcached, with the conf files of mc-crusher", "", ""},
	{"ycsb", "load a memcached or Redis server with YCSB's workloads", "", ""},
	{"sim", "miss ratios of eviction policies and cache sizes on a trace", "", ""},
	{"study", "measure servers side by side", "", ""},
	{"report", "draw the report of a study", "", ""},
	{"agent", "run loads that another machine shares out", "", ""},
}

// TestManPages keeps the man pages equal to what the commands say of themselves.
func TestManPages(t *testing.T) {
	for _, p := range pages {
		var b strings.Builder
		b.WriteString(".\\\" Written by make man.\n.TH GODWIT-" + strings.ToUpper(p.command) + " 1 \"\" \"godwit\" \"User Commands\"\n")
		b.WriteString(".SH NAME\ngodwit\\-" + p.command + " \\- " + roff(p.name) + "\n")
		b.WriteString(".SH SYNOPSIS\n.B godwit " + p.command + "\n.RI [ option ...]\n.SH DESCRIPTION")
		if p.body != "" {
			b.WriteString(p.about + p.body)
		} else {
			var out, errs bytes.Buffer
			if code := Main([]string{"godwit", p.command, "--help"}, &out, &errs); code != 0 {
				t.Fatalf("%s --help: exit status %d: %s", p.command, code, errs.String())
			}
			b.WriteString("\n.nf\n")
			for line := range strings.Lines(out.String()) {
				if line[0] == '.' || line[0] == '\'' {
					line = "\\&" + line
				}
				b.WriteString(roff(line))
			}
			b.WriteString(".fi\n")
		}
		b.WriteString(".SH SEE ALSO\n.BR godwit (1)\n")
		file := "../../dist/godwit-" + p.command + ".1"
		if *updateMan {
			if err := os.WriteFile(file, []byte(b.String()), 0o644); err != nil {
				t.Fatal(err)
			}
			continue
		}
		if old, err := os.ReadFile(file); err != nil || string(old) != b.String() {
			t.Errorf("%s is not what the command says of itself: run make man (%v)", file, err)
		}
	}
}

// roff escapes text.
func roff(s string) string {
	return strings.NewReplacer("\\", "\\e", "-", "\\-", "'", "\\(aq", "≥", ">=", "≤", "<=", "…", "...", "–", "\\-", "µ", "u").Replace(s)
}
