package console

import (
	"context"
	"io"
	"os"
	"sync"
	"time"

	tea "charm.land/bubbletea/v2"

	"godwit/internal/load/result"
)

// Options of a Top.
type Options struct {
	Out   io.Writer // where the screen or the lines go: standard error, so that results can follow on standard output
	In    io.Reader // keys; nil: the terminal's
	Quiet bool      // no lines where there is no terminal
	// Stop ends the load, which is then expected to go on to its end as after an interrupt.
	Stop func()
	// Server gives the processor time that the server has used and the commands it has served, both since it began; nil:
	// they are not shown. probe.Probe.Used is one.
	Server func(ctx context.Context) (cpu time.Duration, commands uint64, err error)
	// Texts gives the errors so far, most frequent first; nil: they are counted by kind only.
	Texts func() []result.Text
}

// Top shows loads on a screen of its own, or, where there is no terminal, as lines.
type Top struct {
	o    Options
	prog *tea.Program
	done chan struct{} // the screen is gone
	news chan struct{} // there is a new state, or server
	ask  chan struct{} // the server is to be asked
	stop context.CancelFunc
	work sync.WaitGroup

	mu     sync.Mutex
	track  tracker
	latest *state
	server *server
	lines  *Progress // instead of the screen
	load   Load
	ended  bool
}

// NewTop shows the screen at once. Its End must be called, whatever happens.
func NewTop(o Options) *Top {
	t := &Top{o: o, done: make(chan struct{}), news: make(chan struct{}, 1), ask: make(chan struct{}, 1)}
	ctx, cancel := context.WithCancel(context.Background())
	t.stop = cancel
	if o.Server != nil {
		t.server = &server{perCommand: -1}
	}
	if !Terminal(o.Out) || os.Getenv("TERM") == "dumb" {
		close(t.done)
		t.instead("the screen needs a terminal: progress lines are shown instead")
		return t
	}
	options := []tea.ProgramOption{
		tea.WithOutput(o.Out), tea.WithFPS(10),
		// Signals are for the one who runs the load: it ends, and then the screen.
		tea.WithoutSignalHandler(),
	}
	if o.In != nil {
		options = append(options, tea.WithInput(o.In))
	}
	t.prog = tea.NewProgram(&model{state: &state{server: t.server}, stop: o.Stop}, options...)
	t.work.Go(func() {
		_, err := t.prog.Run()
		close(t.done)
		t.mu.Lock()
		ended := t.ended
		t.mu.Unlock()
		if err != nil && !ended {
			t.instead("the screen could not be shown (" + err.Error() + "): progress lines are shown instead")
		}
	})
	t.work.Go(t.pump)
	if o.Server != nil {
		t.work.Go(func() { t.serve(ctx) })
	}
	return t
}

// instead goes on with lines.
func (t *Top) instead(why string) {
	p := NewProgress(t.o.Out, t.o.Quiet)
	if !t.o.Quiet {
		p.Say("%s", why)
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	p.Begin(t.load)
	t.lines = p
}

// Begin a load, before its first Watch.
func (t *Top) Begin(l Load) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.load = l
	t.track.begin(l)
	if t.lines != nil {
		t.lines.Begin(l)
		return
	}
	t.latest = &state{load: l, server: t.server}
	poke(t.news)
}

func poke(c chan struct{}) {
	select {
	case c <- struct{}{}:
	default:
	}
}

// Watch is a drive.Hooks.Watch. It does not wait for the terminal.
func (t *Top) Watch(s *result.Snapshot) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines != nil {
		t.lines.Watch(s)
		return
	}
	st := t.track.next(s)
	if st.server = t.server; t.o.Texts != nil {
		st.texts = append(st.texts, t.o.Texts()...)
	}
	t.latest = st
	poke(t.news)
	poke(t.ask)
}

// End takes the screen away and leaves the terminal as it was. It may be called more than once.
func (t *Top) End() {
	t.mu.Lock()
	t.ended = true
	t.mu.Unlock()
	t.stop()
	if t.prog != nil {
		t.prog.Quit()
		t.work.Wait()
	}
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.lines != nil {
		t.lines.End()
	}
}

// pump takes states to the screen, which may be slow: a terminal can be stopped.
func (t *Top) pump() {
	for {
		select {
		case <-t.news:
		case <-t.done:
			return
		}
		t.mu.Lock()
		st := t.latest
		t.mu.Unlock()
		t.prog.Send(st)
	}
}

// patience with a server that is asked for its counters.
const patience = 2 * time.Second

// serve asks the server once a second, on a goroutine of its own: it may be slow.
func (t *Top) serve(ctx context.Context) {
	var was struct {
		cpu      time.Duration
		commands uint64
		at       time.Time
	}
	for {
		select {
		case <-t.ask:
		case <-ctx.Done():
			return
		case <-t.done:
			return
		}
		limited, cancel := context.WithTimeout(ctx, patience)
		cpu, commands, err := t.o.Server(limited)
		cancel()
		now := time.Now()
		v := &server{perCommand: -1}
		switch {
		case err != nil:
			v.problem = err.Error()
		case was.at.IsZero() || commands <= was.commands || cpu < was.cpu:
		default:
			v.perCommand = (cpu - was.cpu) / time.Duration(commands-was.commands)
			v.cores = (cpu - was.cpu).Seconds() / now.Sub(was.at).Seconds()
		}
		if err == nil {
			was.cpu, was.commands, was.at = cpu, commands, now
		}
		t.mu.Lock()
		t.server = v
		if t.latest != nil {
			st := *t.latest
			st.server = v
			t.latest = &st
		}
		t.mu.Unlock()
		poke(t.news)
	}
}

// model is the screen as bubbletea sees it.
type model struct {
	state         *state // that is shown
	latest        *state // while paused
	width, height int
	paused        bool
	stopping      bool
	stop          func()
}

// Init implements tea.Model.
func (m *model) Init() tea.Cmd { return nil }

// Update implements tea.Model.
func (m *model) Update(msg tea.Msg) (tea.Model, tea.Cmd) {
	switch msg := msg.(type) {
	case *state:
		if m.latest = msg; !m.paused {
			m.state = msg
		}
	case tea.WindowSizeMsg:
		m.width, m.height = msg.Width, msg.Height
	case tea.KeyPressMsg:
		switch msg.String() {
		case "q", "Q", "ctrl+c":
			if m.stopping {
				return m, tea.Quit
			}
			m.stopping = true
			if m.stop != nil {
				go m.stop()
			}
		case "p", "P":
			if m.paused = !m.paused; !m.paused && m.latest != nil {
				m.state = m.latest
			}
		}
	}
	return m, nil
}

// View implements tea.Model.
func (m *model) View() tea.View {
	st := *m.state
	st.paused, st.stopping = m.paused, m.stopping
	v := tea.NewView(st.render(m.width, m.height))
	v.AltScreen = true
	return v
}
