//go:build race

package mc

// raceEnabled: sync.Pool throws things away at random then.
const raceEnabled = true
