//go:build !linux

package mem

import "os"

func adviseFile([]byte, bool) {}

func releaseFile(_ *os.File, _ int64, b []byte) { clear(b) }
