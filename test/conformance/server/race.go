//go:build race && unix

package server

// Under the race detector the program is built with it, too.
func init() { buildFlags = []string{"-race", "-tags", "race"} }
