//go:build unix

// Package conformance has black-box tests of the protocols: the program that was built is driven by clients that people use,
// and by inputs that broke other servers.
package conformance

import (
	"os"
	"testing"

	"godwit/test/conformance/server"
)

// bin is the program under test, under a name that makes it a memcached.
var bin string

func TestMain(m *testing.M) { os.Exit(server.Build(m, "../..", &bin)) }
