package ycsb

import (
	"fmt"
	"os"
	"slices"
	"strings"

	"godwit/internal/load/agent"
	"godwit/internal/nearest"
)

// words are what a command line says.
type words struct {
	load  bool
	redis bool
	help  bool
	top   bool
	quiet bool
	props []property
	warn  []string

	agents    []string // host:port
	tokenFile string
}

// option of the command line. Both dialects may write one or two dashes.
type option struct {
	names []string
	prop  string // it is short for this property
	flag  string // value of prop when it takes no argument
	does  func(w *words, arg string) error
}

var options = []option{
	{names: []string{"P", "property_file"}, does: (*words).file},
	{names: []string{"p", "prop"}, does: (*words).prop},
	{names: []string{"threads"}, prop: "threadcount"},
	{names: []string{"target"}, prop: "target"},
	{names: []string{"s"}, prop: "status", flag: "true"},
	{names: []string{"l", "label"}, prop: "label"},
	{names: []string{"interval"}, does: func(w *words, arg string) error {
		w.set("status", "true", "--interval")
		w.set("status.interval", arg, "--interval")
		return nil
	}},
	{names: []string{"table"}, prop: "table"},
	{names: []string{"workload"}, does: (*words).preset},
	{names: []string{"load"}, flag: "load", does: func(w *words, _ string) error { w.load = true; return nil }},
	{names: []string{"t"}, flag: "t", does: func(w *words, _ string) error { w.load = false; return nil }},
	{names: []string{"top"}, flag: "top", does: func(w *words, _ string) error { w.top = true; return nil }},
	{names: []string{"quiet"}, flag: "quiet", does: func(w *words, _ string) error { w.quiet = true; return nil }},
	{names: []string{"agents"}, does: func(w *words, arg string) (err error) {
		w.agents, err = agent.ParseList(arg)
		return err
	}},
	{names: []string{"agent-token-file"}, does: func(w *words, arg string) error { w.tokenFile = arg; return nil }},
	{names: []string{"h", "help"}, flag: "help", does: func(w *words, _ string) error { w.help = true; return nil }},
	{names: []string{"db", "cp", "jvm-args"}, does: func(w *words, arg string) error {
		w.warn = append(w.warn, fmt.Sprintf("%q is for YCSB's Java launcher and has no meaning here", arg))
		return nil
	}},
}

// parseArgs reads a command line. Properties of -p count more than those of files, and among equals the last one.
func parseArgs(args []string) (*words, error) {
	w := &words{}
	var files []property // of -P, kept apart until the end
	phase, database, preset := false, false, false
	for len(args) > 0 {
		arg := args[0]
		args = args[1:]
		if !strings.HasPrefix(arg, "-") || arg == "-" {
			switch {
			case !phase && (arg == "load" || arg == "run"):
				w.load, phase = arg == "load", true
			case !phase && arg == "shell":
				return nil, fmt.Errorf("shell: there is none (use load or run)")
			case !database && (arg == "memcached" || arg == "redis"):
				w.redis, database = arg == "redis", true
			case !preset && presetOf(arg) != nil:
				files = append(files, presetOf(arg)...)
				preset = true
			default:
				return nil, fmt.Errorf("%q: unknown (write: load|run memcached|redis [a|b|c|d|e|f] [options])", arg)
			}
			continue
		}
		name, value, has := strings.Cut(strings.TrimPrefix(strings.TrimPrefix(arg, "-"), "-"), "=")
		o := findOption(name)
		if o == nil && !strings.HasPrefix(arg, "--") && len(arg) > 2 && strings.ContainsRune("pP", rune(arg[1])) {
			o, value, has = findOption(arg[1:2]), arg[2:], true // -pname=value
		}
		switch {
		case o == nil:
			return nil, fmt.Errorf("option %s: unknown (%s)", arg, meant(name))
		case o.flag != "":
			if has {
				return nil, fmt.Errorf("option %s: takes no value", arg)
			}
		case !has:
			if len(args) == 0 {
				return nil, fmt.Errorf("option %s: a value must follow", arg)
			}
			value, args = args[0], args[1:]
		}
		if name == "load" || name == "t" {
			phase = true
		}
		if o.prop != "" {
			if o.flag != "" {
				value = o.flag
			}
			w.set(o.prop, value, "-"+name)
			continue
		}
		before := len(w.props)
		if err := o.does(w, value); err != nil {
			return nil, err
		}
		if o.names[0] == "P" || o.names[0] == "workload" {
			files = append(files, w.props[before:]...)
			w.props = w.props[:before]
		}
	}
	w.props = append(files, w.props...)
	for i := len(w.props) - 1; i >= 0 && !phase; i-- {
		if w.props[i].name == "dotransactions" {
			w.load, phase = strings.EqualFold(w.props[i].value, "false"), true
		}
	}
	if !phase && !w.help {
		return nil, fmt.Errorf("load or run: neither is given (write: load memcached a, then: run memcached a; see --help)")
	}
	switch {
	case len(w.agents) > 0 && w.tokenFile == "":
		return nil, fmt.Errorf("--agents: only those who know the agents' secret can use them (add --agent-token-file FILE)")
	case len(w.agents) == 0 && w.tokenFile != "":
		return nil, fmt.Errorf("--agent-token-file %s: there are no agents (add --agents LIST)", w.tokenFile)
	}
	return w, nil
}

// forAgents is the command line for agents: all that it says of the load, with properties instead of files.
func (w *words) forAgents() []string {
	args := []string{"run", "memcached"}
	if w.load {
		args[0] = "load"
	}
	if w.redis {
		args[1] = "redis"
	}
	for _, p := range w.props {
		args = append(args, "-p", p.name+"="+p.value)
	}
	return args
}

// meant is what to say of an option that there is none of.
func meant(name string) string {
	var names []string
	for i := range options {
		names = append(names, options[i].names...)
	}
	if near := nearest.Name(name, names); near != "" {
		return "did you mean -" + near + "?"
	}
	return "see --help"
}

func findOption(name string) *option {
	for i := range options {
		if slices.Contains(options[i].names, name) {
			return &options[i]
		}
	}
	return nil
}

func (w *words) set(name, value, where string) {
	w.props = append(w.props, property{name, value, where})
}

// prop is -p name=value.
func (w *words) prop(arg string) error {
	name, value, ok := strings.Cut(arg, "=")
	if !ok || name == "" {
		return fmt.Errorf("-p %q: no property (write -p name=value)", arg)
	}
	w.set(strings.TrimSpace(name), strings.TrimSpace(value), "-p")
	return nil
}

// file is -P.
func (w *words) file(name string) error {
	text, err := os.ReadFile(name)
	if err != nil {
		if p := presetOf(name); p != nil {
			return w.preset(name)
		}
		return fmt.Errorf("-P: %w (the core workloads are built in: give a, b, c, d, e or f)", err)
	}
	props, err := parseProperties(name, string(text))
	if err != nil {
		return err
	}
	w.props = append(w.props, props...)
	return nil
}
