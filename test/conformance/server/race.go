//go:build race && unix

package server

// Under the race detector the program is built with it, too.
func init() { buildFlags = []string{"-race", "-tags", "race"} }

// Race tells whether the race detector is on, which takes memory and time.
const Race = true
