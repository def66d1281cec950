//go:build amd64 || arm64

package mem

import "unsafe"

// Prefetch asks the processor to bring the cache line at p. It never faults, whatever p is.
//
//go:noescape
func Prefetch(p unsafe.Pointer)

// Prefetch3 asks for three cache lines, of 64 bytes each, from the one at p on.
//
//go:noescape
func Prefetch3(p unsafe.Pointer)
