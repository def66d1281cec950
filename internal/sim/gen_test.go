package sim

import (
	"io"
	"math"
	"slices"
	"strings"
	"testing"
)

func made(t testing.TB, text string, seed uint64) []Req {
	t.Helper()
	g, ok, err := ParseGen(text, seed)
	if !ok || err != nil {
		t.Fatal(ok, err)
	}
	out := make([]Req, g.Requests)
	if n, err := readFull(g, out); n != len(out) {
		t.Fatal(n, err)
	}
	if n, err := g.Read(make([]Req, 1)); n != 0 || err != io.EOF {
		t.Fatal(n, err)
	}
	return out
}

func TestGenSeed(t *testing.T) {
	for _, p := range Presets() {
		text := p + ":requests=20k,keys=5k"
		a, b, c := made(t, text, 1), made(t, text, 1), made(t, text, 2)
		if !slices.Equal(a, b) {
			t.Errorf("%s: the same seed gives another trace", p)
		}
		if slices.Equal(a, c) {
			t.Errorf("%s: another seed gives the same trace", p)
		}
	}
}

func TestGenShares(t *testing.T) {
	reqs := made(t, "zipf:requests=200k,oneshot=.1,loop=.2,looplen=1k,set=.3,add=.05,change=.1,delete=.02,ttl=60*.9+1h*.1,key=10,size=100-200,rate=2000", 3)
	n := map[string]float64{}
	loops := map[uint64]bool{}
	for _, r := range reqs {
		n[[]string{"get", "set", "add", "change", "delete"}[r.Op]]++
		switch {
		case r.Key >= freshKeys:
			n["oneshot"]++
		case r.Key >= loopKeys:
			n["loop"]++
			loops[r.Key] = true
		}
		if r.TTL == 3600 {
			n["hour"]++
		}
		if r.Size < 110 || r.Size > 210 {
			t.Fatalf("size %d", r.Size)
		}
	}
	for what, share := range map[string]float64{"get": .53, "set": .3, "add": .05, "change": .1, "delete": .02, "oneshot": .1, "loop": .2, "hour": .1} {
		if got := n[what] / float64(len(reqs)); math.Abs(got-share) > 0.005 {
			t.Errorf("%s: %.4f of the requests, should be %v", what, got, share)
		}
	}
	if len(loops) != 1000 || reqs[len(reqs)-1].Time != 99 {
		t.Errorf("%d keys of loops, last second %d", len(loops), reqs[len(reqs)-1].Time)
	}
}

func TestGenBurst(t *testing.T) {
	reqs := made(t, "scan:requests=1000,looplen=30,burst=25", 1)
	for i, r := range reqs {
		if scan := r.Key >= loopKeys; scan != (i%100 >= 75) {
			t.Fatalf("request %d is for %x", i, r.Key)
		}
	}
}

func TestGenDrift(t *testing.T) {
	count := func(reqs []Req, k uint64) (n int) {
		for _, r := range reqs {
			if r.Key == k {
				n++
			}
		}
		return n
	}
	reqs := made(t, "drift:keys=1k,requests=3k,drift=1k,shift=600,exp=1.5", 1)
	for i, hot := range []uint64{0, 600, 200} {
		if n := count(reqs[1000*i:1000*(i+1)], hot); n < 300 {
			t.Errorf("period %d: key %d was asked for %d times of 1000", i, hot, n)
		}
	}
}

func TestSize(t *testing.T) {
	s := Size{Key: 20, Mean: 273}
	sum := 0.0
	for id := range uint64(200_000) {
		sum += float64(s.Of(id))
	}
	if mean := sum / 200_000; math.Abs(mean-293) > 5 {
		t.Errorf("mean %.1f, should be 293", mean)
	}
	if s := (Size{Key: 3, Min: 7, Max: 7}); s.Of(1) != 10 || s.Of(2) != 10 {
		t.Error("not fixed")
	}
}

func TestGenErrors(t *testing.T) {
	if _, ok, err := ParseGen("file.csv", 1); ok || err != nil {
		t.Error(ok, err)
	}
	for text, want := range map[string]string{
		"zipf:keys":                `parameter "keys": no value`,
		"zipf:keys=0":              "0 keys",
		"zipf:keys=x":              `keys "x": count "x": not understood`,
		"zipf:exp=9":               "zipf exponent 9",
		"zipf:colour=red":          "no such parameter",
		"zipf:oneshot=.7,loop=.7":  "1.4 together",
		"zipf:set=.7,delete=.7":    "1.4 together",
		"zipf:ttl=1h*.5":           "the shares are 0.5 together",
		"zipf:ttl=soon":            `lifetime "soon"`,
		"zipf:size=9-3":            "ends below its beginning",
		"zipf:size=~0":             "a mean of nothing",
		"zipf:burst=10":            "bursts of no loop",
		"scan:looplen=0":           "loop over no keys",
		"twitter52:exp=-1":         "not a number of 0 or more",
		"zipf:seed=abc,requests=5": `seed "abc"`,
	} {
		if _, ok, err := ParseGen(text, 1); !ok || err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, should be %q", text, err, want)
		}
	}
}

func FuzzGen(f *testing.F) {
	for _, s := range []string{"zipf", "scan:burst=3,loop=1", "twitter23:ttl=1s*.5+2s*.5,size=~9", "zipf:keys=1,exp=0,drift=1,shift=9g", "zipf:size=0-8t", "zipf:rate=1e-300", "zipf:loop=1e-300,looplen=1,burst=1"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		g, _, err := ParseGen(text, 1)
		if g == nil || err != nil {
			return
		}
		buf := make([]Req, 100)
		n, _ := g.Read(buf)
		for _, r := range buf[:n] {
			if r.Size < 0 || r.TTL < 0 || r.Op > Delete {
				t.Fatalf("%q: %+v", text, r)
			}
		}
	})
}
