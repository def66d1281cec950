package study

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"os/exec"
	"strings"
	"sync"
	"syscall"
	"time"

	"godwit/internal/host"
	"godwit/internal/load"
	"godwit/internal/load/probe"
	"godwit/internal/study/raw"
)

const (
	patience = 20 * time.Second // for a server to answer
	mercy    = 5 * time.Second  // for a process to end when it is asked to
)

// process is one that the study started.
type process struct {
	cmd     *exec.Cmd
	words   []string
	port    int
	said    *tail
	ended   chan struct{} // closed when it has ended
	outcome error
}

// tail keeps the end of what is written.
type tail struct {
	mu sync.Mutex
	b  []byte
}

func (t *tail) Write(p []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.b = append(t.b, p...)
	if len(t.b) > 4096 {
		t.b = bytes.Clone(t.b[len(t.b)-2048:])
	}
	return len(p), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return strings.TrimSpace(string(t.b))
}

// start a command in dir, on the cores if there are any.
func start(words []string, dir string, cores host.Set, said *tail) (*process, error) {
	p := &process{cmd: exec.Command(words[0], words[1:]...), words: words, said: said, ended: make(chan struct{})}
	p.cmd.Dir = dir
	p.cmd.Stderr = said
	p.cmd.Stdout = said
	p.cmd.WaitDelay = time.Second
	apart(p.cmd)
	if err := launch(p.cmd, cores); err != nil {
		return nil, fmt.Errorf("starting %s: %w", raw.Shell(words), err)
	}
	go func() {
		p.outcome = p.cmd.Wait()
		close(p.ended)
	}()
	return p, nil
}

func launch(cmd *exec.Cmd, cores host.Set) error {
	if len(cores) == 0 {
		return cmd.Start()
	}
	return host.Start(cmd, cores)
}

// stop the process, and wait until it has ended.
func (p *process) stop() {
	if p == nil {
		return
	}
	p.cmd.Process.Signal(syscall.SIGTERM)
	select {
	case <-p.ended:
	case <-time.After(mercy):
		p.cmd.Process.Kill()
		<-p.ended
	}
}

// dead says how the process ended, nil while it runs.
func (p *process) dead() error {
	select {
	case <-p.ended:
		how := "it ended"
		if p.outcome != nil {
			how = p.outcome.Error()
		}
		if s := p.said.String(); s != "" {
			how += "; it said: " + s
		}
		return errors.New(how)
	default:
		return nil
	}
}

// await the server's first answer.
func (p *process) await(ctx context.Context, protocol string) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for {
		_, err := probe.Take(ctx, &load.Target{Network: "tcp", Address: p.address()}, protocol)
		if err == nil {
			return nil
		}
		if dead := p.dead(); dead != nil {
			return fmt.Errorf("%s did not start: %w", raw.Shell(p.words), dead)
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s does not answer on port %d after %v: %w; is its protocol %s?", raw.Shell(p.words), p.port, patience, err, protocol)
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func (p *process) address() string { return fmt.Sprintf("127.0.0.1:%d", p.port) }

// freePort is one that nobody listens on just now.
func freePort() (int, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return 0, err
	}
	defer l.Close()
	return l.Addr().(*net.TCPAddr).Port, nil
}

// work has a client process do a job on the cores.
func work(ctx context.Context, self string, j *job, cores host.Set) (*answer, error) {
	in, err := json.Marshal(j)
	if err != nil {
		return nil, err
	}
	var out bytes.Buffer
	said := &tail{}
	cmd := exec.Command(self, "study", clientWord)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = bytes.NewReader(in), &out, said
	apart(cmd)
	if err := launch(cmd, cores); err != nil {
		return nil, fmt.Errorf("starting the client: %w", err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	select {
	case err = <-ended:
	case <-ctx.Done():
		cmd.Process.Signal(syscall.SIGTERM)
		select {
		case err = <-ended:
		case <-time.After(2 * mercy):
			cmd.Process.Kill()
			err = <-ended
		}
	}
	if ctx.Err() != nil {
		return nil, ctx.Err()
	}
	a := &answer{}
	if err == nil {
		err = json.Unmarshal(out.Bytes(), a)
	}
	if err != nil {
		return nil, fmt.Errorf("the client process: %w %s", err, said)
	}
	if a.Error != "" {
		return nil, errors.New(a.Error)
	}
	if a.Interrupted {
		return nil, errors.New("the client process was interrupted")
	}
	return a, nil
}
