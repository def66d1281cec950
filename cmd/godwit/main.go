// Godwit is a memcached server. See internal/cli for its faces.
package main

import (
	"os"

	"godwit/internal/cli"
)

func main() {
	os.Exit(cli.Main(os.Args, os.Stdout, os.Stderr))
}
