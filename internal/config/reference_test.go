package config

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"
)

// record names a memcached binary to run the command lines of the table with again (as root), to rewrite the answers.
var record = flag.String("record", "", "memcached binary whose answers to record in testdata/cmdline.txt")

const cmdlines = "testdata/cmdline.txt"

// refCase is a command line and what memcached answered to it: exit status and everything it printed.
type refCase struct {
	user string // the user that the server was told to become
	line string
	code int
	out  string
}

// noUser is a user that does not exist: a command line that is right ends there, with status 67.
const noUser = "no-such-user"

func TestReference(t *testing.T) {
	head, cases := readCases(t)
	if *record != "" {
		writeCases(t, head, cases)
	}
	for _, c := range cases {
		t.Run(c.line, func(t *testing.T) {
			m, exit := ParseMemcached("memcached", split(t, c.line))
			if c.code == ExitNoUser {
				if exit != nil {
					t.Fatalf("memcached takes it, we answer %+v", exit)
				}
				if before, _, _ := strings.Cut(c.out, "can't find the user"); m.Warnings != before {
					t.Errorf("memcached warns:\n%swe have: %q", before, m.Warnings)
				}
				return
			}
			if exit == nil {
				t.Fatalf("taken; memcached exits with %d:\n%s", c.code, c.out)
			}
			if exit.Code != c.code || exit.Stdout+exit.Stderr != c.out {
				t.Errorf("got  %d %q\nwant %d %q", exit.Code, exit.Stdout+exit.Stderr, c.code, c.out)
			}
		})
	}
}

// readCases reads blocks of "$ command line", "exit N" and output lines, separated by "$"; "# user NAME" holds for what follows.
func readCases(t *testing.T) (head string, cases []refCase) {
	data, err := os.ReadFile(cmdlines)
	if err != nil {
		t.Fatal(err)
	}
	user := noUser
	for _, line := range strings.SplitAfter(string(data), "\n") {
		switch {
		case strings.HasPrefix(line, "# user "):
			user = strings.TrimSpace(line[len("# user "):])
		case strings.HasPrefix(line, "#"):
			head += line
		case strings.HasPrefix(line, "$"):
			cases = append(cases, refCase{user: user, line: strings.TrimSpace(line[1:]), code: -1})
		case len(cases) == 0 || line == "":
		case cases[len(cases)-1].code < 0:
			fmt.Sscanf(line, "exit %d", &cases[len(cases)-1].code)
		default:
			cases[len(cases)-1].out += line
		}
	}
	return head, cases
}

func writeCases(t *testing.T, head string, cases []refCase) {
	var b strings.Builder
	b.WriteString(head)
	user := noUser
	for i := range cases {
		c := &cases[i]
		if c.user != user {
			user = c.user
			fmt.Fprintf(&b, "# user %s\n", user)
		}
		ctx, stop := context.WithTimeout(t.Context(), 2*time.Second)
		cmd := exec.CommandContext(ctx, *record, append([]string{"-u", c.user}, split(t, c.line)...)...)
		cmd.Args[0] = "memcached"
		var out bytes.Buffer
		cmd.Stdout, cmd.Stderr = &out, &out
		err := cmd.Run()
		stop()
		c.code, c.out = cmd.ProcessState.ExitCode(), out.String()
		if exit := (*exec.ExitError)(nil); err != nil && (!errors.As(err, &exit) || c.code < 0) {
			t.Fatalf("%s: %v (it must not start a server)", c.line, err)
		}
		fmt.Fprintf(&b, "$ %s\nexit %d\n%s", c.line, c.code, c.out)
		if c.out != "" && !strings.HasSuffix(c.out, "\n") {
			t.Fatalf("%s: the output does not end with a line end", c.line)
		}
	}
	if err := os.WriteFile(cmdlines, []byte(b.String()), 0o644); err != nil {
		t.Fatal(err)
	}
}

// split cuts a line at spaces, except within '…'.
func split(t *testing.T, line string) (args []string) {
	for rest := line; rest != ""; {
		var word strings.Builder
		for rest != "" && rest[0] != ' ' {
			if rest[0] == '\'' {
				quoted, after, ok := strings.Cut(rest[1:], "'")
				if !ok {
					t.Fatalf("%s: quote without end", line)
				}
				word.WriteString(quoted)
				rest = after
				continue
			}
			word.WriteByte(rest[0])
			rest = rest[1:]
		}
		args = append(args, word.String())
		rest = strings.TrimLeft(rest, " ")
	}
	return args
}
