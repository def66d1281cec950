//go:build unix

package differential

import (
	"cmp"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"godwit/test/conformance/server"
)

var (
	streams = flag.Int("streams", 0, "how many streams for each set of flags (0: a few hundred in all)")
	seed    = flag.Uint64("seed", 0, "seed of the first stream")
	record  = flag.Bool("record", false, "write testdata/recorded-*.gz with the answers of memcached 1.6.45")
	report  = flag.Int("report", 1, "how many differing streams to report before giving up")
)

// reference is the version whose texts are right.
const reference = "1.6.45"

var bin string

func TestMain(m *testing.M) {
	flag.Parse()
	os.Exit(server.Build(m, "../../..", &bin))
}

// memcached is the one to compare with, and its version.
func memcached(t *testing.T) (path, version string) {
	path, err := exec.LookPath(cmp.Or(os.Getenv("GODWIT_MEMCACHED"), "memcached"))
	if err != nil {
		t.Skip("there is no memcached to compare with (Debian: apt-get install memcached)")
	}
	out, err := exec.Command(path, "-V").Output()
	if err != nil {
		t.Fatal(err)
	}
	return path, strings.TrimPrefix(strings.TrimSpace(string(out)), "memcached ")
}

// setups are the flags that both servers get.
var setups = []struct {
	name string
	args []string
	want int    // streams if nothing else is said
	not  string // why an older memcached than the reference is of no use
}{
	{"plain", nil, 300, ""},
	{"no cas", []string{"-C"}, 60, "flush_all kills what is stored later in the same second"},
	{"forbidden", []string{"-F", "-X", "-W"}, 60, ""},
	{"small items", []string{"-I", "1k", "-o", "slab_chunk_max=1"}, 60, "it crashes"},
	{"large items", []string{"-I", "2m", "-t", "1", "-R", "1"}, 40, ""},
	{"old defaults", []string{"-M", "-o", "no_modern,slab_chunk_max=512"}, 40, ""},
}

func TestDifferential(t *testing.T) {
	path, version := memcached(t)
	st := style{meta: version == reference, malformed: version == reference}
	for _, set := range setups {
		t.Run(set.name, func(t *testing.T) {
			if set.not != "" && version != reference {
				t.Skipf("not with memcached %s: %s", version, set.not)
			}
			n := cmp.Or(*streams, set.want)
			if testing.Short() {
				n = min(n, 10)
			}
			theirs, err := newPeer(server.Start(t, path, set.args...).Addr)
			if err != nil {
				t.Fatal(err)
			}
			ours, err := newPeer(server.Start(t, bin, set.args...).Addr)
			if err != nil {
				t.Fatal(err)
			}
			bad, began := 0, time.Now()
			for i := range n {
				s := generate(*seed+uint64(i), st)
				if d := time.Since(began); d > time.Second {
					t.Logf("stream %d took %v", s.Seed-1, d)
				}
				began = time.Now()
				same := false
				for tries := 0; tries < 3 && !same; tries++ { // on a tick of the clock the same stream may differ once
					same = diff(t, theirs, ours, version, s) == ""
				}
				if same {
					continue
				}
				what := "(it depends on timing)"
				s = shrink(s, func(s stream) bool {
					if diff(t, theirs, ours, version, s) == "" {
						return false
					}
					d := diff(t, theirs, ours, version, s)
					if d != "" {
						what = d
					}
					return d != ""
				})
				t.Errorf("stream %d (-seed %d -streams 1 -run '%s') differs, shortest form:\n%s\n%s", s.Seed, s.Seed, t.Name(), list(s), what)
				if bad++; bad >= *report {
					return
				}
			}
			t.Logf("%d streams, memcached %s", n, version)
		})
	}
}

func list(s stream) string {
	var b strings.Builder
	for _, o := range s.Ops {
		text := o.String()
		if len(text) > 1000 {
			text = fmt.Sprintf("%s… (%d bytes)", text[:300], len(o.Pre)+len(o.Post))
		}
		fmt.Fprintf(&b, "  %s\n", text)
	}
	if len(s.Cuts) > 0 {
		fmt.Fprintf(&b, "  in pieces of %v bytes, over and over\n", s.Cuts)
	}
	return b.String()
}

// diff plays a stream on both servers and shows the first difference.
func diff(t *testing.T, theirs, ours *peer, version string, s stream) string {
	a, err := theirs.play(s)
	if err != nil {
		t.Fatalf("memcached: %v\n%s", err, list(s))
	}
	b, err := ours.play(s)
	if err != nil {
		t.Fatalf("godwit: %v\n%s", err, list(s))
	}
	return compare(a, b, version, s)
}

func compare(theirs, ours []string, version string, s stream) string {
	for _, k := range known {
		if k.same != nil && (k.only == nil || k.only(version)) {
			theirs, ours = k.same(s, theirs), k.same(s, ours)
		}
	}
	for i := 0; i < max(len(theirs), len(ours)); i++ {
		a, b := "(nothing)", "(nothing)"
		if i < len(theirs) {
			a = theirs[i]
		}
		if i < len(ours) {
			b = ours[i]
		}
		if a != b && s.Open && a == over { // memcached keeps answers back while it waits for the rest of an upload
			for i < len(ours) && ours[i] != over {
				ours = slices.Delete(slices.Clone(ours), i, i+1)
			}
			if i < len(ours) {
				continue
			}
		}
		if a != b {
			before := strings.Join(theirs[max(0, i-3):min(i, len(theirs))], "\n  ")
			return fmt.Sprintf("reply %d, after\n  %s\nmemcached %s\n  %s\ngodwit\n  %s", i, before, version,
				strings.Join(theirs[min(i, len(theirs)):min(i+4, len(theirs))], "\n  "), strings.Join(ours[min(i, len(ours)):min(i+4, len(ours))], "\n  "))
		}
	}
	return ""
}

// shrink leaves out what is not needed for the failure: the end, the beginning, what is between, the pieces.
func shrink(s stream, fails func(stream) bool) stream {
	try := func(c stream) bool {
		if !fails(c) {
			return false
		}
		s = c
		return true
	}
	with := func(ops []op) stream { return stream{Seed: s.Seed, Ops: slices.Clone(ops), Cuts: s.Cuts, Open: s.Open} }
	try(stream{Seed: s.Seed, Ops: s.Ops, Open: s.Open})
	for size := len(s.Ops) / 2; size > 0; size /= 2 {
		for i := len(s.Ops) - size; i >= 0; i -= size {
			if i+size <= len(s.Ops) {
				try(with(slices.Delete(slices.Clone(s.Ops), i, i+size)))
			}
		}
	}
	for again := true; again; {
		again = false
		for i := len(s.Ops) - 1; i >= 0; i-- {
			again = try(with(slices.Delete(slices.Clone(s.Ops), i, i+1))) || again
		}
	}
	return s
}

// TestShrink has a failure that needs two of many ops.
func TestShrink(t *testing.T) {
	s := generate(5, style{meta: true, malformed: true})
	for len(s.Ops) < 30 {
		s.Ops = append(s.Ops, line("x"))
	}
	s.Ops[7], s.Ops[22], s.Cuts = line("one"), line("two"), []int{3}
	runs := 0
	got := shrink(s, func(s stream) bool {
		runs++
		has := func(w string) bool {
			return slices.ContainsFunc(s.Ops, func(o op) bool { return string(o.Pre) == w })
		}
		return has("one") && has("two")
	})
	if len(got.Ops) != 2 || got.Cuts != nil || runs > 200 {
		t.Errorf("after %d runs:\n%s", runs, list(got))
	}
}

// A recording is a stream with the replies of the reference.
type recording struct {
	Stream  stream
	Replies []string
}

func recorded(i int) string { return filepath.Join("testdata", fmt.Sprintf("recorded-%d.gz", i)) }

// TestRecorded plays streams of everything, also rubbish, and expects what memcached 1.6.45 answered.
func TestRecorded(t *testing.T) {
	for i, set := range setups {
		t.Run(set.name, func(t *testing.T) {
			if *record {
				path, version := memcached(t)
				if version != reference {
					t.Skipf("memcached is %s, not %s", version, reference)
				}
				p, err := newPeer(server.Start(t, path, set.args...).Addr)
				if err != nil {
					t.Fatal(err)
				}
				write(t, recorded(i), p, set.want)
			}
			p, err := newPeer(server.Start(t, bin, set.args...).Addr)
			if err != nil {
				t.Fatal(err)
			}
			f, err := os.Open(recorded(i))
			if err != nil {
				t.Fatal(err)
			}
			defer f.Close()
			z, err := gzip.NewReader(f)
			if err != nil {
				t.Fatal(err)
			}
			n := 0
			for d := json.NewDecoder(z); !testing.Short() || n < 30; n++ {
				var r recording
				if err := d.Decode(&r); errors.Is(err, io.EOF) {
					break
				} else if err != nil {
					t.Fatal(err)
				}
				play := func(s stream) string {
					got, err := p.play(s)
					if err != nil {
						t.Fatalf("%v\n%s", err, list(s))
					}
					return compare(r.Replies, got, reference, s)
				}
				diff := ""
				for range 4 { // on a busy machine what was sent apart arrives together, and a closed connection takes its last answers along
					if diff = play(r.Stream); diff == "" {
						break
					}
				}
				if diff != "" {
					t.Fatalf("stream %d of %s:\n%s\n%s", n, recorded(i), list(r.Stream), diff)
				}
			}
			t.Logf("%d streams", n)
		})
	}
}

func write(t *testing.T, name string, p *peer, n int) {
	f, err := os.Create(name)
	if err != nil {
		t.Fatal(err)
	}
	z, _ := gzip.NewWriterLevel(f, gzip.BestCompression)
	e := json.NewEncoder(z)
	for i, s := 0, uint64(1000000); i < n; s++ {
		r := recording{Stream: generate(s, style{meta: true, malformed: true})}
		var size int
		for _, o := range r.Stream.Ops {
			size += len(o.Pre) + len(o.Post)
		}
		if size > 20000 {
			continue // to keep the files small
		}
		if r.Replies, err = p.play(r.Stream); err != nil {
			t.Fatal(err)
		}
		if again, err := p.play(r.Stream); err != nil || !slices.Equal(again, r.Replies) {
			continue // it depends on the clock
		}
		if err := e.Encode(r); err != nil {
			t.Fatal(err)
		}
		i++
	}
	if err := errors.Join(z.Close(), f.Close()); err != nil {
		t.Fatal(err)
	}
}
