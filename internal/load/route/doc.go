// Package route makes one load client of several connections, one for each server: memcached servers that clients share
// keys among by hash (ketama, or a hash modulo their number), or the nodes of a RESP cluster.
package route
