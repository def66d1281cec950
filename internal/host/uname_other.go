//go:build !linux

package host

func machine() string { return "" }
