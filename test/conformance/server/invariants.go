//go:build invariants && unix

package server

// With internal checks in the test the program has them, too.
func init() { buildFlags = append(buildFlags, "-tags", "invariants") }
