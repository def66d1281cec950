package sim

import (
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"

	"godwit/internal/load/keys"
)

// Gen describes a made trace. Requests are drawn, each by itself, from three kinds: a key never seen before or after
// (OneShot), the next key of a loop over Loop keys of its own (LoopShare), else a key of Keys by a Zipf law. It is a Source
// once Start was called. The same Gen gives the same requests.
type Gen struct {
	Name     string
	Requests int64
	Keys     uint64
	Zipf     float64 // exponent; 0: all keys equally often
	Seed     uint64

	OneShot   float64
	LoopShare float64
	Loop      uint64
	Burst     int64  // requests of the loop come so many at a time; 0: strewn
	Drift     int64  // requests after which the hot set moves; 0: never
	Shift     uint64 // by how many keys it moves

	Sets, Adds, Changes, Deletes float64 // shares of requests, the rest reads

	Size Size
	TTLs []TTL   // what is stored lives so long; none: for ever
	Rate float64 // requests a second, for the times

	rand, ops, ages keys.Rand
	zipf            keys.Indices
	done            int64
	fresh           uint64
	loopAt          uint64
}

// Size of an object, which depends on its key alone: Key bytes and a value of Min to Max bytes, uniformly in the logarithm; or,
// if Mean is set, log-normal around that mean with a deviation of one in the natural logarithm.
type Size struct {
	Key      int64
	Min, Max int64
	Mean     float64
}

// TTL and its share.
type TTL struct {
	Seconds int64
	Share   float64
}

// Of an object.
func (s *Size) Of(id uint64) int64 {
	h := mix(id ^ 0x5851f42d4c957f2d)
	u := (float64(h>>40) + 0.5) / (1 << 24)
	switch {
	case s.Mean > 0:
		v := float64(h>>16&(1<<24-1)) / (1 << 24)
		z := math.Sqrt(-2*math.Log(u)) * math.Cos(2*math.Pi*v)
		return s.Key + max(int64(s.Mean*math.Exp(z-0.5)), 1)
	case s.Max > s.Min:
		low := float64(max(s.Min, 1))
		return s.Key + int64(low*math.Exp(u*math.Log(float64(s.Max+1)/low)))
	}
	return s.Key + s.Min
}

// Start puts it at its beginning.
func (g *Gen) Start() error {
	if g.Keys == 0 || g.Requests < 0 {
		return fmt.Errorf("trace %s: %d keys, %d requests: there must be some", g.Name, g.Keys, g.Requests)
	}
	if sum := g.OneShot + g.LoopShare; g.OneShot < 0 || g.LoopShare < 0 || sum > 1 {
		return fmt.Errorf("trace %s: oneshot and loop are %v together: shares of all requests (0 to 1)", g.Name, sum)
	}
	if sum := g.Sets + g.Adds + g.Changes + g.Deletes; min(g.Sets, g.Adds, g.Changes, g.Deletes) < 0 || sum > 1+1e-9 {
		return fmt.Errorf("trace %s: set, add, change and delete are %v together: shares of all requests (0 to 1)", g.Name, sum)
	}
	if g.Burst > 0 && g.LoopShare == 0 {
		return fmt.Errorf("trace %s: bursts of no loop (loop=0.25)", g.Name)
	}
	if g.LoopShare > 0 && g.Loop == 0 {
		return fmt.Errorf("trace %s: loop over no keys (looplen=100000)", g.Name)
	}
	var err error
	if g.Zipf == 0 {
		g.zipf, err = keys.Uniform(0, g.Keys-1)
	} else {
		g.zipf, err = keys.Zipf(0, g.Keys-1, g.Zipf)
	}
	if err != nil {
		return fmt.Errorf("trace %s: %w", g.Name, err)
	}
	g.zipf.Seed(g.Seed, keys.Stream(0, keys.Reads))
	g.rand.Seed(g.Seed, keys.Stream(0, keys.Other))
	g.ops.Seed(g.Seed, keys.Stream(0, keys.Choices))
	g.ages.Seed(g.Seed, keys.Stream(0, keys.Expiries))
	g.done, g.fresh, g.loopAt = 0, 0, 0
	return nil
}

// Keys of loops and of one request only are numbered from here on.
const (
	loopKeys  = 1 << 60
	freshKeys = 1 << 61
)

// Read is Source's.
func (g *Gen) Read(dst []Req) (int, error) {
	n := int(min(int64(len(dst)), g.Requests-g.done))
	if n == 0 {
		return 0, io.EOF
	}
	for i := range dst[:n] {
		g.next(&dst[i])
		g.done++
	}
	return n, nil
}

func (g *Gen) next(r *Req) {
	*r = Req{}
	if g.Rate > 0 {
		r.Time = int64(float64(g.done) / g.Rate)
	}
	u := 1.0
	switch {
	case g.Burst > 0 && g.bursting():
		u = g.OneShot
	case g.Burst > 0:
		u = g.rand.Float64()
		if u >= g.OneShot {
			u = 1
		}
	case g.OneShot+g.LoopShare > 0:
		u = g.rand.Float64()
	}
	switch {
	case u < g.OneShot:
		r.Key = freshKeys + g.fresh
		g.fresh++
	case u < g.OneShot+g.LoopShare:
		r.Key = loopKeys + g.loopAt
		g.loopAt = (g.loopAt + 1) % g.Loop
	default:
		r.Key = g.zipf.Next()
		if g.Drift > 0 {
			r.Key = (r.Key + uint64(g.done/g.Drift)%g.Keys*(g.Shift%g.Keys)) % g.Keys
		}
	}
	r.Size = g.Size.Of(r.Key)
	if g.Sets+g.Adds+g.Changes+g.Deletes > 0 {
		u := g.ops.Float64()
		for _, o := range [...]struct {
			share float64
			op    Op
		}{{g.Sets, Set}, {g.Adds, Add}, {g.Changes, Change}, {g.Deletes, Delete}} {
			if u < o.share {
				r.Op = o.op
				break
			}
			u -= o.share
		}
	}
	if len(g.TTLs) > 0 {
		u := g.ages.Float64()
		for _, t := range g.TTLs {
			r.TTL = t.Seconds
			if u -= t.Share; u < 0 {
				break
			}
		}
	}
}

// bursting says whether the loop has all requests at present: at the end of each period.
func (g *Gen) bursting() bool {
	period := max(int64(float64(g.Burst)/g.LoopShare), 1)
	return g.done%period >= period-g.Burst
}

// preset is a made trace with a name.
type preset struct {
	name, summary string
	gen           Gen
}

const day = 86400

// presets. Those of Twitter imitate what twitter/cache-trace, stat/2020Mar.md, says about a cluster: sizes, operations, Zipf
// exponent, TTLs, and the share of keys asked for once. Rates are chosen so that the TTLs matter within the trace.
var presets = []preset{
	{"zipf", "500 k keys of 100 bytes by a Zipf law of exponent 0.99, 4 M reads", Gen{Zipf: .99}},
	{"oneshot", "zipf with one request in five for a key never seen again", Gen{Zipf: .99, OneShot: .2}},
	{"scan", "zipf with a scan of 100 k other keys after every 300 k requests", Gen{Zipf: .99, LoopShare: .25, Loop: 100_000, Burst: 100_000}},
	{"drift", "zipf whose hot set moves by 20 k keys every 400 k requests", Gen{Zipf: .99, Drift: 400_000, Shift: 20_000}},
	{"twitter10", "Twitter cluster 10: add and get, each key twice at most", Gen{
		OneShot: .99, Adds: .5, Size: Size{Key: 22, Mean: 2333}, TTLs: []TTL{{2 * 3600, 1}}, Rate: 500}},
	{"twitter12", "Twitter cluster 12: writes, most keys once", Gen{
		Zipf: .30, OneShot: .65, Sets: .8, Size: Size{Key: 44, Mean: 1030}, TTLs: []TTL{{300, 1}}, Rate: 5000}},
	{"twitter14", "Twitter cluster 14: many deletes", Gen{
		Zipf: 1.30, Sets: .13, Deletes: .22, Size: Size{Key: 96, Mean: 414}, TTLs: []TTL{{day, 1}}, Rate: 100}},
	{"twitter15", "Twitter cluster 15: writes only, nearly all keys once", Gen{
		Zipf: .02, OneShot: .99, Sets: 1, Size: Size{Key: 18, Mean: 102}, TTLs: []TTL{{30, 1}}, Rate: 20_000}},
	{"twitter18", "Twitter cluster 18: reads of few hot keys, tiny values", Gen{
		Zipf: 2.10, Sets: .01, Adds: .03, Size: Size{Key: 18, Mean: 37}, TTLs: []TTL{{day / 2, 1}}, Rate: 100}},
	{"twitter23", "Twitter cluster 23: counters", Gen{
		Zipf: .27, Sets: .31, Changes: .30, Deletes: .02, Size: Size{Key: 35, Mean: 224}, TTLs: []TTL{{120, .93}, {2700, .07}}, Rate: 5000}},
	{"twitter37", "Twitter cluster 37: large values that live for seconds", Gen{
		Zipf: .43, Sets: .37, Size: Size{Key: 72, Mean: 20134}, TTLs: []TTL{{20, .91}, {300, .09}}, Rate: 5000}},
	{"twitter50", "Twitter cluster 50: very large values", Gen{
		Zipf: 1.28, Sets: .48, Size: Size{Key: 18, Mean: 67485}, TTLs: []TTL{{900, .5}, {1200, .5}}, Rate: 1000}},
	{"twitter52", "Twitter cluster 52: a general cache, TTLs of hours to weeks", Gen{
		Zipf: 1.21, Adds: .04, Changes: .05, Size: Size{Key: 20, Mean: 273}, TTLs: []TTL{{day, .65}, {14 * day, .28}, {day / 2, .07}}, Rate: 50}},
	{"twitter53", "Twitter cluster 53: prepends to large values", Gen{
		Zipf: 1.21, Sets: .02, Changes: .09, Size: Size{Key: 36, Mean: 9213}, TTLs: []TTL{{30 * day, .5}, {21 * day, .5}}, Rate: 50}},
}

// Presets are the names of made traces.
func Presets() []string {
	out := make([]string, len(presets))
	for i, p := range presets {
		out[i] = p.name
	}
	return out
}

// ParseGen makes a trace of a preset's name and changes to it: "zipf", "zipf:keys=1m,exp=1.2,ttl=1d*.6+12h*.4". ok is false if
// text does not begin with the name of a preset.
func ParseGen(text string, seed uint64) (g *Gen, ok bool, err error) {
	name, rest, _ := strings.Cut(text, ":")
	i := slices.IndexFunc(presets, func(p preset) bool { return p.name == name })
	if i < 0 {
		return nil, false, nil
	}
	gen := presets[i].gen
	g = &gen
	g.Name, g.Seed = name, seed
	g.Keys, g.Requests = 500_000, 4_000_000
	if g.Size == (Size{}) {
		g.Size = Size{Key: 20, Min: 80, Max: 80}
	}
	if g.Rate == 0 {
		g.Rate = 1000
	}
	for rest != "" {
		var p string
		p, rest, _ = strings.Cut(rest, ",")
		k, v, has := strings.Cut(p, "=")
		if !has {
			return nil, true, fmt.Errorf("trace %s: parameter %q: no value (such as keys=1m)", name, p)
		}
		if err := g.set(k, v); err != nil {
			return nil, true, fmt.Errorf("trace %s: %s %q: %w", name, k, v, err)
		}
	}
	return g, true, g.Start()
}

// genHelp is what ParseGen understands.
const genHelp = `keys=N requests=N exp=E seed=N   Zipf over N keys (exp=0: uniform)
oneshot=S                        share of requests for keys never seen again
loop=S looplen=N burst=N         share of requests that walk in a loop over N keys of their own, strewn or N in a row
drift=N shift=N                  every N requests the hot set moves on by so many keys
set=S add=S change=S delete=S    shares of operations, the rest are reads
key=B size=B|B-B|~B              bytes of keys and of values: fixed, log-uniform, log-normal around a mean
ttl=T|T*S+T*S...                 lifetimes (30s, 5m, 12h, 1d) with shares
rate=N                           requests a second, to which the lifetimes relate`

func (g *Gen) set(k, v string) (err error) {
	count := func(to *uint64) {
		var n int64
		if n, err = parseCount(v); err == nil {
			*to = uint64(n)
		}
	}
	number := func(to *float64) {
		if *to, err = strconv.ParseFloat(v, 64); err != nil || !(*to >= 0) || math.IsInf(*to, 0) {
			err = fmt.Errorf("not a number of 0 or more")
		}
	}
	switch k {
	case "keys":
		count(&g.Keys)
	case "requests":
		g.Requests, err = parseCount(v)
	case "exp":
		number(&g.Zipf)
	case "seed":
		g.Seed, err = strconv.ParseUint(v, 10, 64)
	case "oneshot":
		number(&g.OneShot)
	case "loop":
		number(&g.LoopShare)
		if g.Loop == 0 {
			g.Loop = 100_000
		}
	case "looplen":
		count(&g.Loop)
	case "burst":
		g.Burst, err = parseCount(v)
	case "drift":
		g.Drift, err = parseCount(v)
		if g.Shift == 0 {
			g.Shift = 20_000
		}
	case "shift":
		count(&g.Shift)
	case "set":
		number(&g.Sets)
	case "add":
		number(&g.Adds)
	case "change":
		number(&g.Changes)
	case "delete":
		number(&g.Deletes)
	case "rate":
		number(&g.Rate)
	case "key":
		g.Size.Key, err = parseBytes(v)
	case "size":
		key := g.Size.Key
		g.Size, err = parseSize(v)
		g.Size.Key = key
	case "ttl":
		g.TTLs, err = parseTTLs(v)
	default:
		err = fmt.Errorf("no such parameter (keys, requests, exp, seed, oneshot, loop, looplen, burst, drift, shift, set, add, change, " +
			"delete, key, size, ttl, rate)")
	}
	return err
}

func parseSize(v string) (s Size, err error) {
	if mean, ok := strings.CutPrefix(v, "~"); ok {
		n, err := parseBytes(mean)
		if err == nil && n == 0 {
			err = fmt.Errorf("a mean of nothing")
		}
		return Size{Mean: float64(n)}, err
	}
	low, high, ranged := strings.Cut(v, "-")
	if s.Min, err = parseBytes(low); err != nil {
		return s, err
	}
	s.Max = s.Min
	if ranged {
		if s.Max, err = parseBytes(high); err == nil && s.Max < s.Min {
			err = fmt.Errorf("ends below its beginning")
		}
	}
	return s, err
}

func parseTTLs(v string) (out []TTL, err error) {
	if v == "0" || v == "none" {
		return nil, nil
	}
	sum := 0.0
	for part := range strings.SplitSeq(v, "+") {
		text, share, has := strings.Cut(part, "*")
		t := TTL{Share: 1}
		if t.Seconds, err = parseSeconds(text); err != nil {
			return nil, err
		}
		if has {
			if t.Share, err = strconv.ParseFloat(share, 64); err != nil || !(t.Share >= 0 && t.Share <= 1) {
				return nil, fmt.Errorf("share %q: not between 0 and 1", share)
			}
		}
		sum += t.Share
		out = append(out, t)
	}
	if math.Abs(sum-1) > 0.001 {
		return nil, fmt.Errorf("the shares are %v together (they must be 1)", sum)
	}
	return out, nil
}
