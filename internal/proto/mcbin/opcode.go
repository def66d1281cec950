package mcbin

// Op is an opcode as it stands on the wire.
type Op byte

const (
	Get       Op = 0x00
	Set       Op = 0x01
	Add       Op = 0x02
	Replace   Op = 0x03
	Delete    Op = 0x04
	Incr      Op = 0x05
	Decr      Op = 0x06
	Quit      Op = 0x07
	Flush     Op = 0x08
	GetQ      Op = 0x09
	Noop      Op = 0x0a
	Version   Op = 0x0b
	GetK      Op = 0x0c
	GetKQ     Op = 0x0d
	Append    Op = 0x0e
	Prepend   Op = 0x0f
	Stat      Op = 0x10
	SetQ      Op = 0x11
	AddQ      Op = 0x12
	ReplaceQ  Op = 0x13
	DeleteQ   Op = 0x14
	IncrQ     Op = 0x15
	DecrQ     Op = 0x16
	QuitQ     Op = 0x17
	FlushQ    Op = 0x18
	AppendQ   Op = 0x19
	PrependQ  Op = 0x1a
	Verbosity Op = 0x1b // never implemented by memcached; answered as unknown
	Touch     Op = 0x1c
	GAT       Op = 0x1d
	GATQ      Op = 0x1e
	SASLList  Op = 0x20
	SASLAuth  Op = 0x21
	SASLStep  Op = 0x22
	GATK      Op = 0x23
	GATKQ     Op = 0x24
)

// Shape says which parts of a request an opcode takes.
type Shape uint8

const (
	KeyNeeded  Shape = 1 << iota // at least one byte of key
	KeyAllowed                   // a key or none
	ValueAllowed
	ExtrasOptional // all of Info.Extras or none
)

// Info is a row of the opcode table.
type Info struct {
	Name   string
	Op     Op    // the opcode that does the same aloud; itself if it is not quiet
	Quiet  bool  // success (of storing and removing ops) or a miss (of reading ops) is not answered
	Known  bool  // memcached implements it
	Extras uint8 // bytes of extras
	Shape  Shape
}

var table = func() (t [256]Info) {
	type row struct {
		op, quiet Op // quiet: the quiet twin, or the same again
		name      string
		extras    uint8
		shape     Shape
	}
	for _, r := range []row{
		{Get, GetQ, "get", 0, KeyNeeded},
		{GetK, GetKQ, "getk", 0, KeyNeeded},
		{Set, SetQ, "set", 8, KeyNeeded | ValueAllowed},
		{Add, AddQ, "add", 8, KeyNeeded | ValueAllowed},
		{Replace, ReplaceQ, "replace", 8, KeyNeeded | ValueAllowed},
		{Delete, DeleteQ, "delete", 0, KeyNeeded},
		{Incr, IncrQ, "incr", 20, KeyNeeded},
		{Decr, DecrQ, "decr", 20, KeyNeeded},
		{Quit, QuitQ, "quit", 0, 0},
		{Flush, FlushQ, "flush", 4, ExtrasOptional},
		{Noop, Noop, "noop", 0, 0},
		{Version, Version, "version", 0, 0},
		{Append, AppendQ, "append", 0, KeyNeeded | ValueAllowed},
		{Prepend, PrependQ, "prepend", 0, KeyNeeded | ValueAllowed},
		{Stat, Stat, "stat", 0, KeyAllowed},
		{Touch, Touch, "touch", 4, KeyNeeded},
		{GAT, GATQ, "gat", 4, KeyNeeded},
		{GATK, GATKQ, "gatk", 4, KeyNeeded},
		{SASLList, SASLList, "sasl_list_mechs", 0, 0},
		{SASLAuth, SASLAuth, "sasl_auth", 0, KeyNeeded | ValueAllowed},
		{SASLStep, SASLStep, "sasl_step", 0, KeyNeeded | ValueAllowed},
	} {
		t[r.op] = Info{Name: r.name, Op: r.op, Known: true, Extras: r.extras, Shape: r.shape}
		if r.quiet != r.op {
			t[r.quiet] = Info{Name: r.name + "q", Op: r.op, Quiet: true, Known: true, Extras: r.extras, Shape: r.shape}
		}
	}
	for op := range t {
		if !t[op].Known {
			t[op].Name, t[op].Op = "unknown", Op(op)
		}
	}
	return t
}()

// Info gives the row of an opcode.
func (op Op) Info() *Info { return &table[op] }

func (op Op) String() string { return table[op].Name }

// Fits says whether a request with these lengths has the shape its opcode asks for. Unknown opcodes take anything.
func (i *Info) Fits(h *Header) bool {
	if !i.Known {
		return true
	}
	if h.ExtLen != i.Extras && (h.ExtLen != 0 || i.Shape&ExtrasOptional == 0) {
		return false
	}
	if h.KeyLen == 0 && i.Shape&KeyNeeded != 0 {
		return false
	}
	if h.KeyLen != 0 && i.Shape&(KeyNeeded|KeyAllowed) == 0 {
		return false
	}
	value := h.ValueLen()
	return value == 0 || value > 0 && i.Shape&ValueAllowed != 0
}
