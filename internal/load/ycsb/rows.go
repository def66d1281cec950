package ycsb

import (
	"slices"

	"godwit/internal/load"
)

// Operations of a workload. The last two are the parts of a read-modify-write, which are counted as a READ and an UPDATE, too.
const (
	opRead = iota
	opUpdate
	opInsert
	opScan
	opRMW
	opRMWRead
	opRMWUpdate
	ops
)

// sections are the names under which operations are printed.
var sections = [ops]string{"READ", "UPDATE", "INSERT", "SCAN", "READ-MODIFY-WRITE", "READ", "UPDATE"}

// outcome of an operation, the worst last.
type outcome uint8

const (
	fine outcome = iota
	notFound
	unexpected // not the data that was written
	failed
	outcomes
)

// returns are the names of outcomes, as YCSB's Status has them.
var returns = [outcomes]string{"OK", "NOT_FOUND", "UNEXPECTED_STATE", "ERROR"}

// status is how an outcome is counted in a row.
func (o outcome) status() load.Status {
	switch o {
	case unexpected:
		return load.Mismatch
	case failed:
		return load.Failed
	}
	return load.OK
}

// action is a request.
type action uint8

const (
	actGet action = iota
	actSet
	actHashGet
	actHashSet
	actIndex // ZADD
	actRange // ZRANGEBYSCORE
	actElement
	actions
)

// row says what is counted in a row of the result.
type row struct {
	section string // as it is printed
	op      int    // ops: requests of operations with several, which are counted beside them
	outcome outcome
}

// rows are the rows of a load, and where to find them.
type rows struct {
	list     []row
	ops      [ops][outcomes]uint8
	requests [actions]uint8
}

// add makes a row, if there is none of that section for op.
func (rs *rows) add(section string, op int, o outcome) uint8 {
	for i, r := range rs.list {
		if r.section == section && r.op == op {
			return uint8(i)
		}
	}
	rs.list = append(rs.list, row{section, op, o})
	return uint8(len(rs.list) - 1)
}

// newRows makes the rows that the settings can need: each row costs memory for histograms.
func newRows(s *settings) *rows {
	rs := &rows{}
	for op := range ops {
		if !s.does(op) {
			continue
		}
		for o := range outcomes {
			name := sections[op]
			switch {
			case o == fine:
			case s.eachError || slices.Contains(s.tracked, returns[o]):
				name += "-" + returns[o]
			default:
				name += "-FAILED"
			}
			rs.ops[op][o] = rs.add(name, op, o)
		}
	}
	for a, name := range s.requestNames() {
		if name != "" {
			rs.requests[a] = rs.add("REQUEST-"+name, ops, fine)
		}
	}
	return rs
}

// names of the rows, for load.Plan. No two are the same: results of several machines are added by name.
func (rs *rows) names() []string {
	var out []string
	for _, r := range rs.list {
		name := r.section
		if r.op == opRMWRead || r.op == opRMWUpdate {
			name += " of " + sections[opRMW]
		}
		out = append(out, name)
	}
	return out
}

// does says whether there can be operations of a kind.
func (s *settings) does(op int) bool {
	switch {
	case s.load:
		return op == opInsert
	case op < len(s.shares):
		// while too many inserts are under way, an insert is a read
		return s.shares[op] > 0 || op == opRead && s.shares[opInsert] > 0
	}
	return s.shares[opRMW] > 0
}

// requestNames are the requests of operations with several, by action.
func (s *settings) requestNames() (names [actions]string) {
	updates := s.does(opUpdate) || s.does(opRMW)
	switch {
	case s.hash:
		if s.does(opInsert) && s.index {
			names[actHashSet], names[actIndex] = "HMSET", "ZADD"
		}
		if s.does(opScan) {
			names[actRange], names[actElement] = "ZRANGEBYSCORE", s.hashGet()
		}
	case updates && s.merges():
		names[actGet], names[actSet] = "GET", "SET"
	}
	return names
}

// hashGet is the command that reads a record.
func (s *settings) hashGet() string {
	if s.readAll {
		return "HGETALL"
	}
	return "HMGET"
}

// merges says whether an update reads the record before it writes.
func (s *settings) merges() bool { return !s.hash && s.merge && !s.writeAll }
