package result

import (
	"bytes"
	"encoding/binary"
	"hash/crc32"
	"math"
	"reflect"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/HdrHistogram/hdrhistogram-go"
	"pgregory.net/rapid"
)

// Generators of runs without sense.

func counts() *rapid.Generator[Counts] {
	return rapid.Custom(func(t *rapid.T) (c Counts) {
		n := rapid.Uint64Range(0, 1<<50)
		c.Count, c.Keys, c.Hits, c.Misses = n.Draw(t, "count"), n.Draw(t, "keys"), n.Draw(t, "hits"), n.Draw(t, "misses")
		for i := range c.Statuses {
			c.Statuses[i] = rapid.Uint64Range(0, 3).Draw(t, "status")
		}
		c.RX, c.TX = n.Draw(t, "rx"), n.Draw(t, "tx")
		return c
	})
}

func histograms() *rapid.Generator[*hdrhistogram.Histogram] {
	return rapid.Custom(func(t *rapid.T) *hdrhistogram.Histogram {
		s := latencies().Draw(t, "samples")
		switch rapid.IntRange(0, 2).Draw(t, "kind") {
		case 0:
			return nil
		case 1:
			return secondOf(s)
		default:
			return histogramOf(s)
		}
	})
}

func secondsGen() *rapid.Generator[[]Second] {
	return rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Second {
		s := rapid.SliceOfN(rapid.Int64Range(0, highest), 0, 5).Draw(t, "samples")
		return Second{Counts: counts().Draw(t, "counts"), Sum: rapid.Int64Range(0, 1<<50).Draw(t, "sum"), Service: secondOf(s)}
	}), 0, 4)
}

func rowsGen() *rapid.Generator[[]Row] {
	return rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Row {
		r := Row{Name: rapid.SampledFrom([]string{"GET", "SET", "", "TOUCH", "x y"}).Draw(t, "name"), Counts: counts().Draw(t, "counts")}
		r.Sum = rapid.Int64Range(0, 1<<50).Draw(t, "sum")
		for _, h := range []**hdrhistogram.Histogram{&r.Service, &r.Planned} {
			if s := latencies().Draw(t, "samples"); len(s) > 0 {
				*h = histogramOf(s)
			}
		}
		r.Seconds = secondsGen().Draw(t, "seconds")
		return r
	}), 0, 3, func(r Row) string { return r.Name })
}

func runs() *rapid.Generator[*Run] {
	return rapid.Custom(func(t *rapid.T) *Run {
		at := rapid.Custom(func(t *rapid.T) time.Time { return time.Unix(0, rapid.Int64Range(-1e18, 2e18).Draw(t, "time")) })
		self := rapid.Custom(func(t *rapid.T) Self {
			s := Self{CPU: time.Duration(rapid.Int64Range(0, 1e15).Draw(t, "cpu")), Cores: rapid.IntRange(0, 999).Draw(t, "cores"),
				Loops: rapid.IntRange(0, 99).Draw(t, "loops"), Busiest: rapid.Float64Range(0, 1).Draw(t, "busiest"),
				Where: rapid.String().Draw(t, "where"), Limit: rapid.String().Draw(t, "limit")}
			if v := latencies().Draw(t, "samples"); len(v) > 0 {
				s.Late = histogramOf(v)
			}
			return s
		})
		n := rapid.Uint64Range(0, 1<<40)
		r := &Run{Start: at.Draw(t, "start"), End: at.Draw(t, "end"), MeanStart: at.Draw(t, "mean start"), MeanEnd: at.Draw(t, "mean end"),
			Rows: rowsGen().Draw(t, "rows"), ConnErrors: n.Draw(t, "conns"), Reconnects: n.Draw(t, "again"), Lost: n.Draw(t, "lost"),
			Interrupted: rapid.Bool().Draw(t, "interrupted"), Self: self.Draw(t, "self")}
		r.Clients = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Client {
			return Client{Loop: rapid.IntRange(0, 9).Draw(t, "loop"), Rows: rowsGen().Draw(t, "rows")}
		}), 0, 2).Draw(t, "clients")
		r.Texts = rapid.SliceOfNDistinct(rapid.Custom(func(t *rapid.T) Text {
			return Text{rapid.String().Draw(t, "text"), n.Draw(t, "n")}
		}), 0, 3, func(t Text) string { return t.Text }).Draw(t, "texts")
		r.Machines = rapid.SliceOfN(rapid.Custom(func(t *rapid.T) Machine {
			return Machine{Name: rapid.String().Draw(t, "name"), Clients: rapid.IntRange(0, 9).Draw(t, "clients"), Count: n.Draw(t, "count"),
				Began: time.Duration(rapid.Int64().Draw(t, "began")), Doubt: time.Duration(rapid.Int64().Draw(t, "doubt")), Self: self.Draw(t, "self")}
		}), 0, 2).Draw(t, "machines")
		return r
	})
}

// Decoding gives back what was encoded, to the last bit: shown field by field by what they encode to, and by a look at the
// fields that a wrong order would swap.
func TestRunRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		r := runs().Draw(t, "run")
		prefix := []byte("before")
		b := r.Append(prefix)[len(prefix):]
		got, err := DecodeRun(b, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Append(nil), b) {
			t.Fatalf("got  %+v\nwant %+v", got, r)
		}
		if !got.Start.Equal(r.Start) || !got.End.Equal(r.End) || !got.MeanStart.Equal(r.MeanStart) || !got.MeanEnd.Equal(r.MeanEnd) ||
			got.Lost != r.Lost || got.ConnErrors != r.ConnErrors || got.Interrupted != r.Interrupted || len(got.Clients) != len(r.Clients) {
			t.Fatalf("got  %+v\nwant %+v", got, r)
		}
		for i := range r.Rows {
			a, b := &got.Rows[i], &r.Rows[i]
			if a.Name != b.Name || a.Counts != b.Counts || a.Sum != b.Sum || !same(a.Service, b.Service) || !same(a.Planned, b.Planned) {
				t.Fatalf("row %d: got  %+v\nwant %+v", i, a, b)
			}
			for k := range b.Seconds {
				x, y := &a.Seconds[k], &b.Seconds[k]
				if x.Counts != y.Counts || x.Sum != y.Sum || !same(x.Service, y.Service) {
					t.Fatalf("row %d, second %d: got  %+v\nwant %+v", i, k, x, y)
				}
			}
		}
	})
}

func TestSnapshotRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		s := &Snapshot{Elapsed: time.Duration(rapid.Int64().Draw(t, "elapsed")), Second: secondsGen().Draw(t, "seconds"),
			Total: rapid.SliceOfN(counts(), 0, 4).Draw(t, "total"), Sum: rapid.Int64().Draw(t, "sum"), Service: histograms().Draw(t, "service"),
			Clients: rapid.IntRange(0, 9999).Draw(t, "clients"), ConnErrors: rapid.Uint64().Draw(t, "conns"), Busiest: rapid.Float64Range(0, 1).Draw(t, "busiest")}
		b := s.Append(nil)
		got, err := DecodeSnapshot(b, 1<<30)
		if err != nil {
			t.Fatal(err)
		}
		if !bytes.Equal(got.Append(nil), b) || got.Elapsed != s.Elapsed || got.Sum != s.Sum || !same(got.Service, s.Service) {
			t.Fatalf("got  %+v\nwant %+v", got, s)
		}
	})
}

// sealed puts the right check sum behind b.
func sealed(b []byte) []byte {
	return binary.LittleEndian.AppendUint32(bytes.Clone(b), crc32.Checksum(b, castagnoli))
}

func TestDecodeErrors(t *testing.T) {
	run := (&Run{Rows: []Row{{Name: "GET", Service: histogramOf([]int64{5e6})}}}).Append(nil)
	body := run[:len(run)-checkLen]
	snap := (&Snapshot{}).Append(nil)
	head := string(body[:headLen])
	times := "\x00\x00\x00\x00"
	for _, c := range []struct {
		name string
		data []byte
		want string
	}{
		{"nothing", nil, "too early"},
		{"a snapshot", snap, `it begins with "gws"`},
		{"next version", sealed(append([]byte("gwr\x02"), body[4:]...)), "another release"},
		{"more statuses", sealed(append([]byte("gwr\x01\x63"), body[5:]...)), "another release"},
		{"flipped bit", append(append(bytes.Clone(run[:20]), run[20]^1), run[21:]...), "damaged"},
		{"truncated", sealed(body[:len(body)-1]), "too early"},
		{"too long", sealed(append(bytes.Clone(body), 0)), "1 bytes more"},
		{"many rows", sealed([]byte(head + times + "\xff\xff\xff\xff\x0f")), "too early"},
		{"endless number", sealed([]byte(head + "\x01" + strings.Repeat("\xff", 11))), "too early"},
		{"odd flag", sealed([]byte(head + "\x02")), "neither"},
	} {
		if _, err := DecodeRun(c.data, 1<<20); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v; want %q", c.name, err, c.want)
		}
	}
	if _, err := DecodeRun(run, 1<<10); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("little memory: %v", err)
	}
}

// Few bytes that stand for many large histograms do not take more than was allowed.
func TestDecodeIsBounded(t *testing.T) {
	e := newEncoder(nil, snapMagic)
	e.int(0)
	const n = 100_000
	e.uint(n)
	for range n {
		e.counts(&Counts{})
		e.int(0)
		e.histogram(nil)
		e.b = e.b[:len(e.b)-1]
		e.bool(true)
		e.uint(1)
		e.uint(mostHigh)
		e.uint(5)
		e.uint(0)
	}
	b := e.end()
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := DecodeSnapshot(b, 64<<20); err == nil || !strings.Contains(err.Error(), "memory") {
		t.Errorf("%v", err)
	}
	runtime.ReadMemStats(&after)
	if d := after.TotalAlloc - before.TotalAlloc; d > 80<<20 {
		t.Errorf("%d bytes were taken", d)
	}
}

// steps equals what hdrhistogram makes.
func TestSteps(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		low, digits := rapid.Int64Range(1, mostLow).Draw(t, "low"), rapid.IntRange(1, 5).Draw(t, "digits")
		high := rapid.Int64Range(low, mostHigh).Draw(t, "high")
		if got, want := steps(uint64(low), uint64(high), digits), len(hdrhistogram.New(low, high, digits).Export().Counts); got != want {
			t.Errorf("%d to %d, %d digits: %d steps, not %d", low, high, digits, got, want)
		}
	})
}

// The result of a run is small: a histogram takes the room of what is in it.
func TestCompact(t *testing.T) {
	r := &Run{Rows: []Row{{Name: "GET", Service: NewHistogram()}}}
	for i := range int64(600) {
		h := hdrhistogram.New(64, 1<<20, 2)
		for k := range int64(1000) {
			v := 100_000 + (i*k)%50_000
			h.RecordValue(v)
			r.Rows[0].Service.RecordValue(v)
		}
		r.Rows[0].Seconds = append(r.Rows[0].Seconds, Second{Service: h})
	}
	if n := len(r.Append(nil)); n > 150_000 {
		t.Errorf("%d bytes for ten minutes", n)
	}
}

// FuzzDecode: foreign bytes give an error or a value that encodes to what decodes to the same again.
func FuzzDecode(f *testing.F) {
	small := hdrhistogram.New(64, 1<<12, 1)
	small.RecordValues(1000, 300)
	f.Add((&Run{Rows: []Row{{Name: "GET", Service: small, Planned: small, Seconds: []Second{{Service: small}, {}}}, {}},
		Clients: []Client{{Loop: 1, Rows: []Row{{Name: "GET"}}}}}).Append(nil))
	f.Add((&Snapshot{Second: []Second{{Service: secondOf([]int64{1e6, 1e7})}}, Total: []Counts{{Count: 2}}, Service: histogramOf([]int64{1e6})}).Append(nil))
	f.Add((&Run{Start: time.Unix(1, 2), Self: Self{Busiest: math.Pi / 4}, Texts: []Text{{"SERVER_ERROR", 3}}, Machines: []Machine{{Name: "a:1"}}}).Append(nil))
	f.Fuzz(func(t *testing.T, b []byte) {
		if len(b) > checkLen { // so that the check sum is no wall
			b = sealed(b[:len(b)-checkLen])
		}
		const memory = 1 << 20
		if r, err := DecodeRun(b, memory); err == nil {
			once := r.Append(nil)
			r2, err := DecodeRun(once, memory)
			if err != nil || !bytes.Equal(once, r2.Append(nil)) {
				t.Errorf("not stable: %v", err)
			}
			Combine([]*Run{r, r2})
		}
		if s, err := DecodeSnapshot(b, memory); err == nil {
			once := s.Append(nil)
			s2, err := DecodeSnapshot(once, memory)
			if err != nil || !bytes.Equal(once, s2.Append(nil)) {
				t.Errorf("not stable: %v", err)
			}
			CombineSnapshots([]*Snapshot{s, s2})
		}
	})
}

// fill gives every field below v a value of its own.
func fill(v reflect.Value, n *int64) {
	*n++
	switch x := v.Addr().Interface().(type) {
	case *time.Time:
		*x = time.Unix(0, *n)
		return
	case **hdrhistogram.Histogram:
		*x = histogramOf([]int64{*n * 1000})
		return
	}
	switch v.Kind() {
	case reflect.Struct:
		for i := range v.NumField() {
			fill(v.Field(i), n)
		}
	case reflect.Slice:
		v.Set(reflect.MakeSlice(v.Type(), 2, 2))
		fill(v.Index(0), n)
		fill(v.Index(1), n)
	case reflect.Array:
		for i := range v.Len() {
			fill(v.Index(i), n)
		}
	case reflect.String:
		v.SetString(strconv.FormatInt(*n, 10))
	case reflect.Bool:
		v.SetBool(true)
	case reflect.Float64:
		v.SetFloat(1 / float64(*n))
	case reflect.Int, reflect.Int64:
		v.SetInt(*n)
	case reflect.Uint64:
		v.SetUint(uint64(*n))
	default:
		panic(v.Type())
	}
}

// No field is forgotten: a new one needs a place in the encoding, and another version of it.
func TestAllFields(t *testing.T) {
	var n int64
	r, s := &Run{}, &Snapshot{}
	fill(reflect.ValueOf(r).Elem(), &n)
	fill(reflect.ValueOf(s).Elem(), &n)
	if got, err := DecodeRun(r.Append(nil), 1<<30); err != nil || !reflect.DeepEqual(got, r) {
		t.Errorf("%v: got  %+v\nwant %+v", err, got, r)
	}
	if got, err := DecodeSnapshot(s.Append(nil), 1<<30); err != nil || !reflect.DeepEqual(got, s) {
		t.Errorf("%v: got  %+v\nwant %+v", err, got, s)
	}
}
