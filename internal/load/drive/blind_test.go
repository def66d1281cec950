package drive

import (
	"testing"

	"godwit/internal/load"
)

// shared gives requests until all of its sources together have given so many.
type shared struct {
	left *int
	counter
}

func (s *shared) Next(op *load.Op) bool {
	if *s.left == 0 {
		return false
	}
	*s.left--
	return s.counter.Next(op)
}

// Blind connections whose common source dries up on one of them all come to their end.
func TestBlindTogether(t *testing.T) {
	for _, requests := range []int{1, 10, 35, 160, 1605} {
		addr, lines := lineServer(t)
		p := plan(addr, 4, 0, 10)
		p.Loops = 1
		left := requests
		for i := range p.Clients {
			c := &p.Clients[i]
			c.Source, c.Blind, c.Quit = &shared{left: &left, counter: counter{n: -1}}, true, []byte("quit\n")
		}
		r := run1(t, p)
		served := lines() + lines() + lines() + lines()
		if int(r.Rows[0].Count) != requests || served != requests || r.ConnErrors != 0 {
			t.Errorf("%d requests: counted %d, served %d, %d errors %v", requests, r.Rows[0].Count, served, r.ConnErrors, r.Texts)
		}
	}
}
