package ycsb

import (
	"bytes"

	"godwit/internal/bytesx"
	"godwit/internal/load"
	"godwit/internal/load/keys"
	"godwit/internal/proto/resp"
)

// step is a request of an operation.
type step struct {
	do     action
	op     int  // operation or part of one that it belongs to
	single bool // it is all of that, and its row is the operation's
	first  bool // of several
}

// thread is the Source of one connection. It has one operation under way, which is a list of steps.
type thread struct {
	*job
	host    int
	left    uint64 // operations to come
	endless bool

	next, until uint64 // load phase: the indices that are inserted

	choices keys.Rand
	total   float64 // sum of shares
	reads   keys.Indices
	lens    lengths
	scanLen keys.Sizes
	bytes   keys.Rand
	fieldsR keys.Rand

	steps    []step
	at       int
	op       int
	index    uint64
	key      []byte   // on the wire
	args     [][]byte // of a command
	buf      []byte   // value, or values
	value    []byte   // what a set sends
	nums     []byte   // numbers in args
	field    int      // the one that a read wants or an update writes
	worst    outcome  // of the operation
	partBad  outcome  // of the part
	elements []byte   // keys that a scan found, one behind the other
	ends     []int
	expected []byte

	over  [2]load.Span
	overs int
}

// newThread makes the id-th of all threads of all machines.
func newThread(j *job, id int) (*thread, error) {
	n := len(j.hosts)
	t := &thread{job: j, host: id % n}
	stream := func(u keys.Use) uint64 { return keys.Stream(id, u) }
	seed := j.seed
	if j.load {
		seed ^= 1 << 63
		mates := (j.threads - t.host + n - 1) / n // threads with the same server
		from, size := share(j.count, id/n, mates)
		t.next, t.until = j.first+from, j.first+from+size
	} else {
		_, t.left = share(j.operations, id, j.threads)
		t.endless = j.operations == 0
		for _, x := range j.shares {
			t.total += x
		}
		var err error
		if t.reads, err = j.indices(t.host); err != nil {
			return nil, err
		}
		t.reads.Seed(seed, stream(keys.Reads))
	}
	var err error
	if t.lens, err = j.lengths(); err != nil {
		return nil, err
	}
	t.lens.seed(seed, stream(keys.Lengths))
	t.scanLen = j.scans
	t.scanLen.Seed(seed, stream(keys.Other))
	t.bytes.Seed(seed, stream(keys.Contents))
	t.choices.Seed(seed, stream(keys.Choices))
	t.fieldsR.Seed(seed, stream(keys.Other+1))
	t.buf = make([]byte, 0, j.fields*(j.fieldMax+len(j.fieldPrefix)+16)+16)
	return t, nil
}

// Under implements load.Spanner.
func (t *thread) Under() bool { return t.at < len(t.steps) }

// Next implements load.Source.
func (t *thread) Next(op *load.Op) bool {
	begins := !t.Under()
	if begins && !t.begin() {
		return false
	}
	st := &t.steps[t.at]
	switch {
	case st.single:
		op.Row = t.rows.ops[st.op][fine]
	default:
		op.Row = t.rows.requests[st.do]
	}
	if begins && len(t.steps) > 1 || st.do == actRange {
		op.Begins = 1
	}
	if st.first {
		t.partBad = fine
		op.Begins |= 1 << t.number()
	}
	t.request(st.do, op)
	return true
}

// number is the mark of the operation's parts.
func (t *thread) number() uint8 {
	if t.op == opRMW {
		return 1
	}
	return 0
}

// begin draws the next operation and lists its steps.
func (t *thread) begin() bool {
	t.op = opInsert
	if t.load {
		if !t.nextInsert() {
			return false
		}
	} else {
		if t.left == 0 && !t.endless {
			return false
		}
		t.left--
		t.op = t.choose()
		ok := false
		if t.op == opInsert {
			if t.index, ok = t.take(t.host); ok {
				t.setKey(t.index)
			} else {
				t.op = opRead
			}
		}
		if !ok {
			t.pick()
		}
	}
	t.steps, t.at, t.worst = t.steps[:0], 0, fine
	switch t.op {
	case opRead:
		t.read(opRead)
	case opUpdate:
		t.update(opUpdate)
	case opInsert:
		t.insert()
	case opScan:
		t.several(opScan, actRange, actRange)
		t.steps = t.steps[:1]
	case opRMW:
		t.read(opRMWRead)
		t.update(opRMWUpdate)
	}
	return true
}

func (t *thread) read(op int) {
	t.field = int(t.fieldsR.Below(uint64(t.fields)))
	if t.hash {
		t.one(op, actHashGet)
	} else {
		t.one(op, actGet)
	}
}

func (t *thread) update(op int) {
	switch {
	case t.hash:
		t.one(op, actHashSet)
	case t.merges():
		t.several(op, actGet, actSet)
	default:
		t.one(op, actSet)
	}
}

func (t *thread) insert() {
	switch {
	case t.hash && t.settings.index:
		t.several(opInsert, actHashSet, actIndex)
	case t.hash:
		t.one(opInsert, actHashSet)
	default:
		t.one(opInsert, actSet)
	}
}

func (t *thread) one(op int, a action) {
	t.steps = append(t.steps, step{do: a, op: op, single: true})
}

func (t *thread) several(op int, a, b action) {
	t.steps = append(t.steps, step{do: a, op: op, first: true}, step{do: b, op: op})
}

// choose draws the kind of the next operation.
func (t *thread) choose() int {
	u := t.choices.Float64() * t.total
	last := 0
	for op, x := range t.shares {
		if x == 0 {
			continue
		}
		if last = op; u < x {
			return op
		}
		u -= x
	}
	return last
}

// nextInsert goes on to the next index of the load phase that belongs to this thread.
func (t *thread) nextInsert() bool {
	for ; t.next < t.until; t.next++ {
		t.setKey(t.next)
		if t.job.host(t.key) == t.host {
			t.next++
			return true
		}
	}
	return false
}

// pick draws the key of an operation on a record that is there.
func (t *thread) pick() {
	index := t.reads.Next()
	t.setKey(index)
	for tries := 0; t.job.host(t.key) != t.host; tries++ {
		if tries < 1000 {
			index = t.reads.Next()
		} else if index++; index >= t.inserts.Acked() { // a law that never draws a key of this server
			index = t.first
		}
		t.setKey(index)
	}
}

func (t *thread) setKey(index uint64) { t.key = t.names.Append(t.key[:0], t.job.number(index)) }

// plain is the key as YCSB's workload knows it, without what the binding puts in front.
func (t *thread) plain() []byte { return t.key[t.table:] }

// request fills op.
func (t *thread) request(a action, op *load.Op) {
	op.Kind = load.Command
	switch a {
	case actGet:
		op.Kind, op.Key = load.Get, t.key
		return
	case actSet:
		op.Kind, op.Key, op.Expiry = load.Set, t.key, t.expiry
		if st := &t.steps[t.at]; st.single {
			t.build(st.op)
		}
		op.Value = t.value
		return
	case actHashGet:
		t.hashRead(t.key)
	case actHashSet:
		t.hashWrite(t.steps[t.at].op)
	case actIndex:
		t.nums = bytesx.AppendInt(t.nums[:0], int64(javaHash(t.key)))
		t.args = append(t.args[:0], wordZAdd, wordIndices, t.nums, t.key)
	case actRange:
		t.nums = bytesx.AppendInt(t.nums[:0], int64(javaHash(t.key)))
		n := len(t.nums)
		t.nums = bytesx.AppendInt(t.nums, int64(t.scanLen.Next(0)))
		t.args = append(t.args[:0], wordRange, wordIndices, t.nums[:n:n], wordInf, wordLimit, wordZero, t.nums[n:])
	case actElement:
		i := t.at - 1
		from := 0
		if i > 0 {
			from = t.ends[i-1]
		}
		t.hashRead(t.elements[from:t.ends[i]])
	}
	op.Args = t.args
}

var (
	wordHGetAll = []byte("HGETALL")
	wordHMGet   = []byte("HMGET")
	wordHMSet   = []byte("HMSET")
	wordZAdd    = []byte("ZADD")
	wordRange   = []byte("ZRANGEBYSCORE")
	wordIndices = []byte("_indices")
	wordInf     = []byte("+inf")
	wordLimit   = []byte("LIMIT")
	wordZero    = []byte("0")
)

// javaHash is Java's String.hashCode of ASCII, the score of a key in the index.
func javaHash(key []byte) int32 {
	h := int32(0)
	for _, c := range key {
		h = 31*h + int32(c)
	}
	return h
}

func (t *thread) hashRead(key []byte) {
	if t.readAll {
		t.args = append(t.args[:0], wordHGetAll, key)
		return
	}
	t.args = append(t.args[:0], wordHMGet, key, t.fieldsN[t.field])
}

// written are the fields that an operation writes.
func (t *thread) written(op int) [][]byte {
	if op == opInsert || t.writeAll {
		return t.fieldsN
	}
	i := t.fieldsR.Below(uint64(t.fields))
	return t.fieldsN[i : i+1]
}

func (t *thread) hashWrite(op int) {
	t.args = append(t.args[:0], wordHMSet, t.key)
	t.buf = t.buf[:0]
	for _, name := range t.written(op) {
		from := len(t.buf)
		if t.integrity {
			t.buf = t.content(t.buf, name, t.fieldMax) // there is room
			t.args = append(t.args, name, t.buf[from:])
			continue
		}
		t.args = append(t.args, name, t.random(t.lens.next()))
	}
}

// random gives size characters of the block.
func (t *thread) random(size int) []byte {
	at := t.bytes.Below(places)
	return t.block[at : at+uint64(size)]
}

// content appends a value of the field.
func (t *thread) content(dst, name []byte, size int) []byte {
	if t.integrity {
		return keys.AppendIntegrity(dst, t.plain(), name, size)
	}
	return append(dst, t.random(size)...)
}

// build makes the value of a record of the fields that an operation writes.
func (t *thread) build(op int) {
	e := t.encoding
	b := e.begin(t.buf[:0])
	for _, name := range t.written(op) {
		b = t.addField(b, name)
	}
	t.buf = e.end(b)
	t.value = t.buf
}

func (t *thread) addField(b, name []byte) []byte {
	size := t.lens.next()
	b = t.encoding.name(b, 0, name, size)
	b = t.content(b, name, size)
	return t.encoding.close(b)
}

// merge makes a record of the one that was read, with a field of it written anew.
func (t *thread) merge(old []byte) bool {
	e := t.encoding
	b := e.begin(t.buf[:0])
	name := t.written(opUpdate)[0]
	was := false
	it := e.walk(old)
	for it.next() {
		if bytes.Equal(it.name, name) {
			b = t.addField(b, name)
			was = true
			continue
		}
		b = e.close(append(e.name(b, 0, it.name, len(it.raw)), it.raw...))
	}
	if !was {
		b = t.addField(b, name)
	}
	t.buf = e.end(b)
	t.value = t.buf
	return !it.bad
}

// Done implements load.Feedback.
func (t *thread) Done(r *load.Reply) {
	st := t.steps[t.at]
	o := fine
	switch {
	case r.Status == load.Mismatch:
		o = unexpected
	case r.Status != load.OK:
		o = failed
	default:
		o = t.judge(&st, r)
	}
	if o == unexpected {
		r.Status = load.Mismatch
	}
	t.at++
	t.worst = max(t.worst, o)
	if st.single {
		r.Row = t.rows.ops[st.op][o]
		t.finish()
		return
	}
	t.partBad = max(t.partBad, o)
	if o != fine && st.do != actElement { // the rest of the part makes no sense
		for t.within(st.op) {
			t.at++
		}
	}
	if !t.within(st.op) {
		t.span(st.op, t.number(), t.partBad)
		t.finish()
	}
}

// within says whether the next step is of the part op.
func (t *thread) within(op int) bool { return t.Under() && t.steps[t.at].op == op }

// span notes that a part of the operation, or all of it, has ended.
func (t *thread) span(op int, number uint8, o outcome) {
	s := load.Span{Row: t.rows.ops[op][o], Number: number, Status: o.status()}
	switch {
	case o == notFound:
		s.Misses = 1
	case op != opInsert && op != opUpdate && op != opRMWUpdate:
		s.Hits = 1
	}
	t.over[t.overs] = s
	t.overs++
}

// finish ends the operation with its last step.
func (t *thread) finish() {
	if t.Under() {
		return
	}
	switch t.op {
	case opRMW:
		t.span(opRMW, 0, t.worst)
	case opInsert:
		if !t.load {
			t.inserts.Ack(t.index) //nolint:errcheck // it was taken, and once
		}
	}
}

// Ended implements load.Spanner.
func (t *thread) Ended(s *load.Span) bool {
	if t.overs == 0 {
		return false
	}
	*s = t.over[0]
	t.over[0] = t.over[1]
	t.overs--
	return true
}

// judge looks at an answer that is no error.
func (t *thread) judge(st *step, r *load.Reply) outcome {
	switch st.do {
	case actGet:
		if r.Misses > 0 {
			return t.miss()
		}
		if t.integrity && !t.right(r.Value) {
			return unexpected
		}
		if !st.single && !t.merge(r.Value) {
			return unexpected
		}
	case actHashGet, actElement:
		return t.judgeHash(st, r)
	case actRange:
		return t.list(r)
	}
	return fine
}

// miss of a record that should be there.
func (t *thread) miss() outcome {
	if t.missFails {
		return notFound
	}
	return fine
}

// right says whether the value is that of the record.
func (t *thread) right(value []byte) bool {
	it := t.encoding.walk(value)
	n := 0
	for it.next() {
		if !t.sameField(it.name, it.value) {
			return false
		}
		n++
	}
	return !it.bad && (n == t.fields || n > 0 && !t.merges() && !t.writeAll)
}

func (t *thread) sameField(name, value []byte) bool {
	t.expected = keys.AppendIntegrity(t.expected[:0], t.plain(), name, t.fieldMax)
	return bytes.Equal(value, t.expected)
}

// judgeHash looks at the fields of a hash.
func (t *thread) judgeHash(st *step, r *load.Reply) outcome {
	var v resp.Value
	if n, err := resp.Parse(r.Value, &v); n == 0 || err != nil || !v.IsAggregate() {
		return failed
	}
	check := t.integrity && st.do == actHashGet
	var name, value resp.Value
	n, right := 0, true
	for it := v.Elements(); it.Next(&value); n++ {
		if !t.readAll {
			if value.Type == resp.Null {
				return t.absent(st, r)
			}
			right = !check || t.sameField(t.fieldsN[t.field], value.Text)
			continue
		}
		name = value
		if !it.Next(&value) {
			return failed
		}
		right = right && (!check || t.sameField(name.Text, value.Text))
	}
	switch {
	case n == 0:
		return t.absent(st, r)
	case !right, check && t.readAll && n != t.fields:
		return unexpected
	}
	r.Hits = 1
	return fine
}

// absent is a record that is not there. A scan does not mind: it may have gone since it was listed.
func (t *thread) absent(st *step, r *load.Reply) outcome {
	r.Misses = 1
	if st.do == actElement {
		return fine
	}
	return t.miss()
}

// list takes the keys that a scan found, and adds a step for each.
func (t *thread) list(r *load.Reply) outcome {
	var v resp.Value
	if n, err := resp.Parse(r.Value, &v); n == 0 || err != nil || !v.IsAggregate() {
		return failed
	}
	t.elements, t.ends = t.elements[:0], t.ends[:0]
	var e resp.Value
	for it := v.Elements(); it.Next(&e); {
		t.elements = append(t.elements, e.Text...)
		t.ends = append(t.ends, len(t.elements))
		t.steps = append(t.steps, step{do: actElement, op: opScan})
	}
	if len(t.ends) == 0 {
		return t.miss()
	}
	r.Hits = 1 // the index: the server counts it as found
	t.field = int(t.fieldsR.Below(uint64(t.fields)))
	return fine
}
