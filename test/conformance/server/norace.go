//go:build !race && unix

package server

// Race tells whether the race detector is on, which takes memory and time.
const Race = false
