package memtier

import (
	"cmp"
	"context"
	"fmt"
	"hash/maphash"
	"io"
	"slices"
	"time"

	"godwit/internal/load"
	"godwit/internal/load/codec"
	"godwit/internal/load/drive"
	"godwit/internal/load/memtier/output"
)

// writer is a client whose sets are to be read back: client n of all.
type writer struct {
	n, all int
	source *ratioSource
}

// claim says that a key should have the data of an item: it is the last one that some client gave it. A key that several
// clients set may have several, as nobody knows who was the last.
type claim struct {
	id   uint64 // index of the key
	item uint64 // in the file, from 0
}

// silence is how long the server may say nothing while values are read back, if the user does not say.
const silence = 30 * time.Second

// wrongKeys is how many keys with a wrong value are named.
const wrongKeys = 5

// verify reads all that the clients have set, or with --verify-only would have, and compares.
func (f *job) verify(ctx context.Context) error {
	p, o := f.planner, f.o
	if o.VerifyOnly || len(o.Agents) > 0 {
		if err := p.pretend(); err != nil {
			return err
		}
	}
	sums, err := p.sums()
	if err != nil {
		return err
	}
	s := &verifySource{sums: sums, p: p}
	if s.claims, err = p.claims(len(sums)); err != nil {
		return err
	}
	v := &output.Verified{}
	f.report.Verified = v
	if len(s.claims) == 0 {
		return nil
	}
	c := load.Client{Target: p.target, Pipeline: max(16, o.Pipeline), Source: s}
	if c.Codec, err = codec.New(string(o.Protocol)); err != nil {
		return err
	}
	plan := &load.Plan{
		Rows: []string{"GET"}, Loops: 1, Clients: []load.Client{c}, IO: o.IO,
		Retry: load.Retry{Timeout: cmp.Or(time.Duration(o.ConnectionTimeout)*time.Second, silence)},
	}
	r, err := drive.Run(ctx, plan, drive.Hooks{})
	v.Good, v.Failed = s.good, s.keys()-s.good
	if err != nil {
		return fmt.Errorf("verification: %w", err)
	}
	for _, x := range r.Texts[:min(len(r.Texts), wrongKeys)] {
		f.say("%s: verification: %d times: %s", f.prog, x.N, oneLine(x.Text))
	}
	for _, w := range s.wrong {
		f.say("%s: verification: %s", f.prog, w)
	}
	f.interrupted = f.interrupted || r.Interrupted
	return nil
}

// pretend makes writers of the clients that the command line has, on all machines, as if they had made all their sets: no
// load was run, or it was elsewhere.
func (p *planner) pretend() error {
	o := p.o
	if o.TestTime > 0 && (o.GenerateKeys || !o.VerifyOnly) {
		return fmt.Errorf("%s: not with %s: how far the sets came in that time is not known; use --requests", o.is("data-verify"), o.is("test-time"))
	}
	if o.Randomize && o.GenerateKeys {
		return fmt.Errorf("%s: not with --randomize and --generate-keys: the keys that were set are not known; use --seed", o.is("data-verify"))
	}
	p.writers = nil
	parts := max(1, len(o.Agents))
	for part := range parts {
		if _, err := p.plan(0, part, parts); err != nil {
			return err
		}
	}
	made := map[uint64]uint64{} // by requests
	for i := range p.writers {
		s := p.writers[i].source
		n, ok := made[s.left]
		if !ok {
			n = o.setsAmong(s.left, s.waits)
			made[s.left] = n
		}
		s.made = n
	}
	return nil
}

// setsAmong the first n requests of a client; noLimit if n is.
func (o *Options) setsAmong(n uint64, w waiter) (sets uint64) {
	t := turns{ratio: o.Ratio, multi: uint64(o.MultiKeyGet)}
	if n == noLimit {
		if o.Ratio.A == 0 {
			return 0
		}
		return noLimit
	}
	var op load.Op
	for range n {
		if w.due(&op) {
			continue
		}
		if set, _ := t.next(); set {
			w.noteSet()
			sets++
		}
	}
	return sets
}

// hashes of values are compared in place of them: files may be larger than the memory.
var hashes = maphash.MakeSeed()

// sums are the hashes of the data of the items.
func (p *planner) sums() (sums []uint64, err error) {
	r, err := p.imported.reader()
	if err != nil {
		return nil, fmt.Errorf("--data-import: %w", err)
	}
	for {
		it, err := r.Next()
		if err == io.EOF {
			return sums, nil
		}
		if err != nil {
			return nil, fmt.Errorf("--data-import: %w", err)
		}
		sums = append(sums, maphash.Bytes(hashes, it.Data))
	}
}

// claims of all writers on the keys, by key. items is the number of those in the file.
func (p *planner) claims(items int) (all []claim, err error) {
	type work struct{ first, last, made, n uint64 }
	done := map[work]bool{} // clients that set the same are looked at once
	var same []uint64
	if p.o.fileKeys() != nil {
		same = p.same()
	}
	for _, w := range p.writers {
		s := w.source
		k := work{first: s.items.first.item, last: min(s.items.last, uint64(items-1)), made: s.made}
		if same == nil {
			k.n = uint64(w.n)
		}
		if s.made == 0 || done[k] {
			continue
		}
		done[k] = true
		if same != nil {
			all = claimItems(all, k.first, k.last, k.made, same)
		} else if all, err = p.claimKeys(all, &w, items); err != nil {
			return nil, err
		}
	}
	slices.SortFunc(all, func(a, b claim) int { return cmp.Or(cmp.Compare(a.id, b.id), cmp.Compare(a.item, b.item)) })
	return slices.Compact(all), nil
}

// same gives for each item, from 0, the index of its key: the number of the first item with that key, from 1.
func (p *planner) same() []uint64 {
	file := p.o.ImportedKeys
	first := make(map[string]uint64, len(file))
	same := make([]uint64, len(file))
	for i, key := range file {
		n, ok := first[string(key)]
		if !ok {
			n = uint64(i + 1)
			first[string(key)] = n
		}
		same[i] = n
	}
	return same
}

// claimItems appends the claims of a client that has set the items from first to last, made sets in all.
func claimItems(dst []claim, first, last, made uint64, same []uint64) []claim {
	n := last - first + 1
	start := len(dst)
	for i := range min(made, n) { // backwards
		item := first + (made-1-i)%n
		dst = append(dst, claim{same[item], item})
	}
	// Of the claims on one key the last set counts, which comes first here.
	slices.SortStableFunc(dst[start:], func(a, b claim) int { return cmp.Compare(a.id, b.id) })
	mine := slices.CompactFunc(dst[start:], func(a, b claim) bool { return a.id == b.id })
	return dst[:start+len(mine)]
}

// claimKeys appends the claims of a client whose keys are generated.
func (p *planner) claimKeys(dst []claim, w *writer, items int) ([]claim, error) {
	x, err := p.setIndices(w.n, w.all)
	if err != nil {
		return nil, err
	}
	last := map[uint64]uint64{}
	for i := range w.source.made {
		last[x.Next()] = i % uint64(items)
	}
	for id, item := range last {
		dst = append(dst, claim{id, item})
	}
	return dst, nil
}

// verifySource gets the keys of claims and compares.
type verifySource struct {
	p       *planner
	claims  []claim  // by key
	sums    []uint64 // of items
	asked   int      // claims whose keys were asked for
	checked int      // and whose values were compared
	good    uint64   // keys
	key     []byte
	wrong   []string
}

// end of the claims on the key of claim i.
func (s *verifySource) end(i int) int {
	id := s.claims[i].id
	for i < len(s.claims) && s.claims[i].id == id {
		i++
	}
	return i
}

// keys counts them.
func (s *verifySource) keys() (n uint64) {
	for i := 0; i < len(s.claims); i = s.end(i) {
		n++
	}
	return n
}

func (s *verifySource) name(dst []byte, id uint64) []byte {
	d := draw{file: s.p.o.fileKeys(), names: s.p.names()}
	return d.appendKey(dst, id)
}

// Next implements load.Source.
func (s *verifySource) Next(op *load.Op) bool {
	if s.asked == len(s.claims) {
		return false
	}
	s.key = s.name(s.key[:0], s.claims[s.asked].id)
	op.Kind, op.Key, op.Offset = load.Get, s.key, s.p.o.DataOffset
	s.asked = s.end(s.asked)
	return true
}

// Done implements load.Feedback.
func (s *verifySource) Done(r *load.Reply) {
	mine := s.claims[s.checked:s.end(s.checked)]
	s.checked += len(mine)
	why := ""
	switch {
	case r.Status != load.OK:
		why = fmt.Sprintf("the server answers %.100q", r.Text)
	case r.Hits == 0:
		why = "it is not there"
	default:
		sum := maphash.Bytes(hashes, r.Value)
		if slices.ContainsFunc(mine, func(c claim) bool { return s.sums[c.item] == sum }) {
			s.good++
			return
		}
		why = fmt.Sprintf("its value, %d bytes, is not the one that was set", len(r.Value))
	}
	if len(s.wrong) < wrongKeys {
		s.wrong = append(s.wrong, fmt.Sprintf("key %s: %s", quoteBytes(string(s.name(nil, mine[0].id))), why))
	}
}
