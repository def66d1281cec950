// Package compat has the programs that people run beside memcached read godwit's statistics. It is a module of its own, so
// that their dependencies are not the server's.
package compat
