package sim

import (
	"strconv"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// play runs a script over a cache of objects: a letter reads an object and stores it if it is missing, a capital letter
// overwrites, -x removes. The result has + for a hit, . for a miss, and the objects left.
func play(p Policy, script string) string {
	var out strings.Builder
	for i := 0; i < len(script); i++ {
		c := script[i]
		switch {
		case c == ' ':
		case c == '-':
			i++
			p.Remove(uint64(script[i]))
		case c >= 'A' && c <= 'Z':
			p.Put(uint64(c)+32, 1)
		case p.Get(uint64(c)):
			out.WriteByte('+')
		default:
			out.WriteByte('.')
			p.Put(uint64(c), 1)
		}
	}
	out.WriteByte(' ')
	for c := uint64('a'); c <= 'z'; c++ {
		if p.Has(c) {
			out.WriteByte(byte(c))
		}
	}
	return out.String()
}

// TestByHand has traces whose results were worked out on paper.
func TestByHand(t *testing.T) {
	for _, c := range []struct {
		policy   string
		capacity int64
		script   string
		want     string
	}{
		{"fifo", 3, "abc a d a", "...+.. acd"},        // a is the oldest however often it is read
		{"fifo", 3, "abc A d", ".... bcd"},            // overwriting keeps its place
		{"lru", 3, "abc a d a b", "...+.+. abd"},      // b, then c is the oldest
		{"lru", 3, "abc A d b", "..... abd"},          // overwriting is use
		{"lru", 2, "ab -a c b", "...+ bc"},            // a removed object leaves room
		{"sieve", 3, "abc a d", "...+. acd"},          // the hand spares a and takes b
		{"sieve", 3, "abc a d e", "...+.. ade"},       // then goes on to c
		{"sieve", 3, "abc abc d", "...+++. bcd"},      // all visited: round once, then a
		{"sieve", 3, "abc a d -c e f", "...+... aef"}, // the hand was on c, so d is next
		{"lfu", 3, "aaa bb c d", ".++.+.. abd"},       // c was asked for once
		{"lfu", 2, "aa b c", ".+.. ac"},
		{"lfu", 2, "ab ab c", "..++. bc"}, // equally often: the least recent leaves
		// small holds one; what is read twice in it moves on
		{"s3fifo", 10, "aaa bcdefghij k", ".++.......... acdefghijk"},
		{"s3fifo", 10, "aa bcdefghij k", ".+.......... bcdefghijk"},
		{"s3fifo", 10, "abcdefghij k l a mn", "............... afghijklmn"}, // a was a ghost: it enters main
		// one object stays in HOT, up to four in WARM; a, read twice while in HOT, goes to WARM
		{"memcached", 10, "bcdefg aaa hijklmnopqr", ".......++........... ajklmnopqr"},
		{"memcached", 10, "bcdefg aa hijklmnopqr", ".......+........... ijklmnopqr"},
		{"memcached", 10, "bbb cdefg hijklmnopqr", ".++................ ijklmnopqr"}, // read twice, but WARM had no room then
		// T2 keeps what came twice
		{"arc", 4, "aa bcdef", ".+..... adef"},
		{"arc", 4, "aa bcdef b", ".+...... abef"},                            // b was a ghost: it enters T2
		{"tinylfu", 4, "aaaa bbbb cccc dddd e f", ".+++.+++.+++.+++.. abcf"}, // the window holds one
	} {
		p, err := New(c.policy, Setup{Capacity: c.capacity})
		if err != nil {
			t.Fatal(err)
		}
		if got := play(p, c.script); got != c.want {
			t.Errorf("%s of %d, %s: %q, by hand %q", c.policy, c.capacity, c.script, got, c.want)
		}
	}
}

// TestModel: whatever is asked, a policy holds no more than fits, says hit for what is resident and nothing else, and tells
// of each object that leaves.
func TestModel(t *testing.T) {
	for _, name := range Policies() {
		for _, bytes := range []bool{false, true} {
			t.Run(name+strconv.FormatBool(bytes), func(t *testing.T) {
				rapid.Check(t, func(t *rapid.T) { model(t, name, bytes) })
			})
		}
	}
}

func model(t *rapid.T, name string, bytes bool) {
	capacity := int64(rapid.IntRange(1, 60).Draw(t, "capacity"))
	most := int64(1)
	if bytes {
		capacity *= 1000
		if name == "godwit" {
			capacity *= 50
		}
		most = capacity / 5
	}
	resident := map[uint64]int64{}
	putting := uint64(1000)
	setup := Setup{Capacity: capacity, Bytes: bytes, Seed: 5, Gone: func(id uint64) {
		if _, ok := resident[id]; !ok && id != putting {
			t.Fatalf("%d left, but was not there", id)
		}
		delete(resident, id)
	}}
	p, err := New(name, setup)
	if err != nil {
		t.Fatal(err)
	}
	size := rapid.Int64Range(1, most)
	if bytes {
		size = rapid.OneOf(rapid.Int64Range(1, most), rapid.Int64Range(1, min(most, 300)), rapid.Just(capacity+1))
	}
	for range rapid.IntRange(1, 400).Draw(t, "requests") {
		id := rapid.Uint64Range(0, 100).Draw(t, "id")
		_, here := resident[id]
		if p.Has(id) != here {
			t.Fatalf("Has(%d) is %v", id, !here)
		}
		switch rapid.IntRange(0, 9).Draw(t, "op") {
		case 0:
			p.Remove(id)
			delete(resident, id)
		case 1, 2, 3:
			put(p, &putting, resident, id, size.Draw(t, "size"))
		default:
			if p.Get(id) != here {
				t.Fatalf("Get(%d) is %v", id, !here)
			}
			if !here {
				put(p, &putting, resident, id, size.Draw(t, "size"))
			}
		}
		if p.Used() > capacity {
			t.Fatalf("%d used of %d", p.Used(), capacity)
		}
		if p.Len() != len(resident) {
			t.Fatalf("%d objects, should be %d", p.Len(), len(resident))
		}
		if name != "godwit" {
			sum := int64(0)
			for _, n := range resident {
				sum += n
			}
			if sum != p.Used() {
				t.Fatalf("%d used, the objects take %d", p.Used(), sum)
			}
		}
	}
	for id := range uint64(101) {
		if _, here := resident[id]; p.Has(id) != here {
			t.Fatalf("at the end Has(%d) is %v", id, !here)
		}
	}
}

// put stores. The object is resident then, unless it was refused.
func put(p Policy, putting *uint64, resident map[uint64]int64, id uint64, size int64) {
	*putting = id
	p.Put(id, size)
	*putting = 1000
	if delete(resident, id); p.Has(id) {
		resident[id] = size
	}
}

func TestUnknown(t *testing.T) {
	for _, c := range []struct {
		name     string
		capacity int64
		want     string
	}{{"lru", 0, "capacity 0"}, {"best", 5, `policy "best": not known (godwit, fifo,`}, {"lru", 1 << 40, "more objects"}} {
		if _, err := New(c.name, Setup{Capacity: c.capacity}); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s of %d: %v", c.name, c.capacity, err)
		}
	}
}

// TestWhole: a cache of all objects misses each once, whatever the policy; with the server's, segments take some more.
func TestWhole(t *testing.T) {
	for _, name := range Policies() {
		p, _ := New(name, Setup{Capacity: 1200, Seed: 1})
		misses := 0
		for round := range 5 {
			for id := range uint64(1000) {
				if !p.Get(id) {
					misses++
					p.Put(id, 1)
				}
			}
			if round == 0 && misses != 1000 {
				t.Errorf("%s: %d misses at first", name, misses)
			}
		}
		if misses != 1000 {
			t.Errorf("%s: %d misses of 1000 objects that all fit", name, misses)
		}
	}
}

func BenchmarkPolicies(b *testing.B) {
	for _, name := range Policies() {
		b.Run(name, func(b *testing.B) {
			g, _, err := ParseGen("zipf:requests=1g", 1)
			if err != nil {
				b.Fatal(err)
			}
			k, err := newCache(name, 50_000, &Config{Seed: 1})
			if err != nil {
				b.Fatal(err)
			}
			reqs := make([]Req, 1<<18)
			g.Read(reqs)
			k.run(reqs)
			i := 0
			for b.Loop() {
				k.do(&reqs[i&(len(reqs)-1)])
				i++
			}
		})
	}
}
