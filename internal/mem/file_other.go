//go:build !linux

package mem

func adviseFile([]byte, bool) {}

func releaseFile(b []byte) { clear(b) }
