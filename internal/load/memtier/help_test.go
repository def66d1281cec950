package memtier

import (
	"strings"
	"testing"
)

func TestHelp(t *testing.T) {
	o, exit := Parse("godwit memtier", []string{"--threads=2", "--help", "--nonsense"})
	if o != nil || exit == nil || exit.Code != 0 || exit.Stderr != "" {
		t.Fatalf("got %v, %+v", o, exit)
	}
	for i := range table {
		if !strings.Contains(exit.Stdout, "--"+table[i].Long) {
			t.Errorf("--%s is missing", table[i].Long)
		}
	}
	for _, line := range strings.Split(exit.Stdout, "\n") {
		if len([]rune(line)) > helpWidth && !strings.HasPrefix(line, "  godwit memtier ") {
			t.Errorf("%d letters: %s", len([]rune(line)), line)
		}
	}
}

// TestExamples parses the examples as a shell would.
func TestExamples(t *testing.T) {
	for _, e := range examples {
		words, err := split(nil, []byte(e.args))
		if err != nil {
			t.Fatal(err)
		}
		var args []string
		for _, w := range words {
			args = append(args, string(w))
		}
		o, exit := Parse("memtier", args)
		if exit != nil || len(o.Warnings) > 0 {
			t.Errorf("%s: %+v", e.args, exit)
		}
	}
}

func TestVersion(t *testing.T) {
	for _, arg := range []string{"-v", "--version", "--versi"} {
		_, exit := Parse("memtier", []string{arg})
		if exit == nil || exit.Code != 0 || !strings.HasPrefix(exit.Stdout, "memtier_benchmark v=2.3.0 ") {
			t.Errorf("%s: %+v", arg, exit)
		}
	}
}

func TestMan(t *testing.T) {
	man := Man()
	for _, want := range []string{
		".SS Connection\n", "\\fB\\-p\\fR \\fIPORT\\fR, \\fB\\-\\-port\\fR=\\fIPORT\\fR\n",
		"\\fB\\-\\-tls\\fR\n", "Values: 1 to 65535. Default: 6379.\n", " Not in memtier_benchmark.\n",
	} {
		if !strings.Contains(man, want) {
			t.Errorf("%q is missing", want)
		}
	}
	for _, line := range strings.Split(man, "\n") {
		if strings.HasPrefix(line, "'") || strings.Contains(line, "…") {
			t.Errorf("bad line %s", line)
		}
	}
}
