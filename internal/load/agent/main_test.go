package agent

import (
	"bytes"
	"context"
	"errors"
	"io"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// buffer may be written and read at the same time.
type buffer struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (b *buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.Write(p)
}

func (b *buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.b.String()
}

func none() ([]net.Listener, error) { return nil, nil }

func tokenFile(t *testing.T, content string) string {
	name := filepath.Join(t.TempDir(), "token")
	if err := os.WriteFile(name, []byte(content), 0o600); err != nil {
		t.Fatal(err)
	}
	return name
}

func TestMainErrors(t *testing.T) {
	good := tokenFile(t, "\n"+string(token)+" \n")
	two := func() ([]net.Listener, error) { return make([]net.Listener, 2), nil }
	for _, c := range []struct {
		args   []string
		passed func() ([]net.Listener, error)
		exit   int
		want   string
	}{
		{nil, none, 64, "godwit agent: --token-file is missing"},
		{[]string{"--bogus"}, none, 64, "not defined: -bogus; see godwit agent --help"},
		{[]string{"--token-file", good, "more"}, none, 64, `"more" is not an option`},
		{[]string{"--token-file", good, "--idle-exit", "-1s"}, none, 64, "must not be negative"},
		{[]string{"--token-file", good + "x"}, none, 1, "no such file"},
		{[]string{"--token-file", tokenFile(t, "short\n")}, none, 1, "a token of 5 bytes: at least 16"},
		{[]string{"--token-file", tokenFile(t, strings.Repeat("x", 5000))}, none, 1, "no token"},
		{[]string{"--token-file", good, "--listen", "256.0.0.1:x"}, none, 1, "256.0.0.1:x"},
		{[]string{"--token-file", good}, two, 1, "systemd passed 2 sockets"},
	} {
		var out, errs bytes.Buffer
		exit := main(t.Context(), "godwit agent", c.args, faces, &out, &errs, c.passed)
		if exit != c.exit || !strings.Contains(errs.String(), c.want) || strings.Count(errs.String(), "\n") != 1 || out.Len() > 0 {
			t.Errorf("%q: exit %d, %q; want %q", c.args, exit, errs.String(), c.want)
		}
	}
	var out bytes.Buffer
	if exit := Main("godwit agent", []string{"--help"}, faces, &out, io.Discard); exit != 0 || !strings.Contains(out.String(), "--idle-exit") {
		t.Errorf("help: exit %d, %q", exit, out.String())
	}
}

// The command serves on a socket that it was passed, and ends in good order when it is told to, or is idle for long.
func TestMainServes(t *testing.T) {
	noLeaks(t)
	server := echoServer(t)
	file := tokenFile(t, string(token))
	for _, idle := range []bool{false, true} {
		ln, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		ctx, stop := context.WithCancel(t.Context())
		var log buffer
		exit := make(chan int)
		go func() {
			args := []string{"--token-file", file}
			if idle {
				args = append(args, "--idle-exit", "2s")
			}
			exit <- main(ctx, "godwit agent", args, faces, io.Discard, &log, func() ([]net.Listener, error) { return []net.Listener{ln}, nil })
		}()
		job := Job{Agents: []string{ln.Addr().String()}, Token: token, Face: "toy", Args: []string{server, "1", "10"}}
		if _, err := run(t.Context(), job, nil, brisk); err != nil {
			t.Error(err)
		}
		if !idle {
			stop()
		}
		if code := <-exit; code != 0 || !strings.Contains(log.String(), "godwit agent: waits for coordinators on 127.0.0.1:") ||
			strings.Contains(log.String(), "no job for 2s") != idle {
			t.Errorf("exit %d, %q", code, log.String())
		}
		stop()
	}
}

func TestServeListenerBreaks(t *testing.T) {
	noLeaks(t)
	ln, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	time.AfterFunc(0, func() { ln.Close() })
	if err := Serve(t.Context(), ln, token, faces, nil); !errors.Is(err, net.ErrClosed) {
		t.Errorf("%v", err)
	}
	if err := Serve(t.Context(), ln, nil, faces, nil); err == nil {
		t.Error("no token is enough")
	}
}

func TestParseList(t *testing.T) {
	for _, c := range []struct {
		list, want, err string
	}{
		{"a", "a:7170", ""},
		{"10.0.0.1, b:80,[::1],[::1]:9,fe80::1", "10.0.0.1:7170 b:80 [::1]:7170 [::1]:9 [fe80::1]:7170", ""},
		{"", "", "is no address"},
		{"a,,b", "", `agents "a,,b": "" is no address`},
		{"a:b:c", "", "is no address"},
		{"a:99999", "", "is no port"},
		{":80", "", "is no address"},
	} {
		got, err := ParseList(c.list)
		if c.err == "" && (err != nil || !slices.Equal(got, strings.Fields(c.want))) || c.err != "" && (err == nil || !strings.Contains(err.Error(), c.err)) {
			t.Errorf("%q: %q, %v; want %q%q", c.list, got, err, c.want, c.err)
		}
	}
}
