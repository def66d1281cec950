package agent

import (
	"bytes"
	"context"
	"errors"
	"flag"
	"fmt"
	"io"
	"net"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"

	"github.com/coreos/go-systemd/v22/activation"
	systemd "github.com/coreos/go-systemd/v22/daemon"

	"godwit/internal/config"
	"godwit/internal/load"
)

// Port is where agents listen if nobody says otherwise.
const Port = "7170"

const usage = `godwit agent: a machine's part of a load that several machines share

Make a secret and have it on all machines, readable for you alone:
  (umask 077; head -c 32 /dev/urandom | base64 > agents.token)

Start an agent on each machine that is to send load:
  %[1]s --token-file agents.token

Run any load generator with the agents' addresses. Each sends its share, all begin together, the results are added up:
  godwit memtier --agents 10.0.0.5,10.0.0.6:7170 --agent-token-file agents.token -s 10.0.0.9 -c 50 -t 4

Options:
  --token-file FILE    the secret; at least %[2]d bytes, white space around it does not count
  --listen HOST:PORT   where to wait for coordinators; default :%[3]s, all addresses. A socket of systemd comes first
  --idle-exit TIME     end after so long without a job, such as 10m; default: never
  --quiet              no line for each job
  --help               this text

An agent does one job at a time and tells others that it is busy. It plans and sends, and writes no files: outputs that a
command line asks for are made where it was typed. Files that a load reads are read on each machine. Who has the secret can
make the agents send load anywhere and read such files, so treat it like a password; connections are encrypted, and the
secret itself is never sent. Agents and coordinator must be of the same release. Times of different machines' clocks are not
compared. Stop an agent with SIGINT or SIGTERM; a load under way then fails for all.
`

// Main is godwit agent; it gives the exit status.
func Main(prog string, args []string, faces map[string]load.Planner, stdout, stderr io.Writer) int {
	ctx, stop := signal.NotifyContext(context.Background(), syscall.SIGINT, syscall.SIGTERM)
	defer stop()
	return main(ctx, prog, args, faces, stdout, stderr, activation.Listeners)
}

func main(ctx context.Context, prog string, args []string, faces map[string]load.Planner, stdout, stderr io.Writer, passed func() ([]net.Listener, error)) int {
	set := flag.NewFlagSet(prog, flag.ContinueOnError)
	set.SetOutput(io.Discard)
	listen := set.String("listen", "", "")
	tokenFile := set.String("token-file", "", "")
	idle := set.Duration("idle-exit", 0, "")
	quiet := set.Bool("quiet", false, "")
	err := set.Parse(args)
	switch {
	case errors.Is(err, flag.ErrHelp):
		fmt.Fprintf(stdout, usage, prog, leastToken, Port)
		return 0
	case err == nil && set.NArg() > 0:
		err = fmt.Errorf("%q is not an option", set.Arg(0))
	case err == nil && *tokenFile == "":
		err = errors.New("--token-file is missing: the file with the secret that coordinators must know")
	case err == nil && *idle < 0:
		err = fmt.Errorf("--idle-exit %v: it must not be negative", *idle)
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v; see %s --help\n", prog, err, prog)
		return config.ExitUsage
	}
	token, err := ReadToken(*tokenFile)
	if err == nil {
		var ln net.Listener
		if ln, err = listener(*listen, passed); err == nil {
			log := logger(prog, stderr)
			if *quiet {
				log = nil
			} else {
				log("waits for coordinators on %s", ln.Addr())
			}
			systemd.SdNotify(false, systemd.SdNotifyReady)
			err = serve(ctx, ln, token, faces, log, usual, *idle)
			systemd.SdNotify(false, systemd.SdNotifyStopping)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "%s: %v\n", prog, err)
		return 1
	}
	return 0
}

// listener is the socket that systemd passed, or else one of our own.
func listener(addr string, passed func() ([]net.Listener, error)) (net.Listener, error) {
	list, err := passed()
	if err != nil {
		return nil, err
	}
	switch {
	case len(list) > 1 || len(list) == 1 && list[0] == nil:
		return nil, fmt.Errorf("systemd passed %d sockets: an agent needs one ListenStream", len(list))
	case len(list) == 1 && addr != "":
		return nil, fmt.Errorf("--listen %s: systemd passed a socket already; leave the option out, or stop the socket unit", addr)
	case len(list) == 1:
		return list[0], nil
	case addr == "":
		addr = ":" + Port
	}
	ln, err := net.Listen("tcp", addr)
	if err != nil {
		return nil, fmt.Errorf("--listen %s: %w", addr, err)
	}
	return ln, nil
}

// logger writes lines.
func logger(prog string, w io.Writer) func(string, ...any) {
	var mu sync.Mutex
	return func(format string, a ...any) {
		mu.Lock()
		defer mu.Unlock()
		fmt.Fprintf(w, "%s: %s\n", prog, fmt.Sprintf(format, a...))
	}
}

// leastToken is the length of the shortest token in bytes: it must not be guessed.
const leastToken = 16

func checkToken(token []byte) error {
	if len(token) < leastToken {
		return fmt.Errorf("a token of %d bytes: at least %d, so that nobody guesses it", len(token), leastToken)
	}
	return nil
}

// ReadToken reads the secret that agents and coordinators share from a file. White space around it does not count.
func ReadToken(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	const most = 4096
	b, err := io.ReadAll(io.LimitReader(f, most+1))
	if err != nil {
		return nil, err
	}
	if len(b) > most {
		return nil, fmt.Errorf("%s: more than %d bytes are no token", file, most)
	}
	b = bytes.TrimSpace(b)
	if err := checkToken(b); err != nil {
		return nil, fmt.Errorf("%s: %w", file, err)
	}
	return b, nil
}

// ParseList reads the addresses of agents, as --agents has them: host or host:port, separated by commas.
func ParseList(list string) ([]string, error) {
	var out []string
	for a := range strings.SplitSeq(list, ",") {
		a = strings.TrimSpace(a)
		host, port, err := net.SplitHostPort(a)
		if err != nil {
			host, port = strings.TrimSuffix(strings.TrimPrefix(a, "["), "]"), Port
		}
		if host == "" || strings.Contains(host, ":") && net.ParseIP(host) == nil {
			return nil, fmt.Errorf("agents %q: %q is no address; such as host, host:%s or [::1]:%s, separated by commas", list, a, Port, Port)
		}
		if _, err := net.LookupPort("tcp", port); err != nil {
			return nil, fmt.Errorf("agents %q: %q is no port", list, port)
		}
		out = append(out, net.JoinHostPort(host, port))
	}
	return out, nil
}
