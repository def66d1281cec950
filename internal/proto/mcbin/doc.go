// Package mcbin is memcached's binary protocol: it parses packets into slices of the input and appends packets to a
// buffer, for both sides of the wire. It knows opcodes, shapes and status codes, but neither sockets nor items, and it
// allocates nothing. Callers: command/mc (server side), load generators and tests (client side).
//
// A packet is a header of 24 bytes, big endian, and a body of extras, key and value in that order:
//
//	 0      1       2        4       5        6               8        12      16     24
//	+------+-------+--------+-------+--------+---------------+--------+-------+------+--------+-----+-------+
//	|magic |opcode |key len |ext len|datatype|vbucket/status |body len|opaque |cas   |extras  |key  |value  |
//	+------+-------+--------+-------+--------+---------------+--------+-------+------+--------+-----+-------+
//
// The three lengths come from the peer and need not agree; every sum of them is made in 64 bits.
package mcbin
