package config

import (
	"flag"
	"os"
	"strings"
	"testing"
)

var updateMan = flag.Bool("update-man", false, "write the options into the man page")

const (
	manPage  = "../../dist/godwit.1"
	manBegin = ".\\\" BEGIN OPTIONS, written by make man\n"
	manEnd   = ".\\\" END OPTIONS\n"
)

// TestManPage keeps the options in the man page equal to the table of settings.
func TestManPage(t *testing.T) {
	data, err := os.ReadFile(manPage)
	if err != nil {
		t.Fatal(err)
	}
	head, rest, ok1 := strings.Cut(string(data), manBegin)
	_, tail, ok2 := strings.Cut(rest, manEnd)
	if !ok1 || !ok2 {
		t.Fatalf("%s: the marks around the options are gone", manPage)
	}
	want := head + manBegin + manOptions() + manEnd + tail
	if *updateMan {
		if err := os.WriteFile(manPage, []byte(want), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	if string(data) != want {
		t.Errorf("%s does not tell the options as they are: run make man", manPage)
	}
}

func manOptions() string {
	var b strings.Builder
	section := func(rows []Row) {
		for i := range rows {
			r := &rows[i]
			b.WriteString(".TP\n" + manName(r) + "\n" + roff(r.Doc))
			facts := ""
			if r.Bounds != "" {
				facts += " Values: " + r.Bounds + "."
			}
			if r.Default != "" {
				facts += " Default: " + r.Default + "."
			}
			if r.NoEffect != "" {
				facts += " No effect here: " + r.NoEffect + "."
			}
			b.WriteString(roff(facts) + "\n")
		}
	}
	section(options)
	b.WriteString(".SS Words of \\-o\nSeveral are separated by commas.\n")
	section(words)
	return b.String()
}

func manName(r *Row) string {
	arg := ""
	if r.Meta != "" {
		arg = "\\fI" + roff(r.Meta) + "\\fR"
	}
	long := "\\-\\-" + roff(r.Long)
	if arg != "" && r.Long != "" {
		long += "\\fR=" + arg
	}
	switch {
	case strings.HasPrefix(r.Name(), "-o "):
		if arg != "" {
			arg = "=" + arg
		}
		return "\\fB" + roff(r.Long) + "\\fR" + arg
	case r.Short == 0:
		return "\\fB" + long + "\\fR"
	case r.Long == "":
		return "\\fB\\-" + string(rune(r.Short)) + "\\fR " + arg
	case arg != "":
		return "\\fB\\-" + string(rune(r.Short)) + "\\fR " + arg + ", \\fB" + long
	}
	return "\\fB\\-" + string(rune(r.Short)) + "\\fR, \\fB" + long + "\\fR"
}

// roff escapes text for a place within a line.
func roff(s string) string {
	return strings.NewReplacer("\\", "\\e", "-", "\\-", "'", "\\(aq", "≥", ">=", "≤", "<=", "…", "...", "–", "\\-").Replace(s)
}
