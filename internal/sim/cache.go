package sim

// Op is what a request does.
type Op uint8

const (
	Get    Op = iota // a read: counted as hit or miss; on a miss the object is stored, unless Config.NoFill
	Set              // stores whatever is there
	Add              // stores if there is nothing
	Change           // stores if there is something: replace, cas, append, prepend, incr, decr
	Delete
)

// Req is a request of a trace.
type Req struct {
	Key  uint64 // hash of the key, or its number
	Time int64  // seconds since any moment, not falling
	TTL  int64  // seconds that what is stored lives; 0: for ever
	Size int64  // bytes of key and value
	Op   Op
}

// Source of a trace. Read fills dst from its beginning and says how many requests it put there; at the end that is 0 and
// io.EOF. Requests that came before an error are given first.
type Source interface {
	Read(dst []Req) (int, error)
}

// Counts of a cache, after warm-up.
type Counts struct {
	Reads, Hits         int64
	ReadBytes, HitBytes int64
	Writes              int64 // objects stored by commands, not by misses
	Evicted, Expired    int64
}

// MissRatio of the reads; NaN if there were none.
func (c *Counts) MissRatio() float64 { return 1 - float64(c.Hits)/float64(c.Reads) }

// ByteMissRatio weighs each read by the size of its object.
func (c *Counts) ByteMissRatio() float64 { return 1 - float64(c.HitBytes)/float64(c.ReadBytes) }

// cache puts expiry and counting around a policy. Time is that of the requests. Expired objects leave at once, as if a sweeper
// had no delay.
type cache struct {
	Counts
	name     string
	capacity int64
	policy   Policy
	bytes    bool
	overhead int64
	noFill   bool
	counting bool

	expiry map[uint64]int64
	due    dues
}

func newCache(name string, capacity int64, c *Config) (*cache, error) {
	k := &cache{name: name, capacity: capacity, bytes: c.Bytes, overhead: c.Overhead, noFill: c.NoFill, expiry: map[uint64]int64{}}
	var err error
	k.policy, err = New(name, Setup{Capacity: capacity, Bytes: c.Bytes, Seed: c.Seed, Gone: k.gone})
	return k, err
}

func (k *cache) gone(id uint64) {
	if k.counting {
		k.Evicted++
	}
	if len(k.expiry) > 0 {
		delete(k.expiry, id)
	}
}

func (k *cache) run(batch []Req) {
	for i := range batch {
		k.do(&batch[i])
	}
}

func (k *cache) do(r *Req) {
	if len(k.due) > 0 {
		k.sweep(r.Time)
	}
	switch r.Op {
	case Get:
		hit := k.policy.Get(r.Key)
		if k.counting {
			k.Reads++
			k.ReadBytes += r.Size
			if hit {
				k.Hits++
				k.HitBytes += r.Size
			}
		}
		if !hit && !k.noFill {
			k.put(r)
		}
	case Set:
		k.write(r)
	case Add:
		if !k.policy.Has(r.Key) {
			k.write(r)
		}
	case Change:
		if k.policy.Has(r.Key) {
			k.write(r)
		}
	case Delete:
		k.policy.Remove(r.Key)
		delete(k.expiry, r.Key)
	}
}

func (k *cache) write(r *Req) {
	if k.counting {
		k.Writes++
	}
	k.put(r)
}

func (k *cache) put(r *Req) {
	size := int64(1)
	if k.bytes {
		size = max(r.Size+k.overhead, 1)
	}
	k.policy.Put(r.Key, size)
	if r.TTL <= 0 {
		if len(k.expiry) > 0 && r.Op != Change { // append, incr and the like leave the expiry alone
			delete(k.expiry, r.Key)
		}
		return
	}
	if !k.policy.Has(r.Key) {
		return
	}
	at := r.Time + r.TTL
	if k.expiry[r.Key] != at {
		k.expiry[r.Key] = at
		k.due.push(due{at, r.Key})
		if len(k.due) > 2*len(k.expiry)+1024 { // overwritten or evicted, most of them
			k.tidy()
		}
	}
}

// sweep removes what is due at now.
func (k *cache) sweep(now int64) {
	for len(k.due) > 0 && k.due[0].at <= now {
		d := k.due.pop()
		if at, ok := k.expiry[d.id]; ok && at == d.at {
			delete(k.expiry, d.id)
			k.policy.Remove(d.id)
			if k.counting {
				k.Expired++
			}
		}
	}
}

// tidy drops entries that are no longer true.
func (k *cache) tidy() {
	n := 0
	for _, d := range k.due {
		if at, ok := k.expiry[d.id]; ok && at == d.at {
			k.due[n] = d
			n++
		}
	}
	k.due = k.due[:n]
	for i := n/2 - 1; i >= 0; i-- {
		k.due.down(i)
	}
}

// dues is a heap, the earliest first.
type dues []due

type due struct {
	at int64
	id uint64
}

func (d *dues) push(v due) {
	*d = append(*d, v)
	h := *d
	for i := len(h) - 1; i > 0 && h[i].at < h[(i-1)/2].at; i = (i - 1) / 2 {
		h[i], h[(i-1)/2] = h[(i-1)/2], h[i]
	}
}

func (d *dues) pop() due {
	h := *d
	v := h[0]
	h[0] = h[len(h)-1]
	*d = h[:len(h)-1]
	d.down(0)
	return v
}

func (d dues) down(i int) {
	for {
		c := 2*i + 1
		if c >= len(d) {
			return
		}
		if c+1 < len(d) && d[c+1].at < d[c].at {
			c++
		}
		if d[i].at <= d[c].at {
			return
		}
		d[i], d[c] = d[c], d[i]
		i = c
	}
}
