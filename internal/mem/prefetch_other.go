//go:build !amd64 && !arm64

package mem

import "unsafe"

// Prefetch does nothing on this processor.
func Prefetch(unsafe.Pointer) {}

// Prefetch3 does nothing on this processor.
func Prefetch3(unsafe.Pointer) {}
