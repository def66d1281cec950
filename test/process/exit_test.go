//go:build unix

package process

import (
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
)

// TestCommandLines runs what memcached was recorded with (see internal/config) and expects the same status and output.
func TestCommandLines(t *testing.T) {
	if os.Getuid() != 0 {
		t.Skip("the recorded command lines change the user, which only root can")
	}
	data, err := os.ReadFile("../../internal/config/testdata/cmdline.txt")
	if err != nil {
		t.Fatal(err)
	}
	user := "no-such-user"
	n := 0
	for _, block := range strings.Split("\n"+string(data), "\n$ ") {
		head, rest, ok := strings.Cut(block, "\nexit ")
		if ok {
			code, out, _ := strings.Cut(rest, "\n")
			before, after, changed := strings.Cut(out, "# user ")
			if !strings.HasSuffix(before, "\n") && before != "" {
				before += "\n"
			}
			n++
			if !testing.Short() || n%10 == 0 {
				if got, text := run(t, command(append([]string{"-u", user}, words(head)...)...)); strconv.Itoa(got) != code || text != before {
					t.Errorf("%s\ngot  %d %q\nwant %s %q", head, got, text, code, before)
				}
			}
			if changed {
				user = strings.TrimSpace(after)
			}
		}
	}
	if n < 300 {
		t.Errorf("only %d command lines found", n)
	}
}

// words cuts a line at spaces, except within '…'.
func words(line string) (out []string) {
	for i, part := range strings.Split(line, "'") {
		if i%2 == 1 {
			out = append(out, "")
			out[len(out)-1] = part
			continue
		}
		out = append(out, strings.Fields(part)...)
	}
	return out
}

func TestExit(t *testing.T) {
	root := asRoot()
	busy, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	defer busy.Close()
	port := strconv.Itoa(busy.Addr().(*net.TCPAddr).Port)
	malformed := filepath.Join(t.TempDir(), "users")
	os.WriteFile(malformed, []byte("no colon\n"), 0o600)
	for _, tc := range []struct {
		name string
		args []string
		code int
		out  string
	}{
		{"port in use", []string{"-l", "127.0.0.1", "-p", port}, 71,
			"failed to listen on one of interface(s) 127.0.0.1: Address already in use\n"},
		{"daemon, port in use", []string{"-d", "-l", "127.0.0.1", "-p", port}, 71,
			"failed to listen on one of interface(s) 127.0.0.1: Address already in use\n"},
		{"UDP port in use", []string{"-l", "127.0.0.1:x"}, 71, "Invalid port number: \"x\"\nfailed to listen on one of interface(s) 127.0.0.1:x: Success\n"},
		{"no such host", []string{"-l", "no-such-host.invalid"}, 71,
			"getaddrinfo(): Name or service not known\nfailed to listen on one of interface(s) no-such-host.invalid: Success\n"},
		{"port below -1", []string{"-p", "-2"}, 71,
			"getaddrinfo(): Servname not supported for ai_socktype\nfailed to listen on TCP port -2: Success\n"},
		{"unix socket without directory", []string{"-s", "/nonexistent/s"}, 71,
			"bind(): No such file or directory\nfailed to listen on UNIX socket: /nonexistent/s: No such file or directory\n"},
		{"no auth file", []string{"-Y", "/nonexistent"}, 1,
			"Could not open authfile [/nonexistent] for reading, error No such file or directory: No such file or directory\n"},
		{"malformed auth file", []string{"-Y", malformed}, 1,
			"Authfile [" + malformed + "] has a malformed entry. Should be 'user:password'\n"},
		{"auth file and UDP", []string{"-Y", "/nonexistent", "-U", "5"}, 64,
			"Cannot use UDP with ascii authentication enabled (-U 0 to disable)\n"},
		{"TLS without files", []string{"-Z"}, 64, "Error loading the certificate chain: (null) : no file given\n"},
		{"TLS with a missing file", []string{"-Z", "-o", "ssl_chain_cert=/nonexistent"}, 64,
			"Error loading the certificate chain: /nonexistent : No such file or directory\n"},
		{"version", []string{"-V"}, 0, "memcached 1.6.45\n"},
	} {
		t.Run(tc.name, func(t *testing.T) {
			code, out := run(t, command(append(root[:len(root):len(root)], tc.args...)...))
			if code != tc.code || out != tc.out {
				t.Errorf("got  %d %q\nwant %d %q", code, out, tc.code, tc.out)
			}
		})
	}
}

// TestSecondServer has no -l: both want all addresses of the port.
func TestSecondServer(t *testing.T) {
	first := start(t)
	port := strconv.Itoa(first.port)
	code, out := run(t, command(append(asRoot(), "-p", port)...))
	if want := "failed to listen on TCP port " + port + ": Address already in use\n"; code != 71 || out != want {
		t.Errorf("got %d %q, want 71 %q", code, out, want)
	}
}

func TestFaces(t *testing.T) {
	dir := t.TempDir()
	link := filepath.Join(dir, "memcached")
	if err := os.Symlink(bin, link); err != nil {
		t.Fatal(err)
	}
	for _, tc := range []struct {
		cmd  *exec.Cmd
		code int
		has  string
	}{
		{exec.Command(link, "-V"), 0, "memcached 1.6.45\n"},
		{exec.Command(link, "-z"), 1, link + ": invalid option -- 'z'\nIllegal argument \"?\"\n"},
		{exec.Command(bin, "memcached", "-V"), 0, "memcached 1.6.45\n"},
		{exec.Command(bin, "memcached", "-z"), 1, bin + " memcached: invalid option -- 'z'\n"},
		{exec.Command(bin, "memcached", "-h"), 0, "-p, --port=<num>          TCP port to listen on (default: 11211)\n"},
		{exec.Command(bin, "version"), 0, "godwit "},
		{exec.Command(bin, "--version"), 0, "godwit "},
		{exec.Command(bin, "help"), 0, "nc 127.0.0.1 11211"},
		{exec.Command(bin, "--help"), 0, "Commands:"},
		{exec.Command(bin, "serve", "--help"), 0, "Commands:"},
		{exec.Command(bin, "bogus"), 64, "unknown command \"bogus\"; see "},
		{exec.Command(bin, "-c", "0"), 1, "Maximum connections must be greater than 0\n"},
	} {
		if code, out := run(t, tc.cmd); code != tc.code || !strings.Contains(out, tc.has) {
			t.Errorf("%q: got %d %q, want %d and %q", tc.cmd.Args, code, out, tc.code, tc.has)
		}
	}
}
