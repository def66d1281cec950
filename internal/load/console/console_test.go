package console

import (
	"bytes"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/charmbracelet/x/ansi"

	"godwit/internal/load"
	"godwit/internal/load/result"
)

func TestFormats(t *testing.T) {
	same := func(what, got, want string) {
		t.Helper()
		if got != want {
			t.Errorf("%s: %q, want %q", what, got, want)
		}
	}
	for x, want := range map[float64]string{
		0: "0", 0.5: "0.50", 1: "1", 9.99: "9.99", 9.996: "10", 12.34: "12", 999: "999", 999.6: "1000", 1234: "1234", 9999: "9999", 9999.6: "10.00k",
		12345: "12.35k", 99999: "100.0k", 123456: "123.5k", 999940: "999.9k", 999960: "1.000M", 1234567: "1.235M", 2e9: "2.000G", 5e15: "5000T", -1: "-", math.Inf(1): "-",
	} {
		same(fmt.Sprintf("Rate(%g)", x), Rate(x), want)
	}
	same("Rate(NaN)", Rate(math.NaN()), "-")
	for d, want := range map[time.Duration]string{
		-1: "-", 0: "0ns", 64: "64ns", 999: "999ns", 1000: "1.00µs", 9996: "10.0µs", 87340: "87.3µs", 999_400: "999µs", 999_600: "1.00ms",
		1_234_567: "1.23ms", 12_345_678: "12.3ms", 999_600_000: "1.00s", 12_500_000_000: "12.5s", 600 * time.Second: "600s", 2 * time.Hour: "7200s",
	} {
		same(fmt.Sprintf("Duration(%d)", d), Duration(d), want)
	}
	for d, want := range map[time.Duration]string{
		-5: "0:00", 999 * time.Millisecond: "0:00", 7 * time.Second: "0:07", 61 * time.Second: "1:01", 3723 * time.Second: "1:02:03",
	} {
		same(fmt.Sprintf("Clock(%d)", d), Clock(d), want)
	}
	for x, want := range map[float64]string{
		0: "0 B", 512: "512 B", 1023: "1023 B", 1024: "1.00 KiB", 1536: "1.50 KiB", 12.3 * (1 << 20): "12.3 MiB", 1023.6 * 1024: "1.00 MiB", 1 << 40: "1.00 TiB", 5e21: "4440892 PiB", -1: "-",
	} {
		same(fmt.Sprintf("Bytes(%g)", x), Bytes(x), want)
	}
	for x, want := range map[float64]string{
		0: "0 %", 1: "100 %", 0.5: "50.00 %", 0.99995: ">99.99 %", 0.00001: "<0.01 %", 0.12345: "12.35 %", 1.5: "150.00 %", -0.1: "-",
	} {
		same(fmt.Sprintf("Percent(%g)", x), Percent(x), want)
	}
	same("plural", plural(1, "error")+plural(2, "error"), "1 error2 errors")
	same("clean", clean("a\x1b[31mb\r\n\x00c\xff é €"), "a?[31mb???c? é €")
	same("spark", spark([]float64{0, 1, 50, 100, 99, -1, math.NaN()}), " ▁▄██  ")
	same("no spark", spark([]float64{0, 0}), "  ")
	same("pad", pad("abc", 5, true)+pad("abc", 5, false)+pad("abcdef", 5, false), "  abcabc  abcd…")
}

// TestDigits goes through all magnitudes: never more than four digits and a unit.
func TestDigits(t *testing.T) {
	for x := 1.0; x < 1e14; x *= 1.0001 {
		if s := Rate(x); len(strings.ReplaceAll(strings.TrimRight(s, "kMGT"), ".", "")) > 4 {
			t.Fatalf("%g: %s", x, s)
		}
		if s := Duration(time.Duration(x)); x < 999e9 && len(strings.ReplaceAll(strings.TrimRight(s, "nµms"), ".", "")) > 3 {
			t.Fatalf("%g: %s", x, s)
		}
	}
}

func TestLine(t *testing.T) {
	var b bytes.Buffer
	say := func(width int, quiet bool, f func(*Line)) string {
		b.Reset()
		l := NewLine(&b, quiet)
		if width > 0 {
			l.width = func() int { return width }
		}
		f(l)
		return b.String()
	}
	two := func(l *Line) {
		l.Show("first line")
		l.Show("second")
		l.Say("warning: %d", 5)
		l.Done()
		l.Done()
	}
	for _, c := range []struct {
		width int
		quiet bool
		want  string
	}{
		{0, false, "first line\nsecond\nwarning: 5\n"},
		{80, false, "\rfirst line\x1b[K\rsecond\x1b[K\r\x1b[Kwarning: 5\n"},
		{8, false, "\rfirst …\x1b[K\rsecond\x1b[K\r\x1b[Kwarning: 5\n"},
		{1, false, "\r\x1b[K\r\x1b[K\r\x1b[Kwarning: 5\n"},
		{80, true, "warning: 5\n"},
	} {
		if got := say(c.width, c.quiet, two); got != c.want {
			t.Errorf("width %d, quiet %v: %q, want %q", c.width, c.quiet, got, c.want)
		}
	}
	if got := say(80, false, func(l *Line) { l.Show("a\x1b[2Jb"); l.Done() }); got != "\ra?[2Jb\x1b[K\r\x1b[K" {
		t.Errorf("%q", got)
	}
	if Terminal(&b) || Width(&b) != 0 {
		t.Error("a buffer is no terminal")
	}
	f, err := os.Open(os.DevNull)
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	if Terminal(f) {
		t.Error(os.DevNull, "is no terminal")
	}
}

// snapshot of a load of sets and gets.
func snapshot(elapsed time.Duration, sets, gets int) *result.Snapshot {
	s := &result.Snapshot{
		Elapsed: elapsed, Second: make([]result.Second, 2), Total: make([]result.Counts, 2), Service: result.NewHistogram(), Clients: 200, Busiest: 0.42,
	}
	for i, n := range []int{sets, gets} {
		x := &s.Second[i]
		if n == 0 {
			continue
		}
		x.Service = result.NewHistogram()
		x.Count, x.Keys = uint64(n), uint64(n)
		x.Statuses[load.OK] = uint64(n)
		x.RX, x.TX = uint64(n)*100, uint64(n)*50
		for k := range n {
			x.Service.RecordValue(int64(80_000 + k*1_500_000/n + i*7_000))
		}
		if i == 1 {
			x.Hits, x.Misses = uint64(n)*9/10, uint64(n)-uint64(n)*9/10
		}
		x.Service.RecordValue(20_500_000)
		s.Service.Merge(x.Service)
		times := uint64(elapsed / time.Second)
		t := &s.Total[i]
		for range times {
			t.Add(&x.Counts)
		}
	}
	return s
}

func TestProgress(t *testing.T) {
	var b bytes.Buffer
	p := NewProgress(&b, false)
	p.Begin(Load{Title: "run 1", Rows: []string{"Sets", "Gets"}, Duration: 10 * time.Second})
	warm := snapshot(-3*time.Second, 0, 0)
	warm.Second, warm.Total = nil, nil
	p.Watch(warm)
	p.Watch(snapshot(2*time.Second, 1000, 9000))
	bad := snapshot(3*time.Second, 1000, 9000)
	bad.ConnErrors = 2
	bad.Total[0].Statuses[load.Failed] = 5
	p.Watch(bad)
	p.Watch(snapshot(4*time.Second, 0, 0))
	p.End()
	p.Begin(Load{Requests: 100_000})
	p.Watch(snapshot(5*time.Second, 1000, 9000))
	p.Begin(Load{})
	p.Watch(snapshot(5*time.Second, 1000, 9000))
	golden(t, "progress", b.String())
	b.Reset()
	p = NewProgress(&b, true)
	p.Watch(bad)
	p.End()
	if b.Len() > 0 {
		t.Errorf("quiet, but %q", b.String())
	}
}

func golden(t *testing.T, name, got string) {
	t.Helper()
	file := filepath.Join("testdata", name)
	if os.Getenv("UPDATE") != "" {
		if err := os.WriteFile(file, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	if got != string(want) {
		t.Errorf("%s (UPDATE=1 writes it): got\n%s\nwant\n%s", file, got, want)
	}
}

// screens are states worth a look.
func screens() map[string]*state {
	var t tracker
	of := Load{Title: "memtier 127.0.0.1:11211", Rows: []string{"Sets", "Gets"}, Duration: time.Minute}
	t.begin(of)
	var busy *state
	for i := range 70 {
		busy = t.next(snapshot(time.Duration(i+1)*time.Second, 100+i%7*20, 900+i%11*200))
	}
	busy.server = &server{perCommand: 3210, cores: 1.437}
	trouble := *busy
	trouble.busiest, trouble.connErrors = 0.97, 3
	trouble.statuses[load.Failed], trouble.statuses[load.NotStored], trouble.statuses[load.Moved] = 1234, 5, 6
	trouble.texts = []result.Text{{Text: "SERVER_ERROR out of memory storing object", N: 1200}, {Text: "evil \x1b[2J\r\n text " + strings.Repeat("x", 300), N: 34}, {Text: "c", N: 2}, {Text: "d", N: 1}, {Text: "e", N: 1}}
	trouble.server = &server{problem: "counters of 127.0.0.1:11211: EOF"}
	paused := *busy
	paused.paused = true
	stopping := *busy
	stopping.stopping = true
	many := *busy
	many.rows = nil
	for i := range 12 {
		r := busy.rows[i%2]
		r.name = fmt.Sprintf("ZRANGEBYSCORE key-%d 世界", i)
		many.rows = append(many.rows, r)
	}
	single := *busy
	single.rows = busy.rows[1:]
	t.begin(of)
	warm := snapshot(-3*time.Second, 0, 0)
	warm.Second, warm.Total = nil, nil
	return map[string]*state{
		"connecting": {load: of}, "busy": busy, "trouble": &trouble, "paused": &paused, "stopping": &stopping, "many": &many, "single": &single,
		"warmup": t.next(warm), "idle": t.next(snapshot(time.Second, 0, 0)),
	}
}

func TestRender(t *testing.T) {
	for name, st := range screens() {
		for _, size := range [][2]int{{80, 24}, {132, 40}, {60, 16}, {30, 8}} {
			width, height := size[0], size[1]
			if height != 24 && name != "busy" && name != "trouble" && name != "many" {
				continue
			}
			golden(t, fmt.Sprintf("%s-%dx%d", name, width, height), st.render(width, height)+"\n")
		}
	}
}

// TestSizes draws all screens in all sizes: no line too long, none too many, the keys always in the last one.
func TestSizes(t *testing.T) {
	for name, st := range screens() {
		for width := 0; width < 100; width += 3 {
			for height := range 50 {
				got := st.render(width, height)
				if width == 0 || height == 0 {
					if got != "" {
						t.Fatalf("%s in %dx%d: %q", name, width, height, got)
					}
					continue
				}
				lines := strings.Split(got, "\n")
				if len(lines) != height {
					t.Fatalf("%s in %dx%d: %d lines", name, width, height, len(lines))
				}
				for _, l := range lines {
					if n := ansi.StringWidth(l); n > width {
						t.Fatalf("%s in %dx%d: %q has %d columns", name, width, height, l, n)
					}
				}
				if last := lines[height-1]; width > 40 && !strings.Contains(last, "q ") {
					t.Fatalf("%s in %dx%d: the last line is %q", name, width, height, last)
				}
			}
		}
	}
}

// TestTracker has rows of one second and of all of them.
func TestTracker(t *testing.T) {
	var k tracker
	k.begin(Load{Rows: []string{"Sets", "Gets"}, Requests: 4000})
	k.next(snapshot(time.Second, 100, 900))
	slow := snapshot(2*time.Second, 100, 900)
	slow.Second[0].Service.Reset()
	slow.Second[0].Service.RecordValues(5_000_000, 101)
	st := k.next(slow)
	sets := st.rows[0]
	if sets.last.p50 < 4_990_000 || sets.last.p50 > 5_010_000 || sets.last.rate != 100 || sets.mean.rate != 100 {
		t.Errorf("last second: %+v", sets)
	}
	if sets.mean.p50 < 1_500_000 || sets.mean.p50 > 5_010_000 || sets.mean.max < 20_400_000 {
		t.Errorf("all: %+v", sets.mean)
	}
	if len(st.history) != 2 || st.history[0] != 1000 || st.done != 2000 {
		t.Errorf("history %v, %d done", st.history, st.done)
	}
	if left, ok := st.load.left(st.elapsed, st.done); !ok || left != 2*time.Second {
		t.Errorf("%v left, %v", left, ok)
	}
}
