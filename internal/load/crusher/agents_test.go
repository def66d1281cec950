package crusher

import (
	"bytes"
	"context"
	"net"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"godwit/internal/load"
	"godwit/internal/load/agent"
)

const token = "the secret of the tests"

// startAgents in this process, and gives the options that use them.
func startAgents(t *testing.T, n int) []string {
	ctx, cancel := context.WithCancel(context.Background())
	var list []string
	ended := make(chan error, n)
	for range n {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		list = append(list, ln.Addr().String())
		go func() { ended <- agent.Serve(ctx, ln, []byte(token), map[string]load.Planner{"crusher": Plan}, nil) }()
	}
	t.Cleanup(func() {
		cancel()
		for range n {
			if err := <-ended; err != nil {
				t.Error(err)
			}
		}
	})
	return []string{"--agents", strings.Join(list, ","), "--agent-token-file", tokenFile(t)}
}

func tokenFile(t *testing.T) string {
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(token+"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

// Agents send what one machine would, of a conf file that they do not have, and one report has it all.
func TestAgents(t *testing.T) {
	s := startMemcached(t)
	agents := startAgents(t, 2)
	conf := write(t, "# a comment\n\nsend=ascii_set,conns=3,value=1,stop_after=1001,key_count=1001\nsend=bin_get,conns=4,pipelines=3,stop_after=2000,key_prealloc=1,key_prefix=none\n")
	r, out, stderr := crush(t, 0, append(agents, "--conf", conf, "--port", s.port, "--lenient", "--top")...)
	if len(r.Templates) != 2 || r.Templates[0].Requests != 1001 || r.Templates[0].Where != conf+":3" || r.Templates[1].Misses != 2000 || r.Connections != 7 {
		t.Errorf("%+v", r)
	}
	if s.stats(t)["curr_items"] != 1001 {
		t.Error("some keys were not set")
	}
	if !agreed(&r) || r.Machines == nil || len(r.Machines.List) != 2 || r.Machines.List[0].Connections != 4 || r.Machines.List[1].Connections != 3 ||
		r.Machines.List[0].Requests+r.Machines.List[1].Requests != 3001 || !strings.Contains(out, "2 machines, which began within") {
		t.Errorf("%+v\n%s%s", r.Machines, out, stderr)
	}
	_, _, stderr = crush(t, exitFailed, append(agents, "--template", "send=ascii_get", "--port", s.port)...)
	if !strings.Contains(stderr, "part 1 of 2 has no connection") {
		t.Error(stderr)
	}
}

// What agents are told says all that matters to them, and nothing of files and outputs.
func TestForAgents(t *testing.T) {
	conf := write(t, "send=ascii_get,conns=2\n")
	for _, args := range [][]string{
		{"--conf", conf},
		{"--conf", conf, "--template", "send=ascii_set,value=a b", "--ip", "db", "--port", "7", "--timeout", "0.25", "--threads", "3", "--io", "std", "--seed", "9", "--check", "--lenient",
			"--stats=false", "--json", "f", "--quiet", "--top", "--agents", "a:1,b", "--agent-token-file", "t"},
		{"--conf", conf, "--sock", "/s"},
	} {
		o, err := parseOptions(args)
		if err != nil {
			t.Fatal(err)
		}
		c, err := o.conf()
		if err != nil {
			t.Fatal(err)
		}
		got, err := parseOptions(o.forAgents(c.Templates))
		if err != nil {
			t.Fatal(err)
		}
		want := *o
		want.files, want.templates = nil, nil
		for _, x := range c.Templates {
			want.templates = append(want.templates, x.Text)
		}
		want.stats, want.json, want.quiet, want.top, want.agents, want.tokenFile = true, "", false, false, nil, ""
		if !reflect.DeepEqual(got, &want) {
			t.Errorf("%q:\n%+v, want\n%+v", args, got, &want)
		}
		if _, err := Plan(args, 0, 0, 1); err != nil { // the files of outputs and of the secret are not looked at
			t.Error(err)
		}
	}
	for _, c := range []struct{ args, want string }{
		{"--agents a", "add --agent-token-file"}, {"--agent-token-file f", "add --agents"}, {"--agents ,", "is no address"},
	} {
		var out, stderr bytes.Buffer
		if rc := run(t.Context(), "crusher", append(strings.Fields(c.args), "--template", "send=ascii_get"), &out, &stderr); rc != exitUsage || !strings.Contains(stderr.String(), c.want) {
			t.Errorf("%s: %d, %s", c.args, rc, &stderr)
		}
	}
	var out, stderr bytes.Buffer
	if rc := run(t.Context(), "crusher", []string{"--agents", "a", "--agent-token-file", "/no/such/file", "--template", "send=ascii_get"}, &out, &stderr); rc != exitUsage {
		t.Errorf("%d, %s", rc, &stderr)
	}
}
