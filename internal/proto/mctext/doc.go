// Package mctext is memcached's text protocol, classic and meta, at the level of lines: it cuts a request line into
// tokens, reads numbers and flags by memcached's rules, and appends replies. It knows no item and no connection; the
// server's verbs and the load generators' clients build on it. Nothing here allocates, and all slices it returns point
// into the line they came from.
package mctext
