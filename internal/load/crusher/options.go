package crusher

import (
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"
	"time"

	"godwit/internal/load/agent"
)

// options is a command line.
type options struct {
	files     []string
	templates []string
	ip        string
	port      int
	sock      string
	timeout   time.Duration // 0: until all templates have stopped
	threads   int
	io        string
	seed      uint64
	check     bool
	lenient   bool
	stats     bool
	json      string // "-": stdout, "": none
	quiet     bool
	top       bool
	agents    []string // host:port
	tokenFile string
	token     []byte
	help      bool
	zipfN     uint64
	zipfS     float64
}

// loopDrivers are the values of --io.
var loopDrivers = []string{"auto", "epoll", "io_uring", "std"}

// newFlags are the options with their help texts, in the form of package flag: a name in back quotes stands for the value.
func newFlags(o *options) *flag.FlagSet {
	f := flag.NewFlagSet("crusher", flag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.Usage = func() {}
	f.Func("conf", "`file` of templates, one a line, - for standard input; may be given several times", appendTo(&o.files))
	f.Func("template", "a template itself, such as the `line` send=ascii_get,conns=4; may be given several times", appendTo(&o.templates))
	f.StringVar(&o.ip, "ip", "127.0.0.1", "`host` of the templates that name none")
	f.IntVar(&o.port, "port", 11211, "`port` of the templates that name none")
	f.StringVar(&o.sock, "sock", "", "`path` of a unix socket for all templates, instead")
	f.Func("timeout", "end after so many `seconds`; without it when all templates have stopped, or at ctrl-C", func(s string) error {
		d, err := seconds(s)
		o.timeout = d
		return err
	})
	f.IntVar(&o.threads, "threads", 1, "`number` of event loops that templates without thread=N share")
	f.StringVar(&o.io, "io", "auto", "event loop `driver`: "+strings.Join(loopDrivers, ", "))
	f.Uint64Var(&o.seed, "seed", 1, "`number` that decides what is drawn: the same again for the same number")
	f.BoolVar(&o.check, "check", false, "read the answers of blind templates, too: hits, errors, latency")
	f.BoolVar(&o.lenient, "lenient", false, "warn of keys without effect instead of refusing them")
	f.BoolVar(&o.stats, "stats", true, "hold the server's own counters against ours, if it answers stats; --stats=false: do not ask")
	f.StringVar(&o.json, "json", "", "`file` for the result as JSON, - for standard output")
	f.BoolVar(&o.quiet, "quiet", false, "no progress")
	f.BoolVar(&o.top, "top", false, "show the load on a screen of its own; q ends it")
	f.Func("agents", "share the load out to the machines of this `list`, host or host:port with commas between, where godwit agent runs", func(s string) (err error) {
		o.agents, err = agent.ParseList(s)
		return err
	})
	f.StringVar(&o.tokenFile, "agent-token-file", "", "`file` with the secret that the agents know")
	f.BoolVar(&o.help, "help", false, "this text")
	f.BoolVar(&o.help, "h", false, "this text")
	f.Uint64Var(&o.zipfN, "zipf-n", 0, "print 10 million draws from 0 to `n`-1 by a zipf law and exit")
	f.Float64Var(&o.zipfS, "zipf-s", 0.99, "its `exponent`")
	return f
}

func appendTo(list *[]string) func(string) error {
	return func(s string) error {
		*list = append(*list, s)
		return nil
	}
}

func seconds(s string) (time.Duration, error) {
	if d, err := time.ParseDuration(s); err == nil && d > 0 {
		return d, nil
	}
	v, err := strconv.ParseFloat(s, 64)
	if err != nil || !(v > 0 && v <= 1e9) {
		return 0, errors.New("no time (seconds above 0, such as 10 or 0.5)")
	}
	return time.Duration(v * float64(time.Second)), nil
}

// parseOptions reads a command line.
func parseOptions(args []string) (*options, error) {
	o := &options{}
	f := newFlags(o)
	if err := f.Parse(args); err != nil {
		return nil, mended(err)
	}
	bad := func(name string, value any, cause string) error { return fmt.Errorf("--%s %v: %s", name, value, cause) }
	switch {
	case o.help:
	case f.NArg() > 0:
		return nil, fmt.Errorf("%q: neither an option nor a helper (the conf file follows --conf; helpers are %s)", f.Arg(0), strings.Join(helperNames(), ", "))
	case o.port < 1 || o.port > 65535:
		return nil, bad("port", o.port, "no port (1 to 65535)")
	case o.threads < 1 || o.threads > 1024:
		return nil, bad("threads", o.threads, "out of range (1 to 1024)")
	case !slices.Contains(loopDrivers, o.io):
		return nil, bad("io", o.io, "no such driver ("+strings.Join(loopDrivers, ", ")+")")
	case o.zipfN > 0 && !(o.zipfS >= 0 && o.zipfS < 5):
		return nil, bad("zipf-s", o.zipfS, "no exponent of a zipf law (from 0 to below 5, such as 0.99)")
	case len(o.agents) > 0 && o.tokenFile == "":
		return nil, errors.New("--agents: only those who know the agents' secret can use them (add --agent-token-file FILE)")
	case len(o.agents) == 0 && o.tokenFile != "":
		return nil, bad("agent-token-file", o.tokenFile, "there are no agents (add --agents LIST)")
	case o.zipfN == 0 && len(o.files)+len(o.templates) == 0:
		return nil, errors.New("nothing to do (--conf FILE, or --template send=ascii_get,conns=4; --help explains)")
	}
	return o, nil
}

// readToken reads the agents' secret.
func (o *options) readToken() (err error) {
	if o.tokenFile == "" {
		return nil
	}
	if o.token, err = agent.ReadToken(o.tokenFile); err != nil {
		return fmt.Errorf("--agent-token-file: %w", err)
	}
	return nil
}

// forAgents is the command line for agents: what is to be sent and how, with templates instead of files.
func (o *options) forAgents(templates []*Template) []string {
	args := []string{
		"--ip", o.ip, "--port", strconv.Itoa(o.port), "--sock", o.sock, "--threads", strconv.Itoa(o.threads), "--io", o.io,
		"--seed", strconv.FormatUint(o.seed, 10), fmt.Sprintf("--check=%v", o.check), fmt.Sprintf("--lenient=%v", o.lenient),
	}
	if o.timeout > 0 {
		args = append(args, "--timeout", o.timeout.String())
	}
	for _, t := range templates {
		args = append(args, "--template", t.Text)
	}
	return args
}

// mended puts the words of package flag into ours.
func mended(err error) error {
	text := err.Error()
	if name, ok := strings.CutPrefix(text, "flag provided but not defined: -"); ok {
		return fmt.Errorf("--%s: no such option (--help lists them)", strings.TrimPrefix(name, "-"))
	}
	text = strings.NewReplacer("for flag -", "for --", "flag needs an argument: -", "a value must follow --").Replace(text)
	return errors.New(text)
}

// badConf are the problems of conf files.
type badConf []*Problem

func (b badConf) Error() string {
	var lines []string
	lenient := 0
	for _, p := range b {
		lines = append(lines, p.Error())
		if p.Idle {
			lenient++
		}
	}
	if lenient == len(b) {
		lines = append(lines, "--lenient makes warnings of such keys")
	}
	return strings.Join(lines, "\n")
}

// conf reads the templates that the options name.
func (o *options) conf() (*Conf, error) {
	c := &Conf{}
	for _, name := range o.files {
		var text []byte
		var err error
		if name == "-" {
			text, err = io.ReadAll(os.Stdin)
		} else {
			text, err = os.ReadFile(name)
		}
		if err != nil {
			return nil, fmt.Errorf("--conf %s: %w", name, err)
		}
		c.Read(name, string(text), o.lenient)
	}
	for i, line := range o.templates {
		c.line("--template", i+1, line, o.lenient)
	}
	if o.sock != "" {
		c.oneServer(o)
	}
	if len(c.Problems) > 0 {
		return nil, badConf(c.Problems)
	}
	if len(c.Templates) == 0 {
		return nil, fmt.Errorf("no templates in %s (one a line, such as send=ascii_get,conns=4)", strings.Join(o.files, ", "))
	}
	return c, nil
}

// oneServer finds templates that name a server although there is a socket for all.
func (c *Conf) oneServer(o *options) {
	for _, t := range c.Templates {
		for _, key := range []string{"host", "port"} {
			v, given := t.given[key]
			if !given {
				continue
			}
			p := &Problem{File: t.File, Line: t.Line, Key: key, Value: v, Cause: "no effect with --sock", Mend: "leave one of the two out", Idle: true}
			if o.lenient {
				c.Warnings = append(c.Warnings, p)
			} else {
				c.Problems = append(c.Problems, p)
			}
		}
	}
}
