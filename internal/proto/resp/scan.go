package resp

// Scanner measures a reply at the start of a buffer that grows. It remembers the elements it has seen, so that a reply
// that comes in many pieces is gone through once. The zero value is ready.
//
// Attributes in front of a reply and push messages are no replies: they are stepped over and belong to the reply that
// comes after them.
type Scanner struct {
	// Start is where the reply itself begins, behind what was stepped over; set when Scan has returned a length.
	Start int

	at    int             // bytes of elements that are seen
	depth int             //
	left  [MaxDepth]int64 // elements that are missing at each depth; what was stepped over is not counted
}

// Reset forgets an incomplete reply.
func (s *Scanner) Reset() { s.at, s.depth = 0, 0 }

// Idle says whether the next Scan begins a reply.
func (s *Scanner) Idle() bool { return s.at == 0 }

// Scan returns the length of the reply at the start of in and all that was stepped over, and 0 while it is not complete.
// in must begin where it did when the last Scan returned 0.
func (s *Scanner) Scan(in []byte) (n int, err error) {
	if s.at == 0 {
		s.depth, s.left[0] = 0, 1
	}
	var v Value
	for {
		n, err := Head(in[s.at:], &v)
		if n == 0 {
			return 0, err
		}
		aside := v.Type == Attribute || v.Type == Push
		if s.depth == 0 && !aside {
			s.Start = s.at
		}
		if s.depth > 0 && v.Type == Push {
			return 0, errPush
		}
		s.at += n
		if !aside {
			s.left[s.depth]--
		}
		if v.IsAggregate() && v.N > 0 {
			if s.depth+1 == MaxDepth {
				return 0, errDepth
			}
			s.depth++
			s.left[s.depth] = v.N
		}
		for s.left[s.depth] == 0 {
			if s.depth == 0 {
				n = s.at
				s.at = 0
				return n, nil
			}
			s.depth--
		}
	}
}

// Parse reads a whole reply at the start of in, as a Scanner measures it.
func Parse(in []byte, v *Value) (n int, err error) {
	var s Scanner
	if n, err = s.Scan(in); n == 0 {
		return 0, err
	}
	s.Value(in[:n], v)
	return n, nil
}

// Value gives the reply that Scan has just found to be the first n bytes of its input: in must be these.
func (s *Scanner) Value(in []byte, v *Value) {
	raw := in[s.Start:]
	if _, err := Head(raw, v); err != nil {
		panic("resp: Value of something that was not scanned") // the buffer was changed in between
	}
	v.Raw = raw
}

// Iter walks the elements of an aggregate.
type Iter struct {
	rest []byte
	left int64
}

// Elements walks the elements of v, which must have its Raw: keys and values of a map one after the other. What is no
// aggregate has none.
func (v *Value) Elements() Iter {
	if !v.IsAggregate() {
		return Iter{}
	}
	var head Value
	n, err := Head(v.Raw, &head)
	if err != nil || n == 0 {
		return Iter{}
	}
	return Iter{rest: v.Raw[n:], left: head.N}
}

// Left is how many elements are to come.
func (it *Iter) Left() int64 { return it.left }

// Next reads the next element. Aggregates in it are walked with their own Elements.
func (it *Iter) Next(v *Value) bool {
	if it.left == 0 {
		return false
	}
	n, err := Parse(it.rest, v)
	if n == 0 || err != nil {
		it.left = 0
		return false
	}
	it.rest = it.rest[n:]
	it.left--
	return true
}
