package memtier

import (
	"sync/atomic"

	"godwit/internal/load"
	"godwit/internal/load/keys"
	"godwit/internal/proto/resp"
)

// commandSource makes the commands of one client: each as often in a row as its ratio says, in the order given.
type commandSource struct {
	left     uint64 // requests to make
	commands []sending
	at       int    // in commands
	times    uint64 // that commands[at] was sent in a row
	draw     draw
	monitor  *monitorCursor // nil: none
	rand     keys.Rand      // of monitor
	key      []byte
}

// sending is a command as a client sends it.
type sending struct {
	*Command
	row  uint8
	keys keys.Indices // of this command: it walks on its own
	args [][]byte     // of the last request; words with a key have a buffer here that is used again
}

// monitorCursor is where all clients of a load are in the file of --monitor-input.
type monitorCursor struct {
	commands []MonitorCommand
	rows     []int // of commands
	whole    []int // numbers, from 0, of those that are not broken
	random   bool
	part     uint64 // of parts machines, each of which takes its own commands in turn
	parts    uint64
	taken    atomic.Uint64
}

func newMonitorCursor(m *Monitor, rows []int, random bool, part, parts int) *monitorCursor {
	c := &monitorCursor{commands: m.Commands, rows: rows, random: random, part: uint64(part), parts: uint64(parts)}
	for i := range m.Commands {
		if m.Commands[i].Bad == nil {
			c.whole = append(c.whole, i)
		}
	}
	return c
}

// next is the number of the command that comes next.
func (c *monitorCursor) next(r *keys.Rand) int {
	n := uint64(len(c.whole))
	if c.random {
		return c.whole[r.Below(n)]
	}
	return c.whole[((c.taken.Add(1)-1)*c.parts+c.part)%n]
}

// Next implements load.Source.
func (s *commandSource) Next(op *load.Op) bool {
	if s.left == 0 {
		return false
	}
	if s.left != noLimit {
		s.left--
	}
	c := &s.commands[s.at]
	s.make(op, c)
	if s.times++; s.times >= c.Ratio {
		s.times = 0
		if s.at++; s.at == len(s.commands) {
			s.at = 0
		}
	}
	return true
}

func (s *commandSource) make(op *load.Op, c *sending) {
	op.Kind, op.Row = load.Command, c.row
	switch {
	case c.Monitor > 0:
		op.Args = s.monitor.commands[c.Monitor-1].Args
		return
	case c.Monitor == AnyMonitor:
		n := s.monitor.next(&s.rand)
		op.Args, op.Row = s.monitor.commands[n].Args, uint8(s.monitor.rows[n])
		return
	}
	index := c.keys.Min()
	for i := range c.Args {
		switch a := &c.Args[i]; {
		case a.Data:
			c.args[i] = s.draw.valueOf(index)
		case a.Key():
			index = c.keys.Next()
			s.key = s.draw.appendKey(s.key[:0], index)
			c.args[i] = a.Append(c.args[i][:0], s.key, nil)
			op.Key = c.args[i]
		}
	}
	op.Args = c.args
}

// newSending makes what client n of all sends of a command.
func (o *Options) newSending(c *Command, row int, seed uint64, which, n, all int) (sending, error) {
	s := sending{Command: c, row: uint8(max(row, 0)), args: make([][]byte, len(c.Args))}
	for i := range c.Args {
		if a := &c.Args[i]; !a.Data && !a.Key() {
			s.args[i] = a.Parts[0]
		}
	}
	if c.Keys() == 0 { // nor is there a need that the pattern fits the keys
		return s, nil
	}
	var err error
	s.keys, err = o.indices(c.Pattern, n, all)
	s.keys.Seed(seed+uint64(which)<<32, keys.Stream(n, streamCommands))
	return s, err
}

// commandSource of client n of all.
func (p *planner) commandSource(n, all int, left uint64) (load.Source, error) {
	o := p.o
	s := &commandSource{left: left, monitor: p.monitor}
	var err error
	if s.draw, err = p.draw(n); err != nil {
		return nil, err
	}
	s.rand.Seed(p.seed, keys.Stream(n, streamMonitor))
	_, rowOf, _ := o.CommandRows()
	for i := range o.Commands {
		c, err := o.newSending(&o.Commands[i], rowOf[i], p.seed, i, n, all)
		if err != nil {
			return nil, err
		}
		s.commands = append(s.commands, c)
	}
	if o.ScanIncrement {
		return &scanSource{commandSource: s, most: o.ScanIterations}, nil
	}
	return s, nil
}

// rowScanOn of scanSource is that of SCANs with a cursor; 0 is that of the others.
const rowScanOn = 1

// scanSource follows the cursor of a SCAN to its end, or as often as asked for, and begins again.
type scanSource struct {
	*commandSource
	most     int    // times that a cursor is followed; 0: to its end
	followed int    // times that it was
	cursor   []byte // to go on with; empty: begin
	asked    bool   // the answer is not there yet
	args     [][]byte
}

// Next implements load.Source.
func (s *scanSource) Next(op *load.Op) bool {
	if !s.commandSource.Next(op) {
		return false
	}
	if s.asked { // the connection was lost with it
		s.cursor = s.cursor[:0]
	}
	s.asked = true
	if len(s.cursor) == 0 {
		s.followed = 0
		return true
	}
	s.followed++
	s.args = append(s.args[:0], op.Args...)
	s.args[1] = s.cursor
	op.Args, op.Row = s.args, rowScanOn
	return true
}

// Done implements load.Feedback.
func (s *scanSource) Done(r *load.Reply) {
	s.asked = false
	s.cursor = s.cursor[:0]
	if r.Status == load.OK && (s.most == 0 || s.followed < s.most) {
		s.cursor = appendCursor(s.cursor, r.Value)
	}
}

// appendCursor appends the cursor in the answer to a SCAN; nothing at its end.
func appendCursor(dst, answer []byte) []byte {
	var v, first resp.Value
	if n, err := resp.Parse(answer, &v); n == 0 || err != nil || !v.IsAggregate() {
		return dst
	}
	it := v.Elements()
	if !it.Next(&first) {
		return dst
	}
	if string(first.Text) == "0" {
		return dst
	}
	return append(dst, first.Text...)
}
