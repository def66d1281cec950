package codec

// quiet numbers the requests of a connection. A quiet request that has nothing to say leaves no trace in the stream:
// that a later answer has come, which carries its number, is the only sign that it is done. Behind the last of a row of
// quiet requests goes a request that does nothing but is answered (a nop).
//
//	append   getq 7   getq 8   nop 8   get 9
//	answers           hit 8    nop 8   hit 9      so 7 was a miss
//
// Numbers wrap around; at most 2^31 requests may be unanswered.
type quiet struct {
	next  uint32   // number of the next request
	head  uint32   // number of the oldest unanswered request
	open  bool     // quiet requests were appended and no nop behind them
	nops  []uint32 // numbers of the last request in front of each unanswered nop
	first int      // of nops that are unanswered
}

func (q *quiet) reset() {
	q.head, q.open, q.nops, q.first = q.next, false, q.nops[:0], 0
}

// take gives the next request its number.
func (q *quiet) take(quiet bool) uint32 {
	n := q.next
	q.next++
	q.open = quiet
	return n
}

// last is the number of the latest request.
func (q *quiet) last() uint32 { return q.next - 1 }

// close says that a nop was appended.
func (q *quiet) close() {
	q.open = false
	if q.first > 64 && q.first > len(q.nops)/2 {
		q.nops = q.nops[:copy(q.nops, q.nops[q.first:])]
		q.first = 0
	}
	q.nops = append(q.nops, q.last())
}

// nop is the number of the request in front of the oldest unanswered nop.
func (q *quiet) nop() (n uint32, ok bool) {
	if q.first == len(q.nops) {
		return 0, false
	}
	return q.nops[q.first], true
}

// endsRow says whether a nop follows directly on the oldest request.
func (q *quiet) endsRow() bool {
	n, ok := q.nop()
	return ok && n == q.head
}

// popNop takes the oldest nop away.
func (q *quiet) popNop() {
	q.first++
	if q.first == len(q.nops) {
		q.nops, q.first = q.nops[:0], 0
	}
}

// done goes on to the next request.
func (q *quiet) done() { q.head++ }

// later says whether request n was made after the oldest unanswered one.
func (q *quiet) later(n uint32) bool { return n-q.head-1 < 1<<31-1 && int32(q.next-n) > 0 }
