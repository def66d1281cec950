//go:build !unix

package mem

import (
	"errors"
	"os"
)

const fileBacked = false

var errNoFile = errors.New("not supported on this system")

func lockFile(*os.File) error                        { return errNoFile }
func freeBytes(*os.File) (int64, error)              { return 0, errNoFile }
func mapFile(*os.File, int64, int64) ([]byte, error) { return nil, errNoFile }
func unmapFile([]byte) error                         { return errNoFile }
