package route

import "godwit/internal/load"

// group is the keys of a request for several that go to one server, in one slot if it is a cluster.
type group struct {
	to, slot int
	keys     [][]byte
}

// split makes several requests of one for several keys, one for each server or slot, and queues them. false: they all
// belong together. The groups stay for the next time.
func (f *Fleet) split(op *load.Op) bool {
	for i := range f.groups {
		f.groups[i].keys = f.groups[i].keys[:0]
	}
	groups := f.groups[:0]
	for _, k := range op.Keys {
		slot, to := -1, 0
		if f.place != nil {
			to = f.place.Server(k)
		} else {
			slot = Slot(k)
		}
		i := 0
		for i < len(groups) && (groups[i].to != to || groups[i].slot != slot) {
			i++
		}
		if i == len(groups) {
			if i < cap(groups) {
				groups = groups[:i+1]
				groups[i].to, groups[i].slot = to, slot
			} else {
				groups = append(groups, group{to: to, slot: slot})
			}
		}
		groups[i].keys = append(groups[i].keys, k)
	}
	f.groups = groups[:cap(groups)]
	if len(groups) == 1 {
		return false
	}
	s := f.newSplit(len(groups))
	for i := range groups {
		e := f.entries.get()
		e.set(op, groups[i].keys)
		e.split = s
		f.parts[f.owner(&e.op)].enqueue(e)
	}
	return true
}

// newSplit is for a request that n are made of; nil: nobody wants to know.
func (f *Fleet) newSplit(n int) (s *split) {
	switch k := len(f.splits); {
	case f.feedback == nil:
		return nil
	case k > 0:
		s = f.splits[k-1]
		f.splits = f.splits[:k-1]
	default:
		s = &split{}
	}
	s.left, s.lost, s.reply, s.text = n, false, load.Reply{}, s.text[:0]
	return s
}

// landed counts down the parts of s. r is the answer to the last one; nil: it was lost. The source hears only of requests
// that were answered in full.
func (f *Fleet) landed(s *split, r *load.Reply) {
	s.lost = s.lost || r == nil
	if s.left--; s.left > 0 {
		return
	}
	if !s.lost {
		t := &s.reply
		t.Value, t.Text, t.Row = r.Value, s.text, r.Row
		f.feedback.Done(t)
		r.Row = t.Row
	}
	f.splits = append(f.splits, s)
}
