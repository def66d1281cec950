//go:build !invariants

// Package invariant switches on the checks that cost too much for production. Built with the tag "invariants" Enabled is
// true; else it is a false constant and everything behind it compiles to nothing.
package invariant

// Enabled says whether the checks are compiled in.
const Enabled = false
