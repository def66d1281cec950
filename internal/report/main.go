package report

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"godwit/internal/study/raw"
)

// Exit statuses.
const (
	exitFailed = 1
	exitUsage  = 2
	exitSlower = 3
)

const usage = `Draws the report of a study from its raw results; those of several machines side by side.

  godwit report raw.jsonl                     as text
  godwit report raw.jsonl -o report.html      as a page that needs nothing else
  godwit report a.jsonl b.jsonl -o report.md  two machines, as Markdown
  godwit report raw.jsonl -o windows.csv      a line for each window that was measured
  godwit report raw.jsonl --benchfmt          lines for benchstat
  godwit report raw.jsonl --fail-on-regression
                                              exit status 3 if a server is slower than the baseline of the study
`

// Main runs the command line and gives its exit status.
func Main(prog string, args []string, stdout, stderr io.Writer) int {
	fail := func(status int, format string, a ...any) int {
		fmt.Fprintf(stderr, prog+": "+format+"\n", a...)
		return status
	}
	var names []string
	out, bench, gate := "", false, false
	for i := 0; i < len(args); i++ {
		name, value, has := strings.Cut(args[i], "=")
		switch {
		case name == "-o" || name == "--out":
			if !has {
				if i++; i == len(args) {
					return fail(exitUsage, "%s needs the name of a file", name)
				}
				value = args[i]
			}
			out = value
		case args[i] == "--benchfmt":
			bench = true
		case args[i] == "--fail-on-regression":
			gate = true
		case args[i] == "-h" || args[i] == "--help":
			fmt.Fprint(stdout, usage)
			return 0
		case strings.HasPrefix(args[i], "-"):
			return fail(exitUsage, "unknown option %s; see %s --help", args[i], prog)
		default:
			names = append(names, args[i])
		}
	}
	if len(names) == 0 {
		return fail(exitUsage, "which raw files? godwit study run writes them; see %s --help", prog)
	}
	var files []file
	for _, name := range names {
		events, _, err := raw.Load(name)
		if err != nil {
			return fail(exitFailed, "%v", err)
		}
		files = append(files, file{name, events})
	}
	r, err := Build(files)
	if err != nil {
		return fail(exitFailed, "%s: %v", names[0], err)
	}
	var b bytes.Buffer
	switch ext := filepath.Ext(out); {
	case bench:
		r.Bench(&b)
	case ext == ".html" || ext == ".htm":
		err = r.HTML(&b)
	case ext == ".md":
		r.Text(&b, true)
	case ext == ".csv":
		err = r.CSV(&b)
	case ext == "" || ext == ".txt":
		r.Text(&b, false)
	default:
		return fail(exitUsage, "%s: reports end in .html, .md, .csv or .txt", out)
	}
	if err == nil && out != "" {
		err = os.WriteFile(out, b.Bytes(), 0o666)
	} else if err == nil {
		_, err = stdout.Write(b.Bytes())
	}
	if err != nil {
		return fail(exitFailed, "%v", err)
	}
	if gate && r.slower() {
		return fail(exitSlower, "a server is slower than the baseline %s", r.baseline())
	}
	return 0
}
