// Package cli is the command line of godwit: it picks the face that the process was called by and hands its arguments
// on. Called by cmd/godwit alone.
package cli

import (
	"fmt"
	"io"
	"path/filepath"
	"strings"

	"godwit/internal/config"
	"godwit/internal/load"
	"godwit/internal/load/agent"
	"godwit/internal/load/crusher"
	"godwit/internal/load/memtier"
	"godwit/internal/load/ycsb"
	"godwit/internal/report"
	"godwit/internal/server"
	"godwit/internal/sim"
	"godwit/internal/study"
)

// command is a subcommand. prog is what it was called as, for its error texts.
type command struct {
	name, summary string
	run           func(prog string, args []string, stdout, stderr io.Writer) int
}

// commands in the order of the help. It is filled by init because help prints it.
var commands []command

func init() {
	commands = []command{
		{"serve", "serve memcached clients on port 11211 with most of the memory (also without a subcommand)", serve},
		{"memcached", "be memcached: its options, its defaults, its exit status", memcached},
		{"memtier", "load a server, with the options and outputs of memtier_benchmark", memtier.Main},
		{"crusher", "load a memcached, with the conf files of mc-crusher", crusher.Main},
		{"ycsb", "load a server with YCSB's workloads", ycsb.Main},
		{"study", "measure servers side by side; find the most they do within a promised latency", study.Main},
		{"report", "draw the report of a study from its raw results", report.Main},
		{"agent", "wait for loads that another machine shares out", loadAgent},
		{"sim", "how much memory does a cache need? miss ratios of policies and sizes on a trace", sim.Main},
		{"version", "print the version", version},
		{"help", "print this text", help},
	}
}

// links are names under which a copy of or a link to the program is another one.
var links = map[string]func(prog string, args []string, stdout, stderr io.Writer) int{
	"memcached": memcached, "memcached-debug": memcached, "memtier_benchmark": memtier.Main, "mc-crusher": crusher.Main,
}

// faces of the load generators that agents can run.
var faces = map[string]load.Planner{"memtier": memtier.Plan, "crusher": crusher.Plan, "ycsb": ycsb.Plan}

// Main runs the program and gives its exit status. args[0] is the name it was called by.
func Main(args []string, stdout, stderr io.Writer) int {
	if run := links[filepath.Base(args[0])]; run != nil {
		return run(args[0], args[1:], stdout, stderr)
	}
	if len(args) == 1 {
		return serve(args[0], nil, stdout, stderr)
	}
	switch first := args[1]; first {
	case "-h", "--help":
		return help(args[0], nil, stdout, stderr)
	case "-V", "--version":
		return version(args[0], nil, stdout, stderr)
	default:
		for _, c := range commands {
			if c.name == first {
				return c.run(args[0]+" "+first, args[2:], stdout, stderr)
			}
		}
		if strings.HasPrefix(first, "-") {
			return serve(args[0], args[1:], stdout, stderr)
		}
		fmt.Fprintf(stderr, "%s: unknown command %q; see %s help\n", args[0], first, args[0])
		return config.ExitUsage
	}
}

func memcached(prog string, args []string, stdout, stderr io.Writer) int {
	set, exit := config.ParseMemcached(prog, args)
	if exit != nil {
		return leave(exit, stdout, stderr)
	}
	return server.Run(set, server.Options{UserRequired: true, Stderr: stderr})
}

func loadAgent(prog string, args []string, stdout, stderr io.Writer) int {
	return agent.Main(prog, args, faces, stdout, stderr)
}

// leave ends a command that the parser has answered.
func leave(exit *config.Exit, stdout, stderr io.Writer) int {
	io.WriteString(stdout, exit.Stdout)
	io.WriteString(stderr, exit.Stderr)
	return exit.Code
}

func version(_ string, _ []string, stdout, _ io.Writer) int {
	fmt.Fprintf(stdout, "godwit %s (equals memcached %s)\n", config.Version, config.MemcachedVersion)
	return 0
}
