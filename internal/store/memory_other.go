//go:build !linux

package store

func physicalMemory() int64 { return 0 }
